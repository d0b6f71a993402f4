//! Values: how they are read from TOML and printed. Numbers with units are in [`quantity`](super::quantity).
//!
//! Parsing is exact (no floating point) and total: any text yields a value, or an error with its remedy. Printing and
//! parsing a value yields the same value. Device configs and workload files share these parsers.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::text::{clip, nearest, quoted, shown};
use crate::units::Nanos;

/// Why a text is not a value, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub remedy: String,
    /// The entry that is wrong, if the value is a list.
    pub item: Option<usize>,
    /// The value that the remedy proposes, if it proposes one.
    pub proposed: Option<String>,
}

impl ValueError {
    /// An error about the whole value.
    pub fn new(message: impl Into<String>, remedy: impl Into<String>) -> ValueError {
        ValueError { message: message.into(), remedy: remedy.into(), item: None, proposed: None }
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.remedy)
    }
}

impl std::error::Error for ValueError {}

/// The kind of an option's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A whole number.
    Count,
    /// A span of time, with a unit.
    Time,
    /// A size, with a unit.
    Size,
    /// A data rate, with a unit.
    Rate,
    /// A rate of transfers on a bus, with a unit.
    TransferRate,
    /// A rate of requests, with a unit.
    RequestRate,
    /// An electric power, with a unit.
    Power,
    /// A share, in per cent.
    Share,
    /// A size, or a share of a whole.
    Amount,
    /// Free text.
    Text,
    /// One of a list of names.
    Choice,
    /// A list of times.
    Times,
    /// A list of whole numbers.
    Counts,
    /// A list of names.
    Names,
    /// The four levels of the device, in some order.
    Order,
    /// A list of faults with their times.
    Faults,
}

impl ValueKind {
    /// The name of the kind, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ValueKind::Count => "count",
            ValueKind::Time => "time",
            ValueKind::Size => "size",
            ValueKind::Rate => "rate",
            ValueKind::TransferRate => "rate of transfers",
            ValueKind::RequestRate => "rate of requests",
            ValueKind::Power => "power",
            ValueKind::Share => "share",
            ValueKind::Amount => "amount",
            ValueKind::Text => "text",
            ValueKind::Choice => "choice",
            ValueKind::Times => "list of times",
            ValueKind::Counts => "list of counts",
            ValueKind::Names => "list of names",
            ValueKind::Order => "order of levels",
            ValueKind::Faults => "list of faults",
        }
    }

    pub(super) fn with_article(self) -> String {
        let article = if matches!(self, ValueKind::Order | ValueKind::Amount) { "an" } else { "a" };
        format!("{article} {}", self.name())
    }

    /// An example of such a value.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            ValueKind::Count => "8",
            ValueKind::Time => "\"200us\"",
            ValueKind::Size => "\"16KiB\"",
            ValueKind::Rate => "\"800MB/s\"",
            ValueKind::TransferRate => "\"533MT/s\"",
            ValueKind::RequestRate => "\"50000/s\"",
            ValueKind::Power => "\"82.5mW\"",
            ValueKind::Share => "\"7%\"",
            ValueKind::Amount => "\"2GiB\" or \"50%\"",
            ValueKind::Text => "\"some text\"",
            ValueKind::Choice => "\"name\"",
            ValueKind::Times => "[\"40us\", \"60us\"]",
            ValueKind::Counts => "[1, 4]",
            ValueKind::Names => "[\"name\", \"name\"]",
            ValueKind::Order => "\"channel-chip-die-plane\"",
            ValueKind::Faults => "[\"2s: die 3 dies\"]",
        }
    }
}

/// A name that a choice takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The name, as it is written.
    pub name: &'static str,
    /// What it means, in a line.
    pub doc: &'static str,
}

/// A TOML value, before it is known which option it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    /// A string.
    Text(String),
    /// An integer or a float, as written (integers in decimal).
    Number(String),
    /// `true` or `false`.
    Switch(bool),
    /// A list; each entry has its place in the text.
    List(Vec<(Range<usize>, Raw)>),
    /// A table.
    Table(Vec<TableEntry>),
    /// Something that no option takes, by the name of its TOML type.
    Other(&'static str),
}

/// A key of a table and its value, each with its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct TableEntry {
    /// The key.
    pub name: String,
    /// The place of the key.
    pub name_span: Range<usize>,
    /// The place of the value.
    pub span: Range<usize>,
    /// The value.
    pub raw: Raw,
}

impl Raw {
    /// Converts a value of the TOML parser. `offset` is where the parsed text starts; it is added to all places.
    #[must_use]
    pub fn of(value: &DeValue<'_>, offset: usize) -> Raw {
        match value {
            DeValue::String(text) => Raw::Text(text.to_string()),
            DeValue::Integer(integer) => {
                match i128::from_str_radix(integer.as_str(), integer.radix()) {
                    Ok(number) => Raw::Number(number.to_string()),
                    Err(_) => Raw::Number(integer.as_str().to_owned()),
                }
            }
            DeValue::Float(float) => Raw::Number(float.as_str().to_owned()),
            DeValue::Array(items) => {
                let entry = |item: &toml::Spanned<DeValue<'_>>| {
                    let span = item.span();
                    let place = span.start + offset..span.end + offset;
                    (place, Raw::of(item.get_ref(), offset))
                };
                Raw::List(items.iter().map(entry).collect())
            }
            DeValue::Boolean(switch) => Raw::Switch(*switch),
            DeValue::Table(table) => Raw::of_table(table, offset),
            other => Raw::Other(other.type_str()),
        }
    }

    /// A TOML value, or a text without its quotes.
    #[must_use]
    pub fn bare(text: &str) -> Raw {
        match DeValue::parse(text) {
            Ok(value) => Raw::of(value.get_ref(), 0),
            Err(_) => Raw::Text(text.to_owned()),
        }
    }

    /// Converts a table of the TOML parser, in the order of its text.
    #[must_use]
    pub fn of_table(table: &DeTable<'_>, offset: usize) -> Raw {
        let moved = |span: Range<usize>| span.start + offset..span.end + offset;
        let pair = |(name, value): (&toml::Spanned<Cow<'_, str>>, &toml::Spanned<DeValue<'_>>)| {
            TableEntry {
                name: name.get_ref().to_string(),
                name_span: moved(name.span()),
                span: moved(value.span()),
                raw: Raw::of(value.get_ref(), offset),
            }
        };
        let mut pairs: Vec<TableEntry> = table.iter().map(pair).collect();
        pairs.sort_by_key(|pair| pair.name_span.start);
        Raw::Table(pairs)
    }

    /// Describes the value for a message.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Raw::Text(text) => shown(text),
            Raw::Number(number) => format!("the number {}", clip(number)),
            Raw::Switch(_) => "a boolean".to_owned(),
            Raw::List(_) => "a list".to_owned(),
            Raw::Table(_) => "a table".to_owned(),
            Raw::Other(kind) => format!("a {kind}"),
        }
    }
}

/// A type that an option can have.
pub trait Value: Sized + Clone + PartialEq + fmt::Debug {
    /// The kind of the values, for the reference and for messages.
    const KIND: ValueKind;

    /// Parses the text form: the text between the quotes.
    ///
    /// # Errors
    /// The text is not such a value. The error says what to write.
    fn parse(text: &str) -> Result<Self, ValueError>;

    /// Prints the text form. Parsing it yields the same value.
    fn print(&self) -> String;

    /// Whether the value lies between two values in text form, both included.
    fn within(&self, low: &str, high: &str) -> bool;

    /// Any value, with which checks continue if the real one is wrong.
    fn placeholder() -> Self;

    /// The possible names, if it is a choice.
    #[must_use]
    fn choices() -> &'static [Choice] {
        &[]
    }

    /// Reads a TOML value.
    ///
    /// # Errors
    /// It is not such a value. A list has one error for each wrong entry.
    fn read(raw: &Raw) -> Result<Self, Vec<ValueError>> {
        match raw {
            Raw::Text(text) => Self::parse(text).map_err(|error| vec![error]),
            // As a text, a bare number fails because it lacks its unit, with the right remedy.
            Raw::Number(number)
                if !matches!(
                    Self::KIND,
                    ValueKind::Text | ValueKind::Choice | ValueKind::Order
                ) =>
            {
                Self::parse(number).map_err(|error| vec![error])
            }
            other => Err(vec![wrong_type(Self::KIND, Self::choices(), other)]),
        }
    }

    /// Prints the value as TOML.
    fn to_toml(&self) -> String {
        quoted(&self.print())
    }
}

/// Reads a TOML value that must lie in `range` (in text form, both ends included). `unit` says what a count counts.
///
/// # Errors
/// It is not such a value, or is outside the range.
pub fn read_within<T: Value>(
    raw: &Raw,
    range: Option<(&str, &str)>,
    unit: &str,
) -> Result<T, Vec<ValueError>> {
    let Some((low, high)) = range else { return T::read(raw) };
    let space = if unit.is_empty() { "" } else { " " };
    let inside = || format!("write {low} to {high}{space}{unit}");
    let value = T::read(raw).map_err(|mut errors| {
        // Never propose a value that would be refused, too.
        let refused = |text: &String| T::parse(text).is_ok_and(|value| !value.within(low, high));
        for error in errors.iter_mut().filter(|error| error.proposed.as_ref().is_some_and(refused))
        {
            error.remedy = inside();
        }
        errors
    })?;
    match value.within(low, high) {
        true => Ok(value),
        false => {
            let message = format!("{} is out of range", value.print());
            Err(vec![ValueError::new(message, inside())])
        }
    }
}

/// Lists names as in a sentence: `on or off`, `slc, mlc or tlc`.
pub(super) fn either(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

pub(super) fn wrong_type(kind: ValueKind, choices: &[Choice], raw: &Raw) -> ValueError {
    if !choices.is_empty() {
        let named = |show: fn(&str) -> String| -> String {
            either(&choices.iter().map(|choice| show(choice.name)).collect::<Vec<_>>())
        };
        return ValueError::new(
            format!("expected {}, found {}", named(str::to_owned), raw.describe()),
            format!("write {}", named(quoted)),
        );
    }
    ValueError::new(
        format!("expected {}, found {}", kind.with_article(), raw.describe()),
        match raw {
            Raw::Number(number) => format!("write {}", shown(number)),
            _ => format!("write it like {}", kind.example()),
        },
    )
}

/// The common part of values that are ordered and have a default.
macro_rules! ordered {
    ($kind:ident) => {
        const KIND: $crate::options::value::ValueKind = $crate::options::value::ValueKind::$kind;

        fn within(&self, low: &str, high: &str) -> bool {
            matches!((Self::parse(low), Self::parse(high)),
                (Ok(low), Ok(high)) if low <= *self && *self <= high)
        }

        fn placeholder() -> Self {
            Self::default()
        }
    };
}

pub(super) use ordered;

impl Value for String {
    ordered!(Text);

    fn parse(text: &str) -> Result<String, ValueError> {
        Ok(text.to_owned())
    }

    fn print(&self) -> String {
        self.clone()
    }
}

/// A value that options take in lists.
pub trait Item: Value {
    /// The kind of such a list.
    const LIST: ValueKind;
}

impl Item for Nanos {
    const LIST: ValueKind = ValueKind::Times;
}

impl Item for u32 {
    const LIST: ValueKind = ValueKind::Counts;
}

impl Item for u64 {
    const LIST: ValueKind = ValueKind::Counts;
}

impl<T: Item> Value for Vec<T> {
    const KIND: ValueKind = T::LIST;

    fn parse(text: &str) -> Result<Self, ValueError> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(T::parse).collect()
    }

    fn print(&self) -> String {
        self.iter().map(Value::print).collect::<Vec<_>>().join(", ")
    }

    fn within(&self, low: &str, high: &str) -> bool {
        self.iter().all(|item| item.within(low, high))
    }

    fn placeholder() -> Self {
        Vec::new()
    }

    fn choices() -> &'static [Choice] {
        T::choices()
    }

    fn read(raw: &Raw) -> Result<Self, Vec<ValueError>> {
        let items = match raw {
            Raw::List(items) => items,
            Raw::Text(text) => return Self::parse(text).map_err(|error| vec![error]),
            Raw::Number(_) if T::LIST == ValueKind::Counts => {
                return T::read(raw).map(|one| vec![one]);
            }
            other => return Err(vec![wrong_type(Self::KIND, &[], other)]),
        };
        let mut values = Vec::new();
        let mut wrong = Vec::new();
        for (at, (_, item)) in items.iter().enumerate() {
            match T::read(item) {
                Ok(value) => values.push(value),
                Err(errors) => wrong
                    .extend(errors.into_iter().map(|error| ValueError { item: Some(at), ..error })),
            }
        }
        if wrong.is_empty() { Ok(values) } else { Err(wrong) }
    }

    fn to_toml(&self) -> String {
        let items: Vec<_> = self.iter().map(Value::to_toml).collect();
        format!("[{}]", items.join(", "))
    }
}

/// The error for an unknown name.
#[must_use]
pub fn unknown_name(text: &str, known: &[&str]) -> ValueError {
    let list = known.join(", ");
    ValueError::new(
        format!("{} is not known here", shown(text)),
        match nearest(text, known.iter().copied()) {
            Some(name) => format!("did you mean {}? (known: {list})", quoted(name)),
            None => format!("write one that is known: {list}"),
        },
    )
}

/// The error for a name that is not among `choices`.
#[must_use]
pub fn unknown_choice(text: &str, choices: &[Choice]) -> ValueError {
    let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
    unknown_name(text, &names)
}
