//! The paper's numbers beside ours as a table: fits into 80 columns, without colours.

use std::io::{self, Write};

use ftlab_lab::reproduce::words::{
    besides, counted, difference, error_lines, fewer_seeds, not_run, ours_and_interval, seeds,
    several, short, verdict_line,
};
use ftlab_lab::reproduce::{ClaimDocument, OutcomeCounts, Reproduction, RowDocument, printed};

use crate::failure::with_flags;
use crate::table::wrapped;

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
        wrapped(out, "", &format!("{} ({}{})", claim.text, claim.place, besides(claim)))?;
        for row in &claim.rows {
            print_row(claim, row, out)?;
        }
        if let Some(reason) = &claim.differs_because {
            wrapped(out, "  ", &format!("Declared to differ: {reason}"))?;
        }
    }
    writeln!(out)?;
    wrapped(out, "", &verdict_line(document))?;
    error_lines(document).iter().try_for_each(|line| wrapped(out, "", line))?;
    let notes = fewer_seeds(document).into_iter().chain(not_run(document));
    notes.into_iter().try_for_each(|note| wrapped(out, "", &with_flags(&note)))
}

/// Prints the verdicts of several experiments.
pub fn all(experiments: &[(&str, OutcomeCounts)], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    for (name, verdicts) in experiments {
        crate::table::line(out, name, &counted(*verdicts))?;
    }
    Ok(())
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
