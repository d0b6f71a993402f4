//! The work of the other planes while one of them empties a log block ([`Planner`], a seam).

mod alone;
mod cycle_stealing;
mod super_data_block;
mod synchronised;

pub use alone::Alone;
pub use cycle_stealing::CycleStealing;
pub use super_data_block::SuperDataBlock;
pub use synchronised::Synchronised;

use super::MergeJob;
use crate::ftl::mapping::hybrid::LogView;
use crate::policy::{contract, seam};
use crate::units::PlaneId;

seam! {
    /// Decides what the other planes merge while one of them empties a log block.
    pub enum Planner ("ftl.merge.planner" = "none") as PlannerChoice, with planner_policy, or ExternalPlanner {
        None(Alone),
        Synchronised(Synchronised),
        SuperDataBlock(SuperDataBlock),
        CycleStealing(CycleStealing),
    }
}

contract! {
    /// The facts about a planner that are known before it is built.
    pub trait PlannerFacts of PlannerChoice, by planner_policy {
        /// Whether the planes of different channels work as one.
        fn gangs_channels(_options: &Self::Options) -> bool {
            false
        }
    }
}

contract! {
    /// The decisions of a planner.
    pub trait PlannerPolicy for Planner, by planner_policy, or ExternalPlanner {
        /// Returns the job of `plane` while another plane does the job `triggered`.
        #[must_use]
        fn along(&self, view: &LogView<'_>, triggered: &MergeJob, plane: PlaneId) -> MergeJob;
    }
}
