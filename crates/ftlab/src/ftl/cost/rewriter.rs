//! Pages that are programmed again at high cost while their die has nothing else to do: which wait for that, and how
//! far the one is that is at work on each die.
//!
//! A rewrite is a copy within the plane: its flash page is read when the die is idle, and programmed when the die is
//! idle again, into a block of its own stream, so that no scheduler can change the order of a block's programs. It
//! becomes current only if the mapping still names what was read. What was written meanwhile, or lies at a higher cost
//! already, is dropped. A rewrite takes room as a write does, so it may be what makes a plane collect.
//!
//! Source: AGCR (a Chinese rendering of a FAST 2016 paper), sections 3.3 and 3.4: the rewrite queue.

use std::collections::VecDeque;

use crate::counters::counters;
use crate::engine::skills;
use crate::ftl::cost::history::Past;
use crate::ftl::cost::regulation;
use crate::ftl::gc::{Collector, collection};
use crate::ftl::service::{Attention, Service};
use crate::ftl::wear::failing;
use crate::ftl::{Cargo, FlashContents, Fragment, Ftl, Kernel, lost};
use crate::nand::{CellMode, CostClass, Kind, ProgramCost};
use crate::scheduler::{Command, CommandId, Flash, Found, Origin, Probe, ServiceId};
use crate::shape::Geometry;
use crate::units::{DieId, Lpn, Ppn, SectorMask};
use crate::verify::Canary;

counters! {
    /// Pages that were programmed again. Their flash commands stand in `flash_commands`. What was requested was done or
    /// dropped, or waits.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct RewriteCounts {
        /// Pages (mapping units) that the host read and that asked for it.
        requested: u64, unit "pages", at "cost/rewrites/requested", label "reads asked for it";
        /// Of these, those whose flash page waited for it already.
        again: u64, unit "pages", at "cost/rewrites/requested_again", label "of them while it waited";
        /// Flash pages that were programmed again.
        done: u64, unit "flash pages", at "cost/rewrites/done",
            label "flash pages programmed", compared lower "programmed again";
        /// Pages (mapping units) on them.
        pages: u64, unit "pages", at "cost/rewrites/pages";
        /// Dropped because the page was written or deallocated meanwhile.
        written: u64, unit "pages", at "cost/rewrites/dropped_written";
        /// Dropped because it lay elsewhere by then, or at a higher cost.
        high: u64, unit "pages", at "cost/rewrites/dropped_high";
        /// Dropped because too many waited.
        full: u64, unit "pages", at "cost/rewrites/dropped_full";
        /// Given up: there was no room, the program failed, or the device came to rest.
        given_up: u64, unit "pages", at "cost/rewrites/given_up";
    }
}

/// A flash page that is to be programmed again.
#[derive(Clone, Copy, Debug)]
struct Wish {
    /// The page that asked for it, ...
    page: Lpn,
    /// ... and the flash page on which it lay then.
    flash_page: u32,
}

/// The rewrite that a die is at.
#[derive(Clone, Copy, Debug)]
struct Run {
    wish: Wish,
    program: CommandId,
    /// Whether its flash page is read, and the program waits for the die.
    is_read: bool,
    /// How often the block of that flash page had been erased by then.
    erases: u32,
}

#[derive(Clone, Debug, Default)]
struct Die {
    waiting: VecDeque<Wish>,
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

    /// The host reads sectors of a page from flash: it may be one that should lie there at another cost.
    pub(crate) fn note_read<P: Probe, C>(
        &mut self,
        page: Lpn,
        past: Past,
        wanted: SectorMask,
        on: &Kernel<P, C>,
    ) {
        let [newer, older] = on.ftl.fragments(page);
        // The older part is read for what it holds, the newer for all else.
        let older = older.filter(|part| !wanted.within(part.sectors).is_empty());
        let newer = newer.filter(|part| older.is_none() || !wanted.within(part.sectors).is_empty());
        for part in [newer, older].into_iter().flatten() {
            let native = on.ftl.mode_at::<{ skills::ALL }>(part.at) == CellMode::Native;
            if native && regulation::wants_rewrite(past, on.flash.class_at(part.at), &on.ftl) {
                let geometry = on.flash.geometry();
                self.ask(geometry.die_of_page(part.at), geometry.flash_page_of(part.at), page);
            }
        }
    }

    /// A page on a flash page of a die should be rewritten. The flash page waits once.
    fn ask(&mut self, die: DieId, flash_page: u32, page: Lpn) {
        self.counts.requested += 1;
        let waiting = &mut self.dies[die.at()].waiting;
        if waiting.iter().any(|wish| wish.page == page || wish.flash_page == flash_page) {
            self.counts.again += 1;
        } else if waiting.len() < self.limit {
            waiting.push_back(Wish { page, flash_page });
        } else {
            self.counts.full += 1;
        }
    }

    /// Commands of a die are done. If it has nothing else to do it is listed, where there is something to rewrite on it
    /// that is not under way.
    #[inline]
    pub(crate) fn die_is_done<P: Probe, C>(&mut self, die: DieId, on: &Kernel<P, C>) {
        if !may_work(die, on) {
            return;
        }
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

    /// Nothing more comes at this moment: dies that are still idle rewrite. `is_written` says of which pages something
    /// newer is on its way.
    #[cold]
    pub(crate) fn work_on_idle_dies<P: Probe, C: FlashContents>(
        &mut self,
        is_written: impl Fn(Lpn) -> bool,
        on: &mut Kernel<P, C>,
    ) {
        while let Some(die) = self.next_idle() {
            if may_work(die, on) {
                self.work(die, &is_written, on);
            }
        }
    }

    /// The next of these dies.
    fn next_idle(&mut self) -> Option<DieId> {
        let die = self.idle.pop()?;
        self.dies[die.at()].is_listed = false;
        Some(die)
    }

    /// Does what an idle die can do.
    fn work<P: Probe, C: FlashContents>(
        &mut self,
        die: DieId,
        is_written: impl Fn(Lpn) -> bool,
        on: &mut Kernel<P, C>,
    ) {
        if let Some(run) = self.dies[die.at()].run {
            let goes_on = on.ftl.plant.is(Canary::RewriteOverNewer)
                || !is_written(run.wish.page) && self.keep_current(&run, on);
            if goes_on && self.program(run, on) {
                return;
            }
            on.flash.release(run.program);
            self.dies[die.at()].run = None;
            match goes_on {
                true => self.counts.given_up += 1,
                false => self.count_dropped(run.wish.page, is_written(run.wish.page), &on.ftl),
            }
        }
        let mut next = 0;
        while let Some(&wish) = self.dies[die.at()].waiting.get(next) {
            let from = Self::source_of(wish.page, on)
                .filter(|&at| on.ftl.geometry.die_of_page(at) == die && !is_written(wish.page));
            if from.is_some_and(|from| {
                !regulation::may_rewrite(on.ftl.geometry.plane_of_page(from), &on.ftl)
            }) {
                // Its plane is short of room, others may not be. Until the die is idle again.
                next += 1;
                continue;
            }
            self.dies[die.at()].waiting.remove(next);
            match from {
                Some(from) => return self.read(die, wish, from, on),
                None => self.count_dropped(wish.page, is_written(wish.page), &on.ftl),
            }
        }
    }

    /// Where a page that asked lies at low cost, if it still does. If that is on another die by now, those who read
    /// it there ask again.
    fn source_of<P: Probe, C: FlashContents>(page: Lpn, on: &Kernel<P, C>) -> Option<Ppn> {
        let past = regulation::past_of(page, &on.ftl);
        let parts = on.ftl.fragments(page).into_iter().flatten().map(|Fragment { at, .. }| at);
        let mut low = parts.filter(|&at| on.ftl.mode_at::<{ skills::ALL }>(at) == CellMode::Native);
        low.find(|&at| regulation::wants_rewrite(past, on.flash.class_at(at), &on.ftl))
    }

    fn count_dropped(&mut self, page: Lpn, is_written: bool, ftl: &Ftl) {
        match is_written || regulation::was_written_last(page, ftl) {
            true => self.counts.written += 1,
            false => self.counts.high += 1,
        }
    }

    /// Reads a flash page, with all that is valid on it.
    fn read<P: Probe, C: FlashContents>(
        &mut self,
        die: DieId,
        wish: Wish,
        from: Ppn,
        on: &mut Kernel<P, C>,
    ) {
        let geometry = &on.ftl.geometry;
        let per_page = geometry.units_per_page();
        let wish = Wish { flash_page: geometry.flash_page_of(from), ..wish };
        let first = Ppn::new(wish.flash_page * per_page);
        let owner = ServiceId::REWRITER.owner(die.get());
        let mut program = Command::new(Kind::Program, Origin::Rewrite, owner, first);
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
        let mut read = Command::new(Kind::Read, Origin::Rewrite, owner, from);
        read.units = units;
        read.codewords = units * on.flash.bus().codewords_per_unit();
        let read = on.flash.prepare(read);
        let erases = on.ftl.blocks.erases(on.ftl.geometry.block_of(first));
        self.dies[die.at()].run = Some(Run { wish, program, is_read: false, erases });
        on.flash.submit(on.now, read);
    }

    /// Whether what lies where a rewrite has read is still what it has read: other data may come to the same place.
    fn is_as_read(&self, run: &Run, ftl: &Ftl) -> bool {
        let block = ftl.geometry.block_of(self.source(run.program, 0));
        ftl.blocks.erases(block) == run.erases
    }

    /// Leaves out what has left the flash page since it was read. False if the page that asked is not as it was.
    fn keep_current<P: Probe, C: FlashContents>(
        &mut self,
        run: &Run,
        on: &mut Kernel<P, C>,
    ) -> bool {
        if !self.is_as_read(run, &on.ftl) {
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
        let lies = |at| on.ftl.geometry.flash_page_of(at) == run.wish.flash_page;
        Self::source_of(run.wish.page, on).is_some_and(lies)
    }

    /// Programs what was read. False if there is no room.
    fn program<P: Probe, C: FlashContents>(&mut self, run: Run, on: &mut Kernel<P, C>) -> bool {
        let plane = on.ftl.geometry.plane_of_page(self.source(run.program, 0));
        let Some(first) = regulation::place_rewrite(plane, &mut on.ftl) else { return false };
        for unit in 0..on.flash.command(run.program).units {
            let (from, to) = (self.source(run.program, unit), Ppn::new(first.get() + unit));
            collection::record_collected::<{ skills::ALL }>(from, to, &mut on.ftl);
            lost::carry::<{ skills::ALL }>(from, to, &mut on.contents, &mut on.ftl);
        }
        on.flash.command_mut(run.program).page = first;
        let die = on.ftl.geometry.die_of(plane);
        self.dies[die.at()].run = Some(Run { is_read: false, ..run });
        on.flash.submit(on.now, run.program);
        true
    }

    /// A command of a die's rewrite is done.
    fn command_done<P: Probe, C: FlashContents>(
        &mut self,
        die: DieId,
        id: CommandId,
        on: &mut Kernel<P, C>,
    ) {
        let Some(run) = self.dies[die.at()].run else { return };
        if id != run.program {
            self.dies[die.at()].run = Some(Run { is_read: true, ..run });
            return;
        }
        self.dies[die.at()].run = None;
        let Command { page: first, units, found: Found { failed, .. }, .. } = *on.flash.command(id);
        if failing::program_fails::<{ skills::ALL }>(first, failed, &mut on.contents, &mut on.ftl) {
            // What it carried is where it was.
            self.counts.given_up += 1;
            return;
        }
        let moves = if self.is_as_read(&run, &on.ftl) { units } else { 0 };
        for unit in 0..moves {
            regulation::rewritten_page(
                self.source(id, unit),
                Ppn::new(first.get() + unit),
                &mut on.ftl,
            );
        }
        on.ftl.programmed::<{ skills::ALL }>(first, units);
        self.counts.done += 1;
        self.counts.pages += u64::from(units);
    }

    /// What waits is given up: the device comes to rest, or what is measured begins. What is being read or programmed
    /// goes on.
    pub(crate) fn give_up<P: Probe>(&mut self, flash: &mut Flash<P>) {
        for die in &mut self.dies {
            self.counts.given_up += die.waiting.len() as u64;
            die.waiting.clear();
            if let Some(run) = die.run.take_if(|run| run.is_read) {
                flash.release(run.program);
                self.counts.given_up += 1;
            }
        }
    }

    fn source(&self, program: CommandId, unit: u32) -> Ppn {
        let raw = self.sources.get(program, unit);
        Ppn::from_raw(raw).expect("every page of a copy has a source")
    }
}

/// Whether a die has nothing else to do.
fn may_work<P: Probe, C>(die: DieId, on: &Kernel<P, C>) -> bool {
    on.flash.load().of(die) == 0 || on.ftl.plant.is(Canary::RewriteCutsIn)
}

impl Service for Rewriter {
    const ID: ServiceId = ServiceId::REWRITER;
    const WAKES: Attention = Attention::DIE_DONE;
    const NEEDS_TIME: &'static str = "pages are rewritten while dies are idle";

    fn done(
        &mut self,
        token: u32,
        id: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        _: &mut Collector,
    ) -> Attention {
        let kind = on.flash.command(id).kind;
        self.command_done(DieId::new(token), id, on);
        if kind != Kind::Program {
            return Attention::NONE;
        }
        let failed = Attention::FAILED.and(Attention::MAP);
        failed.and(Attention::FILLED).and(Attention::INVALID)
    }
}
