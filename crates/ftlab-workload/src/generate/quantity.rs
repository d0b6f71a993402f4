//! Quantities with units in text: `4KiB`, `200us`, `70%`, `50000/s`. Exact: a value that is not a
//! whole number of its base unit is refused, never rounded.

use ftlab::units::{Bytes, Nanos, Ratio};

use super::problem::clip;
use super::workload::{Amount, Rate};

/// Why a text is not the quantity it should be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    pub message: String,
    pub remedy: String,
}

/// One kind of quantity: its units with their size in the base unit.
struct Measure {
    name: &'static str,
    base: &'static str,
    units: &'static [(&'static str, u128)],
    largest: u128,
    example: &'static str,
}

const SIZE: Measure = Measure {
    name: "size",
    base: "byte",
    units: &[("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)],
    largest: 1 << 60,
    example: "4KiB",
};

const TIME: Measure = Measure {
    name: "time",
    base: "nanosecond",
    units: &[
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ],
    // A hundred years: sums of two stay far from the end of the clock.
    largest: 100 * 365 * 24 * 3_600_000_000_000,
    example: "200us",
};

const SHARE: Measure = Measure {
    name: "share",
    base: "millionth",
    units: &[("%", 10_000)],
    largest: u32::MAX as u128,
    example: "70%",
};

const RATE: Measure = Measure {
    name: "rate",
    base: "thousandth of a request a second",
    units: &[("/s", 1_000)],
    // A request each nanosecond, the resolution of the clock.
    largest: 1_000_000_000_000,
    example: "50000/s",
};

pub(super) fn size(text: &str) -> Result<Bytes, Wrong> {
    SIZE.read(text).map(Bytes)
}

pub(super) fn time(text: &str) -> Result<Nanos, Wrong> {
    TIME.read(text).map(Nanos)
}

pub(super) fn share(text: &str) -> Result<Ratio, Wrong> {
    let ppm = SHARE.read(text)?;
    Ok(Ratio { ppm: u32::try_from(ppm).expect("the largest share fits") })
}

pub(super) fn rate(text: &str) -> Result<Rate, Wrong> {
    RATE.read(text).map(|per_kilosecond| Rate { per_kilosecond })
}

pub(super) fn amount(text: &str) -> Result<Amount, Wrong> {
    if text.trim_end().ends_with('%') {
        share(text).map(Amount::Share)
    } else {
        size(text).map(Amount::Bytes)
    }
}

impl Measure {
    fn read(&self, text: &str) -> Result<u64, Wrong> {
        // A clipped text is as wrong as the whole.
        let text = &clip(text.trim());
        let digits = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '_'));
        let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
        let unit = unit.trim_start();
        let Some((_, factor)) = self.units.iter().find(|(name, _)| *name == unit) else {
            return Err(self.unknown_unit(number, unit));
        };
        let (mantissa, scale) = decimal(number).ok_or_else(|| self.no_number(text))?;
        let too_large = || self.wrong(format!("{text} is too large"), self.example);
        let scaled = mantissa.checked_mul(*factor).ok_or_else(too_large)?;
        if !scaled.is_multiple_of(scale) {
            let message = format!("{text} is not a whole number of {}s", self.base);
            return Err(self.wrong(message, self.example));
        }
        let value = scaled / scale;
        if value > self.largest {
            return Err(too_large());
        }
        Ok(u64::try_from(value).expect("every largest value fits 64 bits"))
    }

    fn unknown_unit(&self, number: &str, unit: &str) -> Wrong {
        let known = self.units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        if number.is_empty() {
            return self.no_number(unit);
        }
        if unit.is_empty() {
            let example = format!("{number}{}", self.units[0].0);
            return self.wrong(format!("a {} needs its unit: {known}", self.name), &example);
        }
        let same = self.units.iter().find(|(name, _)| binary_twin(name, unit));
        let example = same.map_or(self.example.to_owned(), |(name, _)| format!("{number}{name}"));
        self.wrong(format!("`{unit}` is not a unit of {}; known are {known}", self.name), &example)
    }

    fn no_number(&self, text: &str) -> Wrong {
        self.wrong(format!("`{text}` does not start with a number"), self.example)
    }

    fn wrong(&self, message: String, example: &str) -> Wrong {
        Wrong { message, remedy: format!("write a {} such as \"{example}\"", self.name) }
    }
}

/// Whether `unit` is a common way to write `name`: `KB`, `kib` and `K` for `KiB`.
fn binary_twin(name: &str, unit: &str) -> bool {
    let first = |text: &str| text.chars().next().map(|c| c.to_ascii_lowercase());
    let rest = unit.get(1..).unwrap_or_default().to_ascii_lowercase();
    name.eq_ignore_ascii_case(unit)
        || (name.ends_with("iB") && first(name) == first(unit) && matches!(&*rest, "" | "b"))
}

/// Digits before and after the point as one number, and the power of ten that divides it.
fn decimal(text: &str) -> Option<(u128, u128)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut mantissa = 0u128;
    let mut scale = 1u128;
    if whole.is_empty() || (text.contains('.') && fraction.is_empty()) {
        return None;
    }
    for byte in whole.bytes().filter(|&byte| byte != b'_') {
        mantissa = push_digit(mantissa, byte)?;
    }
    for byte in fraction.bytes() {
        mantissa = push_digit(mantissa, byte)?;
        scale = scale.checked_mul(10)?;
    }
    Some((mantissa, scale))
}

fn push_digit(mantissa: u128, byte: u8) -> Option<u128> {
    let digit = byte.is_ascii_digit().then(|| u128::from(byte - b'0'))?;
    mantissa.checked_mul(10)?.checked_add(digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_exact() {
        assert_eq!(size("4KiB"), Ok(Bytes(4096)));
        assert_eq!(size("1.5 MiB"), Ok(Bytes(3 << 19)));
        assert_eq!(time("0.5us"), Ok(Nanos(500)));
        assert_eq!(share("7.25%"), Ok(Ratio { ppm: 72_500 }));
        assert_eq!(rate("0.5/s"), Ok(Rate { per_kilosecond: 500 }));
        assert_eq!(amount("150%"), Ok(Amount::Share(Ratio::percent(150))));
    }

    #[test]
    fn mistakes_name_the_remedy() {
        let wrong = size("4KB").unwrap_err();
        assert!(wrong.message.contains("known are B, KiB"), "{wrong:?}");
        assert_eq!(wrong.remedy, "write a size such as \"4KiB\"");
        assert!(time("200").unwrap_err().message.contains("needs its unit"));
        assert!(time("0.3ns").unwrap_err().message.contains("whole number of nanoseconds"));
        assert!(size("99999999999999999999999999999999999999999TiB").is_err());
        assert!(size("0.3B").is_err() && size(".5KiB").is_err() && size("KiB").is_err());
        assert!(size("1.2.3KiB").is_err() && size("").is_err() && share("1e3%").is_err());
    }
}
