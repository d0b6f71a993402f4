//! Work that starts after the host has been idle for some time, or at a certain time: one timer for all.

use crate::units::{Nanos, SimTime};

/// Work that the timer starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chore {
    /// Background collection.
    Collect,
    /// Folding the SLC cache.
    Fold,
    /// Continuing after a standstill: at its time, whether or not the host is idle.
    GoOn,
    /// Inspecting all blocks: at its time, whether or not the host is idle.
    Patrol,
}

impl Chore {
    /// The chores that wait for an idle host. Of those due at the same moment, the first runs first.
    const ALL: [Chore; 2] = [Chore::Fold, Chore::Collect];
}

/// For each chore, how long the device must be without requests before the chore starts (none: it
/// never starts), and when it is due.
#[derive(Clone, Debug)]
pub(super) struct Idle {
    after: [Option<Nanos>; Chore::ALL.len()],
    due: [Option<SimTime>; Chore::ALL.len()],
    /// The end of a standstill, if there is one.
    wakes: Option<SimTime>,
    /// The time of the next patrol, if there is one.
    patrols: Option<SimTime>,
    /// The earliest of these times.
    next: Option<SimTime>,
}

impl Idle {
    /// The timer of a device that has not been used yet.
    pub fn new(after: impl Fn(Chore) -> Option<Nanos>) -> Idle {
        Idle {
            after: Chore::ALL.map(after),
            due: [None; Chore::ALL.len()],
            wakes: None,
            patrols: None,
            next: None,
        }
    }

    /// A request arrives.
    #[inline]
    pub fn interrupted(&mut self) {
        if self.next.is_some() {
            self.due = [None; Chore::ALL.len()];
            self.find_next();
        }
    }

    /// The device stalls until `at`.
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

    /// The last request completes.
    #[inline]
    pub fn begins(&mut self, now: SimTime) {
        if self.after.iter().any(Option::is_some) {
            self.due = self.after.map(|after| after.map(|after| now + after));
            self.find_next();
        }
    }

    /// Whether a chore starts when the host is idle.
    pub fn waits_for(&self, chore: Chore) -> bool {
        Chore::ALL.iter().zip(self.after).any(|(&of, after)| of == chore && after.is_some())
    }

    /// The time of the next chore.
    #[inline]
    pub fn next(&self) -> Option<SimTime> {
        self.next
    }

    /// Takes the chore that is due.
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

    /// Chores for an idle host that are due before the end of a standstill run before it.
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
