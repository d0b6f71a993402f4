//! A static and a dynamic cache at once: blocks of its own first, then free blocks while enough are
//! free. A drive that is nearly full keeps the static part.
//!
//! Source: Samsung, "TurboWrite", data sheet of the 860 EVO (Intelligent TurboWrite: a default part and one that
//! depends on free space), 2018.

use super::{
    CacheRules, Dynamic, DynamicPart, Lent, SlcCacheFacts, SlcCachePolicy, Static, StaticPart,
};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};

/// A static and a dynamic cache.
#[derive(Clone, Copy, Debug)]
pub struct Hybrid {
    own: Static,
    borrowed: Dynamic,
}

options! {
    /// A static and a dynamic cache.
    pub struct HybridOptions at "ftl.slc_cache" with {
        rules: CacheRules,
        own: StaticPart,
        borrowed: DynamicPart,
    } {}
}

impl Policy for Hybrid {
    const NAME: &'static str = "hybrid";
    const SUMMARY: &'static str = "static blocks first, then free blocks while enough are free";
    const SOURCE: &'static str = "Samsung, 860 EVO data sheet (Intelligent TurboWrite), 2018";
    type Options = HybridOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Hybrid::new(Static::new(options.own.blocks), Dynamic::new(&options.borrowed))
    }

    keeps_nothing!(Hybrid { own, borrowed });
}

impl SlcCacheFacts for Hybrid {
    fn rules(options: &Self::Options) -> Option<&CacheRules> {
        Some(&options.rules)
    }

    fn own_blocks(options: &Self::Options) -> u32 {
        options.own.blocks
    }

    fn borrows(_options: &Self::Options) -> bool {
        true
    }
}

impl Hybrid {
    /// A cache with both parts.
    #[must_use]
    pub fn new(own: Static, borrowed: Dynamic) -> Hybrid {
        Hybrid { own, borrowed }
    }
}

impl SlcCachePolicy for Hybrid {
    fn own_blocks(&self) -> u32 {
        self.own.own_blocks()
    }

    #[inline]
    fn may_borrow(&self, lent: Lent) -> bool {
        self.borrowed.may_borrow(lent)
    }
}
