//! `ftlab compare` and `ftlab report`: variants under the same load, side by side.
//!
//! Each run is written as `ftlab run` writes it and read back, so that comparisons only depend on
//! result folders, however they were made.

mod build;
mod document;
mod finished;
mod group;
mod metrics;
mod page;
mod past;
mod perform;
mod statistics;
mod table;
mod variants;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use ftlab::options::presets;

use self::build::Series;
use self::document::Comparison;
use self::finished::Finished;
use self::group::Grouped;
use self::perform::Jobs;
use self::variants::Variant;

pub use self::variants::read_choices;
use crate::args::{CompareArgs, ReportArgs};
use crate::device;
use crate::experiment::LoadSource;
use crate::failure::Failure;
use crate::interrupt;
use crate::memory;
use crate::result::{self, COMPARISON, FileKind, Folder, PARTIAL, ResultTarget, VARIANTS};
use crate::resume;
use crate::run::{RESULTS, mention_abandoned};
use crate::seeds;

/// The HTML page.
const PAGE: &str = "report.html";

/// `ftlab compare`.
pub fn run(args: &CompareArgs, out: &mut dyn Write) -> Result<(), Failure> {
    args.output.refuse_idle_force(false)?;
    let finished = |name: &&String| group::is_finished(name);
    match args.what.iter().filter(finished).count() {
        0 => compare_devices(args, out),
        all if all == args.what.len() => compare_results(args, out),
        _ => Err(mixed(&args.what)),
    }
}

/// Returns the failure for a name that is a path and does not exist.
fn missing(names: &[String]) -> Option<Failure> {
    let is_path = |name: &str| Path::new(name).components().count() > 1 || name.ends_with(PARTIAL);
    let missing = names.iter().find(|name| is_path(name) && !Path::new(name).exists())?;
    Some(no_result(missing))
}

fn no_result(name: &str) -> Failure {
    Failure::usage(format!(
        "there is no result {name}, and no device of that name\n  remedy: check the name; a result is a folder \
         with a file {}",
        result::MARK
    ))
}

/// Returns the failure for a mixture of results and other names.
fn mixed(names: &[String]) -> Failure {
    let is_there = |name: &str| presets::find(name).is_some() || Path::new(name).exists();
    let mut others = names.iter().filter(|name| !group::is_finished(name));
    if let Some(missing) = others.clone().find(|name| !is_there(name)) {
        return no_result(missing);
    }
    let other = others.next().map_or("", String::as_str);
    let what = if Path::new(other).is_dir() { "a folder without a result" } else { "a device" };
    Failure::usage(format!(
        "some of these are results, but {other} is {what}\n  remedy: name only results, or only devices; \
         ftlab run makes a result of a device"
    ))
}

fn compare_devices(args: &CompareArgs, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(missing) = missing(&args.what) {
        return Err(missing);
    }
    // Check the load first: its errors do not belong to a variant.
    LoadSource::new(&args.load)?;
    let variants = variants::all(args)?;
    let load = &variants[0].experiment.load;
    if matches!(load, LoadSource::Trace { file, .. } if file == "-") {
        return Err(Failure::usage(
            "standard input can be read only once, but each run has to read it\n  remedy: save the \
             trace to a file",
        ));
    }
    // Report a load that cannot be opened before anything runs.
    drop(load.open()?);
    let seeds = seeds::from(args.seed, args.seeds)?;
    let cores = available_parallelism().map_or(1, usize::from);
    let inputs = variants.iter().map(|one| one.inputs(&seeds)).collect::<Result<Vec<_>, _>>()?;
    let jobs = Jobs {
        inputs,
        variants: &variants,
        seeds: &seeds,
        threads: args.jobs.map_or(cores, |jobs| jobs as usize),
        bar: !args.output.quiet,
    };
    let at_once = jobs.at_once();
    variants.iter().try_for_each(|one| {
        one.experiment.preparation.refuse_physical(&one.config)?;
        one.experiment.refuse_uncut(&one.config).map_err(|failure| {
            failure.map_text(|text| format!("{text}\n  in the variant {}", one.name))
        })?;
        let share = one.experiment.preparation.share_filled();
        memory::refuse_too_much(&one.config, share, at_once)
    })?;
    if let Some(path) = done_already(args, &jobs) {
        resume::tell_done(path, &args.output);
        return tell_again(args, &jobs, path, out);
    }
    interrupt::listen()?;
    // Even without an output the runs need a folder.
    let nowhere = args.output.no_output.then(tempfile::tempdir).transpose()?;
    let stem = format!("compare-{}", load.name());
    let folder = prepare_folder(args, nowhere.as_ref().map(|place| place.path()), stem)?;
    let equal = warn(args, &variants, &folder);
    interrupt::removes(folder.path());
    resume::tell(jobs.take_up(&folder)?, jobs.runs(), &args.output);
    if let Err(failure) = jobs.perform(&folder) {
        return Err(stopped(failure, &jobs, folder, nowhere.is_none()));
    }
    let series = series_in(&jobs, folder.path())?;
    publish(args, &series, equal, folder, out)
}

/// Reads the results of all runs from the folder of the comparison.
fn series_in(jobs: &Jobs<'_>, folder: &Path) -> Result<Vec<Series>, Failure> {
    let mut series = Vec::new();
    for (variant, places) in jobs.variants.iter().zip(jobs.places()) {
        let read = |place: PathBuf| {
            let result = Finished::read(&folder.join(&place))?;
            Ok((place.to_string_lossy().into_owned(), result))
        };
        let results = places.into_iter().map(read).collect::<Result<_, Failure>>()?;
        let (name, settings) = (variant.name.clone(), variant.settings.clone());
        series.push(Series { name, settings, results });
    }
    Ok(series)
}

/// Returns the folder to write if it already contains a comparison of exactly these runs.
fn done_already<'a>(args: &'a CompareArgs, jobs: &Jobs<'_>) -> Option<&'a Path> {
    let path = args.output.output.as_deref().filter(|_| !args.output.force)?;
    let is_comparison = path.join(COMPARISON).is_file();
    let mut runs = jobs.places().into_iter().zip(&jobs.inputs).flat_map(|(places, inputs)| {
        let of = |(place, inputs): (PathBuf, &String)| (path.join(place), inputs.clone());
        places.into_iter().zip(inputs).map(of).collect::<Vec<_>>()
    });
    let is_run = |(place, inputs): (PathBuf, String)| resume::inputs_of(&place) == Some(inputs);
    (is_comparison && runs.all(is_run)).then_some(path)
}

/// Prints a comparison that is already complete.
fn tell_again(
    args: &CompareArgs,
    jobs: &Jobs<'_>,
    path: &Path,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let series = series_in(jobs, path)?;
    let comparison = build::comparison(&series, args.confidence, equal_notes(jobs.variants));
    print(args, &comparison, &result::to_json(&comparison)?, out)
}

fn compare_results(args: &CompareArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let idle = [
        ("--vary", !args.vary.is_empty()),
        ("--variant", !args.variants.is_empty()),
        ("--set", !args.sets.is_empty()),
        ("--trace", args.load.trace.is_some()),
        ("--workload", args.load.workload.is_some()),
        ("--fio", args.load.fio.is_some()),
        ("--precondition", args.load.precondition.is_some()),
        ("--image", args.load.image.is_some()),
    ];
    if let Some((flag, _)) = idle.iter().find(|(_, given)| *given) {
        return Err(Failure::usage(format!(
            "{flag} is for new runs, but these are finished results\n  remedy: \
             leave it out, or name devices",
        )));
    }
    let Grouped { series, notes } = group::group(&args.what)?;
    if series.len() < 2 {
        return Err(Failure::usage(
            "these are results of one configuration: nothing to compare\n  remedy: name results of \
             another one too; ftlab report makes a page of one",
        ));
    }
    group::check(&series)?;
    interrupt::listen()?;
    let nowhere = args.output.no_output.then(tempfile::tempdir).transpose()?;
    let stem = "compare-results".to_owned();
    let folder = prepare_folder(args, nowhere.as_ref().map(|place| place.path()), stem)?;
    publish(args, &series, notes, folder, out)
}

/// `ftlab report`: makes a page of finished results.
pub fn report(args: &ReportArgs) -> Result<(), Failure> {
    let kind = FileKind { name: "page of ftlab", flag: "-o", is_one: page::is_one };
    result::refuse_file(&args.output, &kind, args.force)?;
    let page = page_of_results(&args.results, args.confidence)?;
    result::write_file(&args.output, page.as_bytes(), &kind, args.force)?;
    if !args.quiet {
        say!("Page: {}", args.output.display());
    }
    Ok(())
}

/// Returns the page of finished results.
pub fn page_of_results(results: &[String], confidence: f64) -> Result<String, Failure> {
    let Grouped { series, notes } = group::group(results)?;
    group::check(&series)?;
    let comparison = build::comparison(&series, confidence, notes);
    page::of(&comparison, &series)
}

fn prepare_folder(
    args: &CompareArgs,
    nowhere: Option<&Path>,
    stem: String,
) -> Result<Folder, Failure> {
    let target = match (nowhere, &args.output.output) {
        (Some(place), _) => ResultTarget::Counted { parent: place.to_owned(), stem },
        (None, Some(path)) => ResultTarget::Named(path.clone()),
        (None, None) => ResultTarget::Counted { parent: PathBuf::from(RESULTS), stem },
    };
    Folder::prepare(target, args.output.force)
}

/// Returns notes on equal variants and on settings without effect.
fn equal_notes(variants: &[Variant]) -> Vec<String> {
    let equal = variants::equal_ones(variants);
    let equal = equal.iter().map(|(a, b)| format!("{a} and {b} are the same device."));
    let unused = variants::unused(variants);
    let unused = unused.iter().map(|path| {
        format!("{path} is set but has no effect: no variant has the policy that it belongs to.")
    });
    equal.chain(unused).collect()
}

/// Prints warnings about the variants; returns those that belong in the comparison.
fn warn(args: &CompareArgs, variants: &[Variant], folder: &Folder) -> Vec<String> {
    let notes = equal_notes(variants);
    if !args.output.quiet {
        notes.iter().for_each(|note| say!("warning: {note}"));
        device::warn_once(variants.iter().map(|variant| &variant.config));
        mention_abandoned(Some(folder));
    }
    notes
}

/// Handles a comparison that failed or was interrupted. An interrupted one keeps its finished runs.
fn stopped(failure: Failure, jobs: &Jobs<'_>, folder: Folder, keep: bool) -> Failure {
    if !matches!(failure, Failure::Interrupted) {
        return failure;
    }
    if !keep || !folder.path().join("runs").exists() {
        say!("Interrupted: no run had finished, so nothing is written.");
        return Failure::Interrupted;
    }
    let list = result::to_json(&jobs.finished(&folder));
    let listed = list.and_then(|list| folder.write(VARIANTS, list.as_bytes()));
    match listed.and_then(|()| interrupt::publish(folder, false)) {
        Ok(path) => {
            let path = path.display();
            say!(
                "Interrupted: the finished runs are in {path}; ftlab compare {path} compares them."
            );
            Failure::Interrupted
        }
        Err(failure) => failure,
    }
}

fn publish(
    args: &CompareArgs,
    series: &[Series],
    notes: Vec<String>,
    folder: Folder,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let comparison = build::comparison(series, args.confidence, notes);
    let json = result::to_json(&comparison)?;
    if !args.output.no_output {
        let page = page::of(&comparison, series)?;
        folder.write(PAGE, page.as_bytes())?;
        folder.write(COMPARISON, json.as_bytes())?;
        let path = interrupt::publish(folder, true)?;
        if !args.output.quiet {
            say!("Result: {}, page: {}", path.display(), path.join(PAGE).display());
        }
    }
    print(args, &comparison, &json, out)
}

fn print(
    args: &CompareArgs,
    comparison: &Comparison,
    json: &str,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if args.output.json {
        out.write_all(json.as_bytes())?;
    } else if !args.output.quiet {
        table::print(comparison, out)?;
    }
    Ok(out.flush()?)
}
