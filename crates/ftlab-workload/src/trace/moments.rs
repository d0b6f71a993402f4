//! Dates with times of day in a user's own table, as programs log them: `2024-05-01 12:30:00.125` or `01.05.2024 12:30:00,125`, with a
//! T or a blank, and with a zone or without one, which is UTC.

use chrono::{DateTime, NaiveDateTime};

/// Dates that are read. Between points the day comes before the month; others, such as 01/02/2024, may mean two days.
const PATTERNS: [&str; 5] = [
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y/%m/%d %H:%M:%S%.f",
    "%Y%m%dT%H%M%S%.f",
    "%d.%m.%Y %H:%M:%S%.f",
];
/// The same with a zone behind them.
const ZONED: [&str; 5] = [
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M:%S%.f%#z",
    "%Y/%m/%d %H:%M:%S%.f%#z",
    "%Y%m%dT%H%M%S%.f%#z",
    "%d.%m.%Y %H:%M:%S%.f%#z",
];

/// The longest date with a comma, in bytes; those of programs have half as many.
const LONGEST: usize = 64;

/// What a date must look like, in words.
pub(crate) const EXPECTED: &str =
    "a date such as 2024-05-01T12:30:00.125Z or 01.05.2024 12:30:00,125, from 1970 to 2554";

/// A date with its time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DatedTime {
    /// The nanoseconds since 1970.
    pub ns: u64,
    /// Whether it says its zone.
    pub has_zone: bool,
}

/// Reads a date.
pub(crate) fn moment(field: &[u8]) -> Option<DatedTime> {
    let text = std::str::from_utf8(field).ok()?.trim();
    let mut copy = [0; LONGEST];
    let text = match text.find(',') {
        Some(comma) => with_point(text, comma, &mut copy)?,
        None => text,
    };
    let local = text.strip_suffix(['Z', 'z']).unwrap_or(text).trim_end();
    let in_utc = |pattern| NaiveDateTime::parse_from_str(local, pattern).ok();
    let plain = PATTERNS.into_iter().find_map(in_utc);
    let has_zone = plain.is_none() || local.len() < text.len();
    let date = plain.or_else(|| {
        let zoned = |pattern| DateTime::parse_from_str(text, pattern).ok();
        ZONED.into_iter().find_map(zoned).map(|moment| moment.naive_utc())
    })?;
    let (seconds, parts) = (date.and_utc().timestamp(), date.and_utc().timestamp_subsec_nanos());
    let ns = u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?.checked_add(parts.into())?;
    Some(DatedTime { ns, has_zone })
}

/// A date with a point in place of its comma, which stands before parts of a second; none if it stands elsewhere.
fn with_point<'a>(text: &str, comma: usize, copy: &'a mut [u8; LONGEST]) -> Option<&'a str> {
    let begins_time = |mark: char| matches!(mark, ':' | 'T');
    let copy = copy.get_mut(..text.len()).filter(|_| text[..comma].contains(begins_time))?;
    copy.copy_from_slice(text.as_bytes());
    copy[comma] = b'.';
    std::str::from_utf8(copy).ok()
}

/// The nanoseconds since 1970.
pub(crate) fn moment_ns(field: &[u8]) -> Option<u64> {
    moment(field).map(|moment| moment.ns)
}

#[cfg(test)]
mod tests {
    use super::{moment, moment_ns};

    #[test]
    fn dates_as_programs_write_them() {
        let at = |text: &str| moment_ns(text.as_bytes());
        const NOON: u64 = 1_714_566_600_000_000_000;
        for same in [
            "2024-05-01T12:30:00Z",
            "2024-05-01 12:30:00",
            "2024-05-01T12:30:00.000",
            "2024-05-01 14:30:00+02:00",
            "2024-05-01T07:30:00-0500",
            "2024/05/01 12:30:00",
            "20240501T123000Z",
            "01.05.2024 12:30:00",
            "01.05.2024 12:30:00,000",
            "1.5.2024 14:30:00+02:00",
        ] {
            assert_eq!(at(same), Some(NOON), "{same}");
        }
        assert_eq!(at("2024-05-01 12:30:00.123456789"), Some(NOON + 123_456_789));
        // As in ISO 8601 and in the logs of Python.
        assert_eq!(at("2024-05-01 12:30:00,125"), Some(NOON + 125_000_000));
        for (text, has_zone) in [
            ("2024-05-01 12:30:00", false),
            ("2024-05-01 12:30:00Z", true),
            ("2024-05-01 12:30:00 z", true),
            ("2024-05-01 14:30:00+02:00", true),
        ] {
            assert_eq!(moment(text.as_bytes()).map(|moment| moment.has_zone), Some(has_zone));
        }
        for wrong in [
            "",
            "now",
            "12:30:00",
            "2024-05-01",
            "01/05/2024 12:30:00",
            "1969-12-31T23:59:59Z",
            "05.13.2024 12:30:00",
            "2024-05-01,12:30:00",
            "2024-05-01 12:30:00,1,2",
            "01,05.2024 12:30:00",
            "2024-05-01 12:30:00,000000000000000000000000000000000000000000000000000000000000",
        ] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
    }
}
