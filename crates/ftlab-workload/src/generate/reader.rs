//! Reads the tables of a workload file: names and defaults come from [`keys`](super::keys), values
//! are parsed as those of a device's config, and every problem is collected with its place.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use ftlab::config::{Place, Problem};
use ftlab::options::text::{clip, nearest};
use ftlab::options::value::{Raw, Value, read_within};
use ftlab::units::{Amount, Bytes, Nanos, Ratio, RequestRate};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{KEYS, Key, Otherwise, Section, key};

/// What stands in the file, with its place.
pub(super) type Given<'t> = Spanned<DeValue<'t>>;

/// Sizes up to 2^60 bytes: sums of two stay far from the end of 64 bits.
const SIZES: (&str, &str) = ("0B", "1048576TiB");
/// Times up to a hundred years: sums of two stay far from the end of the clock.
const TIMES: (&str, &str) = ("0ns", "876000h");

/// Collects what is wrong and where keys stand.
pub(super) struct Reader<'f> {
    file: &'f str,
    text: Arc<str>,
    pub problems: Vec<Problem>,
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

impl<'f> Reader<'f> {
    pub fn new(file: &'f str, text: &Arc<str>) -> Reader<'f> {
        let text = Arc::clone(text);
        Reader { file, text, problems: Vec::new(), spans: BTreeMap::new() }
    }

    pub fn report(&mut self, span: Range<usize>, path: &str, message: String, remedy: String) {
        let place = Some(Place::new(self.file, &self.text, span));
        self.problems.push(Problem { path: path.to_owned(), message, remedy, place });
    }

    /// Opens a table: notes where its keys stand and reports those that it cannot have.
    pub fn fields<'a, 't>(
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
            if KEYS.iter().any(|key| key.applies(section, kind) && key.name == name.get_ref()) {
                self.spans.insert(path, value.span());
            } else {
                self.unknown_key(&fields, name.get_ref(), name.span(), &path);
            }
        }
        fields
    }

    fn unknown_key(&mut self, fields: &Fields, name: &str, span: Range<usize>, path: &str) {
        let Fields { section, kind, .. } = fields;
        let known: Vec<&str> =
            KEYS.iter().filter(|key| key.applies(*section, kind)).map(|key| key.name).collect();
        let list = known.join(", ");
        let message = match KEYS.iter().find(|key| key.section == *section && key.name == name) {
            Some(key) => {
                let kinds = key.kinds.join(", ");
                format!("has no meaning for kind \"{kind}\"; it belongs to {kinds}")
            }
            None => format!("unknown key of {}", section.title()),
        };
        let remedy = match nearest(name, known) {
            Some(near) => format!("did you mean {near}? (known: {list})"),
            None => format!("remove it, or write one that is known: {list}"),
        };
        self.report(span, path, message, remedy);
    }

    /// The value of a key: the given one, or the default. Reports a required key that is missing.
    pub fn value<'t>(&mut self, fields: &Fields<'_, 't>, name: &str) -> Option<Given<'t>> {
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
    pub fn mismatch(&mut self, fields: &Fields, name: &str, value: &Given) {
        let takes = key(fields.section, name).takes;
        let found = Raw::of(value.get_ref(), 0).describe();
        let message = format!("expected {}, found {found}", takes.describe());
        let remedy = format!("change the value of `{name}`, or leave the key out");
        self.report(value.span(), &fields.path_of(name), message, remedy);
    }

    /// Reads a value of one of the types that configs know, within a range.
    pub fn parse<T: Value>(
        &mut self,
        value: &Given,
        path: &str,
        range: Option<(&str, &str)>,
    ) -> Option<T> {
        let result = read_within(&Raw::of(value.get_ref(), 0), range, "");
        result
            .map_err(|errors| {
                for error in errors {
                    self.report(value.span(), path, error.message, error.remedy);
                }
            })
            .ok()
    }

    fn read<T: Value>(
        &mut self,
        fields: &Fields<'_, '_>,
        name: &str,
        range: Option<(&str, &str)>,
    ) -> Option<T> {
        let value = self.value(fields, name)?;
        self.parse(&value, &fields.path_of(name), range)
    }

    pub fn text(&mut self, fields: &Fields<'_, '_>, name: &str) -> Option<String> {
        self.read(fields, name, None)
    }

    pub fn switch(&mut self, fields: &Fields<'_, '_>, name: &str) -> Option<bool> {
        let value = self.value(fields, name)?;
        let switch = value.get_ref().as_bool();
        if switch.is_none() {
            self.mismatch(fields, name, &value);
        }
        switch
    }

    pub fn number(&mut self, fields: &Fields<'_, '_>, name: &str) -> Option<f64> {
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
    pub fn count(&mut self, fields: &Fields<'_, '_>, name: &str, largest: u64) -> Option<u64> {
        self.read(fields, name, Some(("1", &largest.to_string())))
    }

    /// A whole number, at most `largest`.
    pub fn whole(&mut self, fields: &Fields<'_, '_>, name: &str, largest: u64) -> Option<u64> {
        self.read(fields, name, Some(("0", &largest.to_string())))
    }

    pub fn size(&mut self, fields: &Fields<'_, '_>, name: &str) -> Option<Bytes> {
        self.read(fields, name, Some(SIZES))
    }

    pub fn time(&mut self, fields: &Fields<'_, '_>, name: &str) -> Option<Nanos> {
        self.read(fields, name, Some(TIMES))
    }

    pub fn share(&mut self, fields: &Fields<'_, '_>, name: &str) -> Option<Ratio> {
        self.read(fields, name, None)
    }

    pub fn rate(&mut self, fields: &Fields<'_, '_>, name: &str) -> Option<RequestRate> {
        self.read(fields, name, None)
    }

    pub fn amount(&mut self, fields: &Fields<'_, '_>, name: &str) -> Option<Amount> {
        self.read(fields, name, Some(SIZES))
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

fn default_value<'t>(key: &Key, text: &'static str, span: Range<usize>) -> Given<'t> {
    let value = DeValue::parse(text)
        .unwrap_or_else(|error| panic!("default of {} is no TOML value: {error}", key.name));
    Spanned::new(span, value.into_inner())
}
