//! Pacing: how fast the host may write to a plane that collects ([`Pacing`], a seam).
//!
//! A plane that collects keeps a *credit*: flash pages that the host may still take. Policies say how much there is
//! at the beginning, how much each copy and each erase adds, and at how many free blocks the host needs credit at
//! all. The core keeps the credit, takes it, and lets the host wait where there is none.
//!
//! Only a plane that collects makes the host wait, and collection never waits for a host that waits for it. A
//! collection ends in finite time and frees a flash page at least, or the plane finds nothing to collect and the host
//! goes on. So no policy can bring a device to a standstill, whatever it answers.

mod credit;
mod stall;
mod token_bucket;

pub use credit::Credit;
pub use stall::Stall;
pub use token_bucket::TokenBucket;

use super::{Collection, Earned, Thresholds};
use crate::ftl::plane::Plane;
use crate::ftl::streams::Streams;
use crate::ftl::{Ftl, Policies};
use crate::policy::{contract, seam};
use crate::shape::Geometry;
use crate::units::PlaneId;

seam! {
    /// Paces the host's writes to a plane that collects: how many flash pages the host may take for
    /// what collection does.
    pub enum Pacing ("ftl.gc.pacing" = "credit") as PacingChoice, with pacing_policy, or ExternalPacing {
        Credit(Credit),
        TokenBucket(TokenBucket),
        Stall(Stall),
    }
}

/// The view of a plane that a pacing policy gets.
#[derive(Clone, Copy, Debug)]
pub struct PacingView<'a> {
    /// The collection that runs.
    pub run: &'a Collection,
    /// The thresholds of collection.
    pub thresholds: &'a Thresholds,
    plane: &'a Plane,
    streams: &'a Streams,
    geometry: &'a Geometry,
}

impl PacingView<'_> {
    /// Free blocks of the plane.
    #[must_use]
    pub fn free_blocks(&self) -> u32 {
        self.plane.free_blocks()
    }

    /// Flash pages that the host could take if collection freed nothing more: those left in its open blocks, and
    /// the free blocks beyond the reserve.
    #[must_use]
    pub fn room(&self) -> u32 {
        let whole = self.geometry.units_per_block();
        let open = self.streams.all_host_streams();
        let open: u32 = open.map(|stream| self.plane.units_left(stream, whole)).sum();
        let blocks = self.free_blocks().saturating_sub(self.thresholds.reserve);
        open / self.geometry.units_per_page() + blocks * self.pages_per_block()
    }

    /// The [`room`](Self::room) of a single stream when its plane begins to collect: it has just opened the block
    /// that left [`start`](Thresholds::start) free ones.
    #[must_use]
    pub fn room_at_start(&self) -> u32 {
        let Thresholds { start, reserve, .. } = *self.thresholds;
        (start.saturating_sub(reserve) + 1) * self.pages_per_block()
    }

    fn pages_per_block(&self) -> u32 {
        self.geometry.units_per_block() / self.geometry.units_per_page()
    }
}

contract! {
    /// The decisions of a pacing policy. It must not depend on anything but its arguments: it has no state.
    pub trait PacingPolicy for Pacing, by pacing_policy, or ExternalPacing {
        /// Whether the host needs credit to write to a plane that collects and has so many free blocks.
        #[must_use]
        fn limits(&self, thresholds: &Thresholds, free_blocks: u32) -> bool;

        /// The credit of a plane that begins to collect, in flash pages.
        #[must_use]
        fn lead(&self) -> u32;

        /// The most credit that a plane keeps, in flash pages.
        #[must_use]
        fn most(&self) -> u32;

        /// What the host earns by the copy of a flash page that was just programmed.
        #[must_use]
        fn share(&self, view: &PacingView<'_>) -> Earned;

        /// Flash pages that the host earns when a victim is erased; `rest` is what the victim gave beyond its copies
        /// and what the host got for these.
        #[must_use]
        fn erased(&self, rest: u32) -> u32;
    }
}

/// A plane begins to collect: the host gets the lead.
#[inline]
pub(in crate::ftl) fn begin(plane: PlaneId, ftl: &mut Ftl) {
    ftl.space.planes[plane.at()].host_credit = ftl.policies.pacing.lead();
}

/// A copy of a plane's collection is programmed. Returns the flash pages that this added to the host's credit.
#[inline(always)]
pub(in crate::ftl) fn earn_by_copy(plane: PlaneId, ftl: &mut Ftl) -> u32 {
    let Ftl { policies: Policies { pacing, streams, .. }, space, geometry, .. } = ftl;
    let thresholds = &space.thresholds;
    let state = &space.planes[plane.at()];
    let Some(run) = &state.collection else { return 0 };
    let share = pacing.share(&PacingView { run, thresholds, plane: state, streams, geometry });
    let state = &mut space.planes[plane.at()];
    let Some(run) = &mut state.collection else { return 0 };
    let before = state.host_credit;
    let after = before.saturating_add(run.earn(share)).min(pacing.most());
    state.host_credit = after;
    after.saturating_sub(before)
}

/// The victim of a plane is erased, and is a free block of `pages` flash pages.
pub(in crate::ftl) fn earn_by_erase(plane: PlaneId, run: &Collection, pages: u32, ftl: &mut Ftl) {
    let pacing = &ftl.policies.pacing;
    let earned = pacing.erased(run.earn_rest(pages));
    let credit = &mut ftl.space.planes[plane.at()].host_credit;
    *credit = credit.saturating_add(earned).min(pacing.most());
}

#[cfg(test)]
mod tests;
