//! Which column of a user's own table is what: `time=ts:us,op=3,offset=lba:512,size=len:byte`.
//!
//! A column is named as in the head of the table, or numbered from one. Behind a colon stands the unit of its numbers. What the table
//! lacks can be given: `size=4KiB`, `op=write`.

use std::fmt::Write as _;

use ftlab::host::Op;
use ftlab::options::text::nearest;
use ftlab::options::value::Value;
use ftlab::units::Bytes;

use super::units::{SpaceUnit, TimeUnit};

/// A part of a request that a column may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestPart {
    /// When it arrives.
    Time,
    /// What it does.
    Op,
    /// Where it begins.
    Offset,
    /// How long it is.
    Size,
    /// The device, volume, disk or file.
    Stream,
}

impl RequestPart {
    /// All parts with their names.
    pub const ALL: [(&'static str, RequestPart); 5] = [
        ("time", RequestPart::Time),
        ("op", RequestPart::Op),
        ("offset", RequestPart::Offset),
        ("size", RequestPart::Size),
        ("stream", RequestPart::Stream),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        RequestPart::ALL.iter().find(|(_, part)| *part == self).map_or("", |(name, _)| name)
    }
}

/// What a user says of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub part: RequestPart,
    /// The name or number of a column, or what to use instead of one.
    pub text: String,
    /// Nanoseconds or bytes of a unit; that of the part if it is not said.
    pub unit: u64,
}

impl Given {
    /// What was said, with its unit.
    pub fn in_words(&self) -> String {
        let Given { part, text, unit } = self;
        let unit = match part {
            RequestPart::Time => {
                let known = TimeUnit::ALL.iter().find(|(_, known)| known.ns() == *unit);
                known.map_or(String::new(), |(_, unit)| format!(" in {}", unit.words()))
            }
            RequestPart::Offset | RequestPart::Size if amount(text).is_none() => match unit {
                1 => " in bytes".to_owned(),
                unit => format!(" in units of {unit} bytes"),
            },
            _ => String::new(),
        };
        format!("{} is {text}{unit}, as said", part.name())
    }
}

/// Which column of a table is what, and the words of its operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnPlan {
    pub(crate) given: Vec<Given>,
}

/// What words of a trace mean: `R=read`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpWords {
    words: Vec<(String, Op)>,
}

impl ColumnPlan {
    /// Parses `part=column[:unit],...`.
    ///
    /// # Errors
    /// An unknown part or unit, a part twice, or one that no request can do without is missing.
    pub fn parse(text: &str) -> Result<ColumnPlan, String> {
        let mut plan = ColumnPlan::default();
        for piece in text.split(',').map(str::trim).filter(|piece| !piece.is_empty()) {
            let given = parse_piece(piece)?;
            if plan.given.iter().any(|other| other.part == given.part) {
                return Err(format!("{} is given twice; give it once", given.part.name()));
            }
            plan.given.push(given);
        }
        for part in [RequestPart::Offset, RequestPart::Size, RequestPart::Op] {
            if plan.of(part).is_none() {
                return Err(lacks(part));
            }
        }
        Ok(plan)
    }

    /// Whether nothing was said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// Whether requests have times.
    #[must_use]
    pub fn has_times(&self) -> bool {
        self.of(RequestPart::Time).is_some()
    }

    /// The nanoseconds of the unit of times.
    #[must_use]
    pub fn time_unit_ns(&self) -> u64 {
        self.of(RequestPart::Time).map_or(usual(RequestPart::Time), |given| given.unit)
    }

    /// Whether a part may be the column of this name or number, counted from one.
    #[must_use]
    pub fn mentions(&self, name: Option<&str>, number: usize) -> bool {
        self.given.iter().any(|Given { text, .. }| {
            name.is_some_and(|name| name.trim().eq_ignore_ascii_case(text))
                || text.parse() == Ok(number)
        })
    }

    /// What was said of a part.
    pub(crate) fn of(&self, part: RequestPart) -> Option<&Given> {
        self.given.iter().find(|given| given.part == part)
    }
}

fn parse_piece(piece: &str) -> Result<Given, String> {
    let known = RequestPart::ALL.map(|(name, _)| name);
    let Some((name, value)) = piece.split_once('=') else {
        return Err(format!(
            "`{piece}` is not part=column; parts are {}, as in time=ts:us,op=3,offset=lba:512,size=4KiB",
            known.join(", ")
        ));
    };
    let name = name.trim();
    let found = RequestPart::ALL.iter().find(|(known, _)| *known == name);
    let Some((_, part)) = found else {
        let near =
            nearest(name, known).map_or(String::new(), |near| format!("did you mean {near}? "));
        return Err(format!("a request has no `{name}`; {near}its parts are {}", known.join(", ")));
    };
    let value = value.trim();
    let (text, unit) = match value.rsplit_once(':') {
        Some((text, unit)) => match unit_of(*part, unit.trim()) {
            Some(unit) => (text.trim(), unit),
            // A colon may belong to a column's name.
            None if unit.contains(' ') => (value, usual(*part)),
            None => return Err(unknown_unit(*part, unit)),
        },
        None => (value, usual(*part)),
    };
    match text.is_empty() {
        true => Err(format!("{name}= needs the name or the number of a column")),
        false => Ok(Given { part: *part, text: text.to_owned(), unit }),
    }
}

/// The unit of a part if none is said: seconds for times, bytes for places and sizes.
fn usual(part: RequestPart) -> u64 {
    match part {
        RequestPart::Time => TimeUnit::S.ns(),
        _ => 1,
    }
}

fn unit_of(part: RequestPart, text: &str) -> Option<u64> {
    match part {
        RequestPart::Time => TimeUnit::named(text).map(TimeUnit::ns),
        RequestPart::Offset | RequestPart::Size => {
            let named = SpaceUnit::named(text).map(SpaceUnit::bytes);
            let counted = text.parse().ok().filter(|bytes| (1..=1 << 30).contains(bytes));
            named.or(counted).or_else(|| amount(text))
        }
        RequestPart::Op | RequestPart::Stream => None,
    }
}

fn unknown_unit(part: RequestPart, unit: &str) -> String {
    match part {
        RequestPart::Time => {
            let known = TimeUnit::ALL.map(|(name, _)| name).join(", ");
            format!("times have no unit `{unit}`; known are {known}")
        }
        RequestPart::Offset | RequestPart::Size => {
            let known = SpaceUnit::ALL.map(|(name, _)| name).join(", ");
            format!(
                "{} has no unit `{unit}`; known are {known}, or a number of bytes, as in :512",
                part.name()
            )
        }
        RequestPart::Op | RequestPart::Stream => {
            format!("{} has no unit; leave out `:{unit}`", part.name())
        }
    }
}

fn lacks(part: RequestPart) -> String {
    let remedy = match part {
        RequestPart::Op => "name its column, or say what all of them do: op=read or op=write",
        RequestPart::Size => "name its column, or say how large all of them are: size=4KiB",
        _ => "name its column",
    };
    format!("a request needs {}; {remedy}", part.name())
}

/// An amount of bytes with a unit.
pub(crate) fn amount(text: &str) -> Option<u64> {
    let has_unit = text.ends_with(|last: char| last.is_ascii_alphabetic());
    let bytes = Bytes::parse(text).ok().filter(|_| has_unit)?;
    (bytes.0 > 0).then_some(bytes.0)
}

impl OpWords {
    /// Adds `word=operation`.
    ///
    /// # Errors
    /// It is not of this form, there is no such operation, or the word has a meaning already.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let known = Op::ALL.map(Op::name).join(", ");
        for piece in text.split(',').map(str::trim).filter(|piece| !piece.is_empty()) {
            let Some((word, name)) = piece.split_once('=') else {
                return Err(format!(
                    "`{piece}` is not word=operation, as in R=read; operations are {known}"
                ));
            };
            let (word, name) = (word.trim(), name.trim());
            let op = Op::named(name);
            let op =
                op.ok_or_else(|| format!("there is no operation `{name}`; known are {known}"))?;
            if self.words.iter().any(|(other, _)| other == word) {
                return Err(format!("`{word}` has a meaning already; give it once"));
            }
            self.words.push((word.to_owned(), op));
        }
        Ok(())
    }

    /// What a word means: as was said, or by its first letter.
    #[inline]
    pub(crate) fn meaning(&self, word: &[u8]) -> Option<Op> {
        let said = self.words.iter().find(|(known, _)| known.as_bytes() == word);
        if let Some((_, op)) = said {
            return Some(*op);
        }
        match word.first().map(u8::to_ascii_lowercase) {
            Some(b'r') => Some(Op::Read),
            Some(b'w') => Some(Op::Write),
            Some(b'd' | b't' | b'u') => Some(Op::Trim),
            Some(b'f' | b's') => Some(Op::Flush),
            _ => None,
        }
    }

    /// All words that were given, as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (word, op) in &self.words {
            let comma = if text.is_empty() { "" } else { "," };
            // Writing to a string can't fail.
            let _ = write!(text, "{comma}{word}={}", op.name());
        }
        text
    }

    /// Whether no words were given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}
