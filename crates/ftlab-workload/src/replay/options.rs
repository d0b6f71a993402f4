//! What a replay is told and what it tells.

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
        /// How much faster than its clock: 200% halves every time between arrivals.
        speed: Ratio,
        /// How many requests the device takes at once, over all its submission queues. Those that
        /// arrive beyond, or at a queue that is full, wait for a place, and their latency counts from
        /// their arrival.
        queue_limit: u32,
    },
    /// A fixed number of requests is kept outstanding, whatever the source says; by each tenant, if
    /// there are several. One whose submission queue is full holds back those after it.
    Closed {
        /// How many.
        depth: u32,
        /// From a completion to the request that replaces it.
        think_time: Nanos,
    },
    /// A request waits only for earlier ones that it overlaps, if it or the other writes or trims;
    /// a flush waits for all before it.
    Dependencies {
        /// How many requests are looked at together, waiting ones included.
        depth: u32,
    },
}

impl Default for Pacing {
    /// The source's own times, and as many requests at once as an NVMe queue holds.
    fn default() -> Pacing {
        Pacing::Source { speed: Ratio::ONE, queue_limit: 65_536 }
    }
}

/// When to stop before the source ends. Requests in the device are finished all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// After so many requests that are measured; those of phases that are not measured do not count.
    pub requests: Option<u64>,
    /// After so much simulated time: no request is submitted then or later.
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
    /// Whether pages are counted that several streams or folded addresses share. It takes some time and
    /// 4 bytes a page, and only tells something of traces.
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

/// One finished request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// What the device answered.
    pub completion: Completion,
    /// When it arrived: earlier than its submission if it had to wait for a place in the queue.
    pub arrived: SimTime,
    /// Its number in the source, from 0.
    pub index: u64,
    /// The phase it belongs to.
    pub phase: u32,
    /// Whether results count it.
    pub measured: bool,
}

impl Completed {
    /// From arrival to completion.
    #[must_use]
    pub fn latency(&self) -> Nanos {
        self.completion.finished - self.arrived
    }
}

/// Takes what happens.
pub trait Sink<H: Host> {
    /// A phase starts. Nothing is outstanding: the moment to reset the device's counters.
    fn phase_started(&mut self, phase: &PhaseStart, host: &mut H) {
        let _ = (phase, host);
    }

    /// All requests of a phase have finished.
    fn phase_ended(&mut self, phase: &PhaseStart, host: &mut H) {
        let _ = (phase, host);
    }

    /// A request is handed to the device, or is the next that is; `measured` says whether results count it.
    fn submitted(&mut self, request: &Request, measured: bool) {
        let _ = (request, measured);
    }

    /// Requests have finished at the present moment and are about to be handed over: the time to
    /// look at the device.
    fn advanced(&mut self, host: &H) {
        let _ = host;
    }

    /// A request has finished.
    fn completed(&mut self, completed: &Completed);
}

/// How far a replay is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Requests submitted.
    pub submitted: u64,
    /// Requests finished.
    pub completed: u64,
    /// Requests in all, where that is known.
    pub total: Option<u64>,
    /// Sectors submitted.
    pub sectors: u64,
    /// The simulated moment.
    pub now: SimTime,
    /// The phase under way.
    pub phase: u32,
}

/// Why a replay ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The source had no more.
    Source,
    /// The limit on requests was reached.
    Requests,
    /// The limit on time was reached.
    Time,
    /// It was told to stop; requests that were in the device are not in the results.
    Stopped,
}

/// One phase as it was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseReport {
    /// Its number, from 0.
    pub index: u32,
    /// Whether results count it.
    pub measured: bool,
    /// When it started.
    pub started: SimTime,
    /// When its last request had finished.
    pub ended: SimTime,
    /// Requests submitted.
    pub requests: u64,
    /// Sectors read, written and trimmed.
    pub sectors: u64,
    /// Whether it was to keep the device busy until the requests that are measured were done, but had no
    /// more of them before.
    pub ran_dry: bool,
}

/// What a replay did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Why it ended.
    pub ended: Ended,
    /// Requests submitted.
    pub submitted: u64,
    /// Requests finished.
    pub completed: u64,
    /// Sectors read, written and trimmed.
    pub sectors: u64,
    /// When it started.
    pub started: SimTime,
    /// When it ended.
    pub finished: SimTime,
    /// What the mapping did.
    pub mapping: MapCounts,
    /// How pages of the source share pages of the device; none unless it was counted.
    pub sharing: Option<PageSharing>,
    /// Requests whose time lay before that of an earlier one; they were taken to arrive with it.
    pub out_of_order: u64,
    /// Requests without sectors, which were left out.
    pub empty: u64,
    /// Requests that had to wait for a place in the queue (see [`Pacing::Source`]).
    pub held_back: u64,
    /// By submission queue: those of them that found it full. Empty if none did.
    pub held_back_by_queue: Vec<u64>,
    /// The phases, as far as they were played.
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
    /// An option has no meaning.
    #[error("{what} must be more than zero\n  help: {remedy}")]
    Zero {
        /// Which option.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// Tenants can't be played by dependencies.
    #[error(
        "the workload has tenants that play at the same time, and each has its own pace\n  help: \
         play it by its arrivals, or with a queue depth, instead of as fast as dependencies allow"
    )]
    Tenants,
    /// Requests are outstanding, and nothing is left to happen in the device.
    #[error(
        "the device stands still at {at}: {requests} requests are unanswered, and nothing is left to \
         happen in it; collection finds neither a block to empty nor one to copy to\n  help: lower \
         ftl.gc.reserve and ftl.gc.start, or raise ftl.over_provisioning; a device that the checks took \
         for sound and that still does this is a bug worth a report"
    )]
    Standstill {
        /// When.
        at: SimTime,
        /// How many.
        requests: u64,
    },
}
