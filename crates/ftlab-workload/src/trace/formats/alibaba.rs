//! Alibaba block traces: `device_id,opcode,offset,length,timestamp`, offset and length in bytes,
//! time in microseconds.

use ftlab::host::Op;
use ftlab::units::Nanos;

use crate::trace::error::Bad;
use crate::trace::fields::Fields;
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, LineWriter, Remarks};
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};

use super::{put, read_or_write};

pub(crate) static FORMAT: Format = Format {
    name: "alibaba",
    doc: "Alibaba cloud block storage CSV; the device is the stream",
    columns: "device_id,R|W,offset,length,timestamp",
    units: Units { time: TimeUnit::Us, address: SpaceUnit::Byte, size: SpaceUnit::Byte },
    tick: Nanos(1_000),
    unit_varies: false,
    source: "README of github.com/alibaba/block-traces; Li et al., IISWC 2020",
    not_read: &[],
    address_varies: false,
    epoch: Epoch::Calendar,
    codec: Codec::Text {
        fit: format::fit::<Alibaba>,
        open: format::open::<Alibaba>,
        writer: Some(|| Box::new(AlibabaWriter)),
    },
};

struct Alibaba {
    units: Units,
    widened: u64,
}

impl LineFormat for Alibaba {
    const SEPARATOR: u8 = b',';
    const EVEN: Option<u8> = Some(b',');
    const COLUMNS: Columns = Columns { time: 4, address: 2, size: 3 };
    const STREAM: Option<usize> = Some(0);
    const HEADS: &'static [&'static [&'static str]] =
        &[&["device_id", "opcode", "offset", "length", "timestamp"]];

    fn new(units: Units, _: &Options, _: &[u8]) -> Alibaba {
        Alibaba { units, widened: 0 }
    }

    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let mut fields = Fields::<b','>::new(line);
        let stream = fields.small("a device number")?;
        let op = match fields.text() {
            b"R" | b"r" => Op::Read,
            b"W" | b"w" => Op::Write,
            _ => return Err(fields.bad("an operation", "R or W")),
        };
        let extent = fields.extent(&self.units)?;
        let at = fields.time(self.units.time.ns())?;
        self.widened += u64::from(extent.widened);
        Ok(Some(extent.record(at, op, stream)))
    }

    fn remarks(&self) -> Remarks {
        Remarks { widened: self.widened, ..Remarks::default() }
    }
}

struct AlibabaWriter;

impl LineWriter for AlibabaWriter {
    fn record(&mut self, record: &Record, out: &mut Vec<u8>) -> Result<(), &'static str> {
        let op = read_or_write(record, 'R', 'W')?;
        let (offset, size) = (record.lba.0 * 512, u64::from(record.sectors) * 512);
        put!(out, "{},{op},{offset},{size},{}\n", record.stream, record.at.0 / 1_000);
        Ok(())
    }
}
