//! Reads the tables of `experiment.toml`: names come from [`keys`](super::keys), and every problem is
//! collected with its place.

use std::ops::Range;
use std::sync::Arc;

use ftlab::config::{Place, Problem};
use ftlab::options::text::{clip, nearest, shown};
use ftlab::options::value::{Raw, unknown_name};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{KEYS, Key, Otherwise, Section};

/// What stands in the file, with its place.
pub type Given<'t> = Spanned<DeValue<'t>>;

/// Collects what is wrong.
pub struct Reader<'f> {
    file: &'f str,
    text: Arc<str>,
    /// What was wrong so far.
    pub problems: Vec<Problem>,
}

/// One table of the file, and what may stand in it.
#[derive(Clone)]
pub struct Fields<'a, 't> {
    table: &'a DeTable<'t>,
    section: Section,
    path: String,
    span: Range<usize>,
}

impl<'f> Reader<'f> {
    /// For a text that problems call `file`.
    pub fn new(file: &'f str, text: &Arc<str>) -> Reader<'f> {
        Reader { file, text: Arc::clone(text), problems: Vec::new() }
    }

    /// Adds a problem.
    pub fn report(
        &mut self,
        span: Range<usize>,
        path: &str,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let place = Some(Place::new(self.file, &self.text, span));
        let (message, remedy) = (message.into(), remedy.into());
        self.problems.push(Problem { path: path.to_owned(), message, remedy, place });
    }

    /// Reports texts and keys with characters that would move a terminal's cursor or change its colours.
    /// Ends of lines and tabs may stand in them.
    pub fn refuse_control_characters(&mut self, path: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let path = match path {
                "" => clip(name.get_ref()),
                path => format!("{path}.{}", clip(name.get_ref())),
            };
            self.refuse_unprintable(name.span(), &path, name.get_ref());
            self.refuse_unprintable_within(&path, value);
        }
    }

    fn refuse_unprintable_within(&mut self, path: &str, value: &Given<'_>) {
        match value.get_ref() {
            DeValue::String(text) => self.refuse_unprintable(value.span(), path, text),
            DeValue::Array(list) => {
                list.iter().for_each(|entry| self.refuse_unprintable_within(path, entry));
            }
            DeValue::Table(table) => self.refuse_control_characters(path, table),
            _ => {}
        }
    }

    fn refuse_unprintable(&mut self, span: Range<usize>, path: &str, text: &str) {
        let is_bad = |c: &char| c.is_control() && !['\n', '\r', '\t'].contains(c);
        if let Some(bad) = text.chars().find(is_bad) {
            let message = format!("a control character, U+{:04X}", u32::from(bad));
            self.report(span, path, message, "leave it out: texts are printed on terminals");
        }
    }

    /// Opens a table, and reports keys that it cannot have.
    pub fn fields<'a, 't>(
        &mut self,
        table: &'a DeTable<'t>,
        section: Section,
        path: &str,
        span: Range<usize>,
    ) -> Fields<'a, 't> {
        let fields = Fields { table, section, path: path.to_owned(), span };
        for (name, _) in table {
            if find(section, name.get_ref()).is_none() {
                self.unknown_key(&fields, name);
            }
        }
        fields
    }

    fn unknown_key(&mut self, fields: &Fields<'_, '_>, name: &Spanned<std::borrow::Cow<'_, str>>) {
        let known = known(fields.section);
        let list = known.join(", ");
        let remedy = match nearest(name.get_ref(), known) {
            Some(near) => format!("did you mean {near}? (known: {list})"),
            None => format!("remove it, or write one that is known: {list}"),
        };
        let message = format!("unknown key of {}", fields.section.title());
        self.report(name.span(), &fields.path_of(&clip(name.get_ref())), message, remedy);
    }

    /// What is given for a key. A required one that is missing is reported.
    pub fn get<'a, 't>(&mut self, fields: &Fields<'a, 't>, name: &str) -> Option<&'a Given<'t>> {
        let given = fields.table.get(name);
        let key = find(fields.section, name).expect("a key that is declared");
        if given.is_none() && key.otherwise == Otherwise::Required {
            let message = format!("{} lacks `{name}`", fields.section.title());
            let remedy = format!("add `{name}`: {}", key.takes.describe());
            self.report(fields.span.clone(), &fields.path_of(name), message, remedy);
        }
        given
    }

    /// Reports a value of the wrong kind.
    pub fn mismatch(&mut self, fields: &Fields<'_, '_>, name: &str, value: &Given<'_>) {
        let key = find(fields.section, name).expect("a key that is declared");
        let found = Raw::of(value.get_ref(), 0).describe();
        let message = format!("expected {}, found {found}", key.takes.describe());
        let remedy = format!("change the value of `{name}`: {}", key.doc);
        self.report(value.span(), &fields.path_of(name), message, remedy);
    }

    /// A text that is not empty.
    pub fn text(&mut self, fields: &Fields<'_, '_>, name: &str) -> Option<String> {
        let value = self.get(fields, name)?;
        match value.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            DeValue::String(_) => {
                let remedy = format!("write it, or leave `{name}` out");
                self.report(value.span(), &fields.path_of(name), "an empty text", remedy);
                None
            }
            _ => {
                self.mismatch(fields, name, value);
                None
            }
        }
    }

    /// A text or a number, as it is written.
    pub fn plain(&mut self, fields: &Fields<'_, '_>, name: &str) -> Option<String> {
        let value = self.get(fields, name)?;
        let text = plain(value);
        if text.is_none() {
            self.mismatch(fields, name, value);
        }
        text
    }

    /// A finite number.
    pub fn number(&mut self, fields: &Fields<'_, '_>, name: &str) -> Option<f64> {
        let value = self.get(fields, name)?;
        let number = number(value);
        if number.is_none() {
            self.mismatch(fields, name, value);
        }
        number
    }

    /// The entries of a list.
    pub fn list<'a, 't>(&mut self, fields: &Fields<'a, 't>, name: &str) -> &'a [Given<'t>] {
        let Some(value) = self.get(fields, name) else { return &[] };
        match value.get_ref() {
            DeValue::Array(list) => list,
            _ => {
                self.mismatch(fields, name, value);
                &[]
            }
        }
    }

    /// The tables of a `[[...]]`.
    pub fn tables<'a, 't>(
        &mut self,
        fields: &Fields<'a, 't>,
        name: &str,
        section: Section,
    ) -> Vec<Fields<'a, 't>> {
        let mut tables = Vec::new();
        for (at, entry) in self.list(fields, name).iter().enumerate() {
            let path = format!("{name}[{}]", at + 1);
            match entry.get_ref() {
                DeValue::Table(table) => {
                    tables.push(self.fields(table, section, &path, entry.span()));
                }
                _ => self.mismatch(fields, name, entry),
            }
        }
        tables
    }

    /// Which of the known names is given; `what` says what they are names of.
    pub fn one_of(
        &mut self,
        value: &Given<'_>,
        path: &str,
        what: &str,
        known: &[&str],
    ) -> Option<usize> {
        let Some(text) = plain(value) else {
            let found = Raw::of(value.get_ref(), 0).describe();
            let message = format!("expected a {what}, found {found}");
            let remedy = format!("write one that is known: {}", known.join(", "));
            self.report(value.span(), path, message, remedy);
            return None;
        };
        self.named(&text, value.span(), path, what, known)
    }

    /// Which of the known names `text` is.
    pub fn named(
        &mut self,
        text: &str,
        span: Range<usize>,
        path: &str,
        what: &str,
        known: &[&str],
    ) -> Option<usize> {
        let found = known.iter().position(|name| *name == text);
        if found.is_none() {
            let error = unknown_name(text, known);
            let remedy =
                if known.is_empty() { "there is none yet".to_owned() } else { error.remedy };
            let message = format!("unknown {what} {}", shown(text));
            self.report(span, path, message, remedy);
        }
        found
    }
}

impl Fields<'_, '_> {
    /// What messages call a key of this table.
    pub fn path_of(&self, name: &str) -> String {
        match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        }
    }

    /// Where the table stands.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Where the value of a key stands, or else the table.
    pub fn span_of(&self, name: &str) -> Range<usize> {
        self.table.get(name).map_or(self.span(), Spanned::span)
    }

    /// Whether a key is given.
    pub fn has(&self, name: &str) -> bool {
        self.table.contains_key(name)
    }
}

/// The keys of a section; those of `[run]` may stand in an axis and its values as well.
fn keys_of(section: Section) -> impl Iterator<Item = &'static Key> {
    let borrows = matches!(section, Section::Axis | Section::Value);
    let is_own = move |key: &&Key| key.section == section;
    let own = move |name: &str| KEYS.iter().any(|key| is_own(&key) && key.name == name);
    let is_run = move |key: &&Key| borrows && key.section == Section::Run && !own(key.name);
    KEYS.iter().filter(is_own).chain(KEYS.iter().filter(is_run))
}

fn find(section: Section, name: &str) -> Option<&'static Key> {
    keys_of(section).find(|key| key.name == name)
}

fn known(section: Section) -> Vec<&'static str> {
    keys_of(section).map(|key| key.name).collect()
}

/// A text or a number, as it is written; none for anything else.
pub fn plain(value: &Given<'_>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        _ => None,
    }
}

/// A finite number.
pub fn number(value: &Given<'_>) -> Option<f64> {
    match value.get_ref() {
        DeValue::Integer(_) | DeValue::Float(_) => {}
        _ => return None,
    }
    plain(value)?.parse().ok().filter(|number: &f64| number.is_finite())
}
