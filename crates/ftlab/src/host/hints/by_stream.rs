//! No hints of the host's own: the identifier of a write is the number of its stream.
//!
//! Source: NVMe base specification, directives of type Streams.

use super::{HintsFacts, HintsPolicy};
use crate::host::Request;
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};

/// The stream of each request.
#[derive(Clone, Copy, Debug)]
pub struct ByStream {}

impl Policy for ByStream {
    const NAME: &'static str = "by-stream";
    const SUMMARY: &'static str = "the stream of the request, as its sender numbered it";
    const SOURCE: &'static str = "NVMe directives of type Streams";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        ByStream {}
    }

    keeps_nothing!(ByStream {});
}

impl HintsFacts for ByStream {}

impl HintsPolicy for ByStream {
    fn identify(&mut self, write: &Request) -> u32 {
        write.stream
    }
}
