//! The same where blocks are merged: which block holds each data block, which are log blocks, and which are erased
//! because a merge had filled them in vain, or had emptied them.
//!
//! The first spare area of a block says what it was opened for. A block can hold a data block if every page that
//! counts is in it or in a log block: then a merge into it had come to its end, whatever was left to be erased; if
//! not, the merge had not, and what it copied still lies where it was. So the candidate that was opened last and can
//! hold the data block does. Log blocks that lie in place are candidates, too (switch and partial merges); that one has become
//! a data block is noted in the system area, at no cost, as deallocations are here.

use super::super::Ftl;
use super::super::mapping::hybrid::{DataBlock, LogTables, Spot};
use super::Plan;
use super::record::Role;
use crate::ftl::mapping::MappingPolicy;
use crate::image::Damage;
use crate::units::{BlockId, Lpn, Ppn};
use crate::verify::Canary;

/// What was found of a logical page: its highest version, and all copies of it.
#[derive(Clone, Debug, Default)]
struct Copies {
    version: u64,
    places: Vec<Ppn>,
}

impl Ftl {
    /// Gives every block its part, maps every page, and erases what nothing counts on.
    pub(super) fn recover_log(&mut self, plan: &mut Plan) -> Result<(), Damage> {
        let pages = self.logical_pages;
        if let Some(tables) = self.mapping.log_mut() {
            tables.begin_load();
        }
        let scanned = self.scanned_blocks();
        let mut copies = self.copies(&scanned, pages);
        let holders = self.holders(&scanned, &copies);
        self.settle_copies(&scanned, &holders, &mut copies);
        let counting = copies.iter().filter_map(|of| of.places.first());
        let in_use = self.marks(counting.map(|&at| self.geometry.block_of(at)));
        let (kept, spent): (Vec<BlockId>, Vec<BlockId>) =
            scanned.iter().partition(|block| in_use[block.at()]);
        for block in spent {
            self.erase_at_power_up(block, plan);
        }
        self.give_parts(&kept, &holders);
        for (page, of) in (0..).map(Lpn::new).zip(&copies) {
            of.places.first().into_iter().for_each(|&at| self.put_back(page, at));
        }
        Ok(())
    }

    /// Of each page all copies of its highest version, those in blocks that were opened first first.
    fn copies(&self, scanned: &[BlockId], pages: u32) -> Vec<Copies> {
        let record = self.record.as_deref().expect("what recovers has a record");
        let mut copies = vec![Copies::default(); pages as usize];
        for at in scanned.iter().flat_map(|&block| self.pages_of(block)) {
            let Some(((version, _), page)) = record.version(at, false).zip(self.spare.owner(at))
            else {
                continue;
            };
            let of = &mut copies[page.at()];
            if version < of.version || self.is_deallocated(page, version) {
                continue;
            }
            if version > of.version {
                *of = Copies { version, places: Vec::new() };
            }
            of.places.push(at);
        }
        copies
    }

    fn tables(&self) -> &LogTables {
        self.mapping.log().expect("a mapping with a log").0
    }

    fn role(&self, block: BlockId) -> Role {
        self.record.as_deref().map_or(Role::Log, |record| record.role(block))
    }

    /// By data block: the block that holds it.
    fn holders(&self, scanned: &[BlockId], copies: &[Copies]) -> Vec<Option<BlockId>> {
        let tables = self.tables();
        let mut candidates = vec![Vec::new(); tables.all_data_blocks().count()];
        for &block in scanned.iter().rev() {
            match self.role(block) {
                Role::Data(data) => candidates[data.get() as usize].push(block),
                Role::HomedLog(data) if self.lies_in_place(block) => {
                    candidates[data.get() as usize].push(block);
                }
                Role::HomedLog(_) | Role::Log => {}
            }
        }
        let all = tables.all_data_blocks().zip(candidates);
        all.map(|(data, candidates)| {
            candidates.into_iter().find(|&block| self.can_hold(block, data, copies))
        })
        .collect()
    }

    /// Whether every page that counts of a data block is in this block, or in a log block.
    fn can_hold(&self, holder: BlockId, data: DataBlock, copies: &[Copies]) -> bool {
        let tables = self.tables();
        let own = |at: &Ppn| {
            let block = self.geometry.block_of(*at);
            block == holder || !matches!(self.role(block), Role::Data(_))
        };
        let pages =
            (0..tables.pages_per_block()).map(|offset| tables.page_at(Spot { data, offset }));
        let mut found = pages.filter_map(|page| copies.get(page.at()));
        self.plant.is(Canary::HalfMergeCounts)
            || found.all(|of| of.places.is_empty() || of.places.iter().any(own))
    }

    /// Whether every page of a block lies at its own offset.
    fn lies_in_place(&self, block: BlockId) -> bool {
        let tables = self.tables();
        self.pages_of(block).all(|at| {
            let (_, unit) = self.geometry.place_of(at);
            match self.record.as_deref().and_then(|record| record.version(at, false)) {
                None => true,
                Some(_) => self.spare.owner(at).is_none_or(|page| tables.spot(page).offset == unit),
            }
        })
    }

    /// Decides between copies of one version: that in the data block goes before those in log blocks, and no other
    /// block counts as one. Log blocks of which all that counts lies elsewhere, too, are given up, the oldest first.
    fn settle_copies(
        &self,
        scanned: &[BlockId],
        holders: &[Option<BlockId>],
        copies: &mut [Copies],
    ) {
        let tables = self.tables();
        for (page, of) in (0..).map(Lpn::new).zip(copies.iter_mut()) {
            let holder = holders[tables.spot(page).data.get() as usize];
            of.places.retain(|&at| {
                let block = self.geometry.block_of(at);
                Some(block) == holder || !matches!(self.role(block), Role::Data(_))
            });
            of.places.sort_by_key(|&at| Some(self.geometry.block_of(at)) != holder);
        }
        let holds = self.marks(holders.iter().copied().flatten());
        for &block in scanned.iter().filter(|block| !holds[block.at()]) {
            let here = |at: &Ppn| self.geometry.block_of(*at) == block;
            let owners = || {
                let owners = self.pages_of(block).filter_map(|at| self.spare.owner(at));
                owners.filter(|page| page.get() < self.logical_pages)
            };
            let elsewhere = |of: &Copies| of.places.is_empty() || !of.places.iter().all(here);
            if owners().all(|page| elsewhere(&copies[page.at()])) {
                owners().for_each(|page| copies[page.at()].places.retain(|at| !here(at)));
            }
        }
    }

    /// Notes what each block is from now on. All are full.
    fn give_parts(&mut self, kept: &[BlockId], holders: &[Option<BlockId>]) {
        let pages = self.geometry.units_per_block();
        let mut held: Vec<Option<u32>> = vec![None; self.geometry.blocks() as usize];
        for (data, holder) in (0..).zip(holders) {
            holder.iter().for_each(|holder| held[holder.at()] = Some(data));
        }
        let in_place: Vec<bool> = kept.iter().map(|&block| self.lies_in_place(block)).collect();
        for (&block, in_place) in kept.iter().zip(in_place) {
            let plane = self.geometry.plane_of(block);
            let role = self.role(block);
            let Some(tables) = self.mapping.log_mut() else { return };
            match (held[block.at()], role) {
                (Some(data), _) => {
                    let data = DataBlock::numbered(data);
                    tables.open_data(data, block);
                    if let Some(record) = self.record.as_deref_mut() {
                        record.set_role(block, Role::Data(data));
                    }
                }
                (None, Role::HomedLog(data)) => tables.open(plane, block, Some(data)),
                (None, Role::Log | Role::Data(_)) => tables.open(plane, block, None),
            }
            let strays = if in_place { pages - 1 } else { pages };
            if let Some(tables) = self.mapping.log_mut() {
                tables.take(block, pages - 1, strays);
            }
        }
    }

    /// What the first spare area of a block says that is opened.
    pub(in crate::ftl) fn note_role(&mut self, block: BlockId, role: Role) {
        if let Some(record) = self.record.as_deref_mut() {
            record.set_role(block, role);
        }
    }
}
