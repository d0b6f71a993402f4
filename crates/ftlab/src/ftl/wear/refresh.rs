//! Refresh: data that would soon hold more errors than can be corrected is copied in time. At every patrol the device
//! looks at each block that holds data, and empties those whose worst page would pass a limit
//! ([`Reliability`](crate::nand::Reliability)) before the patrol after the next: so a block that is found has a whole
//! period to be emptied in. The collector does that like any other collection ([`Purpose::Refresh`]), one block of a
//! plane after the other, and in turn with collection for space where blocks are scarce.
//!
//! Ages are those of blocks: each page counts as old as the first one of its block. So a block is filled no further as
//! soon as a page of the lowest cost would be due in it; its last pages stay erased. Blocks that
//! are used with one bit a cell are passed over; how they age is not modelled. So is a device at the end of its
//! life, which moves nothing any more.
//!
//! Source: remapping in Cai et al., "Flash Correct-and-Refresh", ICCD 2012. It refreshes at fixed intervals, shorter for
//! more wear; here the model says when.

use crate::ftl::gc::wanted;
use crate::ftl::wear::life;
use std::collections::VecDeque;

use super::super::gc::{Purpose, Wanted};
use super::super::{BlockState, Ftl};
use crate::engine::skills;
use crate::nand::Limit;
use crate::options::declare::{choices, options};
use crate::shape::Geometry;
use crate::units::{BlockId, Nanos, PlaneId};

options! {
    /// Data that is copied before its errors can't be corrected any more.
    pub struct RefreshOptions at "ftl.refresh" {
        /// Which blocks are refreshed. Other than never, this needs timing that knows errors ("ispp").
        when: RefreshWhen = "never", source "default: the baseline without";
        /// The time from one look at all blocks to the next.
        period: Nanos = "1d", in "1h"..="1y",
            source "assumed: much shorter than data lasts, and long enough for a device to copy all it holds",
            applies_with "ftl.refresh.when" not "never";
        /// Reads of a block since its erase after which it is refreshed, whatever its timing knows of errors; and again
        /// after as many more. One that is being filled then waits for these.
        reads: Option<u32> = "none", in "10"..="4000000000", unit "reads",
            source "default: the baseline without; firmware counts reads and moves blocks (Cai et al., DSN 2015)";
    }
}

choices! {
    /// When a block is refreshed.
    pub enum RefreshWhen {
        /// Never: data that lies still is lost at some time.
        Never = "never",
        /// Before a read of it needs retries.
        BeforeRetries = "before-retries",
        /// Before no retry can read it.
        BeforeLoss = "before-loss",
    }
}

/// When blocks are refreshed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshRule {
    /// What the errors of no page may pass.
    pub limit: Limit,
    /// From one patrol to the next.
    pub period: Nanos,
}

impl RefreshOptions {
    /// The rule, if anything is ever refreshed.
    #[must_use]
    pub fn rule(&self) -> Option<RefreshRule> {
        let limit = match self.when {
            RefreshWhen::Never => return None,
            RefreshWhen::BeforeRetries => Limit::LastLevel,
            RefreshWhen::BeforeLoss => Limit::LastRetry,
        };
        Some(RefreshRule { limit, period: self.period })
    }
}

/// A block that is due, in the life that it had when it was found.
#[derive(Clone, Copy, Debug)]
struct Due {
    block: BlockId,
    erases: u32,
    /// It was read often: the next patrol finds nothing of that.
    by_reads: bool,
}

/// A block that is filled no further, and of which so many units were taken.
#[derive(Clone, Copy, Debug)]
struct Sealing {
    block: BlockId,
    taken: u32,
}

/// What is to be refreshed.
#[derive(Clone, Debug)]
pub(in crate::ftl) struct Refresh {
    /// None if only reads count.
    rule: Option<RefreshRule>,
    /// By plane: blocks that the last patrol found, or that were read often.
    due: Vec<VecDeque<Due>>,
    /// Blocks of which programs are under way.
    sealing: Vec<Sealing>,
}

impl Refresh {
    pub(in crate::ftl) fn new(rule: Option<RefreshRule>, planes: u32) -> Refresh {
        Refresh { rule, due: vec![VecDeque::new(); planes as usize], sealing: Vec::new() }
    }

    /// Nothing of a plane is refreshed any more.
    pub(super) fn forget_plane(&mut self, plane: PlaneId, geometry: &Geometry) {
        self.due[plane.at()].clear();
        self.sealing.retain(|sealing| geometry.plane_of(sealing.block) != plane);
    }

    /// A block that is filled no further fails: how many units of it were taken, if it was such a one.
    pub(super) fn unseal(&mut self, block: BlockId) -> Option<u32> {
        let at = self.sealing.iter().position(|sealing| sealing.block == block)?;
        Some(self.sealing.remove(at).taken)
    }
}

impl Ftl {
    /// When blocks are refreshed for the age of their data, if they ever are.
    #[inline]
    #[must_use]
    pub fn refreshes(&self) -> Option<RefreshRule> {
        self.features.refresh.as_ref()?.rule
    }
}

/// Whether anything is ever refreshed.
#[inline]
pub(crate) fn may_have_due(ftl: &Ftl) -> bool {
    ftl.features.refresh.is_some()
}

/// A patrol begins: what the last one found, and nobody came to, is looked for again.
pub(in crate::ftl) fn forget_due(ftl: &mut Ftl) {
    if let Some(refresh) = &mut ftl.features.refresh {
        refresh.due.iter_mut().for_each(|due| due.retain(|due| due.by_reads));
    }
}

/// Whether native cells of a block are being filled.
pub(in crate::ftl) fn is_filled(block: BlockId, ftl: &Ftl) -> bool {
    ftl.blocks.state(block) == BlockState::Open && !ftl.blocks.is_slc(block)
}

/// Whether a block is full, of native cells, and nobody empties it already.
pub(in crate::ftl) fn may_refresh(block: BlockId, ftl: &Ftl) -> bool {
    ftl.blocks.state(block) == BlockState::Closed && !ftl.blocks.is_slc(block)
}

/// A patrol found a block that is due.
pub(in crate::ftl) fn note_due(block: BlockId, ftl: &mut Ftl) {
    push_due(block, false, ftl);
}

/// A block was read so often that it is due.
pub(in crate::ftl) fn note_read_often(block: BlockId, ftl: &mut Ftl) {
    push_due(block, true, ftl);
}

fn push_due(block: BlockId, by_reads: bool, ftl: &mut Ftl) {
    let (plane, erases) = (ftl.geometry.plane_of(block), ftl.blocks.erases(block));
    if let Some(refresh) = &mut ftl.features.refresh {
        refresh.due[plane.at()].push_back(Due { block, erases, by_reads });
    }
}

/// Fills a block no further.
pub(in crate::ftl) fn seal(block: BlockId, ftl: &mut Ftl) {
    let plane = ftl.geometry.plane_of(block);
    let open = ftl.space.planes[plane.at()].close(block, |stream| ftl.blocks.units_in(stream));
    // One that was taken as a whole closes by itself.
    let Some((stream, taken)) = open else { return };
    if let Some(writable) = crate::ftl::room::writable_mut(stream, ftl) {
        writable.next_unit[plane.at()] = 0;
    }
    crate::ftl::room::refresh_writable::<{ skills::ALL }>(plane, ftl);
    if let Some(refresh) = &mut ftl.features.refresh {
        refresh.sealing.push(Sealing { block, taken });
    }
    settle_sealing(block, ftl);
}

/// If nothing of a block that is filled no further is in flight, it is closed.
pub(in crate::ftl) fn settle_sealing(block: BlockId, ftl: &mut Ftl) {
    let programmed = ftl.blocks.programmed(block);
    let Some(refresh) = &mut ftl.features.refresh else { return };
    let ready = |sealing: &Sealing| sealing.block == block && sealing.taken == programmed;
    let Some(at) = refresh.sealing.iter().position(ready) else { return };
    refresh.sealing.remove(at);
    ftl.close(block);
}

/// A plane finds nothing that makes space: what waits for that is refreshed.
pub(in crate::ftl) fn refresh_instead(plane: PlaneId, ftl: &mut Ftl) -> Option<Wanted> {
    let wanted = next_refresh(plane, None, ftl)?;
    wanted::want(wanted, ftl);
    ftl.space.planes[plane.at()].wanted.pop_back()
}

/// The block of a plane that is refreshed next. Where blocks are scarce, one `after` that purpose
/// waits for a collection that makes space.
pub(in crate::ftl) fn next_refresh(
    plane: PlaneId,
    after: Option<Purpose>,
    ftl: &mut Ftl,
) -> Option<Wanted> {
    let scarce = ftl.free_blocks(plane) < ftl.space.thresholds.stop;
    let busy = ftl.space.planes[plane.at()].waits_for(Purpose::Refresh);
    if busy || ftl.health.read_only || scarce && after == Some(Purpose::Refresh) {
        return None;
    }
    loop {
        let due = &mut ftl.features.refresh.as_mut()?.due[plane.at()];
        let Due { block, erases, .. } = due.pop_front()?;
        let same = ftl.blocks.erases(block) == erases;
        if same
            && ftl.blocks.state(block) == BlockState::Closed
            && life::can_empty(plane, block, ftl)
        {
            return Some(Wanted { block, purpose: Purpose::Refresh });
        }
    }
}
