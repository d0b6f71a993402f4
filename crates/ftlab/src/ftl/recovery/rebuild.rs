//! From what is on flash to an FTL: which copy of each page counts, what becomes of each block, and what has to be read
//! to find that out.
//!
//! What is decided here rests on nothing but [`Left`]: versions, owners and sectors in the spare areas, how far blocks
//! are programmed, and the system area: the journal, checkpoints, and lists of bad blocks and of pages that are lost or
//! never count. Which pages belong to a cycle that was not complete is known as if the spare areas said so.

use crate::ftl::wear::life;
use std::collections::BTreeSet;

use super::super::gc::{Purpose, VictimPolicy, VictimView, Wanted};
use super::super::{BlockState, Blocks, Ftl};
use super::plan::is_scanned;
use super::{Left, Plan};
use crate::engine::skills;
use crate::ftl::mapping::MappingPolicy;
use crate::image::{Damage, Resume};
use crate::units::{BlockId, Lpn, PlaneId, Ppn, Tpn};
use crate::verify::Canary;

/// What recovery found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Logical pages that lie somewhere.
    pub pages: u64,
    /// Flash pages whose program was cut.
    pub torn: u64,
    /// Mapping units that were on flash and did not count yet: a cycle that was not complete.
    pub rolled_back: u64,
    /// Blocks whose erase was cut, or had ended when power was cut again and nobody could tell.
    pub half_erased: u64,
    /// Blocks that were being filled, and are filled no further.
    pub closed_early: u64,
}

impl Ftl {
    /// Takes up what a power cut has left, in an FTL that was just built.
    ///
    /// # Errors
    /// What is on flash contradicts itself.
    pub(crate) fn recover(&mut self, left: Left) -> Result<(Found, Plan), Damage> {
        life::forget_factory_bad(self);
        self.forget_data_blocks();
        let Left { spare, blocks, lost, record, weak, torn, landed, half_erased, .. } = left;
        (self.spare, self.record) = (spare, Some(record));
        if !self.plant.is(Canary::LostMarksForgotten) {
            self.lost = lost;
        }
        if let (Some(life), Some((key, end))) = (self.life.as_deref_mut(), weak) {
            life.faults.set_key(key);
            life.come_to(end);
        }
        let begun: BTreeSet<Ppn> = torn.iter().chain(&landed).copied().collect();
        let mut plan = self.plan(&blocks, &half_erased, &begun);
        plan.marks_void = !landed.is_empty();
        if self.plant.is(Canary::HalfCycleCounts) {
            self.count_half_a_cycle(&landed);
        }
        self.forget_what_did_not_count(&blocks, &half_erased);
        let written = begun.iter().map(|&at| self.geometry.block_of(at));
        let written = self.marks(written.chain(half_erased.iter().copied()));
        let closed_early = self.take_blocks(&blocks, &written, &mut plan);
        self.find_map(&mut plan)?;
        self.go_to_work(&left.used, &left.giving_up, &mut plan);
        self.recover_map_on_flash(&left.stale_map, &left.lay, &mut plan);
        self.give_up_checkpoint();
        let pages = (0..self.logical_pages).map(Lpn::new);
        let found = Found {
            pages: pages.filter(|&page| self.mapping.look_up(page).is_some()).count() as u64,
            torn: torn.len() as u64,
            rolled_back: landed.len() as u64 * u64::from(self.geometry.units_per_page()),
            half_erased: half_erased.len() as u64,
            closed_early,
        };
        Ok((found, plan))
    }

    /// A planted bug: what of a cycle is on flash counts.
    fn count_half_a_cycle(&mut self, landed: &[Ppn]) {
        let units = self.geometry.units_per_page();
        if let Some(record) = self.record.as_deref_mut() {
            landed.iter().for_each(|&at| record.landed(at, units));
        }
    }

    /// Maps every page to what counts of it.
    fn find_map(&mut self, plan: &mut Plan) -> Result<(), Damage> {
        if self.has_log() {
            return self.recover_log(plan);
        }
        if self.packs() {
            return self.recover_fragments();
        }
        let winners = self.winners();
        if let Some(map) = self.mapping.dftl_mut() {
            map.begin_load();
        }
        for (page, at) in (0..).map(Lpn::new).zip(winners) {
            at.into_iter().for_each(|at| self.put_back(page, at));
        }
        if let Some(map) = self.mapping.dftl_mut() {
            map.end_load();
        }
        Ok(())
    }

    /// What counts of a page lies there.
    pub(super) fn put_back(&mut self, page: Lpn, at: Ppn) {
        let (block, unit) = self.geometry.place_of(at);
        self.blocks.set_valid(block, unit);
        self.mapping.commit(page, at);
    }

    /// Every plane knows its blocks again, and what it has to do with them.
    fn go_to_work(&mut self, used: &[u32], giving_up: &[BlockId], plan: &mut Plan) {
        self.list_blocks(used);
        self.make_room(giving_up, plan);
        self.close_blocks();
        for &block in giving_up {
            self.want(Wanted { block, purpose: Purpose::Retire });
        }
        life::recount_losses(self);
        self.note_streams(Resume::NONE);
        self.refresh_pack_room();
        let planes: Vec<PlaneId> = (0..self.geometry.planes()).map(PlaneId::new).collect();
        planes.iter().for_each(|&plane| self.refresh_writable::<{ skills::ALL }>(plane));
        self.fed = planes;
    }

    /// What is placed at a page, of its first or second logical page, was deallocated before: the spare area says so.
    pub(crate) fn never_counts(&mut self, at: Ppn, second: bool) {
        if let Some(record) = self.record.as_deref_mut() {
            record.never_counts(at, second);
        }
    }

    /// What was loaded is on flash, and counts.
    pub(in crate::ftl) fn begin_record(&mut self) {
        let Some(mut record) = self.record.take() else { return };
        let open = (0..self.geometry.blocks()).map(BlockId::new);
        let open = open.filter(|&block| self.blocks.state(block) == BlockState::Open);
        for block in self.blocks.by_closing().into_iter().chain(open) {
            record.opened(block);
            if let Some((tables, _)) = self.mapping.log() {
                record.set_role(block, tables.role_of(block));
            }
        }
        for page in (0..self.logical_pages).map(Lpn::new) {
            for part in self.fragments(page).into_iter().rev().flatten() {
                let second = self.packs()
                    && self.spare.parts(part.at)[1].is_some_and(|(owner, _)| owner == page);
                record.holds(part.at, second);
            }
        }
        if let Some(map) = self.mapping.dftl() {
            for page in (self.logical_pages..map.all_pages()).map(Lpn::new) {
                self.look_up(page).into_iter().for_each(|at| record.holds(at, false));
            }
        }
        self.record = Some(record);
        self.checkpoint_at_rest();
    }

    /// What is programmed and does not count is marked void: what was torn, what belongs to a cycle that was
    /// not complete, and all that stood on a block that is half erased.
    fn forget_what_did_not_count(&mut self, blocks: &Blocks, half_erased: &[BlockId]) {
        let believes = self.plant.is(Canary::TornPageBelieved);
        let Some(record) = self.record.as_deref_mut() else { return };
        let units = self.geometry.units_per_page();
        for &block in half_erased {
            record.void(self.geometry.page_at(block, 0), self.geometry.units_per_block());
        }
        for block in (0..self.geometry.blocks()).map(BlockId::new) {
            if !blocks.is_used(block) {
                continue;
            }
            for unit in (0..self.geometry.units_per_block()).step_by(units as usize) {
                let first = self.geometry.page_at(block, unit);
                let pages = (first.get()..first.get() + units).map(Ppn::new);
                if pages.clone().any(|at| record.is_pending(at)) {
                    match believes {
                        true => record.landed(first, units),
                        false => record.void(first, units),
                    }
                }
            }
        }
    }

    /// What each block is now: bad, erased, or full, though it be of nothing. `written` says of each
    /// whether it holds more than what was programmed and counts. Returns how many are filled no further.
    fn take_blocks(&mut self, before: &Blocks, written: &[bool], plan: &mut Plan) -> u64 {
        let mut closed_early = 0;
        for block in (0..self.geometry.blocks()).map(BlockId::new) {
            if !before.is_used(block) {
                continue;
            }
            let state = match before.state(block) {
                BlockState::Bad => BlockState::Bad,
                _ if before.programmed(block) > 0 || written[block.at()] => BlockState::Closed,
                _ => BlockState::Free,
            };
            let open = before.state(block) == BlockState::Open;
            closed_early += u64::from(open && state == BlockState::Closed);
            self.blocks.take_up(before, block, state);
            if open && state == BlockState::Free {
                // It looks erased, and something may have begun on it.
                self.blocks.reset_after_cut(block);
                plan.erases.push(block);
            }
        }
        closed_early
    }

    /// Of each logical page the highest version, and of several copies of it the one in the block that was opened
    /// first. What the checkpoint knows is not looked for again.
    fn winners(&self) -> Vec<Option<Ppn>> {
        let pages = self.mapping.dftl().map_or(self.logical_pages, |map| map.all_pages());
        let mut best = vec![(0, None); pages as usize];
        let record = self.record.as_deref().expect("what recovers has a record");
        let prefers_older = self.plant.is(Canary::OlderVersionWins);
        let scanned = self.scanned_blocks();
        let is_scanned = self.marks(scanned.iter().copied());
        if let Some(snapshot) = &record.snapshot {
            for (page, entry) in snapshot.entries() {
                let stays = |at: &Ppn| {
                    // What was given up since keeps what it held, and its pages were copied.
                    let block = self.geometry.block_of(*at);
                    let in_use = self.blocks.state(block) == BlockState::Closed;
                    let known = record.version(*at, false).map(|(version, _)| version);
                    in_use && !is_scanned[block.at()] && known == Some(entry.version)
                };
                let place = entry.place().filter(stays);
                if !record.is_trimmed(page, entry.version) {
                    best[page.at()] = (entry.version, place);
                }
            }
        }
        for at in scanned.iter().flat_map(|&block| self.pages_of(block)) {
            let Some(((version, _), page)) = record.version(at, false).zip(self.spare.owner(at))
            else {
                continue;
            };
            let (known, place) = best[page.at()];
            let newer = version > known || version == known && place.is_none();
            let newer = if prefers_older { place.is_none() } else { newer };
            if newer && !self.is_deallocated(page, version) {
                best[page.at()] = (version, Some(at));
            }
        }
        best.into_iter().map(|(_, place)| place).collect()
    }

    /// Whether a version of a page is older than its deallocation.
    pub(super) fn is_deallocated(&self, page: Lpn, version: u64) -> bool {
        let forgotten = self.plant.is(Canary::DeallocationForgotten);
        self.record.as_ref().is_some_and(|record| record.is_trimmed(page, version)) && !forgotten
    }

    /// By block: whether it is one of these.
    pub(super) fn marks(&self, blocks: impl Iterator<Item = BlockId>) -> Vec<bool> {
        let mut marks = vec![false; self.geometry.blocks() as usize];
        blocks.for_each(|block| marks[block.at()] = true);
        marks
    }

    /// All physical pages of a block.
    pub(super) fn pages_of(&self, block: BlockId) -> impl Iterator<Item = Ppn> + use<> {
        let first = self.geometry.page_at(block, 0).get();
        (first..first + self.geometry.units_per_block()).map(Ppn::new)
    }

    /// The blocks of which all spare areas are read, the one opened first first.
    pub(super) fn scanned_blocks(&self) -> Vec<BlockId> {
        let record = self.record.as_deref().expect("what recovers has a record");
        let all = (0..self.geometry.blocks()).map(BlockId::new);
        let mut scanned: Vec<BlockId> = all
            .filter(|&block| self.blocks.state(block) == BlockState::Closed)
            .filter(|&block| is_scanned(record, block))
            .collect();
        scanned.sort_by_key(|&block| record.opening(block));
        scanned
    }

    /// Which blocks of each plane are free.
    fn list_blocks(&mut self, used: &[u32]) {
        for (plane, &used) in (0..).map(PlaneId::new).zip(used) {
            self.planes[plane.at()].restart(used);
            life::recount_unused(plane, self);
            for index in 0..used {
                let block = self.geometry.block_in(plane, index);
                if self.blocks.state(block) == BlockState::Free {
                    let erases = self.blocks.erases(block);
                    self.planes[plane.at()].give_back(block, erases);
                }
            }
        }
    }

    /// Blocks on which nothing counts are erased on planes that are short of free ones: collection may have
    /// taken the last one for copies that are garbage now.
    fn make_room(&mut self, giving_up: &[BlockId], plan: &mut Plan) {
        if self.has_log() {
            return;
        }
        let leaving = self.marks(giving_up.iter().copied());
        for block in (0..self.geometry.blocks()).map(BlockId::new) {
            let plane = self.geometry.plane_of(block);
            let short = self.free_blocks(plane) <= self.thresholds.start;
            let empty =
                self.blocks.state(block) == BlockState::Closed && self.blocks.valid(block) == 0;
            let may_go = short && empty && !leaving[block.at()];
            if may_go && self.erase_at_power_up(block, plan) {
                let erases = self.blocks.erases(block);
                self.planes[plane.at()].give_back(block, erases);
            }
        }
    }

    /// A block on which nothing counts is erased before the device is ready. Says whether that went well.
    pub(super) fn erase_at_power_up(&mut self, block: BlockId, plan: &mut Plan) -> bool {
        self.forget_block(self.geometry.page_at(block, 0), self.geometry.units_per_block());
        plan.erases.push(block);
        match life::erase_fails(block, false, self) {
            true => {
                self.blocks.retire(block);
                false
            }
            false => {
                self.blocks.reset_after_cut(block);
                true
            }
        }
    }

    /// Blocks that are not free count as closed in the order in which they were opened.
    fn close_blocks(&mut self) {
        let mut closed: Vec<BlockId> = (0..self.geometry.blocks())
            .map(BlockId::new)
            .filter(|&block| self.blocks.state(block) == BlockState::Closed)
            .collect();
        let record = self.record.as_deref().expect("what recovers has a record");
        closed.sort_by_key(|&block| record.opening(block));
        for block in closed {
            self.blocks.close(block);
            if !self.mapping.has_log() {
                let plane = self.geometry.plane_of(block);
                self.victim.closed(&VictimView { plane, blocks: &self.blocks }, block);
            }
        }
    }

    /// Where the map lies on flash, its pages are read. Those that say something else than what was found are
    /// rewritten.
    fn recover_map_on_flash(&mut self, stale: &[Tpn], lay: &[Option<Ppn>], plan: &mut Plan) {
        let Some(map) = self.mapping.dftl_mut() else { return };
        plan.map_pages += map.translation_pages();
        map.recovered(stale, lay);
    }
}
