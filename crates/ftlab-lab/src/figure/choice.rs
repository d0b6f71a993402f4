//! What of a result is drawn.

use ftlab::host::Op;
use ftlab::options::text::nearest;

use crate::failure::{Failure, with_names_called};

/// The options that choose. Only messages about figures have them in backquotes: files of experiments have keys of these
/// names.
const NAMES: [&str; 5] = ["metric", "curve", "along", "only", "relative"];

/// Writes the options in a message about a figure as a front end calls them.
#[must_use]
pub fn with_choices_called(text: &str, called: impl Fn(&str) -> String) -> String {
    with_names_called(text, |name| NAMES.contains(&name), called)
}

/// What of a result is drawn, each in a panel of its own.
#[derive(Clone, Debug, Default)]
pub struct FigureChoice {
    /// Metrics, by their keys: one number of each run.
    pub metrics: Vec<String>,
    /// Curves: many numbers of each run.
    pub curves: Vec<FigureCurve>,
    /// The axis of a sweep that is the horizontal one; by default the first.
    pub along: Option<String>,
    /// Axes of a sweep, each with the name of a value: only these points are drawn.
    pub only: Vec<(String, String)>,
    /// Whether the changes against the first variant are drawn, and not the values.
    pub is_relative: bool,
    /// Whether the scale of the values is logarithmic.
    pub is_log: bool,
    /// Names of lines and places, each with the name that is drawn for it.
    pub names: Vec<(String, String)>,
    /// The confidence level of intervals that are not known yet, as a share.
    pub confidence: f64,
}

/// Many numbers of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureCurve {
    /// The share of requests that took longer than a latency.
    Latency(Op),
    /// What happened over time.
    OverTime(OverTime),
}

/// What a curve shows over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverTime {
    /// Bytes that were read and written.
    Throughput,
    /// The 99th percentile of read latencies.
    ReadP99,
    /// The 99th percentile of write latencies.
    WriteP99,
    /// Bytes programmed for each byte that the host wrote.
    WriteAmplification,
    /// The free blocks of the plane that has the fewest.
    FreeBlocks,
}

impl FigureCurve {
    /// All curves.
    pub const ALL: [FigureCurve; 9] = [
        FigureCurve::Latency(Op::Read),
        FigureCurve::Latency(Op::Write),
        FigureCurve::Latency(Op::Trim),
        FigureCurve::Latency(Op::Flush),
        FigureCurve::OverTime(OverTime::Throughput),
        FigureCurve::OverTime(OverTime::ReadP99),
        FigureCurve::OverTime(OverTime::WriteP99),
        FigureCurve::OverTime(OverTime::WriteAmplification),
        FigureCurve::OverTime(OverTime::FreeBlocks),
    ];

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FigureCurve::Latency(Op::Read) => "read-latency",
            FigureCurve::Latency(Op::Write) => "write-latency",
            FigureCurve::Latency(Op::Trim) => "trim-latency",
            // No figure draws the management of zones.
            FigureCurve::Latency(_) => "flush-latency",
            FigureCurve::OverTime(OverTime::Throughput) => "throughput",
            FigureCurve::OverTime(OverTime::ReadP99) => "read-p99",
            FigureCurve::OverTime(OverTime::WriteP99) => "write-p99",
            FigureCurve::OverTime(OverTime::WriteAmplification) => "write-amplification",
            FigureCurve::OverTime(OverTime::FreeBlocks) => "free-blocks",
        }
    }

    /// Returns what it shows.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            FigureCurve::Latency(_) => "the share of requests that took longer",
            FigureCurve::OverTime(OverTime::Throughput) => {
                "bytes read and written a second, over time"
            }
            FigureCurve::OverTime(OverTime::ReadP99) => {
                "the 99th percentile of read latencies, over time"
            }
            FigureCurve::OverTime(OverTime::WriteP99) => {
                "the 99th percentile of write latencies, over time"
            }
            FigureCurve::OverTime(OverTime::WriteAmplification) => {
                "bytes programmed for each byte written, over time"
            }
            FigureCurve::OverTime(OverTime::FreeBlocks) => {
                "the free blocks of the plane that has the fewest, over time"
            }
        }
    }

    /// Returns the curve of this name.
    ///
    /// # Errors
    /// There is none.
    pub fn named(name: &str) -> Result<FigureCurve, Failure> {
        FigureCurve::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| {
            Failure::usage(format!(
                "there is no curve {name}\n  remedy: {}",
                remedy(name, &FigureCurve::ALL.map(|one| one.name().to_owned()))
            ))
        })
    }
}

impl FigureChoice {
    /// Returns the keys of the metrics. People write p99.9 for p99_9.
    pub(super) fn keys(&self) -> Vec<String> {
        let key = |key: &String| key.replace("p99.99", "p99_99").replace("p99.9", "p99_9");
        self.metrics.iter().map(key).collect()
    }

    /// Refuses a figure of nothing.
    pub(super) fn check(&self, known: &[String], curves: bool) -> Result<(), Failure> {
        if self.metrics.is_empty() && self.curves.is_empty() {
            let curves = match curves {
                true => {
                    format!("; `curve`: {}", FigureCurve::ALL.map(FigureCurve::name).join(", "))
                }
                false => String::new(),
            };
            return Err(Failure::usage(format!(
                "nothing is chosen to be drawn\n  remedy: choose a metric with `metric`: {}{curves}",
                known.join(", ")
            )));
        }
        match self.keys().iter().find(|key| !known.contains(key)) {
            None => Ok(()),
            Some(key) => Err(Failure::usage(format!(
                "there is no metric {key} in the result\n  remedy: {}",
                remedy(key, known)
            ))),
        }
    }
}

/// Returns the remedy for an unknown name.
pub(super) fn remedy(name: &str, known: &[String]) -> String {
    let list = known.join(", ");
    match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {near}? Known are {list}"),
        None => format!("write one of {list}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_found_by_their_names() {
        for curve in FigureCurve::ALL {
            assert_eq!(FigureCurve::named(curve.name()), Ok(curve));
            assert!(!curve.about().is_empty());
        }
        let text = FigureCurve::named("read-latenci").unwrap_err().to_string();
        assert!(text.contains("did you mean read-latency?"), "{text}");
    }
}
