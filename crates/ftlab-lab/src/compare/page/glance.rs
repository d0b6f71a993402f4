//! What one wants to know first: a row for each variant, a column for each main metric, and in each cell the change
//! against the baseline with its interval, drawn on the scale of its column.

use maud::{Markup, html};

use super::super::document::{Comparison, MetricDocument, ValuesDocument};
use super::super::metrics::{Better, MAIN};
use super::super::statistics::{Certainty, Change, Scale};
use super::super::words;

/// The width and height of a drawing, its margin, and the radius of its point, in pixels.
const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 14.0;
const MARGIN: f64 = 6.0;
const RADIUS: f64 = 4.0;

/// Returns the table, if there is anything to compare.
pub fn table(comparison: &Comparison) -> Markup {
    let main = |metric: &&MetricDocument| {
        let is_compared = metric.variants.iter().any(|one| one.change.is_some());
        is_compared && MAIN.contains(&metric.key().as_str())
    };
    let metrics: Vec<&MetricDocument> = comparison.metrics.iter().filter(main).collect();
    if comparison.variants.len() < 2 || metrics.is_empty() {
        return html! {};
    }
    let base = &comparison.variants[0].name;
    html! {
        h2 { "At a glance" }
        div.wide tabindex="0" role="region" aria-label="All variants at a glance" {
            table.glance {
                caption { "Change against " (base) }
                thead { tr {
                    th scope="col" { "Variant" }
                    @for metric in &metrics { th scope="col" { (metric.name) } }
                } }
                tbody {
                    tr {
                        th scope="row" { (base) }
                        @for metric in &metrics { td { (words::mean(metric, &metric.variants[0])) } }
                    }
                    @for (at, variant) in comparison.variants.iter().enumerate().skip(1) {
                        tr {
                            th scope="row" { (variant.name) }
                            @for metric in &metrics { (cell(metric, &metric.variants[at])) }
                        }
                    }
                }
            }
        }
        p.small {
            "Each cell has its change, and below it the change and its interval on a scale that the cells of its column share; \
             the line is no change. A filled point is a change that the seeds show, in blue a better value and in orange a worse \
             one; a hollow point may be chance."
        }
    }
}

/// Returns the main figures of a single variant.
pub fn tiles(comparison: &Comparison) -> Markup {
    let [_] = comparison.variants.as_slice() else { return html! {} };
    let known = |metric: &&MetricDocument| {
        MAIN.contains(&metric.key().as_str()) && metric.variants[0].mean.is_some()
    };
    html! {
        h2 { "At a glance" }
        div.tiles {
            @for metric in comparison.metrics.iter().filter(known) {
                div { span { (metric.name) } b { (words::mean(metric, &metric.variants[0])) } }
            }
        }
    }
}

/// A change, in words and drawn.
fn cell(metric: &MetricDocument, one: &ValuesDocument) -> Markup {
    let Some(change) = &one.change else { return html! { td { "-" } } };
    let [told, interval, _] = words::changed(metric, one);
    let is_sure =
        matches!(change.certainty, Certainty::Significant | Certainty::SignificantAmongAll);
    let is_better = (change.estimate > 0.0) == (metric.better == Better::Higher);
    let kind = match (is_sure, is_better) {
        (false, _) => "open",
        (true, true) => "better",
        (true, false) => "worse",
    };
    let word = if is_sure { format!(", {kind}") } else { ", may be chance".to_owned() };
    let reach = reach(metric);
    let place = |value: f64| place(change, value, reach);
    let middle = WIDTH / 2.0;
    let at = place(change.estimate);
    html! {
        td class=(kind) title=(interval) {
            (told)
            svg width=(WIDTH) height=(HEIGHT) role="img" aria-label=(format!("{told}, {interval}{word}")) {
                line.zero x1=(middle) x2=(middle) y1="0" y2=(HEIGHT) {}
                @if let (Some(low), Some(high)) = (change.low, change.high) {
                    line.whisker x1=(place(low)) x2=(place(high)) y1=(HEIGHT / 2.0) y2=(HEIGHT / 2.0) {}
                }
                circle cx=(at) cy=(HEIGHT / 2.0) r=(RADIUS) {}
            }
        }
    }
}

/// The distance of a value from no change: of ratios their logarithms, so that half and double are equally far.
fn distance(change: &Change, value: f64) -> f64 {
    match change.scale {
        Scale::Ratio => value.ln_1p(),
        Scale::Difference => value,
    }
}

/// The largest distance in a column.
fn reach(metric: &MetricDocument) -> f64 {
    let changes = metric.variants.iter().filter_map(|one| one.change.as_ref());
    let ends = changes.flat_map(|change| {
        let ends = [Some(change.estimate), change.low, change.high];
        ends.into_iter().flatten().map(|end| distance(change, end).abs())
    });
    ends.filter(|end| end.is_finite()).fold(0.0, f64::max)
}

/// The place of a value in the drawing, to a tenth of a pixel.
fn place(change: &Change, value: f64, reach: f64) -> f64 {
    let middle = WIDTH / 2.0;
    let part = if reach > 0.0 { distance(change, value) / reach } else { 0.0 };
    let part = if part.is_finite() { part.clamp(-1.0, 1.0) } else { -1.0 };
    ((middle + part * (middle - MARGIN)) * 10.0).round() / 10.0
}
