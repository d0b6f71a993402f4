//! A simplified model of dies that do one thing after the other, each for the time that its cells take, in order
//! of arrival. It has no buses and no registers. A device that is written without a clock
//! ([`Untimed`](crate::device::Untimed)) uses it to find which die is done first, and so where dynamic placement
//! writes next and how far collection gets between two host writes.
//!
//! This is accurate enough: a device that is written at full speed keeps its dies busy, and a busy die advances
//! at the speed of its cells. A command that waits for a bus meanwhile waits behind cells that would not be free
//! either. The total time is not modelled and is reported to nobody.

use std::collections::VecDeque;

use super::load::Load;
use crate::shape::Geometry;
use crate::units::{DieId, Nanos, PlaneId};

/// What a copy takes along: valid pages of the block that its plane collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gathered {
    /// The plane.
    pub plane: PlaneId,
    /// The place of the first page, in mapping units.
    pub first: u32,
    /// The place after the last page, where the next copy may begin.
    pub next: u32,
    /// Number of pages.
    pub units: u32,
}

/// What a die is given to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// The reads of a read-modify-write, for the row of programs that this number leads.
    OldCopy(u32),
    /// A program of a write-back, by number.
    Program(u32),
    /// The reads of a copy.
    Reads(Gathered),
    /// The program of a copy for this plane's collection.
    Copy(PlaneId),
    /// The erase that ends this plane's collection.
    Erase(PlaneId),
}

/// Work that waits for its die or is being done.
#[derive(Clone, Copy, Debug)]
struct DieJob {
    work: Work,
    /// Number of commands that it counts as in the load.
    commands: u32,
    takes: Nanos,
}

/// The finishing time of a die that has nothing to do.
const IDLE: u64 = u64::MAX;

/// The dies.
#[derive(Clone, Debug)]
pub struct Turns {
    /// Commands that wait or run, by die: what placement sees.
    load: Load,
    /// By turn of the die.
    jobs: Vec<VecDeque<DieJob>>,
    /// By turn of the die: when its first job is done, in nanoseconds of cell time.
    done_at: Vec<u64>,
    /// The time at which a die last finished a job.
    now: u64,
    geometry: Geometry,
}

impl Turns {
    /// Returns dies with nothing to do.
    #[must_use]
    pub fn new(geometry: &Geometry) -> Turns {
        let dies = geometry.dies() as usize;
        Turns {
            load: Load::new(geometry),
            jobs: vec![VecDeque::new(); dies],
            done_at: vec![IDLE; dies],
            now: 0,
            geometry: geometry.clone(),
        }
    }

    /// The load of each die.
    #[inline]
    #[must_use]
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// Whether no die has anything to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.jobs.iter().all(VecDeque::is_empty)
    }

    /// Time that the die of a turn still needs for its current job.
    pub fn left(&self, turn: u32) -> Option<Nanos> {
        let done_at = self.done_at[turn as usize];
        (done_at != IDLE).then(|| Nanos(done_at - self.now))
    }

    /// The jobs of the die of a turn, and the time that each takes.
    pub fn jobs(&self, turn: u32) -> impl Iterator<Item = (Work, Nanos)> {
        self.jobs[turn as usize].iter().map(|job| (job.work, job.takes))
    }

    /// Gives a die more work: `commands` commands, which take `takes` in its cells.
    #[inline]
    pub fn push(&mut self, die: DieId, work: Work, commands: u32, takes: Nanos) {
        self.load.add_many(die, commands);
        let turn = self.geometry.turn_of(die) as usize;
        if self.jobs[turn].is_empty() {
            self.done_at[turn] = self.now + takes.0;
        }
        self.jobs[turn].push_back(DieJob { work, commands, takes });
    }

    /// Finishes the next job: that of the die which is done first, or of the first turn in a tie. Returns `None`
    /// if there is none.
    #[inline]
    pub fn next_done(&mut self) -> Option<Work> {
        let (mut turn, mut first) = (0, IDLE);
        for (at, &done_at) in self.done_at.iter().enumerate() {
            if done_at < first {
                (turn, first) = (at, done_at);
            }
        }
        let done = self.jobs[turn].pop_front()?;
        self.now = first;
        self.done_at[turn] = self.jobs[turn].front().map_or(IDLE, |next| first + next.takes.0);
        self.load.remove_many(self.geometry.die_at_turn(turn as u32), done.commands);
        Some(done.work)
    }
}
