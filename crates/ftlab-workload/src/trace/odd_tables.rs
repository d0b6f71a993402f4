//! What may be odd about a table of one's own, and what to do about it: lines of different lengths, a time in two columns, a size of
//! blocks beside the number of blocks, several events of one request.

use ftlab::options::text::clip;
use ftlab::units::SECTOR_BYTES;

use super::columns::RequestPart;
use super::likely::FoundColumns;
use super::moments::moment_ns;
use super::names_of_columns::{has, part_of, words};
use super::numbers::whole_number;
use super::table::{Splitter, first_lines, separator_in_words};

/// What is wrong with a table whose lines have different numbers of fields.
pub(super) fn ragged(sample: &[u8]) -> Option<String> {
    let counts = |separator: u8| -> Option<(usize, usize)> {
        let mut splitter = Splitter::new(separator);
        let counts: Vec<usize> = first_lines(sample).map(|line| splitter.split(line)).collect();
        Some((*counts.iter().min()?, *counts.iter().max()?))
    };
    let tables = RAGGED.into_iter().filter_map(|separator| Some((separator, counts(separator)?)));
    let (separator, (fewest, most)) = tables.max_by_key(|(_, (fewest, _))| *fewest)?;
    (fewest >= FEWEST).then(|| {
        format!(
            "; split at {}, its first lines have {fewest} to {most} fields, and those of a table all have as many",
            separator_in_words(separator)
        )
    })
}

/// Separators that give a table away even if its lines differ.
const RAGGED: [u8; 3] = [b',', b';', b'\t'];
/// The least number of fields that tells a table.
const FEWEST: usize = 3;

/// A date and a time of day in two columns. Neither is a time, so they must be joined first.
pub(super) struct DateInTwo {
    pub date: usize,
    pub time: usize,
    /// What stands between them in a date that can be read.
    between: char,
}

impl DateInTwo {
    /// Finds them.
    pub fn of(data: &[Vec<String>]) -> Option<DateInTwo> {
        let width = data.iter().map(Vec::len).min().unwrap_or(0);
        let are_dates = |whole: &dyn Fn(&[String]) -> String| {
            data.iter().all(|row| moment_ns(whole(row).as_bytes()).is_some())
        };
        let is_time = |time: &usize| are_dates(&|row| format!("2000-01-01T{}", row[*time]));
        let time = (0..width).find(is_time)?;
        let pair = |date: usize| ['T', ' '].map(|between| DateInTwo { date, time, between });
        let mut pairs = (0..width).filter(|date| *date != time).flat_map(pair);
        pairs.find(|pair| are_dates(&|row| pair.join(row)))
    }

    pub fn join(&self, row: &[String]) -> String {
        format!("{}{}{}", row[self.date], self.between, row[self.time])
    }

    /// Where a column is once they stand in the first of their two.
    pub fn place(&self, index: usize) -> usize {
        match index == self.time {
            true => self.date.min(self.time),
            false => index - usize::from(index > self.date.max(self.time)),
        }
    }

    pub fn note(&self, row: &[String]) -> String {
        format!(
            "the date and the time of day stand in two columns, {} and {}: join them to column {} first, in all lines, such as {}",
            self.date + 1,
            self.time + 1,
            self.place(self.time) + 1,
            self.join(row)
        )
    }
}

/// A column that has the size of the blocks in which others count, the same in all lines.
pub(super) struct BlockSize {
    pub index: usize,
    bytes: u64,
}

/// Whether the name of a column says that it counts blocks.
pub(super) fn counts_blocks(name: &str) -> bool {
    let words = words(name);
    ["block", "blocks", "nblocks", "lba", "slba", "lbn", "nlb"]
        .into_iter()
        .any(|hint| has(&words, hint))
}

impl BlockSize {
    /// Finds it, beside another column of sizes.
    pub fn of(first: &[String], data: &[Vec<String>]) -> Option<BlockSize> {
        let is_it = |index: &usize| has(&words(&first[*index]), "block size");
        let index = (0..first.len()).find(is_it)?;
        let is_other =
            |other: usize| other != index && part_of(&first[other]) == Some(RequestPart::Size);
        let cell = data.first()?.get(index)?;
        let is_same = data.iter().all(|row| row.get(index) == Some(cell));
        let bytes = whole_number(cell.as_bytes()).filter(|bytes| *bytes > 0 && is_same)?;
        (0..first.len()).any(is_other).then_some(BlockSize { index, bytes })
    }

    /// The size of a block in bytes, if that is what it is.
    pub fn unit(&self) -> Option<u64> {
        Some(self.bytes).filter(|bytes| bytes.is_multiple_of(SECTOR_BYTES))
    }
}

/// What to do about a table with a column of seconds and one of the parts of a second, such as sec and nsec, neither of which is
/// another time than the one that was found.
pub(super) fn seconds_and_parts(
    first: &[String],
    data: &[Vec<String>],
    time: Option<usize>,
) -> Option<String> {
    let named: Vec<Vec<String>> = first.iter().map(|name| words(name)).collect();
    // Their names differ in nothing but the unit.
    let rest_of = |at: usize, units: &[&str]| -> Option<Vec<&String>> {
        let is_unit = |word: &&String| units.contains(&word.as_str());
        let (unit, rest): (Vec<&String>, Vec<&String>) = named[at].iter().partition(is_unit);
        (unit.len() == 1).then_some(rest)
    };
    let below = |at: usize, most: u64| {
        data.iter().all(|row| {
            row.get(at).and_then(|cell| cell.parse().ok()).is_some_and(|part: u64| part < most)
        })
    };
    let mut pairs =
        (0..named.len()).flat_map(|one| (0..named.len()).map(move |other| (one, other)));
    let (seconds, parts) = pairs.find(|(one, other)| {
        time.is_none_or(|time| time == *one || time == *other)
            && below(*one, u64::MAX)
            && rest_of(*one, &SECONDS).is_some_and(|rest| {
                PARTS.iter().any(|(units, most)| {
                    rest_of(*other, units).as_ref() == Some(&rest) && below(*other, *most)
                })
            })
    })?;
    Some(format!(
        "the time stands in two columns, {} and {}: join them to one number first",
        clip(&first[seconds]),
        clip(&first[parts])
    ))
}

/// Words for seconds, and for parts of them with how many a second has.
const SECONDS: [&str; 4] = ["s", "sec", "secs", "seconds"];
const PARTS: [(&[&str], u64); 2] = [
    (&["ns", "nsec", "nsecs", "nanos", "nanoseconds"], 1_000_000_000),
    (&["us", "usec", "usecs", "micros", "microseconds"], 1_000_000),
];

/// What else a table may be that looks as fio's logs of latencies do: time, latency, direction, size and offset.
pub(super) fn of_fio(data: &[Vec<String>], is_head: bool) -> Option<String> {
    let is_line = |row: &Vec<String>| {
        let number = |at: usize| row.get(at).and_then(|cell| cell.parse::<u64>().ok());
        let in_sectors = |at: usize| number(at).is_some_and(|bytes| bytes % SECTOR_BYTES == 0);
        FIO_COLUMNS.contains(&row.len())
            && number(0).is_some()
            && number(1).is_some()
            && number(2).is_some_and(|direction| direction <= 2)
            && number(3).is_some_and(|size| size > 0)
            && in_sectors(3)
            && in_sectors(4)
    };
    (!is_head && data.iter().all(is_line)).then(|| {
        "a log of latencies of fio looks so: then times are milliseconds, as in time=1:ms, at which requests ended, and `op` is \
         0=read,1=write,2=trim"
            .to_owned()
    })
}

/// How many columns such a log has: the last, for priorities, came later.
const FIO_COLUMNS: std::ops::RangeInclusive<usize> = 5..=6;

/// Events of a request, as blkparse and ftrace call them.
const EVENTS: [&str; 12] = [
    "Q",
    "G",
    "I",
    "D",
    "C",
    "M",
    "R",
    "block_bio_queue",
    "block_rq_insert",
    "block_rq_issue",
    "block_rq_complete",
    "block_rq_requeue",
];

/// What to do about a column of events, of which a request has several.
pub(super) fn events(data: &[Vec<String>], found: &FoundColumns) -> Option<String> {
    let width = data.iter().map(Vec::len).min().unwrap_or(0);
    let is_free = |index: &usize| !found.iter().any(|(_, taken)| taken == index);
    let are_events = |index: &usize| {
        let cells = || data.iter().map(|row| row[*index].trim_end_matches(':'));
        cells().all(|cell| EVENTS.contains(&cell)) && cells().any(|cell| cell != data[0][*index])
    };
    (0..width).filter(is_free).find(are_events).map(|index| {
        format!(
            "column {} holds events, such as {}, of which a request has several: keep the lines of one, such as issues",
            index + 1,
            data[0][index]
        )
    })
}
