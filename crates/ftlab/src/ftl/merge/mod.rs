//! Merges: how a mapping with a log gets log blocks back.
//!
//! When a plane can't take a page, one of its log blocks is emptied: the data blocks of its valid pages are
//! merged, which brings in all that the log holds of them; pages that are left over when the throttle has stopped that
//! move to another log block; then the log block is erased. That is a [`Job`] of the plane. Other planes may get
//! jobs at the same time: their [`Planner`] decides which.
//!
//! Jobs are carried out copy by copy, as flash commands ([`Merger`]). Where nothing else can happen meanwhile, because the
//! device stands still for them, their time is added up instead (`at_once`); results are the same.
//!
//! Source: Huang, "On Channel Management in Advanced Solid-State Disk Architecture", NCTU 2010, chapter 3.

mod at_once;
pub(crate) mod audit;
mod counts;
pub(crate) mod fold;
mod job;
mod merger;
mod planner;

pub use counts::{MergeCounts, Reclaims};
pub use job::Job;
pub use merger::{Merger, MergerSetup, Step};
#[cfg(feature = "external-policies")]
pub use planner::ExternalPlanner;
pub use planner::{
    Alone, CycleStealing, Planner, PlannerChoice, PlannerFacts, PlannerPolicy, SuperDataBlock,
    Synchronised,
};

use crate::options::declare::{choices, options};

choices! {
    /// Whether planes have clocks of their own.
    pub enum Clocks {
        /// Each plane does its work when it can. While it merges, writes to it wait.
        Own = "own",
        /// All planes go in step: they program together, at most one page each, and begin again when all are
        /// done. While one merges, the device does nothing else.
        LockStep = "lock-step",
    }
}

options! {
    /// Merges of mappings with a log.
    pub struct MergeOptions at "ftl.merge" with { planner: PlannerChoice } {
        /// How many data blocks are merged to empty one log block, at the most. Valid pages that are left then
        /// move to another log block.
        throttle: Option<u32> = "none", in "1"..="16384", unit "data blocks",
            source "Huang, NCTU 2010, section 3.4: 8 bounds a collection to 1.2 s";
        /// Whether planes have clocks of their own.
        clocks: Clocks = "own", source "as other mappings; Huang's machine goes in lock-step";
    }
}
