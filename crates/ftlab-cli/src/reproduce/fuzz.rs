//! What fuzzers call: declarations and what is told about them, as any text.

use std::path::PathBuf;

use super::cases::{needed, ready};
use super::library::FoundExperiment;
use super::page::readme_html;
use super::parse::parse;

/// So many cases of a declaration are made ready.
const MOST_CASES: usize = 8;

/// Reads a declaration; of one that is in order, cases are made ready in a folder that holds nothing.
pub fn declaration(text: &str) {
    let declaration = match parse("fuzz.toml", text) {
        Ok(declaration) => declaration,
        Err(problems) => {
            assert!(!problems.to_string().is_empty());
            return;
        }
    };
    let name = &declaration.name;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    assert!(!name.is_empty() && name.chars().all(is_plain), "{name} is the name of a folder");
    let places = needed(&declaration, true).into_iter().take(MOST_CASES).collect();
    let found = FoundExperiment {
        folder: PathBuf::from("no-such-folder"),
        unpacked: None,
        declaration,
        label: "fuzz.toml".to_owned(),
        text: text.to_owned(),
        readme: String::new(),
    };
    if let Err(failure) = ready(&found, places, None) {
        assert!(!format!("{failure:?}").is_empty());
    }
}

/// Shows a README, from which no script may come.
pub fn readme(text: &str) {
    let page = readme_html(text).to_ascii_lowercase();
    for bad in ["<script", "<img", "href=\"javascript", "href=\"file", "href=\"data"] {
        assert!(!page.contains(bad), "{bad} came through");
    }
}
