//! Numbers with units: times, sizes, rates, shares, amounts and counts, and the remedies for wrong ones.

use super::text::{is_long, nearest, quoted, shown};
use super::value::{Value, ValueError, ValueKind, ordered};
use crate::units::{
    Amount, BusRate, Bytes, BytesPerSec, Microwatts, Nanos, Ratio, RequestRate, TransferRate,
};

/// A decimal number in parts: 12.5 is 125 with one decimal place.
struct Decimal {
    digits: u128,
    places: u32,
}

/// Splits `1_000.5 us` into its number and its unit. `None` if there is no number at the start, or
/// the text is implausibly long.
fn split_number(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    if is_long(text) {
        return None;
    }
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
    /// The number times `scale`, if that is a whole number and fits.
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

/// A number that suits most options, for examples.
const EXAMPLE: &str = "20";

/// The notation of one kind of quantity.
struct Quantity {
    /// With its article: "a time".
    what: &'static str,
    /// The units, with their values in the smallest unit.
    units: &'static [(&'static str, u64)],
    /// The units as a message lists them.
    listed: &'static str,
    /// The smallest unit, as a message names it.
    smallest: &'static str,
    /// The most that is accepted, in the smallest unit.
    most: u64,
    /// What a number without a unit probably means.
    guess: fn(&str) -> String,
}

/// A day, in nanoseconds.
const DAY: u64 = 86_400_000_000_000;
/// A year of 365 days, as data sheets state retention; leap days don't matter there.
const YEAR: u64 = 365 * DAY;

const TIME: Quantity = Quantity {
    what: "a time",
    units: &[
        ("us", 1_000),
        ("ns", 1),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
        ("d", DAY),
        ("y", YEAR),
        ("µs", 1_000),
        ("μs", 1_000),
    ],
    listed: "ns, us, ms, s, min, h, d, y of 365 d",
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

/// Transfers of one byte each.
const BUS_RATE: Quantity = Quantity {
    what: "the rate of a bus",
    units: &[
        ("MB/s", 1_000_000),
        ("B/s", 1),
        ("kB/s", 1_000),
        ("GB/s", 1_000_000_000),
        ("KiB/s", 1 << 10),
        ("MiB/s", 1 << 20),
        ("GiB/s", 1 << 30),
        ("MT/s", 1_000_000),
        ("GT/s", 1_000_000_000),
        ("kT/s", 1_000),
        ("T/s", 1),
    ],
    listed: "B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s; of 8 data lines also MT/s, GT/s",
    ..RATE
};

const TRANSFER_RATE: Quantity = Quantity {
    what: "a rate of transfers",
    units: &[("MT/s", 1_000_000), ("GT/s", 1_000_000_000), ("kT/s", 1_000), ("T/s", 1)],
    listed: "T/s, kT/s, MT/s, GT/s",
    smallest: "T/s",
    most: u64::MAX,
    guess: |number| match number.parse::<u64>() {
        Ok(rate) if rate >= 1_000_000 => TransferRate(rate).print(),
        _ => format!("{number}MT/s"),
    },
};

const REQUEST_RATE: Quantity = Quantity {
    what: "a rate of requests",
    units: &[("/s", 1_000)],
    listed: "/s",
    smallest: "0.001/s",
    // One request per nanosecond, which is the resolution of the clock.
    most: 1_000_000_000_000,
    guess: |number| format!("{number}/s"),
};

const POWER: Quantity = Quantity {
    what: "a power",
    units: &[("mW", 1_000), ("uW", 1), ("W", 1_000_000), ("µW", 1), ("μW", 1)],
    listed: "uW, mW, W",
    smallest: "uW",
    most: u64::MAX,
    guess: |number| format!("{number}mW"),
};

const SHARE: Quantity = Quantity {
    what: "a share",
    units: &[("%", 10_000)],
    listed: "%",
    smallest: "0.0001%",
    most: u32::MAX as u64,
    guess: |number| match parse_decimal(number).map(|decimal| decimal.scaled(1_000_000)) {
        // 0.07 means 7 %, and so does 7.
        Some(Ok(ppm @ 1..1_000_000)) => Ratio { ppm: ppm as u32 }.print(),
        _ => format!("{number}%"),
    },
};

impl Quantity {
    fn parse(&self, text: &str) -> Result<u64, ValueError> {
        let Some((number, unit)) = split_number(text) else {
            let message = match text.trim().strip_prefix('-') {
                Some(_) => format!("{} cannot be negative", self.what),
                None => format!("expected {}, found {}", self.what, shown(text)),
            };
            let example = (self.guess)(EXAMPLE);
            let remedy = format!(
                "write a number with a unit, like {} (units: {})",
                quoted(&example),
                self.listed
            );
            let proposed = Some(example);
            return Err(ValueError { proposed, ..ValueError::new(message, remedy) });
        };
        let Some(decimal) = parse_decimal(number) else {
            return Err(ValueError::new(
                format!("{} is not a number, or one too large", shown(number)),
                "write digits, with at most one decimal point: \"1.5\"".to_owned(),
            ));
        };
        let Some((_, scale)) = self.units.iter().find(|(name, _)| *name == unit) else {
            return Err(self.wrong_unit(number, unit));
        };
        match decimal.scaled(*scale) {
            Ok(value) if value <= self.most => Ok(value),
            Ok(_) | Err(ScaleError::TooLarge) => Err(ValueError::new(
                format!("{} is too large", shown(text)),
                format!("the most is {}{}", self.most / self.units[0].1, self.units[0].0),
            )),
            Err(ScaleError::NotWhole) => Err(ValueError::new(
                format!("{} is not a whole number of {}", shown(text), self.smallest),
                format!("round it to a multiple of {}", self.smallest),
            )),
        }
    }

    fn wrong_unit(&self, number: &str, unit: &str) -> ValueError {
        if unit.is_empty() {
            let guess = (self.guess)(number);
            let remedy = format!("write {} (units: {})", quoted(&guess), self.listed);
            let error = ValueError::new(format!("{} needs a unit", self.what), remedy);
            return ValueError { proposed: Some(guess), ..error };
        }
        let names = self.units.iter().map(|(name, _)| *name);
        let meant = match (self.what, unit.to_ascii_lowercase().as_str()) {
            // K is ambiguous; a guess could be wrong by 2.4 %.
            ("a size", "k" | "kb" | "m" | "mb" | "g" | "gb" | "t" | "tb") => {
                let letter = unit[..1].to_ascii_uppercase();
                let decimal = if letter == "K" { "k" } else { &letter };
                format!("write \"{number}{letter}iB\" or \"{number}{decimal}B\"")
            }
            ("a time", lower) if lower.ends_with("sec") => {
                format!("write \"{number}{}s\"", lower.trim_end_matches("sec"))
            }
            // It is not known here how many bits a transfer moves, and how many of them are data.
            ("a rate", "t/s" | "kt/s" | "mt/s" | "gt/s") => {
                "write what it carries in bytes (a lane of PCIe 4.0 with 16 GT/s has 1.97GB/s)"
                    .to_owned()
            }
            ("a rate" | "the rate of a bus", lower) if counts_bits(unit, lower) => {
                in_bytes(number, unit)
            }
            _ => match nearest(unit, names) {
                Some(name) => format!("write \"{number}{name}\""),
                None => "write a unit that is known".to_owned(),
            },
        };
        ValueError::new(
            format!("unknown unit {} for {}", shown(unit), self.what),
            format!("{meant} (units: {})", self.listed),
        )
    }
}

/// Whether the unit of a rate counts bits.
fn counts_bits(unit: &str, lower: &str) -> bool {
    unit.ends_with("b/s") || ["bit/s", "bits/s", "bps"].iter().any(|bits| lower.ends_with(bits))
}

/// The remedy for a rate in bits.
fn in_bytes(number: &str, unit: &str) -> String {
    let prefix = unit.chars().next().map(|first| first.to_ascii_uppercase());
    let bytes = number.parse::<f64>().map(|bits| bits / f64::from(u8::BITS));
    match (prefix, bytes) {
        (Some(prefix @ ('M' | 'G')), Ok(bytes)) => {
            format!("write it in bytes, of 8 bits each: \"{bytes}{prefix}B/s\"")
        }
        _ => "write what it carries in bytes: a byte has 8 bits".to_owned(),
    }
}

/// The decimal `whole.rest`, where `rest` has this many `places`, without trailing zeros.
fn exact(whole: u64, rest: u64, places: usize) -> String {
    if rest == 0 {
        return whole.to_string();
    }
    let fraction = format!("{rest:0places$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

impl Value for Nanos {
    ordered!(Time);

    fn parse(text: &str) -> Result<Nanos, ValueError> {
        TIME.parse(text).map(Nanos)
    }

    /// Prints the largest unit up to seconds that gives a number of at least one, in exact decimals: `1.5ms`. Whole
    /// days and years are printed as such. Hours and minutes are not, because seconds read as well.
    fn print(&self) -> String {
        for (span, unit) in [(YEAR, "y"), (DAY, "d")] {
            if self.0 > 0 && self.0.is_multiple_of(span) {
                return format!("{}{unit}", self.0 / span);
            }
        }
        let (scale, places, unit) = match self.0 {
            0..1_000 => (1, 0, "ns"),
            1_000..1_000_000 => (1_000, 3, "us"),
            1_000_000..1_000_000_000 => (1_000_000, 6, "ms"),
            _ => (1_000_000_000, 9, "s"),
        };
        format!("{}{unit}", exact(self.0 / scale, self.0 % scale, places))
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

impl Value for BusRate {
    ordered!(Rate);

    fn parse(text: &str) -> Result<BusRate, ValueError> {
        BUS_RATE.parse(text).map(|rate| BusRate(BytesPerSec(rate)))
    }

    fn print(&self) -> String {
        self.0.print()
    }
}

/// The value that means no limit.
const NO_LIMIT: &str = "none";

/// Implements values that may be unlimited.
macro_rules! unlimited {
    ($Type:ty, $kind:ident) => {
        impl Value for Option<$Type> {
            const KIND: ValueKind = ValueKind::$kind;

            fn parse(text: &str) -> Result<Option<$Type>, ValueError> {
                if text == NO_LIMIT {
                    return Ok(None);
                }
                <$Type>::parse(text).map(Some).map_err(|error| ValueError {
                    remedy: format!("{}, or \"{NO_LIMIT}\"", error.remedy),
                    ..error
                })
            }

            fn print(&self) -> String {
                self.map_or(NO_LIMIT.to_owned(), |limit| limit.print())
            }

            fn within(&self, low: &str, high: &str) -> bool {
                self.is_none_or(|limit| limit.within(low, high))
            }

            fn placeholder() -> Option<$Type> {
                None
            }
        }
    };
}

unlimited!(BytesPerSec, Rate);
unlimited!(Nanos, Time);
unlimited!(Bytes, Size);
unlimited!(u32, Count);

impl Value for Ratio {
    ordered!(Share);

    fn parse(text: &str) -> Result<Ratio, ValueError> {
        // The limit of the quantity is what fits 32 bits.
        SHARE.parse(text).map(|ppm| Ratio { ppm: u32::try_from(ppm).unwrap_or(u32::MAX) })
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

impl Value for TransferRate {
    ordered!(TransferRate);

    fn parse(text: &str) -> Result<TransferRate, ValueError> {
        TRANSFER_RATE.parse(text).map(TransferRate)
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

impl Value for Microwatts {
    ordered!(Power);

    fn parse(text: &str) -> Result<Microwatts, ValueError> {
        POWER.parse(text).map(Microwatts)
    }

    fn print(&self) -> String {
        self.to_string()
    }
}

impl Value for RequestRate {
    ordered!(RequestRate);

    fn parse(text: &str) -> Result<RequestRate, ValueError> {
        REQUEST_RATE.parse(text).map(|per_kilosecond| RequestRate { per_kilosecond })
    }

    fn print(&self) -> String {
        format!("{}/s", exact(self.per_kilosecond / 1_000, self.per_kilosecond % 1_000, 3))
    }
}

impl Value for Amount {
    const KIND: ValueKind = ValueKind::Amount;

    fn parse(text: &str) -> Result<Amount, ValueError> {
        if text.trim_end().ends_with('%') {
            return Ratio::parse(text).map(Amount::Share);
        }
        Bytes::parse(text).map(Amount::Bytes).map_err(|error| ValueError {
            remedy: format!("{}, or a share of the whole like \"50%\"", error.remedy),
            ..error
        })
    }

    fn print(&self) -> String {
        match self {
            Amount::Bytes(size) => size.print(),
            Amount::Share(share) => share.print(),
        }
    }

    /// Ranges apply to sizes. Only the context knows the whole of a share.
    fn within(&self, low: &str, high: &str) -> bool {
        match self {
            Amount::Bytes(size) => size.within(low, high),
            Amount::Share(_) => true,
        }
    }

    fn placeholder() -> Amount {
        Amount::Share(Ratio::default())
    }
}

/// Parses a whole number of at most `bits` bits.
fn parse_count(text: &str, bits: u32) -> Result<u64, ValueError> {
    let remedy = "write a whole number, like 8 or 1_000";
    let Some((number, unit)) = split_number(text) else {
        let what = if text.trim().starts_with('-') { "negative" } else { "not a number" };
        return Err(ValueError::new(format!("{} is {what}", shown(text.trim())), remedy));
    };
    if !unit.is_empty() {
        let message = format!("a count takes no unit, found {}", shown(unit));
        return Err(ValueError::new(message, remedy));
    }
    let value = parse_decimal(number).and_then(|decimal| decimal.scaled(1).ok());
    value.filter(|value| value.checked_shr(bits).unwrap_or(0) == 0).ok_or_else(|| {
        ValueError::new(format!("{number} is not a whole number below 2^{bits}"), remedy)
    })
}

macro_rules! count {
    ($Type:ident) => {
        impl Value for $Type {
            ordered!(Count);

            fn parse(text: &str) -> Result<$Type, ValueError> {
                let value = parse_count(text, $Type::BITS)?;
                Ok($Type::try_from(value).expect("a count within its bits"))
            }

            fn print(&self) -> String {
                self.to_string()
            }

            fn to_toml(&self) -> String {
                self.print()
            }
        }
    };
}

count!(u32);
count!(u64);
