//! Things that pass one after the other, in the order in which they come, each in a time known beforehand.

use std::collections::VecDeque;

use crate::units::{Nanos, SimTime};

/// The things that pass, with the times at which they are through.
#[derive(Clone, Debug)]
pub(super) struct Passage<T> {
    passing: VecDeque<(SimTime, T)>,
    free_at: SimTime,
    /// The time that all things take that have come.
    taken: Nanos,
}

impl<T> Default for Passage<T> {
    fn default() -> Passage<T> {
        Passage { passing: VecDeque::new(), free_at: SimTime::ZERO, taken: Nanos::ZERO }
    }
}

impl<T> Passage<T> {
    /// Lets something pass. Returns the time at which it is through.
    pub fn send(&mut self, now: SimTime, thing: T, takes: Nanos) -> SimTime {
        let at = self.occupy(now, takes);
        self.passing.push_back((at, thing));
        at
    }

    /// Lets something pass for which somebody else waits. Returns the time at which it is through.
    pub fn occupy(&mut self, now: SimTime, takes: Nanos) -> SimTime {
        self.free_at = self.free_at.max(now) + takes;
        self.taken += takes;
        self.free_at
    }

    /// Lets nothing else begin before this time.
    pub fn hold_until(&mut self, at: SimTime) {
        self.free_at = self.free_at.max(at);
    }

    /// The time that all things take that have come.
    pub fn taken(&self) -> Nanos {
        self.taken
    }

    /// How long from now on something passes. Until then there is no gap, since nothing comes later than now.
    pub fn ahead(&self, now: SimTime) -> Nanos {
        self.free_at.saturating_since(now)
    }

    /// How long something has been passing until now.
    pub fn busy_until(&self, now: SimTime) -> Nanos {
        Nanos(self.taken.0 - self.ahead(now).0)
    }

    /// When the first thing is through.
    pub fn next_time(&self) -> Option<SimTime> {
        self.passing.front().map(|&(at, _)| at)
    }

    /// Takes the first thing out if it is through now.
    pub fn arrived(&mut self, now: SimTime) -> Option<T> {
        self.next_time().filter(|&at| at == now)?;
        self.passing.pop_front().map(|(_, thing)| thing)
    }
}

/// The earlier of two times, of which there may be none.
#[inline]
pub(super) fn earlier(one: Option<SimTime>, other: Option<SimTime>) -> Option<SimTime> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        _ => one.or(other),
    }
}
