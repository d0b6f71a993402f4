//! The types of the keys of a table: values as options have them, switches, numbers, tables and lists of tables.

use std::ops::{Deref, Range};

use super::document::{Document, Given};
use super::{Key, Table, TableInfo};
use crate::options::value::{Choice, Raw, Value, ValueKind, read_within};

/// What a key takes, for messages, the reference and the schema.
#[derive(Clone, Debug)]
pub enum Form {
    /// A value as options take it, with its names if it is a choice.
    Value(ValueKind, &'static [Choice]),
    /// `true` or `false`.
    Switch,
    /// A number with or without a fraction.
    Number,
    /// A table.
    Table(TableInfo),
    /// One or more `[[...]]` tables.
    Tables(TableInfo),
    /// Something else, described in words.
    Words(&'static str),
}

impl Form {
    /// Describes the form in words, with an example.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Form::Value(ValueKind::Choice, choices) => {
                let names: Vec<String> =
                    choices.iter().map(|choice| choice.name.to_owned()).collect();
                crate::options::value::either(&names)
            }
            Form::Value(kind, _) => format!("{}, such as {}", kind.with_article(), kind.example()),
            Form::Switch => "true or false".to_owned(),
            Form::Number => "a number, such as 0.99".to_owned(),
            Form::Table(table) => {
                let mut keys = table.all_keys();
                let is_required =
                    |key: &Key| key.otherwise == super::Otherwise::Required && key.of.is_empty();
                match keys.iter().any(|key| is_required(key)) {
                    true => keys.retain(|key| is_required(key)),
                    false => keys.truncate(1),
                }
                let keys: Vec<String> =
                    keys.iter().map(|key| format!("{} = ...", key.name)).collect();
                format!("a table, such as {{ {} }}", keys.join(", "))
            }
            Form::Tables(table) => format!("one or more {} tables", table.title),
            Form::Words(words) => (*words).to_owned(),
        }
    }
}

/// A type that a key of a table can have.
pub trait Field: Sized {
    /// What the key takes.
    fn form() -> Form;

    /// Reads the value. Problems are reported to the document.
    fn read(document: &mut Document, given: &Given, key: &Key) -> Option<Self>;

    /// A placeholder for a wrong or missing value at this path.
    fn stand_in(path: &str) -> Self;
}

impl<T: Value> Field for T {
    fn form() -> Form {
        Form::Value(T::KIND, T::choices())
    }

    fn read(document: &mut Document, given: &Given, key: &Key) -> Option<Self> {
        let raw = match &given.raw {
            Raw::Text(text) if T::KIND == ValueKind::Text => match text.trim() {
                "" => {
                    document.report(given, "an empty text", key.remedy());
                    return None;
                }
                text => &Raw::Text(text.to_owned()),
            },
            Raw::Text(text) if T::KIND == ValueKind::Choice => {
                let names: Vec<&str> = T::choices().iter().map(|choice| choice.name).collect();
                let what = format!("value of `{}`", key.name);
                document.named(text, &given.path, given.span.clone(), &what, &names)?;
                &given.raw
            }
            raw => raw,
        };
        let read = read_within(raw, key.range, "");
        read.map_err(|errors| {
            for error in errors {
                let item = error.item.and_then(|at| given.item(at));
                document.report(item.as_ref().unwrap_or(given), error.message, error.remedy);
            }
        })
        .ok()
    }

    fn stand_in(_: &str) -> Self {
        T::placeholder()
    }
}

impl Field for bool {
    fn form() -> Form {
        Form::Switch
    }

    fn read(document: &mut Document, given: &Given, key: &Key) -> Option<Self> {
        match given.raw {
            Raw::Switch(switch) => Some(switch),
            _ => document.mismatch(given, key),
        }
    }

    fn stand_in(_: &str) -> Self {
        false
    }
}

impl Field for f64 {
    fn form() -> Form {
        Form::Number
    }

    fn read(document: &mut Document, given: &Given, key: &Key) -> Option<Self> {
        given.number().or_else(|| document.mismatch(given, key))
    }

    fn stand_in(_: &str) -> Self {
        0.0
    }
}

/// A text or a number as written, and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Plain {
    /// The written text.
    pub text: String,
    /// Its name in messages.
    pub path: String,
    /// Its bytes in the text.
    pub span: Range<usize>,
}

impl Field for Plain {
    fn form() -> Form {
        Form::Words("a text or a number")
    }

    fn read(document: &mut Document, given: &Given, key: &Key) -> Option<Self> {
        let plain = |text| Plain { text, path: given.path.clone(), span: given.span.clone() };
        given.plain().map(plain).or_else(|| document.mismatch(given, key))
    }

    fn stand_in(path: &str) -> Self {
        Plain { text: String::new(), path: path.to_owned(), span: 0..0 }
    }
}

/// A text, a number or a switch, with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Word(pub Plain);

impl Field for Word {
    fn form() -> Form {
        Form::Words("a text, a number, or true or false")
    }

    fn read(document: &mut Document, given: &Given, key: &Key) -> Option<Self> {
        let word = |text| Word(Plain { text, path: given.path.clone(), span: given.span.clone() });
        given.word().map(word).or_else(|| document.mismatch(given, key))
    }

    fn stand_in(path: &str) -> Self {
        Word(Plain::stand_in(path))
    }
}

/// Texts or numbers, each with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Plains(pub Vec<Plain>);

impl Field for Plains {
    fn form() -> Form {
        Form::Words("a list of texts, such as [\"a\", \"b\"]")
    }

    fn read(document: &mut Document, given: &Given, key: &Key) -> Option<Self> {
        let Raw::List(entries) = &given.raw else { return document.mismatch(given, key) };
        let items = (0..entries.len()).filter_map(|at| given.item(at));
        let read: Vec<_> = items.map(|item| Plain::read(document, &item, key)).collect();
        read.into_iter().collect::<Option<_>>().map(Plains)
    }

    fn stand_in(_: &str) -> Self {
        Plains(Vec::new())
    }
}

/// The tables of a `[[...]]`, in order, without unreadable ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Tables<T>(pub Vec<T>);

impl<T> Deref for Tables<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Table> Field for Tables<T> {
    fn form() -> Form {
        Form::Tables(T::info())
    }

    fn read(document: &mut Document, given: &Given, key: &Key) -> Option<Self> {
        let Raw::List(entries) = &given.raw else { return document.mismatch(given, key) };
        let items = (0..entries.len()).filter_map(|at| given.item(at));
        let tables = items.map(|entry| match entry.raw {
            Raw::Table(_) => document.open(&entry),
            _ => document.unlike(&entry, &Form::Table(T::info()).describe(), key),
        });
        let tables: Vec<Option<T>> = tables.collect();
        if tables.iter().any(Option::is_none) {
            document.fail(&given.path);
        }
        Some(Tables(tables.into_iter().flatten().collect()))
    }

    fn stand_in(_: &str) -> Self {
        Tables(Vec::new())
    }
}
