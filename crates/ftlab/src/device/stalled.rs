//! Programs for which no free page was to be had, and how long that was so.

use std::collections::VecDeque;

use crate::scheduler::CommandId;
use crate::units::{Nanos, PlaneId, SimTime};

/// A stalled program, and when it first looked for a page.
type Waiting = (SimTime, CommandId);

/// The programs that wait for collection to make pages free, oldest first.
#[derive(Clone, Debug)]
pub struct Stalled {
    /// Those that may go to one plane only, by plane.
    at_home: Vec<VecDeque<Waiting>>,
    /// Those that may go anywhere.
    anywhere: VecDeque<Waiting>,
    waiting: usize,
    /// Time during which at least one program was stalled, as of the last change.
    total: Nanos,
    /// Since when at least one has been.
    since: SimTime,
}

impl Stalled {
    /// Nothing waits, on so many planes.
    pub fn new(planes: u32) -> Stalled {
        Stalled {
            at_home: vec![VecDeque::new(); planes as usize],
            anywhere: VecDeque::new(),
            waiting: 0,
            total: Nanos::ZERO,
            since: SimTime::ZERO,
        }
    }

    fn queue(&mut self, home: Option<PlaneId>) -> &mut VecDeque<Waiting> {
        home.map_or(&mut self.anywhere, |plane| &mut self.at_home[plane.at()])
    }

    /// A program finds nothing free.
    pub fn push(&mut self, now: SimTime, home: Option<PlaneId>, program: CommandId) {
        if self.waiting == 0 {
            self.since = now;
        }
        self.waiting += 1;
        self.queue(home).push_back((now, program));
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Whether a program waits that may go where one of this home may go.
    pub fn has_waiting(&self, home: Option<PlaneId>) -> bool {
        !home.map_or(&self.anywhere, |plane| &self.at_home[plane.at()]).is_empty()
    }

    /// The oldest program that a plane with free pages can serve: those that can go nowhere else
    /// come first.
    pub fn first_for(&self, plane: PlaneId) -> Option<Waiting> {
        self.at_home[plane.at()].front().or(self.anywhere.front()).copied()
    }

    /// The program that [`first_for`](Self::first_for) names waits no more.
    pub fn forget_first_for(&mut self, now: SimTime, plane: PlaneId) {
        let home = (!self.at_home[plane.at()].is_empty()).then_some(plane);
        if self.queue(home).pop_front().is_none() {
            return;
        }
        self.waiting -= 1;
        if self.waiting == 0 {
            self.total += now - self.since;
        }
    }

    /// Time until `now` during which at least one program was stalled. Two readings tell how much of
    /// the span between them a write that waited for room in the buffer owes to collection.
    pub fn time_until(&self, now: SimTime) -> Nanos {
        if self.waiting == 0 { self.total } else { self.total + (now - self.since) }
    }
}
