//! Things that pass one after the other, in the order in which they come, each in a time known beforehand. Small ones may
//! slip in between the pieces of others.

use std::collections::VecDeque;

use crate::units::{Nanos, SimTime};

/// The things that pass, with the times at which they are through.
#[derive(Clone, Debug)]
pub(super) struct Passage<T> {
    passing: VecDeque<(SimTime, T)>,
    free_at: SimTime,
    /// When the last thing is through that did not slip in, and the last one that did.
    sent_at: SimTime,
    slipped_at: SimTime,
    /// The time that all things take that have come.
    taken: Nanos,
}

impl<T> Default for Passage<T> {
    fn default() -> Passage<T> {
        Passage {
            passing: VecDeque::new(),
            free_at: SimTime::ZERO,
            sent_at: SimTime::ZERO,
            slipped_at: SimTime::ZERO,
            taken: Nanos::ZERO,
        }
    }
}

impl<T> Passage<T> {
    /// Lets something pass. Returns the time at which it is through.
    pub fn send(&mut self, now: SimTime, thing: T, takes: Nanos) -> SimTime {
        let at = self.occupy(now, takes);
        self.sent_at = at;
        self.arrives(at, thing);
        at
    }

    /// Something that has got its time is through then.
    pub fn arrives(&mut self, at: SimTime, thing: T) {
        let behind = self.passing.iter().rev().take_while(|&&(other, _)| other > at).count();
        self.passing.insert(self.passing.len() - behind, (at, thing));
    }

    /// Lets something pass for which somebody else waits. Returns the time at which it is through.
    pub fn occupy(&mut self, now: SimTime, takes: Nanos) -> SimTime {
        self.free_at = self.free_at.max(now) + takes;
        self.taken += takes;
        self.free_at
    }

    /// Lets something small pass between the pieces of what passes, each of which takes `piece`: behind the one under way,
    /// and behind others that slipped in. The pieces are counted back from the end of what passes. The times of what has
    /// come before stay; what comes later waits for both. Returns the time at which it is through.
    pub fn slip_in(&mut self, now: SimTime, takes: Nanos, piece: Nanos) -> SimTime {
        let rest = Nanos(self.sent_at.saturating_since(now).0 % piece.0);
        self.occupy(now, takes);
        self.slipped_at = self.slipped_at.max(now + rest) + takes;
        self.slipped_at
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
