//! Streams chosen by the host: the stream number of a request, modulo the number of streams that
//! the device has. A page that was written in two streams while it was in the write buffer goes to
//! the later one.
//!
//! Source: Kang et al., "The Multi-streamed Solid-State Drive", HotStorage 2014; NVMe base
//! specification, directives of type Streams.

use super::{CopyOptions, StreamCounts, StreamsFacts, StreamsPolicy};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};

/// Streams as numbered by the host.
#[derive(Clone, Debug)]
pub struct ByHostStream {
    counts: StreamCounts,
}

options! {
    /// Streams chosen by the host.
    pub struct ByHostStreamOptions at "ftl.streams" with { copies: CopyOptions } {
        /// Number of host streams that the device distinguishes. Higher stream numbers wrap around
        /// to zero.
        host_streams: u32 = "4", in "2"..="8", unit "streams",
            source "range: Kang et al. (HotStorage 2014) use 4; drives offer 4 to 16";
    }
}

impl Policy for ByHostStream {
    const NAME: &'static str = "by-host-stream";
    const SUMMARY: &'static str = "the stream that the host gives each write (multi-stream SSD)";
    const SOURCE: &'static str = "Kang et al., HotStorage 2014; NVMe directives";
    type Options = ByHostStreamOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        let (host, copies) = (options.host_streams, options.copies.copy_streams);
        ByHostStream::new(StreamCounts::new(host as u8, copies as u8))
    }

    keeps_nothing!(ByHostStream { counts });
}

impl StreamsFacts for ByHostStream {
    fn host_streams_option(_options: &Self::Options) -> Option<&'static str> {
        Some("ftl.streams.host_streams")
    }

    fn counts(options: &Self::Options) -> StreamCounts {
        StreamCounts::new(options.host_streams as u8, options.copies.copy_streams as u8)
    }

    fn identifiers(options: &Self::Options) -> Option<u32> {
        Some(options.host_streams)
    }
}

impl ByHostStream {
    /// Creates the policy with these streams.
    #[must_use]
    pub fn new(counts: StreamCounts) -> ByHostStream {
        ByHostStream { counts }
    }
}

impl StreamsPolicy for ByHostStream {
    #[inline]
    fn counts(&self) -> StreamCounts {
        self.counts
    }

    #[inline]
    fn tag_of(&self, host_stream: u32) -> u8 {
        (host_stream % u32::from(self.counts.host)) as u8
    }

    fn goes_by_tag(&self) -> bool {
        true
    }
}
