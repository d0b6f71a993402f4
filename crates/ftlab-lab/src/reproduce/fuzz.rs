//! Entry points for fuzzers: declarations and READMEs, as arbitrary texts.

use std::path::PathBuf;

use super::cases::{needed, ready};
use super::library::FoundExperiment;
use super::page::readme_html;
use super::parse::parse;

/// The most cases of a declaration that are built.
const MOST_CASES: usize = 8;

/// Parses a declaration; if it is valid, builds cases of it in an empty folder.
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

/// Renders a README and checks that no script gets through.
pub fn readme(text: &str) {
    let page = readme_html(text).to_ascii_lowercase();
    for bad in ["<script", "<img", "href=\"javascript", "href=\"file", "href=\"data"] {
        assert!(!page.contains(bad), "{bad} came through");
    }
}
