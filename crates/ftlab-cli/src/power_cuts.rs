//! The power cuts of a run as a table.

use std::io::{self, Write};

use ftlab_lab::power_cuts::{CutReport, MOST_CUTS, PowerCutReport, mean};

use crate::human::{count, digits, span};
use crate::table::{show, table, wrapped};

/// Prints the report. `measured_ns` is the simulated time that was measured.
pub fn print(report: &PowerCutReport, measured_ns: u64, out: &mut dyn Write) -> io::Result<()> {
    let every = span(report.every_ns);
    if report.cuts.is_empty() {
        let measured = span(measured_ns);
        writeln!(out)?;
        let text = format!(
            "0 power cuts: the measured part took {measured}, shorter than the interval of {every}"
        );
        return wrapped(out, "", &text);
    }
    let mut rows = table(&["Power cuts", "least", "mean", "most"]);
    let mut row = |name: &str, of: fn(&CutReport) -> u64, text: fn(f64) -> String| {
        let all = || report.cuts.iter().map(of);
        let (least, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        let mean = mean(&report.cuts, of).unwrap_or(0.0);
        rows.add_row([name.to_owned(), text(least as f64), text(mean), text(most as f64)]);
    };
    row("until ready", |cut| cut.recovery_ns, time);
    row("kept up by capacitors", |cut| cut.hold_up_ns, time);
    row("pages lost that were only in DRAM", |cut| cut.lost_pages, number);
    row("spare areas read", |cut| cut.spare_reads, number);
    row("system pages read", |cut| cut.system_reads, number);
    row("blocks erased", |cut| cut.erases, number);
    row("torn flash pages", |cut| cut.torn_pages, number);
    row("pages rolled back", |cut| cut.rolled_back_pages, number);
    row("blocks closed early", |cut| cut.closed_early_blocks, number);
    show(rows, out)?;
    let limit = match report.limit_reached {
        true => {
            format!("; the limit of {} was reached: choose a longer span", count(MOST_CUTS as u64))
        }
        false => String::new(),
    };
    let cuts = report.cuts.len();
    let text = format!(
        "{} {}, one every {every}{limit}",
        count(cuts as u64),
        if cuts == 1 { "cut" } else { "cuts" }
    );
    wrapped(out, "", &text)
}

fn time(ns: f64) -> String {
    span(ns.round() as u64)
}

/// Formats a count, or a mean of few, which may not be a whole number.
fn number(value: f64) -> String {
    if value.fract() == 0.0 || value >= 999.5 { count(value.round() as u64) } else { digits(value) }
}
