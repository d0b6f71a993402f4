//! Figures of sweeps: a metric along one axis, with a line for each combination of the others.

use std::collections::BTreeMap;

use super::choice::{FigureChoice, remedy};
use super::document::{Drawn, FigureAxis, FigureDocument, FigureLine, FigurePanel, FigurePoint};
use crate::failure::Failure;
use crate::sweep::{SweepAxisDocument, SweepDocument, SweepMetricDocument, SweepPointDocument};

/// How the scale of an axis is called on which equal ratios are equally far.
const LOG: &str = "log";

/// Returns the figure of a sweep's metrics.
///
/// # Errors
/// The sweep lacks what is chosen.
pub fn of_sweep(sweep: &SweepDocument, choice: &FigureChoice) -> Result<FigureDocument, Failure> {
    let known: Vec<String> = sweep.metrics.iter().map(|metric| metric.key.clone()).collect();
    choice.check(&known, false)?;
    if let Some(curve) = choice.curves.first() {
        return Err(Failure::usage(format!(
            "a sweep has no curve {}\n  remedy: choose a metric, or name some of the runs in its folder",
            curve.name()
        )));
    }
    if choice.is_relative {
        return Err(Failure::usage(
            "a sweep has no first variant to show changes against\n  remedy: leave out `relative`",
        ));
    }
    let axes = Axes::of(sweep, choice)?;
    let metric = |key: &String| sweep.metrics.iter().find(|metric| metric.key == *key);
    let keys = choice.keys();
    let chosen = keys.iter().filter_map(metric);
    let panels: Result<Vec<FigurePanel>, Failure> =
        chosen.map(|metric| axes.panel(metric, choice)).collect();
    FigureDocument::new(panels?, &choice.names)
}

/// The axes of a figure, and the points that it shows.
struct Axes<'a> {
    along: &'a SweepAxisDocument,
    others: Vec<&'a SweepAxisDocument>,
    points: Vec<&'a SweepPointDocument>,
    confidence: f64,
}

fn axis<'a>(sweep: &'a SweepDocument, name: &str) -> Result<&'a SweepAxisDocument, Failure> {
    let known: Vec<String> = sweep.axes.iter().map(|axis| axis.name.clone()).collect();
    let found = sweep.axes.iter().find(|axis| axis.name == name || axis.label == name);
    found.ok_or_else(|| {
        Failure::usage(format!("the sweep has no axis {name}\n  remedy: {}", remedy(name, &known)))
    })
}

impl<'a> Axes<'a> {
    fn of(sweep: &'a SweepDocument, choice: &FigureChoice) -> Result<Axes<'a>, Failure> {
        let mut fixed: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, value) in &choice.only {
            let axis = axis(sweep, name)?;
            let names: Vec<String> = axis.values.iter().map(|value| value.name.clone()).collect();
            let found = axis.values.iter().find(|one| one.name == *value || one.label == *value);
            let found = found.ok_or_else(|| {
                let remedy = remedy(value, &names);
                Failure::usage(format!("{} is never {value}\n  remedy: {remedy}", axis.name))
            })?;
            fixed.insert(&axis.name, &found.name);
        }
        let open = || sweep.axes.iter().filter(|axis| !fixed.contains_key(&*axis.name));
        let first = open().next().or(sweep.axes.first());
        let along = match &choice.along {
            Some(name) => axis(sweep, name)?,
            None => first.ok_or_else(|| {
                Failure::usage("the sweep has no axes\n  remedy: sweep something")
            })?,
        };
        let is_shown = |point: &&SweepPointDocument| {
            fixed
                .iter()
                .all(|(axis, value)| point.at.get(*axis).map(String::as_str) == Some(*value))
        };
        Ok(Axes {
            along,
            others: open().filter(|axis| axis.name != along.name).collect(),
            points: sweep.points.iter().filter(is_shown).collect(),
            confidence: sweep.confidence_ratio,
        })
    }

    fn panel(
        &self,
        metric: &SweepMetricDocument,
        choice: &FigureChoice,
    ) -> Result<FigurePanel, Failure> {
        let numbers: Option<Vec<f64>> = self.along.values.iter().map(|one| one.number).collect();
        let mut lines: Vec<FigureLine> = Vec::new();
        for point in &self.points {
            let value = |axis: &&SweepAxisDocument| axis.shown(point).to_owned();
            let name = self.others.iter().map(value).collect::<Vec<_>>().join(", ");
            let at = self
                .along
                .values
                .iter()
                .position(|one| Some(&one.name) == point.at.get(&self.along.name));
            let mean = point.metrics.get(&metric.key).copied().flatten();
            let (Some(at), Some(mean)) = (at, mean) else { continue };
            let x = numbers.as_ref().map_or(at as f64, |numbers| numbers[at]);
            let dot = FigurePoint { x, y: Some(mean.mean), low: mean.low, high: mean.high };
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push(dot),
                None => lines.push(FigureLine { name, points: vec![dot] }),
            }
        }
        if lines.is_empty() {
            return Err(Failure::usage(format!(
                "{} has no value at any of these points\n  remedy: choose another metric, or other points (`only`)",
                metric.key
            )));
        }
        lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
        let has_intervals = lines.iter().flat_map(|line| &line.points).any(|dot| dot.low.is_some());
        Ok(FigurePanel {
            x: self.x_axis(numbers.as_deref()),
            y: FigureAxis {
                log: choice.is_log,
                ..FigureAxis::of_metric(&metric.name, &metric.unit)
            },
            against: None,
            drawn: if numbers.is_some() { Drawn::Lines } else { Drawn::Marks },
            legend: self
                .others
                .iter()
                .map(|axis| axis.label.as_str())
                .collect::<Vec<_>>()
                .join(", "),
            confidence_ratio: has_intervals.then_some(self.confidence),
            lines,
        })
    }

    fn x_axis(&self, numbers: Option<&[f64]>) -> FigureAxis {
        let axis = self.along;
        let Some(numbers) = numbers else {
            let names = axis.values.iter().map(|value| value.label.clone());
            return FigureAxis::named(&axis.label, names.collect());
        };
        // A scale of ratios has no place for zero.
        let log = axis.spacing == LOG && numbers.iter().all(|number| *number > 0.0);
        let ticks = log.then(|| numbers.to_vec());
        FigureAxis { log, ticks, ..FigureAxis::numbers(&axis.label, &axis.unit) }
    }
}
