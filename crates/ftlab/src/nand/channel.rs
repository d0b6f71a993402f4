//! A channel: a bus that moves one page at a time between the controller and the dies on it.

use crate::units::{Nanos, SimTime};

/// The bus and its account of time.
#[derive(Clone, Debug, Default)]
pub struct Channel {
    free_at: SimTime,
    busy: Nanos,
    /// Time taken by collection, including all of the current transfer.
    gc: Nanos,
    running_is_gc: bool,
}

impl Channel {
    /// Whether a transfer may start at `now`.
    #[inline]
    #[must_use]
    pub fn is_free(&self, now: SimTime) -> bool {
        self.free_at <= now
    }

    /// The end of the current transfer.
    #[inline]
    #[must_use]
    pub fn free_at(&self) -> SimTime {
        self.free_at
    }

    /// Occupies the bus from `now` for `span`. Returns the end of the transfer.
    #[inline]
    pub fn transfer(&mut self, now: SimTime, span: Nanos, for_gc: bool) -> SimTime {
        assert!(self.is_free(now), "two transfers on one bus: {self:?} at {now}");
        self.free_at = now + span;
        self.busy += span;
        self.running_is_gc = for_gc;
        if for_gc {
            self.gc += span;
        }
        self.free_at
    }

    /// Time on the bus until `now`.
    #[must_use]
    pub fn busy_until(&self, now: SimTime) -> Nanos {
        Nanos(self.busy.0 - self.free_at.saturating_since(now).0)
    }

    /// Time on the bus until `now` that collection took.
    #[inline]
    #[must_use]
    pub fn gc_until(&self, now: SimTime) -> Nanos {
        let ahead = if self.running_is_gc { self.free_at.saturating_since(now) } else { Nanos(0) };
        Nanos(self.gc.0 - ahead.0)
    }
}
