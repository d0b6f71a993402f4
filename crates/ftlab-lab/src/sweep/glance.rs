//! What one wants to know of a sweep first: how much each axis moves each main metric, and which point is best.

use maud::{Markup, html};

use super::document::{SweepAxisDocument, SweepDocument, SweepMetricDocument, SweepPointDocument};
use super::statistics::PointMean;
use crate::compare::words::with_unit;
use crate::compare::{Better, MAIN};
use crate::human::percent;

/// The width and height of a drawing, its margin, and the radius of its points, in pixels.
const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 30.0;
const MARGIN: f64 = 5.0;
const RADIUS: f64 = 3.0;
/// With more values their points would touch.
const MOST_DOTS: usize = 12;

/// How a metric moves along an axis: the mean over all points with each of its values, if they have any.
pub(super) struct Profile {
    /// By value of the axis.
    pub means: Vec<Option<f64>>,
    /// The place of the best value.
    pub best: usize,
    /// The distance of the best and the worst value, relative to the one of the two that is farther from 0.
    pub span: f64,
}

/// Returns how a metric moves along an axis, if it is known at two values at least.
pub(super) fn profile(
    document: &SweepDocument,
    axis: &SweepAxisDocument,
    metric: &SweepMetricDocument,
) -> Option<Profile> {
    let mean_at = |name: &str| {
        let points = document.points.iter().filter(|point| point.at[&axis.name] == name);
        let means: Vec<f64> =
            points.filter_map(|point| mean_of(point, metric)).map(|mean| mean.mean).collect();
        (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64)
    };
    let means: Vec<Option<f64>> = axis.values.iter().map(|value| mean_at(&value.name)).collect();
    let known = || means.iter().enumerate().filter_map(|(at, mean)| Some((at, (*mean)?)));
    let (lowest, low) = known().min_by(|one, other| one.1.total_cmp(&other.1))?;
    let (highest, high) = known().max_by(|one, other| one.1.total_cmp(&other.1))?;
    if known().count() < 2 {
        return None;
    }
    let best = if metric.better == Better::Higher { highest } else { lowest };
    let farther = low.abs().max(high.abs());
    let span = if farther > 0.0 { (high - low) / farther } else { 0.0 };
    Some(Profile { means, best, span })
}

fn mean_of<'a>(
    point: &'a SweepPointDocument,
    metric: &SweepMetricDocument,
) -> Option<&'a PointMean> {
    point.metrics.get(&metric.key)?.as_ref()
}

/// Returns the best point by a metric.
pub(super) fn best_point<'a>(
    document: &'a SweepDocument,
    metric: &SweepMetricDocument,
) -> Option<(&'a SweepPointDocument, &'a PointMean)> {
    let known = document.points.iter().filter_map(|point| Some((point, mean_of(point, metric)?)));
    known.reduce(|best, one| {
        let is_better = match metric.better {
            Better::Higher => one.1.mean > best.1.mean,
            Better::Lower => one.1.mean < best.1.mean,
        };
        if is_better { one } else { best }
    })
}

/// A metric, and how it moves along each axis.
struct Moved<'a> {
    metric: &'a SweepMetricDocument,
    /// By axis.
    profiles: Vec<Option<Profile>>,
}

impl Moved<'_> {
    fn known(&self) -> impl Iterator<Item = &Profile> {
        self.profiles.iter().flatten()
    }

    /// The least and the largest of all means.
    fn range(&self) -> (f64, f64) {
        let means = || self.known().flat_map(|one| one.means.iter().flatten().copied());
        (means().fold(f64::INFINITY, f64::min), means().fold(f64::NEG_INFINITY, f64::max))
    }
}

/// Returns the metrics that are shown: the main ones that move, or else the first that do.
fn moved(document: &SweepDocument) -> Vec<Moved<'_>> {
    let moved = |metric| {
        let profiles = document.axes.iter().map(|axis| profile(document, axis, metric)).collect();
        Moved { metric, profiles }
    };
    let all: Vec<Moved<'_>> = document.metrics.iter().map(moved).collect();
    let moving = |one: &Moved<'_>| one.known().next().is_some();
    let is_main = |one: &Moved<'_>| MAIN.contains(&one.metric.key.as_str());
    let (main, others): (Vec<_>, Vec<_>) = all.into_iter().filter(moving).partition(is_main);
    if main.is_empty() { others.into_iter().take(MAIN.len()).collect() } else { main }
}

/// Returns the table, if anything moves.
pub fn table(document: &SweepDocument) -> Markup {
    let moved = moved(document);
    if moved.is_empty() {
        return html! {};
    }
    html! {
        h2 { "At a glance" }
        div.wide tabindex="0" role="region" aria-label="All axes at a glance" {
            table.glance id="glance" {
                thead { tr {
                    th scope="col" { "Along" }
                    @for one in &moved { th scope="col" { (one.metric.name) } }
                } }
                tbody {
                    @for (at, axis) in document.axes.iter().enumerate() {
                        tr {
                            th scope="row" { (axis.label) }
                            @for one in &moved { (cell(axis, at, one)) }
                        }
                    }
                    tr {
                        th scope="row" { "Best point" }
                        @for one in &moved { (best_cell(document, one.metric)) }
                    }
                }
            }
        }
        p.small {
            "How far the means over all points move along an axis: in per cent of the larger one, drawn on a scale that the cells of \
             a column share, in the order of the axis. The filled point is the best value. The axis that moves a metric most is in \
             bold."
        }
    }
}

fn cell(axis: &SweepAxisDocument, at: usize, moved: &Moved<'_>) -> Markup {
    let Moved { metric, profiles } = moved;
    let Some(own) = &profiles[at] else { return html! { td { "-" } } };
    let most = moved.known().map(|one| one.span).fold(0.0, f64::max);
    let best = &axis.values[own.best].label;
    let value = own.means[own.best].map_or(String::new(), |mean| with_unit(&metric.unit, mean));
    let told = format!("{}, best at {best}: {value}", percent(own.span));
    let is_most = profiles.len() > 1 && most > 0.0 && own.span >= most;
    html! {
        td.most[is_most] data-axis=(axis.name) data-metric=(metric.key) data-span=(own.span) {
            (percent(own.span))
            (drawing(own, moved.range(), &told))
            span.at { "best at " (best) }
        }
    }
}

/// Draws the means along an axis.
fn drawing(profile: &Profile, (low, high): (f64, f64), told: &str) -> Markup {
    let steps = (profile.means.len() - 1).max(1) as f64;
    let tenths = |value: f64| (value * 10.0).round() / 10.0;
    let place = |(at, mean): (usize, &Option<f64>)| {
        let mean = (*mean)?;
        let part = if high > low { (mean - low) / (high - low) } else { 0.5 };
        let x = MARGIN + at as f64 / steps * (WIDTH - 2.0 * MARGIN);
        let y = HEIGHT - MARGIN - part * (HEIGHT - 2.0 * MARGIN);
        Some((at, tenths(x), tenths(y)))
    };
    let places: Vec<_> = profile.means.iter().enumerate().filter_map(place).collect();
    let line: Vec<String> = places.iter().map(|(_, x, y)| format!("{x},{y}")).collect();
    let shown = |at: usize| at == profile.best || profile.means.len() <= MOST_DOTS;
    html! {
        svg width=(WIDTH) height=(HEIGHT) role="img" aria-label=(told) {
            polyline points=(line.join(" ")) {}
            @for (at, x, y) in places.iter().filter(|(at, ..)| shown(*at)) {
                circle.best[*at == profile.best] cx=(x) cy=(y) r=(RADIUS) {}
            }
        }
    }
}

fn best_cell(document: &SweepDocument, metric: &SweepMetricDocument) -> Markup {
    let Some((point, mean)) = best_point(document, metric) else { return html! { td { "-" } } };
    let half = mean.high.map(|high| with_unit(&metric.unit, high - mean.mean));
    let values: Vec<String> =
        document.axes.iter().map(|axis| format!("{} {}", axis.label, axis.shown(point))).collect();
    html! {
        td {
            data value=(mean.mean) { (with_unit(&metric.unit, mean.mean)) }
            @if let Some(half) = half { span.half { " ± " (half) } }
            span.at { (values.join(", ")) }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn axis(name: &str, values: &[&str]) -> SweepAxisDocument {
        let value = |name: &&str| super::super::document::SweepValueDocument {
            name: (*name).to_owned(),
            label: format!("<{name}>"),
            number: None,
        };
        SweepAxisDocument {
            name: name.to_owned(),
            label: name.to_owned(),
            unit: String::new(),
            spacing: "linear".to_owned(),
            values: values.iter().map(value).collect(),
        }
    }

    /// A sweep over two axes, whose metric has these values, the second axis varying first.
    fn document(better: Better, values: [Option<f64>; 4]) -> SweepDocument {
        let axes = vec![axis("a", &["1", "2"]), axis("b", &["x", "y"])];
        let metric = SweepMetricDocument {
            key: "throughput".to_owned(),
            id: "report/host/throughput_mb_per_s".to_owned(),
            name: "throughput".to_owned(),
            unit: "MB/s".to_owned(),
            better,
        };
        let point = |(at, value): (usize, Option<f64>)| {
            let mean = value.map(|mean| PointMean { mean, low: None, high: None });
            let name = |axis: &SweepAxisDocument, at: usize| {
                (axis.name.clone(), axis.values[at].name.clone())
            };
            SweepPointDocument {
                at: BTreeMap::from([name(&axes[0], at / 2), name(&axes[1], at % 2)]),
                config_blake3: String::new(),
                results: Vec::new(),
                metrics: BTreeMap::from([(metric.key.clone(), mean)]),
            }
        };
        let points = values.into_iter().enumerate().map(point).collect();
        SweepDocument {
            schema_version: 1,
            kind: "sweep".to_owned(),
            ftlab_version: String::new(),
            name: String::new(),
            title: String::new(),
            prepare: String::new(),
            confidence_ratio: 0.95,
            seeds: vec![1],
            axes: axes.clone(),
            metrics: vec![metric.clone()],
            points,
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_profile_has_the_means_and_the_best_value() {
        let sweep = document(Better::Higher, [Some(1.0), Some(3.0), Some(6.0), Some(10.0)]);
        let of = |axis: usize| profile(&sweep, &sweep.axes[axis], &sweep.metrics[0]).unwrap();
        assert_eq!(of(0).means, [Some(2.0), Some(8.0)]);
        assert_eq!((of(0).best, of(0).span), (1, 0.75));
        assert_eq!(of(1).means, [Some(3.5), Some(6.5)]);
        assert_eq!(of(1).best, 1);
        let (point, mean) = best_point(&sweep, &sweep.metrics[0]).unwrap();
        assert_eq!((point.at["a"].as_str(), point.at["b"].as_str(), mean.mean), ("2", "y", 10.0));
        let sweep = document(Better::Lower, [Some(1.0), None, Some(6.0), Some(0.5)]);
        let of = |axis: usize| profile(&sweep, &sweep.axes[axis], &sweep.metrics[0]).unwrap();
        assert_eq!((of(0).means.clone(), of(0).best), (vec![Some(1.0), Some(3.25)], 0));
        assert_eq!(best_point(&sweep, &sweep.metrics[0]).unwrap().1.mean, 0.5);
        let text = table(&sweep).into_string();
        assert!(text.contains("best at &lt;1&gt;") && text.contains("Best point"), "{text}");
    }

    #[test]
    fn without_values_there_is_no_table() {
        let sweep = document(Better::Higher, [None; 4]);
        assert_eq!(table(&sweep).into_string(), "");
        let one = document(Better::Higher, [Some(2.0), Some(2.0), None, None]);
        assert!(profile(&one, &one.axes[0], &one.metrics[0]).is_none());
    }
}
