//! Dies that do one thing after the other, each for as long as its cells take, and nothing beside: no buses, no
//! registers, no order but that of arrival. A device that is written without a clock
//! ([`Untimed`](crate::device::Untimed)) knows by them which die is done first, and so where dynamic placement
//! writes next and how far collection gets between two writes of the host.
//!
//! Why that is enough: a device that is written as fast as it takes keeps its dies busy, and a die that is busy
//! all the time gets on as its cells do. What waits for a bus meanwhile waits behind cells that would not be free
//! either. How long all of it takes is another matter, and nobody is told.

use std::collections::VecDeque;

use super::load::Load;
use crate::shape::Geometry;
use crate::units::{DieId, Nanos, PlaneId};

/// What a copy takes along: valid pages of the block that its plane collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gathered {
    /// The plane.
    pub plane: PlaneId,
    /// The place of the first, in mapping units.
    pub first: u32,
    /// The place before which the last one lies, and at which the next copy may begin.
    pub next: u32,
    /// How many.
    pub units: u32,
}

/// What a die is given to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// The read of what pages of a write-back lack, for the row of programs that this number leads.
    OldCopy(u32),
    /// The program of this number, of a write-back.
    Program(u32),
    /// The reads of what a copy takes along.
    Reads(Gathered),
    /// The program of a copy of this plane's collection.
    Copy(PlaneId),
    /// The erase that ends this plane's collection.
    Erase(PlaneId),
}

/// Something that waits for its die, or is being done.
#[derive(Clone, Copy, Debug)]
struct DieJob {
    work: Work,
    /// How many commands that is, for those who look at how much there is to do.
    commands: u32,
    takes: Nanos,
}

/// A die that has nothing to do is done at no time.
const IDLE: u64 = u64::MAX;

/// The dies.
#[derive(Clone, Debug)]
pub struct Turns {
    /// What waits or is being done, by die: what placement sees.
    load: Load,
    /// By turn of the die.
    jobs: Vec<VecDeque<DieJob>>,
    /// By turn of the die: when it is done with the first of its jobs, in nanoseconds of its cells.
    done_at: Vec<u64>,
    /// What the die that was done last had reached.
    now: u64,
    geometry: Geometry,
}

impl Turns {
    /// Dies with nothing to do.
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

    /// How much each die has to do.
    #[inline]
    #[must_use]
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// Whether nothing is to be done.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.jobs.iter().all(VecDeque::is_empty)
    }

    /// For how long the die of a turn is still busy with what it does.
    pub fn left(&self, turn: u32) -> Option<Nanos> {
        let done_at = self.done_at[turn as usize];
        (done_at != IDLE).then(|| Nanos(done_at - self.now))
    }

    /// What the die of a turn has to do, and for how long each keeps it busy.
    pub fn jobs(&self, turn: u32) -> impl Iterator<Item = (Work, Nanos)> {
        self.jobs[turn as usize].iter().map(|job| (job.work, job.takes))
    }

    /// Gives a die something more to do: so many commands, which keep its cells busy for so long.
    #[inline]
    pub fn push(&mut self, die: DieId, work: Work, commands: u32, takes: Nanos) {
        self.load.add_many(die, commands);
        let turn = self.geometry.turn_of(die) as usize;
        if self.jobs[turn].is_empty() {
            self.done_at[turn] = self.now + takes.0;
        }
        self.jobs[turn].push_back(DieJob { work, commands, takes });
    }

    /// The next thing that is done: that of the die which is done first, among equals of the one whose turn is
    /// first. None if nothing is to be done.
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
