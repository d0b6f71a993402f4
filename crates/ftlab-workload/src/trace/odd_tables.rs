//! What may be odd about a table of one's own, and what to do about it: lines of different lengths, a time in two columns, a size of
//! blocks beside the number of blocks, several events of one request.

use ftlab::options::text::clip;
use ftlab::units::SECTOR_BYTES;

use super::columns::RequestPart;
use super::likely::FoundColumns;
use super::moments::moment_ns;
use super::names_of_columns::{TIME_UNITS, has, part_of, unit_of, words};
use super::numbers::whole_number;
use super::table::{Splitter, first_lines, separator_in_words};
use super::units::{SpaceUnit, TimeUnit};

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

/// A column that has the size of the blocks, sectors or pages in which others count.
pub(super) struct BlockSize {
    pub index: usize,
    /// In bytes, if it is the same in the first lines, and a size of blocks.
    bytes: Option<u64>,
    /// Words of columns that count such.
    counting: &'static [&'static str],
}

/// Names of such columns, and words of those that count what has this size.
const SIZED: [(&[&str], &[&str]); 3] = [
    (
        &["block size", "blk size", "lba size", "blocksize", "blksize", "bs"],
        &["block", "blocks", "nblocks", "lba", "slba", "lbn", "nlb", "count", "nr"],
    ),
    (
        &["sector size", "sectorsize"],
        &["sector", "sectors", "nsectors", "lba", "slba", "lbn", "nlb", "count", "nr"],
    ),
    (&["page size", "pagesize"], &["page", "pages", "npages", "lpn", "lpa", "count", "nr"]),
];

impl BlockSize {
    /// Finds it, beside another column of sizes.
    pub fn of(first: &[String], data: &[Vec<String>]) -> Option<BlockSize> {
        let (index, counting) = SIZED.into_iter().find_map(|(names, counting)| {
            let is_it = |name: &String| names.iter().any(|known| has(&words(name), known));
            Some((first.iter().position(is_it)?, counting))
        })?;
        let is_other =
            |other: usize| other != index && part_of(&first[other]) == Some(RequestPart::Size);
        (0..first.len()).any(is_other).then_some(())?;
        let cell = data.first()?.get(index)?;
        let is_same = data.iter().all(|row| row.get(index) == Some(cell));
        let unit = unit_of(RequestPart::Size, &first[index]).filter(|unit| *unit > SECTOR_BYTES);
        let bytes =
            whole_number(cell.as_bytes()).and_then(|size| size.checked_mul(unit.unwrap_or(1)));
        let bytes = bytes.filter(|size| *size > 0 && size.is_multiple_of(SECTOR_BYTES) && is_same);
        Some(BlockSize { index, bytes, counting })
    }

    /// The unit of a column of this name, if it counts blocks: unless the name tells another unit.
    pub fn unit(&self, part: RequestPart, name: &str) -> Option<u64> {
        let words = words(name);
        let counts = self.counting.iter().any(|hint| has(&words, hint));
        let has_other = unit_of(part, name).is_some_and(|unit| {
            unit != SECTOR_BYTES
                && !(unit == SpaceUnit::Page4k.bytes() && self.counting.contains(&"page"))
        });
        self.bytes.filter(|_| counts && !has_other)
    }

    pub fn note(&self, first: &[String]) -> String {
        let name = clip(&first[self.index]);
        match self.bytes {
            Some(bytes) => {
                format!("column {name} has the size of blocks, {bytes} bytes in the first lines")
            }
            None => format!(
                "column {name} has the size of blocks: where others count blocks, multiply them by it first"
            ),
        }
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
    let rest_of = |at: usize, unit: TimeUnit| -> Option<Vec<&String>> {
        let (_, known) = TIME_UNITS.into_iter().find(|(known, _)| *known == unit)?;
        let is_unit = |word: &&String| known.contains(&word.as_str());
        let (found, rest): (Vec<&String>, Vec<&String>) = named[at].iter().partition(is_unit);
        (found.len() == 1).then_some(rest)
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
            && rest_of(*one, TimeUnit::S).is_some_and(|rest| {
                [TimeUnit::Ns, TimeUnit::Us].into_iter().any(|unit| {
                    let most = TimeUnit::S.ns() / unit.ns();
                    rest_of(*other, unit).as_ref() == Some(&rest) && below(*other, most)
                })
            })
    })?;
    Some(format!(
        "the time stands in two columns, {} and {}: join them to one number first",
        clip(&first[seconds]),
        clip(&first[parts])
    ))
}

/// What fio logs of latencies and the like: time, value, direction, size and offset, and more in later versions.
pub(super) struct FioLog {
    has_addresses: bool,
}

/// Columns of such a log.
const FIO_COLUMNS: std::ops::RangeInclusive<usize> = 4..=7;

impl FioLog {
    /// Whether a table without a head looks so.
    pub fn of(data: &[Vec<String>]) -> Option<FioLog> {
        let number =
            |row: &[String], at: usize| row.get(at).and_then(|cell| cell.parse::<u64>().ok());
        let is_line = |row: &Vec<String>| {
            let in_sectors =
                |at: usize| number(row, at).is_some_and(|bytes| bytes % SECTOR_BYTES == 0);
            FIO_COLUMNS.contains(&row.len())
                && (0..row.len()).all(|at| number(row, at).is_some())
                && number(row, 2).is_some_and(|direction| direction <= 2)
                && number(row, 3).is_some_and(|size| size > 0)
                && in_sectors(3)
                && (row.len() == 4 || in_sectors(4))
        };
        let has_addresses = data.iter().any(|row| number(row, 4).is_some_and(|offset| offset > 0));
        data.iter().all(is_line).then_some(FioLog { has_addresses })
    }

    /// How to read it, if it has addresses.
    pub fn columns(&self) -> Option<String> {
        self.has_addresses.then(|| "time=1:ms,op=3,offset=5,size=4".to_owned())
    }

    pub fn note(&self) -> String {
        match self.has_addresses {
            true => "with `op` 0=read,1=write,2=trim, if it is a log of fio, as it seems; its times are those at which requests ended".to_owned(),
            false => "or is it a log of fio without addresses? Then let fio log them, too (log_offset=1)".to_owned(),
        }
    }
}

/// Whether the first line names one column less than there are, as R writes a table with the names of its rows.
pub(super) fn short_head(rows: &[Vec<String>]) -> Option<String> {
    let (first, below) = rows.split_first()?;
    let is_name =
        |name: &String| name.starts_with(|mark: char| mark.is_ascii_alphabetic() || mark == '"');
    let is_short = first.len() >= FEWEST
        && first.iter().all(is_name)
        && first.iter().any(|name| part_of(name.trim_matches('"')).is_some())
        && !below.is_empty()
        && below.iter().all(|row| row.len() == first.len() + 1);
    is_short.then(|| {
        "; its first line names one column less than there are: write it without names of rows, in R by row.names = FALSE".to_owned()
    })
}

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
