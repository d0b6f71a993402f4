//! Ageing: random overwrites, or repetitions of the measured load, until the device is steady.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

use ftlab::device::{Contents, Device};
use ftlab::scheduler::Probe;
use ftlab::stats::{Ageing, AgeingOutlook, AgeingRule};
use ftlab::units::Ratio;
use ftlab_workload::generate::Workload;
use ftlab_workload::replay::{Arrival, Going, Next, Progress, Source, SourceError, TenantPace};
use ftlab_workload::trace::Meter;

use super::steps::{DEPTH, own_workload};
use super::watch::{RunView, Watcher};
use crate::result::{AgeDocument, ClockDocument, LoadDocument, StepDocument};

/// The writes that age a device.
pub enum AgeLoad {
    /// Uniform writes of 4 KiB to this share of the device.
    Uniform(Ratio),
    /// The measured phases of the load.
    Own(Workload),
}

/// The step `age`: overwrites the device until it is steady.
pub struct Age {
    /// The rule of steadiness.
    pub rule: AgeingRule,
    /// The writes.
    pub load: AgeLoad,
    /// Whether the user wants it simulated in time.
    pub timed: bool,
}

impl Age {
    /// Starts the watch for a steady state.
    pub fn begin<P: Probe, C: Contents>(&self, device: &Device<P, C>) -> Ageing {
        Ageing::new(self.rule, device)
    }

    /// Returns the workload to play, up to the limit.
    pub fn workload(&self) -> Workload {
        match (&self.load, self.repeated()) {
            (AgeLoad::Uniform(share), _) => {
                // Shares instead of bytes, so that results are equal for all capacities.
                let limit = self.rule.limit_drive_writes;
                let text = format!(
                    "name = \"age\"\n[[phase]]\nname = \"age\"\nmeasure = false\nwrites = \"100%\"\n\
                     size = \"4KiB\"\naddress = {{ kind = \"uniform\" }}\n\
                     region = {{ size = \"{share}\" }}\n\
                     arrivals = {{ kind = \"closed\", queue_depth = {DEPTH} }}\nbytes = \"{limit}00%\"\n"
                );
                own_workload("age", &text)
            }
            (AgeLoad::Own(own), repeated) => repeated.unwrap_or_else(|| own.clone()),
        }
    }

    /// Returns the measured phases of the user's load, repeated as often as may be needed.
    fn repeated(&self) -> Option<Workload> {
        let AgeLoad::Own(own) = &self.load else { return None };
        let mut workload = own.clone();
        workload.phases.retain(|phase| phase.measure);
        let phases = workload.phases.len();
        for phase in &mut workload.phases {
            phase.measure = false;
            // The part after `measure_first` is dropped, because nothing is measured.
            phase.duration.requests = phase.measure_first.take().or(phase.duration.requests);
        }
        let once = workload.phases.clone();
        // A phase is often short, and how much it writes is not known beforehand.
        while phases > 0 && workload.phases.len() + phases <= MOST_PHASES {
            workload.phases.extend(once.iter().cloned());
        }
        Some(workload)
    }

    /// Returns the step in results.
    pub fn document(&self, load: &Workload, ageing: &Ageing, clock: ClockDocument) -> StepDocument {
        let written: u64 = ageing.rounds().iter().map(|round| round.host_bytes).sum();
        StepDocument::Age(Box::new(AgeDocument {
            verdict: ageing.verdict(),
            load: match &self.load {
                AgeLoad::Uniform(_) => LoadDocument::workload(load),
                AgeLoad::Own(own) => LoadDocument::workload(own),
            },
            rule: self.rule,
            written_bytes: written,
            clock,
            write_amplification: ageing.write_amplification(),
            write_mb_per_s: ageing.write_mb_per_s(),
            rounds: ageing.rounds().to_vec(),
        }))
    }
}

/// The most phases of a repeated load.
const MOST_PHASES: usize = 10_000;

/// A source that ends when the device is steady.
pub struct UntilSteady<'a, S> {
    source: S,
    steady: &'a Cell<bool>,
}

impl<'a, S> UntilSteady<'a, S> {
    /// Ends `source` when `steady` is set.
    pub fn new(source: S, steady: &'a Cell<bool>) -> UntilSteady<'a, S> {
        UntilSteady { source, steady }
    }
}

impl<S: Source> Source for UntilSteady<'_, S> {
    fn next(&mut self) -> Result<Next, SourceError> {
        if self.steady.get() { Ok(Next::End) } else { self.source.next() }
    }

    fn skip_phase(&mut self) {
        self.source.skip_phase();
    }

    fn tenants(&self) -> Vec<TenantPace> {
        self.source.tenants()
    }

    fn next_of(&mut self, tenant: usize) -> Result<Option<Arrival>, SourceError> {
        if self.steady.get() { Ok(None) } else { self.source.next_of(tenant) }
    }

    /// Unknown: the limit is a bound, not a goal.
    fn total(&self) -> Option<u64> {
        None
    }
}

/// Forwards to a watcher, and tells it the state of the ageing whenever that changes.
pub struct AgeWatcher<'a> {
    /// The watcher.
    pub inner: &'a mut dyn Watcher,
    /// The latest state, if it is new.
    pub outlook: &'a Cell<Option<AgeingOutlook>>,
}

impl Watcher for AgeWatcher<'_> {
    fn begins(&mut self, name: &str, meter: Option<Arc<Meter>>) {
        self.inner.begins(name, meter);
    }

    fn ages(&mut self, outlook: &AgeingOutlook) {
        self.inner.ages(outlook);
    }

    fn writes(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()> {
        self.inner.writes(done, total)
    }

    fn writes_on(&mut self, done: u64, total: Option<u64>) -> Going {
        self.inner.writes_on(done, total)
    }

    fn foresees(&mut self, policy: Option<&str>) {
        self.inner.foresees(policy);
    }

    fn looks(&mut self, progress: &Progress, view: &dyn RunView) -> Going {
        if let Some(outlook) = self.outlook.take() {
            self.inner.ages(&outlook);
        }
        self.inner.looks(progress, view)
    }

    fn ended(&mut self) {
        self.inner.ended();
    }
}
