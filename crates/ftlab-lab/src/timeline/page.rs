//! The page that tells why requests took as long as they did: in words, and each with its time line.

use ftlab::shape::FlashGeometry;
use maud::{Markup, html};
use serde::Serialize;

use super::draw::{perfetto, request_name};
use super::panel::{TimelinePanel, panel};
use super::traced::windows_of;
use super::why::{WhyAnswer, main_shares};
use super::words::Share;
use crate::failure::Failure;
use crate::human::{count, percent, span};
use crate::page::{HtmlPage, made_by};

const SCRIPT: &str = concat!(
    include_str!("../../assets/page/common.js"),
    include_str!("../../assets/page/vector.js"),
    include_str!("../../assets/page/timeline.js")
);
const STYLE: &str = include_str!("../../assets/page/timeline.css");
const GENERATOR: &str = "ftlab why";
/// The most time lines of a page.
const MOST_PANELS: usize = 16;

/// A time line, in the page's data.
#[derive(Debug, Serialize)]
pub(crate) struct Moment {
    /// What it is of.
    pub title: String,
    /// The name of the request in question; without it, that is the slowest one.
    pub about: Option<String>,
    /// What is drawn.
    pub panel: TimelinePanel,
}

#[derive(Serialize)]
struct Moments {
    moments: Vec<Moment>,
}

/// Returns the page of an answer about a device of this shape. `command` made it.
///
/// # Errors
/// The data cannot be written as JSON.
pub fn why_page(
    answer: &WhyAnswer,
    geometry: &FlashGeometry,
    command: &[String],
) -> Result<String, Failure> {
    let moments = moments(answer, geometry).map_err(Failure::usage)?;
    let document = &answer.document;
    let title = "ftlab: why requests took as long as they did";
    let left_out = answer.told.len().saturating_sub(MOST_PANELS);
    let body = html! {
        h1 { (title) }
        @for tail in &document.tails {
            (shares(&tail.title, &tail.parts, tail.total_ns))
        }
        @for request in &document.requests {
            (shares(&request.title, &request.parts, request.latency_ns))
        }
        @if !moments.is_empty() {
            h2 { "Time lines" }
            p.small {
                "What requests, dies and buses did meanwhile, from the start of measuring. A click on a request shows what \
                 it waited for."
                @if left_out > 0 { " " (left_out) " more requests are not drawn." }
            }
            noscript { p { "The time lines need JavaScript; the tables do not." } }
        }
        div id="moments" {}
        h2 { "How to reproduce it" }
        dl { (made_by(&answer.traced.document.ftlab_version, command)) }
    };
    let data = &Moments { moments };
    HtmlPage { generator: GENERATOR, title, body, data, script: SCRIPT, style: STYLE }.text()
}

/// Whether a text begins like such a page.
#[must_use]
pub fn is_why_page(text: &[u8]) -> bool {
    crate::page::is_made_by(GENERATOR, text)
}

fn shares(title: &str, parts: &[Share], whole: u64) -> Markup {
    let (main, rest) = main_shares(parts, whole);
    let share = |part: u64| percent(part as f64 / whole.max(1) as f64);
    html! {
        div.wide tabindex="0" role="region" aria-label=(title) {
            table.why {
                caption { (title) }
                thead { tr {
                    th scope="col" { "What the time went to" }
                    th scope="col" { "Time" }
                    th scope="col" { "Share" }
                    th scope="col" { "Commands" }
                } }
                tbody {
                    @for part in main {
                        tr {
                            th scope="row" { (part.what) }
                            td { data value=(part.time.0) { (span(part.time.0)) } }
                            td { (share(part.time.0)) }
                            td { (count(part.commands)) }
                        }
                    }
                    @if rest.0 > 0 {
                        tr {
                            th scope="row" { "everything else" }
                            td { data value=(rest.0) { (span(rest.0)) } }
                            td { (share(rest.0)) }
                            td {}
                        }
                    }
                }
            }
        }
    }
}

fn moments(answer: &WhyAnswer, geometry: &FlashGeometry) -> Result<Vec<Moment>, String> {
    let WhyAnswer { document, told, traced } = answer;
    let zero = traced.document.measured_from_ns();
    let told = told.iter().zip(&document.requests).take(MOST_PANELS);
    let drawn = told.map(|(done, request)| {
        let seen = traced.within(windows_of(&[*done]));
        let panel = panel(&perfetto(&seen, geometry), zero)?;
        let about = Some(request_name(done));
        Ok(Moment { title: request.title.clone(), about, panel })
    });
    drawn.collect()
}
