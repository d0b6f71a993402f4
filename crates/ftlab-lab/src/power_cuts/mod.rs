//! Power cuts during a run (`cut_power`): at each interval of simulated time, whatever is in progress,
//! cuts the power of a copy of the device and records its recovery. The run itself is not affected.

mod report;

use ftlab::config::Config;
use ftlab::device::{Contents, Device, DeviceSetup, power_up};
use ftlab::host::zones::Zones;
use ftlab::host::{Advanced, Completion, Host, QueueId, Request, StreamIdentities};
use ftlab::scheduler::Probe;
use ftlab::units::{Nanos, SimTime};

pub use self::report::{CutReport, PowerCutReport, mean};

use crate::failure::Failure;
use crate::stop::Stop;

/// The most cuts of a run; a longer run needs a longer span.
pub const MOST_CUTS: usize = 10_000;

/// Refuses to cut the power of a device that keeps nothing for recovery.
///
/// # Errors
/// The device keeps nothing for recovery.
pub fn refuse_without_recovery(config: &Config) -> Result<(), Failure> {
    if config.options.ftl.recovery.policy.survives() {
        return Ok(());
    }
    Err(Failure::usage(
        "`cut_power`: this device keeps nothing for recovery (ftl.recovery.policy is \"none\")\n  remedy: `set` \
         ftl.recovery.policy=scan, or checkpoint",
    ))
}

/// A host that a load is played on: a device, or one whose copies lose power.
pub trait Played: Host {
    /// The probe of the device.
    type Probe: Probe;
    /// The bytes that the device carries.
    type Contents: Contents;
    /// Returns the device.
    fn device(&self) -> &Device<Self::Probe, Self::Contents>;
    /// Returns the device.
    fn device_mut(&mut self) -> &mut Device<Self::Probe, Self::Contents>;
    /// Starts or ends a measured part of the run.
    fn measures(&mut self, _measured: bool) {}
}

impl<P: Probe, C: Contents> Played for Device<P, C> {
    type Probe = P;
    type Contents = C;

    fn device(&self) -> &Device<P, C> {
        self
    }

    fn device_mut(&mut self) -> &mut Device<P, C> {
        self
    }
}

/// A device whose copies lose power, at whole multiples of a span after measuring began.
pub struct LosesPower<'a, P, C> {
    device: &'a mut Device<P, C>,
    setup: DeviceSetup,
    every: Nanos,
    /// When measuring began.
    from: Option<SimTime>,
    /// The next cut; none while nothing is measured.
    next: Option<SimTime>,
    limit_reached: bool,
    cuts: Vec<CutReport>,
    stop: Stop,
}

impl<'a, P: Probe + Clone, C: Contents + Clone> LosesPower<'a, P, C> {
    /// Wraps a device created from `setup`, which must keep something for recovery.
    pub fn new(
        device: &'a mut Device<P, C>,
        setup: DeviceSetup,
        every: Nanos,
        stop: Stop,
    ) -> LosesPower<'a, P, C> {
        let (from, next, limit_reached, cuts) = (None, None, false, Vec::new());
        LosesPower { device, setup, every, from, next, limit_reached, cuts, stop }
    }

    /// Returns the report of all cuts.
    pub fn into_report(self) -> PowerCutReport {
        PowerCutReport::new(self.every, self.from, self.limit_reached, self.cuts)
    }

    /// Returns the first multiple of the span after the current time.
    fn next_after(&self, from: SimTime) -> Option<SimTime> {
        let passed = (self.device.now() - from).0 / self.every.0;
        let at = self.every.0.checked_mul(passed + 1)?.checked_add(from.0)?;
        Some(SimTime(at))
    }

    /// Cuts the power of a copy of the device. Skipped once the run was stopped, because it takes a while.
    fn cut(&mut self, at: SimTime) {
        self.next = self.from.and_then(|from| self.next_after(from));
        self.limit_reached |= self.cuts.len() >= MOST_CUTS;
        if self.limit_reached || self.stop.is_set() {
            self.next = None;
            return;
        }
        let remains = self.device.clone().cut_power();
        let lost_pages = remains.lost_pages;
        let setup = self.setup.clone();
        let recovered = power_up(setup, self.device.flash().probe().clone(), remains);
        let (_, recovered) =
            recovered.expect("what a device leaves on flash does not contradict itself");
        self.cuts.push(CutReport::new(at, lost_pages, &recovered));
    }
}

impl<P: Probe + Clone, C: Contents + Clone> Played for LosesPower<'_, P, C> {
    type Probe = P;
    type Contents = C;

    fn device(&self) -> &Device<P, C> {
        self.device
    }

    fn device_mut(&mut self) -> &mut Device<P, C> {
        self.device
    }

    fn measures(&mut self, measured: bool) {
        self.next = None;
        if measured {
            let from = *self.from.get_or_insert(self.device.now());
            self.next = self.next_after(from);
        }
    }
}

impl<P: Probe + Clone, C: Contents + Clone> Host for LosesPower<'_, P, C> {
    fn now(&self) -> SimTime {
        self.device.now()
    }

    fn capacity_sectors(&self) -> u64 {
        self.device.capacity_sectors()
    }

    fn placement_handles(&self) -> u32 {
        self.device.placement_handles()
    }

    fn identify_streams(&mut self, identities: &StreamIdentities) {
        self.device.identify_streams(identities);
    }

    fn zones(&self) -> Option<&Zones> {
        self.device.zones()
    }

    fn queue_of(&self, stream: u32) -> QueueId {
        self.device.queue_of(stream)
    }

    fn has_room(&self, queue: QueueId) -> bool {
        self.device.has_room(queue)
    }

    fn submit(&mut self, at: SimTime, request: Request) {
        self.device.submit(at, request);
    }

    /// Stops at each cut on the way. This does not change the device: a limit matters only at the
    /// very end, when nobody waits for anything.
    fn advance_until(&mut self, limit: SimTime, done: &mut Vec<Completion>) -> Advanced {
        let waits = limit != SimTime::FOREVER || self.device.requests_in_flight() > 0;
        while waits && let Some(at) = self.next.filter(|&at| at <= limit) {
            if self.device.advance_until(at, done) == Advanced::Completed {
                return Advanced::Completed;
            }
            self.cut(at);
        }
        self.device.advance_until(limit, done)
    }

    fn expect(&self, request: &Request) {
        self.device.expect(request);
    }
}
