//! biosnoop of bcc and of libbpf-tools: `seconds process pid disk T sector bytes [queue-ms] latency-ms`.
//!
//! With `-P`, a letter or a word for the pattern (sequential or random) stands somewhere behind the operation.
//!
//! The times are those of completions. A request arrives a latency earlier, so lines are sorted anew. A process name may contain
//! blanks, so columns are counted from the operation. The disk is the stream, numbered as they come.

use std::ops::Range;

use ftlab::host::Op;
use ftlab::units::{Nanos, SimTime};

use crate::trace::error::{Bad, ErrorKind};
use crate::trace::fields::{BLANKS, Fields};
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, Remarks};
use crate::trace::gate::RecordPart;
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};

use super::block_events::BlockOperation;
use super::names::Names;

pub(crate) static FORMAT: Format = Format {
    name: "biosnoop",
    doc: "biosnoop of bcc and libbpf-tools; requests arrive a latency before they are shown; the disk is the stream",
    columns: "TIME(s) COMM PID DISK T [P] SECTOR BYTES [QUE(ms)] LAT(ms)",
    units: Units { time: TimeUnit::S, address: SpaceUnit::Sector, size: SpaceUnit::Byte },
    tick: Nanos(1_000),
    unit_varies: false,
    source: "biosnoop(8) and biosnoop.py of bcc",
    not_read: &["processes", "latencies", "names of disks"],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Text {
        fit: format::fit::<Biosnoop>,
        open: format::open::<Biosnoop>,
        writer: None,
    },
};

/// Times count from the first completion, so the first arrivals are before zero: an hour keeps them above.
const LEAD: u64 = 3_600_000_000_000;
/// The columns of a line after the operation: sector, bytes, perhaps the time in the queue, and the latency.
const AFTER: Range<usize> = 3..5;
/// The patterns: of the kernel's numbers for them, a letter or a word.
const PATTERNS: [&[u8]; 7] = [b"S", b"R", b"?", b"-", b"SEQUENTIAL", b"RANDOM", b"UNKNOWN"];
/// What a terminal shows of the key that stopped it.
const INTERRUPTED: &[u8] = b"^C";
/// Names of columns in units that other programs print.
const OTHER_UNITS: [&[u8]; 5] = [b"LAT(us)", b"LAT(ns)", b"LAT(s)", b"KBYTES", b"QUE(us)"];
/// The columns before the operation, if the name of the process is one word.
const BEFORE: usize = 4;

struct Biosnoop {
    units: Units,
    disks: Names,
    /// The columns after the operation of the first request.
    after: Option<usize>,
    widened: u64,
}

/// A line's columns: where each begins and ends.
fn columns(line: &[u8]) -> Vec<Range<usize>> {
    let mut fields = Fields::<BLANKS>::new(line);
    let mut all = Vec::new();
    while !fields.is_done() {
        fields.text();
        all.push(fields.last());
    }
    all
}

/// Takes the pattern out of the columns, and returns the index of the operation: letters with the right number of numbers
/// behind them.
fn operation(line: &[u8], columns: &mut Vec<Range<usize>>) -> Option<usize> {
    let is_number = |column: &Range<usize>| {
        line[column.clone()].iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
    };
    let is_pattern = |column: &Range<usize>| PATTERNS.contains(&&line[column.clone()]);
    let fits = |columns: &[Range<usize>], at: usize| {
        let after = &columns[at + 1..];
        let patterns = after.iter().filter(|column| is_pattern(column)).count();
        BlockOperation::of_rwbs(&line[columns[at].clone()]).is_some()
            && patterns <= 1
            && AFTER.contains(&(after.len() - patterns))
            && after.iter().all(|column| is_number(column) || is_pattern(column))
    };
    // Only the last columns can have so few behind them, however many a line has.
    let first = columns.len().saturating_sub(AFTER.end + 1).max(BEFORE);
    let place = (first..columns.len()).find(|at| fits(columns, *at))?;
    let pattern = (place + 1..columns.len()).find(|at| is_pattern(&columns[*at]));
    pattern.map(|at| columns.remove(at));
    Some(place)
}

/// Whether a line is of the head, or shows only the key that stopped it.
fn is_beside(line: &[u8]) -> bool {
    line.starts_with(b"TIME(s)") || line.starts_with(b"Tracing ") || line == INTERRUPTED
}

/// What is wrong with a head that names other units than biosnoop's.
#[cold]
fn other_units(line: &[u8]) -> Option<Bad> {
    let columns = columns(line);
    let other = columns.into_iter().find(|column| OTHER_UNITS.contains(&&line[column.clone()]))?;
    let name = String::from_utf8_lossy(&line[other.clone()]).into_owned();
    Some(Bad {
        kind: ErrorKind::Unsupported,
        remedy: Some(
            "write milliseconds and bytes, or read it as a table with `columns`".to_owned(),
        ),
        ..Bad::field(other, format!("a column is called `{name}`, which biosnoop has not"))
    })
}

impl LineFormat for Biosnoop {
    const SEPARATOR: u8 = BLANKS;
    const COLUMNS: Columns = Columns { time: 0, address: 5, size: 6 };

    fn new(units: Units, _: &Options, _: &[u8]) -> Biosnoop {
        Biosnoop { units, disks: Names::default(), after: None, widened: 0 }
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let line = line.strip_prefix(INTERRUPTED).filter(|line| !line.is_empty()).unwrap_or(line);
        let mut columns = columns(line);
        let Some(place) = operation(line, &mut columns) else {
            if is_beside(line) {
                return other_units(line).map_or(Ok(None), Err);
            }
            let expected =
                "expected seconds, process, pid, disk, operation, sector, bytes and latency";
            return Err(Bad::field(0..line.len(), expected));
        };
        let after = columns.len() - place;
        if *self.after.get_or_insert(after) != after {
            let problem = "behind the operation the line has more or fewer columns than the lines before: they may be shifted";
            return Err(Bad::field(columns[place].start..line.len(), problem));
        }
        let ended = Fields::<BLANKS>::new(line).time(self.units.time.ns())?;
        let latency = columns.last().map_or(0..0, Clone::clone);
        let latency = Fields::<BLANKS>::new(&line[latency.clone()])
            .time(TimeUnit::Ms.ns())
            .map_err(|bad| Bad { field: latency, ..bad })?;
        let at = SimTime((ended.0.saturating_add(LEAD)).saturating_sub(latency.0));
        let stream =
            self.disks.number(&line[columns[place - 1].clone()], || columns[place - 1].clone())?;
        let Some(BlockOperation { op: Some(op), fua, .. }) =
            BlockOperation::of_rwbs(&line[columns[place].clone()])
        else {
            return Ok(None);
        };
        if op == Op::Flush {
            return Ok(Some(Record::flush(at, stream)));
        }
        let from = columns[place + 1].start;
        let extent = Fields::<BLANKS>::new(&line[from..])
            .extent(&self.units)
            .map_err(|bad| Bad { field: bad.field.start + from..bad.field.end + from, ..bad })?;
        self.widened += u64::from(extent.widened);
        Ok(Some(Record { fua, ..extent.record(at, op, stream) }))
    }

    fn place(line: &[u8], part: RecordPart) -> Range<usize> {
        let mut columns = columns(line);
        let first = operation(line, &mut columns).unwrap_or(BEFORE);
        let index = match part {
            RecordPart::Time => 0,
            RecordPart::Address => first + 1,
            RecordPart::Size => first + 2,
        };
        columns.get(index).cloned().unwrap_or(0..line.len())
    }

    fn remarks(&self) -> Remarks {
        let assumed = vec![
            "a request arrives its latency before the time of its line, which is that of its end"
                .to_owned(),
        ];
        let named = Some(self.disks.streams("disks"));
        Remarks { assumed, named, widened: self.widened, ..Remarks::default() }
    }
}
