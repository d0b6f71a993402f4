//! One stream for all that the host writes.

use super::{CopyOptions, StreamCounts};
use crate::image::keeps_nothing;
use crate::policy::{Parts, Policy};
use crate::units::Lpn;

/// No separation.
#[derive(Clone, Debug)]
pub struct Single {
    counts: StreamCounts,
}

impl Policy for Single {
    const NAME: &'static str = "single";
    const SUMMARY: &'static str = "all that the host writes shares blocks";
    const SOURCE: &'static str = "textbook";
    type Options = CopyOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Single::new(options.copy_streams as u8)
    }

    keeps_nothing!(Single { counts });
}

impl Single {
    /// One stream for the host, so many for copies: see [`CopyOptions`].
    #[must_use]
    pub fn new(copies: u8) -> Single {
        Single { counts: StreamCounts::new(1, copies) }
    }

    #[inline]
    pub(super) fn counts(&self) -> StreamCounts {
        self.counts
    }

    #[inline]
    pub(super) fn host_stream(&self, _page: Lpn, _tag: u8) -> u8 {
        0
    }

    #[inline]
    pub(super) fn wrote(&mut self, _page: Lpn) {}
}
