//! Reads the tables of a workload file: names and defaults come from [`keys`](super::keys), and
//! every problem is collected with its place.

use std::collections::BTreeMap;
use std::ops::Range;

use ftlab::units::{Bytes, Nanos, Ratio};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{KEYS, Key, Otherwise, Section, Takes, key};
use super::problem::{MAX_PROBLEMS, Place, Problem, clip};
use super::quantity::{self, Wrong};
use super::workload::{Amount, Rate};

/// A value with its place.
pub(super) type Value<'t> = Spanned<DeValue<'t>>;

/// Collects what is wrong and where keys stand.
pub(super) struct Reader<'t> {
    text: &'t str,
    pub problems: Vec<(usize, Problem)>,
    pub spans: BTreeMap<String, Range<usize>>,
}

/// One table of the file, and what may stand in it.
#[derive(Clone)]
pub(super) struct Fields<'a, 't> {
    table: &'a DeTable<'t>,
    section: Section,
    kind: &'static str,
    path: String,
    span: Range<usize>,
}

/// What a name that nobody knows is most likely meant to be.
pub(super) fn nearest<'n>(unknown: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // More than a third of the letters wrong is another word, not a slip.
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(unknown, name);
    known
        .map(|name| (likeness(name), name))
        .filter(|(likeness, _)| *likeness > 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

impl<'t> Reader<'t> {
    pub fn new(text: &'t str) -> Reader<'t> {
        Reader { text, problems: Vec::new(), spans: BTreeMap::new() }
    }

    pub fn report(&mut self, span: Range<usize>, path: &str, message: String, remedy: String) {
        if self.problems.len() == MAX_PROBLEMS {
            return;
        }
        let place = Some(Place::of(self.text, span.clone()));
        let problem = Problem { key: path.to_owned(), place, message, remedy };
        self.problems.push((span.start, problem));
    }

    /// Opens a table: notes where its keys stand and reports those that it cannot have.
    pub fn fields<'a>(
        &mut self,
        table: &'a DeTable<'t>,
        section: Section,
        kind: &'static str,
        path: &str,
        span: Range<usize>,
    ) -> Fields<'a, 't> {
        let fields = Fields { table, section, kind, path: path.to_owned(), span };
        for (name, value) in table {
            let path = fields.path_of(&clip(name.get_ref()));
            self.spans.insert(path.clone(), value.span());
            if !KEYS.iter().any(|key| key.applies(section, kind) && key.name == name.get_ref()) {
                self.unknown_key(&fields, name.get_ref(), name.span(), &path);
            }
        }
        fields
    }

    fn unknown_key(&mut self, fields: &Fields, name: &str, span: Range<usize>, path: &str) {
        let Fields { section, kind, .. } = fields;
        let name = &clip(name);
        let known: Vec<&str> =
            KEYS.iter().filter(|key| key.applies(*section, kind)).map(|key| key.name).collect();
        let list = known.join(", ");
        let title = section.title();
        let message = match KEYS.iter().find(|key| key.section == *section && key.name == name) {
            Some(key) => format!(
                "`{name}` has no meaning for kind `{kind}`; it belongs to {}",
                key.kinds.join(", ")
            ),
            None => format!("`{name}` is not a key of {title}; known are {list}"),
        };
        let remedy = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("remove it, or use one of {list}"),
        };
        self.report(span, path, message, remedy);
    }

    /// The value of a key: the given one, or the default. Reports a required key that is missing.
    pub fn value(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<Value<'t>> {
        if let Some(value) = fields.table.get(name) {
            return Some(value.clone());
        }
        let key = key(fields.section, name);
        match key.otherwise {
            Otherwise::Value(text) => Some(default_value(key, text, fields.span.clone())),
            Otherwise::Depends(_) => None,
            Otherwise::Required => {
                self.missing(fields, key);
                None
            }
        }
    }

    fn missing(&mut self, fields: &Fields, key: &Key) {
        let title = fields.section.title();
        let message = format!("{title} lacks `{}`", key.name);
        let remedy = format!("add `{}`: {}", key.name, key.takes.describe());
        self.report(fields.span.clone(), &fields.path_of(key.name), message, remedy);
    }

    /// Reports a value of the wrong type.
    pub fn mismatch(&mut self, fields: &Fields, name: &str, value: &Value) {
        let takes = key(fields.section, name).takes;
        let found = described(value.get_ref());
        let message = format!("expected {}, found {found}", takes.describe());
        let unitless = matches!(value.get_ref(), DeValue::Integer(_) | DeValue::Float(_));
        let with_unit = matches!(
            takes,
            Takes::Size | Takes::Share | Takes::Amount | Takes::Time | Takes::Rate | Takes::Sizes
        );
        let remedy = match unitless && with_unit {
            true => "write the quantity with its unit, in double quotes".to_owned(),
            false => format!("change the value of `{name}`, or leave the key out"),
        };
        self.report(value.span(), &fields.path_of(name), message, remedy);
    }

    pub fn text(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<String> {
        let value = self.value(fields, name)?;
        let text = value.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            self.mismatch(fields, name, &value);
        }
        text
    }

    pub fn switch(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<bool> {
        let value = self.value(fields, name)?;
        let switch = value.get_ref().as_bool();
        if switch.is_none() {
            self.mismatch(fields, name, &value);
        }
        switch
    }

    pub fn number(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<f64> {
        let value = self.value(fields, name)?;
        let number = match value.get_ref() {
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
            _ => None,
        };
        let number = number.filter(|number: &f64| number.is_finite());
        if number.is_none() {
            self.mismatch(fields, name, &value);
        }
        number
    }

    /// A whole number of one or more, and at most `largest`.
    pub fn count(&mut self, fields: &Fields<'_, 't>, name: &str, largest: u64) -> Option<u64> {
        let value = self.value(fields, name)?;
        let Some(count) = whole(value.get_ref()) else {
            self.mismatch(fields, name, &value);
            return None;
        };
        if (1..=largest).contains(&count) {
            return Some(count);
        }
        let message = format!("`{name}` is {count}, outside 1 to {largest}");
        let remedy = format!("choose a number from 1 to {largest}");
        self.report(value.span(), &fields.path_of(name), message, remedy);
        None
    }

    pub fn size(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<Bytes> {
        self.quantity(fields, name, quantity::size)
    }

    pub fn time(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<Nanos> {
        self.quantity(fields, name, quantity::time)
    }

    pub fn share(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<Ratio> {
        self.quantity(fields, name, quantity::share)
    }

    pub fn rate(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<Rate> {
        self.quantity(fields, name, quantity::rate)
    }

    pub fn amount(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<Amount> {
        self.quantity(fields, name, quantity::amount)
    }

    fn quantity<Q>(
        &mut self,
        fields: &Fields<'_, 't>,
        name: &str,
        read: fn(&str) -> Result<Q, Wrong>,
    ) -> Option<Q> {
        let value = self.value(fields, name)?;
        let Some(text) = value.get_ref().as_str() else {
            self.mismatch(fields, name, &value);
            return None;
        };
        match read(text) {
            Ok(quantity) => Some(quantity),
            Err(Wrong { message, remedy }) => {
                self.report(value.span(), &fields.path_of(name), message, remedy);
                None
            }
        }
    }
}

impl Fields<'_, '_> {
    pub fn path_of(&self, name: &str) -> String {
        match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        }
    }

    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    pub fn has(&self, name: &str) -> bool {
        self.table.contains_key(name)
    }
}

/// A whole number that is not negative.
pub(super) fn whole(value: &DeValue) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

fn default_value<'t>(key: &Key, text: &'static str, span: Range<usize>) -> Value<'t> {
    let value = DeValue::parse(text)
        .unwrap_or_else(|error| panic!("default of {} is no TOML value: {error}", key.name));
    Spanned::new(span, value.into_inner())
}

fn described(value: &DeValue) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "another list",
        DeValue::Table(_) => "another table",
    }
}
