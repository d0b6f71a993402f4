//! Which column of a user's own table is what: `time=ts:us,op=3,offset=lba:512,size=len:byte`.
//!
//! A column is named as in the head of the table, or numbered from one. Behind a colon stands the unit of its numbers. What the table
//! lacks can be given: `size=4KiB`, `op=write`.

use ftlab::options::text::nearest;
use ftlab::options::value::Value;
use ftlab::units::Bytes;

use super::units::{SpaceUnit, TimeUnit, UnitNames, space_name, time_name};

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
    /// The unit, if it was said.
    pub unit: Option<ColumnUnit>,
}

/// The unit of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnUnit {
    /// So many nanoseconds or bytes.
    Of(u64),
    /// Dates with times of day.
    Date,
}

/// The name of the unit of dates.
const DATE: &str = "iso";

impl Given {
    /// Whether the unit of its numbers was said.
    pub fn has_unit(&self) -> bool {
        self.unit.is_some()
    }

    /// The unit of its numbers, or that of the part if none was said: seconds for times, bytes for places and sizes.
    pub fn unit(&self) -> ColumnUnit {
        self.unit.unwrap_or(match self.part {
            RequestPart::Time => ColumnUnit::Of(TimeUnit::S.ns()),
            _ => ColumnUnit::Of(1),
        })
    }

    /// What was said, with its unit.
    pub fn in_words(&self) -> String {
        let Given { part, text, .. } = self;
        let is_amount = amount(text).is_some();
        let unit = match (part, self.unit()) {
            (RequestPart::Time, unit) => format!(" in {}", time_unit_in_words(unit)),
            (RequestPart::Offset | RequestPart::Size, ColumnUnit::Of(1)) if !is_amount => {
                " in bytes".to_owned()
            }
            (RequestPart::Offset | RequestPart::Size, ColumnUnit::Of(unit)) if !is_amount => {
                format!(" in units of {unit} bytes")
            }
            _ => String::new(),
        };
        // Nobody said the usual unit.
        let usual = self.part == RequestPart::Time && self.unit.is_none();
        let usual = if usual { "; other units are said behind a colon" } else { "" };
        format!("{} is {text}{unit}, as said{usual}", part.name())
    }
}

/// Which column of a table is what, and the words of its operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnPlan {
    pub(crate) given: Vec<Given>,
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

    /// The nanoseconds of the unit of times; of a second if they are dates.
    #[must_use]
    pub fn time_unit_ns(&self) -> u64 {
        match self.of(RequestPart::Time).map(Given::unit) {
            Some(ColumnUnit::Of(ns)) => ns,
            Some(ColumnUnit::Date) | None => TimeUnit::S.ns(),
        }
    }

    /// The names of the units of its columns.
    pub(crate) fn unit_names(&self) -> UnitNames {
        let of = |part| {
            let given = self.of(part).filter(|given| amount(&given.text).is_none())?;
            Some(match (part, given.unit()) {
                (_, ColumnUnit::Date) => DATE.to_owned(),
                (RequestPart::Time, ColumnUnit::Of(ns)) => time_name(ns),
                (_, ColumnUnit::Of(bytes)) => space_name(bytes),
            })
        };
        UnitNames {
            time: of(RequestPart::Time),
            address: of(RequestPart::Offset),
            size: of(RequestPart::Size),
        }
    }

    /// Gives a part the unit that was said for the whole trace by another option.
    ///
    /// # Errors
    /// The part has another unit already, or no column.
    pub(crate) fn set_unit(
        &mut self,
        part: RequestPart,
        unit: u64,
        option: &str,
    ) -> Result<(), String> {
        let Some(given) = self.given.iter_mut().find(|given| given.part == part) else {
            return Err(format!("`{option}` is given, but `columns` names no {}", part.name()));
        };
        if amount(&given.text).is_some() {
            return Err(format!(
                "`{option}` is given, but `columns` says {}={} for all requests",
                part.name(),
                given.text
            ));
        }
        match given.unit {
            Some(known) if known != ColumnUnit::Of(unit) => {
                Err(format!("`{option}` and `columns` give {} two units", part.name()))
            }
            _ => {
                given.unit = Some(ColumnUnit::Of(unit));
                Ok(())
            }
        }
    }

    /// The column of a part with other units, to be said: `time=ts:us`, in quotes if a shell wants them; none if no column has
    /// numbers with a unit for it.
    pub(crate) fn with_unit(&self, part: RequestPart, unit: &str) -> Option<String> {
        let given = self.of(part).filter(|given| amount(&given.text).is_none())?;
        let is_date = given.unit == Some(ColumnUnit::Date);
        (!is_date).then(|| pasteable(&format!("{}={}:{unit}", part.name(), given.text)))
    }

    /// Whether a part may be the column of this name or number, counted from one.
    #[must_use]
    pub fn mentions(&self, name: Option<&str>, number: usize) -> bool {
        self.given.iter().any(|Given { text, .. }| {
            name.is_some_and(|name| name.trim().eq_ignore_ascii_case(text))
                || text.parse() == Ok(number)
        })
    }

    /// Whether one of these fields is the name of a column. A number names none.
    pub(crate) fn names_any(&self, fields: &[String]) -> bool {
        let is_name = |given: &&Given| given.text.parse::<usize>().is_err();
        self.given
            .iter()
            .filter(is_name)
            .any(|given| fields.iter().any(|field| field.eq_ignore_ascii_case(&given.text)))
    }

    /// What was said of a part.
    pub(crate) fn of(&self, part: RequestPart) -> Option<&Given> {
        self.given.iter().find(|given| given.part == part)
    }
}

/// Whether a mark in the name of a column means nothing else to a shell or in a plan.
pub(crate) fn is_plain(mark: char) -> bool {
    mark.is_alphanumeric() || "_-.%".contains(mark)
}

/// A text as a shell takes it for one word.
pub(crate) fn pasteable(text: &str) -> String {
    let is_plain = |mark: char| is_plain(mark) || ":=,".contains(mark);
    match text.contains(['\'', '"', '$', '`', '\\', '!']) {
        _ if text.chars().all(is_plain) => text.to_owned(),
        false => format!("\"{text}\""),
        true => format!("'{}'", text.replace('\'', "'\\''")),
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
            Some(unit) => (text.trim(), Some(unit)),
            // A colon may belong to a column's name.
            None if unit.contains(' ') => (value, None),
            None => return Err(unknown_unit(*part, unit)),
        },
        None => (value, None),
    };
    match text.is_empty() {
        true => Err(format!("{name}= needs the name or the number of a column")),
        false => Ok(Given { part: *part, text: text.to_owned(), unit }),
    }
}

fn unit_of(part: RequestPart, text: &str) -> Option<ColumnUnit> {
    match part {
        RequestPart::Time if text == DATE => Some(ColumnUnit::Date),
        RequestPart::Time => TimeUnit::named(text).map(|unit| ColumnUnit::Of(unit.ns())),
        RequestPart::Offset | RequestPart::Size => {
            let named = SpaceUnit::named(text).map(SpaceUnit::bytes);
            let counted = text.parse().ok().filter(|bytes| (1..=1 << 30).contains(bytes));
            named.or(counted).or_else(|| amount(text)).map(ColumnUnit::Of)
        }
        RequestPart::Op | RequestPart::Stream => None,
    }
}

fn time_unit_in_words(unit: ColumnUnit) -> String {
    match unit {
        ColumnUnit::Date => "dates with times of day".to_owned(),
        ColumnUnit::Of(ns) => TimeUnit::of_ns(ns)
            .map_or_else(|| format!("units of {ns} ns"), |unit| unit.words().to_owned()),
    }
}

fn unknown_unit(part: RequestPart, unit: &str) -> String {
    match part {
        RequestPart::Time => {
            let known = TimeUnit::ALL.map(|(name, _)| name).join(", ");
            format!("times have no unit `{unit}`; known are {known}, {DATE}")
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
