//! What the device begins when the host has been idle for some time, and what it does at certain times: one timer
//! for all of it.

use crate::units::{Nanos, SimTime};

/// Work for idle times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chore {
    /// Collection in the background.
    Collect,
    /// Folding the SLC cache.
    Fold,
    /// Going on after the device stood still: at its time, whether or not the host is idle.
    GoOn,
    /// A look at all blocks: at its time, whether or not the host is idle.
    Patrol,
}

impl Chore {
    /// Those that wait for idle times; of those that are due at the same moment, the first goes first.
    const ALL: [Chore; 2] = [Chore::Fold, Chore::Collect];
}

/// For each chore, how long the device must have been without requests, if it is to be done at all, and
/// when that will be.
#[derive(Clone, Debug)]
pub(super) struct Idle {
    after: [Option<Nanos>; Chore::ALL.len()],
    due: [Option<SimTime>; Chore::ALL.len()],
    /// When the device goes on, if it stands still.
    wakes: Option<SimTime>,
    /// When it patrols, if it does.
    patrols: Option<SimTime>,
    /// The earliest of these.
    next: Option<SimTime>,
}

impl Idle {
    /// A device that has not been used yet.
    pub fn new(after: impl Fn(Chore) -> Option<Nanos>) -> Idle {
        Idle {
            after: Chore::ALL.map(after),
            due: [None; Chore::ALL.len()],
            wakes: None,
            patrols: None,
            next: None,
        }
    }

    /// A request came.
    #[inline]
    pub fn interrupted(&mut self) {
        if self.next.is_some() {
            self.due = [None; Chore::ALL.len()];
            self.find_next();
        }
    }

    /// The device stands still until `at`.
    pub fn wake_at(&mut self, at: SimTime) {
        self.wakes = Some(at);
        self.find_next();
    }

    /// The next patrol is at `at`.
    pub fn patrol_at(&mut self, at: SimTime) {
        self.patrols = Some(at);
        self.find_next();
    }

    /// When the next patrol is, if there are any.
    #[inline]
    pub fn patrol(&self) -> Option<SimTime> {
        self.patrols
    }

    /// Whether nothing is due but patrols.
    pub fn only_patrols(&self) -> bool {
        self.due.iter().chain([&self.wakes]).all(Option::is_none)
    }

    /// The last request is done.
    #[inline]
    pub fn begins(&mut self, now: SimTime) {
        if self.after.iter().any(Option::is_some) {
            self.due = self.after.map(|after| after.map(|after| now + after));
            self.find_next();
        }
    }

    /// Whether an idle host lets a chore begin.
    pub fn waits_for(&self, chore: Chore) -> bool {
        Chore::ALL.iter().zip(self.after).any(|(&of, after)| of == chore && after.is_some())
    }

    /// When the next chore is due.
    #[inline]
    pub fn next(&self) -> Option<SimTime> {
        self.next
    }

    /// The chore that is due, once.
    pub fn take(&mut self) -> Option<Chore> {
        if self.wakes.is_some() && self.wakes == self.next {
            self.wakes = None;
            self.find_next();
            return Some(Chore::GoOn);
        }
        if let Some(at) = self.due.iter().position(|due| due.is_some() && *due == self.next) {
            self.due[at] = None;
            self.find_next();
            return Some(Chore::ALL[at]);
        }
        self.patrols.take_if(|at| Some(*at) == self.next).map(|_| {
            self.find_next();
            Chore::Patrol
        })
    }

    fn find_next(&mut self) {
        let all = self.due.iter().chain([&self.wakes, &self.patrols]);
        self.next = all.flatten().copied().min();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What waits for an idle host is due before a device that stands still goes on, and is done then.
    #[test]
    fn chores_are_taken_at_their_times() {
        let mut idle = Idle::new(|chore| (chore == Chore::Collect).then_some(Nanos(10)));
        idle.begins(SimTime(0));
        idle.wake_at(SimTime(20));
        idle.patrol_at(SimTime(30));
        for (at, chore) in [(10, Chore::Collect), (20, Chore::GoOn), (30, Chore::Patrol)] {
            assert_eq!(idle.next(), Some(SimTime(at)));
            assert_eq!(idle.take(), Some(chore));
        }
        assert_eq!((idle.next(), idle.take()), (None, None));
    }
}
