//! Heat maps as SVG within the page, without its script, and as tables.
//!
//! Each shape needs a closing tag (`rect {}`, not `rect;`); an open one would swallow the following
//! shapes, which would not be drawn.

use maud::{Markup, html};

use crate::reproduce::map::{HeatMap, MapPanel, Scale};
use crate::reproduce::measure::Estimate;
use crate::reproduce::numbers::told;

/// The height of a cell, in pixels.
const HEIGHT: f64 = 40.0;
/// The minimum width of a cell.
const WIDTH: f64 = 72.0;
/// The assumed width of a letter.
const LETTER: f64 = 7.5;
/// The margin of labels.
const ROOM: f64 = 12.0;
/// The height of a line of labels.
const LINE: f64 = 20.0;
/// The number of colours in the legend.
const STEPS: usize = 11;
/// The width of each.
const STEP: f64 = 22.0;

/// Red, green and blue.
type Colour = [f64; 3];

/// The colours for less, equal and more; distinguishable with red-green colour blindness.
const LESS: Colour = [33.0, 102.0, 172.0];
const ALIKE: Colour = [247.0, 247.0, 247.0];
const MORE: Colour = [191.0, 87.0, 0.0];

/// Returns a heat map: title, legend, panels, and all of it as tables.
pub fn drawn(title: &str, map: &HeatMap) -> Markup {
    html! {
        p.small { (map.title()) }
        (legend(map))
        div.maps { @for panel in &map.panels { (panelled(title, map, panel)) } }
        details {
            summary { "As a table, with 95 % intervals" }
            @for panel in &map.panels { (table(map, panel)) }
        }
    }
}

fn panelled(title: &str, map: &HeatMap, panel: &MapPanel) -> Markup {
    let about = format!("{title} {}. The table below says the same.", panel.title);
    html! {
        div.map {
            @if !panel.title.is_empty() { h4 { (panel.title) } }
            div.wide tabindex="0" role="region" aria-label=(about) { (svg(&about, map, panel)) }
        }
    }
}

fn svg(about: &str, map: &HeatMap, panel: &MapPanel) -> Markup {
    let longest = |values: &[String]| {
        values.iter().map(|value| value.chars().count()).max().unwrap_or_default() as f64
    };
    let left = longest(&map.rows.values) * LETTER + 2.0 * ROOM;
    let width = (longest(&map.columns.values) * LETTER + ROOM).max(WIDTH);
    let columns = map.columns.values.len() as f64;
    let title = map.columns.title.chars().count().max(map.rows.title.chars().count()) as f64;
    let whole = (left + columns * width).max(left + title * LETTER) + ROOM;
    let bottom = LINE + HEIGHT * map.rows.values.len() as f64;
    let high = bottom + 2.0 * LINE + ROOM;
    let middle = |at: usize| left + (at as f64 + 0.5) * width;
    html! {
        svg role="img" aria-label=(about) width=(whole) height=(high) viewBox=(format!("0 0 {whole} {high}")) {
            text.ink x=(0) y=(LINE - 6.0) { (map.rows.title) }
            @for (row, name) in map.rows.values.iter().enumerate() {
                @let top = LINE + row as f64 * HEIGHT;
                text.ink x=(left - ROOM) y=(top + HEIGHT / 2.0 + 4.0) text-anchor="end" { (name) }
                @for (column, cell) in panel.cells[row].iter().enumerate() {
                    g {
                        (square(map, cell.as_ref(), [left + column as f64 * width, top, width, HEIGHT]))
                        title { (name) ", " (map.columns.values[column]) ": " (said(map, cell.as_ref())) }
                    }
                }
            }
            @for (column, name) in map.columns.values.iter().enumerate() {
                text.ink x=(middle(column)) y=(bottom + LINE - 4.0) text-anchor="middle" { (name) }
            }
            text.ink x=(left) y=(bottom + 2.0 * LINE) { (map.columns.title) }
        }
    }
}

/// Returns a cell: its colour, number and interval.
fn square(map: &HeatMap, cell: Option<&Estimate>, [x, y, width, height]: [f64; 4]) -> Markup {
    let fill = cell.map(|cell| colour(map.scale, cell.value));
    let ink = fill.map_or("currentColor", ink);
    let (middle, line) = (x + width / 2.0, y + height / 2.0);
    html! {
        rect x=(x + 1.0) y=(y + 1.0) width=(width - 2.0) height=(height - 2.0)
            fill=(fill.map_or("none".to_owned(), hexadecimal)) stroke=[cell.is_none().then_some("currentColor")] {}
        @match cell {
            None => text x=(middle) y=(line + 4.0) text-anchor="middle" fill=(ink) { "-" },
            Some(cell) => {
                text x=(middle) y=(line - 1.0) text-anchor="middle" fill=(ink) { (map.number(cell.value)) }
                @if let Some(half) = map.half(cell) {
                    text.half x=(middle) y=(line + 14.0) text-anchor="middle" fill=(ink) { "± " (half) }
                }
            }
        }
    }
}

fn legend(map: &HeatMap) -> Markup {
    let (low, high) = map.scale.ends();
    let step = |at: usize| low + (high - low) * at as f64 / (STEPS as f64 - 1.0);
    let words = match map.scale {
        Scale::Diverging { .. } => ("less", "more"),
        Scale::Rising { .. } => ("lowest", "highest"),
    };
    let width = STEPS as f64 * STEP;
    html! {
        p.scale {
            span { (map.number(low)) " (" (words.0) ")" }
            svg width=(width) height=(LINE) viewBox=(format!("0 0 {width} {LINE}")) aria-hidden="true" {
                @for at in 0..STEPS {
                    rect x=(at as f64 * STEP) y=(0) width=(STEP) height=(LINE)
                        fill=(hexadecimal(colour(map.scale, step(at)))) {}
                }
            }
            span { (map.number(high)) " (" (words.1) ")" }
        }
    }
}

fn table(map: &HeatMap, panel: &MapPanel) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label=(format!("{} {}", map.label, panel.title)) {
            table {
                @if !panel.title.is_empty() { caption { (panel.title) } }
                thead { tr {
                    th scope="col" { (map.rows.title) ", " (map.columns.title) }
                    @for name in &map.columns.values { th scope="col" { (name) } }
                } }
                tbody { @for (name, cells) in map.rows.values.iter().zip(&panel.cells) {
                    tr {
                        th scope="row" { (name) }
                        @for cell in cells { td { (said(map, cell.as_ref())) } }
                    }
                } }
            }
        }
    }
}

/// Describes a cell.
fn said(map: &HeatMap, cell: Option<&Estimate>) -> String {
    let Some(cell) = cell else { return "not known".to_owned() };
    let value = told(cell.value, &map.unit);
    match (cell.low, cell.high) {
        (Some(low), Some(high)) => {
            format!("{value} ({} to {})", map.number(low), map.number(high))
        }
        _ => value,
    }
}

fn colour(scale: Scale, value: f64) -> Colour {
    let place = scale.place(value);
    // Plain values do not diverge: they use one half of the scale.
    let end = if place < 0.0 || matches!(scale, Scale::Rising { .. }) { LESS } else { MORE };
    let share = place.abs().min(1.0);
    [0, 1, 2].map(|part| ALIKE[part] + (end[part] - ALIKE[part]) * share)
}

fn hexadecimal(colour: Colour) -> String {
    let [red, green, blue] = colour.map(|part| part.round() as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Returns black or white, whichever has more contrast with a colour.
fn ink(ground: Colour) -> &'static str {
    // Squares approximate the curve of sRGB; the weights are those of its luminance.
    let [red, green, blue] = ground.map(|part| (part / 255.0).powi(2));
    let light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    // At this luminance black and white have the same contrast by WCAG.
    const EVEN: f64 = 0.18;
    if light > EVEN { "#000" } else { "#fff" }
}
