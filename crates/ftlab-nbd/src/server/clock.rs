//! Who owns time: how far the simulated device may go at a moment on the wall.

use std::time::{Duration, Instant};

use ftlab::units::{Nanos, SimTime};

use crate::control::Clock;

/// With the `simulated` clock, pauses of the clients of at least this length pass on the device, too. Shorter ones are
/// the clients' own time between two requests, which a benchmark of the device should not see.
const PAUSE: Duration = Duration::from_millis(1);

/// The relation between the clock on the wall and that of the device.
#[derive(Debug)]
pub struct Timekeeper {
    clock: Clock,
    /// A moment on both clocks.
    wall: Instant,
    sim: SimTime,
}

impl Timekeeper {
    /// Begins now.
    #[must_use]
    pub fn new(clock: Clock, sim: SimTime) -> Timekeeper {
        Timekeeper { clock, wall: Instant::now(), sim }
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Follows another clock from now on; `sim` is the device's time.
    pub fn set(&mut self, clock: Clock, sim: SimTime) {
        *self = Timekeeper::new(clock, sim);
    }

    /// The device was set to another time, as by a recovery: the clocks meet again now.
    pub fn meet(&mut self, sim: SimTime) {
        (self.wall, self.sim) = (Instant::now(), sim);
    }

    /// How much faster simulated time passes, or none if it does not follow the wall.
    fn factor(&self) -> Option<f64> {
        match self.clock {
            Clock::Wall => Some(1.0),
            Clock::Scaled(factor) => Some(factor),
            Clock::Simulated => None,
        }
    }

    /// How far the device may go by now. None if only requests let its time pass.
    #[must_use]
    pub fn limit(&self, now: Instant) -> Option<SimTime> {
        let factor = self.factor()?;
        let passed = now.saturating_duration_since(self.wall).as_nanos() as f64 * factor;
        Some(self.sim + Nanos(passed as u64))
    }

    /// How long to wait until the device may reach a moment. None if it may at once.
    #[must_use]
    pub fn wait_for(&self, moment: SimTime, now: Instant) -> Option<Duration> {
        let factor = self.factor()?;
        let ahead = moment.saturating_since(self.sim).0 as f64 / factor;
        let due = self.wall + Duration::from_nanos(ahead as u64);
        due.checked_duration_since(now)
    }

    /// How much later than the device an answer leaves now.
    #[must_use]
    pub fn late(&self, finished: SimTime, now: Instant) -> Option<Duration> {
        let factor = self.factor()?;
        let ahead = finished.saturating_since(self.sim).0 as f64 / factor;
        let due = self.wall + Duration::from_nanos(ahead as u64);
        Some(now.saturating_duration_since(due))
    }

    /// With the `simulated` clock: how far the device may go after its clients did nothing for so long.
    #[must_use]
    pub fn after_pause(&self, idle: Duration, now: SimTime) -> Option<SimTime> {
        let passes = self.factor().is_none() && idle >= PAUSE;
        passes.then(|| now + Nanos(idle.as_nanos() as u64))
    }
}
