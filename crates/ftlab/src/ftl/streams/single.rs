//! One stream for all host writes.

use super::{CopyOptions, StreamCounts, StreamsFacts, StreamsPolicy, WriteStream};
use crate::image::keeps_nothing;
use crate::policy::{Parts, Policy};
use crate::units::Lpn;

/// No separation of host writes.
#[derive(Clone, Debug)]
pub struct Single {
    counts: StreamCounts,
}

impl Policy for Single {
    const NAME: &'static str = "single";
    const SUMMARY: &'static str = "all host writes share blocks";
    const SOURCE: &'static str = "textbook";
    type Options = CopyOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Single::new(options.copy_streams as u8)
    }

    keeps_nothing!(Single { counts });
}

impl StreamsFacts for Single {
    fn counts(options: &Self::Options) -> StreamCounts {
        StreamCounts::new(1, options.copy_streams as u8)
    }
}

impl Single {
    /// Creates the policy with one host stream, and copy streams as given by [`CopyOptions`].
    #[must_use]
    pub fn new(copies: u8) -> Single {
        Single { counts: StreamCounts::new(1, copies) }
    }
}

impl StreamsPolicy for Single {
    #[inline]
    fn counts(&self) -> StreamCounts {
        self.counts
    }

    #[inline]
    fn host_stream(&self, _page: Lpn, _tag: u8) -> WriteStream {
        WriteStream::new(0)
    }

    fn goes_by_tag(&self) -> bool {
        true
    }
}
