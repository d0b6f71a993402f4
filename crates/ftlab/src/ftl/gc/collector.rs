//! The collector of a plane: copies the valid pages of a victim into the plane's collection block and
//! erases the victim, until enough blocks are free. It also empties blocks that others name, for a
//! purpose of theirs ([`Purpose`]).
//!
//! It copies a flash page's worth at a time: reads that gather as many valid pages as a flash page
//! holds, then one program. A copy is committed when it is programmed, and only if the page has not
//! been overwritten meanwhile. The victim is erased when nothing of it is left in flight.

use super::super::{BlockState, Cargo, Ftl};
use super::{Purpose, VictimView};
use crate::device::Contents;
use crate::scheduler::{Command, CommandId, Flash, Kind, Origin, Probe, Task};
use crate::units::{BlockId, PlaneId, Ppn, SimTime};

/// When a plane collects, in free blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// It starts at so many, or fewer.
    pub start: u32,
    /// It goes on until so many are free.
    pub stop: u32,
    /// The last ones, which only collection may take.
    pub reserve: u32,
    /// Flash pages being copied at once.
    pub copies_in_flight: u32,
    /// While a plane collects, the host may take so many flash pages more than collection has made
    /// free since it started.
    pub host_lead: u32,
}

impl Thresholds {
    /// All of them higher by so many blocks.
    #[must_use]
    pub const fn raised_by(self, blocks: u32) -> Thresholds {
        let Thresholds { start, stop, reserve, .. } = self;
        Thresholds { start: start + blocks, stop: stop + blocks, reserve: reserve + blocks, ..self }
    }
}

/// A collection that runs on a plane.
#[derive(Clone, Debug)]
pub struct Collection {
    victim: BlockId,
    purpose: Purpose,
    /// The next page of the victim to look at.
    next_unit: u32,
    /// Flash pages being copied.
    pub(super) in_flight: u32,
    /// There was no room for a copy: no more are begun.
    pub(super) stranded: bool,
    /// Nothing is left to copy: the victim is on its way out.
    erasing: bool,
    /// Flash pages that the collection will make free, net of its copies, and how many copies that
    /// takes, as it looked when it began.
    gain: u32,
    copies: u32,
    /// What of the gain is earned and not yet a whole page, in parts of a copy.
    earned: u32,
    /// Copies that were made, and flash pages that were handed out for them.
    copied: u32,
    handed_out: u32,
}

impl Collection {
    /// The block that is being collected.
    #[must_use]
    pub fn victim(&self) -> BlockId {
        self.victim
    }

    /// What it is being collected for.
    #[must_use]
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// A copy is done: the flash pages that the host may take for it.
    fn earn(&mut self) -> u32 {
        self.copied += 1;
        self.earned += self.gain;
        let pages = self.earned / self.copies;
        self.earned %= self.copies;
        self.handed_out += pages;
        pages
    }

    /// The victim is erased: what is left of its gain. Pages that were overwritten while the collection
    /// ran have saved copies.
    fn earn_rest(&self, pages_per_block: u32) -> u32 {
        pages_per_block - self.copied - self.handed_out
    }
}

/// A block that somebody wants emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The block.
    pub block: BlockId,
    /// What for.
    pub purpose: Purpose,
}

impl Ftl {
    /// Notes that a block is being collected, and what that will yield.
    fn begin_collection(&mut self, plane: PlaneId, Wanted { block: victim, purpose }: Wanted) {
        let valid = self.blocks.valid(victim);
        let copies = valid.div_ceil(self.geometry.units_per_page());
        let gain = match purpose.frees_block() {
            true => self.geometry.shape().pages_per_block - copies,
            false => 0,
        };
        self.blocks.set_state(victim, BlockState::Collecting);
        self.blocks.count_collection(victim);
        self.streams.collects(victim, self.blocks.stream(victim));
        self.counts.gc_runs += 1;
        self.counts.gc_victim_valid += u64::from(valid);
        self.counts.by_purpose[purpose as usize].runs += 1;
        self.planes[plane.at()].collection = Some(Collection {
            victim,
            purpose,
            next_unit: 0,
            in_flight: 0,
            stranded: false,
            erasing: false,
            gain,
            copies,
            earned: 0,
            copied: 0,
            handed_out: 0,
        });
        self.refresh_writable(plane);
    }

    /// Takes note that a block is to be emptied for a purpose. One that waits for that already takes
    /// the new purpose, unless it is to be given up. False if there is nothing to collect: the block is free, bad, being filled,
    /// or being collected at this moment.
    fn want(&mut self, wanted: Wanted) -> bool {
        let plane = self.geometry.plane_of(wanted.block);
        let queue = &mut self.planes[plane.at()].wanted;
        if let Some(waiting) = queue.iter_mut().find(|waiting| waiting.block == wanted.block) {
            if waiting.purpose.frees_block() {
                *waiting = wanted;
            }
            return true;
        }
        if self.blocks.state(wanted.block) != BlockState::Closed {
            return false;
        }
        queue.push_back(wanted);
        let view = VictimView { plane, blocks: &self.blocks };
        self.victim.withdrawn(&view, wanted.block);
        self.blocks.set_state(wanted.block, BlockState::Collecting);
        true
    }

    fn has_wanted(&self, plane: PlaneId) -> bool {
        !self.planes[plane.at()].wanted.is_empty()
    }

    /// The block that a plane empties next. What others asked for goes first. A block that is given up
    /// waits while only the reserve is left: it returns none for the one that its pages may fill.
    fn next_to_collect(&mut self, plane: PlaneId) -> Option<Wanted> {
        if self.read_only {
            return None;
        }
        let state = &self.planes[plane.at()];
        let to_spare = state.free_blocks() > self.thresholds.reserve;
        let may_go = |wanted: &Wanted| {
            (to_spare || wanted.purpose.frees_block()) && self.can_empty(plane, wanted.block)
        };
        if let Some(at) = state.wanted.iter().position(may_go) {
            return self.planes[plane.at()].wanted.remove(at);
        }
        let view = VictimView { plane, blocks: &self.blocks };
        let block = self.victim.choose(&view)?;
        if !self.can_empty(plane, block) {
            self.victim.closed(&view, block);
            self.note_no_room();
            return None;
        }
        Some(Wanted { block, purpose: Purpose::Space })
    }

    /// The victim is empty: what becomes of it, and what its end is worth to the host.
    fn end_collection(&mut self, plane: PlaneId, run: &Collection) {
        if run.purpose.frees_block() && !self.erase_fails(run.victim) {
            self.blocks.reset(run.victim);
            let state = &mut self.planes[plane.at()];
            state.give_back(run.victim, self.blocks.erases(run.victim));
            state.host_credit += run.earn_rest(self.geometry.shape().pages_per_block);
        } else {
            self.blocks.retire(run.victim);
            self.refresh_writable(plane);
        }
    }
}

/// The copies that are under way, over all planes.
#[derive(Clone, Debug)]
pub struct Collector {
    /// By program: where each of its pages is copied from.
    pub(super) sources: Cargo,
}

/// What a step of a collection made free for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freed {
    /// Nothing.
    Nothing,
    /// Flash pages that it may take, perhaps.
    Pages,
}

/// What the collector works on.
pub struct Ground<'a, P, C> {
    /// The present moment.
    pub now: SimTime,
    /// The FTL whose blocks it cleans.
    pub ftl: &'a mut Ftl,
    /// The flash that does the work.
    pub flash: &'a mut Flash<P>,
    /// The bytes, if the device carries them.
    pub contents: &'a mut C,
}

impl Collector {
    /// A collector with nothing to do.
    #[must_use]
    pub fn new(units_per_page: u32) -> Collector {
        Collector { sources: Cargo::new(units_per_page) }
    }

    /// Starts collecting on a plane if it is short of free blocks and not collecting already.
    #[inline]
    pub fn start<P: Probe, C: Contents>(&mut self, plane: PlaneId, on: &mut Ground<'_, P, C>) {
        let short = on.ftl.free_blocks(plane) <= on.ftl.thresholds.start;
        if short && on.ftl.planes[plane.at()].collection.is_none() {
            on.ftl.planes[plane.at()].host_credit = on.ftl.thresholds.host_lead;
            self.next(plane, on);
        }
    }

    /// Empties a block for a purpose, after those that were asked for before; copies are in flight
    /// when this returns, if the plane was not collecting. False if there is nothing to
    /// collect: the block is free, bad, being filled, or being collected at this moment.
    pub fn collect<P: Probe, C: Contents>(
        &mut self,
        wanted: Wanted,
        on: &mut Ground<'_, P, C>,
    ) -> bool {
        let accepted = on.ftl.want(wanted);
        self.start_wanted(on.ftl.geometry.plane_of(wanted.block), on);
        accepted
    }

    /// Begins with what is wanted of a plane that is not collecting.
    pub(super) fn start_wanted<P: Probe, C: Contents>(
        &mut self,
        plane: PlaneId,
        on: &mut Ground<'_, P, C>,
    ) {
        if on.ftl.planes[plane.at()].collection.is_none() && on.ftl.has_wanted(plane) {
            on.ftl.planes[plane.at()].host_credit = on.ftl.thresholds.host_lead;
            self.next(plane, on);
        }
    }

    fn next<P: Probe, C: Contents>(&mut self, plane: PlaneId, on: &mut Ground<'_, P, C>) {
        let Some(wanted) = on.ftl.next_to_collect(plane) else {
            return on.ftl.mark_hungry(plane);
        };
        on.ftl.begin_collection(plane, wanted);
        self.proceed(plane, on);
    }

    /// Keeps the allowed number of copies in flight; erases the victim when nothing is left on it.
    fn proceed<P: Probe, C: Contents>(&mut self, plane: PlaneId, on: &mut Ground<'_, P, C>) {
        loop {
            let limit = on.ftl.thresholds.copies_in_flight;
            let Some(run) = on.ftl.planes[plane.at()].collection.as_mut() else { return };
            if run.in_flight >= limit || run.erasing || run.stranded {
                return;
            }
            let (victim, from) = (run.victim, run.next_unit);
            let origin = run.purpose.origin();
            match on.ftl.blocks.next_valid(victim, from) {
                Some(first) => self.copy_page(plane, origin, victim, first, on),
                None if run.in_flight > 0 => return,
                None if !run.purpose.frees_block() => return self.ended(plane, on),
                None => {
                    run.erasing = true;
                    let page = on.ftl.geometry.page_at(victim, 0);
                    let erase = Command::new(Kind::Erase, origin, Task::Collect(plane), page);
                    let id = on.flash.prepare(erase);
                    return on.flash.submit(on.now, id);
                }
            }
        }
    }

    /// Starts copying as many valid pages, from place `first` of the victim on, as one flash page holds.
    fn copy_page<P: Probe, C: Contents>(
        &mut self,
        plane: PlaneId,
        origin: Origin,
        victim: BlockId,
        first: u32,
        on: &mut Ground<'_, P, C>,
    ) {
        let task = Task::Collect(plane);
        let place = on.ftl.geometry.page_at(victim, 0);
        let mut program = Command::new(Kind::Program, origin, task, place);
        program.codewords = on.flash.bus().page_codewords();
        let program = on.flash.prepare(program);
        let units_per_page = on.ftl.geometry.units_per_page();
        let sources = self.sources.row_mut(program);
        let (mut units, mut next) = (0, Some(first));
        let mut read: Option<(u32, CommandId)> = None;
        while let Some(unit) = next.filter(|_| units < units_per_page) {
            let source = on.ftl.geometry.page_at(victim, unit);
            sources[units as usize] = source.to_raw();
            units += 1;
            if let Some(page) = on.ftl.spare.owner(source) {
                on.ftl.prefetch(page);
            }
            on.ftl.spare.prefetch_after(source);
            let flash_page = on.ftl.geometry.flash_page_of(source);
            let id = match read {
                Some((of, id)) if of == flash_page => id,
                _ => {
                    if let Some((_, id)) = read {
                        on.flash.submit(on.now, id);
                    }
                    let mut command = Command::new(Kind::Read, origin, task, source);
                    command.then = Some(program);
                    on.flash.command_mut(program).waits_for += 1;
                    on.flash.prepare(command)
                }
            };
            let unit_codewords = on.flash.bus().codewords_per_unit();
            let command = on.flash.command_mut(id);
            command.units += 1;
            command.codewords += unit_codewords;
            read = Some((flash_page, id));
            next = on.ftl.blocks.next_valid(victim, unit + 1);
        }
        on.flash.command_mut(program).units = units;
        if let Some(run) = on.ftl.planes[plane.at()].collection.as_mut() {
            run.in_flight += 1;
            run.next_unit = next.unwrap_or(on.ftl.geometry.units_per_block());
        }
        if let Some((_, id)) = read {
            on.flash.submit(on.now, id);
        }
    }

    /// Tries again on planes that were short of free blocks with nothing worth collecting, where
    /// something has changed since.
    #[inline]
    pub fn feed_hungry<P: Probe, C: Contents>(&mut self, on: &mut Ground<'_, P, C>) {
        while let Some(plane) = on.ftl.fed.pop() {
            self.start(plane, on);
        }
    }

    /// A command of a plane's collection is done. Says whether the host may take pages by it.
    pub fn done<P: Probe, C: Contents>(
        &mut self,
        plane: PlaneId,
        id: CommandId,
        on: &mut Ground<'_, P, C>,
    ) -> Freed {
        match on.flash.command(id).kind {
            Kind::Read => {
                self.read_done(plane, id, on);
                return Freed::Nothing;
            }
            Kind::Program | Kind::Copyback => {
                let earned = self.copy_done(plane, id, on);
                if earned == 0 && on.ftl.planes[plane.at()].collection.is_some() {
                    return Freed::Nothing;
                }
            }
            Kind::Erase => self.erase_done(plane, on),
        }
        on.ftl.refresh_writable(plane);
        if on.ftl.may_write_any(plane) { Freed::Pages } else { Freed::Nothing }
    }

    fn read_done<P: Probe, C: Contents>(
        &mut self,
        plane: PlaneId,
        id: CommandId,
        on: &mut Ground<'_, P, C>,
    ) {
        let Some(program) = on.flash.command(id).then else { return };
        let command = on.flash.command_mut(program);
        command.waits_for -= 1;
        if command.waits_for > 0 {
            return;
        }
        self.place_copy(plane, program, on);
    }

    /// Returns the flash pages that the host may take for the copy.
    fn copy_done<P: Probe, C: Contents>(
        &mut self,
        plane: PlaneId,
        id: CommandId,
        on: &mut Ground<'_, P, C>,
    ) -> u32 {
        let Command { page: first, units, .. } = *on.flash.command(id);
        if on.ftl.program_fails(first) {
            self.copy_again(plane, id, on);
            return 0;
        }
        for unit in 0..units {
            let from = self.source(id, unit);
            let to = Ppn::new(first.get() + unit);
            let page = on.ftl.spare.owner(to).expect("a copy has an owner");
            if on.ftl.mapping.relocate(page, from, to) {
                let (block, place) = on.ftl.geometry.place_of(to);
                on.ftl.blocks.set_valid(block, place);
                let (block, place) = on.ftl.geometry.place_of(from);
                on.ftl.blocks.clear_valid(block, place);
            } else {
                on.ftl.counts.gc_stale += 1;
            }
        }
        on.ftl.counts.gc_pages += u64::from(units);
        on.ftl.programmed(first, units);
        let state = &mut on.ftl.planes[plane.at()];
        let mut earned = 0;
        if let Some(run) = state.collection.as_mut() {
            run.in_flight -= 1;
            on.ftl.counts.by_purpose[run.purpose as usize].pages += u64::from(units);
            earned = run.earn();
            state.host_credit += earned;
        }
        on.ftl.want_failed();
        if !self.wind_up(plane, on) {
            self.proceed(plane, on);
        }
        earned
    }

    fn erase_done<P: Probe, C: Contents>(&mut self, plane: PlaneId, on: &mut Ground<'_, P, C>) {
        let Some(victim) = on.ftl.collecting(plane) else { return };
        let first = on.ftl.geometry.page_at(victim, 0);
        on.contents.erase(first, on.ftl.geometry.units_per_block());
        self.ended(plane, on);
    }

    /// The victim is empty, and erased unless it is given up.
    fn ended<P: Probe, C: Contents>(&mut self, plane: PlaneId, on: &mut Ground<'_, P, C>) {
        let Some(run) = on.ftl.planes[plane.at()].collection.take() else { return };
        on.ftl.end_collection(plane, &run);
        if on.ftl.free_blocks(plane) < on.ftl.thresholds.stop || on.ftl.has_wanted(plane) {
            self.next(plane, on);
        }
    }

    pub(super) fn source(&self, program: CommandId, unit: u32) -> Ppn {
        let raw = self.sources.get(program, unit);
        Ppn::from_raw(raw).expect("every page of a copy has a source")
    }
}
