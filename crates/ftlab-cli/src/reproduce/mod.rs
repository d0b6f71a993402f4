//! `ftlab reproduce`: runs the experiments of papers again and compares their printed numbers with ours.

mod maps;
mod table;

use std::io::Write;
use std::path::{Path, PathBuf};

use ftlab_lab::Failure as LabFailure;
use ftlab_lab::Lab;
use ftlab_lab::reproduce::{
    Declaration, FoundExperiment, OutcomeCounts, Plan, PlanOptions, find, names, refuse_no_folder,
    runs_of, words::several,
};
use ftlab_lab::result::{self, Folder, MARK, PAGE, RUN, ResultTarget};
use ftlab_lab::resume::{RUNS, inputs_of};
use ftlab_lab::text_file;
use serde::Deserialize;
use serde_json::json;

use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::progress::Runs;
use crate::run::mention_abandoned;
use crate::{interrupt, resume};

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
        [] if args.all => names(),
        [] => return Err(which(args.output.json, out)),
        names => names.to_vec(),
    };
    let found = wanted.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
    refuse_one_name_twice(&found)?;
    let lab = interrupt::lab(args.jobs);
    let options = options(args)?;
    let plans = found.into_iter().map(|found| Plan::new(&lab, &options, found));
    let plans = plans.collect::<Result<Vec<Plan>, _>>()?;
    let plans: Vec<ReadyExperiment<'_>> =
        plans.into_iter().map(|plan| ReadyExperiment { plan, lab: &lab }).collect();
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
    plans: &[ReadyExperiment<'_>],
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

/// Returns what is asked of the experiments. A missing folder of traces that was named on the command line is refused;
/// the environment variable may name one that only exists elsewhere.
fn options(args: &ReproduceArgs) -> Result<PlanOptions, Failure> {
    refuse_no_folder(args.traces.as_deref())?;
    Ok(PlanOptions {
        claims_only: args.claims_only,
        quick: args.quick,
        traces: args.traces.clone().or_else(|| std::env::var_os(TRACES).map(PathBuf::from)),
        seeds: args.seeds,
        first_seed: args.seed,
    })
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
struct ReadyExperiment<'a> {
    plan: Plan,
    lab: &'a Lab,
}

impl ReadyExperiment<'_> {
    fn declaration(&self) -> &Declaration {
        &self.plan.found.declaration
    }

    /// Performs one run with one seed, which reveals missing metrics.
    fn try_out(&self) -> Result<(), Failure> {
        let tried = self.plan.try_out(self.lab).map_err(Failure::from);
        tried.inspect_err(|failure| self.tell_interrupted(failure, None))
    }

    fn tell_interrupted(&self, failure: &Failure, kept: Option<&Path>) {
        let name = &self.declaration().name;
        match (failure, kept) {
            (Failure::Lab(LabFailure::Interrupted), None) => {
                say!("Interrupted: nothing of {name} was written.")
            }
            (Failure::Lab(LabFailure::Interrupted), Some(path)) => say!(
                "Interrupted: the finished runs of {name} are in {}; the same command reuses them.",
                path.display()
            ),
            _ => {}
        }
    }

    /// Handles an experiment that failed or was interrupted. An interrupted one keeps its finished runs.
    fn stopped(&self, failure: Failure, folder: Option<Folder>) -> Failure {
        let holds = |folder: &Folder| folder.path().join(RUNS).is_dir();
        let is_interrupted = failure.is_interrupted();
        let kept = folder.filter(|folder| is_interrupted && holds(folder));
        match kept.map(|folder| interrupt::publish(folder, false)).transpose() {
            Ok(path) => {
                self.tell_interrupted(&failure, path.as_deref());
                failure
            }
            Err(unwritten) => unwritten,
        }
    }

    fn reproduce(
        &self,
        args: &ReproduceArgs,
        folder: Option<Folder>,
        out: &mut dyn Write,
    ) -> Result<Done, Failure> {
        if !args.output.quiet {
            mention_abandoned(folder.as_ref());
        }
        let (plan, runs) = (&self.plan, self.plan.runs());
        let bar = Runs::new(!args.output.quiet);
        let tell = |taken| resume::tell(taken, runs, &args.output);
        let reproduced = match plan.perform(self.lab, folder.as_ref(), &bar, tell) {
            Ok(reproduced) => reproduced,
            Err(failure) => return Err(self.stopped(failure.into(), folder)),
        };
        let document = &reproduced.document;
        if !args.output.quiet && !args.output.json {
            table::print(document, runs, out)?;
            maps::print(&plan.maps(&reproduced), out)?;
            out.flush()?;
        }
        let json = result::to_json(document)?;
        if let Some(folder) = folder {
            let page = plan.page(&reproduced, &self.lab.command)?;
            folder.remove_folder(RUNS)?;
            let run = json!({ "inputs_blake3": plan.fingerprint()? });
            folder.write(RUN, result::to_json(&run)?.as_bytes())?;
            folder.write(PAGE, page.as_bytes())?;
            folder.write(MARK, json.as_bytes())?;
            let path = interrupt::publish(folder, true)?;
            if !args.output.quiet {
                say!("Result: {}, page: {}", path.display(), path.join(PAGE).display());
            }
        }
        Ok(Done { name: document.name.clone(), verdicts: document.verdicts, json })
    }

    /// Returns the folder of the result, if the command line names one.
    fn named(&self, args: &ReproduceArgs, several: bool) -> Option<PathBuf> {
        let path = args.output.output.as_ref()?;
        Some(if several { path.join(&self.declaration().name) } else { path.clone() })
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
        let Some(known) = inputs_of(&path) else { return Ok(None) };
        Ok((known == self.plan.fingerprint()?).then_some(path))
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
        let name = self.declaration().name.clone();
        if !args.output.quiet && !args.output.json {
            table::all(&[(name.as_str(), verdicts)], out)?;
        }
        Ok(Done { name, verdicts, json })
    }

    fn folder(&self, args: &ReproduceArgs, several: bool) -> Result<Option<Folder>, Failure> {
        if args.output.no_output || self.done_already(args, several)?.is_some() {
            return Ok(None);
        }
        let name = &self.declaration().name;
        let target = match self.named(args, several) {
            Some(path) => ResultTarget::Named(path),
            None => args.output.target(format!("reproduce-{name}")),
        };
        Ok(Folder::prepare(target, args.output.force).map(Some)?)
    }
}

/// The result folders, one for each experiment, until they are taken.
struct Folders(Vec<Option<Folder>>);

impl Folders {
    /// Checks that all results can be written.
    fn prepare(args: &ReproduceArgs, plans: &[ReadyExperiment<'_>]) -> Result<Folders, Failure> {
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
    for name in names() {
        all.push(find(&name)?.declaration);
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
                "cases": runs_of(one, true) / one.seeds as usize,
                "seeds": one.seeds,
                "runs": runs_of(one, true),
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
    let runs = |with_figures| runs_of(one, with_figures);
    let counted = [(numbers, "number"), (one.figures.len(), "figure"), (runs(true), "run")];
    let counted = counted.map(|(number, of)| several(number, of)).join(", ");
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
