//! Parses values of fio's options: numbers with suffixes, times, ranges, lists for reads, writes
//! and trims. Errors consist of a message and a remedy.

use ftlab::options::text::clip;
use ftlab::units::{Nanos, SECTOR_BYTES};

/// A message and a remedy.
pub(super) type Bad = (String, String);

/// Larger sizes are mistakes, and sums of a few sizes below this cannot overflow.
const MAX_SIZE: u64 = 1 << 60;
/// A hundred years.
const MAX_TIME_NS: u64 = 100 * 365 * 86_400 * 1_000_000_000;
/// The largest request.
const MAX_REQUEST: u64 = 1 << 30;
/// More zones are a mistake, and their sectors may not fit.
const MOST_ZONES: u64 = 1 << 32;
/// Millionths in one.
pub(super) const MILLION: u64 = 1_000_000;

pub(super) fn bad<T>(message: impl Into<String>, remedy: impl Into<String>) -> Result<T, Bad> {
    Err((message.into(), remedy.into()))
}

/// The meaning of number suffixes: `kb_base`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumberBase {
    /// Whether `k` is 1000 and `ki` 1024; otherwise the reverse, fio's default.
    pub decimal: bool,
}

/// Parses a number with a suffix: bytes, or a bare count such as `4k` requests.
pub(super) fn number(text: &str, base: NumberBase) -> Result<u64, Bad> {
    let what = || {
        (
            format!("`{}` is not a number", clip(text)),
            "write a number such as 4096, 4k or 1g".to_owned(),
        )
    };
    let text_lower = text.trim().to_ascii_lowercase();
    if text_lower.starts_with('(') {
        return bad("arithmetic in parentheses is not supported", "write the number");
    }
    let (digits, radix) = match text_lower.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (text_lower.as_str(), 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    let value = u64::from_str_radix(digits, radix).map_err(|_| what())?;
    if suffix.starts_with(char::is_whitespace) {
        return bad(
            format!("`{}` has a space: fio 3.33 reads it as {value}", clip(text)),
            format!("write {value}{}", suffix.trim()),
        );
    }
    let suffix = suffix.strip_suffix('b').unwrap_or(suffix);
    let (prefix, other) = match suffix.strip_suffix('i') {
        Some(prefix) if !prefix.is_empty() => (prefix, true),
        Some(_) => return Err(what()),
        None => (suffix, false),
    };
    let exponent = match prefix {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return Err(what()),
    };
    let unit: u64 = if base.decimal != other { 1000 } else { 1024 };
    let value = value.checked_mul(unit.pow(exponent)).filter(|value| *value <= MAX_SIZE);
    value.ok_or_else(|| {
        (format!("{} is too large", clip(text)), "write a smaller number".to_owned())
    })
}

/// Parses a size that is a whole number of sectors.
pub(super) fn sectors(text: &str, base: NumberBase) -> Result<u64, Bad> {
    let bytes = number(text, base)?;
    if !bytes.is_multiple_of(SECTOR_BYTES) {
        return bad(
            format!("{bytes} bytes are not a whole number of sectors"),
            format!("use a multiple of {SECTOR_BYTES}: a device only accepts whole sectors"),
        );
    }
    Ok(bytes / SECTOR_BYTES)
}

/// Parses the size of a request, in sectors.
pub(super) fn request(text: &str, base: NumberBase) -> Result<u32, Bad> {
    let size = sectors(text, base)?;
    if size == 0 || size * SECTOR_BYTES > MAX_REQUEST {
        return bad("a request has from one sector to 1 GiB", "use a size such as 4k");
    }
    Ok(u32::try_from(size).expect("checked against the limit"))
}

/// A size, or a share in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Sectors.
    Sectors(u64),
    /// Millionths.
    Share(u64),
    /// Zones: fio's suffix `z`, for `zonemode=zbd`.
    Zones(u64),
}

impl Amount {
    /// Returns the amount with zones of `size` sectors as sectors.
    #[must_use]
    pub fn in_zones(self, size: u64) -> Amount {
        match self {
            Amount::Zones(zones) => Amount::Sectors(zones.saturating_mul(size)),
            other => other,
        }
    }

    /// Returns the amount in sectors, for a whole of `whole` sectors. Zones are not known here, and count nothing.
    #[must_use]
    pub fn of(self, whole: u64) -> u64 {
        match self {
            Amount::Sectors(sectors) => sectors,
            Amount::Zones(_) => 0,
            Amount::Share(ppm) => {
                let part = u128::from(whole) * u128::from(ppm) / u128::from(MILLION);
                u64::try_from(part).expect("at most ten thousand times the whole, which is bounded")
            }
        }
    }
}

/// Parses `Nz`, a number of zones; `None` if the text is something else.
pub(super) fn zones(text: &str) -> Result<Option<Amount>, Bad> {
    let Some(digits) = text.trim().strip_suffix(['z', 'Z']) else { return Ok(None) };
    match digits.parse() {
        Ok(zones) if zones <= MOST_ZONES => Ok(Some(Amount::Zones(zones))),
        _ => bad(format!("`{}` is not a number of zones", clip(text)), "write one such as 2z"),
    }
}

/// Parses a size or `N%`, up to `most` per cent.
pub(super) fn amount(text: &str, base: NumberBase, most: u64) -> Result<Amount, Bad> {
    if let Some(zones) = zones(text)? {
        return Ok(zones);
    }
    match text.strip_suffix('%') {
        Some(percent) => per_cent(percent, most).map(Amount::Share),
        // A rest of less than a sector cannot hold a request anyway.
        None => number(text, base).map(|bytes| Amount::Sectors(bytes / SECTOR_BYTES)),
    }
}

/// Parses per cent without the sign, to millionths.
pub(super) fn per_cent(text: &str, most: u64) -> Result<u64, Bad> {
    let value = text.trim().parse::<f64>().ok().filter(|value| (0.0..=most as f64).contains(value));
    let Some(value) = value else {
        return bad(
            format!("`{}` is not a share in per cent", clip(text)),
            format!("write a number from 0 to {most}"),
        );
    };
    Ok((value * 1e4).round() as u64)
}

/// Parses a time; `unit` is the default unit.
pub(super) fn time(text: &str, unit: Nanos) -> Result<Nanos, Bad> {
    let lower = text.trim().to_ascii_lowercase();
    let end = lower.find(|c: char| !c.is_ascii_digit()).unwrap_or(lower.len());
    let (digits, suffix) = lower.split_at(end);
    if !digits.is_empty() && suffix.starts_with(char::is_whitespace) {
        return bad(
            format!("`{}` has a space: fio 3.33 reads it as another time", clip(text)),
            format!("write {digits}{}", clip(suffix.trim())),
        );
    }
    let unit = match suffix {
        "" => unit.0,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => 0,
    };
    let value = digits.parse::<u64>().ok().filter(|_| unit > 0);
    let value = value.and_then(|value| value.checked_mul(unit)).filter(|time| *time <= MAX_TIME_NS);
    value.map(Nanos).ok_or_else(|| {
        let message = format!("`{}` is not a time", clip(text));
        (message, "write a number with us, ms, s, m, h or d, up to a hundred years".to_owned())
    })
}

/// Parses a switch: 0 or 1.
pub(super) fn switch(text: &str) -> Result<bool, Bad> {
    match text {
        "1" => Ok(true),
        "0" => Ok(false),
        _ => bad(format!("`{}` is neither 0 nor 1", clip(text)), "write 0 or 1"),
    }
}

/// Parses a count within limits.
pub(super) fn count(text: &str, base: NumberBase, least: u64, most: u64) -> Result<u64, Bad> {
    let value = number(text, base)?;
    if !(least..=most).contains(&value) {
        return bad(format!("{value} is outside {least} to {most}"), "choose a number within");
    }
    Ok(value)
}

/// Parses values for reads, writes and trims, such as `8k,32k`: an empty part keeps the previous
/// value, and a missing part equals the one before it.
pub(super) fn each<T: Copy>(
    text: &str,
    had: [T; 3],
    mut parse: impl FnMut(&str) -> Result<T, Bad>,
) -> Result<[T; 3], Bad> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 3 {
        return bad("more than three parts", "give one for reads, writes and trims");
    }
    let mut values = had;
    for (at, slot) in values.iter_mut().enumerate() {
        match parts.get(at) {
            Some(&"") => {}
            Some(part) => *slot = parse(part)?,
            None => match parts[parts.len() - 1] {
                "" => {}
                last => *slot = parse(last)?,
            },
        }
    }
    Ok(values)
}

/// Splits such a list without parsing its parts.
pub(super) fn each_text(text: &str) -> Result<[Option<&str>; 3], Bad> {
    each_index(text).map(|parts| parts.map(|part| part.filter(|text| !text.is_empty())))
}

fn each_index(text: &str) -> Result<[Option<&str>; 3], Bad> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 3 {
        return bad("more than three parts", "give one for reads, writes and trims");
    }
    Ok([0, 1, 2].map(|at| parts.get(at).or(parts.last()).copied()))
}

/// Parses two numbers separated by `-` or `:`; as in fio, they are swapped if the first is larger.
pub(super) fn range<T: Copy + PartialOrd>(
    text: &str,
    mut parse: impl FnMut(&str) -> Result<T, Bad>,
) -> Result<(T, T), Bad> {
    let Some((low, high)) = text.split_once(['-', ':']) else {
        let one = parse(text)?;
        return Ok((one, one));
    };
    let (low, high) = (parse(low.trim())?, parse(high.trim())?);
    Ok(if low > high { (high, low) } else { (low, high) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const K: NumberBase = NumberBase { decimal: false };

    #[test]
    fn numbers_as_fio_reads_them() {
        for (text, value) in [
            ("4096", 4096),
            ("4k", 4096),
            ("4K", 4096),
            ("4kB", 4096),
            ("4ki", 4000),
            ("1m", 1 << 20),
            ("0x1000", 4096),
            ("0x10k", 16 << 10),
            ("2t", 2 << 40),
        ] {
            assert_eq!(number(text, K), Ok(value), "{text}");
        }
        assert_eq!(number("4k", NumberBase { decimal: true }), Ok(4000));
        assert_eq!(number("4KiB", NumberBase { decimal: true }), Ok(4096));
        assert!(number("4 g", K).is_err_and(|(_, remedy)| remedy == "write 4g"));
        for text in ["", "k", "4q", "-1", "1.5k", "4kk", "i", "99999999999p", "0x", "(4*1024)"] {
            assert!(number(text, K).is_err(), "{text}");
        }
    }

    #[test]
    fn parts_inherit_and_repeat() {
        let parse = |text: &str| number(text, K);
        let had = [1, 2, 3];
        for (text, values) in [
            ("8", [8, 8, 8]),
            ("8,9", [8, 9, 9]),
            ("8,9,", [8, 9, 3]),
            (",9", [1, 9, 9]),
            (",9,", [1, 9, 3]),
            ("8,", [8, 2, 3]),
        ] {
            assert_eq!(each(text, had, parse), Ok(values), "{text}");
        }
    }

    #[test]
    fn times_have_a_unit_of_their_option() {
        assert_eq!(time("10", Nanos(1_000_000_000)), Ok(Nanos(10_000_000_000)));
        assert_eq!(time("10", Nanos(1_000)), Ok(Nanos(10_000)));
        assert_eq!(time("5MS", Nanos(1_000)), Ok(Nanos(5_000_000)));
        assert_eq!(time("2m", Nanos(1)), Ok(Nanos(120_000_000_000)));
        assert!(time("1 m", Nanos(1)).is_err_and(|(_, remedy)| remedy == "write 1m"));
        assert!(time("10\tms", Nanos(1)).is_err_and(|(_, remedy)| remedy == "write 10ms"));
        assert!(time("1y", Nanos(1)).is_err() && time("", Nanos(1)).is_err());
    }
}
