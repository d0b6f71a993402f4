//! `ftlab run`: performs one experiment, writes its result folder and prints its table.

use std::io::Write;
use std::path::{Path, PathBuf};

use ftlab::stats::Report;
use ftlab_lab::device::of_device_or_image;
use ftlab_lab::experiment::{Experiment, Measured};
use ftlab_lab::load::short_name;
use ftlab_lab::result::{
    self, FileKind, Folder, MOMENTS, REQUESTS, Requests, RunDocument, TableTarget,
};
use ftlab_lab::resume::inputs_of;
use ftlab_lab::timeline::{Again, Chooser, Chosen, When, perfetto};

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::progress::Bars;
use crate::{device, interrupt, resume, table};

/// Shorter runs show no speed, because the system measures processor time too coarsely.
const SHORTEST_TIMED_S: f64 = 0.05;

/// Performs the command.
pub fn run(args: &RunArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let quiet = args.output.quiet;
    let jobs_to = jobs_target(args)?;
    args.output.refuse_idle_force(matches!(jobs_to, Some(JobsTarget::File(_))))?;
    let experiment = Experiment::new(args.load.load()?, &args.load.options())?;
    let image = experiment.preparation.image();
    let config = of_device_or_image(args.device.as_deref(), &device::settings(&args.sets), image)?;
    experiment.check(&config, 1)?;
    if let Some(when) = &args.timeline {
        when.check(&experiment)?;
    }
    let lab = interrupt::lab(Some(1));
    let load = experiment.load.open()?;
    let inputs = experiment.inputs(&config, args.seed)?;
    let may_be_done = !experiment.load.is_read_once();
    if let Some(done) = done_already(args, &inputs).filter(|_| may_be_done) {
        return tell_done(args, done, out);
    }
    interrupt::listen()?;
    let device = short_name(&config.options.device.name);
    let folder = args.output.folder(format!("{device}-{}", experiment.load.name()))?;
    if !quiet {
        device::warn(&config);
        mention_abandoned(folder.as_ref());
    }
    if let Some(folder) = &folder {
        interrupt::removes(folder.path());
    }
    let requests = start_requests(args, folder.as_ref())?;
    let mut bars = Bars::new(!quiet);
    let measured = lab.run_opened(&experiment, load, &config, args.seed, &mut bars, requests);
    let mut measured = measured.map_err(Failure::from).inspect_err(|failure| {
        if failure.is_interrupted() {
            say!("Interrupted while preconditioning: nothing was measured, nothing is written.");
        }
    })?;
    let requests = measured.requests_played();
    let speed = lab.run_document(inputs, &measured);
    let complete = measured.document.complete;
    // Without a time line the result is still worth keeping.
    let mut drawn = Ok(());
    let path = match folder {
        Some(folder) => {
            if let Some(when) = args.timeline.as_ref().filter(|_| complete) {
                let again =
                    Again { lab: &lab, experiment: &experiment, config: &config, seed: args.seed };
                drawn = write_moments(&again, when, &mut measured, &folder, &mut bars);
            }
            if let Some(requests) = measured.requests.take() {
                let unwritten = result::unwritten(folder.path(), REQUESTS);
                let queues = &measured.document.report.host.queues;
                requests.finish(queues).map_err(unwritten)?;
            }
            result::write(&folder, "", &config, &measured, &speed)?;
            Some(interrupt::publish(folder, complete)?)
        }
        None => None,
    };
    let jobs = measured.jobs.as_ref().map(|jobs| result::fio_json(jobs, &config)).transpose()?;
    if let (Some(JobsTarget::File(path)), Some(jobs)) = (&jobs_to, &jobs) {
        result::write_file(path, jobs.as_bytes(), &FIO_JSON, args.output.force)?;
    }
    if let (Some(JobsTarget::Standard), Some(jobs)) = (&jobs_to, &jobs) {
        out.write_all(jobs.as_bytes())?;
    } else if args.output.json {
        out.write_all(result::to_json(&measured.document)?.as_bytes())?;
    } else if !quiet {
        table::print(&measured.document, &device::title(&config), out)?;
    }
    out.flush()?;
    if !quiet {
        say_the_end(&speed, requests, path.as_ref());
    }
    drawn?;
    match too_much_refused(&measured.document.report) {
        _ if !complete => Err(Failure::INTERRUPTED),
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

/// Returns the result folder if it already contains the result of these inputs.
fn done_already<'a>(args: &'a RunArgs, inputs: &str) -> Option<&'a Path> {
    let path = args.output.output.as_deref()?;
    // The folder does not say of what time a time line is.
    let has_files = args.timeline.is_none() && (!args.records || path.join(REQUESTS).is_file());
    let wanted = !args.output.force && args.fio_json.is_none() && has_files;
    (wanted && inputs_of(path).is_some_and(|known| known == inputs)).then_some(path)
}

fn tell_done(args: &RunArgs, path: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    resume::tell_done(path, &args.output);
    if args.output.json {
        let document = path.join(result::MARK);
        let text = std::fs::read(&document);
        let text = text.map_err(|error| Failure::file("can't read", &document, &error))?;
        out.write_all(&text)?;
    }
    Ok(())
}

/// Where fio's JSON goes besides the result folder.
enum JobsTarget {
    Standard,
    File(PathBuf),
}

const FIO_JSON: FileKind =
    FileKind { name: "output of fio in JSON", option: "fio_json", is_one: is_fio_json };

fn is_fio_json(begin: &[u8]) -> bool {
    let text = String::from_utf8_lossy(begin);
    text.trim_start().starts_with('{') && text.contains("\"fio version\"")
}

/// Returns where fio's JSON goes, after checking that it can be written there.
fn jobs_target(args: &RunArgs) -> Result<Option<JobsTarget>, Failure> {
    match &args.fio_json {
        Some(path) if path.as_os_str() == "-" && args.output.json => Err(Failure::usage(
            "--json and --fio-json - both print on standard output\n  remedy: name a file for \
             --fio-json, or leave one of them out",
        )),
        Some(path) if path.as_os_str() == "-" => Ok(Some(JobsTarget::Standard)),
        Some(path) => {
            let absolute = |path: &Path| {
                let failed = |error| Failure::file("can't write", path, &error);
                std::path::absolute(path).map_err(failed)
            };
            let place = absolute(path)?;
            let folder = args.output.output.as_deref().map(absolute).transpose()?;
            if folder.as_ref().is_some_and(|folder| place == folder.join(result::FIO)) {
                // The result folder contains it in any case.
                return Ok(None);
            }
            if folder.as_deref().is_none_or(|folder| place.parent() != Some(folder)) {
                result::check_file(path, &FIO_JSON, args.output.force)?;
            }
            Ok(Some(JobsTarget::File(path.clone())))
        }
        None => Ok(None),
    }
}

/// Fails if every request was refused: the device was read-only from the start. Or if zones refused most: the load knows no zones,
/// and what was measured is not what it asked for.
fn too_much_refused(report: &Report) -> Option<Failure> {
    let count = crate::human::count;
    let requests = report.host.requests;
    let errors = report.zones.as_ref().map_or(0, |zones| zones.counts.errors);
    let ended = report.health.as_ref().is_some_and(|health| health.end_of_life.is_some());
    if errors > requests && !ended {
        return Some(Failure::experiment(format!(
            "{} of {} requests failed because of the state of their zones\n  remedy: set host.translation.policy to \"log\"; or \
             write each zone at its write pointer, as a fio job with zonemode=zbd does",
            count(errors),
            count(errors + requests)
        )));
    }
    let refused: u64 = report.host.ops().map(|(_, op)| op.refused_requests).sum();
    let why = match ended {
        true => "the device is at the end of its life",
        false => "what is left of the device takes no writes",
    };
    (requests == 0 && refused > 0).then(|| {
        Failure::experiment(format!(
            "nothing was measured: {why}, and all {} requests were refused\n  remedy: read from it; for writes, use an image of \
             a younger device",
            count(refused)
        ))
    })
}

/// Mentions the folders that killed runs left.
pub fn mention_abandoned(folder: Option<&Folder>) {
    for left in folder.into_iter().flat_map(Folder::abandoned) {
        let left = left.display();
        say!("note: {left} seems to be left over from a killed run; remove it if so");
    }
}

fn say_the_end(speed: &RunDocument, requests: u64, path: Option<&PathBuf>) {
    if let Some(path) = path {
        say!("Result: {}", path.display());
    }
    let rate = match crate::human::rate(speed.requests_per_cpu_s) {
        rate if speed.cpu_s >= SHORTEST_TIMED_S => format!(": {rate} requests a second"),
        _ => String::new(),
    };
    say!(
        "{} requests in {:.2} s of processor time ({:.2} s on the clock){rate}",
        crate::human::count(requests),
        speed.cpu_s,
        speed.wall_s,
    );
}

fn start_requests(args: &RunArgs, folder: Option<&Folder>) -> Result<Option<Requests>, Failure> {
    let mut requests = match folder.filter(|_| args.records) {
        Some(folder) => {
            let file = folder.create(REQUESTS)?;
            let unwritten = result::unwritten(folder.path(), REQUESTS);
            Some(Requests::new(TableTarget::File(file)).map_err(unwritten)?)
        }
        None => None,
    };
    if let Some(choice) = args.timeline.as_ref().and_then(When::choice) {
        requests.get_or_insert_default().choose(Chooser::new(choice));
    }
    Ok(requests)
}

/// Performs the run again, and writes what the device did at some time.
fn write_moments(
    again: &Again<'_>,
    when: &When,
    measured: &mut Measured,
    folder: &Folder,
    bars: &mut Bars,
) -> Result<(), Failure> {
    let chosen = measured.requests.as_mut().map_or_else(Chosen::default, Requests::take_chosen);
    let windows = when.windows(&measured.document, &chosen)?;
    let traced = again.trace(&windows, bars)?;
    if result::to_json(&*traced.document)? != result::to_json(&measured.document)? {
        return Err(Failure::usage(
            "the run gave another result the second time: a file that it reads has changed meanwhile\n  remedy: run it again",
        ));
    }
    let geometry = again.config.flash();
    Ok(folder.write(MOMENTS, &perfetto(&traced, &geometry))?)
}
