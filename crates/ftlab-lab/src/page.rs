//! The frame of all HTML pages: one file that contains everything it needs and fetches nothing.
//!
//! Text and tables are plain HTML; a script draws the curves from data within the page. The page's
//! content security policy forbids all other scripts and any loading.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::failure::Failure;

/// The plotting library: uPlot 1.6.32 by Leon Sorokin, MIT licence.
const PLOT: &str = include_str!("../assets/uplot/uPlot.iife.min.js");
const PLOT_STYLE: &str = include_str!("../assets/uplot/uPlot.min.css");
const PLOT_LICENCE: &str = include_str!("../assets/uplot/LICENSE");
const STYLE: &str = include_str!("../assets/page/page.css");
/// The significant digits of numbers in the data.
const DIGITS: i32 = 5;

/// The `generator` tag is within this many bytes.
const MOST_HEAD: usize = 1024;

/// A number that is serialised with only as many digits as a drawing needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnNumber(pub f64);

impl Serialize for DrawnNumber {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0 == 0.0 || !self.0.is_finite() {
            return to.serialize_u64(0);
        }
        let factor = 10f64.powi(DIGITS - 1 - self.0.abs().log10().floor() as i32);
        let short = (self.0 * factor).round() / factor;
        if short.fract() == 0.0 { to.serialize_i64(short as i64) } else { to.serialize_f64(short) }
    }
}

/// Whether a text begins like a page whose `generator` tag is this one.
pub fn is_made_by(generator: &str, text: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&text[..text.len().min(MOST_HEAD)]);
    let meta = format!("<meta name=\"generator\" content=\"{generator}\">");
    head.starts_with("<!DOCTYPE html>") && head.contains(&meta)
}

/// Says what made a page, as the first entries of a `dl`.
pub fn made_by(version: &str, command: &[String]) -> Markup {
    html! {
        dt { "ftlab" } dd { (version) }
        @if !command.is_empty() {
            dt { "Command" } dd { code { (quoted(command.iter().cloned())) } }
        }
    }
}

/// An HTML page.
pub struct HtmlPage<'a, D> {
    /// The command that made the page.
    pub generator: &'a str,
    pub title: &'a str,
    pub body: Markup,
    /// The data for the script.
    pub data: &'a D,
    /// The script that draws the curves.
    pub script: &'a str,
    /// Style in addition to that of all pages.
    pub style: &'a str,
}

impl<D: Serialize> HtmlPage<'_, D> {
    /// Renders the page.
    pub fn text(self) -> Result<String, Failure> {
        let data = serde_json::to_string(self.data).map_err(Failure::usage)?;
        // Inside a script element, nothing may look like its end tag.
        let data = data.replace('<', "\\u003c");
        let style = format!("{PLOT_STYLE}\n{STYLE}{}", self.style);
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="generator" content=(self.generator);
                    meta http-equiv="Content-Security-Policy" content=(policy(&style, self.script));
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) }
                    style { (PreEscaped(&style)) }
                }
                body {
                    main { (self.body) }
                    script type="application/json" id="data" { (PreEscaped(data)) }
                    script { (PreEscaped(PLOT)) }
                    script { (PreEscaped(self.script)) }
                }
            }
        };
        Ok(page.into_string())
    }
}

/// Returns the content security policy: it allows the page's two scripts and its style, and no
/// loading.
fn policy(style: &str, script: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src {} {}; style-src {}; base-uri 'none'; form-action 'none'",
        hash(PLOT),
        hash(script),
        hash(style)
    )
}

/// Returns the licence of the plotting library.
pub fn licence() -> Markup {
    html! {
        details {
            summary { "Licence of the plotting library" }
            p { "Curves are drawn by uPlot:" }
            pre tabindex="0" { (PLOT_LICENCE) }
        }
    }
}

/// Joins words to a command line, quoted for a shell.
pub fn quoted(words: impl Iterator<Item = String>) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:%+@".contains(c);
    let quote = |word: String| match word.chars().all(plain) && !word.is_empty() {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    words.map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_long_as_a_drawing_needs() {
        let text = |number| serde_json::to_string(&DrawnNumber(number)).unwrap();
        let found = [0.0, 1.0, 123_456.7, 0.000_123_456_78, -2.5].map(text);
        assert_eq!(found, ["0", "1", "123460", "0.00012346", "-2.5"]);
    }
}
