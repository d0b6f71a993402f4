//! `ftlab reproduce`: the experiments of papers, run again, with their printed numbers beside ours.
//!
//! An experiment is a folder: `experiment.toml` declares what is run, what is measured, what the paper
//! prints and how near is near enough; beside it lie devices, workloads and a README. Those of
//! `experiments/` are built in. No paper has code of its own: what a declaration can't say yet becomes
//! a key here, for all of them.

mod cases;
mod curve;
mod declaration;
mod document;
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
mod reader;
mod table;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use serde_json::json;

use self::cases::{Case, LeftOut, Ready};
use self::declaration::Place;
use self::document::Reproduction;
use self::judge::Ran;
use self::library::Found;
use self::measure::Measured;
use self::perform::Jobs;
use crate::args::ReproduceArgs;
use crate::experiment::LoadSource;
use crate::failure::Failure;
use crate::interrupt;
use crate::memory;
use crate::result::{self, Folder, MARK, Target};
use crate::run::{RESULTS, mention_abandoned};
use crate::seeds;

/// The page.
const PAGE: &str = "report.html";
/// What lists the experiments in place of running one.
const LIST: &str = "list";
/// Names the folder of real traces.
const TRACES: &str = "FTLAB_TRACES";

/// Reproduces, or lists what can be.
pub fn run(args: &ReproduceArgs, out: &mut dyn Write) -> Result<(), Failure> {
    args.output.refuse_idle_force(false)?;
    if args.names.iter().any(|name| name == LIST) {
        return match args.names.len() {
            1 => list(args.output.json, out),
            _ => Err(Failure::usage(
                "`list` lists what there is, and runs nothing\n  remedy: leave it out, or the names",
            )),
        };
    }
    let wanted = if args.names.is_empty() { library::names() } else { args.names.clone() };
    let found = wanted.iter().map(|name| library::find(name)).collect::<Result<Vec<_>, _>>()?;
    refuse_one_name_twice(&found)?;
    let plans = found.into_iter().map(|found| Plan::new(args, found));
    let plans = plans.collect::<Result<Vec<Plan>, Failure>>()?;
    interrupt::listen()?;
    let folders = Folders::prepare(args, &plans)?;
    // What is wrong with a later one is told before an earlier one has taken its time.
    if let [_, _, ..] = plans[..] {
        plans.iter().try_for_each(Plan::try_out)?;
    }
    let mut done = Vec::new();
    let ended = reproduce_all(args, &plans, folders, &mut done, out);
    if args.output.json && plans.len() > 1 && !done.is_empty() {
        writeln!(out, "]")?;
    }
    out.flush()?;
    ended?;
    match done.iter().any(|document| document.verdicts.out_of_tolerance > 0) {
        true => Err(Failure::Check),
        false => Ok(()),
    }
}

/// Runs one after the other and tells each as it is done: several as a list, which is left open.
fn reproduce_all(
    args: &ReproduceArgs,
    plans: &[Plan],
    mut folders: Folders,
    done: &mut Vec<Reproduction>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let several = plans.len() > 1;
    for (at, plan) in plans.iter().enumerate() {
        let document = plan.reproduce(args, folders.0[at].take(), out)?;
        if args.output.json {
            if several {
                writeln!(out, "{}", if done.is_empty() { "[" } else { "," })?;
            }
            out.write_all(result::to_json(&document)?.as_bytes())?;
            out.flush()?;
        }
        done.push(document);
    }
    if several && !args.output.json && !args.output.quiet {
        table::all(done, out)?;
    }
    Ok(())
}

/// A folder that is named by hand is there; a variable may name what only tests of another checkout have.
fn refuse_no_folder(traces: Option<&Path>) -> Result<(), Failure> {
    match traces {
        Some(folder) if !folder.is_dir() => Err(Failure::usage(format!(
            "there is no folder {}\n  remedy: name the folder in which the traces are (--traces)",
            folder.display()
        ))),
        _ => Ok(()),
    }
}

fn refuse_one_name_twice(found: &[Found]) -> Result<(), Failure> {
    let names: Vec<&str> = found.iter().map(|found| found.declaration.name.as_str()).collect();
    match (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        Some(at) => Err(Failure::usage(format!(
            "two of these experiments are called {}\n  remedy: name each once; `name` in {} is its name",
            names[at], found[at].label
        ))),
        None => Ok(()),
    }
}

/// An experiment that is ready to be run.
struct Plan {
    found: Found,
    cases: Vec<Case>,
    left_out: Vec<LeftOut>,
    seeds: Vec<u64>,
    threads: usize,
}

impl Plan {
    fn new(args: &ReproduceArgs, mut found: Found) -> Result<Plan, Failure> {
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
                "{} needs traces for all that it runs, such as {}\n  remedy: name the folder in which they \
                 are (--traces FOLDER)",
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
        // Only traces are read from their files again.
        let is_trace = |case: &Case| matches!(case.experiment.load, LoadSource::Trace { .. });
        if !cases.iter().any(is_trace) {
            found.unpacked = None;
        }
        Ok(Plan { found, cases, left_out, seeds, threads })
    }

    /// One run with one seed: whether the metrics are there shows only then.
    fn try_out(&self) -> Result<(), Failure> {
        let jobs = Jobs {
            cases: &self.cases[..1],
            seeds: &self.seeds[..1],
            metrics: &self.found.declaration.metrics,
            curves: &self.found.declaration.curves,
            kept: &[Vec::new()],
            threads: 1,
            bar: false,
        };
        jobs.perform().inspect_err(|failure| self.tell_interrupted(failure)).map(drop)
    }

    fn tell_interrupted(&self, failure: &Failure) {
        if matches!(failure, Failure::Interrupted) {
            eprintln!("Interrupted: nothing is written of {}.", self.found.declaration.name);
        }
    }

    fn reproduce(
        &self,
        args: &ReproduceArgs,
        folder: Option<Folder>,
        out: &mut dyn Write,
    ) -> Result<Reproduction, Failure> {
        let declaration = &self.found.declaration;
        if !args.output.quiet {
            mention_abandoned(folder.as_ref());
        }
        let places: Vec<Place> = self.cases.iter().map(|case| case.place.clone()).collect();
        let kept = match args.claims_only {
            true => vec![Vec::new(); places.len()],
            false => cases::curves_drawn(declaration, &places),
        };
        let jobs = Jobs {
            cases: &self.cases,
            seeds: &self.seeds,
            metrics: &declaration.metrics,
            curves: &declaration.curves,
            kept: &kept,
            threads: self.threads,
            bar: !args.output.quiet,
        };
        let performed = jobs.perform().inspect_err(|failure| self.tell_interrupted(failure))?;
        let measured = Measured {
            places,
            numbers: performed.numbers,
            curves: performed.curves,
            axes: declaration.axes.clone(),
        };
        let figures = if args.claims_only { &[][..] } else { &declaration.figures };
        let ran = Ran {
            cases: &self.cases,
            loads: &performed.loads,
            seeds: &self.seeds,
            left_out: &self.left_out,
        };
        let document = judge::judged(&self.found, figures, &ran, &measured);
        if !args.output.quiet && !args.output.json {
            table::print(&document, jobs.runs(), out)?;
            maps::print(declaration, figures, &measured, out)?;
            out.flush()?;
        }
        if let Some(folder) = folder {
            let page = page::of(&self.found, figures, &document, &measured)?;
            folder.write(PAGE, page.as_bytes())?;
            folder.write(MARK, result::to_json(&document)?.as_bytes())?;
            let path = interrupt::publish(folder, true)?;
            if !args.output.quiet {
                eprintln!("Result: {}, page: {}", path.display(), path.join(PAGE).display());
            }
        }
        Ok(document)
    }

    fn folder(&self, args: &ReproduceArgs, several: bool) -> Result<Option<Folder>, Failure> {
        if args.output.no_output {
            return Ok(None);
        }
        let name = &self.found.declaration.name;
        let target = match &args.output.output {
            Some(path) if several => Target::Named(path.join(name)),
            Some(path) => Target::Named(path.clone()),
            None => Target::Counted {
                parent: PathBuf::from(RESULTS),
                stem: format!("reproduce-{name}"),
            },
        };
        Folder::prepare(target, args.output.force).map(Some)
    }
}

/// Where results go, one for each experiment, until it is taken.
struct Folders(Vec<Option<Folder>>);

impl Folders {
    /// Checks that all of them can be written.
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
        // The first may have made the folder around all of them, and goes last.
        while self.0.pop().is_some() {}
    }
}

/// What is built in.
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
            })
        });
        out.write_all(result::to_json(&of.collect::<Vec<_>>())?.as_bytes())?;
        return Ok(());
    }
    for (at, one) in all.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let numbers: usize = one.claims.iter().map(|claim| claim.rows.len()).sum();
        let runs = cases::needed(one, true).len() * one.seeds as usize;
        crate::table::line(out, &one.name, &one.title)?;
        crate::table::line(out, "", &one.paper)?;
        let counted = [(numbers, "number"), (one.figures.len(), "figure"), (runs, "run")];
        let counted = counted.map(|(number, of)| table::several(number, of)).join(", ");
        crate::table::line(out, "", &counted)?;
    }
    Ok(())
}

/// Whether a folder holds what this command writes.
pub fn is_reproduction(document: &serde_json::Value) -> bool {
    document["kind"] == document::KIND
}
