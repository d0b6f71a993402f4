//! A dynamic cache: free blocks are used in SLC mode while enough are free. It is large on an empty
//! drive and shrinks as the drive fills. A plane that lacks free blocks folds first.
//!
//! Source: Micron, "Optimized Client Computing With Dynamic Write Acceleration", technical brief 2014.

use super::{CacheRules, Lent, SlcCacheFacts, SlcCachePolicy};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};

/// A dynamic cache of free blocks.
#[derive(Clone, Copy, Debug)]
pub struct Dynamic {
    keep_free: u32,
    most_borrowed: u32,
}

options! {
    /// The free blocks that are used in SLC mode.
    pub struct DynamicPart at "ftl.slc_cache" {
        /// Free blocks of a plane, beyond `ftl.gc.stop`, that are not used in SLC mode.
        keep_free: u32 = "2", in "0"..="1000000", unit "blocks",
            source "assumed: so that the host can write on when the cache is full, before folding";
        /// The most free blocks of a plane that are used in SLC mode at once. The largest value means no limit.
        most_borrowed: u32 = "1000000", in "1"..="1000000", unit "blocks",
            source "default: no bound; data sheets give one, such as 256 GB of the 2 TB 660p (Intel, 2018)";
    }
}

options! {
    /// A dynamic cache.
    pub struct DynamicOptions at "ftl.slc_cache" with { rules: CacheRules, part: DynamicPart } {}
}

impl Policy for Dynamic {
    const NAME: &'static str = "dynamic";
    const SUMMARY: &'static str = "free blocks are used in SLC mode while enough are free";
    const SOURCE: &'static str = "Micron, Dynamic Write Acceleration brief, 2014";
    type Options = DynamicOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Dynamic::new(&options.part)
    }

    keeps_nothing!(Dynamic { keep_free, most_borrowed });
}

impl SlcCacheFacts for Dynamic {
    fn rules(options: &Self::Options) -> Option<&CacheRules> {
        Some(&options.rules)
    }

    fn borrows(_options: &Self::Options) -> bool {
        true
    }
}

impl Dynamic {
    /// By its options.
    #[must_use]
    pub fn new(part: &DynamicPart) -> Dynamic {
        Dynamic { keep_free: part.keep_free, most_borrowed: part.most_borrowed }
    }
}

impl SlcCachePolicy for Dynamic {
    fn own_blocks(&self) -> u32 {
        0
    }

    #[inline]
    fn may_borrow(&self, lent: Lent) -> bool {
        lent.spare > self.keep_free && lent.borrowed < self.most_borrowed
    }
}
