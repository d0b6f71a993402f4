//! The options and results of a replay.

use ftlab::host::{Completion, Host, Request};
use ftlab::units::{Nanos, Ratio, SimTime};
use serde::Serialize;
use thiserror::Error;

use super::mapping::{MapCounts, MapError, Mapping};
use super::sharing::PageSharing;
use super::source::{PhaseStart, SourceError};

/// What decides when requests are submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Pacing {
    /// The source: arrival times, or the queue depth of a phase that has one.
    Source {
        /// How much faster than the source's clock: 200% halves the times between arrivals.
        speed: Ratio,
        /// How many requests the device accepts at once, over all its submission queues. Later arrivals,
        /// and those at a full queue, wait for a place; their latency counts from their arrival.
        queue_limit: u32,
    },
    /// A fixed number of requests is kept outstanding, whatever the source says; for each tenant,
    /// if there are several. A request whose submission queue is full holds back those after it.
    Closed {
        /// The number of outstanding requests.
        depth: u32,
        /// The time from a completion to the request that replaces it.
        think_time: Nanos,
    },
    /// A request waits only for earlier requests that it overlaps, if one of the two writes or
    /// trims; a flush waits for everything before it.
    Dependencies {
        /// How many requests are considered together, including waiting ones.
        depth: u32,
    },
}

impl Default for Pacing {
    /// The source's own times, and as many requests at once as an NVMe queue can hold.
    fn default() -> Pacing {
        Pacing::Source { speed: Ratio::ONE, queue_limit: 65_536 }
    }
}

/// When to stop before the source ends. Requests in the device are still completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// The number of measured requests; those of unmeasured phases do not count.
    pub requests: Option<u64>,
    /// The simulated time: no request is submitted at or after it.
    pub time: Option<Nanos>,
}

/// How to replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Options {
    /// What decides when requests are submitted.
    pub pacing: Pacing,
    /// How addresses are mapped.
    pub mapping: Mapping,
    /// When to stop.
    pub limits: Limits,
    /// Whether to count pages that several streams or folded addresses share. Takes some time and 4
    /// bytes per page, and is only useful for traces.
    pub count_sharing: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            pacing: Pacing::default(),
            mapping: Mapping::AsIs,
            limits: Limits::default(),
            count_sharing: false,
        }
    }
}

/// A completed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// The answer of the device.
    pub completion: Completion,
    /// When it arrived: before its submission if it had to wait for a place in the queue.
    pub arrived: SimTime,
    /// Its index in the source, from 0.
    pub index: u64,
    /// The phase it belongs to.
    pub phase: u32,
    /// Whether results count it.
    pub measured: bool,
}

impl Completed {
    /// Returns the time from arrival to completion.
    #[must_use]
    pub fn latency(&self) -> Nanos {
        self.completion.finished - self.arrived
    }
}

/// Receives the events of a replay.
pub trait Sink<H: Host> {
    /// A phase starts. Nothing is outstanding, so this is the time to reset the device's counters.
    fn phase_started(&mut self, phase: &PhaseStart, host: &mut H) {
        let _ = (phase, host);
    }

    /// All requests of a phase have completed.
    fn phase_ended(&mut self, phase: &PhaseStart, host: &mut H) {
        let _ = (phase, host);
    }

    /// A request is submitted, or will be the next; `measured` says whether results count it.
    fn submitted(&mut self, request: &Request, measured: bool) {
        let _ = (request, measured);
    }

    /// Requests have completed at the current time and are about to be passed on: the time to look
    /// at the device.
    fn advanced(&mut self, host: &H) {
        let _ = host;
    }

    /// A request has completed.
    fn completed(&mut self, completed: &Completed);
}

/// The progress of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Submitted requests.
    pub submitted: u64,
    /// Completed requests.
    pub completed: u64,
    /// The total number of requests, if known.
    pub total: Option<u64>,
    /// Submitted sectors.
    pub sectors: u64,
    /// The simulated time.
    pub now: SimTime,
    /// The current phase.
    pub phase: u32,
}

/// Why a replay ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The source ended.
    Source,
    /// The limit on requests was reached.
    Requests,
    /// The limit on time was reached.
    Time,
    /// It was told to stop; requests still in the device are not in the results.
    Stopped,
}

/// A phase as it was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseReport {
    /// Its index, from 0.
    pub index: u32,
    /// Whether results count it.
    pub measured: bool,
    /// When it started.
    pub started: SimTime,
    /// When its last request had completed.
    pub ended: SimTime,
    /// Submitted requests.
    pub requests: u64,
    /// Sectors read, written and trimmed.
    pub sectors: u64,
    /// Whether it had no more requests before the measured ones had completed, although it was to
    /// keep the device busy.
    pub ran_dry: bool,
}

/// The results of a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Why it ended.
    pub ended: Ended,
    /// Submitted requests.
    pub submitted: u64,
    /// Completed requests.
    pub completed: u64,
    /// Sectors read, written and trimmed.
    pub sectors: u64,
    /// When it started.
    pub started: SimTime,
    /// When it ended.
    pub finished: SimTime,
    /// The effects of the mapping.
    pub mapping: MapCounts,
    /// How pages of the source share pages of the device, if they were counted.
    pub sharing: Option<PageSharing>,
    /// Requests earlier than their predecessor; they arrive together with it.
    pub out_of_order: u64,
    /// Requests without sectors, which were skipped.
    pub empty: u64,
    /// Requests that had to wait for a place in the queue (see [`Pacing::Source`]).
    pub held_back: u64,
    /// By submission queue: the requests that found it full. Empty if there were none.
    pub held_back_by_queue: Vec<u64>,
    /// The phases that were played.
    pub phases: Vec<PhaseReport>,
}

/// Why a replay failed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The source failed.
    #[error("{0}")]
    Source(#[from] SourceError),
    /// A request cannot be mapped.
    #[error("{0}")]
    Mapping(#[from] MapError),
    /// An option is invalid.
    #[error("{what} must be more than zero\n  help: {remedy}")]
    Zero {
        /// The option.
        what: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
    /// Tenants cannot be replayed by dependencies.
    #[error(
        "the workload has tenants that play at the same time, each at its own pace\n  help: \
         play it by its arrivals, or with a queue depth, instead of as fast as dependencies allow"
    )]
    Tenants,
    /// Requests are outstanding, but the device has no more events.
    #[error(
        "the device is at a standstill at {at}: {requests} requests are unanswered, and no event is left \
         in it; garbage collection finds no block to empty, or none to copy to\n  help: lower \
         ftl.gc.reserve and ftl.gc.start, or raise ftl.over_provisioning; if the configuration passed \
         all checks, this is a bug worth a report"
    )]
    Standstill {
        /// The simulated time.
        at: SimTime,
        /// The number of unanswered requests.
        requests: u64,
    },
}
