//! Numbers along an axis: ranges that keep their unit, and the places of values on a scale.
//!
//! All values are whole multiples of the smallest unit of their kind, so that an option takes the generated texts as
//! they are.

use ftlab::options::value::{Value, ValueError, ValueKind};
use ftlab::units::{BusRate, Bytes, Microwatts, Nanos, Ratio, RequestRate, TransferRate};

use super::keys::Spacing;
use crate::experiment::parse_speed;

/// A kind of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// Numbers of options of the device.
    Of(ValueKind),
    /// Factors, such as that of `speed`.
    Factor,
}

/// A number with its unit: a multiple of the smallest unit of its kind.
#[derive(Clone, Debug)]
struct Measure {
    smallest: u64,
    /// The unit as written.
    unit: String,
    /// The unit in the smallest one.
    scale: u64,
}

/// A range, written `LOW..HIGH`.
#[derive(Clone, Debug)]
pub struct Range {
    low: Measure,
    high: Measure,
    low_text: String,
    high_text: String,
}

/// What separates the ends of a range.
const BETWEEN: &str = "..";
/// The digits of a generated value, if they suffice to tell the values apart.
const DIGITS: u32 = 3;
/// The digits that a floating-point number holds exactly.
const EXACT_DIGITS: i32 = 15;
/// The most decimals of a generated value.
const MOST_DECIMALS: u32 = 12;

impl NumberKind {
    /// Returns the kind of numbers of a kind of values, if they are single numbers.
    pub fn of(kind: ValueKind) -> Option<NumberKind> {
        use ValueKind::{Amount, Count, Power, Rate, RequestRate, Share, Size, Time, TransferRate};
        let is_number = matches!(
            kind,
            Count | Time | Size | Rate | TransferRate | RequestRate | Power | Share | Amount
        );
        is_number.then_some(NumberKind::Of(kind))
    }

    /// Parses a number to its smallest unit: bytes, nanoseconds, bytes or transfers per second, thousandths of requests
    /// per second, microwatts, millionths.
    ///
    /// # Errors
    /// It is not such a number.
    pub fn smallest(self, text: &str) -> Result<u64, ValueError> {
        let ValueKind::Amount = self.value() else { return self.plain(text) };
        match text.trim_end().ends_with('%') {
            true => NumberKind::Of(ValueKind::Share).plain(text),
            false => NumberKind::Of(ValueKind::Size).plain(text),
        }
    }

    fn value(self) -> ValueKind {
        match self {
            NumberKind::Of(kind) => kind,
            NumberKind::Factor => ValueKind::Share,
        }
    }

    fn plain(self, text: &str) -> Result<u64, ValueError> {
        match self {
            NumberKind::Factor => parse_speed(text)
                .map(|factor| u64::from(factor.ppm))
                .map_err(|message| ValueError::new(message, "write it as for a single run")),
            NumberKind::Of(ValueKind::Time) => Nanos::parse(text).map(|time| time.0),
            NumberKind::Of(ValueKind::Size) => Bytes::parse(text).map(|size| size.0),
            NumberKind::Of(ValueKind::Rate) => BusRate::parse(text).map(|rate| rate.0.0),
            NumberKind::Of(ValueKind::TransferRate) => TransferRate::parse(text).map(|rate| rate.0),
            NumberKind::Of(ValueKind::RequestRate) => {
                RequestRate::parse(text).map(|rate| rate.per_kilosecond)
            }
            NumberKind::Of(ValueKind::Power) => Microwatts::parse(text).map(|power| power.0),
            NumberKind::Of(ValueKind::Share) => Ratio::parse(text).map(|share| share.ppm.into()),
            NumberKind::Of(_) => u64::parse(text),
        }
    }

    fn measure(self, text: &str) -> Result<Measure, ValueError> {
        let unit = unit_of(text).to_owned();
        let (smallest, scale) = (self.smallest(text)?, self.smallest(&format!("1{unit}"))?);
        Ok(Measure { smallest, unit, scale })
    }
}

/// Returns the unit of a number as written.
fn unit_of(text: &str) -> &str {
    text.trim().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '_').trim()
}

/// Whether a text is meant as a range.
pub fn is_range(text: &str) -> bool {
    text.contains(BETWEEN)
}

impl Range {
    /// Parses `LOW..HIGH`.
    ///
    /// # Errors
    /// It is not a range of such numbers.
    pub fn parse(kind: NumberKind, text: &str) -> Result<Range, ValueError> {
        let (low, high) = text.split_once(BETWEEN).ok_or_else(|| {
            ValueError::new("this is no range", "write both ends, such as \"7%..50%\", or a list")
        })?;
        let of = |end: &str| {
            kind.measure(end.trim()).map_err(|error| {
                let message = format!("the range {}: {}", text.trim(), error.message);
                ValueError { message, ..error }
            })
        };
        let [low_text, high_text] = [low, high].map(|end| end.trim().to_owned());
        let (low, high) = (of(low)?, of(high)?);
        match low.smallest < high.smallest {
            true => Ok(Range { low, high, low_text, high_text }),
            false => Err(ValueError::new(
                "the range ends where it begins, or before",
                "write the smaller end first",
            )),
        }
    }

    /// Returns `steps` values from end to end as texts in the unit of the first end.
    ///
    /// # Errors
    /// There are not so many different ones; or the range begins at zero, and the spacing is logarithmic.
    pub fn values(&self, steps: usize, spacing: Spacing) -> Result<Vec<String>, ValueError> {
        if spacing == Spacing::Log && self.low.smallest == 0 {
            return Err(ValueError::new(
                "a range with logarithmic spacing can't begin at zero",
                "begin above zero, or leave `spacing` out",
            ));
        }
        let different = (0..=MOST_DECIMALS).find_map(|finer| {
            let inner = 1..steps - 1;
            let inner = inner.map(|at| self.rounded(self.place(at, steps, spacing), finer));
            Some(inner.collect::<Vec<Decimal>>()).filter(|inner| self.rise(inner))
        });
        let inner = different.ok_or_else(|| {
            ValueError::new(
                format!("the range has no {steps} different values"),
                "write fewer `steps`, a wider range, or a smaller unit",
            )
        })?;
        let first = self.end(&self.low).unwrap_or_else(|| self.low_text.clone());
        let last = self.end(&self.high).unwrap_or_else(|| self.high_text.clone());
        let inner = inner.iter().map(|one| one.text(&self.low.unit));
        Ok(std::iter::once(first).chain(inner).chain([last]).collect())
    }

    /// Returns where a value lies, in the unit of the first end.
    fn place(&self, at: usize, steps: usize, spacing: Spacing) -> f64 {
        let share = at as f64 / (steps - 1) as f64;
        let (low, high) = (self.low.smallest as f64, self.high.smallest as f64);
        let value = match spacing {
            Spacing::Linear => low + (high - low) * share,
            Spacing::Log => (low.ln() + (high.ln() - low.ln()) * share).exp(),
        };
        value / self.low.scale as f64
    }

    /// Returns how many decimals the unit allows: its tenths must be whole numbers of the smallest unit.
    fn most_places(&self) -> u32 {
        let divides = |&places: &u32| self.low.scale.is_multiple_of(10u64.pow(places));
        (0..=MOST_DECIMALS).take_while(divides).last().unwrap_or(0)
    }

    fn rounded(&self, value: f64, finer: u32) -> Decimal {
        let before = value.log10().floor() as i32 + 1;
        let places = (DIGITS as i32 - before).max(0) as u32 + finer;
        let exact = (EXACT_DIGITS - before).max(0) as u32;
        let places = places.min(exact).min(self.most_places());
        Decimal { digits: (value * 10f64.powi(places as i32)).round() as u64, places }
    }

    /// Whether the values between the ends rise from one end to the other.
    fn rise(&self, inner: &[Decimal]) -> bool {
        let tenths = |one: &Decimal| self.low.scale / 10u64.pow(one.places);
        let inner = inner.iter().map(|one| one.digits.saturating_mul(tenths(one)));
        let all: Vec<u64> =
            [self.low.smallest].into_iter().chain(inner).chain([self.high.smallest]).collect();
        all.windows(2).all(|pair| pair[0] < pair[1])
    }

    /// Returns an end as text in the unit of the first one, if that is a decimal number.
    fn end(&self, end: &Measure) -> Option<String> {
        let scale = u128::from(self.low.scale);
        let exact = |places: u32| {
            let wide = u128::from(end.smallest) * 10u128.pow(places);
            let digits = u64::try_from(wide / scale).ok().filter(|_| wide.is_multiple_of(scale));
            digits.map(|digits| Decimal { digits, places })
        };
        (0..=MOST_DECIMALS).find_map(exact).map(|end| end.text(&self.low.unit))
    }
}

/// A decimal number: `digits` divided by ten to the power of `places`.
struct Decimal {
    digits: u64,
    places: u32,
}

impl Decimal {
    fn text(&self, unit: &str) -> String {
        let Decimal { digits, places } = *self;
        let power = 10u64.pow(places);
        let (whole, rest) = (digits / power, digits % power);
        if rest == 0 {
            return format!("{whole}{unit}");
        }
        let rest = format!("{rest:0width$}", width = places as usize);
        format!("{whole}.{}{unit}", rest.trim_end_matches('0'))
    }
}

/// Values on a scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaled {
    /// Their unit, as the first value is written; empty for plain numbers.
    pub unit: String,
    /// The numbers.
    pub numbers: Vec<f64>,
}

/// Returns the values as numbers, if all of them are. Without a kind, they must have the same unit.
pub fn scaled(kind: Option<NumberKind>, texts: &[&str]) -> Option<Scaled> {
    let first = texts.first()?;
    let unit = unit_of(first).to_owned();
    let number = |text: &str| -> Option<f64> {
        let digits = text.trim().strip_suffix(unit.as_str())?.trim();
        digits.parse().ok().filter(|number: &f64| number.is_finite())
    };
    let numbers: Option<Vec<f64>> = match kind {
        None => texts.iter().map(|text| number(text)).collect(),
        Some(kind) => {
            let scale = kind.measure(first).ok()?.scale as f64;
            let value = |text: &&str| Some(kind.smallest(text).ok()? as f64 / scale);
            texts.iter().map(value).collect()
        }
    };
    Some(Scaled { unit, numbers: numbers? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(kind: ValueKind, text: &str, steps: usize, spacing: Spacing) -> Vec<String> {
        let range = Range::parse(NumberKind::Of(kind), text).unwrap();
        range.values(steps, spacing).unwrap()
    }

    fn refused(kind: ValueKind, text: &str, steps: usize, spacing: Spacing) -> String {
        let range = Range::parse(NumberKind::Of(kind), text);
        range.and_then(|range| range.values(steps, spacing)).expect_err(text).to_string()
    }

    #[test]
    fn ranges_keep_their_unit_and_both_ends() {
        use Spacing::{Linear, Log};
        let shares = spread(ValueKind::Share, "7%..50%", 8, Linear);
        assert_eq!(shares, ["7%", "13.1%", "19.3%", "25.4%", "31.6%", "37.7%", "43.9%", "50%"]);
        assert_eq!(
            spread(ValueKind::Size, "4KiB..1MiB", 5, Log),
            ["4KiB", "16KiB", "64KiB", "256KiB", "1024KiB"]
        );
        assert_eq!(
            spread(ValueKind::Time, "200us .. 2ms", 4, Log),
            ["200us", "431us", "928us", "2000us"]
        );
        let powers = spread(ValueKind::Count, "1..256", 9, Log);
        assert_eq!(powers, ["1", "2", "4", "8", "16", "32", "64", "128", "256"]);
        assert_eq!(spread(ValueKind::Count, "1..10", 4, Linear), ["1", "4", "7", "10"]);
        assert_eq!(spread(ValueKind::Size, "4KiB..1MiB", 3, Linear), ["4KiB", "514KiB", "1024KiB"]);
        assert_eq!(spread(ValueKind::Rate, "1GB/s..2GB/s", 2, Linear), ["1GB/s", "2GB/s"]);
    }

    #[test]
    fn what_generated_texts_say_lies_between_the_ends_and_is_taken_by_the_option() {
        for (kind, text) in [
            (ValueKind::Share, "0%..100%"),
            (ValueKind::Share, "50%..50.1%"),
            (ValueKind::Time, "1ns..1y"),
            (ValueKind::Time, "7min..1000s"),
            (ValueKind::Size, "1B..3TiB"),
            (ValueKind::Rate, "1kB/s..3GiB/s"),
            (ValueKind::TransferRate, "400MT/s..3.6GT/s"),
            (ValueKind::RequestRate, "0.5/s..1000000/s"),
            (ValueKind::Power, "500uW..1W"),
            (ValueKind::Count, "1..4294967295"),
            (ValueKind::Amount, "1MiB..3GiB"),
        ] {
            for (steps, spacing) in [(2, Spacing::Linear), (9, Spacing::Linear), (9, Spacing::Log)]
            {
                let kind = NumberKind::Of(kind);
                let range = Range::parse(kind, text).unwrap();
                if spacing == Spacing::Log && range.low.smallest == 0 {
                    continue;
                }
                let values = range.values(steps, spacing).unwrap();
                let numbers: Vec<u64> =
                    values.iter().map(|value| kind.smallest(value).unwrap()).collect();
                assert_eq!(numbers.len(), steps);
                assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{values:?}");
                let (low, high) = text.split_once("..").unwrap();
                let ends = [low, high].map(|end| kind.smallest(end).unwrap());
                assert_eq!([numbers[0], numbers[steps - 1]], ends, "{values:?}");
            }
        }
    }

    #[test]
    fn what_is_no_range_of_different_values_is_refused() {
        use Spacing::{Linear, Log};
        let told = |text, steps, spacing| refused(ValueKind::Count, text, steps, spacing);
        assert!(told("1..4", 5, Linear).contains("no 5 different values"));
        assert!(told("1..16", 10, Log).contains("no 10 different values"));
        assert!(told("0..16", 4, Log).contains("can't begin at zero"));
        assert!(told("9..3", 4, Linear).contains("smaller end first"));
        assert!(told("7", 4, Linear).contains("no range"));
        assert!(told("1..x", 4, Linear).contains("the range 1..x"));
        assert!(refused(ValueKind::Share, "7..50", 4, Linear).contains("needs a unit"));
        assert!(refused(ValueKind::Size, "4KiB..6KiB", 4, Linear).contains("different"));
        assert!(refused(ValueKind::Time, "200..300us", 4, Linear).contains("needs a unit"));
    }

    #[test]
    fn values_lie_on_a_scale_if_all_are_numbers_of_one_kind() {
        let size = Some(NumberKind::Of(ValueKind::Size));
        let found = scaled(size, &["4KiB", "1MiB", "512B"]).unwrap();
        assert_eq!((found.unit.as_str(), found.numbers), ("KiB", vec![4.0, 1024.0, 0.5]));
        assert_eq!(scaled(size, &["4KiB", "none"]), None);
        assert_eq!(scaled(None, &["10 us", "20us"]).unwrap().numbers, [10.0, 20.0]);
        assert_eq!(scaled(None, &["10us", "20ms"]), None);
        assert_eq!(scaled(None, &["greedy"]), None);
        assert_eq!(scaled(Some(NumberKind::Factor), &["0.5", "2x"]).unwrap().numbers, [0.5, 2.0]);
    }
}
