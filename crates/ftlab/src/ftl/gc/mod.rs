//! Garbage collection: which block to clean ([`Victim`], a seam), and the collector that copies its
//! valid pages away and erases it.

mod collector;
mod greedy;
mod purpose;

pub use collector::{Collection, Collector, Freed, Ground, Thresholds, Wanted};
pub use greedy::Greedy;
pub use purpose::{Purpose, PurposeCounts};

use crate::policy::seam;
use crate::units::{BlockId, PlaneId};

seam! {
    /// Picks the block that is collected next. It is told when a block becomes a candidate, when a
    /// candidate loses a valid page, and when one is collected without being chosen; it gives
    /// candidates up by choosing them.
    pub enum Victim ("ftl.gc.victim" = "greedy") as VictimChoice, with victim_policy {
        Greedy(Greedy),
    }
}

impl Victim {
    /// A block of `plane` is full: it may be collected from now on.
    #[inline]
    pub fn closed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        victim_policy!(self, policy => policy.closed(plane, block, valid));
    }

    /// A candidate of `plane` lost a page and has `valid` left.
    #[inline]
    pub fn lost_page(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        victim_policy!(self, policy => policy.lost_page(plane, block, valid));
    }

    /// A candidate of `plane` with `valid` pages is collected for another reason: it is none any more.
    #[inline]
    pub fn withdrawn(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        victim_policy!(self, policy => policy.withdrawn(plane, block, valid));
    }

    /// The candidates of a plane, in an order in which telling a new policy of them
    /// ([`closed`](Self::closed)) makes it what this one is.
    #[must_use]
    pub fn candidates(&self, plane: PlaneId) -> Vec<BlockId> {
        victim_policy!(self, policy => policy.candidates(plane))
    }

    /// Chooses a candidate of `plane` that has an invalid page, and drops it from the candidates.
    #[inline]
    pub fn choose(&mut self, plane: PlaneId) -> Option<BlockId> {
        victim_policy!(self, policy => policy.choose(plane))
    }
}
