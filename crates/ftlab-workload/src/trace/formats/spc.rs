//! SPC, as in the UMass repository: `ASU,LBA,size,opcode,time`, LBA in sectors, size in bytes, time
//! in seconds. The specification allows further fields, which are ignored.

use ftlab::host::Op;
use ftlab::units::Nanos;

use crate::trace::error::Bad;
use crate::trace::fields::{Extent, Fields};
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, LineWriter, Remarks};
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};

use super::{put, put_seconds, read_or_write};

pub(crate) static FORMAT: Format = Format {
    name: "spc",
    doc: "SPC / UMass (Financial, WebSearch); the application-specific unit is the stream",
    columns: "ASU,LBA,bytes,r|w,seconds",
    units: Units { time: TimeUnit::S, address: SpaceUnit::Sector, size: SpaceUnit::Byte },
    tick: Nanos(1),
    unit_varies: false,
    source: "SPC Trace File Format Specification 1.0.1 (2002)",
    not_read: &["fields behind the time"],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Text {
        fit: format::fit::<Spc>,
        open: format::open::<Spc>,
        writer: Some(|| Box::new(SpcWriter)),
    },
};

struct Spc {
    units: Units,
    widened: u64,
}

impl LineFormat for Spc {
    const SEPARATOR: u8 = b',';
    const COLUMNS: Columns = Columns { time: 4, address: 1, size: 2 };
    const STREAM: Option<usize> = Some(0);
    const HEADS: &'static [&'static [&'static str]] =
        &[&["ASU", "LBA", "Size", "Opcode", "Timestamp"]];

    fn new(units: Units, _: &Options, _: &[u8]) -> Spc {
        Spc { units, widened: 0 }
    }

    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let mut fields = Fields::<b','>::new(line);
        let stream = fields.small("an application-specific unit")?;
        let Extent { lba, sectors, widened } = fields.extent(&self.units)?;
        let op = match fields.text() {
            b"r" | b"R" => Op::Read,
            b"w" | b"W" => Op::Write,
            _ => return Err(fields.bad("an operation", "r or w")),
        };
        let at = fields.time(self.units.time.ns())?;
        self.widened += u64::from(widened);
        Ok(Some(Extent { lba, sectors, widened }.record(at, op, stream)))
    }

    fn remarks(&self) -> Remarks {
        Remarks { widened: self.widened, ..Remarks::default() }
    }
}

struct SpcWriter;

impl LineWriter for SpcWriter {
    fn record(&mut self, record: &Record, out: &mut Vec<u8>) -> Result<(), &'static str> {
        let op = read_or_write(record, 'r', 'w')?;
        let size = u64::from(record.sectors) * 512;
        put!(out, "{},{},{size},{op},", record.stream, record.lba.0);
        put_seconds(out, record.at.0);
        out.push(b'\n');
        Ok(())
    }
}
