//! An experiment: a device, its preparation, and a load. Performing it returns a result and has no
//! other effects, so it can be repeated, on any thread.
//!
//! A run performs one experiment, a comparison one for each variant and seed. Result folders, progress
//! bars and tables belong to those who ask. A new kind of load goes into `load.rs`, a new way to prepare a
//! device into `preparation.rs`; then all front ends have it.

mod ageing;
mod foresight;
mod given;
mod inputs;
mod load;
mod measured;
mod named;
mod options;
mod preparation;
mod sharing;
mod steps;
mod untimed;
mod watch;

use std::sync::Arc;

use ftlab::config::Config;
use ftlab::device::{Contents, Device, DeviceSetup};
use ftlab::host::translation::LogStore;
use ftlab::host::zones::Zones;
use ftlab::host::{Host, Op};
use ftlab::scheduler::Probe;
use ftlab::stats::{
    AgedBefore, Arriving, Circumstances, HostTranslationReport, PhaseStats, Recorder,
    SCHEMA_VERSION, phase_called,
};
use ftlab::units::{Nanos, SECTOR_BYTES};
use ftlab_workload::accesses::Accesses;
use ftlab_workload::fio::{DriveFacts, JobFile};
use ftlab_workload::generate::{Generator, Workload};
use ftlab_workload::replay::{
    self, Batches, Crew, Ended, Progress, Replay, ReplayError, Source, finished,
};

use self::measured::Clock;
use self::watch::Supervision;
use crate::chunks::guarded;
use crate::failure::Failure;
use crate::human;
use crate::load::{Decoder, TraceFacts};
use crate::memory::Instruments;
use crate::power_cuts::{LosesPower, Played, PowerCutReport, refuse_without_recovery};
use crate::recording::{Flags, Recording, refuse_requests};
use crate::result::{
    DeviceDocument, LoadDocument, ReplayDocument, ResultDocument, StepDocument, notes_on_clocks,
};
use crate::stop::Stop;
use crate::tenants::{self, Tenant};
use crate::translation;

pub use foresight::refuse as refuse_foresight;
pub use given::{GivenRequests, GivenSource, LATEST};
pub use load::{LoadSource, OpenedLoad};
pub use measured::{Measured, TimeSpent};
pub use named::NamedRun;
pub use options::{AddressKind, MOST_OUTSTANDING, ReplayKind, RunOptions, parse_span, parse_speed};
pub use preparation::{Preparation, Prepared, is_physical, rest, told_of_end};
pub use watch::{Conduct, RunView, Watcher};

/// An experiment, without its device.
pub struct Experiment {
    /// The load.
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

/// A device that an experiment has prepared, and what was recorded meanwhile.
#[derive(Clone, Debug)]
pub struct PreparedRun<P = (), C = ()> {
    /// The device.
    pub device: Device<P, C>,
    recorder: Recorder,
    phases_before: u32,
    /// The steps of the preparation.
    pub steps: Vec<StepDocument>,
    seed: u64,
}

/// A prepared device within a run.
struct PreparedPart<P, C> {
    device: Device<P, C>,
    seed: u64,
    steps: Vec<StepDocument>,
    /// Runs since the preparation began.
    clock: Clock,
}

/// What the document of a run states besides the outcome of its load.
struct Setting<'a> {
    config: &'a Config,
    seed: u64,
    /// Warnings about the image.
    hints: Vec<String>,
    /// The number of phases before the load.
    prepared: usize,
    steps: Vec<StepDocument>,
    power_cuts: Option<PowerCutReport>,
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

/// What is said of a trace without times that is played by its times.
const WITHOUT_TIMES: &str = "the requests of the trace have no times, so all arrive at once, when the run begins, and wait for \
                             each other: latencies and rates mean nothing; `queue_depth` keeps so many outstanding, and \
                             `replay` asap as many as do not depend on each other";

impl Experiment {
    /// Builds the experiment of a load with these options.
    ///
    /// # Errors
    /// The options contradict each other or the load; or a file that they name cannot be read.
    pub fn new(load: LoadSource, options: &RunOptions) -> Result<Experiment, Failure> {
        let preparation = Preparation::new(options, Some(&load))?;
        let skipped = match &load {
            LoadSource::Workload(workload) if preparation.uses_device() && !options.all_phases => {
                workload.unmeasured_lead()
            }
            _ => Vec::new(),
        };
        Ok(Experiment {
            options: options.replay(&load)?,
            arriving: options.arriving(&load),
            preparation,
            load,
            skipped,
            accesses: options.accesses,
            inputs: inputs::Inputs::default(),
            cut_power: options.cut_power,
        })
    }

    /// Checks that the experiment can be performed on a device, `at_once` times at the same time.
    ///
    /// # Errors
    /// The image does not fit the device, the device cannot do what is asked, or there is too little memory.
    pub fn check(&self, config: &Config, at_once: usize) -> Result<(), Failure> {
        self.preparation.image().map_or(Ok(()), |image| image.check(config))?;
        self.preparation.refuse_physical(config)?;
        self.refuse_uncut(config)?;
        self.refuse_translated(config)?;
        self.refuse_unforeseen(config)?;
        crate::memory::refuse_too_much(config, self.preparation.share_filled(), at_once)
    }

    /// Refuses a power cut on a device that cannot recover from one.
    ///
    /// # Errors
    /// The device cannot recover.
    fn refuse_uncut(&self, config: &Config) -> Result<(), Failure> {
        self.cut_power.map_or(Ok(()), |_| refuse_without_recovery(config))
    }

    /// Refuses what a store of the host on the device does not survive.
    ///
    /// # Errors
    /// The host translates addresses.
    fn refuse_translated(&self, config: &Config) -> Result<(), Failure> {
        let image = self.preparation.image().map(|_| "`image`");
        let what = image.or(self.cut_power.map(|_| "`cut_power`"));
        what.map_or(Ok(()), |what| translation::refuse(config, what))
    }

    /// Performs the experiment on a new device, whose configuration was [checked](Self::check) before. `load`
    /// comes from [`LoadSource::open`].
    ///
    /// # Errors
    /// Stopped before anything was measured; or the load or the file of requests failed.
    pub fn perform(
        &self,
        load: OpenedLoad,
        config: &Config,
        seed: u64,
        conduct: Conduct<'_>,
    ) -> Result<Measured, Failure> {
        finished(self.play_with(load, config, seed, conduct, Instruments::default()))
    }

    /// As [`perform`](Self::perform), on a device with a probe and with the bytes that it carries. Pending whenever the
    /// watcher [pauses](Watcher::looks) the run; [`finished`] runs it to its end.
    ///
    /// # Errors
    /// As there.
    pub async fn play_with<P: Probe + Clone, C: Contents + Clone>(
        &self,
        load: OpenedLoad,
        config: &Config,
        seed: u64,
        conduct: Conduct<'_>,
        instruments: Instruments<P, C>,
    ) -> Result<Measured<P, C>, Failure> {
        let Conduct { watcher, stop, requests } = conduct;
        refuse_requests(requests.is_some())?;
        let mut supervision = Supervision { watcher, stop };
        guarded(self.preparation.image(), async {
            let mut device = self.preparation.device_with(config, seed, instruments)?;
            let flags = Flags::default();
            let mut recording = Recording::new(&device, requests, &flags);
            let clock = Clock::start();
            let steps = self
                .preparation
                .carry_out(config, seed, &mut device, &mut recording, &mut supervision)
                .await?;
            let prepared = PreparedPart { device, seed, steps, clock };
            self.measure_part(prepared, load, config, recording, &mut supervision).await
        })
        .await
    }

    /// Performs the preparation alone. Experiments with the same preparation, on devices of the same configuration,
    /// can [continue](Self::measure) from clones of it, with the same results as if each had performed it.
    ///
    /// # Errors
    /// Stopped; or the device failed.
    pub fn prepare<P: Probe + Clone, C: Contents + Clone>(
        &self,
        config: &Config,
        seed: u64,
        watcher: &mut dyn Watcher,
        stop: &Stop,
        instruments: Instruments<P, C>,
    ) -> Result<PreparedRun<P, C>, Failure> {
        let mut supervision = Supervision { watcher, stop };
        finished(guarded(self.preparation.image(), async {
            let mut device = self.preparation.device_with(config, seed, instruments)?;
            let flags = Flags::default();
            let mut recording = Recording::new(&device, None, &flags);
            let steps = self
                .preparation
                .carry_out(config, seed, &mut device, &mut recording, &mut supervision)
                .await?;
            let Recording { recorder, phases_before, .. } = recording;
            Ok(PreparedRun { device, recorder, phases_before, steps, seed })
        }))
    }

    /// Performs the rest of an experiment whose preparation was performed, by this or another experiment with the
    /// same preparation, on a device of the same configuration. The requests of the preparation are not recorded.
    ///
    /// # Errors
    /// As [`perform`](Self::perform).
    pub fn measure<P: Probe + Clone, C: Contents + Clone>(
        &self,
        prepared: PreparedRun<P, C>,
        load: OpenedLoad,
        config: &Config,
        conduct: Conduct<'_>,
    ) -> Result<Measured<P, C>, Failure> {
        let Conduct { watcher, stop, requests } = conduct;
        refuse_requests(requests.is_some())?;
        let PreparedRun { device, recorder, phases_before, steps, seed } = prepared;
        let flags = Flags::default();
        let mut recording = Recording::new(&device, requests, &flags);
        (recording.recorder, recording.phases_before) = (recorder, phases_before);
        let prepared = PreparedPart { device, seed, steps, clock: Clock::start() };
        let mut supervision = Supervision { watcher, stop };
        let measured = self.measure_part(prepared, load, config, recording, &mut supervision);
        finished(guarded(self.preparation.image(), measured))
    }

    async fn measure_part<P: Probe + Clone, C: Contents + Clone>(
        &self,
        prepared: PreparedPart<P, C>,
        load: OpenedLoad,
        config: &Config,
        mut recording: Recording<'_>,
        supervision: &mut Supervision<'_>,
    ) -> Result<Measured<P, C>, Failure> {
        let PreparedPart { device: mut ssd, seed, steps, clock } = prepared;
        let hints = self.preparation.hints(config, &ssd);
        preparation::refuse_ended(&ssd, &steps)?;
        let foreseen = self.foresee(config, &mut ssd, seed, supervision).await?;
        let prepared = recording.recorder.phases().len();
        recording.measuring = true;
        recording.accesses = self.accesses.then(Accesses::default);
        let rules = config.host_translation();
        let mut stored = None;
        let (mut outcome, power_cuts) = match (self.cut_power, rules) {
            (None, Some(rules)) => {
                let mut host = LogStore::new(&mut ssd, rules);
                let outcome = self.play(load, seed, &mut host, &mut recording, supervision).await?;
                stored = Some((host.counts(), host.table_bytes()));
                (outcome, None)
            }
            (None, None) => {
                (self.play(load, seed, &mut ssd, &mut recording, supervision).await?, None)
            }
            (Some(every), _) => {
                let stop = supervision.stop.clone();
                let outside = &self.preparation.outside;
                let setup = outside.install(DeviceSetup::new(config, seed))?;
                let mut host = LosesPower::new(&mut ssd, setup, every, stop);
                let outcome = self.play(load, seed, &mut host, &mut recording, supervision).await?;
                (outcome, Some(host.into_report()))
            }
        };
        let spent = clock.stop();
        outcome.assumed.extend(foreseen);
        recording.recorder.phase_ended(&ssd);
        if let Some(error) = recording.error {
            return Err(Failure::File(format!(
                "can't write requests.parquet: {error}\n  remedy: check that there is room, or choose another place \
                 (`output`)"
            )));
        }
        let setting = Setting { config, seed, hints, prepared, steps, power_cuts };
        let mut document = self.document(setting, outcome, &ssd, &recording);
        document.host_translation = rules.zip(stored).map(|(rules, (counts, map_bytes))| {
            let written = &document.report.write_amplification;
            HostTranslationReport::new(&rules, counts, map_bytes, written)
        });
        let Recording { recorder, requests, tally: jobs, .. } = recording;
        Ok(Measured { document, recorder, device: ssd, jobs, requests, spent })
    }

    /// Puts together the document of a run.
    fn document<P: Probe, C: Contents>(
        &self,
        setting: Setting<'_>,
        mut outcome: Outcome,
        ssd: &Device<P, C>,
        recording: &Recording<'_>,
    ) -> ResultDocument {
        let Setting { config, seed, hints, prepared, steps, power_cuts } = setting;
        outcome.warnings.extend(hints);
        outcome.assumed.extend(self.preparation.outside.assumed());
        outcome.warnings.extend(steps.iter().filter_map(StepDocument::complaint));
        let complete = outcome.replayed.ended != Ended::Stopped;
        let circumstances = Circumstances {
            arriving: self.arriving,
            interrupted: !complete,
            aged: aged_before(&steps, &recording.recorder.phases()[prepared..]),
        };
        let limit = self.options.limits.requests;
        let mut report = recording.recorder.report(ssd, &circumstances);
        tenants::name_queues(&mut report, &outcome.tenants, ssd.queues());
        let skipped = steps.iter().filter_map(StepDocument::skipped);
        let skipped = skipped.chain(self.note_on_skipped()).chain(notes_on_clocks(&steps));
        let cut = cut_note(&outcome.replayed.mapping);
        let dry = dry_note(&outcome.replayed, &recording.names);
        let short = short_note(&outcome.replayed, limit);
        let shared = sharing::notes(outcome.replayed.sharing.as_ref());
        report
            .notes
            .extend(dry.into_iter().chain(short).chain(skipped).chain(outcome.notes).chain(cut));
        report.notes.extend(shared);
        ResultDocument {
            schema_version: SCHEMA_VERSION,
            complete,
            ftlab_version: env!("CARGO_PKG_VERSION").to_owned(),
            report,
            device: DeviceDocument::new(
                config,
                ssd.zones().map_or(ssd.capacity_sectors(), Zones::data_sectors),
            ),
            seed,
            load: outcome.load,
            accesses: recording.accesses.as_ref().map(Accesses::report),
            power_cuts,
            host_translation: None,
            precondition: steps,
            replay: ReplayDocument {
                skipped_phases: self.skipped.clone(),
                ..ReplayDocument::new(&self.options, limit, &outcome.replayed)
            },
            assumed: outcome.assumed,
            warnings: outcome.warnings,
        }
    }

    async fn play<H: Played>(
        &self,
        load: OpenedLoad,
        seed: u64,
        ssd: &mut H,
        recording: &mut Recording<'_>,
        supervision: &mut Supervision<'_>,
    ) -> Result<Outcome, Failure> {
        let name = self.load.name();
        let addresses = format!("addresses: {}", self.options.mapping.describe());
        match load {
            OpenedLoad::Workload(workload) => {
                let wanted = self.options.limits.requests.unwrap_or(0);
                let workload = Arc::unwrap_or_clone(workload).continued_to(wanted);
                let mut source = Generator::new(&workload, ssd.capacity_sectors(), seed)
                    .map_err(Failure::usage)?;
                if !self.skipped.is_empty() {
                    source.skip_unmeasured_lead();
                }
                recording.names = phase_names(&workload);
                supervision.watcher.begins(&name, None);
                let replayed =
                    play_source(ssd, &mut source, recording, self.options, supervision).await?;
                let load = LoadDocument::workload(&workload);
                let tenants = tenants::of_workload(&workload);
                let shared = tenants::note_on_sharing(&workload, ssd.device().queues());
                let (assumed, warnings) = (vec![addresses], Vec::new());
                let notes = shared.into_iter().collect();
                Ok(Outcome { load, notes, replayed, tenants, assumed, warnings })
            }
            OpenedLoad::Fio(jobs) => self.play_jobs(&jobs, seed, ssd, recording, supervision).await,
            OpenedLoad::Trace(file, trace) => {
                recording.names = vec!["trace".to_owned()];
                supervision.watcher.begins(&name, Some(trace.meter()));
                let limit = self.options.limits.requests;
                let mut decoder = Decoder::start(*trace, limit);
                let stop = supervision.stop;
                let fill = |batch: &mut _| decoder.fill(batch, stop);
                let mut source = Batches::new(fill, limit);
                let replayed =
                    play_source(ssd, &mut source, recording, self.options, supervision).await?;
                drop(source);
                let TraceFacts { facts, digest, requests } = decoder.finish();
                let mut assumed = facts.assumed.clone();
                assumed.push(addresses);
                let mut warnings = facts.warnings.clone();
                let by_time = matches!(self.arriving, Arriving::ByTime);
                warnings.extend((facts.timeless && by_time).then(|| WITHOUT_TIMES.to_owned()));
                let load = LoadDocument::trace(&file, &TraceFacts { facts, digest, requests });
                let tenants = Vec::new();
                Ok(Outcome { load, notes: Vec::new(), replayed, tenants, assumed, warnings })
            }
            OpenedLoad::Requests(mut given) => {
                recording.names = vec!["requests".to_owned()];
                supervision.watcher.begins(&name, None);
                let replayed =
                    play_source(ssd, &mut given, recording, self.options, supervision).await?;
                let (digest, requests) = given.finish();
                let load = LoadDocument::requests(&name, digest, requests);
                let (notes, tenants, warnings) = (Vec::new(), Vec::new(), Vec::new());
                Ok(Outcome { load, notes, replayed, tenants, assumed: vec![addresses], warnings })
            }
        }
    }

    fn note_on_skipped(&self) -> Option<String> {
        skipped_note(&self.load.name(), &self.skipped)
    }

    async fn play_jobs<H: Played>(
        &self,
        jobs: &JobFile,
        seed: u64,
        ssd: &mut H,
        recording: &mut Recording<'_>,
        supervision: &mut Supervision<'_>,
    ) -> Result<Outcome, Failure> {
        let plan = jobs.plan_on(&DriveFacts::of(ssd), seed);
        let plan = plan.map_err(Failure::usage)?;
        recording.names.clone_from(&plan.phase_names);
        recording.tally = Some(plan.tally);
        supervision.watcher.begins(&self.load.name(), None);
        ssd.identify_streams(&plan.identities);
        let crew = Crew { host: ssd, sink: recording, limits: self.options.limits };
        let mut watch = |progress: &Progress, host: &H, recording: &Recording<'_>| {
            supervision.looks(progress, host, recording)
        };
        let replayed = crew.play(plan.groups, &mut watch).await;
        supervision.watcher.ended();
        let tenants = tenants::of_jobs(&plan.stream_names);
        let load = LoadDocument::fio(jobs, plan.stream_names);
        let replayed = ended(replayed, supervision.stop)?;
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

/// Notes that the load has fewer requests than were asked for.
fn short_note(replayed: &replay::Report, limit: Option<u64>) -> Option<String> {
    let measured = replayed.phases.iter().filter(|phase| phase.measured);
    let measured: u64 = measured.map(|phase| phase.requests).sum();
    let limit = limit.filter(|&limit| replayed.ended == Ended::Source && measured < limit)?;
    Some(format!(
        "The load ended after {} measured requests: it has fewer than the {} that were asked for (`requests`).",
        human::count(measured),
        human::count(limit)
    ))
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
             already prepared (`precondition`, `image`). `all_phases` plays everything.",
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

/// Marks a replay as stopped if it was: a source that was stopped while it waited for
/// input looks as if it had ended.
fn ended(
    report: Result<replay::Report, ReplayError>,
    stop: &Stop,
) -> Result<replay::Report, Failure> {
    let mut report = report.map_err(|error| match error {
        ReplayError::Standstill { .. } => Failure::Experiment(error.to_string()),
        other => Failure::usage(other),
    })?;
    if stop.is_set() {
        report.ended = Ended::Stopped;
    }
    Ok(report)
}

fn phase_names(workload: &Workload) -> Vec<String> {
    workload.group_names()
}

/// Plays a source.
async fn play_source<H: Played, S: Source>(
    ssd: &mut H,
    source: &mut S,
    recording: &mut Recording<'_>,
    options: replay::Options,
    supervision: &mut Supervision<'_>,
) -> Result<replay::Report, Failure> {
    let replay = Replay { host: ssd, source, sink: recording, options };
    let mut watch = |progress: &Progress, host: &H, recording: &Recording<'_>| {
        supervision.looks(progress, host, recording)
    };
    let report = replay.play(&mut watch).await;
    supervision.watcher.ended();
    ended(report, supervision.stop)
}
