//! What the names of columns tell: the part of a request that a column holds, and the unit of its numbers.

use ftlab::host::Op;

use super::columns::RequestPart;
use super::units::{SpaceUnit, TimeUnit};

/// Names of each part, the most telling first: single words, or several with blanks between them.
pub(super) const HINTS: [(RequestPart, &[&str]); 5] = [
    (
        RequestPart::Time,
        &[
            "init time",
            "start time",
            "arrival time",
            "issue time",
            "arrival",
            "timestamp",
            "datetime",
            "time",
            "ts",
            "t",
            "clock",
            "date",
            "when",
            "at",
        ],
    ),
    (
        RequestPart::Op,
        &[
            "io type",
            "iotype",
            "op type",
            "optype",
            "opcode",
            "operation",
            "op",
            "is write",
            "iswrite",
            "is read",
            "isread",
            "rw",
            "rwbs",
            "kind",
            "type",
            "cmd",
            "command",
            "request",
            "dir",
            "direction",
            "action",
            "what",
            "flag",
            "write",
            "read",
        ],
    ),
    (
        RequestPart::Offset,
        &[
            "offset",
            "off",
            "lba",
            "slba",
            "lbn",
            "address",
            "addr",
            "lpn",
            "lpa",
            "sector",
            "start sector",
            "start block",
            "start",
            "block",
            "page",
            "position",
            "pos",
        ],
    ),
    (
        RequestPart::Size,
        &[
            "size", "length", "len", "bytes", "sectors", "nsectors", "nlb", "count", "blocks",
            "nblocks", "pages", "npages", "nr", "bs",
        ],
    ),
    (
        RequestPart::Stream,
        &[
            "disk",
            "volume",
            "vol",
            "device",
            "dev",
            "stream",
            "lun",
            "disk number",
            "device id",
            "volume id",
            "namespace",
            "nsid",
            "asu",
            "disknumber",
            "diskid",
            "deviceid",
            "volumeid",
            "lunid",
        ],
    ),
];

/// Words for a unit, behind or before the name of what it counts.
pub(super) const TIME_UNITS: [(TimeUnit, &[&str]); 5] = [
    (TimeUnit::Ns, &["ns", "nsec", "nsecs", "nanos", "nanoseconds"]),
    (TimeUnit::Us, &["us", "usec", "usecs", "µs", "micros", "microseconds"]),
    (TimeUnit::Ms, &["ms", "msec", "msecs", "millis", "milliseconds"]),
    (TimeUnit::S, &["s", "sec", "secs", "seconds"]),
    (TimeUnit::Filetime, &["filetime"]),
];
const SECTOR: [&str; 10] =
    ["sector", "sectors", "nsectors", "lba", "slba", "lbn", "nlb", "block", "blocks", "nblocks"];
/// Units of 1024 and of its powers. A capital behind a small letter begins a word, as in kB.
const KIBIBYTE: [&str; 12] = [
    "kib",
    "kb",
    "ki b",
    "k b",
    "kbyte",
    "kbytes",
    "k byte",
    "k bytes",
    "kilobyte",
    "kilobytes",
    "kibibyte",
    "kibibytes",
];
const MEBIBYTE: [&str; 12] = [
    "mib",
    "mb",
    "mi b",
    "m b",
    "mbyte",
    "mbytes",
    "m byte",
    "m bytes",
    "megabyte",
    "megabytes",
    "mebibyte",
    "mebibytes",
];
const GIBIBYTE: [&str; 12] = [
    "gib",
    "gb",
    "gi b",
    "g b",
    "gbyte",
    "gbytes",
    "g byte",
    "g bytes",
    "gigabyte",
    "gigabytes",
    "gibibyte",
    "gibibytes",
];
const POWERS: [(u64, &[&str]); 3] =
    [(1 << 10, &KIBIBYTE), (1 << 20, &MEBIBYTE), (1 << 30, &GIBIBYTE)];
const PAGE: [&str; 7] = ["4k", "4kib", "page", "pages", "npages", "lpn", "lpa"];
const BYTE: [&str; 3] = ["byte", "bytes", "b"];

/// Words for what has a size and is no request.
const OTHER_SIZES: [&str; 9] =
    ["queue", "device", "dev", "disk", "drive", "volume", "cache", "buffer", "total"];
/// Words for times that are not those of arrivals.
const OTHER_TIMES: [&str; 17] = [
    "response",
    "resp",
    "service",
    "svc",
    "latency",
    "wait",
    "elapsed",
    "duration",
    "taken",
    "complete",
    "completed",
    "completion",
    "end",
    "ended",
    "finish",
    "finished",
    "idle",
];

/// Words for places that are not those of requests, or not their beginnings.
const OTHER_PLACES: [&str; 6] = ["prev", "previous", "last", "next", "end", "file"];

/// The words of a name, without capitals: `DiskNumber` is disk number, `time_us` time us.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut apart, mut was_small) = (true, false);
    for mark in name.chars() {
        if !mark.is_alphanumeric() {
            apart = true;
            continue;
        }
        // A capital behind a small letter begins a word.
        apart |= mark.is_uppercase() && was_small;
        was_small = mark.is_lowercase();
        let small = mark.to_lowercase();
        match words.last_mut().filter(|_| !apart) {
            Some(word) => word.extend(small),
            None => words.push(small.collect()),
        }
        apart = false;
    }
    words
}

/// Whether a name is a hint, or has it among its words.
pub(super) fn has(words: &[String], hint: &str) -> bool {
    place_of(words, hint).is_some()
}

/// The place of a hint's last word among those of a name.
fn place_of(words: &[String], hint: &str) -> Option<usize> {
    let hint: Vec<&str> = hint.split(' ').collect();
    let found = words.windows(hint.len()).rposition(|part| part == hint);
    found.map(|first| first + hint.len() - 1)
}

/// The part of a request that a column of this name holds.
pub(super) fn part_of(name: &str) -> Option<RequestPart> {
    let words = words(name);
    hinted(&words).filter(|part| !is_of_others(*part, &words))
}

/// Whether a name tells that a column is no part of a request, such as `device_size` or `response_time`.
pub(super) fn is_no_part(name: &str) -> bool {
    let words = words(name);
    let is_place = words.len() == 1 && OTHER_PLACES.contains(&words[0].as_str());
    is_place || hinted(&words).is_some_and(|part| is_of_others(part, &words))
}

/// Whether the words of a part say that it is that of something else than a request.
fn is_of_others(part: RequestPart, words: &[String]) -> bool {
    let others = match part {
        RequestPart::Size => &OTHER_SIZES[..],
        RequestPart::Time => &OTHER_TIMES[..],
        RequestPart::Offset => &OTHER_PLACES[..],
        _ => &[],
    };
    words.iter().any(|word| others.contains(&word.as_str()))
}

/// The part for which a name has the most telling word.
fn hinted(words: &[String]) -> Option<RequestPart> {
    let all =
        HINTS.into_iter().flat_map(|(part, hints)| hints.iter().map(move |hint| (part, hint)));
    // The last word tells most: a `request_size` is a size. But what may also be a unit tells least: an `offset_bytes` is none.
    let weight = |hint: &str| {
        let is_unit = SECTOR.contains(&hint) || BYTE.contains(&hint) || PAGE.contains(&hint);
        place_of(words, hint).map(|last| (!is_unit, last, hint.len()))
    };
    // Many names have a read in them, such as `read_latency`.
    let is_other = |hint: &str| hint == "read" && words.len() > 1;
    let all = all.filter(|(_, hint)| !is_other(hint));
    let weighed = all.filter_map(|(part, hint)| Some((weight(hint)?, part)));
    weighed.max_by_key(|(weight, _)| *weight).map(|(_, part)| part)
}

/// What a yes means in a column of operations that is called so, as in `is_write`. A no is the other.
pub(in crate::trace) fn yes_of(name: &str) -> Option<Op> {
    let words = words(name);
    let is = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    match (is(&["read", "isread"]), is(&["write", "iswrite"]), is(&["no", "not", "non"])) {
        (true, false, false) => Some(Op::Read),
        (false, true, false) => Some(Op::Write),
        _ => None,
    }
}

/// The unit that a column's name tells, in nanoseconds or bytes.
pub(in crate::trace) fn unit_of(part: RequestPart, name: &str) -> Option<u64> {
    let words = words(name);
    let is_among = |known: &[&str]| known.iter().any(|known| has(&words, known));
    match part {
        RequestPart::Time => {
            let found = TIME_UNITS.into_iter().find(|(_, known)| is_among(known));
            found.map(|(unit, _)| unit.ns())
        }
        RequestPart::Offset | RequestPart::Size => {
            let power = POWERS.into_iter().find(|(_, known)| is_among(known));
            let named = [
                (SpaceUnit::Page4k, &PAGE[..]),
                (SpaceUnit::Byte, &BYTE[..]),
                (SpaceUnit::Sector, &SECTOR[..]),
            ];
            let named = || named.into_iter().find(|(_, known)| is_among(known));
            power.map(|(unit, _)| unit).or_else(|| named().map(|(unit, _)| unit.bytes()))
        }
        RequestPart::Op | RequestPart::Stream => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_parts() {
        for (name, part) in [
            ("time_us", RequestPart::Time),
            ("Timestamp", RequestPart::Time),
            ("Init Time (s)", RequestPart::Time),
            ("IOType", RequestPart::Op),
            ("is_write", RequestPart::Op),
            ("kind", RequestPart::Op),
            ("Offset", RequestPart::Offset),
            ("start_lba", RequestPart::Offset),
            ("Size (B)", RequestPart::Size),
            ("nsectors", RequestPart::Size),
            ("DiskNumber", RequestPart::Stream),
            ("request_size", RequestPart::Size),
            ("write_size", RequestPart::Size),
            ("sector_count", RequestPart::Size),
            ("block_size", RequestPart::Size),
            ("offset_bytes", RequestPart::Offset),
            ("start_sector", RequestPart::Offset),
            ("sector", RequestPart::Offset),
            ("bytes", RequestPart::Size),
            ("is_read", RequestPart::Op),
            ("Read", RequestPart::Op),
            ("lpn", RequestPart::Offset),
            ("page", RequestPart::Offset),
            ("page_count", RequestPart::Size),
            ("io_size", RequestPart::Size),
            ("ASU", RequestPart::Stream),
            ("disknumber", RequestPart::Stream),
        ] {
            assert_eq!(part_of(name), Some(part), "{name}");
        }
    }

    #[test]
    fn names_of_other_things_are_no_parts() {
        for name in [
            "latency_us",
            "offset_in_file",
            "prev_sector",
            "last_lba",
            "read_latency",
            "qd",
            "status",
            "hosts",
            "pid",
            "items",
            "queue_size",
            "device_size",
            "TotalBytes",
            "response_time",
            "Complete Time (s)",
            "completed_at",
            "finished_ts",
            "ended at",
            "time_taken",
            "resp_time",
            "svc_t",
        ] {
            assert_eq!(part_of(name), None, "{name}");
        }
    }

    #[test]
    fn names_tell_what_a_yes_means() {
        for (name, yes) in [
            ("is_write", Some(Op::Write)),
            ("isRead", Some(Op::Read)),
            ("read_flag", Some(Op::Read)),
            ("read_write", None),
            ("not_read", None),
            ("rw", None),
            ("kind", None),
        ] {
            assert_eq!(yes_of(name), yes, "{name}");
        }
    }

    #[test]
    fn names_tell_units() {
        let time = |name| unit_of(RequestPart::Time, name);
        assert_eq!(time("time_us"), Some(1_000));
        assert_eq!(time("ts(ms)"), Some(1_000_000));
        assert_eq!(time("timestamp"), None);
        assert_eq!(time("status"), None);
        assert_eq!(unit_of(RequestPart::Offset, "lba"), Some(512));
        assert_eq!(unit_of(RequestPart::Size, "Size (B)"), Some(1));
        assert_eq!(unit_of(RequestPart::Size, "length"), None);
        assert_eq!(unit_of(RequestPart::Size, "Length (KiB)"), Some(1024));
        assert_eq!(unit_of(RequestPart::Offset, "lba_4k"), Some(4096));
        assert_eq!(unit_of(RequestPart::Offset, "lpn"), Some(4096));
        assert_eq!(unit_of(RequestPart::Size, "size_mb"), Some(1 << 20));
        assert_eq!(unit_of(RequestPart::Offset, "OffsetKB"), Some(1024));
        for name in ["Size (kB)", "size_kB", "kbyte", "kBytes", "kilobyte"] {
            assert_eq!(unit_of(RequestPart::Size, name), Some(1024), "{name}");
        }
        assert_eq!(unit_of(RequestPart::Size, "Size (mB)"), Some(1 << 20));
        assert_eq!(unit_of(RequestPart::Offset, "gigabyte"), Some(1 << 30));
    }
}
