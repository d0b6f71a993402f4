//! Garbage collection: the choice of the victim ([`Victim`], a seam), the collector that copies its
//! valid pages away and erases it, and the pace of the host meanwhile ([`pacing`], a seam).

mod by_valid;
pub mod closed_form;
pub(crate) mod collection;
mod collector;
mod copies;
pub(crate) mod cost;
mod cost_age_times;
mod cost_benefit;
mod d_choices;
pub(crate) mod failures;
mod fifo;
mod greedy;
pub(crate) mod kept;
mod lists;
pub mod pacing;
mod pool;
mod purpose;
mod random;
mod random_greedy;
mod refresh;
mod rows;
mod run;
#[cfg(test)]
mod tests;
mod triggers;
mod two_region;
mod untimed;
pub(crate) mod wanted;
mod windowed_greedy;

pub use collector::{Collector, Freed};
pub use cost_age_times::CostAgeTimes;
pub use cost_benefit::CostBenefit;
pub use d_choices::DChoices;
pub use fifo::Fifo;
pub use greedy::Greedy;
pub(super) use lists::Lists;
pub use purpose::{Purpose, PurposeCounts};
pub use random::Random;
pub use random_greedy::RandomGreedy;
pub use run::{Collection, Earned, Thresholds};
pub use triggers::{Background, Scope, Triggers};
pub use two_region::TwoRegion;
pub(crate) use untimed::{Bench, Copies};
pub use wanted::Wanted;
pub use windowed_greedy::WindowedGreedy;

use super::Blocks;
use crate::policy::{contract, seam};
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

seam! {
    /// Chooses the block that is collected next. It is notified when a block becomes a candidate,
    /// when a candidate loses a valid page, and when a candidate is collected without being chosen.
    /// Choosing a candidate removes it.
    pub enum Victim ("ftl.gc.victim" = "greedy") as VictimChoice, with victim_policy, or ExternalVictim {
        Greedy(Greedy),
        CostBenefit(CostBenefit),
        DChoices(DChoices),
        RandomGreedy(RandomGreedy),
        WindowedGreedy(WindowedGreedy),
        Fifo(Fifo),
        Random(Random),
        CostAgeTimes(CostAgeTimes),
        TwoRegion(TwoRegion),
    }
}

/// The view of the device that a victim policy gets.
#[derive(Clone, Copy, Debug)]
pub struct VictimView<'a> {
    /// The plane that needs a victim.
    pub plane: PlaneId,
    /// The current state of all blocks.
    pub blocks: &'a Blocks,
}

/// With more valid pages than this, collecting a block does not free a flash page.
#[must_use]
pub fn most_valid(geometry: &Geometry) -> u32 {
    geometry.units_per_block() - geometry.units_per_page()
}

contract! {
    /// A victim policy. Choosing a block removes it from the candidates. The choice must not depend on hash order or a
    /// clock; random numbers must come from a [`Stream`](crate::engine::Stream) of its own. Aim for constant time:
    /// `closed` and `choose` are called once per block, `lost_page` once per overwritten page.
    pub trait VictimPolicy for Victim, by victim_policy, or ExternalVictim {
        /// A block is full and may be collected from now on.
        fn closed(&mut self, view: &VictimView<'_>, block: BlockId);

        /// A candidate has lost one page.
        fn lost_page(&mut self, view: &VictimView<'_>, block: BlockId);

        /// A candidate is collected for another reason, which removes it.
        fn withdrawn(&mut self, view: &VictimView<'_>, block: BlockId);

        /// The candidates of a plane, ordered so that passing them to the [`closed`](Self::closed)
        /// of a new policy gives it the state of this one.
        #[must_use]
        fn candidates(&self, plane: PlaneId) -> Vec<BlockId>;

        /// Chooses a candidate that frees at least one flash page ([`most_valid`]), and removes it
        /// from the candidates. Returns none if there is no such block.
        #[must_use]
        fn choose(&mut self, view: &VictimView<'_>) -> Option<BlockId>;
    }
}
