//! No SLC cache: all blocks are used at full density.

use super::{Lent, SlcCacheFacts, SlcCachePolicy};
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};

/// No SLC cache.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCache;

impl Policy for NoCache {
    const NAME: &'static str = "none";
    const SUMMARY: &'static str = "no SLC cache: all blocks are used at full density";
    const SOURCE: &'static str = "textbook";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        NoCache
    }

    keeps_nothing!(NoCache {});
}

impl SlcCacheFacts for NoCache {}

impl SlcCachePolicy for NoCache {
    fn is_off(&self) -> bool {
        true
    }

    fn own_blocks(&self) -> u32 {
        0
    }

    fn may_borrow(&self, _lent: Lent) -> bool {
        false
    }
}
