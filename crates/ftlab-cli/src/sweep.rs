//! `ftlab sweep`: runs at all combinations of the values of some axes, one table and a page of curves.

use std::io::Write;
use std::path::Path;

use ftlab_lab::Lab;
use ftlab_lab::compare::words::with_unit;
use ftlab_lab::result::{self, Folder, PAGE, SWEEP_CSV};
use ftlab_lab::resume::RUNS;
use ftlab_lab::sweep::{SweepDocument, SweepPlan, SweepRow, SweepTable, find};

use crate::args::SweepArgs;
use crate::failure::{Failure, with_flags};
use crate::progress::Runs;
use crate::run::mention_abandoned;
use crate::table::{fits, show, table, wrapped};
use crate::{device, interrupt, resume};

/// The metrics of the printed table, as far as they are known and there is room. All are in the files.
const PRINTED: [&str; 5] =
    ["iops", "write_amplification.total", "write.latency.p99", "read.latency.p99", "throughput"];
/// The most points that are printed.
const MOST_PRINTED: usize = 50;

/// `ftlab sweep`.
pub fn run(args: &SweepArgs, out: &mut dyn Write) -> Result<(), Failure> {
    args.output.refuse_idle_force(false)?;
    let mut sweep = find(&args.file)?;
    sweep.seeds = args.seeds.unwrap_or(sweep.seeds);
    sweep.first_seed = args.seed.unwrap_or(sweep.first_seed);
    let lab = interrupt::lab(args.jobs);
    let plan = SweepPlan::new(&lab, sweep)?;
    let named = args.output.output.as_deref().filter(|_| !args.output.force);
    if let Some((path, rows)) = done_already(named, &plan)? {
        if !args.output.quiet {
            let path = path.display();
            say!("Result: {path}, already complete for the same inputs: nothing was run");
        }
        return print(args, &plan.document(&plan.table(&rows)?), out);
    }
    interrupt::listen()?;
    let folder = args.output.folder(format!("sweep-{}", plan.sweep.name))?;
    if !args.output.quiet {
        plan.notes().iter().for_each(|note| say!("warning: {}", with_flags(note)));
        device::warn_once(plan.points().iter().map(|point| &*point.config));
        mention_abandoned(folder.as_ref());
    }
    folder.iter().for_each(|folder| interrupt::removes(folder.path()));
    let table = perform(args, &lab, &plan, folder)?;
    print(args, &plan.document(&table), out)
}

/// Returns the folder and its rows, if it already contains the result of exactly this sweep.
fn done_already<'a>(
    named: Option<&'a Path>,
    plan: &SweepPlan,
) -> Result<Option<(&'a Path, Vec<SweepRow>)>, Failure> {
    let Some(path) = named else { return Ok(None) };
    Ok(plan.rows_in(path)?.map(|rows| (path, rows)))
}

/// Performs the runs that have not finished before, and writes the result.
fn perform(
    args: &SweepArgs,
    lab: &Lab,
    plan: &SweepPlan,
    folder: Option<Folder>,
) -> Result<SweepTable, Failure> {
    let bar = Runs::new(!args.output.quiet);
    let tell = |taken| resume::tell(taken, plan.runs(), &args.output);
    let rows = match plan.perform(lab, folder.as_ref(), &bar, tell) {
        Ok(rows) => rows,
        Err(failure) => return Err(stopped(failure.into(), folder)),
    };
    let table = plan.table(&rows)?;
    if let Some(folder) = folder {
        plan.write(&folder, &table, &lab.command)?;
        let path = interrupt::publish(folder, true)?;
        if !args.output.quiet {
            let (table, page) = (path.join(SWEEP_CSV), path.join(PAGE));
            say!(
                "Result: {}, table: {}, page: {}",
                path.display(),
                table.display(),
                page.display()
            );
        }
    }
    Ok(table)
}

/// Handles a sweep that failed or was interrupted. An interrupted one keeps its finished runs.
fn stopped(failure: Failure, folder: Option<Folder>) -> Failure {
    if !failure.is_interrupted() {
        return failure;
    }
    let holds = |folder: &Folder| folder.path().join(RUNS).is_dir();
    match folder.filter(holds).map(|folder| interrupt::publish(folder, false)).transpose() {
        Ok(path) => {
            tell_interrupted(path.as_deref());
            failure
        }
        Err(unwritten) => unwritten,
    }
}

fn tell_interrupted(kept: Option<&Path>) {
    match kept {
        None => say!("Interrupted: no run had finished, so nothing is written."),
        Some(path) => say!(
            "Interrupted: the finished runs are in {}; the same command reuses them.",
            path.display()
        ),
    }
}

fn print(args: &SweepArgs, document: &SweepDocument, out: &mut dyn Write) -> Result<(), Failure> {
    if args.output.json {
        out.write_all(result::to_json(document)?.as_bytes())?;
    } else if !args.output.quiet {
        means(document, out)?;
        if !document.notes.is_empty() {
            writeln!(out, "\nNotes")?;
        }
        for note in document.notes.iter().map(|note| with_flags(note)) {
            wrapped(out, "- ", &note)?;
        }
    }
    Ok(out.flush()?)
}

/// Prints the means of the main metrics, of as many as fit.
fn means(document: &SweepDocument, out: &mut dyn Write) -> Result<(), Failure> {
    let seeds = document.seeds.len();
    let over = if seeds == 1 { "1 seed".to_owned() } else { format!("{seeds} seeds") };
    wrapped(out, "", &format!("{}: means over {over}", document.title))?;
    let is_known = |key: &&str| document.metrics.iter().any(|metric| metric.key == **key);
    let mut keys: Vec<&str> = PRINTED.into_iter().filter(|key| is_known(key)).collect();
    let mut made = table_of(document, &keys);
    while keys.len() > 1 && !fits(&mut made) {
        keys.pop();
        made = table_of(document, &keys);
    }
    show(made, out)?;
    let left = document.points.len().saturating_sub(MOST_PRINTED);
    if left > 0 {
        writeln!(out, "and {left} more points")?;
    }
    Ok(())
}

fn table_of(document: &SweepDocument, keys: &[&str]) -> comfy_table::Table {
    let metrics: Vec<_> =
        keys.iter().filter_map(|key| document.metrics.iter().find(|one| one.key == *key)).collect();
    let axes = document.axes.iter().map(|axis| axis.label.as_str());
    let head: Vec<&str> = axes.chain(metrics.iter().map(|metric| metric.name.as_str())).collect();
    let mut table = table(&head);
    for point in document.points.iter().take(MOST_PRINTED) {
        let names = document.axes.iter().map(|axis| axis.shown(point).to_owned());
        let mean = |key: &str, unit: &str| {
            point.metrics[key].map_or("-".to_owned(), |mean| with_unit(unit, mean.mean))
        };
        let means = metrics.iter().map(|metric| mean(&metric.key, &metric.unit));
        table.add_row(names.chain(means).collect::<Vec<String>>());
    }
    table
}
