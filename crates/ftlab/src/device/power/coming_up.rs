//! What a device does between power-up and its first command, and how long that takes.
//!
//! The spare areas that recovery looks at are read as flash commands, by all dies at once, each sensed as a page is and
//! moved over the bus as one codeword, in the device's own order of commands. Then pages of the system area are read, and
//! then blocks are erased that have to be, beside a page of the journal that says what never counts. The processor that
//! puts it all together is not modelled.

use std::collections::VecDeque;

use crate::ftl::recovery::{Reading, RecoveryPlan};
use crate::nand::Kind;
use crate::scheduler::{Command, Flash, FlashSetup, Origin, ServiceId};
use crate::shape::Geometry;
use crate::units::{BlockId, DieId, Nanos, Ppn, SimTime};

/// Commands of recovery that wait or run on each plane of a die.
const COMMANDS_PER_PLANE: u32 = 2;

/// Until when a device comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum Moment {
    /// Until it is ready.
    Ready,
    /// For so long, or until it is ready before that.
    After(Nanos),
}

/// How far a device came.
#[derive(Clone, Debug)]
pub(in crate::device) struct SoFar {
    pub time: Nanos,
    /// Blocks whose erase the dies were told.
    pub erases: Vec<BlockId>,
}

/// A device that comes up: a flash that does nothing else, and what is still to be done, in three stages.
pub(in crate::device) struct ComingUp {
    flash: Flash,
    stages: [ByDie; 3],
    now: SimTime,
    /// Blocks whose erase the dies were told.
    erases: Vec<BlockId>,
}

/// Something that a die does for recovery.
#[derive(Clone, Copy, Debug)]
enum RecoveryJob {
    /// Spare areas, one after the other.
    Spares(Reading),
    /// A whole flash page.
    Page(Ppn),
    /// The erase of the block that begins there.
    Erase(Ppn),
    /// A page of the journal is programmed.
    Mark(Ppn),
}

impl RecoveryJob {
    /// The page that it begins with.
    fn page(&self) -> Ppn {
        match *self {
            RecoveryJob::Spares(reading) => reading.first,
            RecoveryJob::Page(page) | RecoveryJob::Erase(page) | RecoveryJob::Mark(page) => page,
        }
    }
}

/// What each die does, in this order.
#[derive(Clone, Debug)]
struct ByDie(Vec<VecDeque<RecoveryJob>>);

impl ByDie {
    fn new(geometry: &Geometry, jobs: impl Iterator<Item = RecoveryJob>) -> ByDie {
        let mut by_die = vec![VecDeque::new(); geometry.dies() as usize];
        for job in jobs {
            by_die[geometry.die_of_page(job.page()).at()].push_back(job);
        }
        ByDie(by_die)
    }
}

impl ComingUp {
    /// A device whose flash is made of `setup`, and that has to do what `plan` says.
    pub(in crate::device) fn new(plan: &RecoveryPlan, setup: FlashSetup) -> ComingUp {
        let geometry = setup.geometry.clone();
        let spares = plan.spares.iter().copied().map(RecoveryJob::Spares);
        // Pages of the system area lie on all dies in turn.
        let system = |number: u32| {
            let die = DieId::new(number % geometry.dies());
            geometry.page_at(geometry.block_in(geometry.plane_in(die, 0), 0), 0)
        };
        let of_map = (0..plan.map_pages).map(|number| RecoveryJob::Page(system(number)));
        let erases =
            plan.erases.iter().map(|&block| RecoveryJob::Erase(geometry.page_at(block, 0)));
        let marks = plan.marks_void.then(|| RecoveryJob::Mark(system(0)));
        let stages = [
            ByDie::new(&geometry, spares),
            ByDie::new(&geometry, of_map),
            ByDie::new(&geometry, marks.into_iter().chain(erases)),
        ];
        let flash = Flash::new(setup, ());
        ComingUp { flash, stages, now: SimTime::ZERO, erases: Vec::new() }
    }

    /// Comes up, to that moment.
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
        SoFar { time: self.now.min(limit) - SimTime::ZERO, erases: self.erases }
    }

    /// Lets every die work off its jobs of a stage, until then at the latest.
    fn run(&mut self, stage: usize, limit: SimTime) {
        let at_once = self.flash.geometry().planes_per_die() * COMMANDS_PER_PLANE;
        for die in (0..self.flash.geometry().dies()).map(DieId::new) {
            for _ in 0..at_once {
                self.begin(stage, die);
            }
        }
        while let Some(next) = self.flash.next_time() {
            self.now = next;
            if next >= limit {
                return;
            }
            let Some((_, first)) = self.flash.step() else { continue };
            let die = self.flash.die_of(first);
            let mut done = Some(first);
            while let Some(id) = done {
                done = self.flash.next_completed(id);
                self.flash.release(id);
                self.begin(stage, die);
            }
            self.flash.go_on(self.now, die);
        }
    }

    /// Hands the die its next command.
    fn begin(&mut self, stage: usize, die: DieId) {
        let jobs = &mut self.stages[stage].0[die.at()];
        let Some(job) = jobs.front_mut() else { return };
        let page = job.page();
        let whole = self.flash.bus().page_codewords();
        let (kind, codewords) = match job {
            RecoveryJob::Spares(_) => (Kind::Read, 1),
            RecoveryJob::Page(_) => (Kind::Read, whole),
            RecoveryJob::Erase(_) => (Kind::Erase, 0),
            RecoveryJob::Mark(_) => (Kind::Program, whole),
        };
        match job {
            RecoveryJob::Spares(reading) if reading.pages > 1 => {
                reading.first = Ppn::new(page.get() + self.flash.geometry().units_per_page());
                reading.pages -= 1;
            }
            _ => drop(jobs.pop_front()),
        }
        if kind == Kind::Erase {
            self.erases.push(self.flash.geometry().block_of(page));
        }
        let mut command = Command::new(kind, Origin::System, ServiceId::JOURNAL.owner(0), page);
        (command.units, command.codewords) = (1, codewords);
        let id = self.flash.prepare(command);
        self.flash.submit(self.now, id);
    }
}
