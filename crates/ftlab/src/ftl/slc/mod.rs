//! The SLC cache: blocks that the host's writes fill with one bit per cell, which is fast, until
//! their data is *folded*: moved to the main area, at full density.
//!
//! The policy decides which blocks may be used in this way ([`SlcCache`], a seam). Everything else is the same for all
//! policies (`cache.rs`): an SLC block is one more open block of its plane, has its number of pages divided by the bits
//! of a cell, and is folded first in, first out. Victim policies never see SLC blocks: data leaves the cache, but does
//! not move within it. The data that was cached first has had the most time to be overwritten, so folding in order
//! copies few hot pages.
//!
//! Copies cross the bus, as in collection; folding within the die is not modelled.
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
    /// Decides which blocks the host's writes may fill with one bit per cell.
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
    /// The options of every SLC cache.
    pub struct CacheRules at "ftl.slc_cache" {
        /// What becomes of the host's writes when the cache is full.
        when_full: WhenFull = "bypass",
            source "assumed: most drives fall to the rate of full density";
        /// Whether the cache is folded while the host is idle.
        fold_when_idle: Switch = "on", source "Samsung, TurboWrite white paper, 2013";
        /// How long the device has to be without requests before it folds.
        fold_after_idle: Nanos = "100ms", in "0ns"..="100s",
            source "assumed: longer than pauses in a burst";
    }
}

/// The setup of an SLC cache.
#[derive(Clone, Debug)]
pub struct SlcSetup {
    /// Decides which blocks it uses.
    pub policy: SlcCache,
    /// What becomes of the host's writes when it is full.
    pub when_full: WhenFull,
    /// How long the device has to be without requests before it folds; none: idleness never folds.
    pub fold_after_idle: Option<Nanos>,
    /// Bits per cell in blocks of full density.
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
    /// Facts about an SLC cache that are known before it is built.
    pub trait SlcCacheFacts of SlcCacheChoice, by slc_cache_policy {
        /// The options that all caches have; none if there is no cache.
        fn rules(_options: &Self::Options) -> Option<&CacheRules> {
            None
        }

        /// Blocks of each plane that are always in SLC mode.
        fn own_blocks(_options: &Self::Options) -> u32 {
            0
        }

        /// Whether the cache borrows free blocks of full density.
        fn borrows(_options: &Self::Options) -> bool {
            false
        }
    }
}

/// The state of a plane when it is asked for one more block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lent {
    /// Blocks of full density that it has lent to the cache.
    pub borrowed: u32,
    /// Free blocks beyond those at which collection stops.
    pub spare: u32,
}

contract! {
    /// The policy of an SLC cache.
    pub trait SlcCachePolicy for SlcCache, by slc_cache_policy, or ExternalSlcCache {
        /// Whether it never uses any block.
        #[must_use]
        fn is_off(&self) -> bool {
            false
        }

        /// Blocks of each plane that are always in SLC mode. Asked only once.
        #[must_use]
        fn own_blocks(&self) -> u32;

        /// Whether one more block of full density may be used in SLC mode.
        #[must_use]
        fn may_borrow(&self, lent: Lent) -> bool;
    }
}
