//! What a device does between power-up and its first command, and how long this takes.
//!
//! All dies read the spare areas that recovery inspects, as flash commands in the device's own
//! scheduler: each is sensed like a page, and one codeword crosses the bus. Then pages of the
//! system area are read. What is read crosses DRAM, if that takes time. Finally blocks are erased if necessary, and a journal page is programmed
//! that marks invalid data. The processing time of the controller is not modelled.

use std::collections::VecDeque;

use crate::engine::skills;
use crate::ftl::parity::Recomputed;
use crate::ftl::recovery::{Erasing, Reading, RecoveryPlan};
use crate::host::{Crossing, Dram, DramSetup};
use crate::nand::{CellMode, Kind};
use crate::scheduler::{Command, CommandId, Flash, FlashSetup, Further, Origin, ServiceId};
use crate::shape::FlashGeometry;
use crate::units::{BlockId, DieId, Nanos, Ppn, SimTime};

/// The number of recovery commands that wait or run on each plane of a die.
const COMMANDS_PER_PLANE: u32 = 2;

/// The moment at which a power-up ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum Moment {
    /// The device is ready.
    Ready,
    /// This time has passed, or the device is ready before.
    After(Nanos),
}

/// The progress of a power-up.
#[derive(Clone, Debug)]
pub(in crate::device) struct SoFar {
    pub time: Nanos,
    /// Blocks of the volume whose erase, or that of a part, was submitted.
    pub erases: Vec<BlockId>,
}

/// A power-up: a flash of its own, and the remaining jobs in three stages.
pub(in crate::device) struct ComingUp {
    flash: Flash,
    /// The DRAM; none if moving data through it takes no time.
    dram: Option<Dram>,
    stages: [ByDie; 3],
    now: SimTime,
    /// Pages of blocks whose erase was submitted.
    erases: Vec<Ppn>,
}

/// A flash operation of recovery.
#[derive(Clone, Copy, Debug)]
enum RecoveryJob {
    /// Reads spare areas of a block in order, from the one at this page on.
    Spares(Reading, Ppn),
    /// Reads a whole flash page.
    Page(Ppn, CellMode),
    /// Erases the block that begins at this page.
    Erase(Ppn, CellMode),
    /// Programs a page of the journal.
    Mark(Ppn),
}

impl RecoveryJob {
    /// The first page of the job.
    fn page(&self) -> Ppn {
        match *self {
            RecoveryJob::Spares(_, page)
            | RecoveryJob::Page(page, _)
            | RecoveryJob::Erase(page, _)
            | RecoveryJob::Mark(page) => page,
        }
    }
}

/// The jobs of each die, in order.
#[derive(Clone, Debug)]
struct ByDie(Vec<VecDeque<RecoveryJob>>);

impl ByDie {
    fn new(geometry: &FlashGeometry, jobs: impl Iterator<Item = RecoveryJob>) -> ByDie {
        let mut by_die = vec![VecDeque::new(); geometry.dies() as usize];
        for job in jobs {
            by_die[geometry.die_of_page(job.page()).at()].push_back(job);
        }
        ByDie(by_die)
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(VecDeque::is_empty)
    }
}

impl ComingUp {
    /// Prepares the power-up of a device with this flash and DRAM, as `plan` says.
    pub(in crate::device) fn new(
        plan: &RecoveryPlan,
        setup: FlashSetup,
        dram: Option<DramSetup>,
    ) -> ComingUp {
        let geometry = setup.geometry.clone();
        let first = |reading: &Reading| geometry.page_at(reading.block, 0);
        let spares = plan.spares.iter().map(|it| RecoveryJob::Spares(*it, first(it)));
        // The pages of the system area are spread over all dies that answer.
        let all = (0..geometry.dies()).map(DieId::new);
        let alive: Vec<DieId> = all.filter(|die| !plan.dead.contains(die)).collect();
        let system = |number: u32| {
            let die = *alive.get(number as usize % alive.len().max(1))?;
            Some(geometry.page_at(geometry.block_in(geometry.plane_in(die, 0), 0), 0))
        };
        let native = |page| RecoveryJob::Page(page, CellMode::Native);
        let of_map = (0..plan.map_pages).filter_map(system).map(native);
        // Which pages of stripes are there is known from the spare areas.
        let of_stripe = |it: &Recomputed| {
            let mode = it.mode;
            it.pages.clone().into_iter().map(move |page| RecoveryJob::Page(page, mode))
        };
        let of_stripes = plan.stripes.iter().flat_map(of_stripe);
        let erase = |&Erasing { block, mode }: &Erasing| {
            let blocks = geometry.blocks_of_superblock(block);
            let is_erased = |block: &BlockId| {
                let die = geometry.die_of(geometry.plane_of(*block));
                !plan.bad.contains(block) && !plan.dead.contains(&die)
            };
            let blocks = blocks.filter(is_erased);
            let firsts: Vec<Ppn> = blocks.map(|block| geometry.page_at(block, 0)).collect();
            firsts.into_iter().map(move |first| RecoveryJob::Erase(first, mode))
        };
        let erases = plan.erases.iter().flat_map(erase);
        let marks = plan.marks_void.then(|| system(0)).flatten().map(RecoveryJob::Mark);
        let stages = [
            ByDie::new(&geometry, spares),
            ByDie::new(&geometry, of_map.chain(of_stripes)),
            ByDie::new(&geometry, marks.into_iter().chain(erases)),
        ];
        let flash = Flash::new(setup, ());
        let dram = dram.map(Dram::new);
        ComingUp { flash, dram, stages, now: SimTime::ZERO, erases: Vec::new() }
    }

    /// Runs until this moment.
    pub(in crate::device) fn until(mut self, moment: Moment) -> SoFar {
        let limit = match moment {
            Moment::Ready => SimTime::FOREVER,
            Moment::After(time) => SimTime::ZERO + time,
        };
        for stage in 0..self.stages.len() {
            if self.now < limit {
                self.run(stage, limit);
            }
        }
        let geometry = self.flash.geometry();
        let superblock_of = |&page: &Ppn| geometry.superblock_of(geometry.block_of(page)).0;
        let erases = self.erases.iter().map(superblock_of).collect();
        SoFar { time: self.now.min(limit) - SimTime::ZERO, erases }
    }

    /// When the next command ends, or comes further.
    fn next_time(&self) -> Option<SimTime> {
        let times = [self.flash.next_time(), self.dram.as_ref().and_then(Dram::next_time)];
        times.into_iter().flatten().min()
    }

    /// Runs the jobs of a stage, at most until `limit`.
    ///
    /// # Panics
    /// If a job is never done: the time would be wrong.
    fn run(&mut self, stage: usize, limit: SimTime) {
        let at_once = self.flash.geometry().planes_per_die() * COMMANDS_PER_PLANE;
        for die in (0..self.flash.geometry().dies()).map(DieId::new) {
            for _ in 0..at_once {
                self.begin(stage, die);
            }
        }
        while let Some(next) = self.next_time() {
            self.now = next;
            if next >= limit {
                return;
            }
            if let Some(first) = self.step() {
                self.done(stage, first);
            }
        }
        assert!(
            self.stages[stage].is_empty() && self.flash.in_flight() == 0,
            "a job is never done"
        );
    }

    /// Runs the next event. Returns the command that it completes, and those linked to it, if any.
    fn step(&mut self) -> Option<CommandId> {
        if self.flash.next_time() != Some(self.now) {
            return match self.dram.as_mut()?.arrived(self.now)? {
                Crossing::FromFlash(read) => Some(read),
                Crossing::FromHost(_)
                | Crossing::ToHost(_)
                | Crossing::ToFlash(_)
                | Crossing::Computed(_) => None,
            };
        }
        if let Some((_, first)) = self.flash.step() {
            return Some(first);
        }
        let arrived = match self.flash.take_further()? {
            Further::LeftDie(read) => Some(read).filter(|_| !self.flash.decodes()),
            Further::Decoded(read) => Some(read),
        };
        let (read, dram) = arrived.zip(self.dram.as_mut())?;
        let data = dram.codewords(self.flash.command(read).codewords);
        dram.cross(self.now, Crossing::FromFlash(read), data);
        None
    }

    /// Commands are done: their die takes up further jobs.
    fn done(&mut self, stage: usize, first: CommandId) {
        let die = self.flash.die_of(first);
        let mut done = Some(first);
        while let Some(id) = done {
            done = self.flash.next_completed(id);
            self.flash.release(id);
            self.begin(stage, die);
        }
        self.flash.go_on(self.now, die);
    }

    /// Submits the next command of a die.
    fn begin(&mut self, stage: usize, die: DieId) {
        let jobs = &mut self.stages[stage].0[die.at()];
        let Some(job) = jobs.front_mut() else { return };
        let page = job.page();
        let whole = self.flash.bus().page_codewords();
        // The spare area of a word line lies in its first page.
        let senses = match job {
            RecoveryJob::Spares(..) => self.flash.senses_of_units::<{ skills::ALL }>([page]),
            _ => None,
        };
        let (kind, codewords, mode) = match *job {
            RecoveryJob::Spares(Reading { mode, .. }, _) => (Kind::Read, 1, mode),
            RecoveryJob::Page(_, mode) => (Kind::Read, whole, mode),
            RecoveryJob::Erase(_, mode) => (Kind::Erase, 0, mode),
            RecoveryJob::Mark(_) => (Kind::Program, whole, CellMode::Native),
        };
        match job {
            RecoveryJob::Spares(reading, at) if reading.pages > 1 => {
                let geometry = self.flash.geometry();
                let next = geometry.place_of(page).1 + geometry.units_per_page();
                *at = geometry.page_at(reading.block, next);
                reading.pages -= 1;
            }
            _ => drop(jobs.pop_front()),
        }
        if kind == Kind::Erase {
            self.erases.push(page);
        }
        let mut command = Command::new(kind, Origin::System, ServiceId::JOURNAL.owner(0), page);
        (command.units, command.codewords, command.mode) = (1, codewords, mode);
        command.senses = senses;
        let id = self.flash.prepare(command);
        self.flash.submit(self.now, id);
    }
}
