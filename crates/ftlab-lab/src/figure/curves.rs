//! Curves of results: distributions of latencies, and what happened over time.

use super::choice::{FigureChoice, FigureCurve, OverTime};
use super::document::{Drawn, FigureAxis, FigureLine, FigurePanel, FigurePoint};
use crate::compare::Series;
use crate::compare::page::{Curves, Times, latencies, times};
use crate::failure::Failure;
use crate::page::DrawnNumber;

/// The most windows of time. More are noise at the width of a column.
const WINDOWS: usize = 120;

/// Returns a panel for each chosen curve.
///
/// # Errors
/// A table is missing or damaged, or no result has the curve.
pub fn panels(series: &[Series], choice: &FigureChoice) -> Result<Vec<FigurePanel>, Failure> {
    if choice.curves.is_empty() {
        return Ok(Vec::new());
    }
    if choice.is_relative && choice.metrics.is_empty() {
        return Err(Failure::usage(
            "curves have no changes against a variant\n  remedy: leave out `relative`, or choose a metric",
        ));
    }
    let is_latency = |curve: &FigureCurve| matches!(curve, FigureCurve::Latency(_));
    let over_time = |one| times(one, WINDOWS);
    let name = |one: &Series| if series.len() == 1 { String::new() } else { one.name.clone() };
    let read = Read {
        latencies: match choice.curves.iter().any(is_latency) {
            true => latencies(series)?,
            false => Vec::new(),
        },
        times: match choice.curves.iter().all(is_latency) {
            true => Vec::new(),
            false => series.iter().map(over_time).collect::<Result<_, _>>()?,
        },
        names: series.iter().map(name).collect(),
    };
    choice.curves.iter().map(|&curve| read.panel(curve, choice)).collect()
}

/// What the tables of the results hold.
struct Read {
    latencies: Vec<Curves>,
    /// By variant.
    times: Vec<Times>,
    /// By variant.
    names: Vec<String>,
}

impl Read {
    fn panel(&self, curve: FigureCurve, choice: &FigureChoice) -> Result<FigurePanel, Failure> {
        let (x, y, points) = match curve {
            FigureCurve::Latency(op) => self.beyond(op.name()),
            FigureCurve::OverTime(what) => self.over_time(what),
        };
        let named = self.names.iter().cloned().zip(points);
        let lines: Vec<FigureLine> = named
            .filter(|(_, points)| !points.is_empty())
            .map(|(name, points)| FigureLine { name, points })
            .collect();
        if lines.is_empty() {
            return Err(Failure::usage(format!(
                "no result has a curve {}\n  remedy: choose another one",
                curve.name()
            )));
        }
        let log = y.log || choice.is_log;
        Ok(FigurePanel {
            x,
            y: FigureAxis { log, ..y },
            against: None,
            drawn: Drawn::Steps,
            legend: String::new(),
            confidence_ratio: None,
            lines,
        })
    }

    /// By variant: the share of requests that took longer than each latency, as long as there are any.
    fn beyond(&self, op: &str) -> Points {
        let found = self.latencies.iter().find(|curves| curves.op == op);
        let points = found.into_iter().flat_map(|curves| {
            curves.beyond.iter().map(|shares| {
                let all = curves.ns.iter().zip(shares).filter(|(_, share)| share.0 > 0.0);
                all.map(|(ns, share)| FigurePoint::at(ns.0, Some(share.0))).collect()
            })
        });
        let x = FigureAxis { log: true, ..FigureAxis::numbers(format!("{op} latency"), "ns") };
        let y = FigureAxis { log: true, ..FigureAxis::numbers("share of slower requests", "") };
        (x, y, points.collect())
    }

    fn over_time(&self, what: OverTime) -> Points {
        let (label, unit) = match what {
            OverTime::ReadP99 => ("read latency, p99", "ns"),
            OverTime::WriteP99 => ("write latency, p99", "ns"),
            OverTime::WriteAmplification => ("write amplification", ""),
            OverTime::FreeBlocks => ("free blocks of a plane, fewest", ""),
            OverTime::Throughput => ("throughput", "MB/s"),
        };
        let points = self.times.iter().map(|times| {
            let values = match what {
                OverTime::ReadP99 => &times.read_p99,
                OverTime::WriteP99 => &times.write_p99,
                OverTime::WriteAmplification => &times.wa,
                OverTime::FreeBlocks => &times.free,
                OverTime::Throughput => &times.throughput,
            };
            steps(times, values)
        });
        (FigureAxis::numbers("time", "s"), FigureAxis::numbers(label, unit), points.collect())
    }
}

/// The horizontal axis, the vertical one, and the points of each variant.
type Points = (FigureAxis, FigureAxis, Vec<Vec<FigurePoint>>);

/// Returns the points of a series over time. The last value holds up to the end of its window.
fn steps(times: &Times, values: &[Option<DrawnNumber>]) -> Vec<FigurePoint> {
    if values.iter().all(Option::is_none) {
        return Vec::new();
    }
    let windows = times.s.iter().zip(values);
    let mut points: Vec<FigurePoint> =
        windows.map(|(s, value)| FigurePoint::at(s.0, value.map(|value| value.0))).collect();
    if let Some(last) = points.last().copied() {
        points.push(FigurePoint::at(times.end_s, last.y));
    }
    points
}
