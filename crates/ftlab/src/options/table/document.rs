//! Reads a document: opens its tables, looks keys up, and collects all problems with their places.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use toml::de::DeTable;

use super::{Field, Key, Otherwise, Table};
use crate::options::problem::{Problem, Problems, SourcePlace};
use crate::options::text::{clip, nearest, shown};
use crate::options::value::{Raw, TableEntry, unknown_name};

/// A value of a document, and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// Its name in messages, such as `phase[2].size`.
    pub path: String,
    /// Its bytes in the text.
    pub span: Range<usize>,
    /// The value.
    pub raw: Raw,
}

impl Given {
    /// The entry of a list at index `at`; none if there is no such entry.
    #[must_use]
    pub fn item(&self, at: usize) -> Option<Given> {
        let Raw::List(entries) = &self.raw else { return None };
        let (span, raw) = entries.get(at)?;
        let path = format!("{}[{}]", self.path, at + 1);
        Some(Given { path, span: span.clone(), raw: raw.clone() })
    }

    /// The value, if it is a finite number.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        let Raw::Number(text) = &self.raw else { return None };
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// A non-empty text or a number, as written.
    #[must_use]
    pub fn plain(&self) -> Option<String> {
        match &self.raw {
            Raw::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            Raw::Number(number) => Some(number.clone()),
            _ => None,
        }
    }

    /// As [`Given::plain`], or a switch as it is written.
    #[must_use]
    pub fn word(&self) -> Option<String> {
        match self.raw {
            Raw::Switch(switch) => Some(switch.to_string()),
            _ => self.plain(),
        }
    }
}

/// The place of a table, for messages about it and its keys.
#[derive(Clone, Debug, PartialEq)]
pub struct At {
    /// Its name in messages; empty for the whole document.
    pub path: String,
    /// Its bytes in the text.
    pub span: Range<usize>,
    /// Whether all its values could be read; placeholders replace the others.
    pub is_sound: bool,
}

impl At {
    /// The place of a placeholder for a table.
    #[must_use]
    pub fn nowhere() -> At {
        At { path: String::new(), span: 0..0, is_sound: false }
    }

    /// The name of a key of the table in messages.
    #[must_use]
    pub fn path_of(&self, name: &str) -> String {
        match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        }
    }
}

/// A text that is being read, and the problems found in it.
#[derive(Debug)]
pub struct Document {
    label: String,
    text: Arc<str>,
    problems: Vec<Problem>,
    spans: BTreeMap<String, Range<usize>>,
    /// Whether a default is being read, which has no place.
    assuming: bool,
    /// The paths of values that could not be read.
    failed: BTreeSet<String>,
}

impl Document {
    /// Reads a text of at most `limit` bytes as the table `T`. `label` is the name that problems
    /// carry, and `shorten` the remedy for a longer text. `check` sees the text first; if it reports
    /// anything, nothing else is read.
    pub fn read<T: Table>(
        label: &str,
        text: &str,
        limit: usize,
        shorten: &str,
        check: impl FnOnce(&mut Document, &Given),
    ) -> (Document, Option<T>) {
        let (label, origin) = (label.to_owned(), text.into());
        let (problems, spans) = (Vec::new(), BTreeMap::new());
        let (assuming, failed) = (false, BTreeSet::new());
        let mut document = Document { label, text: origin, problems, spans, assuming, failed };
        let mut root = Given { path: String::new(), span: 0..0, raw: Raw::Table(Vec::new()) };
        if text.len() > limit {
            let message = format!("the text has {} bytes; the limit is {limit}", text.len());
            document.report(&root, message, shorten);
            return (document, None);
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            let place =
                SourcePlace::new(&document.label, &document.text, error.span().unwrap_or_default());
            document.problems.push(Problem::syntax(error, place));
        }
        if errors.is_empty() {
            root.raw = Raw::of_table(table.get_ref(), 0);
            check(&mut document, &root);
        }
        let read = if document.problems.is_empty() { document.open(&root) } else { None };
        (document, read)
    }

    /// The number of values that could not be read so far.
    #[must_use]
    pub fn failures(&self) -> usize {
        self.failed.len()
    }

    /// Whether the value of this key could not be read. Its placeholder needs no further checks.
    #[must_use]
    pub fn has_failed(&self, table: &At, name: &str) -> bool {
        self.failed.contains(&table.path_of(name))
    }

    /// Returns what was read, or all problems in the order of the text.
    ///
    /// # Errors
    /// Something was reported.
    pub fn finish<T>(mut self, read: Option<T>) -> Result<T, Problems> {
        match read {
            Some(read) if self.problems.is_empty() => Ok(read),
            _ => {
                let start =
                    |problem: &Problem| problem.place.as_ref().map(|place| place.span.start);
                self.problems.sort_by_key(start);
                Err(Problems { problems: self.problems })
            }
        }
    }

    /// Reports a problem with a value.
    pub fn report(&mut self, of: &Given, message: impl Into<String>, remedy: impl Into<String>) {
        self.report_span(&of.path, of.span.clone(), message, remedy);
    }

    /// Reports a problem with a key of a table, at the key's value or, without one, at the table.
    pub fn report_at(
        &mut self,
        table: &At,
        name: &str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let path = table.path_of(name);
        let span = self.spans.get(&path).unwrap_or(&table.span).clone();
        self.report_span(&path, span, message, remedy);
    }

    /// Reports a problem at a place, unless the value there could not even be read.
    pub fn report_span(
        &mut self,
        path: &str,
        span: Range<usize>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        if self.failed.contains(path) {
            return;
        }
        let place = Some(SourcePlace::new(&self.label, &self.text, span));
        let (message, remedy) = (message.into(), remedy.into());
        self.problems.push(Problem { path: path.to_owned(), message, remedy, place });
    }

    /// Adds a problem that was found elsewhere.
    pub fn note(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Reports a value of the wrong form. Always returns `None`.
    pub fn mismatch<T>(&mut self, given: &Given, key: &Key) -> Option<T> {
        self.unlike(given, &key.takes(), key)
    }

    /// Reports a value, or an entry of a list, that is not what was expected. Always returns `None`.
    pub(super) fn unlike<T>(&mut self, given: &Given, expected: &str, key: &Key) -> Option<T> {
        let message = format!("expected {expected}, found {}", given.raw.describe());
        self.report(given, message, key.remedy());
        None
    }

    /// The places of the keys and tables of the text, by path, and the text itself.
    #[must_use]
    pub fn places(&self) -> (Arc<str>, BTreeMap<String, Range<usize>>) {
        (Arc::clone(&self.text), self.spans.clone())
    }

    /// Those of the names that are given as keys of a table.
    #[must_use]
    pub fn given(&self, table: &At, names: &[&'static str]) -> Vec<&'static str> {
        let is_given = |name: &&'static str| self.spans.contains_key(&table.path_of(name));
        names.iter().copied().filter(is_given).collect()
    }

    /// Reports texts and keys with control characters, which might move a terminal's cursor or
    /// change its colours. Line ends and tabs are allowed.
    pub fn refuse_control_characters(&mut self, given: &Given) {
        match &given.raw {
            Raw::Text(text) => self.refuse_unprintable(&given.path, given.span.clone(), text),
            Raw::List(entries) => {
                let items = (0..entries.len()).filter_map(|at| given.item(at));
                items.for_each(|item| self.refuse_control_characters(&item));
            }
            Raw::Table(pairs) => {
                for pair in pairs {
                    let value = given.value(pair);
                    self.refuse_unprintable(&value.path, pair.name_span.clone(), &pair.name);
                    self.refuse_control_characters(&value);
                }
            }
            Raw::Number(_) | Raw::Switch(_) | Raw::Other(_) => {}
        }
    }

    fn refuse_unprintable(&mut self, path: &str, span: Range<usize>, text: &str) {
        let is_bad = |c: &char| c.is_control() && !['\n', '\r', '\t'].contains(c);
        if let Some(bad) = text.chars().find(is_bad) {
            let message = format!("a control character, U+{:04X}", u32::from(bad));
            self.report_span(path, span, message, "leave it out: texts are printed on terminals");
        }
    }

    /// Returns the index of the given name in `known`; `what` says what the names denote.
    pub fn one_of(&mut self, given: &Given, what: &str, known: &[&str]) -> Option<usize> {
        match given.plain() {
            Some(text) => self.named(&text, &given.path, given.span.clone(), what, known),
            None => {
                let message = format!("expected a {what}, found {}", given.raw.describe());
                let remedy = format!("write one that is known: {}", known.join(", "));
                self.report(given, message, remedy);
                None
            }
        }
    }

    /// Returns the index of the name `text` in `known`.
    pub fn named(
        &mut self,
        text: &str,
        path: &str,
        span: Range<usize>,
        what: &str,
        known: &[&str],
    ) -> Option<usize> {
        let found = known.iter().position(|name| *name == text);
        if found.is_none() {
            let remedy = match known {
                [] => "there is none yet".to_owned(),
                known => unknown_name(text, known).remedy,
            };
            self.report_span(path, span, format!("unknown {what} {}", shown(text)), remedy);
        }
        found
    }

    /// Opens a table, reports keys that it can't have, and reads it; none if its kind is unknown.
    pub fn open<T: Table>(&mut self, table: &Given) -> Option<T> {
        let info = T::info();
        if !table.path.is_empty() && !self.assuming {
            self.spans.insert(table.path.clone(), table.span.clone());
        }
        let kind = match info.by {
            Some(by) => Some(self.kind_of::<T>(table, by)?),
            None => None,
        };
        let known = info.all_keys();
        let applying: Vec<&Key> =
            known.iter().copied().filter(|key| key.applies(kind.as_deref())).collect();
        for pair in table.pairs() {
            if applying.iter().any(|key| key.name == pair.name) {
                if !self.assuming {
                    self.spans.insert(table.value(pair).path, pair.span.clone());
                }
                continue;
            }
            let message = match known.iter().find(|key| key.name == pair.name) {
                Some(key) => {
                    let (kind, of) = (kind.as_deref().unwrap_or_default(), key.of.join(", "));
                    format!("has no meaning for kind \"{kind}\"; it belongs to {of}")
                }
                None => format!("unknown key of {}", info.title),
            };
            let names: Vec<&str> = applying.iter().map(|key| key.name).collect();
            let list = names.join(", ");
            let remedy = match nearest(&pair.name, names) {
                Some(near) => format!("did you mean {near}? (known: {list})"),
                None => format!("remove it, or write one that is known: {list}"),
            };
            let path = table.at().path_of(&clip(&pair.name));
            self.report_span(&path, pair.name_span.clone(), message, remedy);
        }
        Some(T::read(self, table))
    }

    /// The kind of a table, if it is given and known.
    fn kind_of<In: Table>(&mut self, table: &Given, by: &'static Key) -> Option<String> {
        let Some(given) = table.get(by.name) else { return self.lacks::<In, _>(table, by) };
        let super::Form::Value(_, choices) = (by.form)() else { return None };
        let Raw::Text(kind) = &given.raw else { return self.mismatch(&given, by) };
        let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
        self.named(kind, &given.path, given.span.clone(), by.name, &names)?;
        Some(kind.clone())
    }

    fn lacks<In: Table, T>(&mut self, table: &Given, key: &Key) -> Option<T> {
        let message = format!("{} lacks `{}`", In::info().title, key.name);
        let remedy = format!("add `{}`: {}", key.name, key.takes());
        self.report_span(&table.at().path_of(key.name), table.span.clone(), message, remedy);
        None
    }

    /// The value of a key, or its default. Reports a required key that is missing.
    pub fn required<In: Table, T: Field>(&mut self, table: &Given, key: &Key) -> T {
        let read = match (table.get(key.name), key.otherwise) {
            (Some(given), _) => T::read(self, &given, key),
            (None, Otherwise::Value(text)) => {
                let (path, raw) = (table.at().path_of(key.name), Raw::bare(text));
                let before = std::mem::replace(&mut self.assuming, true);
                let read = T::read(self, &Given { path, span: table.span.clone(), raw }, key);
                self.assuming = before;
                debug_assert!(read.is_some(), "the default of {key:?} can be read");
                read
            }
            (None, _) => self.lacks::<In, T>(table, key),
        };
        let path = table.at().path_of(key.name);
        self.counted(read, &path).unwrap_or_else(|| T::stand_in(&path))
    }

    /// The value of a key; none if it is not given or wrong.
    pub fn optional<T: Field>(&mut self, table: &Given, key: &Key) -> Option<T> {
        let given = table.get(key.name)?;
        let read = T::read(self, &given, key);
        self.counted(read, &given.path)
    }

    /// The value of a key that only some kinds of the table have; none for other kinds.
    pub fn of_kind<In: Table, T: Field>(&mut self, table: &Given, key: &Key) -> Option<T> {
        let kind = In::info().by.and_then(|by| table.get(by.name)?.plain());
        let needed = kind.as_deref().is_some_and(|kind| key.needed.contains(&kind));
        match key.otherwise {
            _ if !key.applies(kind.as_deref()) => None,
            Otherwise::Depends(_) if !needed => self.optional(table, key),
            _ => Some(self.required::<In, T>(table, key)),
        }
    }

    fn counted<T>(&mut self, read: Option<T>, path: &str) -> Option<T> {
        if read.is_none() {
            self.fail(path);
        }
        read
    }

    /// Marks the value at this path as unreadable. No further problems with it are reported.
    pub fn fail(&mut self, path: &str) {
        self.failed.insert(path.to_owned());
    }
}

impl Given {
    /// The place of the value, as a table.
    #[must_use]
    pub fn at(&self) -> At {
        At { path: self.path.clone(), span: self.span.clone(), is_sound: true }
    }

    /// The pairs of a table; none for any other value.
    #[must_use]
    pub fn pairs(&self) -> &[TableEntry] {
        match &self.raw {
            Raw::Table(pairs) => pairs,
            _ => &[],
        }
    }

    /// The value of a pair of this table.
    #[must_use]
    pub fn value(&self, pair: &TableEntry) -> Given {
        let path = self.at().path_of(&clip(&pair.name));
        Given { path, span: pair.span.clone(), raw: pair.raw.clone() }
    }

    /// The value of a key of this table.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Given> {
        self.pairs().iter().find(|pair| pair.name == name).map(|pair| self.value(pair))
    }
}
