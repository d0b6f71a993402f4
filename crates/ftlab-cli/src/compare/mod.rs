//! `ftlab compare` and `ftlab report`: variants under the same load, side by side.

pub mod table;

use std::io::Write;
use std::path::Path;

use ftlab::options::presets;
use ftlab_lab::compare::{
    self, Comparison, ComparisonRuns, Grouped, Series, Variant, VariantsSpec, equal_notes,
};
use ftlab_lab::result::{self, COMPARISON, FileKind, Folder, PAGE, PARTIAL, ResultTarget};
use ftlab_lab::seeds;

use crate::args::{CompareArgs, ReportArgs};
use crate::failure::{Failure, with_flags};
use crate::progress::Runs;
use crate::run::mention_abandoned;
use crate::{device, interrupt, resume};

/// `ftlab compare`.
pub fn run(args: &CompareArgs, out: &mut dyn Write) -> Result<(), Failure> {
    args.output.refuse_idle_force(false)?;
    let finished = |name: &&String| compare::is_finished(name);
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
    let mut others = names.iter().filter(|name| !compare::is_finished(name));
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
    let load = args.load.load()?;
    let spec = VariantsSpec {
        devices: args.what.clone(),
        sets: device::settings(&args.sets),
        vary: args.vary.clone(),
        variants: args.variants.clone(),
    };
    let variants = compare::variants(&spec, &load, &args.load.options())?;
    if load.is_read_once() {
        return Err(Failure::usage(
            "standard input and pipes can be read only once, but each run has to read it\n  remedy: save the \
             trace to a file",
        ));
    }
    // Report a load that cannot be opened before anything runs.
    drop(load.open()?);
    let seeds = seeds::from(args.seed, args.seeds)?;
    let lab = interrupt::lab(args.jobs);
    let jobs = ComparisonRuns::new(&variants, &seeds, &lab)?;
    let named = args.output.output.as_deref().filter(|_| !args.output.force);
    if let Some(path) = named.and_then(|path| jobs.done_already(path)) {
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
    if let Err(failure) = jobs.perform(&folder, &Runs::new(!args.output.quiet)) {
        return Err(stopped(failure.into(), &jobs, folder, nowhere.is_none()));
    }
    let series = jobs.series_in(folder.path())?;
    publish(args, &series, equal, folder, out)
}

/// Prints a comparison that is already complete.
fn tell_again(
    args: &CompareArgs,
    jobs: &ComparisonRuns<'_>,
    path: &Path,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let series = jobs.series_in(path)?;
    let comparison = compare::comparison(&series, args.confidence, equal_notes(jobs.variants));
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
    let Grouped { series, notes } = compare::group(&args.what)?;
    if series.len() < 2 {
        return Err(Failure::usage(
            "these are results of one configuration: nothing to compare\n  remedy: name results of \
             another one too; ftlab report makes a page of one",
        ));
    }
    compare::check(&series)?;
    interrupt::listen()?;
    let nowhere = args.output.no_output.then(tempfile::tempdir).transpose()?;
    let stem = "compare-results".to_owned();
    let folder = prepare_folder(args, nowhere.as_ref().map(|place| place.path()), stem)?;
    publish(args, &series, notes, folder, out)
}

/// `ftlab report`: makes a page of finished results.
pub fn report(args: &ReportArgs) -> Result<(), Failure> {
    let kind = FileKind { name: "page of ftlab", option: "output", is_one: compare::is_page };
    result::refuse_file(&args.output, &kind, args.force)?;
    let command = interrupt::lab(None).command;
    let page = compare::page_of_results(&args.results, args.confidence, &command)?;
    result::write_file(&args.output, page.as_bytes(), &kind, args.force)?;
    if !args.quiet {
        say!("Page: {}", args.output.display());
    }
    Ok(())
}

fn prepare_folder(
    args: &CompareArgs,
    nowhere: Option<&Path>,
    stem: String,
) -> Result<Folder, Failure> {
    let target = match nowhere {
        Some(place) => ResultTarget::Counted { parent: place.to_owned(), stem },
        None => args.output.target(stem),
    };
    Ok(Folder::prepare(target, args.output.force)?)
}

/// Prints warnings about the variants; returns those that belong in the comparison.
fn warn(args: &CompareArgs, variants: &[Variant], folder: &Folder) -> Vec<String> {
    let notes = equal_notes(variants);
    if !args.output.quiet {
        notes.iter().for_each(|note| say!("warning: {}", with_flags(note)));
        device::warn_once(variants.iter().map(|variant| &variant.config));
        mention_abandoned(Some(folder));
    }
    notes
}

/// Handles a comparison that failed or was interrupted. An interrupted one keeps its finished runs.
fn stopped(failure: Failure, jobs: &ComparisonRuns<'_>, folder: Folder, keep: bool) -> Failure {
    if !failure.is_interrupted() {
        return failure;
    }
    let listed = if keep { jobs.list_finished(&folder) } else { Ok(false) };
    let kept = listed
        .map_err(Failure::from)
        .and_then(|any| any.then(|| interrupt::publish(folder, false)).transpose());
    match kept {
        Ok(None) => {
            say!("Interrupted: no run had finished, so nothing is written.");
            Failure::INTERRUPTED
        }
        Ok(Some(path)) => {
            let path = path.display();
            say!(
                "Interrupted: the finished runs are in {path}; ftlab compare {path} compares them."
            );
            Failure::INTERRUPTED
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
    let comparison = compare::comparison(series, args.confidence, notes);
    let json = result::to_json(&comparison)?;
    if !args.output.no_output {
        let page = compare::page(&comparison, series, &interrupt::lab(None).command)?;
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
