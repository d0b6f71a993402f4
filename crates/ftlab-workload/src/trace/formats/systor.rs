//! SYSTOR '17 (enterprise virtual desktops): `Timestamp,Response,IOType,LUN,Offset,Size`, times in
//! seconds with nine decimals of which six are significant, offset and size in bytes.
//!
//! The type may be empty: such rows are neither reads nor writes, and are skipped and counted.

use ftlab::host::Op;
use ftlab::units::Nanos;

use crate::trace::error::Bad;
use crate::trace::fields::Fields;
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, LineWriter, Remarks};
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};
use crate::trace::words::counted;

use super::{put, put_seconds, read_or_write};

pub(crate) static FORMAT: Format = Format {
    name: "systor",
    doc: "SYSTOR '17 CSV; the LUN is the stream",
    columns: "timestamp,response,R|W,LUN,offset,size",
    units: Units { time: TimeUnit::S, address: SpaceUnit::Byte, size: SpaceUnit::Byte },
    tick: Nanos(1),
    unit_varies: false,
    source: "README of the traces at SNIA IOTTA; Lee et al., SYSTOR 2017",
    not_read: &["response times"],
    address_varies: false,
    epoch: Epoch::Calendar,
    codec: Codec::Text {
        fit: format::fit::<Systor>,
        open: format::open::<Systor>,
        writer: Some(|| Box::new(SystorWriter)),
    },
};

struct Systor {
    units: Units,
    widened: u64,
    untyped: u64,
}

impl LineFormat for Systor {
    const SEPARATOR: u8 = b',';
    const EVEN: Option<u8> = Some(b',');
    const COLUMNS: Columns = Columns { time: 0, address: 4, size: 5 };
    const STREAM: Option<usize> = Some(3);
    const HEADS: &'static [&'static [&'static str]] =
        &[&["Timestamp", "Response", "IOType", "LUN", "Offset", "Size"]];

    fn new(units: Units, _: &Options, _: &[u8]) -> Systor {
        Systor { units, widened: 0, untyped: 0 }
    }

    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let mut fields = Fields::<b','>::new(line);
        let at = fields.time(self.units.time.ns())?;
        fields.text();
        let op = match fields.text() {
            b"R" => Some(Op::Read),
            b"W" => Some(Op::Write),
            b"" => None,
            _ => return Err(fields.bad("an operation", "R, W or nothing")),
        };
        let stream = fields.small("a LUN")?;
        let extent = fields.extent(&self.units)?;
        let Some(op) = op else {
            self.untyped += 1;
            return Ok(None);
        };
        self.widened += u64::from(extent.widened);
        Ok(Some(extent.record(at, op, stream)))
    }

    fn remarks(&self) -> Remarks {
        let mut assumed = Vec::new();
        if self.untyped > 0 {
            assumed.push(counted(
                self.untyped,
                "row without a type is no request",
                "rows without a type are no requests",
            ));
        }
        Remarks { assumed, widened: self.widened, ..Remarks::default() }
    }
}

struct SystorWriter;

impl LineWriter for SystorWriter {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"Timestamp,Response,IOType,LUN,Offset,Size\n");
    }

    fn record(&mut self, record: &Record, out: &mut Vec<u8>) -> Result<(), &'static str> {
        let op = read_or_write(record, 'R', 'W')?;
        let (offset, size) = (record.lba.0 * 512, u64::from(record.sectors) * 512);
        put_seconds(out, record.at.0);
        put!(out, ",0.000000000,{op},{},{offset},{size}\n", record.stream);
        Ok(())
    }
}
