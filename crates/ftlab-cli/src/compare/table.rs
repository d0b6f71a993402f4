//! The comparison as tables for people: one for each variant against the baseline.

use std::io::{self, Write};

use comfy_table::Table;

use super::document::{Comparison, MetricDocument, ValuesDocument, VariantDocument};
use super::past;
use super::statistics::{Certainty, Change, Scale};
use crate::human::{count, digits, rate, time};
use crate::table::{fits, show, table, wrapped};

/// Prints it.
pub fn print(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let base = &comparison.variants[0];
    wrapped(out, "", &head(comparison))?;
    for (at, variant) in comparison.variants.iter().enumerate().skip(1) {
        writeln!(out)?;
        wrapped(out, "", &format!("{} against {}", variant.name, base.name))?;
        if let Some(why) = uncompared(base, variant) {
            wrapped(out, "", &why)?;
        }
        let mut named = changes(comparison, at, [&base.name, &variant.name]);
        // The line above says which is which.
        let table = match fits(&mut named) {
            true => named,
            false => changes(comparison, at, ["baseline", "variant"]),
        };
        show(table, out)?;
    }
    writeln!(out)?;
    wrapped(out, "", LEGEND)?;
    if !comparison.notes.is_empty() {
        writeln!(out, "\nNotes")?;
    }
    comparison.notes.iter().try_for_each(|note| wrapped(out, "- ", note))
}

/// The metrics of the baseline and of variant `at`, which are called so.
fn changes(comparison: &Comparison, at: usize, names: [&str; 2]) -> Table {
    let mut table = table(&["", names[0], names[1], "change", &interval(comparison)]);
    for metric in &comparison.metrics {
        let (old, new) = (&metric.variants[0], &metric.variants[at]);
        if old.mean.is_none() && new.mean.is_none() {
            continue;
        }
        let [change, interval, mark] = changed(metric, new);
        let interval = format!("{interval} {mark}").trim().to_owned();
        let value = |one| mean(metric, one);
        table.add_row([metric.name.clone(), value(old), value(new), change, interval]);
    }
    table
}

/// Why two variants have figures and no changes, if that is so.
pub fn uncompared(base: &VariantDocument, variant: &VariantDocument) -> Option<String> {
    let ended = |one: &&VariantDocument| one.end_of_life_ns.iter().any(Option::is_some);
    let refused = |one: &&VariantDocument| one.refused_requests.iter().any(|&count| count > 0);
    let one = [base, variant].into_iter().find(|one| ended(one) || refused(one))?;
    let what = if ended(&one) { "came to the end of its life" } else { "refused requests" };
    Some(format!("Not compared: the device of {} {what}, so the work was not the same.", one.name))
}

/// What the marks mean.
pub const LEGEND: &str = "* the interval leaves out zero; ** it would also after Holm's correction for \
                          all these comparisons. Values are means over the seeds, geometric where all \
                          values of the metric are positive.";

/// The first line.
pub fn head(comparison: &Comparison) -> String {
    let after = match &comparison.precondition {
        serde_json::Value::Null => ", prepared differently".to_owned(),
        steps if steps.as_array().is_some_and(|steps| !steps.is_empty()) => {
            format!(" after {}", past::told(steps))
        }
        _ => String::new(),
    };
    let seeds = match comparison.seeds.as_slice() {
        [seed] => format!("seed {seed}"),
        [first, .., last] => {
            format!("{} seeds ({first} to {last}), paired", comparison.seeds.len())
        }
        [] => String::new(),
    };
    let variants = match comparison.variants.len() {
        1 => String::new(),
        more => format!("{more} variants on "),
    };
    format!("{variants}{}{after}, {seeds}", past::load_told(&comparison.load))
}

/// What the column of intervals is called.
pub fn interval(comparison: &Comparison) -> String {
    format!("{} % interval", plain(comparison.confidence_ratio * 100.0))
}

fn plain(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A mean with its unit.
pub fn mean(metric: &MetricDocument, one: &ValuesDocument) -> String {
    one.mean.map_or("-".to_owned(), |mean| with_unit(metric.unit, mean))
}

fn with_unit(unit: &str, value: f64) -> String {
    match unit {
        "ns" if value < 0.0 => format!("-{}", time(-value)),
        "ns" => time(value),
        "MB/s" | "1/s" => rate(value),
        "" => format!("{value:.3}"),
        _ if value >= 999.5 => count(value.round() as u64),
        _ if value <= -999.5 => format!("-{}", count(-value.round() as u64)),
        _ => digits(value),
    }
}

/// The change, its interval, and the mark of its certainty.
pub fn changed(metric: &MetricDocument, one: &ValuesDocument) -> [String; 3] {
    let Some(change) = &one.change else { return [String::new(), String::new(), String::new()] };
    let one = |value: f64| match change.scale {
        Scale::Ratio if is_huge(change) => format!("x {}", factor(1.0 + value)),
        Scale::Ratio => format!("{:+.*} %", decimals(change), unsigned_zero(value * 100.0, change)),
        Scale::Difference if value < 0.0 => with_unit(metric.unit, value),
        Scale::Difference => format!("+{}", with_unit(metric.unit, value)),
    };
    let interval = match (change.low, change.high) {
        (Some(low), Some(high)) => match change.scale {
            Scale::Ratio => {
                let short = |value: f64| {
                    one(value).trim_end_matches(" %").trim_start_matches("x ").to_owned()
                };
                format!("{} to {}", short(low), short(high))
            }
            Scale::Difference => format!("{} to {}", one(low), one(high)),
        },
        _ if change.certainty == Certainty::Exact => "equal in all seeds".to_owned(),
        _ => "-".to_owned(),
    };
    let mark = match change.certainty {
        Certainty::Significant => "*",
        Certainty::SignificantAmongAll => "**",
        Certainty::Exact | Certainty::OneSeed | Certainty::NotSignificant => "",
    };
    [one(change.estimate), interval, mark.to_owned()]
}

/// Whether a change is told as a factor: per cent of so much, or of so little, say nothing.
fn is_huge(change: &Change) -> bool {
    !(-0.9..9.0).contains(&change.estimate)
}

/// A factor, however small.
fn factor(factor: f64) -> String {
    if factor >= 0.01 { digits(factor) } else { format!("{factor:.1e}") }
}

/// Small changes are shown finer.
fn decimals(change: &Change) -> usize {
    let ends = [Some(change.estimate), change.low, change.high];
    let widest = ends.into_iter().flatten().map(f64::abs).fold(0.0, f64::max);
    match widest * 100.0 {
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    }
}

/// What rounds to zero has no sign of its own.
fn unsigned_zero(percent: f64, change: &Change) -> f64 {
    let half = 0.5 * 10f64.powi(-(decimals(change) as i32));
    if percent.abs() < half { 0.0 } else { percent }
}
