//! `ftlab run`: device, load and output put together.

use std::cell::Cell;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ftlab::config::Config;
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::host::Host;
use ftlab::stats::{Arriving, Circumstances, Recorder, SCHEMA_VERSION};
use ftlab_workload::generate::{Arrivals, Generator, Workload};
use ftlab_workload::replay::{
    self, Batches, Ended, Limits, Mapping, Pacing, Progress, Replay, Source,
};
use ftlab_workload::trace::{self, Trace};

use crate::args::{AddressKind, ReplayKind, RunArgs};
use crate::failure::Failure;
use crate::interrupt::{self, STOP};
use crate::load::{self, Decoder, TraceFacts, short_name};
use crate::progress::Bar;
use crate::recording::Recording;
use crate::result::{
    self, DeviceDocument, Document, Folder, LoadDocument, ReplayDocument, Requests, RunDocument,
    Target,
};
use crate::{device, table};

/// Where results go unless the user says.
const RESULTS: &str = "ftlab-results";
/// How many requests `--replay asap` looks at together unless the user says.
const ASAP_DEPTH: u32 = 256;
/// Of shorter runs no speed is told: the system counts processor time in steps too coarse for it.
const SHORTEST_TIMED_S: f64 = 0.05;

/// What is played.
enum Load {
    Trace(String, Box<Trace>),
    Workload(Workload),
}

impl Load {
    fn name(&self) -> String {
        match self {
            Load::Trace(file, _) => short_name(file),
            Load::Workload(workload) => short_name(&workload.name),
        }
    }
}

/// Everything of a run that does not change while it runs.
struct Plan {
    options: replay::Options,
    arriving: Arriving,
    quiet: bool,
}

/// What the run came to.
struct Outcome {
    load: LoadDocument,
    replayed: replay::Report,
    assumed: Vec<String>,
    warnings: Vec<String>,
}

/// Runs it.
pub fn run(args: &RunArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let config = device::load(&args.device, &args.sets)?;
    let options = replay::Options {
        pacing: pacing(args)?,
        mapping: mapping(args)?,
        limits: Limits { requests: args.requests, time: None },
    };
    let load = open_load(args)?;
    let before = args.precondition.as_deref().map(load::workload).transpose()?;
    let mut ssd = assemble(DeviceSetup::new(&config, args.seed));
    let plan = Plan { options, arriving: arriving(args, &load), quiet: args.output.quiet };
    interrupt::listen()?;
    let folder = prepare_folder(args, &config, &load)?;
    if !plan.quiet {
        device::warn(&config);
        for left in folder.iter().flat_map(Folder::abandoned) {
            let left = left.display();
            eprintln!("note: a run that seems to have been killed left {left}; remove it if so");
        }
    }
    if let Some(folder) = &folder {
        interrupt::removes(folder.path());
    }

    let failed = Cell::new(false);
    let mut recording = Recording {
        recorder: Recorder::new(&ssd),
        requests: start_requests(args, folder.as_ref())?,
        error: None,
        failed: &failed,
        names: Vec::new(),
        measuring: false,
        phases_before: 0,
    };
    let clock = Clock::start();
    if let Some(workload) = &before {
        precondition(workload, args.seed, &mut ssd, &mut recording, plan.quiet)?;
    }
    recording.measuring = true;
    let outcome = play(args, load, &plan, &mut ssd, &mut recording)?;
    let spent = clock.stop();
    recording.recorder.phase_ended(&ssd);
    if let Some(error) = recording.error {
        return Err(Failure::usage(format!("can't write requests.parquet: {error}")));
    }
    let complete = outcome.replayed.ended != Ended::Stopped;
    let circumstances = Circumstances { arriving: plan.arriving, interrupted: !complete };
    let document = Document {
        schema_version: SCHEMA_VERSION,
        complete,
        ftlab_version: env!("CARGO_PKG_VERSION"),
        report: recording.recorder.report(&ssd, &circumstances),
        device: DeviceDocument::new(&config, ssd.capacity_sectors()),
        seed: args.seed,
        load: outcome.load,
        precondition: before.as_ref().map(LoadDocument::workload),
        replay: ReplayDocument::new(&plan.options, args.requests, &outcome.replayed),
        assumed: outcome.assumed,
        warnings: outcome.warnings,
    };
    let phases = recording.recorder.phases();
    let requests: u64 = phases.iter().map(|phase| phase.host.requests()).sum();
    let speed = RunDocument {
        command_line: std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        wall_s: spent.wall.as_secs_f64(),
        cpu_s: spent.cpu.as_secs_f64(),
        requests_per_cpu_s: requests as f64 / spent.cpu.as_secs_f64().max(1e-9),
    };
    let json = to_json(&document)?;
    let path = match folder {
        Some(folder) => {
            if let Some(requests) = recording.requests {
                requests.finish().map_err(unwritten("requests.parquet"))?;
            }
            let timeline = folder.create("timeline.parquet")?;
            result::write_timeline(timeline, recording.recorder.timeline())
                .map_err(unwritten("timeline.parquet"))?;
            folder.write("config.toml", config.show().as_bytes())?;
            folder.write("run.json", to_json(&speed)?.as_bytes())?;
            folder.write(result::MARK, json.as_bytes())?;
            Some(interrupt::publishing(|| folder.publish(complete))?)
        }
        None => None,
    };
    if args.output.json {
        out.write_all(json.as_bytes())?;
    } else if !plan.quiet {
        table::print(&document, &device::title(&config), out)?;
    }
    out.flush()?;
    if !plan.quiet {
        say_the_end(&speed, requests, path.as_ref());
    }
    if complete { Ok(()) } else { Err(Failure::Interrupted) }
}

fn unwritten(name: &'static str) -> impl Fn(parquet::errors::ParquetError) -> Failure {
    move |error| Failure::usage(format!("can't write {name}: {error}"))
}

fn to_json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| text + "\n").map_err(Failure::usage)
}

fn say_the_end(speed: &RunDocument, requests: u64, path: Option<&PathBuf>) {
    if let Some(path) = path {
        eprintln!("Result: {}", path.display());
    }
    let rate = match crate::human::rate(speed.requests_per_cpu_s) {
        rate if speed.cpu_s >= SHORTEST_TIMED_S => format!(": {rate} requests a second"),
        _ => String::new(),
    };
    eprintln!(
        "{} requests in {:.2} s of processor time ({:.2} s on the clock){rate}",
        crate::human::count(requests),
        speed.cpu_s,
        speed.wall_s,
    );
}

fn open_load(args: &RunArgs) -> Result<Load, Failure> {
    match (&args.trace, &args.workload) {
        (Some(file), _) => {
            let trace = load::open(file, args.reading.options())?;
            Ok(Load::Trace(file.clone(), Box::new(trace)))
        }
        (None, Some(name)) => {
            let workload = load::workload(name)?;
            refuse_what_has_no_effect(args, &workload)?;
            Ok(Load::Workload(workload))
        }
        (None, None) => Err(Failure::usage("say what is to be played: --trace or --workload")),
    }
}

/// Flags that a workload does not heed.
fn refuse_what_has_no_effect(args: &RunArgs, workload: &Workload) -> Result<(), Failure> {
    let reading = args.reading.given();
    if !reading.is_empty() {
        let (flags, verb, it) = (
            reading.join(", "),
            if reading.len() == 1 { "is" } else { "are" },
            if reading.len() == 1 { "it" } else { "them" },
        );
        return Err(Failure::usage(format!(
            "{flags} {verb} for reading traces: a workload is not read from one\n  remedy: leave {it} \
             out, or give a trace with --trace"
        )));
    }
    if args.pace.speed.is_some() && !has_times(workload) {
        return Err(Failure::usage(format!(
            "--speed changes the times of requests, and those of the workload {} follow \
             completions\n  remedy: leave it out",
            workload.name
        )));
    }
    Ok(())
}

/// Whether a measured phase of a workload has requests at times of their own.
fn has_times(workload: &Workload) -> bool {
    let mut measured = workload.phases.iter().filter(|phase| phase.measure);
    measured.any(|phase| !matches!(phase.arrivals, Arrivals::Closed { .. }))
}

fn pacing(args: &RunArgs) -> Result<Pacing, Failure> {
    let pace = &args.pace;
    let Pacing::Source { queue_limit, .. } = Pacing::default() else {
        return Ok(Pacing::default());
    };
    let closed = |depth| Pacing::Closed { depth, think_time: ftlab::units::Nanos::ZERO };
    let kind = match (pace.replay, pace.queue_depth) {
        (None, Some(_)) => ReplayKind::Closed,
        (kind, _) => kind.unwrap_or(ReplayKind::Open),
    };
    if pace.speed.is_some() && kind != ReplayKind::Open {
        return Err(Failure::usage(
            "--speed changes the times of requests, and this replay does not follow them\n  \
             remedy: leave out --speed, or --queue-depth and --replay",
        ));
    }
    match (kind, pace.queue_depth) {
        (ReplayKind::Open, depth) => Ok(Pacing::Source {
            speed: pace.speed.unwrap_or(ftlab::units::Ratio::ONE),
            queue_limit: depth.unwrap_or(queue_limit),
        }),
        (ReplayKind::Closed, Some(depth)) => Ok(closed(depth)),
        (ReplayKind::Asap, depth) => {
            Ok(Pacing::Dependencies { depth: depth.unwrap_or(ASAP_DEPTH) })
        }
        (ReplayKind::Closed, None) if args.workload.is_some() => Ok(Pacing::default()),
        (ReplayKind::Closed, None) => Err(Failure::usage(
            "a closed loop keeps a number of requests outstanding, but how many?\n  remedy: say \
             --queue-depth, for example --queue-depth 32",
        )),
    }
}

fn arriving(args: &RunArgs, load: &Load) -> Arriving {
    let open = match (args.pace.replay, args.pace.queue_depth) {
        (None, None) | (Some(ReplayKind::Open), _) => true,
        (Some(ReplayKind::Closed | ReplayKind::Asap), _) | (None, Some(_)) => false,
    };
    let timed = match load {
        Load::Trace(..) => true,
        Load::Workload(workload) => has_times(workload),
    };
    if open && timed { Arriving::ByTime } else { Arriving::AfterCompletions }
}

/// Scaling and partitioning may have to know the whole trace first.
fn mapping(args: &RunArgs) -> Result<Mapping, Failure> {
    let kind = args.pace.address;
    let Some(file) = &args.trace else {
        return match kind {
            AddressKind::AsIs => Ok(Mapping::AsIs),
            _ => Err(Failure::usage(
                "--address is for traces: a workload is laid out for the device anyway\n  remedy: \
                 leave it out",
            )),
        };
    };
    match kind {
        AddressKind::AsIs => Ok(Mapping::AsIs),
        AddressKind::Fold => Ok(Mapping::Fold),
        AddressKind::Compact => Ok(Mapping::Compact),
        AddressKind::Scale(Some(span_sectors)) => Ok(Mapping::Scale { span_sectors }),
        AddressKind::Partition(Some(slices)) => Ok(Mapping::Partition { slices }),
        AddressKind::Scale(None) | AddressKind::Partition(None) if file == "-" => {
            Err(Failure::usage(
                "standard input can be read only once, and this needs to know the whole trace \
                 first\n  remedy: say scale:SIZE or partition:N, or save the trace to a file",
            ))
        }
        AddressKind::Scale(None) => {
            let span_sectors = look_through(file, args)?.max_lba_end;
            Ok(Mapping::Scale { span_sectors })
        }
        AddressKind::Partition(None) => {
            let streams = look_through(file, args)?.streams;
            Ok(Mapping::Partition { slices: u32::try_from(streams).unwrap_or(u32::MAX) })
        }
    }
}

fn look_through(file: &str, args: &RunArgs) -> Result<trace::Inspection, Failure> {
    let mut trace = load::open(file, args.reading.options())?;
    trace::inspect(&mut trace).map_err(Failure::usage)
}

fn prepare_folder(args: &RunArgs, config: &Config, load: &Load) -> Result<Option<Folder>, Failure> {
    if args.output.no_output {
        return Ok(None);
    }
    let target = match &args.output.output {
        Some(path) => Target::Named(path.clone()),
        None => Target::Counted {
            parent: PathBuf::from(RESULTS),
            stem: format!("{}-{}", short_name(&config.options.device.name), load.name()),
        },
    };
    Folder::prepare(target, args.output.force).map(Some)
}

fn start_requests(args: &RunArgs, folder: Option<&Folder>) -> Result<Option<Requests>, Failure> {
    match folder.filter(|_| args.output.records) {
        Some(folder) => {
            let file = folder.create("requests.parquet")?;
            Requests::new(file).map(Some).map_err(unwritten("requests.parquet"))
        }
        None => Ok(None),
    }
}

/// Plays a workload whose phases are not measured.
fn precondition(
    workload: &Workload,
    seed: u64,
    ssd: &mut Device,
    recording: &mut Recording<'_>,
    quiet: bool,
) -> Result<(), Failure> {
    let mut source =
        Generator::new(workload, ssd.capacity_sectors(), seed).map_err(Failure::usage)?;
    recording.names = phase_names(workload);
    let options = replay::Options::default();
    let report = replay(ssd, &mut source, recording, options, Bar::new("preconditioning", !quiet))?;
    if report.ended == Ended::Stopped {
        eprintln!("Interrupted while preconditioning: nothing was measured, nothing is written.");
        return Err(Failure::Interrupted);
    }
    recording.phases_before = u32::try_from(report.phases.len()).unwrap_or(u32::MAX);
    Ok(())
}

fn phase_names(workload: &Workload) -> Vec<String> {
    workload.phases.iter().map(|phase| phase.name.clone()).collect()
}

fn play(
    args: &RunArgs,
    load: Load,
    plan: &Plan,
    ssd: &mut Device,
    recording: &mut Recording<'_>,
) -> Result<Outcome, Failure> {
    let bar = Bar::new(&load.name(), !plan.quiet);
    match load {
        Load::Workload(workload) => {
            let mut source = Generator::new(&workload, ssd.capacity_sectors(), args.seed)
                .map_err(Failure::usage)?;
            recording.names = phase_names(&workload);
            let replayed = replay(ssd, &mut source, recording, plan.options, bar)?;
            let load = LoadDocument::workload(&workload);
            let assumed = vec![format!("addresses: {}", plan.options.mapping.describe())];
            Ok(Outcome { load, replayed, assumed, warnings: Vec::new() })
        }
        Load::Trace(file, trace) => {
            recording.names = vec!["trace".to_owned()];
            let bar = bar.metered(trace.meter());
            let mut decoder = Decoder::start(*trace, args.requests);
            let fill = |batch: &mut _| decoder.fill(batch, &STOP);
            let mut source = Batches::new(fill, args.requests);
            let replayed = replay(ssd, &mut source, recording, plan.options, bar)?;
            drop(source);
            let TraceFacts { facts, digest, requests } = decoder.finish();
            let mut assumed = facts.assumed.clone();
            assumed.push(format!("addresses: {}", plan.options.mapping.describe()));
            let warnings = facts.warnings.clone();
            let load = LoadDocument::trace(&file, &TraceFacts { facts, digest, requests });
            Ok(Outcome { load, replayed, assumed, warnings })
        }
    }
}

/// Plays a source, unless Ctrl-C has been pressed before.
fn replay<S: Source>(
    ssd: &mut Device,
    source: &mut S,
    recording: &mut Recording<'_>,
    options: replay::Options,
    mut bar: Bar,
) -> Result<replay::Report, Failure> {
    let failed = recording.failed;
    let mut watch = |progress: &Progress| {
        bar.show(progress);
        let stop = STOP.load(Ordering::Relaxed) || failed.get();
        if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let replay = Replay { host: ssd, source, sink: recording, options };
    let report = replay.run(&mut watch);
    bar.finish();
    let mut report = report.map_err(Failure::usage)?;
    // A source that was stopped while it waited for input looks as if it had come to its end.
    if STOP.load(Ordering::Relaxed) {
        report.ended = Ended::Stopped;
    }
    Ok(report)
}

/// Measures time on the clock and on the processor.
struct Clock {
    started: Instant,
    cpu: Option<Duration>,
}

/// What was spent.
struct Spent {
    wall: Duration,
    cpu: Duration,
}

impl Clock {
    fn start() -> Clock {
        Clock { started: Instant::now(), cpu: processor_time() }
    }

    /// Where the system does not tell processor time, it is time on the clock.
    fn stop(self) -> Spent {
        let wall = self.started.elapsed();
        let cpu = self.cpu.zip(processor_time()).map_or(wall, |(from, to)| to - from);
        Spent { wall, cpu }
    }
}

/// Processor time of this thread so far, where the system tells: Linux does.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
