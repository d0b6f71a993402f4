//! `ftlab reproduce`: runs the experiments of papers again and compares their printed numbers with ours.
//!
//! An experiment is a folder: `experiment.toml` declares the runs, the metrics, the paper's numbers and the
//! tolerances; beside it are devices, workloads and a README. Those in `experiments/` are built in. No paper
//! has code of its own: anything that a declaration cannot express yet becomes a new key, available to all.

mod cases;
mod curve;
mod declaration;
mod document;
pub mod fuzz;
mod judge;
mod keys;
mod library;
mod map;
mod maps;
mod measure;
mod numbers;
mod page;
mod parse;
mod perform;
mod points;
mod table;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use serde::Deserialize;
use serde_json::json;

use self::cases::{Case, LeftOut, Ready};
use self::declaration::{Coordinates, Declaration};
use self::document::OutcomeCounts;
use self::judge::RanExperiment;
use self::library::FoundExperiment;
use self::measure::Measured;
use self::perform::{Jobs, Noted};
use crate::args::ReproduceArgs;
use crate::experiment::LoadSource;
use crate::failure::Failure;
use crate::interrupt;
use crate::memory;
use crate::result::{self, Folder, MARK, RUN, ResultTarget};
use crate::resume::{self, RUNS};
use crate::run::{RESULTS, mention_abandoned};
use crate::seeds;
use crate::text_file;

/// The HTML page.
const PAGE: &str = "report.html";
/// The argument that lists the experiments instead of running one.
const LIST: &str = "list";
/// The environment variable with the folder of real traces.
const TRACES: &str = "FTLAB_TRACES";

/// `ftlab reproduce`.
pub fn run(args: &ReproduceArgs, out: &mut dyn Write) -> Result<(), Failure> {
    args.output.refuse_idle_force(false)?;
    if args.names.iter().any(|name| name == LIST) {
        return match args.names.len() {
            1 => list(args.output.json, out),
            _ => Err(Failure::usage(
                "`list` lists the built-in experiments and runs nothing\n  remedy: leave it out, or the names",
            )),
        };
    }
    let wanted = match args.names.as_slice() {
        [] if args.all => library::names(),
        [] => return Err(which(args.output.json, out)),
        names => names.to_vec(),
    };
    let found = wanted.iter().map(|name| library::find(name)).collect::<Result<Vec<_>, _>>()?;
    refuse_one_name_twice(&found)?;
    let plans = found.into_iter().map(|found| Plan::new(args, found));
    let plans = plans.collect::<Result<Vec<Plan>, Failure>>()?;
    interrupt::listen()?;
    let folders = Folders::prepare(args, &plans)?;
    // Try all experiments first, so that an error in a later one is reported before an earlier one
    // takes its time.
    if let [_, _, ..] = plans[..] {
        for plan in &plans {
            if plan.done_already(args, true)?.is_none() {
                plan.try_out()?;
            }
        }
    }
    let mut done = Vec::new();
    let ended = reproduce_all(args, &plans, folders, &mut done, out);
    if args.output.json && plans.len() > 1 && !done.is_empty() {
        writeln!(out, "]")?;
    }
    out.flush()?;
    ended?;
    match done.iter().any(|one| one.verdicts.out_of_tolerance > 0) {
        true => Err(Failure::Check),
        false => Ok(()),
    }
}

/// Runs the experiments one after another and prints each result when it is done. Several results
/// form a JSON list, which is left open.
fn reproduce_all(
    args: &ReproduceArgs,
    plans: &[Plan],
    mut folders: Folders,
    done: &mut Vec<Done>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let several = plans.len() > 1;
    for (at, plan) in plans.iter().enumerate() {
        let one = match plan.done_already(args, several)? {
            Some(path) => plan.tell_done(args, &path, out)?,
            None => plan.reproduce(args, folders.0[at].take(), out)?,
        };
        if args.output.json {
            if several {
                writeln!(out, "{}", if done.is_empty() { "[" } else { "," })?;
            }
            out.write_all(one.json.as_bytes())?;
            out.flush()?;
        }
        done.push(one);
    }
    if several && !args.output.json && !args.output.quiet {
        let verdicts: Vec<_> = done.iter().map(|one| (one.name.as_str(), one.verdicts)).collect();
        table::all(&verdicts, out)?;
    }
    Ok(())
}

/// A finished experiment.
struct Done {
    name: String,
    verdicts: OutcomeCounts,
    /// Its `result.json`.
    json: String,
}

/// Refuses a missing folder that was named on the command line. The environment variable may name
/// one that only exists elsewhere.
fn refuse_no_folder(traces: Option<&Path>) -> Result<(), Failure> {
    match traces {
        Some(folder) if !folder.is_dir() => Err(Failure::usage(format!(
            "there is no folder {}\n  remedy: name the folder of the traces with --traces",
            folder.display()
        ))),
        _ => Ok(()),
    }
}

fn refuse_one_name_twice(found: &[FoundExperiment]) -> Result<(), Failure> {
    let names: Vec<&str> = found.iter().map(|found| found.declaration.name.as_str()).collect();
    match (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        Some(at) => Err(Failure::usage(format!(
            "two of these experiments are named {}\n  remedy: name each once; `name` in {} is its name",
            names[at], found[at].label
        ))),
        None => Ok(()),
    }
}

/// An experiment that is ready to run.
struct Plan {
    found: FoundExperiment,
    cases: Vec<Case>,
    left_out: Vec<LeftOut>,
    seeds: Vec<u64>,
    threads: usize,
}

impl Plan {
    fn new(args: &ReproduceArgs, mut found: FoundExperiment) -> Result<Plan, Failure> {
        let places = cases::needed(&found.declaration, !args.claims_only);
        if places.is_empty() {
            return Err(Failure::usage(format!(
                "{} has no claims, only figures\n  remedy: leave --claims-only out",
                found.declaration.name
            )));
        }
        let traces = args.traces.clone().or_else(|| std::env::var_os(TRACES).map(PathBuf::from));
        refuse_no_folder(args.traces.as_deref())?;
        let Ready { cases, left_out } = cases::ready(&found, places, traces.as_deref())?;
        if cases.is_empty() {
            return Err(Failure::usage(format!(
                "{} needs traces for everything that it runs, such as {}\n  remedy: name the folder of the \
                 traces with --traces FOLDER",
                found.declaration.name, left_out[0].trace
            )));
        }
        let many = args.seeds.unwrap_or(found.declaration.seeds);
        let seeds = seeds::from(args.seed, many)?;
        let cores = available_parallelism().map_or(1, usize::from);
        let threads = args.jobs.map_or(cores, |jobs| jobs as usize).min(cases.len() * seeds.len());
        cases.iter().try_for_each(|case| {
            let share = case.experiment.preparation.share_filled();
            memory::refuse_too_much(&case.config, share, threads)
        })?;
        // Only traces are read from their files later.
        let is_trace = |case: &Case| matches!(case.experiment.load, LoadSource::Trace { .. });
        if !cases.iter().any(is_trace) {
            found.unpacked = None;
        }
        Ok(Plan { found, cases, left_out, seeds, threads })
    }

    /// Performs one run with one seed, which reveals missing metrics.
    fn try_out(&self) -> Result<(), Failure> {
        let jobs = Jobs {
            cases: &self.cases[..1],
            seeds: &self.seeds[..1],
            metrics: &self.found.declaration.metrics,
            curves: &self.found.declaration.curves,
            kept: &[Vec::new()],
            threads: 1,
            bar: false,
            notes: None,
        };
        jobs.perform().inspect_err(|failure| self.tell_interrupted(failure, None)).map(drop)
    }

    fn tell_interrupted(&self, failure: &Failure, kept: Option<&Path>) {
        let name = &self.found.declaration.name;
        match (failure, kept) {
            (Failure::Interrupted, None) => say!("Interrupted: nothing of {name} was written."),
            (Failure::Interrupted, Some(path)) => say!(
                "Interrupted: the finished runs of {name} are in {}; the same command reuses them.",
                path.display()
            ),
            _ => {}
        }
    }

    /// Handles an experiment that failed or was interrupted. An interrupted one keeps its finished runs.
    fn stopped(&self, failure: Failure, folder: Option<Folder>) -> Failure {
        let holds = |folder: &Folder| folder.path().join(RUNS).is_dir();
        let is_interrupted = matches!(failure, Failure::Interrupted);
        let kept = folder.filter(|folder| is_interrupted && holds(folder));
        match kept.map(|folder| interrupt::publish(folder, false)).transpose() {
            Ok(path) => {
                self.tell_interrupted(&failure, path.as_deref());
                failure
            }
            Err(unwritten) => unwritten,
        }
    }

    /// Returns the fingerprint of each run, by case and seed.
    fn inputs(&self) -> Result<Vec<Vec<String>>, Failure> {
        let of = |case: &Case| -> Result<Vec<String>, Failure> {
            self.seeds.iter().map(|&seed| case.experiment.inputs(&case.config, seed)).collect()
        };
        self.cases.iter().map(of).collect()
    }

    /// Returns the fingerprint of the whole experiment.
    fn fingerprint(&self, args: &ReproduceArgs, inputs: &[Vec<String>]) -> String {
        let FoundExperiment { text, readme, .. } = &self.found;
        let left_out: Vec<&String> = self.left_out.iter().map(|one| &one.trace).collect();
        let whole = format!("{:?}", (text, readme, args.claims_only, left_out, inputs));
        blake3::hash(whole.as_bytes()).to_hex().to_string()
    }

    fn reproduce(
        &self,
        args: &ReproduceArgs,
        folder: Option<Folder>,
        out: &mut dyn Write,
    ) -> Result<Done, Failure> {
        let declaration = &self.found.declaration;
        if !args.output.quiet {
            mention_abandoned(folder.as_ref());
        }
        let places: Vec<Coordinates> = self.cases.iter().map(|case| case.place.clone()).collect();
        let kept = match args.claims_only {
            true => vec![Vec::new(); places.len()],
            false => cases::curves_drawn(declaration, &places),
        };
        let inputs = self.inputs()?;
        let notes = folder.as_ref().map(|folder| Noted { folder, inputs: &inputs });
        let jobs = Jobs {
            cases: &self.cases,
            seeds: &self.seeds,
            metrics: &declaration.metrics,
            curves: &declaration.curves,
            kept: &kept,
            threads: self.threads,
            bar: !args.output.quiet,
            notes,
        };
        let runs = jobs.runs();
        resume::tell(jobs.take_up()?, runs, &args.output);
        let performed = jobs.perform();
        let performed = match performed {
            Ok(performed) => performed,
            Err(failure) => return Err(self.stopped(failure, folder)),
        };
        let measured = Measured {
            places,
            numbers: performed.numbers,
            curves: performed.curves,
            axes: declaration.axes.clone(),
        };
        let figures = if args.claims_only { &[][..] } else { &declaration.figures };
        let ran = RanExperiment {
            cases: &self.cases,
            loads: &performed.loads,
            seeds: &self.seeds,
            left_out: &self.left_out,
        };
        let document = judge::judged(&self.found, figures, &ran, &measured);
        if !args.output.quiet && !args.output.json {
            table::print(&document, runs, out)?;
            maps::print(declaration, figures, &measured, out)?;
            out.flush()?;
        }
        let json = result::to_json(&document)?;
        if let Some(folder) = folder {
            let page = page::of(&self.found, figures, &document, &measured)?;
            folder.remove_folder(RUNS)?;
            let run = json!({ "inputs_blake3": self.fingerprint(args, &inputs) });
            folder.write(RUN, result::to_json(&run)?.as_bytes())?;
            folder.write(PAGE, page.as_bytes())?;
            folder.write(MARK, json.as_bytes())?;
            let path = interrupt::publish(folder, true)?;
            if !args.output.quiet {
                say!("Result: {}, page: {}", path.display(), path.join(PAGE).display());
            }
        }
        Ok(Done { name: document.name, verdicts: document.verdicts, json })
    }

    /// Returns the folder of the result, if the command line names one.
    fn named(&self, args: &ReproduceArgs, several: bool) -> Option<PathBuf> {
        let path = args.output.output.as_ref()?;
        Some(if several { path.join(&self.found.declaration.name) } else { path.clone() })
    }

    /// Returns the folder to write if it already contains the result of exactly these runs.
    fn done_already(
        &self,
        args: &ReproduceArgs,
        several: bool,
    ) -> Result<Option<PathBuf>, Failure> {
        let Some(path) = self.named(args, several).filter(|_| !args.output.force) else {
            return Ok(None);
        };
        let Some(known) = resume::inputs_of(&path) else { return Ok(None) };
        Ok((known == self.fingerprint(args, &self.inputs()?)).then_some(path))
    }

    /// Prints the result of an experiment that is already complete.
    fn tell_done(
        &self,
        args: &ReproduceArgs,
        path: &Path,
        out: &mut dyn Write,
    ) -> Result<Done, Failure> {
        resume::tell_done(path, &args.output);
        let mark = path.join(MARK);
        let json =
            text_file::read(&mark).map_err(|error| Failure::file("can't read", &mark, &error))?;
        let document: serde_json::Value = serde_json::from_str(&json).map_err(Failure::usage)?;
        let verdicts = OutcomeCounts::deserialize(&document["verdicts"]).map_err(Failure::usage)?;
        let name = self.found.declaration.name.clone();
        if !args.output.quiet && !args.output.json {
            table::all(&[(name.as_str(), verdicts)], out)?;
        }
        Ok(Done { name, verdicts, json })
    }

    fn folder(&self, args: &ReproduceArgs, several: bool) -> Result<Option<Folder>, Failure> {
        if args.output.no_output || self.done_already(args, several)?.is_some() {
            return Ok(None);
        }
        let name = &self.found.declaration.name;
        let target = match self.named(args, several) {
            Some(path) => ResultTarget::Named(path),
            None => ResultTarget::Counted {
                parent: PathBuf::from(RESULTS),
                stem: format!("reproduce-{name}"),
            },
        };
        Folder::prepare(target, args.output.force).map(Some)
    }
}

/// The result folders, one for each experiment, until they are taken.
struct Folders(Vec<Option<Folder>>);

impl Folders {
    /// Checks that all results can be written.
    fn prepare(args: &ReproduceArgs, plans: &[Plan]) -> Result<Folders, Failure> {
        let mut folders = Folders(Vec::new());
        for plan in plans {
            let folder = plan.folder(args, plans.len() > 1)?;
            folder.iter().for_each(|folder| interrupt::removes(folder.path()));
            folders.0.push(folder);
        }
        Ok(folders)
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        // In reverse order, because the first may have created the common parent folder.
        while self.0.pop().is_some() {}
    }
}

/// Lists the experiments if none is named, because running them takes hours.
fn which(as_json: bool, out: &mut dyn Write) -> Failure {
    if let Err(failure) = list(as_json, out) {
        return failure;
    }
    Failure::usage(
        "which experiment? nothing was run\n  remedy: name one from the list above (ftlab reproduce NAME), with \
         --seeds 1 for a first look; --all runs all of them",
    )
}

/// Lists the built-in experiments.
fn list(as_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let mut all = Vec::new();
    for name in library::names() {
        all.push(library::find(&name)?.declaration);
    }
    if as_json {
        let of = all.iter().map(|one| {
            json!({
                "name": one.name,
                "title": one.title,
                "paper": one.paper,
                "doi": one.doi,
                "numbers": one.claims.iter().map(|claim| claim.rows.len()).sum::<usize>(),
                "figures": one.figures.len(),
                "cases": cases::needed(one, true).len(),
                "seeds": one.seeds,
                "runs": cases::needed(one, true).len() as u64 * one.seeds,
                "cpu_minutes": one.cpu_minutes,
            })
        });
        out.write_all(result::to_json(&of.collect::<Vec<_>>())?.as_bytes())?;
        return Ok(());
    }
    for (at, one) in all.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        crate::table::line(out, &one.name, &one.title)?;
        crate::table::line(out, "", &one.paper)?;
        crate::table::line(out, "", &cost(one))?;
    }
    Ok(())
}

/// Describes the size and cost of an experiment.
fn cost(one: &Declaration) -> String {
    let numbers: usize = one.claims.iter().map(|claim| claim.rows.len()).sum();
    let runs = |with_figures| cases::needed(one, with_figures).len() * one.seeds as usize;
    let counted = [(numbers, "number"), (one.figures.len(), "figure"), (runs(true), "run")];
    let counted = counted.map(|(number, of)| table::several(number, of)).join(", ");
    let claims = match runs(false) {
        few if few > 0 && few < runs(true) => {
            format!(" ({} with --claims-only)", crate::human::count(few as u64))
        }
        _ => String::new(),
    };
    let minutes = one.cpu_minutes.map_or(String::new(), |minutes| {
        let span = crate::human::span(minutes.saturating_mul(60_000_000_000));
        format!("; about {span} of processor time")
    });
    format!("{counted}{claims}{minutes}")
}

/// Whether a document is a result of `ftlab reproduce`.
pub fn is_reproduction(document: &serde_json::Value) -> bool {
    document["kind"] == document::KIND
}
