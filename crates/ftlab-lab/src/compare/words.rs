//! A comparison in words: its heading, and the cells of its tables.

use super::document::{Comparison, MetricDocument, ValuesDocument, VariantDocument};
use super::past;
use super::statistics::{Certainty, Change, Scale};
use crate::human::{count, digits, energy, rate, time};

/// Returns why two variants have values but no changes, if so.
pub fn uncompared(base: &VariantDocument, variant: &VariantDocument) -> Option<String> {
    let ended = |one: &&VariantDocument| one.end_of_life_ns.iter().any(Option::is_some);
    let refused = |one: &&VariantDocument| one.refused_requests.iter().any(|&count| count > 0);
    let one = [base, variant].into_iter().find(|one| ended(one) || refused(one))?;
    let what = if ended(&one) { "reached the end of its life" } else { "refused requests" };
    Some(format!("Not compared: the device of {} {what}, so the work was not the same.", one.name))
}

/// The meaning of the marks.
pub const LEGEND: &str = "* the interval excludes zero; ** also after Holm's correction for \
                          all these comparisons. Values are means over the seeds, geometric where all \
                          values of the metric are positive.";

/// Returns the first line: the load, its preparation and the seeds.
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

/// Returns the heading of the column of intervals.
pub fn interval(comparison: &Comparison) -> String {
    format!("{} % interval", plain(comparison.confidence_ratio * 100.0))
}

fn plain(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats a mean with its unit.
pub fn mean(metric: &MetricDocument, one: &ValuesDocument) -> String {
    one.mean.map_or("-".to_owned(), |mean| with_unit(metric.unit, mean))
}

/// Formats a value with its unit.
pub fn with_unit(unit: &str, value: f64) -> String {
    match unit {
        "ns" if value < 0.0 => format!("-{}", time(-value)),
        "ns" => time(value),
        "MB/s" | "1/s" => rate(value),
        "J" if value < 0.0 => format!("-{}", energy(-value)),
        "J" => energy(value),
        "" => format!("{value:.3}"),
        _ if value >= 999.5 => count(value.round() as u64),
        _ if value <= -999.5 => format!("-{}", count(-value.round() as u64)),
        _ => digits(value),
    }
}

/// Formats the change, its interval, and the mark of its certainty.
pub fn changed(metric: &MetricDocument, one: &ValuesDocument) -> [String; 3] {
    let Some(change) = &one.change else { return [String::new(), String::new(), String::new()] };
    let places = places(metric, change);
    let text = |value: f64| told(metric, change, places, value);
    let interval = match (change.low, change.high) {
        (Some(low), Some(high)) => match change.scale {
            Scale::Ratio => {
                let short = |value: f64| {
                    text(value).trim_end_matches(" %").trim_start_matches("x ").to_owned()
                };
                format!("{} to {}", short(low), short(high))
            }
            Scale::Difference => format!("{} to {}", text(low), text(high)),
        },
        _ if change.certainty == Certainty::Exact => "equal in all seeds".to_owned(),
        _ => "-".to_owned(),
    };
    let mark = match change.certainty {
        Certainty::Significant => "*",
        Certainty::SignificantAmongAll => "**",
        Certainty::Exact | Certainty::OneSeed | Certainty::NotSignificant => "",
    };
    [text(change.estimate), interval, mark.to_owned()]
}

/// The precision of a change's figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Precision {
    /// Depends on the size of the figures.
    Usual,
    /// Per cent with this many decimals.
    Decimals(usize),
    /// Scientific notation.
    Power,
}

/// The most decimals; smaller numbers use scientific notation.
const MOST_DECIMALS: usize = 5;

/// Chooses a precision that shows a certain change as one: no end of its interval may print as
/// zero.
fn places(metric: &MetricDocument, change: &Change) -> Precision {
    let is_sure =
        matches!(change.certainty, Certainty::Significant | Certainty::SignificantAmongAll);
    let ends = [Some(change.estimate), change.low, change.high];
    let shows = |places: Precision| {
        let says = |value: f64| {
            told(metric, change, places, value).contains(|c: char| ('1'..='9').contains(&c))
        };
        ends.into_iter().flatten().all(says)
    };
    if !is_sure || shows(Precision::Usual) {
        return Precision::Usual;
    }
    let mut finer = (decimals(change)..=MOST_DECIMALS).map(Precision::Decimals);
    match change.scale {
        Scale::Ratio => finer.find(|&places| shows(places)).unwrap_or(Precision::Power),
        Scale::Difference => Precision::Power,
    }
}

/// Formats one figure of a change.
fn told(metric: &MetricDocument, change: &Change, places: Precision, value: f64) -> String {
    let percent = value * 100.0;
    match (change.scale, places) {
        (Scale::Ratio, _) if is_huge(change) => format!("x {}", factor(1.0 + value)),
        (Scale::Ratio, Precision::Usual) => {
            format!("{:+.*} %", decimals(change), unsigned_zero(percent, change))
        }
        (Scale::Ratio, Precision::Decimals(decimals)) => format!("{percent:+.decimals$} %"),
        (Scale::Ratio, Precision::Power) => format!("{percent:+.1e} %"),
        (Scale::Difference, Precision::Usual) if value < 0.0 => with_unit(metric.unit, value),
        (Scale::Difference, Precision::Usual) => format!("+{}", with_unit(metric.unit, value)),
        (Scale::Difference, _) => {
            let unit = if metric.unit == "ns" { " ns" } else { "" };
            format!("{value:+.1e}{unit}")
        }
    }
}

/// Whether a change is shown as a factor, because per cent would be unreadable.
fn is_huge(change: &Change) -> bool {
    !(-0.9..9.0).contains(&change.estimate)
}

/// Formats a factor, however small.
fn factor(factor: f64) -> String {
    if factor >= 0.01 { digits(factor) } else { format!("{factor:.1e}") }
}

/// Returns the number of decimals: more for smaller changes.
fn decimals(change: &Change) -> usize {
    let ends = [Some(change.estimate), change.low, change.high];
    let widest = ends.into_iter().flatten().map(f64::abs).fold(0.0, f64::max);
    match widest * 100.0 {
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    }
}

/// Removes the sign of a value that rounds to zero.
fn unsigned_zero(percent: f64, change: &Change) -> f64 {
    let half = 0.5 * 10f64.powi(-(decimals(change) as i32));
    if percent.abs() < half { 0.0 } else { percent }
}

#[cfg(test)]
mod tests {
    use super::super::metrics::Better;
    use super::*;

    /// Formats a change from `low` to `high`, with a mark if it is significant.
    fn shown(scale: Scale, unit: &'static str, [low, high]: [f64; 2]) -> String {
        let change = Change {
            scale,
            estimate: (low + high) / 2.0,
            low: Some(low),
            high: Some(high),
            p_value: Some(0.01),
            certainty: match low * high > 0.0 {
                true => Certainty::Significant,
                false => Certainty::NotSignificant,
            },
        };
        let metric = MetricDocument {
            id: String::new(),
            name: String::new(),
            unit,
            better: Better::Lower,
            variants: Vec::new(),
        };
        let values = ValuesDocument { values: Vec::new(), mean: None, change: Some(change) };
        changed(&metric, &values).join(" | ")
    }

    /// Every significant change shows that it differs from zero, and in which direction.
    #[test]
    fn what_prints_as_nothing_has_no_mark() {
        let ratio = |low, high| shown(Scale::Ratio, "ns", [low, high]);
        assert_eq!(ratio(0.01, 0.03), "+2.00 % | +1.00 to +3.00 | *");
        assert_eq!(ratio(-0.000_01, 0.000_03), "+0.00 % | +0.00 to +0.00 | ");
        assert_eq!(ratio(0.000_01, 0.000_03), "+0.002 % | +0.001 to +0.003 | *");
        assert_eq!(ratio(-0.3, -0.000_2), "-15.01 % | -30.00 to -0.02 | *");
        assert_eq!(ratio(1e-9, 3e-9), "+2.0e-7 % | +1.0e-7 to +3.0e-7 | *");
        let difference = |unit, low, high| shown(Scale::Difference, unit, [low, high]);
        assert_eq!(difference("ns", 0.1, 0.3), "+2.0e-1 ns | +1.0e-1 ns to +3.0e-1 ns | *");
        assert_eq!(difference("ns", -1.0, 3.0), "+1 ns | -1 ns to +3 ns | ");
        assert_eq!(difference("", -3e-5, -1e-5), "-2.0e-5 | -3.0e-5 to -1.0e-5 | *");
        assert_eq!(difference("", 0.1, 0.3), "+0.200 | +0.100 to +0.300 | *");
    }
}
