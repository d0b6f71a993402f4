//! The texts of a config, one over the other: the preset, the user's file, and each `--set`.
//! Parsing a text yields its entries with their places, and finds unknown keys.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::catalog::Catalog;
use super::presets;
use super::problem::{Problem, SourcePlace};
use super::text::{clip, shown};
use super::value::{Raw, ValueError, unknown_name};

/// One of the texts of a config.
#[derive(Clone, Debug)]
pub struct Layer {
    pub(crate) label: String,
    pub(crate) text: Arc<str>,
    pub(crate) kind: LayerKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LayerKind {
    Preset,
    UnknownPreset,
    File,
    /// A complete configuration that was printed before.
    Saved,
    Set,
}

impl Layer {
    /// A built-in preset. An unknown name becomes a problem of the config.
    #[must_use]
    pub fn preset(name: &str) -> Layer {
        let (text, kind) = match presets::find(name) {
            Some(preset) => (preset.text, LayerKind::Preset),
            None => (name, LayerKind::UnknownPreset),
        };
        Layer { label: format!("preset {name}"), text: text.into(), kind }
    }

    /// A user's file. Messages call it by its label, usually its path.
    #[must_use]
    pub fn file(label: &str, text: &str) -> Layer {
        Layer { label: label.to_owned(), text: text.into(), kind: LayerKind::File }
    }

    /// The complete configuration of a saved device, which nobody wrote by hand.
    #[must_use]
    pub fn saved(label: &str, text: &str) -> Layer {
        Layer { kind: LayerKind::Saved, ..Layer::file(label, text) }
    }

    /// An override, such as `ftl.gc.victim=greedy`. `number` counts overrides from one. The value
    /// is a TOML value or a bare text.
    #[must_use]
    pub fn set(number: usize, assignment: &str) -> Layer {
        Layer::set_by(&format!("--set {number}"), assignment)
    }

    /// An override from another source. Messages call it by its label.
    #[must_use]
    pub fn set_by(label: &str, assignment: &str) -> Layer {
        Layer { label: label.to_owned(), text: assignment.into(), kind: LayerKind::Set }
    }

    pub(crate) fn place(&self, span: Range<usize>) -> SourcePlace {
        let has_lines = self.kind != LayerKind::Set;
        SourcePlace { has_lines, ..SourcePlace::new(&self.label, &self.text, span) }
    }
}

/// An option that a layer sets.
#[derive(Clone, Debug)]
pub(crate) struct LayerEntry {
    pub path: &'static str,
    pub key: Range<usize>,
    pub value: Range<usize>,
    pub raw: Raw,
}

/// The contents of a layer.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// Whether the text could be parsed at all.
    pub is_read: bool,
    pub entries: Vec<LayerEntry>,
    pub problems: Vec<Problem>,
    /// The base of a file.
    pub base: Option<PresetBase>,
}

/// The preset or the file that a file builds on.
#[derive(Clone, Debug)]
pub(crate) struct PresetBase {
    pub name: String,
    pub span: Range<usize>,
}

impl PresetBase {
    /// The key that names the base.
    pub const KEY: &'static str = "base";
}

/// The most problems that are reported for a text.
const MOST_PROBLEMS: usize = 500;
/// How a base is written, for remedies.
pub(crate) const BASE_HINT: &str = "base = \"tlc-512g\" at the top of a user's file";

pub(crate) fn parse(layer: &Layer, catalog: &'static Catalog) -> Parsed {
    let parsed = Parsed { is_read: true, entries: Vec::new(), problems: Vec::new(), base: None };
    let mut parser = Parser { layer, catalog, parsed };
    match layer.kind {
        LayerKind::UnknownPreset => parser.unknown_preset(&layer.text),
        LayerKind::Set => parser.assignment(),
        LayerKind::Preset | LayerKind::File | LayerKind::Saved => parser.document(),
    }
    parser.parsed
}

struct Parser<'a> {
    layer: &'a Layer,
    catalog: &'static Catalog,
    parsed: Parsed,
}

impl Parser<'_> {
    fn problem(&mut self, path: &str, span: Range<usize>, message: String, remedy: String) {
        let place = Some(self.layer.place(span));
        self.parsed.problems.push(Problem { path: path.to_owned(), message, remedy, place });
    }

    fn syntax(&mut self, error: &toml::de::Error, offset: usize) {
        self.parsed.is_read = false;
        let span = error.span().map_or(0..0, |span| span.start + offset..span.end + offset);
        self.parsed.problems.push(Problem::syntax(error, self.layer.place(span)));
    }

    fn unknown_preset(&mut self, name: &str) {
        self.parsed.is_read = false;
        let ValueError { remedy, .. } = unknown_name(name, &presets::names());
        let message = format!("there is no preset {}", shown(name));
        let problem = Problem { path: String::new(), message, remedy, place: None };
        self.parsed.problems.push(problem);
    }

    fn document(&mut self) {
        let text = Arc::clone(&self.layer.text);
        let (table, errors) = DeTable::parse_recoverable(&text);
        for error in &errors {
            self.syntax(error, 0);
        }
        // After a syntax error, keys may have been misread, and further errors would be noise.
        if errors.is_empty() {
            self.table("", table.get_ref());
        }
    }

    fn assignment(&mut self) {
        let text = Arc::clone(&self.layer.text);
        let equals = text.find('=').filter(|at| !text[..*at].trim().is_empty());
        let Some(equals) = equals else {
            let remedy = "write a path, an equals sign and a value, like ftl.gc.start=4".to_owned();
            return self.problem("", 0..text.len(), "this sets nothing".to_owned(), remedy);
        };
        let path: Vec<&str> = text[..equals].split('.').map(str::trim).collect();
        let path = path.join(".");
        let start = text.len() - text.trim_start().len();
        let key = start.min(equals)..text[..equals].trim_end().len().max(start.min(equals));
        let value = &text[equals + 1..];
        let offset = equals + 1 + value.len() - value.trim_start().len();
        let value = value.trim();
        let end = offset + value.len();
        let raw = match DeValue::parse(value) {
            Ok(parsed) => Raw::of(parsed.get_ref(), offset),
            Err(error) if value.starts_with(['"', '\'', '[', '{']) => {
                return self.syntax(&error, offset);
            }
            Err(_) => Raw::Text(value.to_owned()),
        };
        match self.catalog.option(&path) {
            Some(option) => {
                let value = offset..end;
                self.parsed.entries.push(LayerEntry { path: option.path, key, value, raw });
            }
            None if self.catalog.holds(&path) => self.not_an_option(&path, key),
            None => self.unknown(&path, key),
        }
    }

    fn unknown(&mut self, path: &str, key: Range<usize>) {
        if path == PresetBase::KEY {
            let message = "a base cannot be named here".to_owned();
            return self.problem(path, key, message, format!("write {BASE_HINT}"));
        }
        let remedy = self.catalog.remedy_for(path);
        let kind = if path.contains('.') { "option" } else { "section" };
        self.problem(&clip(path), key, format!("unknown {kind}"), remedy);
    }

    fn not_an_option(&mut self, path: &str, key: Range<usize>) {
        let children = self.catalog.children(path);
        let remedy = match children.iter().find(|name| **name == "policy") {
            Some(_) => format!("to choose a policy, set {path}.policy"),
            None => format!("set one of its options: {}", children.join(", ")),
        };
        self.problem(path, key, "is a section, not an option".to_owned(), remedy);
    }

    /// Whether so much is wrong that the rest is skipped. Each unknown name costs a search for
    /// similar names, and nobody reads thousands of problems.
    fn has_told_enough(&mut self, at: Range<usize>) -> bool {
        if self.parsed.problems.len() == MOST_PROBLEMS {
            let message = format!("{MOST_PROBLEMS} problems were found before this line");
            let remedy = "fix these first: the rest was not checked".to_owned();
            self.problem("", at, message, remedy);
        }
        self.parsed.problems.len() > MOST_PROBLEMS
    }

    fn table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (key, value) in table.iter() {
            if self.has_told_enough(key.span()) {
                return;
            }
            let name = key.get_ref();
            let path = match prefix {
                "" => name.to_string(),
                _ => format!("{prefix}.{name}"),
            };
            if prefix.is_empty() && name == PresetBase::KEY && self.layer.kind == LayerKind::File {
                self.base(value);
            } else if let Some(option) = self.catalog.option(&path) {
                let raw = Raw::of(value.get_ref(), 0);
                let (key, value) = (key.span(), value.span());
                self.parsed.entries.push(LayerEntry { path: option.path, key, value, raw });
            } else if !self.catalog.holds(&path) {
                self.unknown(&path, key.span());
            } else if let Some(inner) = value.get_ref().as_table() {
                self.table(&path, inner);
            } else if value.get_ref().is_array() {
                let message = "there is one such section, not a list of them".to_owned();
                let remedy = format!("write [{path}], in single brackets");
                self.problem(&path, key.span(), message, remedy);
            } else {
                self.not_an_option(&path, key.span());
            }
        }
    }

    fn base(&mut self, value: &Spanned<DeValue<'_>>) {
        match value.get_ref().as_str() {
            Some(name) => {
                self.parsed.base = Some(PresetBase { name: name.to_owned(), span: value.span() });
            }
            None => {
                let found = Raw::of(value.get_ref(), 0).describe();
                let message = format!("expected the name of a preset or of a file, found {found}");
                self.problem(PresetBase::KEY, value.span(), message, format!("write {BASE_HINT}"));
            }
        }
    }
}
