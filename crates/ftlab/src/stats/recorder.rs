//! Collects the measurements of a run: statistics for every phase, the timeline, and the rounds.

use super::block_map::{self, BlockGroup, BlockMarks};
use super::figures::amplification;
use super::notes;
use super::phase::{PhaseStats, Unmeasured};
use super::report::Report;
use super::steady::SteadyRounds;
use super::summary;
use super::{Circumstances, DeviceCounters, HostStats, Timeline};
use crate::device::{Contents, Device};
use crate::host::{Completion, Host, Op};
use crate::scheduler::Probe;
use crate::units::{SECTOR_BYTES, SimTime};

/// The current phase.
#[derive(Clone, Debug)]
struct Open {
    name: String,
    measured: bool,
    /// By submission queue: the view of the host. The sum is computed at the end of the phase.
    queues: Vec<HostStats>,
    unmeasured: Unmeasured,
    at_start: DeviceCounters,
}

/// A phase that has not ended.
#[derive(Clone, Copy, Debug)]
pub struct PhaseSoFar<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether the results count it.
    pub measured: bool,
    /// What the host saw so far, by submission queue.
    pub queues: &'a [HostStats],
    /// Requests that the results do not count.
    pub unmeasured: Unmeasured,
    /// What the device had done when it began.
    pub at_start: &'a DeviceCounters,
}

impl PhaseSoFar<'_> {
    /// As [`PhaseStats::write_amplification`], of what was done up to `now`.
    #[must_use]
    pub fn write_amplification(&self, now: &DeviceCounters, page_bytes: u64) -> Option<f64> {
        let written: u64 = self.queues.iter().map(|queue| queue.op(Op::Write).bytes()).sum();
        let written = written + self.unmeasured.written_bytes;
        amplification(&now.since(self.at_start), written, page_bytes)
    }
}

/// Records a run on a device.
///
/// Whenever requests complete, call [`look`](Self::look) first and then [`record`](Self::record) for each of them.
#[derive(Clone, Debug)]
pub struct Recorder {
    phases: Vec<PhaseStats>,
    open: Option<Open>,
    /// The time before the first measured phase, once that has begun; none if it was empty.
    preparation: Option<Timeline>,
    timeline: Timeline,
    rounds: SteadyRounds,
    /// The state of the blocks when the first measured phase began.
    blocks: Option<BlockMarks>,
}

impl Recorder {
    /// A recorder that starts observing `device` now.
    #[must_use]
    pub fn new<P: Probe, C: Contents>(device: &Device<P, C>) -> Recorder {
        Recorder {
            phases: Vec::new(),
            open: None,
            preparation: None,
            timeline: Timeline::new(device),
            rounds: SteadyRounds::new(device),
            blocks: None,
        }
    }

    /// A phase starts; nothing is outstanding.
    pub fn phase_started<P: Probe, C: Contents>(
        &mut self,
        name: &str,
        measured: bool,
        device: &Device<P, C>,
    ) {
        if measured && self.phases.last().is_none_or(|before| !before.measured) {
            self.rounds.restart(device);
        }
        if measured && self.blocks.is_none() {
            self.blocks = Some(BlockMarks::of(device));
            self.begin_measuring(device);
        }
        let at_start = DeviceCounters::of(device);
        let queues = device.queues().all().map(|_| HostStats::default()).collect();
        let unmeasured = Unmeasured::default();
        self.open = Some(Open { name: name.to_owned(), measured, queues, unmeasured, at_start });
    }

    /// Starts a timeline of its own for the measurement.
    fn begin_measuring<P: Probe, C: Contents>(&mut self, device: &Device<P, C>) {
        if device.now() > self.timeline.start() {
            let mut preparation = std::mem::replace(&mut self.timeline, Timeline::new(device));
            preparation.end(device);
            self.preparation = Some(preparation);
        }
    }

    /// A phase ends, or the run was stopped within it. Does nothing without a current phase.
    pub fn phase_ended<P: Probe, C: Contents>(&mut self, device: &Device<P, C>) {
        if let Some(Open { name, measured, mut queues, unmeasured, at_start }) = self.open.take() {
            let mut host = queues.pop().unwrap_or_default();
            if !queues.is_empty() {
                queues.push(host.clone());
                let others = &queues[..queues.len() - 1];
                others.iter().for_each(|queue| host.merge(queue));
            }
            let device = DeviceCounters::of(device).since(&at_start);
            let has_clock = true;
            let phase = PhaseStats { name, measured, host, unmeasured, queues, device, has_clock };
            self.phases.push(phase);
        }
        self.timeline.observe(device);
    }

    /// Like [`phase_ended`](Self::phase_ended), for a phase without a clock; `written` counts its writes.
    pub fn untimed_phase_ended<P: Probe, C: Contents>(
        &mut self,
        device: &Device<P, C>,
        written: Unmeasured,
    ) {
        let phases = self.phases.len();
        self.timeline.forget(device);
        self.phase_ended(device);
        if let Some(phase) = self.phases.get_mut(phases) {
            (phase.unmeasured, phase.has_clock) = (written, false);
        }
        self.rounds.restart(device);
    }

    /// Observes the device if it is time to.
    #[inline]
    pub fn look<P: Probe, C: Contents>(&mut self, device: &Device<P, C>) {
        if self.timeline.is_over(device.now()) {
            self.timeline.observe(device);
        }
        if self.rounds.is_over() {
            self.rounds.observe(device);
        }
    }

    /// Records a request that arrived at `arrived` (see [`HostStats::record`]).
    #[inline]
    pub fn record(&mut self, completion: &Completion, arrived: SimTime) {
        if let Some(open) = &mut self.open {
            open.queues[completion.queue.at()].record(completion, arrived);
        }
        if completion.outcome.is_carried_out() {
            self.timeline.record(completion, completion.finished - arrived);
            self.rounds.record(completion);
        }
    }

    /// Records a request that only kept the device busy, after the measured requests of its phase.
    /// Its latency does not count, but its writes belong to the work of the device.
    pub fn record_unmeasured(&mut self, completion: &Completion) {
        let Some(open) = &mut self.open else { return };
        open.unmeasured.requests += 1;
        if completion.outcome.is_carried_out() {
            self.rounds.record(completion);
            let bytes = u64::from(completion.request.sectors) * SECTOR_BYTES;
            match completion.request.op {
                Op::Read => open.unmeasured.read_bytes += bytes,
                Op::Write | Op::Append => open.unmeasured.written_bytes += bytes,
                _ => {}
            }
        }
    }

    /// The completed phases.
    #[must_use]
    pub fn phases(&self) -> &[PhaseStats] {
        &self.phases
    }

    /// The current phase; none between phases.
    #[must_use]
    pub fn current(&self) -> Option<PhaseSoFar<'_>> {
        let Open { name, measured, queues, unmeasured, at_start } = self.open.as_ref()?;
        let (measured, unmeasured) = (*measured, *unmeasured);
        Some(PhaseSoFar { name, measured, queues, unmeasured, at_start })
    }

    /// The changes over time since the measurement started; before that, since the recorder was created.
    #[must_use]
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The changes over all time: during preparation, if there was any, and since.
    pub fn timelines(&self) -> impl Iterator<Item = &Timeline> + Clone {
        self.preparation.iter().chain([&self.timeline])
    }

    /// The history of each block, plane by plane. Adjacent blocks are combined if there are very many.
    #[must_use]
    pub fn block_map<P: Probe, C: Contents>(&self, device: &Device<P, C>) -> Vec<BlockGroup> {
        block_map::groups(device, self.blocks.as_ref())
    }

    /// The report over the measured phases that have ended.
    #[must_use]
    pub fn report<P: Probe, C: Contents>(
        &self,
        device: &Device<P, C>,
        circumstances: &Circumstances,
    ) -> Report {
        let mut report = summary::build(&self.phases, &self.rounds, device, circumstances);
        report.notes.extend(notes::faults::collect(device));
        report
    }
}
