//! Numbers of papers as declarations write them, and tolerances.

use ftlab::options::text::legible;
use serde::Serialize;

/// The unit of quantities in per cent.
pub const PERCENT: &str = "%";
/// The upper bound of relative tolerances, in per cent.
const ALL: f64 = 100.0;
/// Above this, fixed decimals are meaningless.
const LARGE: f64 = 1e15;

/// A number printed in a paper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Printed {
    /// A number.
    Number(f64),
    /// Less than this.
    Below(f64),
    /// More than this.
    Above(f64),
}

impl Printed {
    /// Parses a number in `unit`, with or without the unit.
    ///
    /// # Errors
    /// Returns what to write instead.
    pub fn parse(text: &str, unit: &str) -> Result<Printed, String> {
        let text = text.trim();
        let (form, rest): (fn(f64) -> Printed, &str) = match text.chars().next() {
            Some('<') => (Printed::Below, &text[1..]),
            Some('>') => (Printed::Above, &text[1..]),
            _ => (Printed::Number, text),
        };
        quantity(rest, unit).map(form).ok_or_else(|| {
            let like = |number: &str| format!("{number}{}", suffix(unit));
            format!(
                "write a number such as \"{}\", or a limit such as \"< {}\"",
                like("72"),
                like("1")
            )
        })
    }
}

/// How near is near enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tolerance {
    /// A share of the number, in per cent.
    Percent(f64),
    /// A distance in the unit of the quantity.
    Absolute(f64),
    /// A range, including both ends.
    Range(f64, f64),
}

impl Tolerance {
    /// Parses a tolerance for a quantity in `unit`.
    ///
    /// # Errors
    /// Returns what to write instead.
    pub fn parse(text: &str, unit: &str) -> Result<Tolerance, String> {
        let text = text.trim();
        let not_negative = |number: &f64| *number >= 0.0;
        let read = || {
            if let Some((low, high)) = text.split_once(" to ") {
                let (low, high) = (quantity(low, unit)?, quantity(high, unit)?);
                return (low <= high).then_some(Tolerance::Range(low, high));
            }
            if let Some(points) = text.strip_suffix("points").or_else(|| text.strip_suffix("point"))
            {
                let points = plain(points).filter(|_| unit == PERCENT).filter(not_negative)?;
                return Some(Tolerance::Absolute(points));
            }
            if let Some(percent) = text.strip_suffix('%') {
                // With 100 % no smaller number could fail.
                let part = |percent: &f64| (0.0..ALL).contains(percent);
                return plain(percent).filter(part).map(Tolerance::Percent);
            }
            // A bare number is ambiguous: per cent, or percentage points.
            let bare = unit == PERCENT || (!unit.is_empty() && plain(text).is_some());
            let number = if bare { None } else { quantity(text, unit) };
            number.filter(not_negative).map(Tolerance::Absolute)
        };
        read().ok_or_else(|| {
            let absolute = match unit {
                PERCENT => "\"3 points\"".to_owned(),
                "" => "\"0.1\"".to_owned(),
                unit => format!("\"2 {unit}\""),
            };
            format!("write a share of the number, below 100%, such as \"5%\", or {absolute}, or \"LOW to HIGH\"")
        })
    }

    /// Formats the tolerance for a quantity in `unit`.
    pub fn told(self, unit: &str) -> String {
        match self {
            Tolerance::Percent(percent) => format!("{} %", legible(percent)),
            Tolerance::Absolute(points) if unit == PERCENT => {
                format!("{} {}", legible(points), if points == 1.0 { "point" } else { "points" })
            }
            Tolerance::Absolute(number) if unit.is_empty() => legible(number),
            Tolerance::Absolute(number) => format!("{} {unit}", legible(number)),
            Tolerance::Range(low, high) => format!("{} to {}", legible(low), legible(high)),
        }
    }
}

/// Whether `value` matches the printed number within `tolerance`.
pub fn is_near(value: f64, printed: Printed, tolerance: Option<Tolerance>) -> bool {
    match (printed, tolerance) {
        (Printed::Below(limit), _) => value < limit,
        (Printed::Above(limit), _) => value > limit,
        (Printed::Number(number), Some(Tolerance::Percent(percent))) => {
            (value - number).abs() <= number.abs() * percent / 100.0
        }
        (Printed::Number(number), Some(Tolerance::Absolute(most))) => {
            (value - number).abs() <= most
        }
        (Printed::Number(_), Some(Tolerance::Range(low, high))) => (low..=high).contains(&value),
        // The parser refuses a number without a tolerance.
        (Printed::Number(number), None) => value == number,
    }
}

/// Whether a tolerance excludes its own number, as a range may.
pub fn leaves_out(tolerance: Option<Tolerance>, printed: Printed) -> bool {
    let is_number = |number| !is_near(number, printed, tolerance);
    matches!(printed, Printed::Number(number) if is_number(number))
}

/// Whether two printed numbers could be the same: a limit of one overlaps the other, or a number is
/// within the other's tolerance.
pub fn overlap(
    (one, near_one): (Printed, Option<Tolerance>),
    (other, near_other): (Printed, Option<Tolerance>),
) -> bool {
    let meets = |of: Printed, printed, tolerance| match of {
        Printed::Number(number) => is_near(number, printed, tolerance),
        _ => false,
    };
    match (one, other) {
        (Printed::Below(_), Printed::Below(_)) | (Printed::Above(_), Printed::Above(_)) => true,
        (Printed::Below(most), Printed::Above(least))
        | (Printed::Above(least), Printed::Below(most)) => least < most,
        _ => meets(one, other, near_other) || meets(other, one, near_one),
    }
}

/// Parses a number with or without its unit.
fn quantity(text: &str, unit: &str) -> Option<f64> {
    let text = text.trim();
    plain(text.strip_suffix(unit).unwrap_or(text))
}

fn plain(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

fn suffix(unit: &str) -> String {
    match unit {
        "" | PERCENT => unit.to_owned(),
        unit => format!(" {unit}"),
    }
}

/// Formats a value of a quantity.
pub fn told(value: f64, unit: &str) -> String {
    let digits = crate::human::digits(value);
    match unit {
        "" => digits,
        PERCENT => format!("{} %", fixed(value)),
        unit => format!("{digits} {unit}"),
    }
}

/// Formats a number as the paper prints it.
pub fn printed(printed: Printed, unit: &str) -> String {
    let with_unit = |number: f64| match unit {
        "" => rounded(number),
        unit => format!("{} {unit}", rounded(number)),
    };
    match printed {
        Printed::Number(number) => with_unit(number),
        Printed::Below(limit) => format!("< {}", with_unit(limit)),
        Printed::Above(limit) => format!("> {}", with_unit(limit)),
    }
}

/// Formats with one decimal; a value that rounds to zero has no sign.
fn fixed(value: f64) -> String {
    match value.abs() {
        ..0.05 => "0.0".to_owned(),
        LARGE.. => legible(value),
        _ => format!("{value:.1}"),
    }
}

/// Formats with one decimal and a sign.
pub fn signed(value: f64) -> String {
    match value.abs() {
        ..0.05 => "0.0".to_owned(),
        LARGE.. => legible(value),
        _ => format!("{value:+.1}"),
    }
}

/// Rounds to the few digits that papers print, without the noise of binary fractions.
fn rounded(number: f64) -> String {
    legible(if number.abs() < LARGE { (number * 1e6).round() / 1e6 } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_all_measure_are_short() {
        assert_eq!(printed(Printed::Below(1e308), "us"), "< 1e308 us");
        assert_eq!(
            (told(1e308, "us"), told(-1e308, PERCENT)),
            ("1e308 us".into(), "-1e308 %".into())
        );
        assert_eq!(
            (signed(1e308), Tolerance::Absolute(1e308).told("us")),
            ("1e308".into(), "1e308 us".into())
        );
    }

    #[test]
    fn printed_numbers_may_carry_their_unit() {
        assert_eq!(Printed::parse("72%", PERCENT), Ok(Printed::Number(72.0)));
        assert_eq!(Printed::parse("-4", PERCENT), Ok(Printed::Number(-4.0)));
        assert_eq!(Printed::parse("296 us", "us"), Ok(Printed::Number(296.0)));
        assert_eq!(Printed::parse("< 1%", PERCENT), Ok(Printed::Below(1.0)));
        assert_eq!(Printed::parse("> 1", ""), Ok(Printed::Above(1.0)));
        for bad in ["", "<", "296 ms", "many", "inf", "NaN"] {
            assert!(Printed::parse(bad, "us").is_err(), "{bad}");
        }
    }

    #[test]
    fn tolerances_say_of_what() {
        let percent = Tolerance::Percent(5.0);
        assert_eq!(Tolerance::parse("5%", "us"), Ok(percent));
        assert_eq!(Tolerance::parse("5 %", PERCENT), Ok(percent));
        assert_eq!(Tolerance::parse("3 points", PERCENT), Ok(Tolerance::Absolute(3.0)));
        assert_eq!(Tolerance::parse("2us", "us"), Ok(Tolerance::Absolute(2.0)));
        assert_eq!(Tolerance::parse("0.1", ""), Ok(Tolerance::Absolute(0.1)));
        assert_eq!(Tolerance::parse("3.6 to 3.85", ""), Ok(Tolerance::Range(3.6, 3.85)));
        for (bad, unit) in [
            ("5", PERCENT),
            ("5", "us"),
            ("-5%", "us"),
            ("100%", "us"),
            ("100000000%", PERCENT),
            ("3 points", "us"),
            ("4 to 3", ""),
            ("", ""),
            ("2 ms", "us"),
        ] {
            assert!(Tolerance::parse(bad, unit).is_err(), "{bad} {unit}");
        }
    }

    #[test]
    fn a_range_holds_its_number() {
        let range = Some(Tolerance::Range(1.0, 10.0));
        for (number, out) in [(0.5, true), (1.0, false), (10.0, false), (11.0, true)] {
            assert_eq!(leaves_out(range, Printed::Number(number)), out, "{number}");
        }
        assert!(!leaves_out(Some(Tolerance::Percent(1.0)), Printed::Number(0.0)));
        assert!(!leaves_out(None, Printed::Below(1.0)));
    }

    #[test]
    fn what_can_be_met_at_once_overlaps() {
        use Printed::{Above, Below, Number};
        let (near, far) = (Some(Tolerance::Absolute(1.0)), Some(Tolerance::Absolute(5.0)));
        for (one, other, is) in [
            ((Number(10.0), near), (Number(13.0), near), false),
            ((Number(10.0), near), (Number(13.0), far), true),
            ((Number(10.0), far), (Number(13.0), near), true),
            ((Number(10.0), near), (Above(9.0), None), true),
            ((Number(10.0), near), (Below(9.0), None), false),
            ((Below(10.0), None), (Below(9.0), None), true),
            ((Above(10.0), None), (Above(9.0), None), true),
            ((Above(10.0), None), (Below(10.0), None), false),
            ((Above(9.0), None), (Below(10.0), None), true),
        ] {
            assert_eq!(overlap(one, other), is, "{one:?} {other:?}");
            assert_eq!(overlap(other, one), is, "{other:?} {one:?}");
        }
    }

    #[test]
    fn near_is_within_the_tolerance_and_its_ends() {
        let near = |value, tolerance| is_near(value, Printed::Number(-200.0), Some(tolerance));
        assert!(near(-210.0, Tolerance::Percent(5.0)) && !near(-210.1, Tolerance::Percent(5.0)));
        assert!(near(-198.0, Tolerance::Absolute(2.0)) && !near(-197.9, Tolerance::Absolute(2.0)));
        assert!(near(3.0, Tolerance::Range(3.0, 4.0)) && !near(2.9, Tolerance::Range(3.0, 4.0)));
        assert!(
            is_near(0.9, Printed::Below(1.0), None) && !is_near(1.0, Printed::Below(1.0), None)
        );
        assert!(
            is_near(1.1, Printed::Above(1.0), None) && !is_near(1.0, Printed::Above(1.0), None)
        );
    }
}
