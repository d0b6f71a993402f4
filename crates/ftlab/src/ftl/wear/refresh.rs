//! Refresh copies data before it has more errors than can be corrected. At every patrol the device
//! checks each block that holds data. It empties the blocks whose worst page would exceed a limit
//! ([`Reliability`](crate::nand::Reliability)) before the patrol after the next. So there is a
//! whole period to empty each block that is found. The collector empties them like other victims
//! ([`Purpose::Refresh`]): one block of a plane at a time, and alternating with garbage collection
//! for space if blocks are scarce.
//!
//! Ages are ages of blocks: each page counts as old as the first page of its block. So an open
//! block is closed early as soon as a page of the lowest cost would be due in it; its last pages
//! stay erased. [Rebuilding](super::super::parity) after a die's death empties blocks in the same way. Blocks in use with one bit per cell are skipped, because their ageing is not
//! modelled. Nothing is refreshed at the end of a device's life, because the device then moves no
//! more data.
//!
//! Source: remapping in Cai et al., "Flash Correct-and-Refresh", ICCD 2012. The paper refreshes at
//! fixed intervals, which are shorter for more wear; here the model determines the time.

use crate::ftl::gc::wanted;
use crate::ftl::parity::rebuild;
use crate::ftl::wear::life;
use std::collections::VecDeque;

use super::super::gc::{Purpose, Wanted};
use super::super::{BlockState, Ftl};
use crate::engine::skills;
use crate::ftl::streams::{ClosedBy, StreamsPolicy};
use crate::nand::Limit;
use crate::options::declare::{choices, options};
use crate::shape::Geometry;
use crate::units::{BlockId, Nanos, PlaneId};

options! {
    /// Data that is copied before its errors become uncorrectable.
    pub struct RefreshOptions at "ftl.refresh" {
        /// Which blocks are refreshed. All values other than "never" need a timing that models
        /// errors ("ispp").
        when: RefreshWhen = "never", source "default: the baseline without refresh";
        /// The time between two patrols, which check all blocks.
        period: Nanos = "1d", in "1h"..="1y",
            source "assumed: much shorter than the retention of data, and long enough for a device to copy all its data",
            applies_with "ftl.refresh.when" not "never";
        /// Number of reads of a block since its erase after which it is refreshed, and again after
        /// as many more. This works with every timing, even one that does not model errors. A block
        /// that is still open is refreshed only after these further reads.
        reads: Option<u32> = "none", in "10"..="4000000000", unit "reads",
            source "default: the baseline without it; firmware counts reads and moves blocks (Cai et al., DSN 2015)";
    }
}

choices! {
    /// When a block is refreshed.
    pub enum RefreshWhen {
        /// Never. Static data is lost at some time.
        Never = "never",
        /// Before a read of the block needs retries.
        BeforeRetries = "before-retries",
        /// Before retries can no longer read the block.
        BeforeLoss = "before-loss",
    }
}

/// The rule by which blocks are refreshed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshRule {
    /// The limit that the errors of no page may exceed.
    pub limit: Limit,
    /// The time between two patrols.
    pub period: Nanos,
}

impl RefreshOptions {
    /// Returns the rule, or `None` if blocks are never refreshed by age.
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

/// A block that is due. It is still due only if its erase count is unchanged.
#[derive(Clone, Copy, Debug)]
struct Due {
    block: BlockId,
    erases: u32,
    /// Whether it is due because of its reads. Patrols do not find such blocks again.
    by_reads: bool,
}

/// A block that is closed early, and the number of its units that are taken.
#[derive(Clone, Copy, Debug)]
struct Sealing {
    block: BlockId,
    taken: u32,
}

/// The state of refresh.
#[derive(Clone, Debug)]
pub(in crate::ftl) struct Refresh {
    /// `None` if blocks are not refreshed because of their age.
    rule: Option<RefreshRule>,
    /// Whether any block is ever refreshed. Otherwise open blocks are only closed early.
    refreshes: bool,
    /// By plane: blocks that the last patrol found, or that were read often.
    due: Vec<VecDeque<Due>>,
    /// Blocks that are closed early and still have programs under way.
    sealing: Vec<Sealing>,
}

impl Refresh {
    pub(in crate::ftl) fn new(rule: Option<RefreshRule>, refreshes: bool, planes: u32) -> Refresh {
        Refresh {
            rule,
            refreshes,
            due: vec![VecDeque::new(); planes as usize],
            sealing: Vec::new(),
        }
    }

    /// Stops the refresh of a plane.
    pub(super) fn forget_plane(&mut self, plane: PlaneId, geometry: &Geometry) {
        self.due[plane.at()].clear();
        self.sealing.retain(|sealing| geometry.plane_of(sealing.block) != plane);
    }

    /// Stops the early closing of a block that fails. Returns the number of its taken units if it
    /// was being closed early.
    pub(super) fn unseal(&mut self, block: BlockId) -> Option<u32> {
        let at = self.sealing.iter().position(|sealing| sealing.block == block)?;
        Some(self.sealing.remove(at).taken)
    }
}

impl Ftl {
    /// Returns the rule by which blocks are refreshed because of the age of their data, if they
    /// are.
    #[inline]
    #[must_use]
    pub fn refreshes(&self) -> Option<RefreshRule> {
        self.features.refresh.as_ref()?.rule
    }
}

/// Whether blocks are ever refreshed.
#[inline]
pub(crate) fn may_have_due(ftl: &Ftl) -> bool {
    ftl.features.refresh.as_ref().is_some_and(|refresh| refresh.refreshes)
}

/// Forgets the blocks that the last patrol found and that were not refreshed, because the patrol
/// that begins finds them again.
pub(in crate::ftl) fn forget_due(ftl: &mut Ftl) {
    if let Some(refresh) = &mut ftl.features.refresh {
        refresh.due.iter_mut().for_each(|due| due.retain(|due| due.by_reads));
    }
}

/// Whether a block is open and not in SLC mode.
pub(in crate::ftl) fn is_filled(block: BlockId, ftl: &Ftl) -> bool {
    ftl.blocks.state(block) == BlockState::Open && !ftl.blocks.is_slc(block)
}

/// Whether a block is closed, not in SLC mode, and not being emptied already.
pub(in crate::ftl) fn may_refresh(block: BlockId, ftl: &Ftl) -> bool {
    ftl.blocks.state(block) == BlockState::Closed && !ftl.blocks.is_slc(block)
}

/// Adds a block that a patrol found due.
pub(in crate::ftl) fn note_due(block: BlockId, ftl: &mut Ftl) {
    push_due(block, false, ftl);
}

/// Adds a block that is due because of its reads.
pub(in crate::ftl) fn note_read_often(block: BlockId, ftl: &mut Ftl) {
    push_due(block, true, ftl);
}

fn push_due(block: BlockId, by_reads: bool, ftl: &mut Ftl) {
    let (plane, erases) = (ftl.geometry.plane_of(block), ftl.blocks.erases(block));
    if let Some(refresh) = &mut ftl.features.refresh {
        refresh.due[plane.at()].push_back(Due { block, erases, by_reads });
    }
}

/// Closes an open block early.
pub(in crate::ftl) fn seal(block: BlockId, by: ClosedBy, ftl: &mut Ftl) {
    let plane = ftl.geometry.plane_of(block);
    let open = ftl.space.planes[plane.at()].close(block, |stream| ftl.blocks.units_in(stream));
    // A block that was taken as a whole closes by itself.
    let Some((stream, taken)) = open else { return };
    if let Some(writable) = crate::ftl::room::writable_mut(stream, ftl) {
        writable.next_unit[plane.at()] = 0;
    }
    crate::ftl::room::refresh_writable::<{ skills::ALL }>(plane, ftl);
    let unwritten = ftl.blocks.units_in(stream) - taken;
    ftl.policies.streams.closed_early(stream, unwritten, by);
    if let Some(refresh) = &mut ftl.features.refresh {
        refresh.sealing.push(Sealing { block, taken });
    }
    settle_sealing(block, ftl);
}

/// Closes a block that is closed early, once none of its programs is in flight.
pub(in crate::ftl) fn settle_sealing(block: BlockId, ftl: &mut Ftl) {
    let programmed = ftl.blocks.programmed(block);
    let Some(refresh) = &mut ftl.features.refresh else { return };
    let ready = |sealing: &Sealing| sealing.block == block && sealing.taken == programmed;
    let Some(at) = refresh.sealing.iter().position(ready) else { return };
    refresh.sealing.remove(at);
    ftl.close(block);
}

/// Returns a block to refresh on a plane that finds nothing to collect for space.
pub(in crate::ftl) fn refresh_instead(plane: PlaneId, ftl: &mut Ftl) -> Option<Wanted> {
    let wanted = next_refresh(plane, None, ftl)?;
    wanted::want(wanted, ftl);
    ftl.space.planes[plane.at()].wanted.pop_back()
}

/// Returns the next superblock of a plane to rebuild. If there is none, closes early those that are open, unless free blocks
/// are scarce.
fn next_to_rebuild(plane: PlaneId, ftl: &mut Ftl) -> Option<Wanted> {
    let next = rebuild::next(plane, ftl);
    if next.is_some() || ftl.free_blocks(plane) <= ftl.space.thresholds.stop {
        return next;
    }
    let open: Vec<BlockId> =
        rebuild::exposed_on(plane, ftl).filter(|&block| is_filled(block, ftl)).collect();
    open.into_iter().for_each(|block| seal(block, ClosedBy::Device, ftl));
    rebuild::next(plane, ftl)
}

/// Returns the next block of a plane to refresh. `after` is the purpose of the collection that just
/// ended. If free blocks are scarce, a refresh after another refresh has to wait for a collection
/// for space.
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
    if rebuild::rebuilds(ftl)
        && let Some(wanted) = next_to_rebuild(plane, ftl)
    {
        return Some(wanted);
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
