//! Formats quantities for people: three or four digits and a unit.

use ftlab::options::text::legible;
use ftlab::options::value::Value;
use ftlab::units::Bytes;

/// Parses a size with its unit, as in configurations, to bytes. Zero is an error.
pub fn parse_size(text: &str) -> Result<u64, String> {
    match Bytes::parse(text) {
        Ok(Bytes(0)) => {
            Err("a size must not be zero: write a number and a unit, such as 512GiB".to_owned())
        }
        Ok(Bytes(bytes)) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    }
}

/// Formats a latency: `840 ns`, `61.2 us`, `1.53 ms`, `2.40 s`.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ..1e3 => return format!("{ns:.0} ns"),
        ..999.5e3 => (ns / 1e3, "us"),
        ..999.5e6 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// Formats a span: `1.53 s`, `3 min 20 s`, `2 d 4 h`.
pub fn span(ns: u64) -> String {
    let s = ns / 1_000_000_000;
    match s {
        0..120 => time(ns as f64),
        120..7_200 => format!("{} min {} s", s / 60, s % 60),
        7_200..172_800 => format!("{} h {} min", s / 3600, s % 3600 / 60),
        _ => format!("{} d {} h", s / 86_400, s % 86_400 / 3600),
    }
}

/// Formats a number of bytes in decimal units: `4.10 MB`.
pub fn bytes(bytes: u64) -> String {
    let value = bytes as f64;
    let (value, unit) = match value {
        ..1e3 => return format!("{bytes} B"),
        ..999.5e3 => (value / 1e3, "kB"),
        ..999.5e6 => (value / 1e6, "MB"),
        ..999.5e9 => (value / 1e9, "GB"),
        _ => (value / 1e12, "TB"),
    };
    format!("{} {unit}", digits(value))
}

/// Formats to three significant digits, or to all digits before the point up to 1e15.
pub fn digits(value: f64) -> String {
    const LARGE: f64 = 1e15;
    if value.abs() >= LARGE {
        return legible(value);
    }
    let decimals = match value.abs() {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// Formats an energy: `840 nJ`, `61.2 uJ`, `1.53 mJ`, `2.40 J`, `1,300 J`.
pub fn energy(joules: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1.0, "J"), (1e-3, "mJ"), (1e-6, "uJ")];
    let unit = UNITS.iter().find(|(size, _)| joules >= size * 0.9995);
    match unit.copied().unwrap_or((1e-9, "nJ")) {
        (_, "J") if joules >= 999.5 => format!("{} J", count(joules.round() as u64)),
        (size, name) => format!("{} {name}", digits(joules / size)),
    }
}

/// Formats a whole number with thousands separators: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number of things by the name of one: `1 gap`, `1,234 gaps`.
pub fn counted(number: u64, one: &str) -> String {
    format!("{} {one}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Formats a rate, without decimals if it is large: `12,345`, `8.25`.
pub fn rate(value: f64) -> String {
    if value < 999.5 { digits(value) } else { count(value.round() as u64) }
}

/// Formats a share in per cent.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_well() {
        assert_eq!(
            [time(840.0), time(61_234.0), time(999_600.0)],
            ["840 ns", "61.2 us", "1.00 ms"]
        );
        assert_eq!([span(1_530_000_000), span(200_000_000_000)], ["1.53 s", "3 min 20 s"]);
        assert_eq!([bytes(999), bytes(4_100_000)], ["999 B", "4.10 MB"]);
        assert_eq!([count(0), count(999), count(1_234_567)], ["0", "999", "1,234,567"]);
        assert_eq!([counted(1, "gap"), counted(1_000, "gap")], ["1 gap", "1,000 gaps"]);
        assert_eq!([rate(8.25), rate(12_345.4)], ["8.25", "12,345"]);
        assert_eq!(percent(0.1234), "12.3 %");
    }

    #[test]
    fn sizes_need_a_unit() {
        assert_eq!(parse_size("2TB"), Ok(2_000_000_000_000));
        assert_eq!(parse_size("64 MiB"), Ok(64 << 20));
        for bad in ["", "12", "x GiB", "-1GiB", "0GiB", "99999999999TiB"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
