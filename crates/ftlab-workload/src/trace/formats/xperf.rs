//! Text that xperf writes of a Windows trace: `DiskRead, time, process (pid), thread, [cpu,] irp, offset, size, elapsed, disk, ...`,
//! behind a head that names the columns of each event. A DiskFlush has neither offset nor size.
//!
//! Events are written when a request ends; it arrives the elapsed time before, so lines are sorted anew. All other events are
//! skipped. The disk is the stream. The name of a process may contain commas, so the columns behind it are counted from the
//! thread, which is a number as no end of a process is.

use std::ops::Range;

use ftlab::host::Op;
use ftlab::units::{Nanos, SimTime};

use crate::trace::error::Bad;
use crate::trace::fields::{Extent, Fields};
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, Remarks};
use crate::trace::gate::RecordPart;
use crate::trace::numbers::whole_number;
use crate::trace::op_words::OpWords;
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::table::{Splitter, first_lines};
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};
use crate::trace::words::counted;

pub(crate) static FORMAT: Format = Format {
    name: "xperf",
    doc: "xperf's text of a Windows trace (Microsoft's production and enterprise server traces); requests arrive their \
          elapsed time before they are shown; the disk is the stream",
    columns: "DiskRead|DiskWrite, time, process, thread, [cpu,] irp, offset, size, elapsed, disk, ...; DiskFlush without offset and size",
    units: Units { time: TimeUnit::Us, address: SpaceUnit::Byte, size: SpaceUnit::Byte },
    tick: Nanos(1_000),
    unit_varies: false,
    source: "xperf -i FILE -o FILE; Kavalanekar et al., IISWC 2008",
    not_read: &["processes", "elapsed times", "names of files", "events that are no requests"],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Text { fit: format::fit::<Xperf>, open: format::open::<Xperf>, writer: None },
};

/// Times count from the beginning of the recording; an hour keeps arrivals before it above zero.
const LEAD: u64 = 3_600_000_000_000;
/// The columns of an event without a processor whose process has no comma in its name.
const THREAD: usize = 3;
const OFFSET: usize = 5;
const SIZE: usize = 6;
const ELAPSED: usize = 7;
const DISK: usize = 8;
/// How many of them a flush lacks: offset and size.
const LACKED_BY_FLUSH: usize = 2;

struct Xperf {
    units: Units,
    splitter: Splitter,
    /// Whether a column with the processor comes before the packet.
    has_processor: bool,
    widened: u64,
    others: u64,
}

impl Xperf {
    /// By how many columns those behind the thread are shifted: by the processor, and by commas in the name of the process.
    fn shift(&self, line: &[u8]) -> Result<usize, Bad> {
        let processor = usize::from(self.has_processor);
        let is_number = |column| self.splitter.field(column).and_then(whole_number).is_some();
        // These are numbers, which no end of a process is: name (number).
        let fits = |thread: &usize| {
            let packet = thread + 1 + processor;
            is_number(*thread) && is_number(packet) && is_number(packet + 1)
        };
        let ends_process = |thread: &usize| {
            self.splitter.field(thread - 1).is_some_and(|field| field.ends_with(b")"))
        };
        let found = (THREAD..self.splitter.count())
            .find(|thread| ends_process(thread) && fits(thread))
            .or_else(|| Some(THREAD).filter(fits));
        let thread = found.ok_or_else(|| {
            let field = Fields::<b','>::nth(line, THREAD);
            let expected =
                "expected numbers (thread, packet, ...) behind the process: name (number)";
            Bad::field(field, expected)
        })?;
        Ok(processor + thread - THREAD)
    }
}

/// A line that was split, and by how many columns those behind the thread are shifted.
struct XperfEvent<'a> {
    splitter: &'a Splitter,
    line: &'a [u8],
    shift: usize,
}

impl XperfEvent<'_> {
    fn number(&self, column: usize, what: &str) -> Result<u64, Bad> {
        let number = self.splitter.field(column).and_then(whole_number);
        number.ok_or_else(|| {
            let field = Fields::<b','>::nth(self.line, column);
            Bad::field(field, format!("expected {what}: a whole number, decimal or with 0x"))
        })
    }

    /// The number of a column behind offset and size, or where they would be.
    fn behind(&self, op: Op, column: usize, what: &str) -> Result<u64, Bad> {
        let lacked = if op == Op::Flush { LACKED_BY_FLUSH } else { 0 };
        self.number(column + self.shift - lacked, what)
    }

    fn arrival(&self, op: Op, unit_ns: u64) -> Result<SimTime, Bad> {
        let time = self.number(1, "a time")?;
        let elapsed = self.behind(op, ELAPSED, "an elapsed time")?;
        let at = time.checked_mul(unit_ns).and_then(|time| time.checked_add(LEAD));
        let at = at.ok_or_else(|| Bad::field(0..self.line.len(), "a time beyond 584 years"))?;
        Ok(SimTime(at.saturating_sub(elapsed.saturating_mul(unit_ns))))
    }

    fn disk(&self, op: Op) -> Result<u32, Bad> {
        let disk = self.behind(op, DISK, "a disk")?;
        u32::try_from(disk)
            .map_err(|_| Bad::field(0..self.line.len(), "expected a disk: a number below 2^32"))
    }
}

/// Whether a line is of the head, or of another event: its name and its time. Behind the first of them, a name is enough.
fn is_other(line: &[u8], has_begun: bool) -> bool {
    let mut fields = Fields::<b','>::new(line);
    let (name, time) = (fields.text(), fields.text());
    let is_word = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let starts = is_word && name.first().is_some_and(u8::is_ascii_alphabetic);
    // Words of operations begin lines of tables, and name no event.
    let starts = starts && OpWords::default().meaning(name).is_none();
    let marks = matches!(name, b"BeginHeader" | b"EndHeader") || name.starts_with(b"OS Version");
    marks || starts && (has_begun || time == b"TimeStamp" || whole_number(time).is_some())
}

impl LineFormat for Xperf {
    const SEPARATOR: u8 = b',';
    const COLUMNS: Columns = Columns { time: 1, address: OFFSET, size: SIZE };

    fn new(units: Units, _: &Options, sample: &[u8]) -> Xperf {
        let mut splitter = Splitter::new(b',');
        // The first event decides, which is that of the head: a packet is an address, or is called so.
        let event = first_lines(sample).find(|line| {
            splitter.split(line);
            matches!(splitter.field(0), Some(b"DiskRead" | b"DiskWrite" | b"DiskFlush"))
        });
        let fifth = event.and_then(|_| splitter.field(4)).unwrap_or(b"IrpPtr");
        let has_processor = !fifth.starts_with(b"0x") && fifth != b"IrpPtr";
        Xperf { units, splitter, has_processor, widened: 0, others: 0 }
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        self.splitter.split(line);
        let op = match self.splitter.field(0) {
            Some(b"DiskRead") => Op::Read,
            Some(b"DiskWrite") => Op::Write,
            Some(b"DiskFlush") => Op::Flush,
            _ if is_other(line, self.others > 0) => {
                self.others += 1;
                return Ok(None);
            }
            _ => {
                return Err(Bad::field(
                    0..line.len(),
                    "expected an event: its name, its time, ...",
                ));
            }
        };
        if self.splitter.field(1) == Some(b"TimeStamp") {
            return Ok(None);
        }
        let event = XperfEvent { splitter: &self.splitter, line, shift: self.shift(line)? };
        let at = event.arrival(op, self.units.time.ns())?;
        let stream = event.disk(op)?;
        if op == Op::Flush {
            return Ok(Some(Record::flush(at, stream)));
        }
        let offset = event.number(OFFSET + event.shift, "an offset")?;
        let size = event.number(SIZE + event.shift, "a size")?;
        let extent = Extent::new(offset, size, &self.units)
            .ok_or_else(|| Bad::field(0..line.len(), "address and size exceed 2^64 bytes"))?;
        self.widened += u64::from(extent.widened);
        Ok(Some(extent.record(at, op, stream)))
    }

    fn place(line: &[u8], part: RecordPart) -> Range<usize> {
        match part {
            RecordPart::Time => Fields::<b','>::nth(line, 1),
            _ => 0..line.len(),
        }
    }

    fn remarks(&self) -> Remarks {
        let mut remarks = Remarks { widened: self.widened, ..Remarks::default() };
        remarks.assumed.push(
            "a request arrives its elapsed time before the time of its line, which is that of its end".to_owned(),
        );
        if self.others > 0 {
            remarks.assumed.push(counted(
                self.others,
                "line of other events is no request",
                "lines of other events are no requests",
            ));
        }
        remarks
    }
}
