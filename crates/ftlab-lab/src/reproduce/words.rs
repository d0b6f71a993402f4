//! A reproduction in words: the cells of its table, and its verdicts.

use ftlab::options::value::Value;

use super::document::{ClaimDocument, NumberVerdict, OutcomeCounts, Reproduction, RowDocument};
use super::errors::ErrorsDocument;
use super::numbers::{PERCENT, Printed, Tolerance, signed, told};
use crate::human::count;

/// Stands for an unknown value.
const NONE: &str = "-";
/// Turns a ratio into per cent.
const PERCENT_OF_ONE: f64 = 100.0;

/// Formats a number of things, with a plural.
#[must_use]
pub fn several(number: usize, of: &str) -> String {
    format!("{} {of}{}", count(number as u64), if number == 1 { "" } else { "s" })
}

/// Describes the seeds.
#[must_use]
pub fn seeds(document: &Reproduction) -> String {
    match document.seeds.as_slice() {
        [seed] => format!("Seed {seed}"),
        [first, .., last] => format!("{} seeds ({first} to {last})", document.seeds.len()),
        [] => String::new(),
    }
}

/// Formats our number with half the width of its interval, if there is one.
#[must_use]
pub fn ours_and_interval(row: &RowDocument, unit: &str) -> String {
    let (Some(value), Some(high)) = (row.ours, row.high) else { return ours(row, unit) };
    let half = told(high - value, "");
    let number = ours(row, unit);
    let (number, unit) = number.rsplit_once(' ').unwrap_or((&number, ""));
    format!("{number} ±{half} {unit}").trim_end().to_owned()
}

/// Formats our number.
#[must_use]
pub fn ours(row: &RowDocument, unit: &str) -> String {
    row.ours.map_or(NONE.to_owned(), |ours| told(ours, unit))
}

/// Formats the difference from a number, in the unit of its tolerance.
#[must_use]
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

/// Says what a claim's numbers are besides: whose, if not the paper's, and whether the device was fitted to them.
#[must_use]
pub fn besides(claim: &ClaimDocument) -> String {
    let origin = claim.origin.iter().map(|by| format!("; numbers of {by}"));
    origin.chain(claim.role.iter().map(|role| format!("; {}", role.print()))).collect()
}

/// Returns a verdict in a word or two.
#[must_use]
pub fn short(verdict: NumberVerdict) -> &'static str {
    match verdict {
        NumberVerdict::Reproduced => "reproduced",
        NumberVerdict::DiffersExplained => "explained",
        NumberVerdict::OutOfTolerance => "OUT",
        NumberVerdict::NotRun => "not run",
    }
}

/// Returns a verdict in full.
#[must_use]
pub fn long(verdict: NumberVerdict) -> &'static str {
    match verdict {
        NumberVerdict::Reproduced => "reproduced",
        NumberVerdict::DiffersExplained => "differs, explained",
        NumberVerdict::OutOfTolerance => "out of tolerance",
        NumberVerdict::NotRun => "not run",
    }
}

/// Describes the errors of the numbers with each role.
#[must_use]
pub fn error_lines(document: &Reproduction) -> Vec<String> {
    let line = |errors: &ErrorsDocument| {
        let far = match errors.beyond_factor_2 {
            0 => "none beyond a factor of 2".to_owned(),
            far => format!("{far} beyond a factor of 2"),
        };
        format!(
            "{} {}: median error {:.0} %, {far}, largest factor {:.2}",
            several(errors.numbers, "number"),
            errors.role.print(),
            errors.median_ratio * PERCENT_OF_ONE,
            errors.largest_factor
        )
    };
    document.errors.iter().map(line).collect()
}

/// Describes how many numbers have each verdict.
#[must_use]
pub fn verdict_line(document: &Reproduction) -> String {
    counted(document.verdicts)
}

/// Describes how many numbers have each verdict.
#[must_use]
pub fn counted(verdicts: OutcomeCounts) -> String {
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
#[must_use]
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
#[must_use]
pub fn not_run(document: &Reproduction) -> Option<String> {
    let mut traces: Vec<&str> = document.not_run.iter().map(|one| one.trace.as_str()).collect();
    traces.sort_unstable();
    traces.dedup();
    let many = document.not_run.len();
    (many > 0).then(|| {
        format!(
            "{} not run, because these real traces, which are not part of ftlab, are missing: {}. `traces` \
             names their folder.",
            several(many, "case") + if many == 1 { " was" } else { " were" },
            traces.join(", ")
        )
    })
}
