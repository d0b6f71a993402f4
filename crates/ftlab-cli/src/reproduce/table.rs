//! The paper's numbers beside ours as a table: fits into 80 columns, without colours.

use std::io::{self, Write};

use super::document::{ClaimDocument, NumberVerdict, OutcomeCounts, Reproduction, RowDocument};
use super::numbers::{PERCENT, Printed, Tolerance, printed, signed, told};
use crate::human::count;
use crate::table::wrapped;

/// Stands for an unknown value.
const NONE: &str = "-";
/// The widest label that fits into the line of its numbers.
const LABEL: usize = 16;

/// Prints the result of an experiment that had `runs` runs.
pub fn print(document: &Reproduction, runs: usize, out: &mut dyn Write) -> io::Result<()> {
    wrapped(out, "", &format!("{}: {}", document.name, document.title))?;
    let doi = document.doi.as_ref().map_or(String::new(), |doi| format!(", doi {doi}"));
    wrapped(out, "", &format!("{}{doi}", document.paper))?;
    let (cases, runs) = (several(document.cases.len(), "case"), several(runs, "run"));
    writeln!(out, "{}, {cases}, {runs}", seeds(document))?;
    for note in document.axes.iter().filter_map(|axis| axis.note.as_ref()) {
        wrapped(out, "", note)?;
    }
    if !document.claims.is_empty() {
        writeln!(out)?;
        line(out, ["", "paper", "ftlab", "difference", "tolerance", "verdict"])?;
    }
    for claim in &document.claims {
        let origin = claim.origin.as_ref().map_or(String::new(), |by| format!("; numbers of {by}"));
        wrapped(out, "", &format!("{} ({}{origin})", claim.text, claim.place))?;
        for row in &claim.rows {
            print_row(claim, row, out)?;
        }
        if let Some(reason) = &claim.differs_because {
            wrapped(out, "  ", &format!("Declared to differ: {reason}"))?;
        }
    }
    writeln!(out)?;
    wrapped(out, "", &verdict_line(document))?;
    let notes = fewer_seeds(document).into_iter().chain(not_run(document));
    notes.into_iter().try_for_each(|note| wrapped(out, "", &note))
}

/// Formats a number of things, with a plural.
pub fn several(number: usize, of: &str) -> String {
    format!("{} {of}{}", count(number as u64), if number == 1 { "" } else { "s" })
}

/// Prints the verdicts of several experiments.
pub fn all(experiments: &[(&str, OutcomeCounts)], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    for (name, verdicts) in experiments {
        crate::table::line(out, name, &counted(*verdicts))?;
    }
    Ok(())
}

/// Describes the seeds.
pub fn seeds(document: &Reproduction) -> String {
    match document.seeds.as_slice() {
        [seed] => format!("Seed {seed}"),
        [first, .., last] => format!("{} seeds ({first} to {last})", document.seeds.len()),
        [] => String::new(),
    }
}

fn line(out: &mut dyn Write, cells: [&str; 6]) -> io::Result<()> {
    let [label, paper, ours, difference, tolerance, verdict] = cells;
    // A cell that is too long moves the others, but stays separated.
    let text = format!(
        "{label:<LABEL$} {paper:>10} {ours:>16} {difference:>12} {tolerance:>10}  {verdict}"
    );
    writeln!(out, "{}", text.trim_end())
}

fn print_row(claim: &ClaimDocument, row: &RowDocument, out: &mut dyn Write) -> io::Result<()> {
    let unit = &claim.unit;
    let mut label = format!("  {}", row.label);
    if label.chars().count() >= LABEL {
        wrapped(out, "  ", &row.label)?;
        label = String::new();
    }
    let cells = [
        label.as_str(),
        &printed(row.paper, unit),
        &ours_and_interval(row, unit),
        &difference(row, row.paper, row.tolerance, unit),
        &row.tolerance.map_or(String::new(), |tolerance| tolerance.told(unit)),
        short(row.verdict),
    ];
    line(out, cells)?;
    let Some(expected) = row.expected else { return Ok(()) };
    let cells = [
        "    expected",
        &printed(expected, unit),
        "",
        &difference(row, expected, row.expected_tolerance, unit),
        &row.expected_tolerance.map_or(String::new(), |tolerance| tolerance.told(unit)),
        "",
    ];
    line(out, cells)?;
    row.needless().map_or(Ok(()), |text| wrapped(out, "    ", text))
}

/// Formats our number with half the width of its interval, if there is one.
fn ours_and_interval(row: &RowDocument, unit: &str) -> String {
    let (Some(value), Some(high)) = (row.ours, row.high) else { return ours(row, unit) };
    let half = told(high - value, "");
    let number = ours(row, unit);
    let (number, unit) = number.rsplit_once(' ').unwrap_or((&number, ""));
    format!("{number} ±{half} {unit}").trim_end().to_owned()
}

/// Formats our number.
pub fn ours(row: &RowDocument, unit: &str) -> String {
    row.ours.map_or(NONE.to_owned(), |ours| told(ours, unit))
}

/// Formats the difference from a number, in the unit of its tolerance.
pub fn difference(
    row: &RowDocument,
    from: Printed,
    tolerance: Option<Tolerance>,
    unit: &str,
) -> String {
    let (Some(ours), Printed::Number(number)) = (row.ours, from) else { return String::new() };
    let relative = match tolerance {
        Some(Tolerance::Percent(_)) => true,
        Some(Tolerance::Absolute(_) | Tolerance::Range(..)) => false,
        None => unit != PERCENT,
    };
    let difference = ours - number;
    match relative {
        true if number == 0.0 => NONE.to_owned(),
        true => format!("{} %", signed(100.0 * difference / number.abs())),
        false if unit == PERCENT => format!("{} points", signed(difference)),
        false if unit.is_empty() => format!("{difference:+.3}"),
        false => format!("{} {unit}", signed(difference)),
    }
}

fn short(verdict: NumberVerdict) -> &'static str {
    match verdict {
        NumberVerdict::Reproduced => "reproduced",
        NumberVerdict::DiffersExplained => "explained",
        NumberVerdict::OutOfTolerance => "OUT",
        NumberVerdict::NotRun => "not run",
    }
}

/// Returns a verdict in full.
pub fn long(verdict: NumberVerdict) -> &'static str {
    match verdict {
        NumberVerdict::Reproduced => "reproduced",
        NumberVerdict::DiffersExplained => "differs, explained",
        NumberVerdict::OutOfTolerance => "out of tolerance",
        NumberVerdict::NotRun => "not run",
    }
}

/// Describes how many numbers have each verdict.
pub fn verdict_line(document: &Reproduction) -> String {
    counted(document.verdicts)
}

/// Describes how many numbers have each verdict.
fn counted(verdicts: OutcomeCounts) -> String {
    let OutcomeCounts { reproduced, differs_explained, out_of_tolerance, not_run } = verdicts;
    let left_out = if not_run > 0 { format!("; {not_run} not run") } else { String::new() };
    match reproduced + differs_explained + out_of_tolerance + not_run {
        0 => "The experiment has no number of the paper.".to_owned(),
        all => format!(
            "Of {} {reproduced} reproduced; {differs_explained} {}, explained; {out_of_tolerance} out \
             of tolerance{left_out}.",
            several(all, "number"),
            if differs_explained == 1 { "differs" } else { "differ" }
        ),
    }
}

/// Returns a note if the tolerances are meant for more seeds.
pub fn fewer_seeds(document: &Reproduction) -> Option<String> {
    let (declared, run) = (document.declared_seeds, document.seeds.len() as u64);
    let all = document.verdicts;
    let any = all.reproduced + all.differs_explained + all.out_of_tolerance > 0;
    (run < declared && any).then(|| {
        format!(
            "The tolerances are meant for the mean of {declared} seeds, not of {run}: single numbers may \
             miss or meet them by chance."
        )
    })
}

/// Returns a note if cases were not run because traces are missing.
pub fn not_run(document: &Reproduction) -> Option<String> {
    let mut traces: Vec<&str> = document.not_run.iter().map(|one| one.trace.as_str()).collect();
    traces.sort_unstable();
    traces.dedup();
    let many = document.not_run.len();
    (many > 0).then(|| {
        format!(
            "{} not run, because these real traces, which are not part of ftlab, are missing: {}. --traces FOLDER \
             names their folder.",
            several(many, "case") + if many == 1 { " was" } else { " were" },
            traces.join(", ")
        )
    })
}
