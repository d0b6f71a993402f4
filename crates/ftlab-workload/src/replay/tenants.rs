//! Tenants: several loads at the same time, each at its own pace. A tenant submits its requests in
//! order; one that finds its submission queue full waits, while the others continue.

use std::collections::VecDeque;

use ftlab::host::Host;
use ftlab::units::{Nanos, SimTime};

use super::ahead::Planned;
use super::engine::{Engine, faster, later};
use super::options::{Ended, Pacing, ReplayError, Sink};
use super::source::{Pace, Source, TenantPace};

/// A running tenant.
struct Tenant {
    pace: Pace,
    /// It submits nothing at or after this time.
    end: SimTime,
    /// How many requests it may submit before a completion, if completions set its pace.
    room: u32,
    /// When the requests in their think time become ready.
    thinking: VecDeque<SimTime>,
    /// Whether it may have more requests.
    open: bool,
    /// Whether its next request was counted as held back.
    held: bool,
    /// Whether all of its measured requests were submitted and it has more.
    beyond_measured: bool,
}

impl Tenant {
    fn new(of: TenantPace, pacing: Pacing, started: SimTime) -> Tenant {
        let pace = match pacing {
            Pacing::Closed { depth, think_time } => Pace::Closed { depth, think_time },
            _ => of.pace,
        };
        let room = if let Pace::Closed { depth, .. } = pace { depth } else { 0 };
        let end = later(started, of.time.unwrap_or(Nanos(u64::MAX)));
        let thinking = VecDeque::new();
        Tenant { pace, end, room, thinking, open: true, held: false, beyond_measured: false }
    }

    /// Handles the completion of one of its requests.
    fn finished(&mut self, now: SimTime) {
        match self.pace {
            Pace::Closed { think_time: Nanos::ZERO, .. } => self.room += 1,
            Pace::Closed { think_time, .. } => self.thinking.push_back(later(now, think_time)),
            Pace::Timed | Pace::Together => {}
        }
    }

    fn wake(&mut self, now: SimTime) {
        while self.thinking.front().is_some_and(|&ready| ready <= now) {
            self.thinking.pop_front();
            self.room += 1;
        }
    }
}

/// The tenant whose turn it is, and the time base of tenants.
#[derive(Clone, Copy)]
struct TenantTurn {
    number: usize,
    started: SimTime,
    speed: ftlab::units::Ratio,
    /// The most requests that the device accepts at once.
    most: u64,
}

/// Whether there are tenants with more requests and all of them only keep the device busy.
fn all_beyond_measured(tenants: &[Tenant]) -> bool {
    let mut open = tenants.iter().filter(|tenant| tenant.open).peekable();
    open.peek().is_some() && open.all(|tenant| tenant.beyond_measured)
}

impl<H: Host, S: Source, K: Sink<H>> Engine<'_, H, S, K> {
    /// Plays the tenants of the current phase until none has more requests.
    pub(super) async fn together(&mut self) -> Result<(), ReplayError> {
        let started = self.host.now();
        let pacing = self.options.pacing;
        let (speed, most) = match pacing {
            Pacing::Source { speed, queue_limit } => (speed, u64::from(queue_limit)),
            _ => (ftlab::units::Ratio::ONE, u64::MAX),
        };
        let paces = self.ahead.tenants();
        let mut tenants: Vec<Tenant> =
            paces.into_iter().map(|pace| Tenant::new(pace, pacing, started)).collect();
        loop {
            if self.host.now() >= self.end {
                self.stopped = Some(Ended::Time);
                return Ok(());
            }
            if self.measured_are_done() && all_beyond_measured(&tenants) {
                self.ahead.skip_phase();
                return Ok(());
            }
            let mut next = self.end;
            for (number, tenant) in tenants.iter_mut().enumerate() {
                if tenant.open {
                    let turn = TenantTurn { number, started, speed, most };
                    next = next.min(self.feed(tenant, turn)?);
                }
            }
            if self.stopped.is_some() || tenants.iter().all(|tenant| !tenant.open) {
                return Ok(());
            }
            if !self.step(next).await {
                return Ok(());
            }
            let now = self.host.now();
            for completion in &self.done {
                tenants[self.tags.tenant(completion.request.tag)].finished(now);
            }
            self.take_done();
        }
    }

    /// Submits what a tenant may submit now, and returns when it will continue by itself.
    fn feed(&mut self, tenant: &mut Tenant, turn: TenantTurn) -> Result<SimTime, ReplayError> {
        let now = self.host.now();
        tenant.wake(now);
        if now >= tenant.end {
            tenant.open = false;
        }
        while tenant.open {
            let Some(planned) = self.next_of(turn.number)? else {
                tenant.open = false;
                break;
            };
            tenant.beyond_measured = !planned.measured;
            let due = match tenant.pace {
                Pace::Timed | Pace::Together => {
                    later(turn.started, faster(planned.at - SimTime::ZERO, turn.speed))
                }
                Pace::Closed { .. } if tenant.room > 0 => now,
                Pace::Closed { .. } => {
                    let ready = tenant.thinking.front().copied();
                    return Ok(ready.unwrap_or(tenant.end).min(tenant.end));
                }
            };
            if due > now {
                return Ok(due.min(tenant.end));
            }
            let queue = self.host.queue_of(planned.mapped.request.stream);
            if self.ahead.waits(&planned) {
                return Ok(tenant.end);
            }
            if self.outstanding() >= turn.most || !self.host.has_room(queue) {
                if !std::mem::replace(&mut tenant.held, true) {
                    self.counts.held_back += 1;
                    self.held.count(queue);
                }
                return Ok(tenant.end);
            }
            tenant.held = false;
            tenant.room = tenant.room.saturating_sub(1);
            self.ahead.take_of(turn.number);
            let planned = Planned { index: self.counts.submitted, ..planned };
            let request = self.admit(&planned, due);
            self.tags.set_tenant(request.tag, turn.number);
            self.host.submit(now, request);
        }
        Ok(SimTime::FOREVER)
    }
}
