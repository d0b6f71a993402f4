//! The page of a reproduction: the paper's numbers beside ours, its figures drawn from our data,
//! and the README.

mod curves;
mod figures;
mod maps;
mod readme;

use std::fmt::Write;

use maud::{Markup, html};

use self::figures::{FigureData, notes};
use super::declaration::{Declaration, Figure};
use super::document::{CaseDocument, ClaimDocument, NumberVerdict, Reproduction, RowDocument};
use super::library::FoundExperiment;
use super::map;
use super::measure::Measured;
use super::numbers::{PERCENT, Tolerance, printed, told};
use super::words::{
    besides, difference, error_lines, fewer_seeds, long, not_run, ours, seeds, verdict_line,
};
use crate::failure::Failure;
use crate::page::{HtmlPage, licence, made_by};

const SCRIPT: &str = concat!(
    include_str!("../../../assets/page/common.js"),
    include_str!("../../../assets/page/vector.js"),
    include_str!("../../../assets/page/reproduce.js")
);
const STYLE: &str = include_str!("../../../assets/page/reproduce.css");
const GENERATOR: &str = "ftlab reproduce";

/// Renders a README as HTML.
pub fn readme_html(text: &str) -> String {
    readme::html(text).0
}

/// Returns the page. `command` made it.
pub fn of(
    found: &FoundExperiment,
    figures: &[Figure],
    document: &Reproduction,
    measured: &Measured,
    command: &[String],
) -> Result<String, Failure> {
    let declaration = &found.declaration;
    let data: Vec<FigureData> =
        figures.iter().filter_map(|one| figures::data(declaration, one, measured)).collect();
    let title = format!("{}: {}", document.name, document.title);
    let body = html! {
        h1 { (title) }
        p { (document.paper) @if let Some(doi) = &document.doi { ", doi " (doi) } }
        p { (document.summary) }
        p.verdict { (verdict_line(document)) }
        @for line in error_lines(document) { p.verdict { (line) } }
        @if let Some(note) = fewer_seeds(document) { p.verdict { (note) } }
        @if let Some(note) = not_run(document) { p.verdict { (note) } }
        (numbers(document))
        @if !figures.is_empty() { (drawings(declaration, figures, document, measured)) }
        @if !found.readme.is_empty() {
            h2 { "About the experiment" }
            section #readme { (readme::html(&found.readme)) }
        }
        (origin(found, document, command))
        (cases(document))
        (licence())
    };
    HtmlPage {
        generator: GENERATOR,
        title: &title,
        body,
        data: &data,
        script: SCRIPT,
        style: STYLE,
    }
    .text()
}

fn numbers(document: &Reproduction) -> Markup {
    html! {
        @if !document.claims.is_empty() {
            h2 { "The paper's numbers" }
            p.small {
                "Ours are means over " (seeds(document).to_lowercase()) ", with their "
                "95 % confidence intervals."
            }
            @for note in document.axes.iter().filter_map(|axis| axis.note.as_ref()) { p { (note) } }
            div.wide tabindex="0" role="region" aria-label="The paper's numbers" {
                table #claims {
                    thead { tr {
                        th scope="col" { "Claim" } th scope="col" { "Paper" }
                        th scope="col" { "ftlab" } th scope="col" { "95 % interval" }
                        th scope="col" { "Difference" } th scope="col" { "Tolerance" }
                        th scope="col" { "Verdict" }
                    } }
                    @for claim in &document.claims { (claimed(claim)) }
                }
            }
        }
    }
}

fn claimed(claim: &ClaimDocument) -> Markup {
    html! {
        tbody data-claim=(claim.id) {
            tr.claim { th colspan="7" scope="rowgroup" {
                (claim.text) " " span.small { (claim.place) (besides(claim)) }
                @if let Some(reason) = &claim.differs_because {
                    p.small { "Declared to differ: " (reason) }
                }
            } }
            @for row in &claim.rows { (numbered(claim, row)) }
        }
    }
}

fn numbered(claim: &ClaimDocument, row: &RowDocument) -> Markup {
    let unit = &claim.unit;
    let class = match row.verdict {
        NumberVerdict::Reproduced => "reproduced",
        NumberVerdict::DiffersExplained => "explained",
        NumberVerdict::OutOfTolerance => "out",
        NumberVerdict::NotRun => "not-run",
    };
    let interval = row.low.zip(row.high).map_or("-".to_owned(), |(low, high)| {
        let short = |value| told(value, unit).trim_end_matches(unit.as_str()).trim().to_owned();
        format!("{} to {}", short(low), short(high))
    });
    let near = |tolerance: Option<Tolerance>| {
        tolerance.map_or(String::new(), |tolerance| tolerance.told(unit))
    };
    html! {
        tr class=(class) {
            th scope="row" { (row.label) }
            td { (printed(row.paper, unit)) }
            td { data value=(row.ours.map(|ours| ours.to_string()).unwrap_or_default()) { (ours(row, unit)) } }
            td { (interval) }
            td {
                (difference(row, row.paper, row.tolerance, unit))
                @if let Some(expected) = row.expected {
                    br; span.small {
                        "expected " (printed(expected, unit))
                        @let from_that = difference(row, expected, row.expected_tolerance, unit);
                        @if !from_that.is_empty() { ": " (from_that) }
                    }
                }
            }
            td {
                (near(row.tolerance))
                @if row.expected_tolerance.is_some() {
                    br; span.small { (near(row.expected_tolerance)) }
                }
            }
            td.is {
                (long(row.verdict))
                @if let Some(text) = row.needless() { br; span.small { (text) } }
            }
        }
    }
}

fn drawings(
    declaration: &Declaration,
    figures: &[Figure],
    document: &Reproduction,
    measured: &Measured,
) -> Markup {
    // The script's figures are numbered separately.
    let mut scripted = 0..;
    html! {
        h2 { "Figures" }
        noscript { p { "The figures need JavaScript; the numbers are in tables." } }
        p.small {
            "Drawn from our data: means over " (seeds(document).to_lowercase()) ", with their 95 % intervals "
            "as vertical strokes where they are wide enough to be visible. Diamonds are the numbers printed in "
            "the paper, rings those of other origins. Numbers in heat maps have half the width of their intervals below. "
            @if !document.curves.is_empty() {
                "Curves over a count are those of the run with seed " (document.seeds[0]) ". "
            }
            "Point at a panel, or move with the arrow keys."
        }
        @for figure in figures {
            @let map = map::of(declaration, figure, measured);
            @let at = if map.is_none() { scripted.next() } else { None };
            section.figure data-figure=[at] {
                h3 { (figure.title) }
                @for note in notes(figure, &declaration.axes) { p.small { (note) } }
                @match map {
                    Some(map) => (maps::drawn(&figure.title, &map)),
                    None => { div.legend {} div.panels {} },
                }
            }
        }
    }
}

/// Shows what is needed to reproduce the result.
fn origin(found: &FoundExperiment, document: &Reproduction, command: &[String]) -> Markup {
    html! {
        h2 { "How to reproduce it" }
        dl {
            (made_by(&document.ftlab_version, command))
            dt { "Seeds" } dd { (seeds(document)) }
            dt { "BLAKE3 of the declaration" } dd { code { (document.declaration_blake3) } }
        }
        p { "The same version, command and experiment give the same numbers on every machine." }
        details { summary { "The declaration, experiment.toml" } pre tabindex="0" { (found.text) } }
    }
}

fn cases(document: &Reproduction) -> Markup {
    let axes: Vec<_> = document.axes.iter().filter(|axis| axis.values.len() > 1).collect();
    html! {
        details #cases {
            summary { "All " (document.cases.len()) " cases: means and standard deviations" }
            div.wide tabindex="0" role="region" aria-label="All cases" {
                table {
                    thead { tr {
                        @for axis in &axes { th scope="col" { (axis.label) } }
                        @for metric in &document.metrics {
                            th scope="col" {
                                (metric.label) @if !metric.unit.is_empty() { ", " (metric.unit) }
                            }
                        }
                        th scope="col" { "configuration" }
                    } }
                    tbody { @for case in &document.cases {
                        tr {
                            @for axis in &axes { th scope="row" { (case.at[&axis.name]) } }
                            @for metric in &document.metrics { td { (mean(case, &metric.name)) } }
                            td { code title=(case.config_blake3) { (case.config_blake3[..8]) } }
                        }
                    } }
                }
            }
        }
    }
}

fn mean(case: &CaseDocument, metric: &str) -> String {
    let Some(spread) = &case.metrics[metric] else { return "-".to_owned() };
    let mut text = crate::human::digits(spread.mean);
    if let Some(deviation) = spread.standard_deviation {
        // Writing to a string cannot fail.
        let _ = write!(text, " ± {}", crate::human::digits(deviation));
    }
    text
}

/// Returns the label of an axis with its unit.
fn with_unit(label: &str, unit: &str) -> String {
    match unit {
        "" => label.to_owned(),
        PERCENT => format!("{label}, per cent"),
        unit => format!("{label}, {unit}"),
    }
}
