//! No read cache.

use super::{FrameId, ReadCacheFacts, ReadOrderPolicy};
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};

/// A read cache that keeps nothing.
#[derive(Clone, Debug, Default)]
pub struct NoReads;

impl Policy for NoReads {
    const NAME: &'static str = "none";
    const SUMMARY: &'static str = "no read cache";
    const SOURCE: &'static str = "textbook";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        NoReads
    }

    keeps_nothing!(NoReads {});
}

impl ReadCacheFacts for NoReads {}

impl ReadOrderPolicy for NoReads {
    fn inserted(&mut self, _frame: FrameId) {}

    fn used(&mut self, _frame: FrameId) {}

    fn removed(&mut self, _frame: FrameId) {}

    fn choose(&self) -> Option<FrameId> {
        None
    }
}
