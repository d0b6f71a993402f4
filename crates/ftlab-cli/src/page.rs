//! What all pages have in common: one file that holds everything it needs and fetches nothing.
//!
//! Text and tables are plain HTML; curves are drawn by a script from data within the page. The page's
//! own policy lets nothing else run and nothing be loaded.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::failure::Failure;

/// Draws curves: uPlot 1.6.32 by Leon Sorokin, MIT licence.
const PLOT: &str = include_str!("../assets/uplot/uPlot.iife.min.js");
const PLOT_STYLE: &str = include_str!("../assets/uplot/uPlot.min.css");
const PLOT_LICENCE: &str = include_str!("../assets/uplot/LICENSE");
const STYLE: &str = include_str!("../assets/page/page.css");

/// A page.
pub struct HtmlPage<'a, D> {
    /// Which command made it.
    pub generator: &'a str,
    /// The title.
    pub title: &'a str,
    /// What it shows.
    pub body: Markup,
    /// What is drawn.
    pub data: &'a D,
    /// What draws it.
    pub script: &'a str,
    /// Style beyond that of all pages.
    pub style: &'a str,
}

impl<D: Serialize> HtmlPage<'_, D> {
    /// Its text.
    pub fn text(self) -> Result<String, Failure> {
        let data = serde_json::to_string(self.data).map_err(Failure::usage)?;
        // Within a script element nothing may look like its end.
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

/// What the page may do: run the two scripts that it holds, and use its style. Nothing is loaded.
fn policy(style: &str, script: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; script-src {} {}; style-src {}; base-uri 'none'; form-action 'none'",
        hash(PLOT),
        hash(script),
        hash(style)
    )
}

/// Whose work draws the curves.
pub fn licence() -> Markup {
    html! {
        details {
            summary { "Licence of the plotting library" }
            p { "Curves are drawn by uPlot:" }
            pre tabindex="0" { (PLOT_LICENCE) }
        }
    }
}

/// The command that runs now.
pub fn this_command() -> String {
    quoted(std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()))
}

/// A command as a shell takes it.
pub fn quoted(words: impl Iterator<Item = String>) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:%+@".contains(c);
    let quote = |word: String| match word.chars().all(plain) && !word.is_empty() {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    words.map(quote).collect::<Vec<_>>().join(" ")
}
