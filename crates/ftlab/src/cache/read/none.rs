//! No read cache: what is read goes to the host and is forgotten.

use super::FrameId;
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};

/// Nothing is kept.
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

impl NoReads {
    pub(super) fn inserted(&mut self, _frame: FrameId) {}

    pub(super) fn used(&mut self, _frame: FrameId) {}

    pub(super) fn removed(&mut self, _frame: FrameId) {}

    pub(super) fn choose(&self) -> Option<FrameId> {
        None
    }
}
