//! The outcome of a run, and the time that it took.

use std::time::{Duration, Instant};

use ftlab::device::{Contents, Device};
use ftlab::scheduler::Probe;
use ftlab::stats::{BlockGroup, PhaseStats, Recorder};
use ftlab_workload::fio::FioTally;

use super::watch::{RunView, ViewOfDevice};
use crate::result::{Requests, ResultDocument};

/// The outcome of an experiment.
pub struct Measured<P = (), C = ()> {
    /// `result.json`.
    pub document: ResultDocument,
    /// All measurements, with histograms and time series.
    pub recorder: Recorder,
    /// The device at the end.
    pub device: Device<P, C>,
    /// The results of fio jobs, in fio's terms.
    pub jobs: Option<FioTally>,
    /// The records of all requests, if they were kept, still to be finished.
    pub requests: Option<Requests>,
    /// The time spent.
    pub spent: TimeSpent,
}

impl<P: Probe, C: Contents> Measured<P, C> {
    /// The run as its watcher would see it now.
    pub fn view(&self) -> impl RunView + '_ {
        ViewOfDevice { device: &self.device, recorder: &self.recorder }
    }

    /// Returns the counts of all blocks.
    #[must_use]
    pub fn blocks(&self) -> Vec<BlockGroup> {
        self.recorder.block_map(&self.device)
    }

    /// Returns the number of requests played, including preconditioning.
    #[must_use]
    pub fn requests_played(&self) -> u64 {
        let played = |phase: &PhaseStats| phase.host.requests() + phase.unmeasured.requests;
        self.recorder.phases().iter().map(played).sum()
    }
}

/// Measures wall-clock and processor time.
pub(super) struct Clock {
    /// Nothing where there is no clock, such as in a browser.
    started: Option<Instant>,
    cpu: Option<Duration>,
}

/// The time spent.
#[derive(Clone, Copy, Debug)]
pub struct TimeSpent {
    /// Wall-clock time.
    pub wall: Duration,
    /// Processor time.
    pub cpu: Duration,
}

impl Clock {
    pub fn start() -> Clock {
        let has_clock = !cfg!(target_family = "wasm");
        Clock { started: has_clock.then(Instant::now), cpu: processor_time() }
    }

    /// Returns the time spent. Without processor times from the system, or if they are too coarse to have moved,
    /// wall-clock time replaces them.
    pub fn stop(self) -> TimeSpent {
        let wall = self.started.map_or(Duration::ZERO, |started| started.elapsed());
        let cpu = self.cpu.zip(processor_time()).map(|(from, to)| to - from);
        TimeSpent { wall, cpu: cpu.filter(|cpu| !cpu.is_zero()).unwrap_or(wall) }
    }
}

/// Returns the processor time of this thread so far; known on Linux only.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
