//! The SLC cache: blocks that the host's writes fill with one bit per cell, which is fast, until
//! their data is *folded*: moved to the main area, at full density.
//!
//! The policy decides which blocks may be used in this way ([`SlcCache`], a seam). Everything else is the same for all
//! policies (`cache.rs`): an SLC block is one more open block of its plane, has its number of pages divided by the bits
//! of a cell, and is folded first in, first out. Victim policies never see SLC blocks: data leaves the cache, but does
//! not move within it. The data that was cached first has had the most time to be overwritten, so folding in order
//! copies few hot pages.
//!
//! Copies cross the bus, as in collection, unless the dies fold on their own (`fold_inside`): flash pages whose mapping
//! units are all valid are sensed with one bit and programmed at full density in the same plane. ECC does not see them.
//!
//! Sources: Micron, "Optimized Client Computing With Dynamic Write Acceleration", technical brief 2014
//! (free blocks in SLC mode); Samsung, "TurboWrite Technology", white paper 2013 (a part of its own, which
//! is emptied when the drive is idle); US patent 10,635,585, "On-chip copy with data folding in three-dimensional
//! non-volatile memory array", abstract (folding within the die).

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
        /// Whether flash pages of the cache whose mapping units are all valid are folded within their plane, without
        /// crossing the bus (and without being corrected by ECC).
        fold_inside: Switch = "off",
            source "US patent 10,635,585 (on-chip copy from SLC blocks to an MLC block of the same die); off, as few flash offers it";
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
    /// Whether whole flash pages are folded within their plane, without the bus.
    pub fold_inside: bool,
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
            fold_inside: false,
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

impl SlcCacheChoice {
    /// Whether dies fold a cache on their own.
    #[must_use]
    pub fn folds_inside(&self) -> bool {
        self.rules().is_some_and(|rules| rules.fold_inside.is_on())
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
