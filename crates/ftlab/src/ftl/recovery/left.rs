//! What a power cut leaves of an FTL: what is on flash, and what the cells were at.

use super::super::gc::{Purpose, Wanted};
use super::super::lost::Lost;
use super::super::wear::EndReason;
use super::super::{BlockState, Blocks, Ftl, Spare};
use super::Record;
use crate::ftl::FlashContents;
use crate::ftl::mapping::MappingPolicy;
use crate::shape::Geometry;
use crate::units::{BlockId, Lpn, Ppn, Tpn};

/// What a power cut leaves of an FTL.
#[derive(Clone, Debug)]
pub struct Left {
    pub(super) spare: Spare,
    pub(super) blocks: Blocks,
    pub(super) lost: Lost,
    pub(super) record: Box<Record>,
    /// By plane: blocks that were used at some time.
    pub(super) used: Vec<u32>,
    /// Blocks that are listed as bad and were not emptied yet.
    pub(super) giving_up: Vec<BlockId>,
    /// What decides which blocks are weak, and whether the device had come to its end.
    pub(super) weak: Option<(u64, Option<EndReason>)>,
    /// Flash pages whose program was cut.
    pub(crate) torn: Vec<Ppn>,
    /// Flash pages that were programmed and did not count yet.
    pub(crate) landed: Vec<Ppn>,
    /// Blocks whose erase had begun.
    pub(crate) half_erased: Vec<BlockId>,
    /// Where the map lies on flash: its pages that did not say what the map said.
    pub(crate) stale_map: Vec<Tpn>,
    /// By logical page: where it lay. Only to tell which of those pages are wrong by what recovery decides.
    pub(super) lay: Vec<Option<Ppn>>,
}

impl Ftl {
    /// What a power cut leaves. None if nothing is kept for recovery.
    pub(crate) fn into_left(self) -> Option<Left> {
        let giving_up = giving_up(&self);
        let stale_map = self.map.mapping.dftl().map(|map| map.not_on_flash()).unwrap_or_default();
        let lay = match self.map.mapping.dftl() {
            Some(_) => (0..self.logical_pages).map(|page| self.look_up(Lpn::new(page))).collect(),
            None => Vec::new(),
        };
        Some(Left {
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
            stale_map,
            lay,
        })
    }
}

/// Blocks on which something failed, and that are not given up yet.
fn giving_up(ftl: &Ftl) -> Vec<BlockId> {
    let all = (0..ftl.geometry.blocks()).map(BlockId::new);
    let failing = all.filter(|&block| ftl.blocks.state(block) == BlockState::Failing);
    let retire = |wanted: &&Wanted| wanted.purpose == Purpose::Retire;
    let wanted = ftl.space.planes.iter().flat_map(|plane| &plane.wanted).filter(retire);
    let runs = ftl.space.planes.iter().filter_map(|plane| plane.collection.as_ref());
    let runs = runs.filter(|run| run.purpose() == Purpose::Retire).map(|run| run.victim());
    let mut all: Vec<BlockId> =
        failing.chain(wanted.map(|wanted| wanted.block)).chain(runs).collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl Left {
    /// Power was cut again while these blocks were erased, or after they were: nobody can tell.
    pub(crate) fn erased_in_part(&mut self, geometry: &Geometry, blocks: &[BlockId]) {
        self.half_erased.extend(blocks);
        self.half_erased.sort_unstable();
        self.half_erased.dedup();
        let stays = |at: &Ppn| self.half_erased.binary_search(&geometry.block_of(*at)).is_err();
        self.torn.retain(stays);
        self.landed.retain(stays);
    }

    /// Nothing may be read of what was cut, or was placed and never begun.
    pub(crate) fn tear(&self, geometry: &Geometry, contents: &mut impl FlashContents) {
        let units = geometry.units_per_page();
        for &block in &self.half_erased {
            contents.tear(geometry.page_at(block, 0), geometry.units_per_block());
        }
        for block in (0..geometry.blocks()).map(BlockId::new) {
            if !self.blocks.is_used(block) {
                continue;
            }
            for unit in (0..geometry.units_per_block()).step_by(units as usize) {
                let first = geometry.page_at(block, unit);
                let mut pages = (first.get()..first.get() + units).map(Ppn::new);
                if pages.any(|at| self.record.is_pending(at)) {
                    contents.tear(first, units);
                }
            }
        }
    }
}
