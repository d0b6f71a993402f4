//! DiskSim ascii: `time device block blocks flags`, time in milliseconds with decimals, blocks of
//! 512 bytes, flags in hexadecimal with bit 0 for a read.
//!
//! SSDsim has the same columns. The decimal points of times make the difference: at the beginning
//! of the file one time in ten must have one. A DiskSim file without decimal points must be named;
//! as SSDsim it would be a million times too fast.

use ftlab::host::Op;
use ftlab::units::{Nanos, SimTime};

use crate::trace::error::Bad;
use crate::trace::fields::{BLANKS, Fields};
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, LineWriter, Remarks};
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};

use super::{put, read_or_write};

pub(crate) static FORMAT: Format = Format {
    name: "disksim",
    doc: "DiskSim ascii; distinguished from ssdsim by the decimal points of its times; without any it must be named",
    columns: "time device block blocks flags(hexadecimal, bit 0: read)",
    units: UNITS,
    tick: Nanos(1),
    unit_varies: true,
    source: "DiskSim 4.0 manual, and iotrace_ascii_get_ioreq_event in disksim_iotrace.c",
    not_read: &["flags other than that of a read"],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Text {
        fit: format::fit::<DiskSim>,
        open: format::open::<DiskSim>,
        writer: Some(|| Box::new(DisksimWriter)),
    },
};

pub(crate) static OUTTRACE: Format = Format {
    name: "disksim-outtrace",
    doc: "the trace that DiskSim writes of its own requests, with commas",
    columns: "time,device,block,blocks,flags(hexadecimal, bit 0: read),queue,tag,request",
    units: UNITS,
    tick: Nanos(1_000),
    unit_varies: false,
    source: "iodriver_request in disksim_iodriver.c",
    not_read: &["flags other than that of a read", "queues, tags and numbers of requests"],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Text {
        fit: format::fit::<OutTrace>,
        open: format::open::<OutTrace>,
        writer: None,
    },
};

/// Both have these.
const UNITS: Units =
    Units { time: TimeUnit::Ms, address: SpaceUnit::Sector, size: SpaceUnit::Sector };

/// The bit of the flags for a read.
const READ: u64 = 1;
const READ_FLAG: &str = "bit 0 of the flags is set for a read";

struct DiskSim {
    units: Units,
    /// Whether the format was detected but the file does not look like DiskSim.
    is_other: bool,
}

/// One in this many times at the beginning of a DiskSim file has a decimal point.
const DECIMALS: usize = 10;

/// Whether the times at the beginning of a file have decimals. A single one, due to damage, is not enough.
fn has_decimals<const SEP: u8>(sample: &[u8]) -> bool {
    let lines = sample.split(|&byte| byte == b'\n').take(format::SAMPLE_LINES);
    let (mut times, mut decimals) = (0, 0);
    for line in lines.filter(|line| !format::is_void(line)) {
        let mut fields = Fields::<SEP>::new(line);
        if fields.time(1).is_ok() {
            times += 1;
            decimals += usize::from(fields.was_decimal());
        }
    }
    decimals > 0 && decimals * DECIMALS >= times
}

impl LineFormat for DiskSim {
    const SEPARATOR: u8 = BLANKS;
    const COLUMNS: Columns = Columns { time: 0, address: 2, size: 3 };
    const FLAG: Option<(usize, Op)> = Some((4, Op::Read));
    const STREAM: Option<usize> = Some(1);

    fn new(units: Units, options: &Options, sample: &[u8]) -> DiskSim {
        DiskSim { units, is_other: options.format.is_none() && !has_decimals::<BLANKS>(sample) }
    }

    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let mut fields = Fields::<BLANKS>::new(line);
        let at = fields.time(self.units.time.ns())?;
        if self.is_other && !fields.was_decimal() {
            return Err(fields.bad("a time", "milliseconds with decimals"));
        }
        let record = request(&mut fields, at, &self.units)?;
        if !fields.is_done() {
            fields.rest();
            return Err(fields.bad("the end of the line", "five columns"));
        }
        Ok(Some(record))
    }

    fn remarks(&self) -> Remarks {
        let assumed = vec![READ_FLAG.to_owned()];
        Remarks { assumed, ..Remarks::default() }
    }
}

/// Parses the columns behind the time.
#[inline]
fn request<const SEP: u8>(
    fields: &mut Fields<'_, SEP>,
    at: SimTime,
    units: &Units,
) -> Result<Record, Bad> {
    let stream = fields.small("a device number")?;
    let extent = fields.extent(units)?;
    let flags = hexadecimal(fields.text())
        .ok_or_else(|| fields.bad("flags", "a hexadecimal number, bit 0 set for a read"))?;
    let op = if flags & READ != 0 { Op::Read } else { Op::Write };
    Ok(extent.record(at, op, stream))
}

/// DiskSim's own output.
struct OutTrace {
    units: Units,
    /// Whether the format was detected but the times have no decimals, as DiskSim prints them: any numbers between commas.
    is_other: bool,
}

impl LineFormat for OutTrace {
    const SEPARATOR: u8 = b',';
    const COLUMNS: Columns = Columns { time: 0, address: 2, size: 3 };
    const FLAG: Option<(usize, Op)> = Some((4, Op::Read));
    const STREAM: Option<usize> = Some(1);

    fn new(units: Units, options: &Options, sample: &[u8]) -> OutTrace {
        OutTrace { units, is_other: options.format.is_none() && !has_decimals::<b','>(sample) }
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let mut fields = Fields::<b','>::new(line);
        let at = fields.time(self.units.time.ns())?;
        if self.is_other && !fields.was_decimal() {
            return Err(fields.bad("a time", "milliseconds with decimals"));
        }
        let record = request(&mut fields, at, &self.units)?;
        fields.number("a length of the queue")?;
        match fields.text() {
            [] => Err(fields.bad("a tag", "a number")),
            _ => Ok(Some(record)),
        }
    }

    fn remarks(&self) -> Remarks {
        let assumed = vec![READ_FLAG.to_owned()];
        Remarks { assumed, ..Remarks::default() }
    }
}

fn hexadecimal(field: &[u8]) -> Option<u64> {
    let digits = field.strip_prefix(b"0x").unwrap_or(field);
    let text = std::str::from_utf8(digits).ok()?;
    let valid = digits.iter().all(u8::is_ascii_hexdigit);
    if valid { u64::from_str_radix(text, 16).ok() } else { None }
}

struct DisksimWriter;

impl LineWriter for DisksimWriter {
    fn record(&mut self, record: &Record, out: &mut Vec<u8>) -> Result<(), &'static str> {
        let flag = read_or_write(record, 1, 0)?;
        let Record { at, lba, sectors, stream, .. } = record;
        let (ms, rest) = (at.0 / 1_000_000, at.0 % 1_000_000);
        put!(out, "{ms}.{rest:06} {stream} {} {sectors} {flag}\n", lba.0);
        Ok(())
    }
}
