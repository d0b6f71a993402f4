//! The texts of a config and the values they stand for: times, sizes, rates, shares, counts and
//! choices, each with its unit.
//!
//! Parsing is exact (no floating point) and total: any text gives a value or an error that says what
//! to write instead. Printing a value and parsing the text gives the value back.

use std::fmt;
use std::ops::Range;

use crate::units::{Bytes, BytesPerSec, Nanos, Ratio};

/// Why a text is not a value, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub remedy: String,
    /// Which entry of a list is meant, if the value is a list.
    pub item: Option<usize>,
}

impl ValueError {
    /// An error about the whole value.
    pub fn new(message: impl Into<String>, remedy: impl Into<String>) -> ValueError {
        ValueError { message: message.into(), remedy: remedy.into(), item: None }
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.remedy)
    }
}

impl std::error::Error for ValueError {}

/// What kind of value an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Count,
    /// A span of time, with a unit.
    Time,
    /// A size, with a unit.
    Size,
    /// A transfer rate, with a unit.
    Rate,
    /// A share, in per cent.
    Share,
    /// Free text.
    Text,
    /// One of a list of names.
    Choice,
    /// A list of times.
    Times,
    /// The four levels of the device, in an order.
    Order,
}

impl Kind {
    /// The name of the kind, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Count => "count",
            Kind::Time => "time",
            Kind::Size => "size",
            Kind::Rate => "rate",
            Kind::Share => "share",
            Kind::Text => "text",
            Kind::Choice => "choice",
            Kind::Times => "list of times",
            Kind::Order => "order of levels",
        }
    }

    fn with_article(self) -> String {
        let article = if self == Kind::Order { "an" } else { "a" };
        format!("{article} {}", self.name())
    }

    /// How such a value is written.
    #[must_use]
    pub const fn example(self) -> &'static str {
        match self {
            Kind::Count => "8",
            Kind::Time => "\"200us\"",
            Kind::Size => "\"16KiB\"",
            Kind::Rate => "\"800MB/s\"",
            Kind::Share => "\"7%\"",
            Kind::Text => "\"some text\"",
            Kind::Choice => "\"name\"",
            Kind::Times => "[\"40us\", \"60us\"]",
            Kind::Order => "\"channel-chip-die-plane\"",
        }
    }
}

/// One of the names that a choice takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The name, as it is written.
    pub name: &'static str,
    /// What it means, in a line.
    pub doc: &'static str,
}

/// A value as TOML has it, before the option it belongs to says what it means.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    /// A string.
    Text(String),
    /// An integer or a float, as written (integers in decimal).
    Number(String),
    /// A list, each entry with its place in the text.
    List(Vec<(Range<usize>, Raw)>),
    /// Something that no option takes; the name of its TOML type.
    Other(&'static str),
}

impl Raw {
    pub(super) fn describe(&self) -> String {
        match self {
            Raw::Text(text) => quoted(text),
            Raw::Number(number) => number.clone(),
            Raw::List(_) => "a list".to_owned(),
            Raw::Other(kind) => format!("a {kind}"),
        }
    }
}

/// A type that an option can have.
pub trait Value: Sized + Clone + PartialEq + fmt::Debug {
    /// What kind of value it is, for the reference and for messages.
    const KIND: Kind;

    /// Reads the text form: what stands between the quotes.
    ///
    /// # Errors
    /// When the text is not such a value; the error says what to write.
    fn parse(text: &str) -> Result<Self, ValueError>;

    /// Prints the text form; parsing it gives the value back.
    fn print(&self) -> String;

    /// Whether the value lies between two values in text form, both included.
    fn within(&self, low: &str, high: &str) -> bool;

    /// Some value, to go on checking with when the real one is wrong.
    fn placeholder() -> Self;

    /// The names it takes, if it is a choice.
    #[must_use]
    fn choices() -> &'static [Choice] {
        &[]
    }

    /// Reads a TOML value.
    ///
    /// # Errors
    /// When it is not such a value; a list has an error for every entry that is wrong.
    fn read(raw: &Raw) -> Result<Self, Vec<ValueError>> {
        match raw {
            Raw::Text(text) => Self::parse(text).map_err(|error| vec![error]),
            // As text a bare number fails for want of its unit, with the remedy that fits.
            Raw::Number(number)
                if !matches!(Self::KIND, Kind::Text | Kind::Choice | Kind::Order) =>
            {
                Self::parse(number).map_err(|error| vec![error])
            }
            other => Err(vec![wrong_type(Self::KIND, other)]),
        }
    }

    /// Prints the value as TOML.
    fn to_toml(&self) -> String {
        quoted(&self.print())
    }
}

fn wrong_type(kind: Kind, raw: &Raw) -> ValueError {
    ValueError::new(
        format!("expected {}, found {}", kind.with_article(), raw.describe()),
        match raw {
            Raw::Number(number) => format!("write {}", quoted(number)),
            _ => format!("write it like {}", kind.example()),
        },
    )
}

/// `text` as a TOML string.
#[must_use]
pub fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A decimal number taken apart: 12.5 is 125 with one place.
struct Decimal {
    digits: u128,
    places: u32,
}

/// Splits `1_000.5 us` into its number and its unit.
fn split_number(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end =
        text.find(|c: char| !c.is_ascii_digit() && c != '_' && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (!number.is_empty()).then(|| (number, unit.trim_start()))
}

fn parse_decimal(number: &str) -> Option<Decimal> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if number.contains('.') && fraction.is_empty() {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let well_formed = whole.starts_with(|c: char| c.is_ascii_digit())
        && !whole.ends_with('_')
        && !whole.contains("__")
        && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !well_formed {
        return None;
    }
    let mut digits = 0_u128;
    for byte in whole.bytes().chain(fraction.bytes()).filter(u8::is_ascii_digit) {
        digits = digits.checked_mul(10)?.checked_add(u128::from(byte - b'0'))?;
    }
    Some(Decimal { digits, places: u32::try_from(fraction.len()).ok()? })
}

impl Decimal {
    /// The number times `scale`, if that is whole and fits.
    fn scaled(&self, scale: u64) -> Result<u64, ScaleError> {
        let wide = self.digits.checked_mul(u128::from(scale)).ok_or(ScaleError::TooLarge)?;
        // 10^39 does not fit 128 bits, and no scale here has that many factors of ten.
        let divisor = 10_u128.checked_pow(self.places).ok_or(ScaleError::NotWhole)?;
        if wide % divisor != 0 {
            return Err(ScaleError::NotWhole);
        }
        u64::try_from(wide / divisor).map_err(|_| ScaleError::TooLarge)
    }
}

enum ScaleError {
    TooLarge,
    NotWhole,
}

/// How one kind of quantity is written.
struct Quantity {
    /// With its article: "a time".
    what: &'static str,
    /// Spellings and how many of the smallest unit each is.
    units: &'static [(&'static str, u64)],
    /// The units as a message lists them.
    listed: &'static str,
    /// The smallest unit, as a message names it.
    smallest: &'static str,
    /// The most that is accepted, in the smallest unit.
    most: u64,
    /// What a number without a unit was most likely meant to be.
    guess: fn(&str) -> String,
}

const TIME: Quantity = Quantity {
    what: "a time",
    units: &[
        ("us", 1_000),
        ("ns", 1),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("µs", 1_000),
        ("μs", 1_000),
    ],
    listed: "ns, us, ms, s",
    smallest: "ns",
    most: u64::MAX,
    guess: |number| format!("{number}us"),
};

const SIZE: Quantity = Quantity {
    what: "a size",
    units: &[
        ("B", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
    ],
    listed: "B, KiB, MiB, GiB, TiB of 1024 each; kB, MB, GB, TB of 1000 each",
    smallest: "B",
    most: u64::MAX,
    guess: |number| match number.parse::<u64>() {
        Ok(bytes) if bytes >= 1024 => Bytes(bytes).print(),
        Ok(small) if small > 0 => format!("{small}KiB"),
        _ => format!("{number}MiB"),
    },
};

const RATE: Quantity = Quantity {
    what: "a rate",
    units: &[
        ("MB/s", 1_000_000),
        ("B/s", 1),
        ("kB/s", 1_000),
        ("GB/s", 1_000_000_000),
        ("KiB/s", 1 << 10),
        ("MiB/s", 1 << 20),
        ("GiB/s", 1 << 30),
    ],
    listed: "B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s",
    smallest: "B/s",
    most: u64::MAX,
    guess: |number| match number.parse::<u64>() {
        Ok(rate) if rate >= 1_000_000 => BytesPerSec(rate).print(),
        _ => format!("{number}MB/s"),
    },
};

const SHARE: Quantity = Quantity {
    what: "a share",
    units: &[("%", 10_000)],
    listed: "%",
    smallest: "0.0001%",
    most: u32::MAX as u64,
    guess: |number| match parse_decimal(number).map(|decimal| decimal.scaled(1_000_000)) {
        // 0.07 was meant as 7 %, but 7 as 7 %.
        Some(Ok(ppm @ 1..1_000_000)) => Ratio { ppm: ppm as u32 }.print(),
        _ => format!("{number}%"),
    },
};

impl Quantity {
    fn parse(&self, text: &str) -> Result<u64, ValueError> {
        let Some((number, unit)) = split_number(text) else {
            let message = match text.trim().strip_prefix('-') {
                Some(_) => format!("{} cannot be negative", self.what),
                None => format!("expected {}, found {}", self.what, quoted(text)),
            };
            let example = quoted(&(self.guess)("200"));
            return Err(ValueError::new(
                message,
                format!("write a number with a unit, like {example} (units: {})", self.listed),
            ));
        };
        let Some(decimal) = parse_decimal(number) else {
            return Err(ValueError::new(
                format!("{} is not a number, or one too large", quoted(number)),
                "write digits, with at most one decimal point: \"1.5\"".to_owned(),
            ));
        };
        let Some((_, scale)) = self.units.iter().find(|(name, _)| *name == unit) else {
            return Err(self.wrong_unit(number, unit));
        };
        match decimal.scaled(*scale) {
            Ok(value) if value <= self.most => Ok(value),
            Ok(_) | Err(ScaleError::TooLarge) => Err(ValueError::new(
                format!("{} is too large", quoted(text)),
                format!("the most is {}{}", self.most / self.units[0].1, self.units[0].0),
            )),
            Err(ScaleError::NotWhole) => Err(ValueError::new(
                format!("{} is not a whole number of {}", quoted(text), self.smallest),
                format!("round it to a multiple of {}", self.smallest),
            )),
        }
    }

    fn wrong_unit(&self, number: &str, unit: &str) -> ValueError {
        if unit.is_empty() {
            let example = quoted(&(self.guess)(number));
            return ValueError::new(
                format!("{} needs a unit", self.what),
                format!("write {example} (units: {})", self.listed),
            );
        }
        let names = self.units.iter().map(|(name, _)| *name);
        let meant = match (self.what, unit.to_ascii_lowercase().as_str()) {
            // K could be either; a guess would be wrong by 2.4 %.
            ("a size", "k" | "kb" | "m" | "mb" | "g" | "gb" | "t" | "tb") => {
                let letter = unit[..1].to_ascii_uppercase();
                let decimal = if letter == "K" { "k" } else { &letter };
                format!("write \"{number}{letter}iB\" or \"{number}{decimal}B\"")
            }
            ("a time", lower) if lower.ends_with("sec") => {
                format!("write \"{number}{}s\"", lower.trim_end_matches("sec"))
            }
            ("a rate", "mt/s") => format!("write \"{number}MB/s\" if the bus is 8 bits wide"),
            _ => match nearest(unit, names) {
                Some(name) => format!("write \"{number}{name}\""),
                None => "write a unit that is known".to_owned(),
            },
        };
        ValueError::new(
            format!("unknown unit {} for {}", quoted(unit), self.what),
            format!("{meant} (units: {})", self.listed),
        )
    }
}

/// The name most like `wanted`, if any is much like it.
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Two thirds alike catches a slip or two, a lost part and a doubled letter, but not chance.
    const ALIKE: f64 = 0.6;
    let lower = wanted.to_lowercase();
    known
        .into_iter()
        .map(|name| {
            let edits = strsim::normalized_damerau_levenshtein(&lower, &name.to_lowercase());
            let start = strsim::jaro_winkler(&lower, &name.to_lowercase());
            (if start > 0.9 { edits.max(start) } else { edits }, name)
        })
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

macro_rules! ordered {
    ($kind:ident) => {
        const KIND: Kind = Kind::$kind;

        fn within(&self, low: &str, high: &str) -> bool {
            matches!((Self::parse(low), Self::parse(high)),
                (Ok(low), Ok(high)) if low <= *self && *self <= high)
        }

        fn placeholder() -> Self {
            Self::default()
        }
    };
}

impl Value for Nanos {
    ordered!(Time);

    fn parse(text: &str) -> Result<Nanos, ValueError> {
        TIME.parse(text).map(Nanos)
    }

    /// The largest unit that leaves a number of one or more, in exact decimals: `1.5ms`.
    fn print(&self) -> String {
        let (scale, places, unit) = match self.0 {
            0..1_000 => (1, 0, "ns"),
            1_000..1_000_000 => (1_000, 3, "us"),
            1_000_000..1_000_000_000 => (1_000_000, 6, "ms"),
            _ => (1_000_000_000, 9, "s"),
        };
        let (whole, rest) = (self.0 / scale, self.0 % scale);
        if rest == 0 {
            return format!("{whole}{unit}");
        }
        let fraction = format!("{rest:0places$}");
        format!("{whole}.{}{unit}", fraction.trim_end_matches('0'))
    }
}

impl Value for Bytes {
    ordered!(Size);

    fn parse(text: &str) -> Result<Bytes, ValueError> {
        SIZE.parse(text).map(Bytes)
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

impl Value for BytesPerSec {
    ordered!(Rate);

    fn parse(text: &str) -> Result<BytesPerSec, ValueError> {
        RATE.parse(text).map(BytesPerSec)
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

impl Value for Ratio {
    ordered!(Share);

    fn parse(text: &str) -> Result<Ratio, ValueError> {
        // The quantity's limit is what fits 32 bits.
        SHARE.parse(text).map(|ppm| Ratio { ppm: u32::try_from(ppm).unwrap_or(u32::MAX) })
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

impl Value for u32 {
    ordered!(Count);

    fn parse(text: &str) -> Result<u32, ValueError> {
        let remedy = "write a whole number, like 8 or 1_000";
        let Some((number, unit)) = split_number(text) else {
            let what = if text.trim().starts_with('-') { "negative" } else { "not a number" };
            return Err(ValueError::new(format!("{} is {what}", quoted(text.trim())), remedy));
        };
        if !unit.is_empty() {
            let message = format!("a count takes no unit, found {}", quoted(unit));
            return Err(ValueError::new(message, remedy));
        }
        let value = parse_decimal(number).and_then(|decimal| decimal.scaled(1).ok());
        value.and_then(|value| u32::try_from(value).ok()).ok_or_else(|| {
            ValueError::new(format!("{number} is not a whole number below 2^32"), remedy)
        })
    }

    fn print(&self) -> String {
        self.to_string()
    }

    fn to_toml(&self) -> String {
        self.print()
    }
}

impl Value for String {
    ordered!(Text);

    fn parse(text: &str) -> Result<String, ValueError> {
        Ok(text.to_owned())
    }

    fn print(&self) -> String {
        self.clone()
    }
}

impl Value for Vec<Nanos> {
    const KIND: Kind = Kind::Times;

    fn parse(text: &str) -> Result<Self, ValueError> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items.map(Nanos::parse).collect()
    }

    fn print(&self) -> String {
        self.iter().map(Value::print).collect::<Vec<_>>().join(", ")
    }

    fn within(&self, low: &str, high: &str) -> bool {
        self.iter().all(|time| time.within(low, high))
    }

    fn placeholder() -> Self {
        Vec::new()
    }

    fn read(raw: &Raw) -> Result<Self, Vec<ValueError>> {
        let items = match raw {
            Raw::List(items) => items,
            Raw::Text(text) => return Self::parse(text).map_err(|error| vec![error]),
            other => return Err(vec![wrong_type(Self::KIND, other)]),
        };
        let mut times = Vec::new();
        let mut wrong = Vec::new();
        for (at, (_, item)) in items.iter().enumerate() {
            match Nanos::read(item) {
                Ok(time) => times.push(time),
                Err(errors) => wrong
                    .extend(errors.into_iter().map(|error| ValueError { item: Some(at), ..error })),
            }
        }
        if wrong.is_empty() { Ok(times) } else { Err(wrong) }
    }

    fn to_toml(&self) -> String {
        let items: Vec<_> = self.iter().map(Value::to_toml).collect();
        format!("[{}]", items.join(", "))
    }
}

/// The error for a name that is not among `choices`.
#[must_use]
pub fn unknown_choice(text: &str, choices: &[Choice]) -> ValueError {
    let names: Vec<&str> = choices.iter().map(|choice| choice.name).collect();
    let known = format!("known: {}", names.join(", "));
    ValueError::new(
        format!("{} is not known here", quoted(text)),
        match nearest(text, names.iter().copied()) {
            Some(name) => format!("did you mean {}? ({known})", quoted(name)),
            None => format!("write one of the {known}").replacen("the known", "known", 1),
        },
    )
}
