//! Rewrites pages at high cost while their die is idle: keeps the queue of each die and the state
//! of its current rewrite.
//!
//! A rewrite is a copy within the plane. Its flash page is read when the die is idle, and programmed when the die is
//! idle again, into a block of its own stream, so that no scheduler can reorder the programs of a block. The copy
//! becomes current only if the mapping still names the page that was read. A page that was written meanwhile, or
//! already lies at a higher cost, is dropped. A rewrite takes room like a write, so it may make a plane collect.
//!
//! With superblocks, stripes among them, a copy goes to where the open superblock of rewrites continues, most likely on
//! another die. What was read waits until that die is idle. The copies of a group of dies are programmed in the order in
//! which they were read, and each is submitted as it is placed, so stripes fill in order.
//!
//! Source: AGCR (a Chinese rendering of a FAST 2016 paper), sections 3.3 and 3.4: the rewrite queue.

use std::collections::VecDeque;

use crate::counters::counters;
use crate::engine::skills;
use crate::ftl::cost::history::Past;
use crate::ftl::cost::regulation;
use crate::ftl::gc::{Collector, collection};
use crate::ftl::service::{Service, Signals};
use crate::ftl::wear::failing;
use crate::ftl::{Cargo, FlashContents, Fragment, Ftl, Kernel, lost};
use crate::nand::{CellMode, CostClass, Kind, ProgramCost};
use crate::scheduler::{CellFindings, Command, CommandId, Flash, Origin, Probe, ServiceId};
use crate::shape::FlashGeometry;
use crate::units::{DieId, Lpn, Ppn, SectorMask};
use crate::verify::Canary;

counters! {
    /// Rewrites. Their flash commands are counted by origin. Every request was done or dropped, or waits.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct RewriteCounts {
        /// Pages (mapping units) that the host read and that requested a rewrite.
        requested: u64, unit "pages", at "cost/rewrites/requested", label "reads requested one";
        /// Of these, pages whose flash page already waited for one.
        again: u64, unit "pages", at "cost/rewrites/requested_again", label "of them while one was waiting";
        /// Flash pages that were rewritten.
        done: u64, unit "flash pages", at "cost/rewrites/done",
            label "flash pages rewritten", compared lower "rewrites";
        /// Pages (mapping units) on them.
        pages: u64, unit "pages", at "cost/rewrites/pages";
        /// Dropped because the page was written or deallocated meanwhile.
        written: u64, unit "pages", at "cost/rewrites/dropped_written";
        /// Dropped because the page lay elsewhere by then, or at a higher cost.
        high: u64, unit "pages", at "cost/rewrites/dropped_high";
        /// Dropped because too many waited.
        full: u64, unit "pages", at "cost/rewrites/dropped_full";
        /// Cancelled: there was no room, the program failed, or the device came to rest.
        given_up: u64, unit "pages", at "cost/rewrites/given_up";
    }
}

/// A request to rewrite a flash page.
#[derive(Clone, Copy, Debug)]
struct RewriteWish {
    /// The page that requested it.
    page: Lpn,
    /// The flash page on which that page lay.
    flash_page: u32,
}

/// The rewrite in progress on a die.
#[derive(Clone, Copy, Debug)]
struct RewriteRun {
    wish: RewriteWish,
    program: CommandId,
    /// Whether its flash page was read, and the program waits for the die.
    is_read: bool,
    /// The erase count of the block of that flash page when it was read.
    erases: u32,
}

#[derive(Clone, Debug, Default)]
struct DieWork {
    waiting: VecDeque<RewriteWish>,
    run: Option<RewriteRun>,
    /// Whether it is on the list of idle dies.
    is_listed: bool,
}

/// The rewrites of all dies.
#[derive(Clone, Debug)]
pub struct Rewriter {
    limit: usize,
    dies: Vec<DieWork>,
    /// Dies that became idle and have something to rewrite.
    idle: Vec<DieId>,
    /// By program: the source of each of its pages.
    sources: Cargo,
    /// By group of dies with superblocks: the dies whose rewrite was read and waits for its program, in that order. Empty without.
    read: Vec<VecDeque<DieId>>,
    counts: RewriteCounts,
}

impl Rewriter {
    /// Nothing waits. `limit` flash pages may wait on each die.
    #[must_use]
    pub fn new(limit: u32, flash: &FlashGeometry) -> Rewriter {
        let groups = flash.superblocks().map_or(0, |_| flash.volume().dies());
        Rewriter {
            limit: limit as usize,
            dies: vec![DieWork::default(); flash.dies() as usize],
            idle: Vec::new(),
            sources: Cargo::new(flash.units_per_page()),
            read: vec![VecDeque::new(); groups as usize],
            counts: RewriteCounts::default(),
        }
    }

    /// The counters of rewrites.
    #[must_use]
    pub fn counts(&self) -> &RewriteCounts {
        &self.counts
    }

    /// The host reads sectors of a page from flash: the regulator may want the page at another cost.
    pub(crate) fn note_read<P: Probe, C>(
        &mut self,
        page: Lpn,
        past: Past,
        wanted: SectorMask,
        on: &Kernel<P, C>,
    ) {
        let [newer, older] = on.ftl.fragments(page);
        // The older part is read for its own sectors, the newer part for all others.
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

    /// Requests the rewrite of a page on a flash page of a die. A flash page waits only once.
    fn ask(&mut self, die: DieId, flash_page: u32, page: Lpn) {
        self.counts.requested += 1;
        let waiting = &mut self.dies[die.at()].waiting;
        if waiting.iter().any(|wish| wish.page == page || wish.flash_page == flash_page) {
            self.counts.again += 1;
        } else if waiting.len() < self.limit {
            waiting.push_back(RewriteWish { page, flash_page });
        } else {
            self.counts.full += 1;
        }
    }

    /// Commands of a die are done. Lists the die if it is idle and has a rewrite to begin or to continue.
    #[inline]
    pub(crate) fn die_is_done<P: Probe, C>(&mut self, die: DieId, on: &Kernel<P, C>) {
        if !may_work(die, on) {
            return;
        }
        let state = &self.dies[die.at()];
        let programs = match self.fills_superblocks() {
            false => state.run.is_some_and(|run| run.is_read),
            true => !self.read[on.flash.geometry().die_of_volume(die).at()].is_empty(),
        };
        if programs || state.run.is_none() && !state.waiting.is_empty() {
            self.list(die);
        }
    }

    fn fills_superblocks(&self) -> bool {
        !self.read.is_empty()
    }

    fn list(&mut self, die: DieId) {
        if !std::mem::replace(&mut self.dies[die.at()].is_listed, true) {
            self.idle.push(die);
        }
    }

    /// With superblocks: lists the die that programs the next copy of a group, if it is idle. The event that made it idle
    /// may be long past. If there is no room, the die `or` learns that.
    fn list_next<P: Probe, C>(&mut self, group: DieId, or: DieId, on: &mut Kernel<P, C>) {
        let Some(&from) = self.read[group.at()].front() else { return };
        let next = self.next_place(from, on);
        let die = next.map_or(or, |at| on.flash.geometry().die_of_page(at));
        if may_work(die, on) {
            self.list(die);
        }
    }

    /// With superblocks: where the copy of a die's rewrite goes if it is placed now.
    fn next_place<P: Probe, C>(&self, from: DieId, on: &mut Kernel<P, C>) -> Option<Ppn> {
        let run = self.dies[from.at()].run?;
        let plane = on.ftl.geometry.plane_of_page(self.source(run.program, 0));
        regulation::next_place(plane, &mut on.ftl)
    }

    /// Whether an idle die has pages to rewrite.
    #[inline]
    #[must_use]
    pub(crate) fn has_idle_dies(&self) -> bool {
        !self.idle.is_empty()
    }

    /// Nothing more happens at this moment: dies that are still idle rewrite pages. `is_written`
    /// tells whether newer data of a page is being written.
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

    /// The next of the idle dies.
    fn next_idle(&mut self) -> Option<DieId> {
        let die = self.idle.pop()?;
        self.dies[die.at()].is_listed = false;
        Some(die)
    }

    /// Programs a copy on an idle die, or begins to rewrite its next page.
    fn work<P: Probe, C: FlashContents>(
        &mut self,
        die: DieId,
        is_written: impl Fn(Lpn) -> bool,
        on: &mut Kernel<P, C>,
    ) {
        while let Some(from) = self.next_to_program(die, on) {
            let is_programmed = self.go_on(from, &is_written, on);
            if self.fills_superblocks() {
                self.list_next(on.flash.geometry().die_of_volume(die), die, on);
            }
            if is_programmed {
                return;
            }
        }
        if self.dies[die.at()].run.is_none() {
            self.begin(die, is_written, on);
        }
    }

    /// The die whose rewrite an idle die programs next: its own, or with superblocks that which was read first, if the
    /// open superblock continues on this die.
    fn next_to_program<P: Probe, C>(&mut self, die: DieId, on: &mut Kernel<P, C>) -> Option<DieId> {
        if !self.fills_superblocks() {
            return self.dies[die.at()].run.is_some_and(|run| run.is_read).then_some(die);
        }
        let group = on.flash.geometry().die_of_volume(die);
        let from = *self.read[group.at()].front()?;
        let next = self.next_place(from, on);
        let is_here = next.is_none_or(|at| on.flash.geometry().die_of_page(at) == die);
        is_here.then(|| self.read[group.at()].pop_front()).flatten()
    }

    /// Programs what was read for the rewrite of a die. Returns false if it is dropped instead.
    fn go_on<P: Probe, C: FlashContents>(
        &mut self,
        from: DieId,
        is_written: impl Fn(Lpn) -> bool,
        on: &mut Kernel<P, C>,
    ) -> bool {
        let Some(run) = self.dies[from.at()].run else { return false };
        let goes_on = on.ftl.plant.is(Canary::RewriteOverNewer)
            || !is_written(run.wish.page) && self.keep_current(&run, on);
        if goes_on && self.program(from, run, on) {
            return true;
        }
        on.flash.release(run.program);
        self.dies[from.at()].run = None;
        match goes_on {
            true => self.counts.given_up += 1,
            false => self.count_dropped(run.wish.page, is_written(run.wish.page), &on.ftl),
        }
        false
    }

    /// Begins to rewrite the next page of an idle die.
    fn begin<P: Probe, C: FlashContents>(
        &mut self,
        die: DieId,
        is_written: impl Fn(Lpn) -> bool,
        on: &mut Kernel<P, C>,
    ) {
        let mut next = 0;
        while let Some(&wish) = self.dies[die.at()].waiting.get(next) {
            let from = Self::source_of(wish.page, on)
                .filter(|&at| on.flash.geometry().die_of_page(at) == die && !is_written(wish.page));
            if from.is_some_and(|from| {
                !regulation::may_rewrite(on.ftl.geometry.plane_of_page(from), &on.ftl)
            }) {
                // Its plane lacks room, but others may not. It waits until the die is idle again.
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

    /// Where the requested page lies at low cost, if it still does. If that is another die by now,
    /// reads of the page there request a rewrite again.
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

    /// Reads a flash page with all its valid pages.
    fn read<P: Probe, C: FlashContents>(
        &mut self,
        die: DieId,
        wish: RewriteWish,
        from: Ppn,
        on: &mut Kernel<P, C>,
    ) {
        let geometry = &on.ftl.geometry;
        let per_page = geometry.units_per_page();
        let wish = RewriteWish { flash_page: geometry.flash_page_of(from), ..wish };
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
        let sources = &self.sources.row_mut(program)[..units as usize];
        let senses = sources.iter().filter_map(|&raw| Ppn::from_raw(raw));
        let senses = on.flash.senses_of_units::<{ skills::ALL }>(senses);
        let mut read = Command::new(Kind::Read, Origin::Rewrite, owner, from);
        read.units = units;
        read.codewords = units * on.flash.bus().codewords_per_unit();
        read.senses = senses;
        let read = on.flash.prepare(read);
        let erases = on.ftl.blocks.erases(on.ftl.geometry.block_of(first));
        self.dies[die.at()].run = Some(RewriteRun { wish, program, is_read: false, erases });
        on.submit::<{ skills::ALL }>(read);
    }

    /// Whether the place that a rewrite has read still holds the same data: the block may have been
    /// erased and filled with other data since.
    fn is_as_read(&self, run: &RewriteRun, ftl: &Ftl) -> bool {
        let block = ftl.geometry.block_of(self.source(run.program, 0));
        ftl.blocks.erases(block) == run.erases
    }

    /// Drops pages that have left the flash page since it was read. Returns false if the page that
    /// requested the rewrite is among them.
    fn keep_current<P: Probe, C: FlashContents>(
        &mut self,
        run: &RewriteRun,
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

    /// Programs the data that was read. Returns false if there is no room.
    fn program<P: Probe, C: FlashContents>(
        &mut self,
        from: DieId,
        run: RewriteRun,
        on: &mut Kernel<P, C>,
    ) -> bool {
        let plane = on.ftl.geometry.plane_of_page(self.source(run.program, 0));
        let Some(first) = regulation::place_rewrite(plane, &mut on.ftl) else { return false };
        for unit in 0..on.flash.command(run.program).units {
            let (from, to) = (self.source(run.program, unit), Ppn::new(first.get() + unit));
            collection::record_collected::<{ skills::ALL }>(from, to, &mut on.ftl);
            lost::carry::<{ skills::ALL }>(from, to, &mut on.contents, &mut on.ftl);
        }
        on.flash.command_mut(run.program).page = first;
        self.dies[from.at()].run = Some(RewriteRun { is_read: false, ..run });
        on.submit::<{ skills::ALL }>(run.program);
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
            self.dies[die.at()].run = Some(RewriteRun { is_read: true, ..run });
            if self.fills_superblocks() {
                let group = on.flash.geometry().die_of_volume(die);
                self.read[group.at()].push_back(die);
                self.list_next(group, die, on);
            }
            return;
        }
        self.dies[die.at()].run = None;
        let Command { page: first, units, found: CellFindings { failed, .. }, .. } =
            *on.flash.command(id);
        if failing::program_fails::<{ skills::ALL }>(first, failed, &mut on.contents, &mut on.ftl) {
            // Its pages are still at their old places.
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

    /// Cancels waiting rewrites, because the device comes to rest or the measurement begins. Reads
    /// and programs in flight continue.
    pub(crate) fn give_up<P: Probe>(&mut self, flash: &mut Flash<P>) {
        self.read.iter_mut().for_each(VecDeque::clear);
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

/// Whether a die is idle.
fn may_work<P: Probe, C>(die: DieId, on: &Kernel<P, C>) -> bool {
    on.flash.load().of(die) == 0 || on.ftl.plant.is(Canary::RewriteCutsIn)
}

impl Service for Rewriter {
    const ID: ServiceId = ServiceId::REWRITER;
    const WAKES: Signals = Signals::DIE_DONE;
    const NEEDS_TIME: &'static str = "pages are rewritten while dies are idle";

    fn done(
        &mut self,
        token: u32,
        id: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        _: &mut Collector,
    ) -> Signals {
        let kind = on.flash.command(id).kind;
        self.command_done(DieId::new(token), id, on);
        if kind != Kind::Program {
            return Signals::NONE;
        }
        let failed = Signals::FAILED.and(Signals::MAP);
        failed.and(Signals::FILLED).and(Signals::INVALID)
    }
}
