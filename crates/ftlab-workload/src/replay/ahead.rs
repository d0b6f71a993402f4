//! Pulls the next few requests of a source, maps them and announces them to the device before their
//! turn.

use std::collections::VecDeque;

use ftlab::host::{Host, Op};
use ftlab::units::SimTime;

use super::mapping::{Mapped, Mapper};
use super::options::ReplayError;
use super::source::{Next, PhaseStart, Source, TenantPace};

/// How many requests are announced: enough to hide the latency of table look-ups, few enough that
/// the fetched data is still in the cache when it is needed.
const AHEAD: usize = 24;

/// A request that was pulled but not yet taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub at: SimTime,
    pub index: u64,
    pub mapped: Mapped,
    /// Whether results count it.
    pub measured: bool,
    /// Whether it is submitted only when no trim is under way.
    pub awaits_trims: bool,
}

/// The pulled requests of one tenant.
#[derive(Debug)]
struct Pulled {
    queue: VecDeque<Planned>,
    /// How many of the requests to come are measured.
    to_measure: u64,
}

/// What follows the pulled requests.
#[derive(Debug)]
enum Beyond {
    /// Unknown: more can be pulled.
    More,
    Phase(PhaseStart),
    End,
    Failed(ReplayError),
}

pub(super) struct Ahead<'a, S> {
    source: &'a mut S,
    mapper: Mapper,
    queue: VecDeque<Planned>,
    /// The same for each tenant of a phase with several.
    tenants: Vec<Pulled>,
    beyond: Beyond,
    pulled: u64,
    /// The trims that were taken and have not completed.
    trims: u64,
    /// Whether the current phase is measured, and the index below which its requests are.
    measure: bool,
    measured_below: u64,
    /// Whether it continues after the measured requests.
    keeps_on: bool,
    pub empty: u64,
}

impl<'a, S: Source> Ahead<'a, S> {
    pub fn new(source: &'a mut S, mapper: Mapper) -> Ahead<'a, S> {
        let queue = VecDeque::with_capacity(AHEAD);
        Ahead {
            source,
            mapper,
            queue,
            tenants: Vec::new(),
            beyond: Beyond::More,
            pulled: 0,
            trims: 0,
            measure: true,
            measured_below: u64::MAX,
            keeps_on: false,
            empty: 0,
        }
    }

    pub fn total(&self) -> Option<u64> {
        self.source.total()
    }

    /// Returns the next request of the current phase, without taking it.
    #[inline]
    pub fn peek<H: Host>(&mut self, host: &H) -> Result<Option<&Planned>, ReplayError> {
        while self.queue.len() < AHEAD && matches!(self.beyond, Beyond::More) {
            self.pull(host);
        }
        if self.queue.is_empty() && matches!(self.beyond, Beyond::Failed(_)) {
            let failed = std::mem::replace(&mut self.beyond, Beyond::End);
            return match failed {
                Beyond::Failed(error) => Err(error),
                _ => Ok(None),
            };
        }
        Ok(self.queue.front())
    }

    /// Takes the request that [`peek`](Self::peek) returned.
    #[inline]
    pub fn take(&mut self) {
        let taken = self.queue.pop_front();
        self.trims += u64::from(taken.is_some_and(|taken| taken.mapped.request.op == Op::Trim));
    }

    /// Whether a request has to wait for trims.
    #[inline]
    pub fn waits(&self, planned: &Planned) -> bool {
        planned.awaits_trims && self.trims > 0
    }

    /// Hears of the completion of a request.
    #[inline]
    pub fn completed(&mut self, op: Op) {
        self.trims -= u64::from(op == Op::Trim);
    }

    /// Starts the tenants of the current phase and returns their paces.
    pub fn tenants(&mut self) -> Vec<TenantPace> {
        let paces = self.source.tenants();
        let measure = self.measure;
        let pulled = |pace: &TenantPace| Pulled {
            queue: VecDeque::with_capacity(AHEAD),
            to_measure: if measure { pace.measure_first.unwrap_or(u64::MAX) } else { 0 },
        };
        self.tenants = paces.iter().map(pulled).collect();
        self.keeps_on = measure && paces.iter().any(|pace| pace.measure_first.is_some());
        paces
    }

    /// Returns the next request of a tenant, without taking it. Its index is not set yet.
    #[inline]
    pub fn peek_of<H: Host>(
        &mut self,
        tenant: usize,
        host: &H,
    ) -> Result<Option<&Planned>, ReplayError> {
        while self.tenants[tenant].queue.is_empty() {
            let mut arrivals = 0;
            while arrivals < AHEAD
                && let Some(arrival) = self.source.next_of(tenant)?
            {
                arrivals += 1;
                if arrival.sectors == 0 && arrival.op != Op::Flush {
                    self.empty += 1;
                    continue;
                }
                let mapped = self.mapper.map(self.pulled, &arrival)?;
                self.pulled += 1;
                host.expect(&mapped.request);
                let Pulled { queue, to_measure } = &mut self.tenants[tenant];
                let measured = *to_measure > 0;
                *to_measure -= u64::from(measured);
                let awaits_trims = self.source.awaits_trims(tenant);
                queue.push_back(Planned {
                    at: arrival.at,
                    index: 0,
                    mapped,
                    measured,
                    awaits_trims,
                });
            }
            if arrivals == 0 {
                break;
            }
        }
        Ok(self.tenants[tenant].queue.front())
    }

    /// Takes the request that [`peek_of`](Self::peek_of) returned.
    #[inline]
    pub fn take_of(&mut self, tenant: usize) {
        let taken = self.tenants[tenant].queue.pop_front();
        self.trims += u64::from(taken.is_some_and(|taken| taken.mapped.request.op == Op::Trim));
    }

    /// Returns the next phase, once the current one has no more requests.
    pub fn next_phase<H: Host>(&mut self, host: &H) -> Result<Option<PhaseStart>, ReplayError> {
        if self.peek(host)?.is_some() {
            return Ok(None);
        }
        match std::mem::replace(&mut self.beyond, Beyond::More) {
            Beyond::Phase(phase) => {
                self.measure = phase.measure;
                self.keeps_on = phase.measure && phase.measure_first.is_some();
                self.measured_below = match phase.measure_first {
                    _ if !phase.measure => 0,
                    Some(first) => self.pulled.saturating_add(first),
                    None => u64::MAX,
                };
                Ok(Some(phase))
            }
            other => {
                self.beyond = other;
                Ok(None)
            }
        }
    }

    /// Whether requests of the current phase keep the device busy until the measured ones have
    /// completed.
    pub fn keeps_on(&self) -> bool {
        self.keeps_on
    }

    /// Skips the rest of the current phase.
    pub fn skip_phase(&mut self) {
        self.queue.clear();
        if matches!(self.beyond, Beyond::More) {
            self.source.skip_phase();
        }
    }

    #[inline]
    fn pull<H: Host>(&mut self, host: &H) {
        let arrival = match self.source.next() {
            Ok(Next::Request(arrival)) => arrival,
            Ok(Next::Phase(phase)) => return self.beyond = Beyond::Phase(phase),
            Ok(Next::End) => return self.beyond = Beyond::End,
            Err(error) => return self.beyond = Beyond::Failed(error.into()),
        };
        let index = self.pulled;
        self.pulled += 1;
        if arrival.sectors == 0 && arrival.op != Op::Flush {
            self.empty += 1;
            return;
        }
        match self.mapper.map(index, &arrival) {
            Ok(mapped) => {
                host.expect(&mapped.request);
                let measured = index < self.measured_below;
                let awaits_trims = self.source.awaits_trims(0);
                let at = arrival.at;
                self.queue.push_back(Planned { at, index, mapped, measured, awaits_trims });
            }
            Err(error) => self.beyond = Beyond::Failed(error.into()),
        }
    }
}
