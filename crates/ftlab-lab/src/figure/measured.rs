//! Figures of comparisons: a place for each variant, with the mean over its seeds or its change.

use super::choice::FigureChoice;
use super::document::{Drawn, FigureAxis, FigureDocument, FigureLine, FigurePanel, FigurePoint};
use crate::compare::statistics::{Change, Scale};
use crate::compare::{Comparison, MetricDocument, ValuesDocument};
use crate::failure::Failure;
use crate::sweep::mean_of;

/// Returns the figure of a comparison's metrics. Its curves are in the results, not in the comparison.
///
/// # Errors
/// The comparison lacks what is chosen.
pub fn of_comparison(
    comparison: &Comparison,
    choice: &FigureChoice,
) -> Result<FigureDocument, Failure> {
    if let Some(curve) = choice.curves.first() {
        return Err(Failure::usage(format!(
            "the curve {} is in the results of the runs\n  remedy: keep them in a folder, and name it",
            curve.name()
        )));
    }
    FigureDocument::new(panels(comparison, choice)?, &choice.names)
}

/// Returns a panel for each chosen metric.
pub(super) fn panels(
    comparison: &Comparison,
    choice: &FigureChoice,
) -> Result<Vec<FigurePanel>, Failure> {
    let known: Vec<String> = comparison.metrics.iter().map(MetricDocument::key).collect();
    choice.check(&known, true)?;
    let axes = choice.only.iter().map(|(axis, _)| axis);
    if let Some(axis) = choice.along.iter().chain(axes).next() {
        return Err(Failure::usage(format!(
            "{axis}: these results have no axes, as sweeps do\n  remedy: leave out `along` and `only`"
        )));
    }
    if choice.is_relative && comparison.variants.len() < 2 {
        return Err(Failure::usage(
            "a change needs two variants, and this is one\n  remedy: leave out `relative`, or name more results",
        ));
    }
    let keys = choice.keys();
    let chosen = keys.iter().filter_map(|key| {
        let at = known.iter().position(|known| known == key)?;
        Some(&comparison.metrics[at])
    });
    chosen.map(|metric| panel(comparison, metric, choice)).collect()
}

fn panel(
    comparison: &Comparison,
    metric: &MetricDocument,
    choice: &FigureChoice,
) -> Result<FigurePanel, Failure> {
    let values = || metric.variants.iter().enumerate();
    let all = metric.variants.iter().filter(|one| one.mean.is_some());
    let scale = Scale::of(all.flat_map(|one| one.values.iter().flatten().copied()));
    let place = |at: usize| if choice.is_relative { at - 1 } else { at } as f64;
    let points: Vec<FigurePoint> = match choice.is_relative {
        true => {
            let changed = values().skip(1).filter_map(|(at, one)| Some((at, one.change.as_ref()?)));
            changed.map(|(at, change)| changed_point(place(at), change)).collect()
        }
        false => {
            let confidence = comparison.confidence_ratio;
            values().filter_map(|(at, one)| mean_point(place(at), one, scale, confidence)).collect()
        }
    };
    if points.is_empty() {
        let what = if choice.is_relative { "change" } else { "value" };
        return Err(Failure::usage(format!(
            "{} has no {what} with all seeds of any variant, so there is nothing to draw\n  remedy: choose another metric, or \
             measure more requests",
            metric.key()
        )));
    }
    let names: Vec<String> = comparison.variants.iter().map(|one| one.name.clone()).collect();
    let has_intervals = points.iter().any(|point| point.low.is_some());
    let names = if choice.is_relative { names[1..].to_vec() } else { names };
    Ok(FigurePanel {
        x: FigureAxis::named("", names),
        y: y_axis(metric, scale, choice),
        against: choice.is_relative.then(|| comparison.variants[0].name.clone()),
        drawn: Drawn::Marks,
        legend: String::new(),
        confidence_ratio: has_intervals.then_some(comparison.confidence_ratio),
        lines: vec![FigureLine { name: String::new(), points }],
    })
}

fn y_axis(metric: &MetricDocument, scale: Scale, choice: &FigureChoice) -> FigureAxis {
    let axis = FigureAxis::of_metric(&metric.name, metric.unit);
    match choice.is_relative && scale == Scale::Ratio {
        true => FigureAxis { unit: "%".to_owned(), ..axis },
        false => FigureAxis { log: choice.is_log, ..axis },
    }
}

fn mean_point(x: f64, one: &ValuesDocument, scale: Scale, confidence: f64) -> Option<FigurePoint> {
    let y = Some(one.mean?);
    let logarithms = |value: &Option<f64>| {
        value.map(|value| if scale == Scale::Ratio { value.ln() } else { value })
    };
    let values: Vec<Option<f64>> = one.values.iter().map(logarithms).collect();
    let mean = mean_of(&values, confidence)?;
    let back = |end: f64| if scale == Scale::Ratio { end.exp() } else { end };
    Some(FigurePoint { x, y, low: mean.low.map(back), high: mean.high.map(back) })
}

fn changed_point(x: f64, change: &Change) -> FigurePoint {
    let shown = |value: f64| if change.scale == Scale::Ratio { value * 100.0 } else { value };
    FigurePoint {
        x,
        y: Some(shown(change.estimate)),
        low: change.low.map(shown),
        high: change.high.map(shown),
    }
}
