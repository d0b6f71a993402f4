//! Tables of a document: files that list things, such as the phases of a workload or the claims of an experiment.
//!
//! A device has each section once, and its texts override each other. A document stands alone, and
//! its tables repeat and nest. Both are declared with `options!` and take the same values; a table
//! says `in "[[phase]]"` where a section says `at "ftl.gc"`. The declaration yields the struct, the
//! reading ([`Document`]), the messages and the reference ([`TableInfo`]).

mod document;
mod field;

pub use document::{At, Document, Given};
pub use field::{Field, Form, Plain, Plains, Tables, Word};

use super::text::quoted;
use super::value::Raw;

/// What applies if a key is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// The key must be given.
    Required,
    /// This value, as TOML or as a text without quotes.
    Value(&'static str),
    /// A value that depends on other keys, described in words.
    Depends(&'static str),
}

/// A declared key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// The kinds of the table that have the key; empty for all.
    pub of: &'static [&'static str],
    /// Of these kinds, those for which it must be given although it is optional for others.
    pub needed: &'static [&'static str],
    /// The least and the greatest value, both allowed.
    pub range: Option<(&'static str, &'static str)>,
    /// What applies without it.
    pub otherwise: Otherwise,
    /// What it takes.
    pub form: fn() -> Form,
}

impl Key {
    /// Whether a table of this kind has the key.
    #[must_use]
    pub fn applies(&self, kind: Option<&str>) -> bool {
        self.of.is_empty() || kind.is_some_and(|kind| self.of.contains(&kind))
    }

    /// Its default as written in a file, if it has one.
    #[must_use]
    pub fn default(&self) -> Option<String> {
        let Otherwise::Value(text) = self.otherwise else { return None };
        match Raw::bare(text) {
            Raw::Text(text) => Some(quoted(&text)),
            _ => Some(text.to_owned()),
        }
    }

    /// What to do about a wrong value.
    #[must_use]
    pub fn remedy(&self) -> String {
        let (name, meaning) =
            (self.name, self.doc.split_inclusive(". ").next().unwrap_or_default());
        let meaning = meaning.trim_end();
        match self.otherwise {
            Otherwise::Required => format!("change the value of `{name}`: {meaning}"),
            _ => format!("change the value of `{name}`, or leave the key out: {meaning}"),
        }
    }

    /// What it takes, in words, with an example.
    #[must_use]
    pub fn takes(&self) -> String {
        (self.form)().describe()
    }
}

/// A table with all its metadata.
#[derive(Clone, Copy, Debug)]
pub struct TableInfo {
    /// The form of the table in a file.
    pub title: &'static str,
    /// What the table is.
    pub doc: &'static str,
    /// Its own keys.
    pub keys: &'static [Key],
    /// The key that decides which other keys apply.
    pub by: Option<&'static Key>,
    /// Tables whose keys may appear in this one, too.
    pub embedded: &'static [fn() -> TableInfo],
}

impl TableInfo {
    /// All keys that may appear in the table: the deciding one, its own, and those of embedded tables.
    pub fn all_keys(&self) -> Vec<&'static Key> {
        let mut keys: Vec<&'static Key> = self.by.into_iter().chain(self.keys).collect();
        for embedded in self.embedded {
            keys.extend(embedded().all_keys());
        }
        keys
    }
}

/// A table that `options!` declares.
pub trait Table: Sized {
    /// Its metadata.
    fn info() -> TableInfo;

    /// Reads its own keys and those of embedded tables. Problems are reported to the document, and placeholders replace
    /// wrong values, so that the rest can be checked. The caller that opens the table reports unknown keys.
    fn read(document: &mut Document, table: &Given) -> Self;

    /// A placeholder for a table that could not be read.
    fn stand_in() -> Self;
}

/// The name of a field without the `r#` of a raw identifier.
#[must_use]
pub const fn plain_name(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

#[cfg(test)]
mod tests;
