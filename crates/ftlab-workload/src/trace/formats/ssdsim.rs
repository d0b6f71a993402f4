//! SSDsim ascii: `time device sector sectors flag`, with flag 0 for a write and 1 for a read, as in
//! MQSim. A sixth column may contain a hash of the content (FIU traces) or a number; it is ignored. A flag of 2 is an erase in some
//! files, which is a trim here.
//!
//! Lines of SSDsim and MQSim are equal, and both use nanoseconds, so it does not matter which name
//! is used; detection chooses SSDsim. DiskSim has the same columns too, but times in milliseconds
//! with decimals: unless the format is forced, a time with a decimal point is never read as SSDsim,
//! and a file without any never as DiskSim.

use ftlab::host::Op;
use ftlab::units::Nanos;

use crate::trace::error::Bad;
use crate::trace::fields::{BLANKS, Fields};
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, LineWriter, Remarks};
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};
use crate::trace::words::counted;

use super::{put, read_or_write};

/// The common units of SSDsim and MQSim.
pub(super) const UNITS: Units =
    Units { time: TimeUnit::Ns, address: SpaceUnit::Sector, size: SpaceUnit::Sector };

pub(crate) static FORMAT: Format = Format {
    name: "ssdsim",
    doc: "SSDsim ascii, with or without a content hash or a number as sixth column; a flag of 2 is a trim",
    columns: "time device sector sectors flag(0 write, 1 read, 2 erase) [hash]",
    units: UNITS,
    tick: Nanos(1),
    unit_varies: true,
    source: "SSDsim (Hu et al., ICS 2011), get_requests in ssd.c",
    not_read: &["the sixth column"],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Text {
        fit: format::fit::<Ascii<true>>,
        open: format::open::<Ascii<true>>,
        writer: Some(|| Box::new(SsdsimWriter::new(true))),
    },
};

/// Reads five columns, and a sixth if `HASH`.
pub(super) struct Ascii<const HASH: bool> {
    units: Units,
    detected: bool,
    /// Whether the lines so far have a sixth column.
    has_more: Option<bool>,
    unused: u64,
    trims: u64,
}

impl<const HASH: bool> LineFormat for Ascii<HASH> {
    const SEPARATOR: u8 = BLANKS;
    const COLUMNS: Columns = Columns { time: 0, address: 2, size: 3 };
    const FLAG: Option<(usize, Op)> = Some((4, Op::Read));
    const STREAM: Option<usize> = Some(1);

    fn new(units: Units, options: &Options, _: &[u8]) -> Self {
        Ascii { units, detected: options.format.is_none(), has_more: None, unused: 0, trims: 0 }
    }

    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let mut fields = Fields::<BLANKS>::new(line);
        let at = fields.time(self.units.time.ns())?;
        if self.detected && fields.was_decimal() {
            return Err(decimal_time(&fields));
        }
        let stream = fields.small("a device number")?;
        let extent = fields.extent(&self.units)?;
        let op = match fields.text() {
            b"0" => Op::Write,
            b"1" => Op::Read,
            b"2" if HASH => Op::Trim,
            _ => return Err(fields.bad("a flag", "0 for a write or 1 for a read")),
        };
        self.trims += u64::from(op == Op::Trim);
        let has_more = !fields.is_done();
        if *self.has_more.get_or_insert(has_more) != has_more {
            let expected = "as many columns as in the lines before; these may be shifted";
            return Err(fields.bad("the end of the line", expected));
        }
        if has_more {
            let more = fields.text();
            let is_unused = more.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'.');
            if !HASH || !is_unused || !fields.is_done() {
                let expected = "five columns, or a hash or a number as sixth";
                return Err(fields.bad("the end of the line", expected));
            }
            self.unused += 1;
        }
        Ok(Some(extent.record(at, op, stream)))
    }

    fn remarks(&self) -> Remarks {
        let mut assumed = vec!["a flag of 0 is a write and 1 a read".to_owned()];
        if self.detected {
            assumed.push(
                "format: SSDsim and not MQSim, whose lines look the same and mean the same; nor DiskSim, \
                 whose lines look the same if no time has decimals and whose times are milliseconds \
                 (`format` disksim)"
                    .to_owned(),
            );
        }
        if self.unused > 0 {
            assumed.push(
                "the sixth column (a hash of the content, or a number) is not used".to_owned(),
            );
        }
        if self.trims > 0 {
            assumed.push(counted(
                self.trims,
                "request with a flag of 2 (erase) is a trim",
                "requests with a flag of 2 (erase) are trims",
            ));
        }
        Remarks { assumed, ..Remarks::default() }
    }
}

/// An error for a well-formed line of another format: skipping such lines would lose requests.
#[cold]
fn decimal_time(fields: &Fields<'_, BLANKS>) -> Bad {
    let remedy = "times with decimals are DiskSim's, in milliseconds: use `format` disksim; if the line is \
                  damaged, fix it, or `skip_malformed` skips such lines and counts them";
    Bad { remedy: Some(remedy.to_owned()), ..fields.bad("a time", "a whole number") }
}

/// Writes the five columns.
pub(super) struct SsdsimWriter {
    /// Whether trims can be written, with a flag of 2.
    has_trims: bool,
    trims: u64,
}

impl SsdsimWriter {
    pub fn new(has_trims: bool) -> SsdsimWriter {
        SsdsimWriter { has_trims, trims: 0 }
    }
}

impl LineWriter for SsdsimWriter {
    fn record(&mut self, record: &Record, out: &mut Vec<u8>) -> Result<(), &'static str> {
        let flag = match record.op {
            Op::Trim if self.has_trims => 2,
            _ => read_or_write(record, 1, 0)?,
        };
        self.trims += u64::from(record.op == Op::Trim);
        let Record { at, lba, sectors, stream, .. } = record;
        put!(out, "{} {stream} {} {sectors} {flag}\n", at.0, lba.0);
        Ok(())
    }

    fn remark(&self) -> Option<&'static str> {
        (self.trims > 0).then_some("trims have the flag 2, as in some files for SSDsim; not every version of it knows that")
    }
}
