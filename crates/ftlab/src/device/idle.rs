//! What the device begins when the host has been idle for some time: one timer for all of it.

use crate::units::{Nanos, SimTime};

/// Work for idle times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chore {
    /// Collection in the background.
    Collect,
    /// Folding the SLC cache.
    Fold,
}

impl Chore {
    /// All of them; of those that are due at the same moment, the first goes first.
    const ALL: [Chore; 2] = [Chore::Fold, Chore::Collect];
}

/// For each chore, how long the device must have been without requests, if it is to be done at all, and
/// when that will be.
#[derive(Clone, Debug)]
pub(super) struct Idle {
    after: [Option<Nanos>; Chore::ALL.len()],
    due: [Option<SimTime>; Chore::ALL.len()],
    /// The earliest of these.
    next: Option<SimTime>,
}

impl Idle {
    /// A device that has not been used yet.
    pub fn new(after: impl Fn(Chore) -> Option<Nanos>) -> Idle {
        Idle { after: Chore::ALL.map(after), due: [None; Chore::ALL.len()], next: None }
    }

    /// A request came.
    #[inline]
    pub fn interrupted(&mut self) {
        if self.next.is_some() {
            self.due = [None; Chore::ALL.len()];
            self.next = None;
        }
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
        let at = self.due.iter().position(|due| due.is_some() && *due == self.next)?;
        self.due[at] = None;
        self.find_next();
        Some(Chore::ALL[at])
    }

    fn find_next(&mut self) {
        self.next = self.due.iter().flatten().copied().min();
    }
}
