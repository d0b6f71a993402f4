//! A die: does one thing at a time, and holds what it has sensed until the bus has taken it.

use crate::units::{Nanos, SimTime};

/// What a die is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing.
    #[default]
    Idle,
    /// Sensing a page into its register.
    Sensing,
    /// Sensed; the register waits for the bus.
    Holding,
    /// Moving the register out over the bus.
    Sending,
    /// Taking data in and programming, or erasing.
    Working,
}

/// A die and its account of time.
#[derive(Clone, Debug, Default)]
pub struct Die {
    phase: Phase,
    since: SimTime,
    running_is_gc: bool,
    busy: Nanos,
    gc: Nanos,
}

impl Die {
    /// What it is doing.
    #[inline]
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether it may start something.
    #[inline]
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Starts an operation.
    #[inline]
    pub fn start(&mut self, now: SimTime, phase: Phase, for_gc: bool) {
        assert!(self.is_idle(), "two operations on one die: {self:?} at {now}");
        self.phase = phase;
        self.since = now;
        self.running_is_gc = for_gc;
    }

    /// Goes on with the operation that runs.
    #[inline]
    pub fn proceed(&mut self, phase: Phase) {
        debug_assert!(!self.is_idle());
        self.phase = phase;
    }

    /// Ends the operation that runs.
    #[inline]
    pub fn finish(&mut self, now: SimTime) {
        let span = now - self.since;
        self.busy += span;
        if self.running_is_gc {
            self.gc += span;
        }
        self.phase = Phase::Idle;
    }

    /// Time occupied until `now`.
    #[must_use]
    pub fn busy_until(&self, now: SimTime) -> Nanos {
        if self.is_idle() { self.busy } else { self.busy + (now - self.since) }
    }

    /// Time occupied by collection until `now`.
    #[inline]
    #[must_use]
    pub fn gc_until(&self, now: SimTime) -> Nanos {
        if self.running_is_gc && !self.is_idle() { self.gc + (now - self.since) } else { self.gc }
    }
}
