//! Text that xperf writes of a Windows trace: `DiskRead, time, process (pid), thread, [cpu,] irp, offset, size, elapsed, disk, ...`,
//! behind a head that names the columns of each event.
//!
//! DiskRead and DiskWrite are written when a request ends; it arrives the elapsed time before, so lines are sorted anew. All other
//! events are skipped. The disk is the stream.

use std::ops::Range;

use ftlab::host::Op;
use ftlab::units::{Nanos, SimTime};

use crate::trace::error::Bad;
use crate::trace::fields::Extent;
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, Remarks};
use crate::trace::gate::RecordPart;
use crate::trace::numbers::whole_number;
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::table::{Splitter, first_lines};
use crate::trace::units::{SpaceUnit, TimeUnit, Units};

pub(crate) static FORMAT: Format = Format {
    name: "xperf",
    doc: "xperf's text of a Windows trace (Microsoft's production and enterprise server traces); requests arrive their \
          elapsed time before they are shown; the disk is the stream",
    columns: "DiskRead|DiskWrite, time, process, thread, [cpu,] irp, offset, size, elapsed, disk, ...",
    units: Units { time: TimeUnit::Us, address: SpaceUnit::Byte, size: SpaceUnit::Byte },
    tick: Nanos(1_000),
    unit_varies: false,
    source: "xperf -i FILE -o FILE; Kavalanekar et al., IISWC 2008",
    codec: Codec::Text { fit: format::fit::<Xperf>, open: format::open::<Xperf>, writer: None },
};

/// Times count from the beginning of the recording; an hour keeps arrivals before it above zero.
const LEAD: u64 = 3_600_000_000_000;
/// The columns of an event without a processor.
const OFFSET: usize = 5;
const SIZE: usize = 6;
const ELAPSED: usize = 7;
const DISK: usize = 8;

struct Xperf {
    units: Units,
    splitter: Splitter,
    /// Whether a column with the processor comes before the packet.
    has_processor: bool,
    widened: u64,
    others: u64,
}

/// Whether a line is of the head, or of another event: a word, and a comma or the end behind it.
fn is_other(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let word =
        line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let starts = line.first().is_some_and(u8::is_ascii_alphabetic);
    starts && (line[word..].is_empty() || line[word] == b',' || line.starts_with(b"OS Version"))
}

impl LineFormat for Xperf {
    const SEPARATOR: u8 = b',';
    const COLUMNS: Columns = Columns { time: 1, address: OFFSET, size: SIZE };

    fn new(units: Units, _: &Options, sample: &[u8]) -> Xperf {
        let mut splitter = Splitter::new(b',');
        // The first event decides, which is that of the head: a packet is an address, or is called so.
        let event = first_lines(sample).find(|line| {
            splitter.split(line);
            matches!(splitter.field(0), Some(b"DiskRead" | b"DiskWrite"))
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
            _ if is_other(line) => {
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
        let shift = usize::from(self.has_processor);
        let number = |column: usize, what: &str| {
            let number = self.splitter.field(column).and_then(whole_number);
            number.ok_or_else(|| {
                let field = crate::trace::fields::Fields::<b','>::nth(line, column);
                Bad::field(field, format!("expected {what}: a whole number, decimal or with 0x"))
            })
        };
        let time = number(1, "a time")?;
        let elapsed = number(ELAPSED + shift, "an elapsed time")?;
        let (offset, size) =
            (number(OFFSET + shift, "an offset")?, number(SIZE + shift, "a size")?);
        let disk = number(DISK + shift, "a disk")?;
        let unit = self.units.time.ns();
        let at = time.checked_mul(unit).and_then(|time| time.checked_add(LEAD));
        let at = at.ok_or_else(|| Bad::field(0..line.len(), "a time beyond 584 years"))?;
        let at = SimTime(at.saturating_sub(elapsed.saturating_mul(unit)));
        let extent = Extent::new(offset, size, &self.units)
            .ok_or_else(|| Bad::field(0..line.len(), "address and size exceed 2^64 bytes"))?;
        let stream = u32::try_from(disk)
            .map_err(|_| Bad::field(0..line.len(), "expected a disk: a number below 2^32"))?;
        self.widened += u64::from(extent.widened);
        Ok(Some(extent.record(at, op, stream)))
    }

    fn place(line: &[u8], part: RecordPart) -> Range<usize> {
        match part {
            RecordPart::Time => crate::trace::fields::Fields::<b','>::nth(line, 1),
            _ => 0..line.len(),
        }
    }

    fn remarks(&self) -> Remarks {
        let mut remarks = Remarks { widened: self.widened, ..Remarks::default() };
        remarks.assumed.push(
            "a request arrives its elapsed time before the time of its line, which is that of its end".to_owned(),
        );
        if self.others > 0 {
            remarks.assumed.push(format!("{} lines of other events are no requests", self.others));
        }
        remarks
    }
}
