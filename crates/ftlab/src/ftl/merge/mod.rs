//! Merges, by which a mapping with a log frees log blocks.
//!
//! When a plane has no room for a page, it empties one of its log blocks. The data blocks of its
//! valid pages are merged; each merge takes in all pages of the data block that the log holds. If
//! the throttle stops this early, the remaining valid pages move to another log block. Then the log
//! block is erased. This work is a [`MergeJob`] of the plane. Other planes may get jobs at the same
//! time, which the [`Planner`] decides.
//!
//! The [`Merger`] carries out jobs copy by copy, as flash commands. If the whole device stops
//! during merges, nothing else can happen meanwhile, so their time is added up instead (`at_once`).
//! The results are the same.
//!
//! Source: Huang, "On Channel Management in Advanced Solid-State Disk Architecture", NCTU 2010,
//! chapter 3.

mod at_once;
pub(crate) mod audit;
mod counts;
pub(crate) mod fold;
mod job;
mod merger;
mod planner;

pub use counts::{MergeCounts, Reclaims};
pub use job::MergeJob;
pub use merger::{MergeStep, Merger, MergerSetup};
#[cfg(feature = "external-policies")]
pub use planner::ExternalPlanner;
pub use planner::{
    Alone, CycleStealing, Planner, PlannerChoice, PlannerFacts, PlannerPolicy, SuperDataBlock,
    Synchronised,
};

use crate::options::declare::{choices, options};

choices! {
    /// Whether planes have independent clocks.
    pub enum Clocks {
        /// Each plane works whenever it can. While it merges, writes to it wait.
        Own = "own",
        /// All planes work in step: they program together, at most one page each, and start again
        /// when all are done. While one plane merges, the device does nothing else.
        LockStep = "lock-step",
    }
}

options! {
    /// Merges of mappings with a log.
    pub struct MergeOptions at "ftl.merge" with { planner: PlannerChoice } {
        /// Maximum number of data blocks that are merged to empty one log block. Its remaining
        /// valid pages then move to another log block.
        throttle: Option<u32> = "none", in "1"..="16384", unit "data blocks",
            source "Huang, NCTU 2010, section 3.4: 8 bounds a collection to 1.2 s";
        /// Whether planes have independent clocks.
        clocks: Clocks = "own", source "same as other mappings; Huang's machine works in lock-step";
    }
}
