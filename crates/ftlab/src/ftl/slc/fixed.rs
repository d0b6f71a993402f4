//! A static cache: the last blocks of each plane are always in SLC mode, and nothing else is
//! written to them. Its size never changes, and its blocks wear separately.
//!
//! Source: Samsung, "TurboWrite Technology", white paper 2013.

use super::{CacheRules, Lent, SlcCacheFacts, SlcCachePolicy};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};

/// A static cache with blocks of its own.
#[derive(Clone, Copy, Debug)]
pub struct Static {
    blocks: u32,
}

options! {
    /// The blocks that are always in SLC mode.
    pub struct StaticPart at "ftl.slc_cache" {
        /// Blocks of each plane that are always in SLC mode. They reduce the spare capacity.
        blocks: u32 = "4", in "1"..="100000", unit "blocks",
            source "assumed: under 1 % of a plane; a 250 GB 840 EVO has 9 GB of cells for 3 GB (2013)";
    }
}

options! {
    /// A static cache.
    pub struct StaticOptions at "ftl.slc_cache" with { rules: CacheRules, part: StaticPart } {}
}

impl Policy for Static {
    const NAME: &'static str = "static";
    const SUMMARY: &'static str = "some blocks of each plane are always in SLC mode";
    const SOURCE: &'static str = "Samsung, TurboWrite white paper, 2013";
    type Options = StaticOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Static::new(options.part.blocks)
    }

    keeps_nothing!(Static { blocks });
}

impl SlcCacheFacts for Static {
    fn rules(options: &Self::Options) -> Option<&CacheRules> {
        Some(&options.rules)
    }

    fn own_blocks(options: &Self::Options) -> u32 {
        options.part.blocks
    }
}

impl Static {
    /// A cache of this many blocks per plane.
    #[must_use]
    pub fn new(blocks: u32) -> Static {
        Static { blocks }
    }
}

impl SlcCachePolicy for Static {
    fn own_blocks(&self) -> u32 {
        self.blocks
    }

    fn may_borrow(&self, _lent: Lent) -> bool {
        false
    }
}
