//! Garbage collection: which block to clean ([`Victim`], a seam), and the collector that copies its
//! valid pages away and erases it.

mod by_valid;
pub(crate) mod collection;
mod collector;
pub(crate) mod cost;
mod cost_benefit;
mod d_choices;
pub(crate) mod failures;
mod fifo;
mod greedy;
mod lists;
mod pool;
mod purpose;
mod random;
mod random_greedy;
mod refresh;
mod run;
#[cfg(test)]
mod tests;
mod triggers;
mod untimed;
pub(crate) mod wanted;
mod windowed_greedy;

pub use collector::{Collector, Freed};
pub use cost_benefit::CostBenefit;
pub use d_choices::DChoices;
pub use fifo::Fifo;
pub use greedy::Greedy;
pub(super) use lists::Lists;
pub use purpose::{Purpose, PurposeCounts};
pub use random::Random;
pub use random_greedy::RandomGreedy;
pub use run::{Collection, Thresholds};
pub use triggers::{Background, Scope, Triggers};
pub(crate) use untimed::Bench;
pub use wanted::Wanted;
pub use windowed_greedy::WindowedGreedy;

use super::Blocks;
use crate::policy::{contract, seam};
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

seam! {
    /// Picks the block that is collected next. It is told when a block becomes a candidate, when a
    /// candidate loses a valid page, and when one is collected without being chosen; it gives
    /// candidates up by choosing them.
    pub enum Victim ("ftl.gc.victim" = "greedy") as VictimChoice, with victim_policy, or ExternalVictim {
        Greedy(Greedy),
        CostBenefit(CostBenefit),
        DChoices(DChoices),
        RandomGreedy(RandomGreedy),
        WindowedGreedy(WindowedGreedy),
        Fifo(Fifo),
        Random(Random),
    }
}

/// What a policy sees.
#[derive(Clone, Copy, Debug)]
pub struct VictimView<'a> {
    /// The plane in question.
    pub plane: PlaneId,
    /// All blocks as they are at present.
    pub blocks: &'a Blocks,
}

/// With more valid pages than this, collecting a block would not free one flash page.
#[must_use]
pub fn most_valid(geometry: &Geometry) -> u32 {
    geometry.units_per_block() - geometry.units_per_page()
}

contract! {
    /// What a victim policy decides. It gives up a candidate by choosing it. No hash order, no clock; random numbers
    /// only from a [`Stream`](crate::engine::Stream) of its own. Constant time matters: `closed` and `choose` are
    /// called once a block, `lost_page` once a page that is overwritten.
    pub trait VictimPolicy for Victim, by victim_policy, or ExternalVictim {
        /// A block is full: it may be collected from now on.
        fn closed(&mut self, view: &VictimView<'_>, block: BlockId);

        /// A candidate has lost one page.
        fn lost_page(&mut self, view: &VictimView<'_>, block: BlockId);

        /// A candidate is collected for another reason: it is none any more.
        fn withdrawn(&mut self, view: &VictimView<'_>, block: BlockId);

        /// The candidates of a plane, in an order in which telling a new policy of them
        /// ([`closed`](Self::closed)) makes it what this one is.
        #[must_use]
        fn candidates(&self, plane: PlaneId) -> Vec<BlockId>;

        /// Chooses a candidate that frees at least a flash page ([`most_valid`]), and drops it from the candidates.
        /// None if there is no such block.
        #[must_use]
        fn choose(&mut self, view: &VictimView<'_>) -> Option<BlockId>;
    }
}
