//! The merger carries out the jobs of planes, copy by copy, and reports when a plane takes writes
//! again.
//!
//! A plane works through its job in order. Each merge reads and programs page after page,
//! `copies_in_flight` of them at a time. Then the previous block of the data block is erased. After
//! all merges, the pages left in the victim move to another log block, and the victim is erased. A
//! plane begins only when no host write is under way on it, and takes none until it is done. So the
//! state that a merge looks at changes meanwhile only by trims.

use std::collections::VecDeque;

use crate::engine::{Latencies, skills};
use crate::ftl::gc::Collector;
use crate::ftl::mapping::hybrid::{DataBlock, Room};
use crate::ftl::merge::fold::{Fold, PageCopy};
use crate::ftl::merge::{
    Clocks, MergeCounts, MergeJob, Planner, PlannerPolicy, Reclaims, at_once, fold,
};
use crate::ftl::service::{Service, Signals};
use crate::ftl::{FlashContents, Kernel, gc, lost};
use crate::scheduler::{
    CellWork, Command, CommandId, Flash, Kind, Note, Origin, Probe, ServiceId, TimeAtOnce,
};
use crate::units::{BlockId, DieId, Lpn, Nanos, PlaneId, SimTime};

/// The setup of a merger.
#[derive(Clone, Debug)]
pub struct MergerSetup {
    /// Decides the jobs of the other planes.
    pub planner: Planner,
    /// Maximum number of merges in a job.
    pub throttle: Option<u32>,
    /// Whether planes have independent clocks.
    pub clocks: Clocks,
    /// Number of planes of the device.
    pub planes: u32,
    /// Maximum number of concurrent copies on a plane.
    pub copies_in_flight: u32,
    /// Whether pages are copied within their plane.
    pub copyback: bool,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeStep {
    /// The plane continues to work.
    Goes,
    /// The plane is done and takes writes again.
    Done,
}

/// A job in progress.
#[derive(Clone, Debug)]
struct Running {
    merges: VecDeque<DataBlock>,
    fold: Option<Fold>,
    victim: Option<BlockId>,
    /// The next offset in the victim to look at.
    next_move: u32,
    erases_empty: bool,
    /// Blocks that have to be erased before anything else.
    spent: Vec<BlockId>,
    in_flight: u32,
    /// Programs of copies that are not issued yet, in page order.
    programs: VecDeque<CopyProgram>,
    erasing: bool,
    /// Whether the job began for lack of room.
    triggered: bool,
}

/// The program of a copy.
#[derive(Clone, Copy, Debug)]
struct CopyProgram {
    id: CommandId,
    /// Whether the source page was read.
    is_read: bool,
}

impl Running {
    /// Records the read of a page. Returns the programs that can be issued now. Planes that sense
    /// together may reorder reads, but the pages of a block are programmed in order.
    fn read(&mut self, program: CommandId) -> impl Iterator<Item = CommandId> + '_ {
        let found = self.programs.iter_mut().find(|waiting| waiting.id == program);
        found.expect("a copy under way").is_read = true;
        std::iter::from_fn(move || {
            self.programs.front().filter(|next| next.is_read)?;
            Some(self.programs.pop_front()?.id)
        })
    }
}

/// The job that a plane waits to begin.
#[derive(Clone, Debug)]
enum WantedJob {
    /// To make room for a page.
    Room(Lpn),
    /// To work along with another plane, which has this job.
    Along(MergeJob),
}

/// The work of a plane.
#[derive(Clone, Debug, Default)]
struct PlaneWork {
    /// Host programs under way.
    programs: u32,
    running: Option<Running>,
    wanted: Option<WantedJob>,
    /// Since when the plane has taken no writes for lack of room.
    stalled_since: Option<SimTime>,
}

/// Carries out merges.
#[derive(Clone, Debug)]
pub struct Merger {
    setup: MergerSetup,
    planes: Vec<PlaneWork>,
    /// Number of jobs under way or waiting.
    busy: u32,
    counts: MergeCounts,
    reclaims: Reclaims,
    /// How long planes (in lock-step: the device) took no writes for lack of room.
    stalls: Latencies,
    /// By die.
    owed: Vec<Owed>,
    /// The jobs of other planes. Used only while jobs are created.
    along: Vec<(PlaneId, MergeJob)>,
}

impl Merger {
    /// Creates an idle merger for `dies` dies.
    #[must_use]
    pub fn new(setup: MergerSetup, dies: u32) -> Merger {
        Merger {
            planes: vec![PlaneWork::default(); setup.planes as usize],
            setup,
            busy: 0,
            counts: MergeCounts::default(),
            reclaims: Reclaims::default(),
            stalls: Latencies::default(),
            owed: vec![Owed::default(); dies as usize],
            along: Vec::new(),
        }
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn counts(&self) -> &MergeCounts {
        &self.counts
    }

    /// Returns the number of merges of each reclaim.
    #[must_use]
    pub fn reclaims(&self) -> &Reclaims {
        &self.reclaims
    }

    /// Returns how long planes (in lock-step: the device) took no writes for lack of room.
    #[must_use]
    pub fn stalls(&self) -> &Latencies {
        &self.stalls
    }

    /// Restarts the records of individual reclaims and stalls.
    pub fn count_anew(&mut self) {
        self.reclaims = Reclaims::default();
        self.stalls = Latencies::default();
    }

    /// Whether all planes work in lock-step.
    #[inline]
    #[must_use]
    pub fn in_lock_step(&self) -> bool {
        self.setup.clocks == Clocks::LockStep
    }

    /// Whether any plane has a job.
    #[inline]
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.busy > 0
    }

    /// Whether a plane takes writes.
    #[inline]
    #[must_use]
    pub fn takes_writes(&self, plane: PlaneId) -> bool {
        let work = &self.planes[plane.at()];
        work.running.is_none() && work.wanted.is_none()
    }

    /// Records that a host program is placed on a plane.
    #[inline]
    pub fn program_begins(&mut self, plane: PlaneId) {
        self.planes[plane.at()].programs += 1;
    }

    /// Records that a host program is done. Returns whether the plane may begin its job now.
    #[inline]
    #[must_use]
    pub fn program_ends(&mut self, plane: PlaneId) -> bool {
        let work = &mut self.planes[plane.at()];
        work.programs -= 1;
        work.programs == 0 && work.wanted.is_some()
    }

    /// Records that a plane has no room for a page, so it has to empty a log block as soon as it
    /// can. Returns whether it can begin now.
    #[must_use]
    pub fn want_room(&mut self, now: SimTime, plane: PlaneId, page: Lpn) -> bool {
        let work = &mut self.planes[plane.at()];
        work.stalled_since.get_or_insert(now);
        if work.running.is_some() || work.wanted.is_some() {
            return false;
        }
        work.wanted = Some(WantedJob::Room(page));
        self.busy += 1;
        work.programs == 0
    }

    /// Begins the job that a plane waited for. Returns whether the job is done already.
    pub fn begin<P: Probe, C: FlashContents>(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<P, C>,
    ) -> MergeStep {
        let (job, triggered) = match self.planes[plane.at()].wanted.take() {
            None => return MergeStep::Goes,
            Some(WantedJob::Room(page)) => match self.job_for(page, on) {
                Some(job) => (job, true),
                // There is room after all, because of a trim.
                None => return self.ended(plane, on.now),
            },
            Some(WantedJob::Along(triggered)) => {
                let view = fold::log_view(&on.ftl).expect("a mapping with a log");
                (self.setup.planner.along(&view, &triggered, plane), false)
            }
        };
        if triggered {
            self.count(&job, on);
            self.spread(plane, &job, on);
        }
        self.run(plane, job, triggered, on)
    }

    /// Returns the job that makes room for a page, or `None` if there is room.
    fn job_for<P, C>(&self, page: Lpn, on: &Kernel<P, C>) -> Option<MergeJob> {
        let Room::After(victim) = fold::room_in_log(page, &on.ftl) else { return None };
        Some(MergeJob::to_empty(&fold::log_view(&on.ftl)?, victim, self.setup.throttle))
    }

    fn count<P, C>(&mut self, job: &MergeJob, on: &mut Kernel<P, C>) {
        let merges = job.merges.len() as u32;
        self.counts.reclaims += 1;
        self.reclaims.record(merges);
        if let Some(victim) = job.victim {
            fold::count_reclaim(victim, &mut on.ftl);
        }
    }

    /// Gives the other planes jobs along with a job. Planes without a job begin as soon as they
    /// can.
    fn spread<P: Probe, C: FlashContents>(
        &mut self,
        plane: PlaneId,
        job: &MergeJob,
        on: &mut Kernel<P, C>,
    ) {
        for other in (0..self.setup.planes).map(PlaneId::new) {
            let work = &mut self.planes[other.at()];
            if other == plane || work.running.is_some() || work.wanted.is_some() {
                continue;
            }
            let view = fold::log_view(&on.ftl).expect("a mapping with a log");
            let along = self.setup.planner.along(&view, job, other);
            let erases = along.erases_empty && view.empty_log(other).is_some();
            if along.merges.is_empty() && !erases {
                continue;
            }
            work.wanted = Some(WantedJob::Along(job.clone()));
            self.busy += 1;
            if work.programs == 0 {
                // The plane had no stall, so no writes wait for it if it is done at once.
                let _ = self.begin(other, on);
            }
        }
    }

    fn run<P: Probe, C: FlashContents>(
        &mut self,
        plane: PlaneId,
        job: MergeJob,
        triggered: bool,
        on: &mut Kernel<P, C>,
    ) -> MergeStep {
        on.flash.probe_mut().note(on.now, begins(plane, &job));
        self.planes[plane.at()].running = Some(Running {
            merges: job.merges.into(),
            fold: None,
            victim: job.victim,
            next_move: 0,
            erases_empty: job.erases_empty,
            spent: Vec::new(),
            in_flight: 0,
            programs: VecDeque::new(),
            erasing: false,
            triggered,
        });
        self.proceed(plane, on)
    }

    /// Handles a finished command of a plane's job.
    fn command_done<P: Probe, C: FlashContents>(
        &mut self,
        plane: PlaneId,
        id: CommandId,
        on: &mut Kernel<P, C>,
    ) -> MergeStep {
        let Command { kind, page, source, then, .. } = *on.flash.command(id);
        let run = self.planes[plane.at()].running.as_mut().expect("a command of a job");
        match (kind, source) {
            (Kind::Read, _) => {
                for program in run.read(then.expect("the read of a copy has a program")) {
                    let Command { page: to, source, .. } = *on.flash.command(program);
                    lost::carry::<{ skills::ALL }>(
                        source.expect("a copy has a source"),
                        to,
                        &mut on.contents,
                        &mut on.ftl,
                    );
                    on.flash.submit(on.now, program);
                }
                return MergeStep::Goes;
            }
            (Kind::Erase, _) => {
                run.erasing = false;
                lost::clear(page, on.ftl.geometry.units_per_block(), &mut on.contents, &mut on.ftl);
                fold::erased_in_log(on.ftl.geometry.block_of(page), &mut on.ftl);
            }
            (_, Some(from)) => {
                run.in_flight -= 1;
                match run.fold {
                    Some(_) => fold::copied(page, &mut on.ftl),
                    None => fold::moved(PageCopy { from, to: page }, &mut on.ftl),
                }
            }
            (_, None) => unreachable!("a copy without a source"),
        }
        self.proceed(plane, on)
    }

    /// Does everything that can be done now.
    fn proceed<P: Probe, C: FlashContents>(
        &mut self,
        plane: PlaneId,
        on: &mut Kernel<P, C>,
    ) -> MergeStep {
        loop {
            let run = self.planes[plane.at()].running.as_mut().expect("a job under way");
            if run.erasing {
                return MergeStep::Goes;
            }
            if let Some(fold) = &mut run.fold {
                while run.in_flight < self.setup.copies_in_flight
                    && let Some(copy) = fold::next_copy(fold, &mut on.ftl)
                {
                    run.in_flight += 1;
                    run.programs.extend(begin_copy(copy, plane, self.setup.copyback, on));
                }
                if run.in_flight > 0 {
                    return MergeStep::Goes;
                }
                let fold = *fold;
                run.fold = None;
                run.spent.extend(fold::end_fold(&fold, &mut self.counts, &mut on.ftl));
                self.counts.along += u64::from(!run.triggered);
                if run.triggered {
                    fold::take_spent_logs(fold.data, &mut run.spent, &mut on.ftl);
                }
            } else if let Some(block) = run.spent.pop() {
                run.erasing = true;
                begin_erase(block, plane, on);
            } else if let Some(data) = run.merges.pop_front() {
                run.fold = fold::begin_fold(data, &mut on.ftl);
            } else if let Some(victim) = run.victim.filter(|&victim| fold::is_log(victim, &on.ftl))
            {
                while run.in_flight < self.setup.copies_in_flight
                    && let Some(copy) = fold::next_move(victim, run.next_move, &mut on.ftl)
                {
                    run.next_move = on.ftl.geometry.place_of(copy.from).1 + 1;
                    run.in_flight += 1;
                    self.counts.moved += 1;
                    run.programs.extend(begin_copy(copy, plane, self.setup.copyback, on));
                }
                if run.in_flight > 0 {
                    return MergeStep::Goes;
                }
                run.victim = None;
                fold::close_log(victim, &mut on.ftl);
                run.spent.push(victim);
            } else if std::mem::take(&mut run.erases_empty) {
                let empty = fold::log_view(&on.ftl).and_then(|view| view.empty_log(plane));
                if let Some(empty) = empty {
                    fold::close_log(empty, &mut on.ftl);
                    run.spent.push(empty);
                    self.counts.erased_along += 1;
                }
            } else {
                self.planes[plane.at()].running = None;
                on.flash.probe_mut().note(on.now, Note::Merged { plane });
                return self.ended(plane, on.now);
            }
        }
    }

    fn ended(&mut self, plane: PlaneId, now: SimTime) -> MergeStep {
        self.busy -= 1;
        if let Some(since) = self.planes[plane.at()].stalled_since.take() {
            self.stalls.record(now - since);
        }
        MergeStep::Done
    }

    /// Carries out at once the job that makes room for a page, and the jobs of the other planes
    /// along with it. Returns how long the device stops for it.
    pub fn at_once<P: Probe, C: FlashContents>(
        &mut self,
        page: Lpn,
        on: &mut Kernel<P, C>,
    ) -> Nanos {
        let Some(job) = self.job_for(page, on) else { return Nanos::ZERO };
        let plane = fold::log_plane_of(page, &on.ftl);
        self.count(&job, on);
        // All planes decide by the log as it was before.
        let mut along = std::mem::take(&mut self.along);
        for other in (0..self.setup.planes).map(PlaneId::new).filter(|&other| other != plane) {
            let view = fold::log_view(&on.ftl).expect("a mapping with a log");
            along.push((other, self.setup.planner.along(&view, &job, other)));
        }
        self.carry_out(plane, &job, true, on);
        along.drain(..).for_each(|(other, job)| self.carry_out(other, &job, false, on));
        self.along = along;
        let longest = self.owed.iter().map(|owed| owed.time.whole()).max().unwrap_or_default();
        self.stalls.record(longest);
        longest
    }

    fn carry_out<P: Probe, C: FlashContents>(
        &mut self,
        plane: PlaneId,
        job: &MergeJob,
        triggered: bool,
        on: &mut Kernel<P, C>,
    ) {
        let Kernel { now, ftl, flash, contents, .. } = on;
        let before = self.counts.merges();
        let work = at_once::carry_out(ftl, contents, (plane, job), &mut self.counts);
        let (read, program) = flash.sheet().price_of_page();
        let copies = u64::from(work.copies);
        let (sensing, programming) = (Nanos(read.0 * copies), Nanos(program.0 * copies));
        let erasing = flash.sheet().price_of_erases(work.erases);
        self.counts.along += if triggered { 0 } else { self.counts.merges() - before };
        let owed = &mut self.owed[ftl.geometry.die_of(plane).at()];
        flash.probe_mut().note(*now + owed.time.whole(), begins(plane, job));
        owed.time.sensing += sensing;
        owed.time.programming += programming;
        owed.time.erasing += erasing;
        owed.work = owed.work.and(work);
        flash.probe_mut().note(*now + owed.time.whole(), Note::Merged { plane });
    }

    /// Charges the dies for the work done at once, after its time has passed.
    pub fn settle<P: Probe>(&mut self, flash: &mut Flash<P>) {
        for (die, owed) in (0..).map(DieId::new).zip(&mut self.owed) {
            let Owed { work, time } = std::mem::take(owed);
            flash.account_at_once(die, &work, self.setup.copyback, &time);
        }
    }
}

/// What observers are told when a job begins.
fn begins(plane: PlaneId, job: &MergeJob) -> Note {
    let merges = job.merges.len() as u32;
    Note::Merges { plane, victim: job.victim, merges, copies: job.cost.copies }
}

/// Work that a die did at once, and whose time it has not been charged yet.
#[derive(Clone, Copy, Debug, Default)]
struct Owed {
    work: CellWork,
    time: TimeAtOnce,
}

/// Reads a page and programs it elsewhere on its plane. Returns the program if it has to wait for
/// the read.
fn begin_copy<P: Probe, C: FlashContents>(
    copy: PageCopy,
    plane: PlaneId,
    copyback: bool,
    on: &mut Kernel<P, C>,
) -> Option<CopyProgram> {
    let PageCopy { from, to } = copy;
    let owner = ServiceId::MERGER.owner(plane.get());
    let kind = if copyback { Kind::Copyback } else { Kind::Program };
    let mut program = Command::new(kind, Origin::Gc, owner, to);
    program.source = Some(from);
    program.units = 1;
    let cost = gc::cost::copy_cost(from, &on.flash, &on.ftl);
    if copyback {
        lost::carry::<{ skills::ALL }>(from, to, &mut on.contents, &mut on.ftl);
        let id = on.flash.prepare(program);
        cost.into_iter().for_each(|cost| cost.tell(id, &mut on.flash));
        on.flash.submit(on.now, id);
        return None;
    }
    program.codewords = on.flash.bus().page_codewords();
    let program = on.flash.prepare(program);
    cost.into_iter().for_each(|cost| cost.tell(program, &mut on.flash));
    let mut read = Command::new(Kind::Read, Origin::Gc, owner, from);
    read.units = 1;
    read.codewords = on.flash.bus().page_codewords();
    read.then = Some(program);
    let read = on.flash.prepare(read);
    on.flash.submit(on.now, read);
    Some(CopyProgram { id: program, is_read: false })
}

fn begin_erase<P: Probe, C: FlashContents>(block: BlockId, plane: PlaneId, on: &mut Kernel<P, C>) {
    let page = on.ftl.geometry.page_at(block, 0);
    let erase = Command::new(Kind::Erase, Origin::Gc, ServiceId::MERGER.owner(plane.get()), page);
    let id = on.flash.prepare(erase);
    on.flash.submit(on.now, id);
}

impl Service for Merger {
    const ID: ServiceId = ServiceId::MERGER;
    const WAKES: Signals = Signals::QUIET;
    const NEEDS_TIME: &'static str = "log blocks are merged while other planes work";

    fn done(
        &mut self,
        token: u32,
        id: CommandId,
        on: &mut Kernel<impl Probe, impl FlashContents>,
        _: &mut Collector,
    ) -> Signals {
        match self.command_done(PlaneId::new(token), id, on) {
            MergeStep::Done => Signals::MERGED,
            MergeStep::Goes => Signals::NONE,
        }
    }
}
