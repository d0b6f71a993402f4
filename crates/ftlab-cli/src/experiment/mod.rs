//! An experiment: a device, its preparation, and a load. Performing it returns a result and has no
//! other effects, so it can be repeated, on any thread.
//!
//! `ftlab run` performs one experiment, `ftlab compare` one for each variant and seed. Result
//! folders, progress bars and tables belong to the commands. A new kind of load goes into
//! `load.rs`, a new way to prepare a device into `preparation.rs`; then both commands have it.

mod ageing;
mod inputs;
mod load;
mod pace;
mod preparation;
mod sharing;
mod steps;
mod untimed;

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ftlab::config::Config;
use ftlab::device::Device;
use ftlab::host::{Host, Op};
use ftlab::stats::{
    AgedBefore, AgeingOutlook, Arriving, BlockGroup, Circumstances, PhaseStats, Recorder,
    SCHEMA_VERSION, phase_called,
};
use ftlab::units::{Nanos, SECTOR_BYTES};
use ftlab_workload::accesses::Accesses;
use ftlab_workload::fio::{FioTally, JobFile};
use ftlab_workload::generate::{Generator, Workload};
use ftlab_workload::replay::{self, Batches, Crew, Ended, Progress, Replay, ReplayError, Source};
use ftlab_workload::trace::Meter;

use crate::args::LoadArgs;
use crate::failure::Failure;
use crate::human;
use crate::interrupt::STOP;
use crate::load::{Decoder, TraceFacts};
use crate::power_cuts::{LosesPower, Played, refuse_without_recovery};
use crate::recording::{Flags, Recording};
use crate::result::{
    DeviceDocument, LoadDocument, ReplayDocument, Requests, ResultDocument, StepDocument,
    notes_on_clocks,
};
use crate::tenants::{self, Tenant};

pub use load::{LoadSource, OpenedLoad};
pub use preparation::{Preparation, is_physical, rest, told_of_end};

/// An experiment, without its device.
pub struct Experiment {
    pub load: LoadSource,
    /// The preparation of a device.
    pub preparation: Preparation,
    /// How the load is played.
    pub options: replay::Options,
    /// What decides when requests arrive.
    pub arriving: Arriving,
    /// The unmeasured phases at the beginning of the load that are skipped, because they would undo
    /// the preparation of the device.
    pub skipped: Vec<String>,
    /// Whether to report how reads and writes share pages.
    pub accesses: bool,
    /// The fingerprint's parts that are the same for every device and seed.
    inputs: inputs::Inputs,
    /// How often to cut the power of a copy of the device, if at all.
    pub cut_power: Option<Nanos>,
}

/// Observes the progress of an experiment.
pub trait Watcher {
    /// A load named `name` begins; `meter` measures how much of a trace was read.
    fn begins(&mut self, name: &str, meter: Option<Arc<Meter>>);
    /// The state of an ageing has changed.
    fn ages(&mut self, _outlook: &AgeingOutlook) {}
    /// Reports requests done without a clock, and their total if it is known. `Break` stops the run.
    fn writes(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()>;
    /// Reports the progress. `Break` stops the run, as Ctrl-C does.
    fn goes_on(&mut self, progress: &Progress) -> ControlFlow<()>;
    /// The load has ended.
    fn ended(&mut self);
}

/// The outcome of an experiment.
pub struct Measured {
    pub document: ResultDocument,
    /// All measurements, with histograms and time series.
    pub recorder: Recorder,
    /// The device at the end.
    pub device: Device,
    /// The results of fio jobs, in fio's terms.
    pub jobs: Option<FioTally>,
    /// The file of requests, if requested, still to be finished.
    pub requests: Option<Requests>,
    /// The time spent.
    pub spent: TimeSpent,
}

impl Measured {
    /// Returns the counts of all blocks.
    pub fn blocks(&self) -> Vec<BlockGroup> {
        self.recorder.block_map(&self.device)
    }

    /// Returns the number of requests played, including preconditioning.
    pub fn requests_played(&self) -> u64 {
        let played = |phase: &PhaseStats| phase.host.requests() + phase.unmeasured.requests;
        self.recorder.phases().iter().map(played).sum()
    }
}

/// The outcome of the load.
struct Outcome {
    load: LoadDocument,
    /// Notes about the load that a reader of the figures needs.
    notes: Vec<String>,
    replayed: replay::Report,
    /// The tenants that sent the requests, if the load names them.
    tenants: Vec<Tenant>,
    assumed: Vec<String>,
    warnings: Vec<String>,
}

impl Experiment {
    /// Builds the experiment of the command line.
    pub fn new(args: &LoadArgs) -> Result<Experiment, Failure> {
        let load = LoadSource::new(args)?;
        let preparation = Preparation::new(args, Some(&load))?;
        let skipped = match &load {
            LoadSource::Workload(workload) if preparation.uses_device() && !args.all_phases => {
                workload.unmeasured_lead()
            }
            _ => Vec::new(),
        };
        Ok(Experiment {
            options: pace::options(args)?,
            arriving: pace::arriving(args, &load),
            preparation,
            load,
            skipped,
            accesses: args.accesses,
            inputs: inputs::Inputs::default(),
            cut_power: args.cut_power,
        })
    }

    /// Refuses a power cut on a device that cannot recover from one.
    ///
    /// # Errors
    /// The device cannot recover.
    pub fn refuse_uncut(&self, config: &Config) -> Result<(), Failure> {
        self.cut_power.map_or(Ok(()), |_| refuse_without_recovery(config))
    }

    /// Performs the experiment on a new device, whose configuration was checked before. `load`
    /// comes from [`LoadSource::open`]. Each request is written to `requests`, if given.
    ///
    /// # Errors
    /// Interrupted before anything was measured; or the load or the file of requests failed.
    pub fn perform(
        &self,
        load: OpenedLoad,
        config: &Config,
        seed: u64,
        requests: Option<Requests>,
        watcher: &mut dyn Watcher,
    ) -> Result<Measured, Failure> {
        let mut ssd = self.preparation.device(config, seed)?;
        let hints = self.preparation.hints(config, &ssd);
        let flags = Flags::default();
        let mut recording = Recording::new(&ssd, requests, &flags);
        let clock = Clock::start();
        let steps = self.preparation.carry_out(seed, &mut ssd, &mut recording, watcher)?;
        preparation::refuse_ended(&ssd, &steps)?;
        let prepared = recording.recorder.phases().len();
        recording.measuring = true;
        recording.accesses = self.accesses.then(Accesses::default);
        let (mut outcome, power_cuts) = match self.cut_power {
            None => (self.play(load, seed, &mut ssd, &mut recording, watcher)?, None),
            Some(every) => {
                let mut host = LosesPower::new(&mut ssd, config, seed, every);
                let outcome = self.play(load, seed, &mut host, &mut recording, watcher)?;
                (outcome, Some(host.into_report()))
            }
        };
        let spent = clock.stop();
        recording.recorder.phase_ended(&ssd);
        if let Some(error) = recording.error {
            return Err(Failure::usage(format!(
                "can't write requests.parquet: {error}\n  remedy: check that there is room, or choose another place with -o"
            )));
        }
        outcome.warnings.extend(hints);
        outcome.warnings.extend(steps.iter().filter_map(StepDocument::complaint));
        let complete = outcome.replayed.ended != Ended::Stopped;
        let circumstances = Circumstances {
            arriving: self.arriving,
            interrupted: !complete,
            aged: aged_before(&steps, &recording.recorder.phases()[prepared..]),
        };
        let limit = self.options.limits.requests;
        let mut report = recording.recorder.report(&ssd, &circumstances);
        tenants::name_queues(&mut report, &outcome.tenants, ssd.queues());
        let skipped = steps.iter().filter_map(StepDocument::skipped);
        let skipped = skipped.chain(self.note_on_skipped()).chain(notes_on_clocks(&steps));
        let cut = cut_note(&outcome.replayed.mapping);
        let dry = dry_note(&outcome.replayed, &recording.names);
        let shared = sharing::notes(outcome.replayed.sharing.as_ref());
        report.notes.extend(dry.into_iter().chain(skipped).chain(outcome.notes).chain(cut));
        report.notes.extend(shared);
        let document = ResultDocument {
            schema_version: SCHEMA_VERSION,
            complete,
            ftlab_version: env!("CARGO_PKG_VERSION").to_owned(),
            report,
            device: DeviceDocument::new(config, ssd.capacity_sectors()),
            seed,
            load: outcome.load,
            accesses: recording.accesses.as_ref().map(Accesses::report),
            power_cuts,
            precondition: steps,
            replay: ReplayDocument {
                skipped_phases: self.skipped.clone(),
                ..ReplayDocument::new(&self.options, limit, &outcome.replayed)
            },
            assumed: outcome.assumed,
            warnings: outcome.warnings,
        };
        let Recording { recorder, requests, tally: jobs, .. } = recording;
        Ok(Measured { document, recorder, device: ssd, jobs, requests, spent })
    }

    fn play<H: Played>(
        &self,
        load: OpenedLoad,
        seed: u64,
        ssd: &mut H,
        recording: &mut Recording<'_>,
        watcher: &mut dyn Watcher,
    ) -> Result<Outcome, Failure> {
        let name = self.load.name();
        let addresses = format!("addresses: {}", self.options.mapping.describe());
        match load {
            OpenedLoad::Workload(workload) => {
                let mut source = Generator::new(&workload, ssd.capacity_sectors(), seed)
                    .map_err(Failure::usage)?;
                if !self.skipped.is_empty() {
                    source.skip_unmeasured_lead();
                }
                recording.names = phase_names(&workload);
                watcher.begins(&name, None);
                let replayed = play_source(ssd, &mut source, recording, self.options, watcher)?;
                let load = LoadDocument::workload(&workload);
                let tenants = tenants::of_workload(&workload);
                let shared = tenants::note_on_sharing(&workload, ssd.device().queues());
                let (assumed, warnings) = (vec![addresses], Vec::new());
                let notes = shared.into_iter().collect();
                Ok(Outcome { load, notes, replayed, tenants, assumed, warnings })
            }
            OpenedLoad::Fio(jobs) => self.play_jobs(&jobs, seed, ssd, recording, watcher),
            OpenedLoad::Trace(file, trace) => {
                recording.names = vec!["trace".to_owned()];
                watcher.begins(&name, Some(trace.meter()));
                let limit = self.options.limits.requests;
                let mut decoder = Decoder::start(*trace, limit);
                let fill = |batch: &mut _| decoder.fill(batch, &STOP);
                let mut source = Batches::new(fill, limit);
                let replayed = play_source(ssd, &mut source, recording, self.options, watcher)?;
                drop(source);
                let TraceFacts { facts, digest, requests } = decoder.finish();
                let mut assumed = facts.assumed.clone();
                assumed.push(addresses);
                let warnings = facts.warnings.clone();
                let load = LoadDocument::trace(&file, &TraceFacts { facts, digest, requests });
                let tenants = Vec::new();
                Ok(Outcome { load, notes: Vec::new(), replayed, tenants, assumed, warnings })
            }
        }
    }
}

impl Experiment {
    fn note_on_skipped(&self) -> Option<String> {
        skipped_note(&self.load.name(), &self.skipped)
    }

    fn play_jobs<H: Played>(
        &self,
        jobs: &JobFile,
        seed: u64,
        ssd: &mut H,
        recording: &mut Recording<'_>,
        watcher: &mut dyn Watcher,
    ) -> Result<Outcome, Failure> {
        let plan = jobs.plan(ssd.capacity_sectors(), seed).map_err(Failure::usage)?;
        recording.names.clone_from(&plan.phase_names);
        recording.tally = Some(plan.tally);
        watcher.begins(&self.load.name(), None);
        let (failed, limits) = (&recording.flags.failed, self.options.limits);
        let crew = Crew { host: ssd, sink: recording, limits };
        let replayed = crew.run(plan.groups, &mut |progress| watch(progress, failed, watcher));
        watcher.ended();
        let tenants = tenants::of_jobs(&plan.stream_names);
        let load = LoadDocument::fio(jobs, plan.stream_names);
        let replayed = ended(replayed)?;
        let notes = plan.notes.clone();
        let (assumed, warnings) = (plan.notes, Vec::new());
        Ok(Outcome { load, notes, replayed, tenants, assumed, warnings })
    }
}

/// Notes that the last measured requests met an idle device, contrary to `measure_first`.
fn dry_note(replayed: &replay::Report, names: &[String]) -> Option<String> {
    let dry = replayed.phases.iter().filter(|phase| phase.ran_dry && phase.measured);
    let name = |index: u32| names.get(index as usize).map_or("replay", String::as_str);
    let dry: Vec<String> = dry.map(|phase| phase_called(name(phase.index))).collect();
    (!dry.is_empty() && replayed.ended != Ended::Stopped).then(|| {
        format!(
            "The requests of {} ended before the measured ones were done (measure_first), so the last \
             measured requests met an idle device. Give the phase more requests, or more time.",
            dry.join(", ")
        )
    })
}

/// Notes that requests were shortened.
fn cut_note(counts: &replay::MapCounts) -> Option<String> {
    (counts.clipped > 0).then(|| {
        format!(
            "{} requests reached beyond the end of the device, or of their slice of it, and were cut \
             there: {} were dropped.",
            human::count(counts.clipped),
            human::bytes(counts.clipped_sectors.saturating_mul(SECTOR_BYTES))
        )
    })
}

/// Notes that phases of a workload were skipped.
pub fn skipped_note(workload: &str, phases: &[String]) -> Option<String> {
    (!phases.is_empty()).then(|| {
        format!(
            "The workload {workload} begins with {}, not measured: skipped, because the device was \
             already prepared (--precondition, --image). --all-phases plays everything.",
            phases.join(", ")
        )
    })
}

/// Returns how the device was aged, and how much was written since without being measured.
fn aged_before(steps: &[StepDocument], since: &[PhaseStats]) -> Option<AgedBefore> {
    let unmeasured = since.iter().take_while(|phase| !phase.measured);
    let written_since_bytes = unmeasured.map(|phase| phase.host.op(Op::Write).bytes()).sum();
    steps.last()?.steady().map(|aged| AgedBefore { written_since_bytes, ..aged })
}

/// Continues unless Ctrl-C was pressed, a file could not be written or the watcher breaks.
fn watch(progress: &Progress, failed: &Cell<bool>, watcher: &mut dyn Watcher) -> ControlFlow<()> {
    let stop = watcher.goes_on(progress).is_break();
    let stop = stop || STOP.load(Ordering::Relaxed) || failed.get();
    if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Marks a replay as stopped if Ctrl-C was pressed: a source that was stopped while it waited for
/// input looks as if it had ended.
fn ended(report: Result<replay::Report, ReplayError>) -> Result<replay::Report, Failure> {
    let mut report = report.map_err(|error| match error {
        ReplayError::Standstill { .. } => Failure::Experiment(error.to_string()),
        other => Failure::usage(other),
    })?;
    if STOP.load(Ordering::Relaxed) {
        report.ended = Ended::Stopped;
    }
    Ok(report)
}

fn phase_names(workload: &Workload) -> Vec<String> {
    workload.group_names()
}

/// Plays a source.
fn play_source<H: Played, S: Source>(
    ssd: &mut H,
    source: &mut S,
    recording: &mut Recording<'_>,
    options: replay::Options,
    watcher: &mut dyn Watcher,
) -> Result<replay::Report, Failure> {
    let failed = &recording.flags.failed;
    let replay = Replay { host: ssd, source, sink: recording, options };
    let report = replay.run(&mut |progress| watch(progress, failed, watcher));
    watcher.ended();
    ended(report)
}

/// Measures wall-clock and processor time.
struct Clock {
    started: Instant,
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
    fn start() -> Clock {
        Clock { started: Instant::now(), cpu: processor_time() }
    }

    /// Returns the time spent. Without processor times from the system, wall-clock time replaces them.
    fn stop(self) -> TimeSpent {
        let wall = self.started.elapsed();
        let cpu = self.cpu.zip(processor_time()).map_or(wall, |(from, to)| to - from);
        TimeSpent { wall, cpu }
    }
}

/// Returns the processor time of this thread so far; known on Linux only.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
