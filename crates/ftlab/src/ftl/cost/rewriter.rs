//! Pages that are programmed again at high cost while their die has nothing else to do: which wait for that, and how
//! far the one is that is at work on each die.
//!
//! A rewrite is a copy within the plane: its flash page is read when the die is idle, and programmed when the die is
//! idle again, into a block of its own stream, so that no scheduler can change the order of a block's programs. It
//! becomes current only if the mapping still names what was read. What was written meanwhile, or lies at a higher cost
//! already, is dropped.
//!
//! Source: AGCR (a Chinese rendering of a FAST 2016 paper), sections 3.3 and 3.4: the rewrite queue.

use std::collections::VecDeque;

use super::super::{Cargo, Fragment, Ftl};
use crate::device::Contents;
use crate::ftl::gc::Ground;
use crate::nand::{CellMode, CostClass, Geometry, Kind, ProgramCost};
use crate::scheduler::{Command, CommandId, Origin, Probe, Task};
use crate::units::{DieId, Lpn, Ppn};
use crate::verify::Canary;

/// What was rewritten and what not. Flash commands of it are counted by their origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RewriteCounts {
    /// Reads of the host that asked for it.
    pub requested: u64,
    /// Flash pages that were programmed again.
    pub done: u64,
    /// Pages (mapping units) on them.
    pub pages: u64,
    /// Dropped because the page was written or deallocated meanwhile.
    pub written: u64,
    /// Dropped because it lay at a higher cost by then.
    pub high: u64,
    /// Dropped because too many waited.
    pub full: u64,
}

impl RewriteCounts {
    /// Both, number by number.
    #[must_use]
    pub fn zip(&self, other: &RewriteCounts, f: fn(u64, u64) -> u64) -> RewriteCounts {
        RewriteCounts {
            requested: f(self.requested, other.requested),
            done: f(self.done, other.done),
            pages: f(self.pages, other.pages),
            written: f(self.written, other.written),
            high: f(self.high, other.high),
            full: f(self.full, other.full),
        }
    }
}

/// The rewrite that a die is at.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The page that asked for it.
    page: Lpn,
    program: CommandId,
    /// Whether its flash page is read, and the program waits for the die.
    is_read: bool,
    /// How often the block of that flash page had been erased by then.
    erases: u32,
}

#[derive(Clone, Debug, Default)]
struct Die {
    waiting: VecDeque<Lpn>,
    run: Option<Run>,
    /// Whether it is on the list of dies that are idle.
    is_listed: bool,
}

/// The rewrites of all dies.
#[derive(Clone, Debug)]
pub struct Rewriter {
    limit: usize,
    dies: Vec<Die>,
    /// Dies that fell idle and have something to rewrite.
    idle: Vec<DieId>,
    /// By program: where each of its pages is copied from.
    sources: Cargo,
    counts: RewriteCounts,
}

impl Rewriter {
    /// Nothing waits. So many flash pages may, on each die.
    #[must_use]
    pub fn new(limit: u32, geometry: &Geometry) -> Rewriter {
        Rewriter {
            limit: limit as usize,
            dies: vec![Die::default(); geometry.dies() as usize],
            idle: Vec::new(),
            sources: Cargo::new(geometry.units_per_page()),
            counts: RewriteCounts::default(),
        }
    }

    /// What was rewritten so far.
    #[must_use]
    pub fn counts(&self) -> &RewriteCounts {
        &self.counts
    }

    /// Programs that are ready and wait for room, however long the device has nothing to do.
    pub(crate) fn held(&self) -> usize {
        self.dies.iter().filter(|die| die.run.is_some_and(|run| run.is_read)).count()
    }

    /// A page on a die should be rewritten. It waits once.
    pub(crate) fn ask(&mut self, die: DieId, page: Lpn) {
        self.counts.requested += 1;
        let waiting = &mut self.dies[die.at()].waiting;
        let (front, back) = waiting.as_slices();
        if front.contains(&page) || back.contains(&page) {
            return;
        }
        match waiting.len() < self.limit {
            true => waiting.push_back(page),
            false => self.counts.full += 1,
        }
    }

    /// A die has nothing to do. It is listed if there is something to rewrite on it, unless that is under way.
    #[inline]
    pub(crate) fn die_is_idle(&mut self, die: DieId) {
        let state = &mut self.dies[die.at()];
        let has_work = state.run.is_some_and(|run| run.is_read)
            || state.run.is_none() && !state.waiting.is_empty();
        if has_work && !std::mem::replace(&mut state.is_listed, true) {
            self.idle.push(die);
        }
    }

    /// Whether a die fell idle on which there is something to rewrite.
    #[inline]
    #[must_use]
    pub(crate) fn has_idle_dies(&self) -> bool {
        !self.idle.is_empty()
    }

    /// The next of these dies.
    pub(crate) fn next_idle(&mut self) -> Option<DieId> {
        let die = self.idle.pop()?;
        self.dies[die.at()].is_listed = false;
        Some(die)
    }

    /// Does what an idle die can do. `is_written` says of which pages something newer is on its way.
    pub(crate) fn work<P: Probe, C: Contents>(
        &mut self,
        die: DieId,
        is_written: impl Fn(Lpn) -> bool,
        on: &mut Ground<'_, P, C>,
    ) {
        if let Some(run) = self.dies[die.at()].run {
            let goes_on = on.ftl.plant.is(Canary::RewriteOverNewer)
                || !is_written(run.page) && self.keep_current(&run, on);
            if goes_on {
                return self.program(run, on);
            }
            self.drop_run(die, run, on);
            self.count_dropped(run.page, is_written(run.page), on.ftl);
        }
        while let Some(&page) = self.dies[die.at()].waiting.front() {
            if !is_written(page)
                && let Some(from) = self.source_of(page, die, on)
            {
                if !on.ftl.may_rewrite(on.ftl.geometry.plane_of_page(from)) {
                    // Until the die is idle again.
                    return;
                }
                self.dies[die.at()].waiting.pop_front();
                return self.read(die, page, from, on);
            }
            self.dies[die.at()].waiting.pop_front();
            self.count_dropped(page, is_written(page), on.ftl);
        }
    }

    /// Where on a die a page that is only read lies at low cost, if it still does. One that was written again may lie
    /// on another die by now, which is asked by those who read it there.
    fn source_of<P: Probe, C: Contents>(
        &self,
        page: Lpn,
        die: DieId,
        on: &Ground<'_, P, C>,
    ) -> Option<Ppn> {
        let past = on.ftl.past_of(page);
        let parts = on.ftl.fragments(page).into_iter().flatten().map(|Fragment { at, .. }| at);
        let here = |&at: &Ppn| on.ftl.geometry.die_of_page(at) == die;
        let mut low = parts.filter(here).filter(|&at| on.ftl.mode_at(at) == CellMode::Native);
        low.find(|&at| on.ftl.wants_rewrite(past, on.flash.class_at(at)))
    }

    fn count_dropped(&mut self, page: Lpn, is_written: bool, ftl: &Ftl) {
        match is_written || ftl.was_written_last(page) {
            true => self.counts.written += 1,
            false => self.counts.high += 1,
        }
    }

    /// Reads a flash page, with all that is valid on it.
    fn read<P: Probe, C: Contents>(
        &mut self,
        die: DieId,
        page: Lpn,
        from: Ppn,
        on: &mut Ground<'_, P, C>,
    ) {
        let geometry = &on.ftl.geometry;
        let per_page = geometry.units_per_page();
        let first = Ppn::new(geometry.flash_page_of(from) * per_page);
        let task = Task::Rewrite(die);
        let mut program = Command::new(Kind::Program, Origin::Rewrite, task, first);
        program.codewords = on.flash.bus().page_codewords();
        program.set_cost(ProgramCost::Of(CostClass::High));
        let program = on.flash.prepare(program);
        let mut units = 0;
        for at in (first.get()..first.get() + per_page).map(Ppn::new) {
            let (block, unit) = on.ftl.geometry.place_of(at);
            if on.ftl.blocks.is_valid(block, unit) {
                self.sources.row_mut(program)[units as usize] = at.to_raw();
                units += 1;
            }
        }
        on.flash.command_mut(program).units = units;
        let mut read = Command::new(Kind::Read, Origin::Rewrite, task, from);
        read.units = units;
        read.codewords = units * on.flash.bus().codewords_per_unit();
        let read = on.flash.prepare(read);
        let erases = on.ftl.blocks.erases(on.ftl.geometry.block_of(first));
        self.dies[die.at()].run = Some(Run { page, program, is_read: false, erases });
        on.flash.submit(on.now, read);
    }

    /// Whether what lies where a rewrite has read is still what it has read: other data may come to the same place.
    fn is_as_read(&self, run: &Run, ftl: &Ftl) -> bool {
        let block = ftl.geometry.block_of(self.source(run.program, 0));
        ftl.blocks.erases(block) == run.erases
    }

    /// Leaves out what has left the flash page since it was read. False if there is nothing left, or the page that
    /// asked was written.
    fn keep_current<P: Probe, C: Contents>(
        &mut self,
        run: &Run,
        on: &mut Ground<'_, P, C>,
    ) -> bool {
        if !self.is_as_read(run, on.ftl) {
            return false;
        }
        let mut left = 0;
        for unit in 0..on.flash.command(run.program).units {
            let at = self.source(run.program, unit);
            let (block, place) = on.ftl.geometry.place_of(at);
            if on.ftl.blocks.is_valid(block, place) {
                self.sources.row_mut(run.program)[left as usize] = at.to_raw();
                left += 1;
            }
        }
        on.flash.command_mut(run.program).units = left;
        left > 0 && !on.ftl.was_written_last(run.page)
    }

    /// Programs what was read, if there is room.
    fn program<P: Probe, C: Contents>(&mut self, run: Run, on: &mut Ground<'_, P, C>) {
        let plane = on.ftl.geometry.plane_of_page(self.source(run.program, 0));
        let Some(first) = on.ftl.place_rewrite(plane) else { return };
        for unit in 0..on.flash.command(run.program).units {
            let (from, to) = (self.source(run.program, unit), Ppn::new(first.get() + unit));
            on.ftl.record_collected(from, to);
            on.ftl.carry(from, to, on.contents);
        }
        on.flash.command_mut(run.program).page = first;
        let die = on.ftl.geometry.die_of(plane);
        self.dies[die.at()].run = Some(Run { is_read: false, ..run });
        on.flash.submit(on.now, run.program);
    }

    fn drop_run<P: Probe, C: Contents>(&mut self, die: DieId, run: Run, on: &mut Ground<'_, P, C>) {
        on.flash.release(run.program);
        self.dies[die.at()].run = None;
    }

    /// A command of a die's rewrite is done.
    pub(crate) fn done<P: Probe, C: Contents>(
        &mut self,
        die: DieId,
        id: CommandId,
        on: &mut Ground<'_, P, C>,
    ) {
        let Some(run) = self.dies[die.at()].run else { return };
        if id != run.program {
            self.dies[die.at()].run = Some(Run { is_read: true, ..run });
            return;
        }
        self.dies[die.at()].run = None;
        let Command { page: first, units, .. } = *on.flash.command(id);
        if on.ftl.program_fails(first) {
            // What it carried is where it was.
            return;
        }
        let moves = if self.is_as_read(&run, on.ftl) { units } else { 0 };
        for unit in 0..moves {
            on.ftl.rewritten_page(self.source(id, unit), Ppn::new(first.get() + unit));
        }
        on.ftl.programmed(first, units);
        self.counts.done += 1;
        self.counts.pages += u64::from(units);
    }

    /// The device comes to rest: what waits is given up.
    pub(crate) fn rest<P: Probe, C: Contents>(&mut self, on: &mut Ground<'_, P, C>) {
        for die in (0..self.dies.len() as u32).map(DieId::new) {
            self.dies[die.at()].waiting.clear();
            if let Some(run) = self.dies[die.at()].run {
                self.drop_run(die, run, on);
            }
        }
    }

    fn source(&self, program: CommandId, unit: u32) -> Ppn {
        let raw = self.sources.get(program, unit);
        Ppn::from_raw(raw).expect("every page of a copy has a source")
    }
}
