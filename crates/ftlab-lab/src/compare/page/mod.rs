//! `report.html`: a page that contains everything it needs and fetches nothing.
//!
//! Tables are plain HTML; a script draws curves and maps from data within the page. The page's
//! content security policy forbids all other scripts and any loading.

mod data;
mod glance;
mod moments;
mod queues;

use maud::{Markup, html};
use serde_json::Value;

pub(crate) use self::data::{Curves, Times, latencies, times};
use self::data::{Data, time_points};
use super::build::Series;
use super::document::{Comparison, MetricDocument};
use super::statistics::Certainty;
use super::words::{self, LEGEND};
use crate::failure::Failure;
use crate::human::bytes;
use crate::page::{HtmlPage, licence, quoted};

const SCRIPT: &str = concat!(
    include_str!("../../../assets/page/common.js"),
    include_str!("../../../assets/page/vector.js"),
    include_str!("../../../assets/page/charts.js"),
    include_str!("../../../assets/page/timeline.js"),
    include_str!("../../../assets/page/page.js")
);

/// A title with more names is not read.
const MOST_IN_TITLE: usize = 3;
/// The `generator` tag of the page.
const GENERATOR: &str = "ftlab report";

/// Whether a text begins like one of our pages.
pub fn is_one(text: &[u8]) -> bool {
    crate::page::is_made_by(GENERATOR, text)
}

/// Returns the page of a comparison, or of a single variant. `command` made it.
///
/// # Errors
/// A file of a result cannot be read.
pub fn of(
    comparison: &Comparison,
    series: &[Series],
    command: &[String],
) -> Result<String, Failure> {
    let title = match comparison.variants.as_slice() {
        [one] => format!("ftlab: {}", one.name),
        [base, others @ ..] if others.len() > MOST_IN_TITLE => {
            format!("ftlab: {} variants against {}", others.len(), base.name)
        }
        [base, others @ ..] => {
            let names: Vec<&str> = others.iter().map(|one| one.name.as_str()).collect();
            format!("ftlab: {} against {}", names.join("; "), base.name)
        }
        [] => "ftlab".to_owned(),
    };
    let data = &Data::of(series)?;
    let body = html! {
        h1 { (title) }
        p { (words::head(comparison)) }
        (glance::table(comparison))
        (glance::tiles(comparison))
        (drawings(comparison, data))
        (tables(comparison))
        (notes(comparison))
        (origin(comparison, series, command))
    };
    let style = include_str!("../../../assets/page/timeline.css");
    HtmlPage { generator: GENERATOR, title: &title, body, data, script: SCRIPT, style }.text()
}

fn notes(comparison: &Comparison) -> Markup {
    html! {
        @if !comparison.notes.is_empty() {
            h2 { "Notes" }
            ul { @for note in &comparison.notes { li { (note) } } }
        }
    }
}

fn tables(comparison: &Comparison) -> Markup {
    html! {
        h2 { "Figures" }
        @if comparison.variants.len() == 1 {
            div.columns { @for part in parts(comparison) { (part) } }
        }
        @for at in 1..comparison.variants.len() { (one_table(comparison, at)) }
        @if comparison.variants.len() > 1 { p.small { (LEGEND) } }
    }
}

fn one_table(comparison: &Comparison, at: usize) -> Markup {
    let (base, variant) = (&comparison.variants[0].name, &comparison.variants[at].name);
    let caption = format!("{variant} against {base}");
    let ends = (&comparison.variants[0], &comparison.variants[at]);
    let uncompared = words::uncompared(ends.0, ends.1);
    html! {
        @if let Some(why) = uncompared { p.uncompared { (why) } }
        div.wide tabindex="0" role="region" aria-label=(caption) {
            table data-variant=(at) {
                caption { (caption) }
                thead { tr {
                    th scope="col" { "Metric" }
                    th scope="col" { (base) }
                    th scope="col" { (variant) }
                    th scope="col" { "Change" }
                    th scope="col" { (words::interval(comparison)) }
                } }
                tbody { @for metric in &comparison.metrics { (row(metric, at, false)) } }
            }
        }
    }
}

/// The sections of the tables of a single variant, by the beginnings of their metrics' places.
const PARTS: [(&str, &[&str]); 4] = [
    ("Requests", &["report/host/"]),
    (
        "Buffer, cache and map",
        &["report/cache", "report/read_cache", "report/translation", "report/reconstruction"],
    ),
    ("Energy", &["report/energy"]),
    ("Flash", &[""]),
];

/// The tables of a single variant, which lie side by side.
fn parts(comparison: &Comparison) -> Vec<Markup> {
    let part_of = |metric: &MetricDocument| {
        let begins =
            |part: &(&str, &[&str])| part.1.iter().any(|begin| metric.id.starts_with(begin));
        PARTS.iter().position(begins)
    };
    let part = |(at, (name, _)): (usize, &(&str, &[&str]))| {
        let own = comparison.metrics.iter().filter(|metric| part_of(metric) == Some(at));
        let known: Vec<_> = own.filter(|metric| metric.variants[0].mean.is_some()).collect();
        html! {
            @if !known.is_empty() {
                div.wide tabindex="0" role="region" aria-label=(name) {
                    table data-variant="0" {
                        caption { (name) }
                        tbody { @for metric in known { (row(metric, 0, true)) } }
                    }
                }
            }
        }
    };
    PARTS.iter().enumerate().map(part).collect()
}

fn row(metric: &MetricDocument, at: usize, alone: bool) -> Markup {
    let (base, one) = (&metric.variants[0], &metric.variants[at]);
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let [change, interval, mark] = words::changed(metric, one);
    let sure = one.change.as_ref().is_some_and(|change| {
        matches!(change.certainty, Certainty::Significant | Certainty::SignificantAmongAll)
    });
    html! {
        @if base.mean.is_some() || one.mean.is_some() {
            tr data-metric=(metric.id) {
                th scope="row" { (metric.name) }
                @if !alone { td { data value=(number(base.mean)) { (words::mean(metric, base)) } } }
                td { data value=(number(one.mean)) { (words::mean(metric, one)) } }
                @if !alone {
                    td.sure[sure] {
                        data value=(number(one.change.as_ref().map(|one| one.estimate))) { (change) }
                    }
                    td { (interval) " " (mark) }
                }
            }
        }
    }
}

fn drawings(comparison: &Comparison, data: &Data) -> Markup {
    let seed = comparison.seeds.first().copied().unwrap_or_default();
    html! {
        noscript { p { "The curves and maps need JavaScript; the tables do not." } }
        div id="drawings" hidden {
            fieldset id="toggles" hidden[comparison.variants.len() < 2] { legend { "Shown in the curves" } }
            h2 { "Latencies" }
            p.small {
                "The share of requests that took no longer, on a scale that widens the tail; all seeds \
                 together; 400 points of the whole distribution. Point at a curve, or move with the arrow \
                 keys."
            }
            div id="latencies" {}
            h2 { "Over time" }
            p.small {
                "From the start of measuring, seed " (seed) ", in at most " (time_points(data.variants.len())) " windows: sums, or the \
                 worst value where windows were combined. Percentiles of a window are at most 6.3 % too large."
            }
            div id="time" {}
            @if let Some(queues) = &data.queues {
                h2 { "By tenant" }
                p.small { "Over time, each submission queue by the tenants that use it: " (queues.names.join(", ")) "." }
                div id="tenants" {}
            }
            @if !data.moments.is_empty() {
                h2 { "Time line" }
                p.small {
                    "What requests, dies and buses did, from the start of measuring. A click on a request shows what it \
                     waited for. timeline.pftrace in the folder of the result has all of it."
                }
                div id="moments" {}
            }
            h2 { "Blocks" }
            p.small {
                "Each row is a die (or a group of neighbouring dies, beyond 64), each column a block (or the \
                 mean of neighbouring blocks, beyond 256), plane after plane; at the end of the run with seed "
                (seed) "."
            }
            label for="heat" { "Shown: " }
            select id="heat" {
                option value="measured_erases" { "erases while measuring" }
                option value="erases" { "erases since the device was new" }
                option value="collections" { "times chosen by collection while measuring" }
                option value="valid" { "valid pages at the end" }
            }
            div id="maps" {}
        }
    }
}

/// Shows what is needed to reproduce the comparison.
fn origin(comparison: &Comparison, series: &[Series], command: &[String]) -> Markup {
    let load = serde_json::to_string_pretty(&comparison.load).unwrap_or_default();
    let before = serde_json::to_string_pretty(&comparison.precondition).unwrap_or_default();
    // A single variant is reproduced by the commands that ran it, not by the one that drew the
    // page.
    let own: Vec<Vec<String>> = match series {
        [one] => one.results.iter().filter_map(|(_, result)| result.command()).collect(),
        _ => Vec::new(),
    };
    let own = own.into_iter().map(|command| quoted(command.into_iter())).collect::<Vec<String>>();
    let this = || Some(quoted(command.iter().cloned())).filter(|text| !text.is_empty());
    let commands = if own.is_empty() { this().into_iter().collect() } else { own };
    html! {
        h2 { "How to reproduce it" }
        dl {
            dt { "ftlab" } dd { (comparison.ftlab_version) }
            @if !commands.is_empty() { dt { "Command" } }
            @for command in commands { dd { code { (command) } } }
            dt { "Seeds" } dd { (format!("{:?}", comparison.seeds)) }
        }
        details { summary { "Load" } pre tabindex="0" { (load) } }
        @if comparison.precondition.as_array().is_some_and(|steps| !steps.is_empty()) {
            details { summary { "Preconditioning" } pre tabindex="0" { (before) } }
        }
        @for (variant, one) in comparison.variants.iter().zip(series) {
            @let result = &one.results[0].1.document;
            details {
                summary { (variant.name) ": " (variant.device) ", " (bytes(variant.capacity_bytes)) }
                @if !variant.settings.is_empty() {
                    p { "Set: " code { (variant.settings.join(" ")) } }
                }
                p { "Results: " (variant.results.join(", ")) }
                @if let Some(command) = one.results[0].1.command() {
                    p { "Run by: " code { (quoted(command.into_iter())) } }
                }
                p { "BLAKE3 of the configuration: " code { (variant.config_blake3) } }
                pre tabindex="0" { (config(result)) }
                @if let Some(notes) = result["report"]["notes"].as_array() {
                    p { "Notes of the first run:" }
                    ul { @for note in notes { li { (note.as_str().unwrap_or_default()) } } }
                }
            }
        }
        (licence())
    }
}

fn config(result: &Value) -> String {
    toml::to_string_pretty(&result["device"]["config"]).unwrap_or_default()
}
