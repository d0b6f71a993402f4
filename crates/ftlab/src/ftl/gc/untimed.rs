//! Collection without flash commands: what the [`Collector`](super::Collector) does, decided by the same
//! functions of the FTL, where no time passes that anybody would see.
//!
//! The copies that may be under way at once are made together, in two pieces of work of their die: first all is read,
//! then all is placed, committed and programmed, and what that earns the host is paid when the die is done. So they
//! stand in line twice, and get as much of their die beside the host's programs as copies one by one would. A page
//! that is overwritten while it is being programmed costs its copy either way.

use crate::engine::skills::ALL;
use crate::ftl::gc::{Freed, Scope, collection, wanted};
use crate::ftl::relocations::Relocations;
use crate::ftl::{FlashContents, Ftl, Map, lost, slc};
use crate::nand::CellMode;
use crate::scheduler::{Flash, Kind, Origin, Turns, Work};
use crate::units::{BlockId, Nanos, PlaneId, Ppn};

/// How many owners of a victim are asked for when its collection begins: those of its first copies.
const FIRST_OWNERS: u32 = 96;

/// What collection works on where time does not count.
pub struct Bench<'a, P, C> {
    /// The FTL whose blocks it cleans.
    pub ftl: &'a mut Ftl,
    /// The flash, which counts and tells prices.
    pub flash: &'a mut Flash<P>,
    /// The bytes, if the device carries them.
    pub contents: &'a mut C,
    /// The dies that do the work.
    pub turns: &'a mut Turns,
    /// What the map does not say yet of pages that were copied.
    pub later: &'a mut Relocations,
    /// Nothing else is left to do, and the host asks for nothing more.
    pub at_end: bool,
}

/// What a copy has moved.
struct Moved {
    units: u32,
    /// Flash pages that were read for it.
    flash_pages: u32,
    /// Where to look for the next one.
    next: u32,
    /// How long the cells are busy with it.
    takes: Nanos,
}

impl<P, C: FlashContents> Bench<'_, P, C> {
    /// As [`Collector::start`](super::Collector::start).
    #[inline]
    pub fn start(&mut self, plane: PlaneId) {
        if self.ftl.free_blocks(plane) > self.ftl.space.thresholds.start
            || self.ftl.space.planes[plane.at()].collection.is_some()
        {
            self.spur(plane);
        } else {
            self.ftl.space.planes[plane.at()].host_credit = self.ftl.space.thresholds.host_lead;
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

    /// The host wrote a flash page to a plane: its collection may make copies for that.
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
                self.ftl.space.planes[other.at()].host_credit = self.ftl.space.thresholds.host_lead;
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

    /// What waits for the host's writes goes on without them.
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
        let state = &mut self.ftl.space.planes[plane.at()];
        if state.collection.is_none() && !state.wanted.is_empty() {
            state.host_credit = self.ftl.space.thresholds.host_lead;
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

    /// Begins as many copies as may be under way at once, when those before are done; erases the victim when nothing
    /// is left on it.
    fn proceed(&mut self, plane: PlaneId) {
        let Some(run) = &self.ftl.space.planes[plane.at()].collection else { return };
        if run.in_flight > 0 || run.erasing {
            return;
        }
        let (victim, next_unit, origin) = (run.victim, run.next_unit, run.purpose.origin());
        if let Some(first) = self.ftl.blocks.next_valid(victim, next_unit) {
            return self.begin_copies(plane, victim, first);
        }
        if collection::may_go_on(plane, false, self.at_end, self.ftl) {
            collection::erasing(plane, self.ftl);
            let page = self.ftl.geometry.page_at(victim, 0);
            let takes =
                self.flash.sheet().price_of(Kind::Erase, page, self.ftl.mode_of::<{ ALL }>(victim));
            self.flash.count_untimed(origin, Kind::Erase, 1);
            self.turns.push(self.ftl.geometry.die_of(plane), Work::Erase(plane), 1, takes);
        }
    }

    /// Reads what is copied at once, from place `first` of the victim on.
    fn begin_copies(&mut self, plane: PlaneId, victim: BlockId, first: u32) {
        let units_per_page = self.ftl.geometry.units_per_page();
        let valid = self.ftl.blocks.valid(victim).div_ceil(units_per_page);
        let mut copies = 0;
        while copies < valid.min(self.ftl.space.thresholds.copies_in_flight)
            && collection::may_go_on(plane, true, self.at_end, self.ftl)
        {
            copies += 1;
        }
        if copies == 0 {
            return;
        }
        let next = |&unit: &u32| self.ftl.blocks.next_valid(victim, unit + 1);
        let units = std::iter::successors(Some(first), next);
        let (mut flash_pages, mut before) = (0, None);
        for unit in units.take((copies * units_per_page) as usize) {
            let flash_page = unit / units_per_page;
            flash_pages += u32::from(before.replace(flash_page) != Some(flash_page));
        }
        if self.ftl.space.triggers.copyback {
            // What stays within its plane is one command.
            if let Some(run) = self.ftl.space.planes[plane.at()].collection.as_mut() {
                run.in_flight = copies;
            }
            return self.read(plane);
        }
        let page = self.ftl.geometry.page_at(victim, first);
        let each =
            self.flash.sheet().price_of(Kind::Read, page, self.ftl.mode_of::<{ ALL }>(victim));
        let takes = Nanos(each.0 * u64::from(flash_pages));
        if let Some(run) = self.ftl.space.planes[plane.at()].collection.as_mut() {
            run.in_flight = copies;
        }
        self.turns.push(self.ftl.geometry.die_of(plane), Work::Reads(plane), copies, takes);
    }

    /// A die has read what is copied at once: it is placed, and programmed.
    pub fn read(&mut self, plane: PlaneId) {
        let Some(run) = &self.ftl.space.planes[plane.at()].collection else { return };
        let (victim, purpose, most) = (run.victim, run.purpose, run.in_flight);
        let (mut copies, mut takes, mut pages) = (0, Nanos::ZERO, 0);
        let mut next_unit = run.next_unit;
        while copies < most
            && let Some(first) = self.ftl.blocks.next_valid(victim, next_unit)
        {
            let moved = self.copy(plane, purpose.origin(), victim, first);
            copies += 1;
            takes += moved.takes;
            pages += u64::from(moved.units);
            next_unit = moved.next;
        }
        self.ftl.counts.gc_pages += pages;
        self.ftl.counts.by_purpose[purpose as usize].pages += pages;
        if let Some(run) = self.ftl.space.planes[plane.at()].collection.as_mut() {
            (run.in_flight, run.next_unit) = (copies, next_unit);
        }
        match copies {
            // The host has overwritten all of it.
            0 => self.proceed(plane),
            _ => {
                self.turns.push(self.ftl.geometry.die_of(plane), Work::Copies(plane), copies, takes)
            }
        }
    }

    /// Copies as many valid pages, from place `first` of the victim on, as one flash page holds.
    #[inline]
    fn copy(&mut self, plane: PlaneId, origin: Origin, victim: BlockId, first: u32) -> Moved {
        let mode = self.ftl.mode_of::<{ ALL }>(victim);
        let together = self.copies_back(first, victim, mode);
        let source = self.ftl.geometry.page_at(victim, first);
        let to = crate::ftl::room::place_copy::<{ ALL }>(plane, source, self.ftl)
            .expect("the reserve leaves a free block");
        let mut moved = self.move_pages(victim, first, to);
        let kind = if together { Kind::Copyback } else { Kind::Program };
        self.flash.count_untimed(origin, kind, 1);
        moved.takes = self.flash.sheet().price_of(kind, to, CellMode::Native);
        if !together {
            self.flash.count_untimed(origin, Kind::Read, moved.flash_pages.into());
        }
        self.ftl.programmed::<{ ALL }>(to, moved.units);
        moved
    }

    /// Moves the valid pages of a victim from place `first` on to the flash page that begins at `to`.
    #[inline]
    fn move_pages(&mut self, victim: BlockId, first: u32, to: Ppn) -> Moved {
        let Bench { ftl, contents, later, .. } = self;
        let Ftl { blocks, map: Map { spare, .. }, geometry, .. } = &mut **ftl;
        let units_per_page = geometry.units_per_page();
        let (mut at, mut flash_pages, mut read) = (to, 0, None);
        let (units, next) = blocks.take_valid(victim, first, units_per_page, |unit| {
            let from = geometry.page_at(victim, unit);
            let page = spare.copy(from, at);
            later.put(page, at);
            if C::MOVES {
                contents.copy(from, at);
            }
            at = Ppn::new(at.get() + 1);
            flash_pages += u32::from(read.replace(geometry.flash_page_of(from)) != read);
        });
        spare.prefetch_after(geometry.page_at(victim, next - 1));
        let (block, unit) = geometry.place_of(to);
        blocks.set_valid_row(block, unit, units);
        Moved { units, flash_pages, next, takes: Nanos::ZERO }
    }

    /// Whether the flash page that begins at place `first` is copied within the plane, without crossing the bus.
    fn copies_back(&self, first: u32, victim: BlockId, mode: CellMode) -> bool {
        let units = self.ftl.geometry.units_per_page();
        self.ftl.space.triggers.copyback
            && mode == CellMode::Native
            && first.is_multiple_of(units)
            && (first..first + units).all(|unit| self.ftl.blocks.is_valid(victim, unit))
    }

    /// A die is done with copies. Says whether the host may take pages by it.
    #[inline]
    pub fn copied(&mut self, plane: PlaneId) -> Freed {
        let state = &mut self.ftl.space.planes[plane.at()];
        let mut earned = 0;
        if let Some(run) = state.collection.as_mut() {
            let copies = std::mem::take(&mut run.in_flight);
            earned = (0..copies).map(|_| run.earn()).sum();
            state.host_credit += earned;
        }
        self.proceed(plane);
        if earned == 0 && self.ftl.space.planes[plane.at()].collection.is_some() {
            return Freed::Nothing;
        }
        self.freed(plane)
    }

    /// A die is done with the erase of a victim. Says whether the host may take pages by it.
    pub fn erased(&mut self, plane: PlaneId) -> Freed {
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
