//! The SLC cache: blocks that the host's writes fill with one bit a cell, which is fast, until their
//! data is *folded*: moved to blocks of full density.
//!
//! The policy says which blocks may be used so ([`SlcCache`], a seam). Everything else is the same for
//! all of them (`cache.rs`): an SLC block is one more frontier of its plane, holds its pages divided
//! by the bits of a cell, and is folded first in, first out. Victim policies never see
//! SLC blocks: their data leaves the cache, it does not move about in it. What was cached longest has had
//! the most time to be overwritten, so folding in order copies little of what is hot.
//!
//! Copies cross the bus, as those of collection do; folding inside the die is not modelled.
//!
//! Sources: Micron, "Optimized Client Computing With Dynamic Write Acceleration", technical brief 2014
//! (free blocks in SLC mode); Samsung, "TurboWrite Technology", white paper 2013 (a part of its own, which
//! is emptied when the drive is idle).

pub(crate) mod cache;
mod dynamic;
mod fixed;
mod hybrid;
mod none;

pub(super) use cache::Count;
pub use cache::{CacheState, SlcCounts};
pub use dynamic::{Dynamic, DynamicOptions, DynamicPart};
pub use fixed::{Static, StaticOptions, StaticPart};
pub use hybrid::{Hybrid, HybridOptions};
pub use none::NoCache;

use crate::options::Switch;
use crate::options::declare::{choices, options};
use crate::policy::{contract, seam};
use crate::units::Nanos;

seam! {
    /// Decides which blocks the host's writes may fill with one bit a cell.
    pub enum SlcCache ("ftl.slc_cache.policy" = "none") as SlcCacheChoice, with slc_cache_policy, or ExternalSlcCache {
        None(NoCache),
        Static(Static),
        Dynamic(Dynamic),
        Hybrid(Hybrid),
    }
}

choices! {
    /// What becomes of the host's writes when the cache is full.
    pub enum WhenFull {
        /// They go to blocks of full density.
        Bypass = "bypass",
        /// They wait until a block of the cache is folded.
        Fold = "fold",
    }
}

options! {
    /// What every SLC cache has.
    pub struct CacheRules at "ftl.slc_cache" {
        /// What becomes of the host's writes when the cache is full.
        when_full: WhenFull = "bypass",
            source "assumed: most drives fall to the rate of full density";
        /// Whether the cache is folded while the host is idle.
        fold_when_idle: Switch = "on", source "Samsung, TurboWrite white paper, 2013";
        /// The device has to be without requests for so long before it folds.
        fold_after_idle: Nanos = "100ms", in "0ns"..="100s",
            source "assumed: longer than pauses in a burst";
    }
}

/// An SLC cache, to be built.
#[derive(Clone, Debug)]
pub struct SlcSetup {
    /// Which blocks it uses.
    pub policy: SlcCache,
    /// What becomes of the host's writes when it is full.
    pub when_full: WhenFull,
    /// It folds when the device was without requests for so long; none: never for that.
    pub fold_after_idle: Option<Nanos>,
    /// Bits of a cell in blocks of full density.
    pub bits: u32,
}

impl SlcSetup {
    /// No cache.
    #[must_use]
    pub const fn none() -> SlcSetup {
        SlcSetup {
            policy: SlcCache::None(NoCache),
            when_full: WhenFull::Bypass,
            fold_after_idle: None,
            bits: 1,
        }
    }
}

contract! {
    /// What is known of an SLC cache before it is built.
    pub trait SlcCacheFacts of SlcCacheChoice, by slc_cache_policy {
        /// What all caches have, if there is one.
        fn rules(_options: &Self::Options) -> Option<&CacheRules> {
            None
        }

        /// Blocks of each plane that are always in SLC mode.
        fn own_blocks(_options: &Self::Options) -> u32 {
            0
        }

        /// Whether the cache uses free blocks of full density.
        fn borrows(_options: &Self::Options) -> bool {
            false
        }
    }
}

/// Where a plane stands when it is asked for one more block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lent {
    /// Blocks of full density that it has lent to the cache.
    pub borrowed: u32,
    /// Free blocks beyond those at which collection rests.
    pub spare: u32,
}

contract! {
    /// What an SLC cache decides.
    pub trait SlcCachePolicy for SlcCache, by slc_cache_policy, or ExternalSlcCache {
        /// Whether it never uses any block.
        #[must_use]
        fn is_off(&self) -> bool {
            false
        }

        /// Blocks of each plane that are always in SLC mode. Asked once.
        #[must_use]
        fn own_blocks(&self) -> u32;

        /// Whether one more block of full density may be used in SLC mode.
        #[must_use]
        fn may_borrow(&self, lent: Lent) -> bool;
    }
}
