//! What the device begins when the host has been idle for some time: one timer for all of it.

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
            next: None,
        }
    }

    /// A request came.
    #[inline]
    pub fn interrupted(&mut self) {
        if self.next.is_some() {
            self.due = [None; Chore::ALL.len()];
            self.next = self.wakes;
        }
    }

    /// The device stands still until `at`.
    pub fn wake_at(&mut self, at: SimTime) {
        self.wakes = Some(at);
        self.find_next();
    }

    /// The last request is done.
    #[inline]
    pub fn begins(&mut self, now: SimTime) {
        if self.after.iter().any(Option::is_some) {
            self.due = self.after.map(|after| after.map(|after| now + after));
            self.find_next();
        }
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
        let at = self.due.iter().position(|due| due.is_some() && *due == self.next)?;
        self.due[at] = None;
        self.find_next();
        Some(Chore::ALL[at])
    }

    fn find_next(&mut self) {
        self.next = self.due.iter().chain([&self.wakes]).flatten().copied().min();
    }
}
