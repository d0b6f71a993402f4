//! The page of what one load is like, or two side by side: figures, tables, and what is doubtful.
//!
//! Its size has a bound, because a character's has one, however long the trace is.

use ftlab_workload::accesses::ByClass;
use ftlab_workload::trace::{
    Character, CharacterComparison, Inspection, StreamUse, compare_characters,
};
use maud::{Markup, html};
use serde::Serialize;

use super::PAGE;
use super::figures::{LoadFigure, LoadFigures, figures_of};
use super::words::{
    Fact, accesses_in_words, figure_in_words, in_words, inspection_in_words, numeral,
};
use crate::failure::Failure;
use crate::figure::{Drawn, FigureAxis};
use crate::human::{bytes, count, percent, rate, span};
use crate::page::{DrawnNumber, HtmlPage, licence, made_by};

const SCRIPT: &str = concat!(
    include_str!("../../assets/page/common.js"),
    include_str!("../../assets/page/vector.js"),
    include_str!("../../assets/page/charts.js"),
    include_str!("../../assets/page/trace.js")
);
const STYLE: &str = include_str!("../../assets/page/trace.css");
const GENERATOR: &str = "ftlab trace";
const NS_PER_S: f64 = 1e9;
/// The most streams in a table; the figure has all that are told apart.
const MOST_STREAMS: usize = 20;

/// A load on the page.
#[derive(Clone, Copy, Debug)]
pub struct ShownLoad<'a> {
    /// A short name.
    pub name: &'a str,
    /// What it is like.
    pub character: &'a Character,
    /// What is known of it as a trace; nothing of loads that are none.
    pub inspection: Option<&'a Inspection>,
}

/// The data of the figures.
#[derive(Serialize)]
struct TraceData<'a> {
    /// The names of the loads.
    loads: &'a [String],
    groups: Vec<Vec<TraceChart<'a>>>,
}

#[derive(Serialize)]
struct TraceChart<'a> {
    title: &'a str,
    x: &'a FigureAxis,
    y: &'a FigureAxis,
    drawn: Drawn,
    lines: Vec<TraceLine<'a>>,
}

/// A line by columns, which are shorter than points.
#[derive(Serialize)]
struct TraceLine<'a> {
    name: &'a str,
    x: Vec<f64>,
    y: Vec<Option<DrawnNumber>>,
}

/// Returns the page of a load, or of two. `command` made it.
///
/// # Errors
/// The data cannot be written as JSON.
pub fn trace_page(loads: &[ShownLoad<'_>], command: &[String]) -> Result<String, Failure> {
    let names: Vec<String> = match loads {
        [one] => vec![one.name.to_owned()],
        _ => ('A'..).zip(loads).map(|(letter, load)| format!("{letter}: {}", load.name)).collect(),
    };
    let title = match loads {
        [first, second] => format!("ftlab: the loads {} and {}", first.name, second.name),
        _ => format!("ftlab: the load {}", names.join("; ")),
    };
    let named: Vec<_> =
        names.iter().zip(loads).map(|(name, load)| (name.as_str(), load.character)).collect();
    let groups = figures_of(&named);
    let charts = groups.iter().map(|group| group.figures.iter().map(chart).collect());
    let data = &TraceData { loads: &names, groups: charts.collect() };
    let shown = || names.iter().map(String::as_str).zip(loads);
    let body = html! {
        h1 { (title) }
        @match loads {
            [one] => (tiles(one.character)),
            [first, second] => (differences(&compare_characters(first.character, second.character), &names)),
            _ => {}
        }
        (doubts(shown()))
        (drawings(&groups, loads.len()))
        (facts(&names, loads))
        @for (name, load) in shown() { (streams(name, &load.character.streams)) }
        @for (name, load) in shown() { (accesses(name, load)) }
        @for (name, load) in shown() { (assumed(name, load)) }
        h2 { "How to reproduce it" }
        dl { (made_by(env!("CARGO_PKG_VERSION"), command)) }
        (licence())
    };
    HtmlPage { generator: GENERATOR, title: &title, body, data, script: SCRIPT, style: STYLE }
        .text()
}

/// Whether a text begins like such a page.
#[must_use]
pub fn is_trace_page(text: &[u8]) -> bool {
    crate::page::is_made_by(GENERATOR, text)
}

fn chart(figure: &LoadFigure) -> TraceChart<'_> {
    let LoadFigure { title, panel } = figure;
    let lines = panel.lines.iter().map(|line| TraceLine {
        name: &line.name,
        x: line.points.iter().map(|point| point.x).collect(),
        y: line.points.iter().map(|point| point.y.map(DrawnNumber)).collect(),
    });
    TraceChart { title, x: &panel.x, y: &panel.y, drawn: panel.drawn, lines: lines.collect() }
}

fn tiles(of: &Character) -> Markup {
    let [reads, writes] = [&of.read_bytes, &of.write_bytes];
    let moving = reads.count + writes.count;
    let gap = of.arrivals.gap_ns.mean.filter(|mean| *mean > 0.0);
    let hot = of.skew.top.iter().find(|top| top.pages_percent == 10);
    let tiles = [
        ("requests", Some(count(of.requests))),
        ("a request in", gap.filter(|mean| *mean > NS_PER_S).map(|mean| span(mean.round() as u64))),
        (
            "requests a second",
            gap.filter(|mean| *mean <= NS_PER_S).map(|mean| rate(NS_PER_S / mean)),
        ),
        ("writes among reads and writes", (moving > 0.0).then(|| percent(writes.count / moving))),
        ("mean read", reads.mean.map(|mean| bytes(mean as u64))),
        ("mean write", writes.mean.map(|mean| bytes(mean as u64))),
        ("right after the previous request", of.sequence.next_ratio.map(percent)),
        ("4 KiB pages used", Some(bytes((of.pages * PAGE) as u64))),
        ("accesses on a tenth of the pages", hot.map(|top| percent(top.accesses_ratio))),
    ];
    html! {
        div.tiles {
            @for (name, text) in tiles {
                @if let Some(text) = text { div { span { (name) } b { (text) } } }
            }
        }
    }
}

/// The table of differences.
fn differences(found: &CharacterComparison, names: &[String]) -> Markup {
    let told = |value: Option<f64>, shown: &dyn Fn(f64) -> String| {
        html! { td { @if let Some(value) = value { data value=(value) { (shown(value)) } } @else { "-" } } }
    };
    let cell = |value| told(value, &numeral);
    let figure = |name: &str, value| told(value, &|value| figure_in_words(name, value));
    html! {
        h2 { "Differences" }
        div.columns {
            div.wide tabindex="0" role="region" aria-label="Figures" {
                table #figures {
                    thead { tr {
                        th scope="col" { "Figure" }
                        @for name in names { th scope="col" { (name) } }
                        th scope="col" { "B / A" }
                    } }
                    tbody { @for of in &found.figures { tr data-name=(of.name) {
                        th scope="row" { (of.name) }
                        (figure(of.name, of.first)) (figure(of.name, of.second)) (cell(of.ratio))
                    } } }
                }
            }
            div.wide tabindex="0" role="region" aria-label="Distances" {
                table #distances {
                    thead { tr {
                        th scope="col" { "Distance (0 to 1)" }
                        th scope="col" { "Kolmogorov-Smirnov" }
                        th scope="col" { "total variation" }
                    } }
                    tbody { @for of in &found.distances { tr data-name=(of.name) {
                        th scope="row" { (of.name) }
                        (cell(of.kolmogorov_smirnov)) (cell(of.total_variation))
                    } } }
                }
            }
        }
    }
}

/// What looks wrong about the traces.
fn doubts<'a>(loads: impl Iterator<Item = (&'a str, &'a ShownLoad<'a>)>) -> Markup {
    let known = loads.filter_map(|(name, load)| Some((name, load.inspection?)));
    let doubted: Vec<_> = known.filter(|(_, found)| !found.warnings.is_empty()).collect();
    html! {
        @if !doubted.is_empty() { h2 { "Doubts" } }
        @for (name, found) in doubted {
            h3 { (name) }
            ul.doubts { @for warning in &found.warnings { li { (warning) } } }
        }
    }
}

fn drawings(groups: &[LoadFigures], loads: usize) -> Markup {
    html! {
        noscript { p { "The figures need JavaScript; the tables do not." } }
        div id="drawings" hidden {
            fieldset id="toggles" hidden[loads < 2] { legend { "Shown in the figures" } }
            p.small { "Point at a figure, or move with the arrow keys, to read its values." }
            @for (at, group) in groups.iter().enumerate() {
                h2 { (group.title) }
                p.small { (group.about) }
                div.charts data-group=(at) {}
            }
        }
    }
}

/// All that is said about the loads, side by side.
fn facts(names: &[String], loads: &[ShownLoad<'_>]) -> Markup {
    let said = |load: &ShownLoad<'_>| -> Vec<Fact> {
        let trace = load.inspection.map(inspection_in_words).unwrap_or_default();
        trace.into_iter().chain(in_words(load.character)).collect()
    };
    let said: Vec<Vec<Fact>> = loads.iter().map(said).collect();
    let mut rows: Vec<&str> = Vec::new();
    for (name, _) in said.iter().flatten() {
        if !rows.contains(name) {
            rows.push(name);
        }
    }
    let text = |facts: &[Fact], row: &str| {
        facts.iter().find(|(name, _)| *name == row).map_or("-".to_owned(), |fact| fact.1.clone())
    };
    html! {
        h2 { "In words" }
        div.wide tabindex="0" role="region" aria-label="In words" {
            table.facts {
                @if names.len() > 1 {
                    thead { tr { th scope="col" {} @for name in names { th scope="col" { (name) } } } }
                }
                tbody { @for row in rows { tr {
                    th.part[row.starts_with(' ')] scope="row" { (row.trim_start()) }
                    @for facts in &said { td { (text(facts, row)) } }
                } } }
            }
        }
    }
}

fn streams(name: &str, streams: &[StreamUse]) -> Markup {
    let mut most: Vec<&StreamUse> = streams.iter().collect();
    most.sort_by_key(|of| std::cmp::Reverse(of.requests));
    most.truncate(MOST_STREAMS);
    let caption = match streams.len() {
        0 | 1 => return html! {},
        all if all > MOST_STREAMS => {
            format!(
                "Streams of {name}: the {MOST_STREAMS} with the most requests, of {}",
                count(all as u64)
            )
        }
        _ => format!("Streams of {name}"),
    };
    html! {
        div.wide tabindex="0" role="region" aria-label=(caption) {
            table.streams {
                caption { (caption) }
                thead { tr {
                    @for head in ["Stream", "Requests", "Read", "Written", "First", "Last"] {
                        th scope="col" { (head) }
                    }
                } }
                tbody { @for of in most { tr {
                    th scope="row" { (of.stream.map_or("all others".to_owned(), |number| number.to_string())) }
                    td { data value=(of.requests) { (count(of.requests)) } }
                    td { (bytes(of.read_bytes)) } td { (bytes(of.write_bytes)) }
                    @for at in [of.first_ns, of.last_ns] { td { (at.map_or("-".to_owned(), span)) } }
                } } }
            }
        }
    }
}

/// How reads and writes share pages, if that was asked for.
fn accesses(name: &str, load: &ShownLoad<'_>) -> Markup {
    let Some(found) = load.inspection.and_then(|found| found.accesses.as_ref()) else {
        return html! {};
    };
    let columns =
        [("4 KiB pages", &found.pages), ("reads", &found.reads), ("writes", &found.writes)];
    type Part = fn(&ByClass) -> u64;
    let rows: [(&str, Part); 4] = [
        ("pages only read", |of| of.only_read),
        ("pages only written", |of| of.only_written),
        ("interleaved", |of| of.interleaved),
        ("all", ByClass::sum),
    ];
    let caption = format!("How reads and writes share pages: {name}");
    html! {
        div.wide tabindex="0" role="region" aria-label=(caption) {
            table {
                caption { (caption) }
                thead { tr { th scope="col" { "Accesses" } @for (head, _) in columns { th scope="col" { (head) } } } }
                tbody { @for (row, part) in rows { tr {
                    th scope="row" { (row) }
                    @for (_, of) in columns { td { (count(part(of))) } }
                } } }
            }
        }
        ul { @for (name, text) in accesses_in_words(found) { li { (name) ": " (text) } } }
    }
}

fn assumed(name: &str, load: &ShownLoad<'_>) -> Markup {
    html! {
        @if let Some(found) = load.inspection {
            details {
                summary { "Assumed to read " (name) }
                ul { @for text in &found.assumed { li { (text) } } }
            }
        }
    }
}
