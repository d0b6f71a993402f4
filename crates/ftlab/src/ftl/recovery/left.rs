//! The state of an FTL after a power cut: the contents of flash, and the state of the cells.

use super::super::gc::Purpose;
use super::super::lost::Lost;
use super::super::plane::Plane;
use super::super::wear::{EndReason, Life, Losses};
use super::super::{BlockState, Blocks, Ftl, Spare};
use super::Record;
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::parity::Stripes;
use crate::ftl::superblock::Members;
use crate::ftl::{EmptiedBy, FlashChange, FlashContents};
use crate::shape::Geometry;
use crate::units::{BlockId, DieId, Lpn, Ppn, Tpn};

/// The state of an FTL after a power cut.
#[derive(Clone, Debug)]
pub struct Left {
    pub(super) spare: Spare,
    pub(super) blocks: Blocks,
    pub(super) lost: Lost,
    pub(super) record: Box<Record>,
    /// By plane: the number of blocks that were ever used.
    pub(super) used: Vec<u32>,
    /// Blocks that are listed as bad and were not emptied yet.
    pub(super) giving_up: Vec<BlockId>,
    /// The key that determines which blocks are weak, and whether the device was at the end of its
    /// life.
    pub(super) weak: Option<(u64, Option<EndReason>)>,
    /// What had failed.
    pub(super) failures: Losses,
    /// Flash pages whose program was cut.
    pub(crate) torn: Vec<Ppn>,
    /// Flash pages that were programmed and did not count yet.
    pub(crate) landed: Vec<Ppn>,
    /// Blocks whose erase had begun.
    pub(crate) half_erased: Vec<BlockId>,
    /// Dies that do not answer at power-up, whether or not their death was noticed before.
    pub(crate) dead: Vec<DieId>,
    /// Which blocks of superblocks are bad.
    pub(super) members: Option<Members>,
    /// What is known of stripes, without the parity that was in DRAM.
    pub(super) stripes: Option<Box<Stripes>>,
    /// If the map is stored on flash: its translation pages that differed from the map.
    pub(crate) stale_map: Vec<Tpn>,
    /// By logical page: its place before the cut. Only used to find which translation pages differ
    /// from the recovered map.
    pub(super) lay: Vec<Option<Ppn>>,
}

impl Ftl {
    /// Returns the state after a power cut, or `None` if nothing is kept for recovery.
    pub(crate) fn into_left(self) -> Option<Left> {
        let giving_up = giving_up(&self);
        let stale_map = self.map.mapping.dftl().map(|map| map.not_on_flash()).unwrap_or_default();
        let lay = match self.map.mapping.dftl() {
            Some(_) => (0..self.logical_pages).map(|page| self.look_up(Lpn::new(page))).collect(),
            None => Vec::new(),
        };
        let failures = self.health.life.as_deref().map(|life| life.losses().failures());
        Some(Left {
            failures: failures.unwrap_or_default(),
            members: self.features.superblock.map(|state| state.members),
            stripes: self.features.stripes.map(|stripes| Box::new(stripes.without_power())),
            record: self.features.record?,
            spare: self.map.spare,
            blocks: self.blocks,
            lost: self.map.lost,
            used: self.space.planes.iter().map(|plane| plane.used()).collect(),
            giving_up,
            weak: self.health.life.map(|life| (life.faults.key(), life.end_reason())),
            torn: Vec::new(),
            landed: Vec::new(),
            half_erased: Vec::new(),
            dead: Vec::new(),
            stale_map,
            lay,
        })
    }
}

/// Returns the blocks on which an operation failed and that are not retired yet, in order.
pub(super) fn giving_up(ftl: &Ftl) -> Vec<BlockId> {
    // Blocks are only marked as failing by a failure since the device came up. A look at all of them takes time.
    let any = ftl.health.life.as_deref().is_some_and(Life::has_failed);
    let all = (0..if any { ftl.geometry.blocks() } else { 0 }).map(BlockId::new);
    let failing = all.filter(|&block| ftl.blocks.state(block) == BlockState::Failing);
    let mut all: Vec<BlockId> = failing.chain(ftl.space.planes.iter().flat_map(retiring)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether an operation failed on a block that is not retired yet.
pub(super) fn is_given_up(block: BlockId, ftl: &Ftl) -> bool {
    let plane = ftl.geometry.plane_of(block);
    ftl.blocks.state(block) == BlockState::Failing
        || retiring(&ftl.space.planes[plane.at()]).any(|other| other == block)
}

/// The blocks of a plane that wait to be retired, or are being emptied for it.
fn retiring(plane: &Plane) -> impl Iterator<Item = BlockId> {
    let run = plane.collection.as_ref().filter(|run| run.purpose() == Purpose::Retire);
    plane.giving_up().chain(run.map(|run| run.victim()))
}

impl Left {
    /// Handles another power cut during or after the erase of these blocks. They count as half
    /// erased, because recovery cannot tell whether the erase completed.
    pub(crate) fn erased_in_part(&mut self, geometry: &Geometry, blocks: &[BlockId]) {
        self.half_erased.extend(blocks);
        self.half_erased.sort_unstable();
        self.half_erased.dedup();
        let stays = |at: &Ppn| self.half_erased.binary_search(&geometry.block_of(*at)).is_err();
        self.torn.retain(stays);
        self.landed.retain(stays);
    }

    /// Makes pages unreadable whose program was cut, or that were placed but not programmed.
    pub(crate) fn tear(&self, geometry: &Geometry, contents: &mut impl FlashContents) {
        let units = geometry.units_per_page();
        for &block in &self.half_erased {
            let (first, units) = (geometry.page_at(block, 0), geometry.units_per_block());
            contents.change(FlashChange::Emptied { first, units, by: EmptiedBy::Cut });
        }
        for block in (0..geometry.blocks()).map(BlockId::new) {
            if !self.blocks.is_used(block) {
                continue;
            }
            for unit in (0..geometry.units_per_block()).step_by(units as usize) {
                let first = geometry.page_at(block, unit);
                let mut pages = (first.get()..first.get() + units).map(Ppn::new);
                if pages.any(|at| self.record.is_pending(at)) {
                    contents.change(FlashChange::Emptied { first, units, by: EmptiedBy::Cut });
                }
            }
        }
    }
}
