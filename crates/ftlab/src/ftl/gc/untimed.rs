//! Collection without a clock: the same as the [`Collector`](super::Collector), by the same
//! functions of the FTL, but without flash commands.
//!
//! As with a clock, the reads of a copy are queued together, and its program is queued when all of them are done. The pages of a copy are chosen before the reads, and placed and moved when these are
//! done. A page that is overwritten before then leaves its place in the copy invalid. One that is overwritten later,
//! during the program, is invalidated there; only the counter of stale copies sees a difference.

use super::super::Ftl;
use super::super::relocations::Relocations;
use super::{Freed, Scope};
use crate::engine::skills::ALL;
use crate::ftl::gc::collection;
use crate::ftl::gc::copies::copies_within_planes;
use crate::ftl::gc::pacing;
use crate::ftl::gc::wanted;
use crate::ftl::lost;
use crate::ftl::slc;
use crate::ftl::streams::StreamsPolicy;
use crate::ftl::{FlashChange, FlashContents};
use crate::nand::{CellMode, Senses};
use crate::scheduler::{CellJob, Flash, Kind, Origin, Turns, Work};
use crate::units::{BlockId, PlaneId, Ppn};

/// Owners of a victim that are prefetched when its collection begins: those of its first copies.
const FIRST_OWNERS: u32 = 96;

/// What a copy takes along: valid pages of the block that its plane collects.
#[derive(Clone, Copy, Debug)]
struct Gathered {
    plane: PlaneId,
    /// The place of the first page, in mapping units.
    first: u32,
    /// The place after the last page, where the next copy may begin.
    next: u32,
    /// Number of pages.
    units: u32,
    /// Number of reads that it waits for.
    reads: u32,
}

/// The copies that wait for their reads, by number.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    all: Vec<Gathered>,
    free: Vec<u32>,
}

impl Copies {
    /// Returns the number of a new copy.
    #[inline]
    fn put(&mut self, copy: Gathered) -> u32 {
        if let Some(number) = self.free.pop() {
            self.all[number as usize] = copy;
            return number;
        }
        self.all.push(copy);
        self.all.len() as u32 - 1
    }
}

/// The parts of a device that collection without a clock works on.
pub struct Bench<'a, P, C> {
    /// The FTL whose blocks are collected.
    pub ftl: &'a mut Ftl,
    /// The flash, for its counters and its times.
    pub flash: &'a mut Flash<P>,
    /// The bytes, if the device carries them.
    pub contents: &'a mut C,
    /// The jobs of the dies.
    pub turns: &'a mut Turns,
    /// Map changes of copied pages that are not applied yet.
    pub later: &'a mut Relocations,
    /// The copies that wait for their reads.
    pub copies: &'a mut Copies,
    /// Nothing else is left to do, and the host sends nothing more.
    pub at_end: bool,
}

impl<P, C: FlashContents> Bench<'_, P, C> {
    /// Like [`Collector::start`](super::Collector::start).
    #[inline]
    pub fn start(&mut self, plane: PlaneId) {
        if self.ftl.free_blocks(plane) > self.ftl.space.thresholds.start
            || self.ftl.space.planes[plane.at()].collection.is_some()
        {
            self.spur(plane);
        } else {
            pacing::begin(plane, self.ftl);
            let was_hungry = self.ftl.space.is_hungry(plane);
            self.next(plane);
            if self.ftl.space.triggers.scope != Scope::Plane
                && !(was_hungry && self.ftl.space.is_hungry(plane))
            {
                self.start_others(plane);
            }
        }
        if self.ftl.features.slc.is_some() {
            self.consider_folding(plane);
        }
    }

    /// The host wrote a flash page to a plane: its collection may make copies for it.
    #[inline]
    fn spur(&mut self, plane: PlaneId) {
        if let Some(copies) = self.ftl.space.triggers.copies_per_write {
            let state = &mut self.ftl.space.planes[plane.at()];
            let most = state.collection.as_ref().map_or(0, |run| run.copies);
            state.copy_credit = state.copy_credit.saturating_add(copies).min(most);
            self.proceed(plane);
        }
    }

    #[cold]
    fn start_others(&mut self, plane: PlaneId) {
        for other in self.ftl.space.triggers.scope.planes(&self.ftl.geometry, plane) {
            let few = self.ftl.free_blocks(other) <= self.ftl.space.thresholds.stop;
            if few && self.ftl.space.planes[other.at()].collection.is_none() {
                pacing::begin(other, self.ftl);
                self.next(other);
            }
        }
    }

    /// Planes that had nothing worth collecting may have something now.
    #[inline]
    pub fn feed_hungry(&mut self) {
        while let Some(plane) = self.ftl.space.fed.pop() {
            self.start(plane);
        }
    }

    /// Continues collections that wait for the host's writes.
    pub fn finish(&mut self) {
        if self.ftl.space.triggers.copies_per_write.is_some() {
            let before = std::mem::replace(&mut self.at_end, true);
            (0..self.ftl.geometry.planes()).for_each(|plane| self.proceed(PlaneId::new(plane)));
            self.at_end = before;
        }
    }

    /// The host is idle: every plane folds its SLC cache.
    pub fn fold_all(&mut self) {
        slc::cache::set_idle_for_cache(true, self.ftl);
        (0..self.ftl.geometry.planes())
            .for_each(|plane| self.consider_folding(PlaneId::new(plane)));
    }

    fn consider_folding(&mut self, plane: PlaneId) {
        let Some(wanted) = slc::cache::fold_due(plane, self.ftl) else { return };
        wanted::want(wanted, self.ftl);
        let state = &self.ftl.space.planes[plane.at()];
        if state.collection.is_none() && !state.wanted.is_empty() {
            pacing::begin(plane, self.ftl);
            self.next(plane);
        }
    }

    fn next(&mut self, plane: PlaneId) {
        let Some(wanted) = collection::next_to_collect(plane, self.ftl) else {
            return self.ftl.space.mark_hungry(plane);
        };
        collection::begin_collection(plane, wanted, self.ftl);
        self.ftl.map.spare.prefetch_row(self.ftl.geometry.page_at(wanted.block, 0), FIRST_OWNERS);
        self.proceed(plane);
    }

    /// Keeps the allowed number of copies in flight. Erases the victim when no valid page is left.
    fn proceed(&mut self, plane: PlaneId) {
        let limit = self.ftl.space.thresholds.copies_in_flight;
        loop {
            let Some(run) = &self.ftl.space.planes[plane.at()].collection else { return };
            if run.in_flight >= limit || run.erasing {
                return;
            }
            let (victim, next_unit, in_flight) = (run.victim, run.next_unit, run.in_flight);
            match self.ftl.blocks.next_valid(victim, next_unit) {
                Some(first) if collection::may_go_on(plane, true, self.at_end, self.ftl) => {
                    self.begin_copy(plane, victim, first);
                }
                None if in_flight == 0
                    && collection::may_go_on(plane, false, self.at_end, self.ftl) =>
                {
                    return self.begin_erase(plane);
                }
                _ => return,
            }
        }
    }

    fn begin_erase(&mut self, plane: PlaneId) {
        let Some(run) = &self.ftl.space.planes[plane.at()].collection else { return };
        let (victim, origin) = (run.victim, run.purpose.origin());
        collection::erasing(plane, self.ftl);
        let mode = self.ftl.mode_of::<{ ALL }>(victim);
        let firsts: Vec<Ppn> = match self.ftl.features.superblock.as_deref_mut() {
            Some(state) => state.begin_erase(plane, victim).collect(),
            None => vec![self.ftl.geometry.page_at(victim, 0)],
        };
        for page in firsts {
            self.give_to_die(Work::Erase(plane), (Kind::Erase, origin), page, mode, 0);
        }
    }

    /// Gives a die an operation from `page` on, with the data of `units` pages.
    #[inline]
    fn give_to_die(
        &mut self,
        work: Work,
        (kind, origin): (Kind, Origin),
        page: Ppn,
        mode: CellMode,
        units: u32,
    ) {
        let sheet = self.flash.sheet();
        let (takes, moves) = (sheet.price_of(kind, page, mode), sheet.price_of_data(kind, units));
        self.push(work, CellJob { kind, origin, page, mode, takes, moves });
    }

    #[inline]
    fn push(&mut self, work: Work, job: CellJob) {
        self.flash.count_untimed(job.origin, job.kind, 1);
        self.turns.push(work, job);
    }

    /// Begins to copy one flash page of valid pages, from `first` of the victim on.
    #[inline]
    fn begin_copy(&mut self, plane: PlaneId, victim: BlockId, first: u32) {
        let gathered = self.gather(plane, victim, first);
        let mut origin = Origin::Gc;
        if let Some(run) = self.ftl.space.planes[plane.at()].collection.as_mut() {
            run.in_flight += 1;
            run.next_unit = gathered.next;
            origin = run.purpose.origin();
        }
        let mode = self.ftl.mode_of::<{ ALL }>(victim);
        if self.copies_back(first, victim, mode) {
            // A copyback is one command.
            return self.place(gathered, (Kind::Copyback, mode));
        }
        let number = self.copies.put(gathered);
        let units_per_page = self.ftl.geometry.units_per_page();
        let (mut unit, mut left) = (first, gathered.units);
        while left > 0 {
            // The pages on one flash page are read together.
            let (begin, end) = (unit, (unit / units_per_page + 1) * units_per_page);
            let (mut units, mut senses) = (0, None);
            while unit < end && left > 0 {
                (units, left) = (units + 1, left - 1);
                let of_unit = self.flash.senses_of_units::<{ ALL }>([Ppn::new(unit)]);
                senses = [senses, of_unit].into_iter().flatten().reduce(Senses::and_also);
                let next = self.ftl.blocks.next_valid(victim, unit + 1);
                unit = next.unwrap_or(self.ftl.geometry.units_per_block());
            }
            let page = self.ftl.geometry.page_at(victim, begin);
            let sheet = self.flash.sheet();
            let (takes, moves) =
                (sheet.price_of_read(page, mode, senses), sheet.price_of_data(Kind::Read, units));
            let job = CellJob { kind: Kind::Read, origin, page, mode, takes, moves };
            self.push(Work::CopyRead(number), job);
        }
    }

    /// The next valid pages of a victim, from `first` on.
    #[inline]
    fn gather(&self, plane: PlaneId, victim: BlockId, first: u32) -> Gathered {
        let units_per_page = self.ftl.geometry.units_per_page();
        let (mut next, mut units, mut reads, mut last) = (Some(first), 0, 0, None);
        while let Some(unit) = next.filter(|_| units < units_per_page) {
            units += 1;
            let flash_page = Some(unit / units_per_page);
            reads += u32::from(flash_page != last);
            last = flash_page;
            next = self.ftl.blocks.next_valid(victim, unit + 1);
        }
        let next = next.unwrap_or(self.ftl.geometry.units_per_block());
        Gathered { plane, first, next, units, reads }
    }

    /// A die has read a flash page for a copy. After the last one, places and programs the copy.
    #[inline]
    pub fn read(&mut self, number: u32) {
        let copy = &mut self.copies.all[number as usize];
        copy.reads -= 1;
        if copy.reads == 0 {
            let gathered = *copy;
            self.copies.free.push(number);
            self.place(gathered, (Kind::Program, CellMode::Native));
        }
    }

    /// Places a copy and gives it to its die. Pages that were overwritten since it was gathered
    /// leave their places invalid. The mode is that of the command: of a copyback, that of the cells which it senses.
    #[inline]
    fn place(&mut self, gathered: Gathered, (kind, mode): (Kind, CellMode)) {
        let Gathered { plane, first, units, .. } = gathered;
        let Some(run) = &self.ftl.space.planes[plane.at()].collection else { return };
        let (victim, purpose) = (run.victim, run.purpose);
        let source = self.ftl.geometry.page_at(victim, first);
        let to = crate::ftl::room::place_copy::<{ ALL }>(plane, source, self.ftl)
            .expect("the reserve leaves a free block");
        let moved = self.move_pages(victim, gathered, to);
        let counts = &mut self.ftl.counts;
        counts.gc_pages += u64::from(units);
        counts.gc_stale += u64::from(units - moved);
        counts.by_purpose[purpose as usize].pages += u64::from(units);
        if let Some(run) = &mut self.ftl.space.planes[plane.at()].collection {
            run.moved += moved;
        }
        self.ftl.programmed::<{ ALL }>(to, units);
        let origin = purpose.origin();
        self.give_to_die(Work::Copy(plane), (kind, origin), to, mode, units);
    }

    /// Moves the pages of a copy that are still valid to the flash page at `to`. Returns how many there are.
    #[inline]
    fn move_pages(&mut self, victim: BlockId, gathered: Gathered, to: Ppn) -> u32 {
        let Bench { ftl, contents, later, .. } = self;
        let Ftl { blocks, map, geometry, policies, .. } = &mut **ftl;
        let (spare, streams) = (&mut map.spare, &mut policies.streams);
        let hears_of_copies = streams.hears_of_copies();
        let mut at = to;
        let moved = blocks.take_valid(victim, gathered.first..gathered.next, |unit| {
            let from = geometry.page_at(victim, unit);
            let page = spare.copy(from, at);
            if hears_of_copies {
                streams.copied(page);
            }
            later.put(page, at);
            if C::MOVES {
                contents.change(FlashChange::Copied { from, to: at });
            }
            at = Ppn::new(at.get() + 1);
        });
        spare.prefetch_after(geometry.page_at(victim, gathered.next - 1));
        let (block, unit) = geometry.place_of(to);
        if moved > 0 {
            blocks.set_valid_row(block, unit, moved);
        }
        moved
    }

    /// Whether the flash page at `first` is copied within the plane, without the bus.
    fn copies_back(&self, first: u32, victim: BlockId, mode: CellMode) -> bool {
        let units = self.ftl.geometry.units_per_page();
        copies_within_planes(mode, self.ftl)
            && first.is_multiple_of(units)
            && (first..first + units).all(|unit| self.ftl.blocks.is_valid(victim, unit))
    }

    /// A die has made a copy. Returns whether it freed pages for the host.
    #[inline]
    pub fn copied(&mut self, plane: PlaneId) -> Freed {
        if let Some(run) = self.ftl.space.planes[plane.at()].collection.as_mut() {
            run.in_flight -= 1;
        }
        let earned = pacing::earn_by_copy(plane, self.ftl);
        self.proceed(plane);
        if earned == 0 && self.ftl.space.planes[plane.at()].collection.is_some() {
            return Freed::Nothing;
        }
        self.freed(plane)
    }

    /// A die has erased a victim. Returns whether it freed pages for the host.
    pub fn erased(&mut self, plane: PlaneId) -> Freed {
        let superblock = self.ftl.features.superblock.as_deref_mut();
        if superblock.is_some_and(|state| !state.is_last_erased(plane)) {
            return Freed::Nothing;
        }
        if let Some(run) = self.ftl.space.planes[plane.at()].collection.take() {
            let first = self.ftl.geometry.page_at(run.victim, 0);
            lost::clear(first, self.ftl.geometry.units_per_block(), self.contents, self.ftl);
            collection::end_collection(plane, &run, self.ftl);
            if let Some(wanted) = slc::cache::fold_due(plane, self.ftl) {
                wanted::want(wanted, self.ftl);
            }
            if self.ftl.free_blocks(plane) < self.ftl.space.thresholds.stop
                || wanted::has_wanted(plane, self.ftl)
            {
                self.next(plane);
            }
        }
        self.freed(plane)
    }

    fn freed(&mut self, plane: PlaneId) -> Freed {
        crate::ftl::room::refresh_writable::<{ ALL }>(plane, self.ftl);
        if self.ftl.may_write_any(plane) { Freed::Pages } else { Freed::Nothing }
    }
}
