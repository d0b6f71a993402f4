//! `report.html` of a sweep: curves along an axis with confidence intervals, and the table of means.
//!
//! The table is plain HTML; a script draws the curves of the chosen metric from data within the page.

use maud::{Markup, html};
use serde::Serialize;

use super::document::{SweepDocument, SweepMetricDocument, SweepPointDocument};
use crate::compare::words::with_unit;
use crate::failure::Failure;
use crate::page::{DrawnNumber, HtmlPage, licence, made_by};
use crate::result::{SWEEP_CSV, SWEEP_PARQUET};

const SCRIPT: &str = concat!(
    include_str!("../../assets/page/common.js"),
    include_str!("../../assets/page/vector.js"),
    include_str!("../../assets/page/sweep.js")
);
const STYLE: &str = include_str!("../../assets/page/sweep.css");
const GENERATOR: &str = "ftlab sweep";

/// The most points in the table of means; nobody reads more, and the other files have them.
const MOST_POINTS: usize = 2_000;

/// The data of the curves.
#[derive(Serialize)]
struct SweepData<'a> {
    axes: Vec<DrawnAxis<'a>>,
    metrics: Vec<DrawnMetric<'a>>,
}

#[derive(Serialize)]
struct DrawnAxis<'a> {
    label: &'a str,
    unit: &'a str,
    log: bool,
    names: Vec<&'a str>,
    /// The numbers, if the axis has some.
    numbers: Option<Vec<f64>>,
}

/// A metric at all points.
#[derive(Serialize)]
struct DrawnMetric<'a> {
    key: &'a str,
    name: &'a str,
    unit: &'a str,
    mean: Vec<Option<DrawnNumber>>,
    low: Vec<Option<DrawnNumber>>,
    high: Vec<Option<DrawnNumber>>,
}

/// Returns the page. `command` made it.
pub fn of(document: &SweepDocument, command: &[String]) -> Result<String, Failure> {
    let title = &document.title;
    let body = html! {
        h1 { (title) }
        p { (head(document)) }
        (super::glance::table(document))
        (drawings(document))
        (means(document))
        @if !document.notes.is_empty() {
            h2 { "Notes" }
            ul { @for note in &document.notes { li { (note) } } }
        }
        (origin(document, command))
        (licence())
    };
    let data = &data(document);
    HtmlPage { generator: GENERATOR, title, body, data, script: SCRIPT, style: STYLE }.text()
}

fn data(document: &SweepDocument) -> SweepData<'_> {
    let axes = document.axes.iter().map(|axis| DrawnAxis {
        label: &axis.label,
        unit: &axis.unit,
        log: axis.spacing == "log",
        names: axis.values.iter().map(|value| value.label.as_str()).collect(),
        numbers: axis.values.iter().map(|value| value.number).collect(),
    });
    let metrics = document.metrics.iter().map(|metric| {
        let of = |value: fn(&super::statistics::PointMean) -> Option<f64>| {
            let means = document.points.iter().map(|point| point.metrics[&metric.key].as_ref());
            means.map(|mean| mean.and_then(value).map(DrawnNumber)).collect()
        };
        DrawnMetric {
            key: &metric.key,
            name: &metric.name,
            unit: &metric.unit,
            mean: of(|mean| Some(mean.mean)),
            low: of(|mean| mean.low),
            high: of(|mean| mean.high),
        }
    });
    SweepData { axes: axes.collect(), metrics: metrics.collect() }
}

/// Returns the line below the title.
fn head(document: &SweepDocument) -> String {
    let axes: Vec<String> = document
        .axes
        .iter()
        .map(|axis| format!("{} ({})", axis.label, axis.values.len()))
        .collect();
    let seeds = match document.seeds.as_slice() {
        [seed] => format!("seed {seed}, so there are no intervals"),
        [first, .., last] => {
            let confidence = confidence(document);
            format!(
                "seeds {first} to {last}; intervals of {confidence} by Student's t over the seeds"
            )
        }
        [] => String::new(),
    };
    format!("{} points: {}; {seeds}.", document.points.len(), axes.join(" by "))
}

/// Returns the confidence level in per cent.
fn confidence(document: &SweepDocument) -> String {
    let percent = format!("{:.4}", document.confidence_ratio * 100.0);
    format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
}

fn drawings(document: &SweepDocument) -> Markup {
    html! {
        noscript { p { "The curves need JavaScript; the table does not." } }
        section id="drawings" hidden {
            h2 { "Curves" }
            fieldset id="choices" {
                legend { "Shown" }
                label { "Metric " select id="metric" {} }
                label { "along " select id="along" {} }
                @if document.axes.len() > 1 { label { "a line for each " select id="lines" {} } }
                label { "vertical scale " select id="scale" {
                    option value="zero" { "from zero" }
                    option value="fit" { "to fit" }
                    option value="log" { "logarithmic" }
                } }
            }
            p.small {
                "Each dot is the mean over the seeds, with its interval. Point at a curve, or move with the arrow keys."
            }
            div.legend id="legend" {}
            div.panels id="panels" {}
        }
    }
}

fn means(document: &SweepDocument) -> Markup {
    let shown = &document.points[..document.points.len().min(MOST_POINTS)];
    let left_out = document.points.len() - shown.len();
    html! {
        h2 { "Means" }
        p.small {
            "Means over the seeds, ± half of the interval. " (SWEEP_CSV) " and " (SWEEP_PARQUET)
            " have a row for each point and seed."
            @if left_out > 0 { " " (left_out) " more points are only there." }
        }
        div.wide tabindex="0" role="region" aria-label="Means" {
            table #means {
                thead { tr {
                    @for axis in &document.axes { th.axis scope="col" { (axis.label) } }
                    @for metric in &document.metrics { th scope="col" title=(metric.key) { (metric.name) } }
                } }
                tbody { @for point in shown { (row(document, point)) } }
            }
        }
    }
}

fn row(document: &SweepDocument, point: &SweepPointDocument) -> Markup {
    html! {
        tr {
            @for axis in &document.axes { th scope="row" { (axis.shown(point)) } }
            @for metric in &document.metrics { (cell(point, metric)) }
        }
    }
}

fn cell(point: &SweepPointDocument, metric: &SweepMetricDocument) -> Markup {
    let Some(mean) = &point.metrics[&metric.key] else { return html! { td { "-" } } };
    let half = mean.high.map(|high| high - mean.mean);
    html! {
        td {
            data value=(mean.mean) { (with_unit(&metric.unit, mean.mean)) }
            @if let Some(half) = half { span.half { " ± " (with_unit(&metric.unit, half)) } }
        }
    }
}

fn origin(document: &SweepDocument, command: &[String]) -> Markup {
    html! {
        h2 { "How to reproduce it" }
        dl {
            (made_by(&document.ftlab_version, command))
            dt { "Seeds" } dd { (format!("{:?}", document.seeds)) }
        }
        details {
            summary { "Points and their results" }
            div.wide tabindex="0" role="region" aria-label="Points and their results" {
                table {
                    thead { tr {
                        th scope="col" { "Point" } th scope="col" { "Configuration" } th scope="col" { "Results" }
                    } }
                    tbody { @for point in document.points.iter().take(MOST_POINTS) {
                        @let values: Vec<&str> = document.axes.iter().map(|axis| axis.shown(point)).collect();
                        tr {
                            th scope="row" { (values.join(", ")) }
                            td { code title=(point.config_blake3) { (point.config_blake3[..8]) } }
                            td { (point.results.first().map_or("", String::as_str))
                                @if point.results.len() > 1 { " ..." } }
                        }
                    } }
                }
            }
        }
    }
}
