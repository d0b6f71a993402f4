//! Tencent cloud block storage: `Timestamp,Offset,Size,IOType,VolumeID`, time in whole seconds,
//! offset and size in sectors, type 0 for a read and 1 for a write (the reverse of SSDsim).

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
    name: "tencent",
    doc: "Tencent cloud block storage CSV, with a clock of 1 s; the volume is the stream",
    columns: "timestamp,offset,size,type(0 read, 1 write),volume",
    units: Units { time: TimeUnit::S, address: SpaceUnit::Sector, size: SpaceUnit::Sector },
    tick: Nanos(1_000_000_000),
    unit_varies: false,
    source: "README of the traces at SNIA IOTTA; Zhang et al., USENIX ATC 2020",
    not_read: &[],
    address_varies: false,
    epoch: Epoch::Calendar,
    codec: Codec::Text {
        fit: format::fit::<Tencent>,
        open: format::open::<Tencent>,
        writer: Some(|| Box::new(TencentWriter)),
    },
};

struct Tencent {
    units: Units,
}

impl LineFormat for Tencent {
    const SEPARATOR: u8 = b',';
    const EVEN: Option<u8> = Some(b',');
    const COLUMNS: Columns = Columns { time: 0, address: 1, size: 2 };
    const FLAG: Option<(usize, Op)> = Some((3, Op::Write));
    const STREAM: Option<usize> = Some(4);
    const HEADS: &'static [&'static [&'static str]] =
        &[&["Timestamp", "Offset", "Size", "IOType", "VolumeID"]];

    fn new(units: Units, _: &Options, _: &[u8]) -> Tencent {
        Tencent { units }
    }

    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let mut fields = Fields::<b','>::new(line);
        let at = fields.time(self.units.time.ns())?;
        let extent = fields.extent(&self.units)?;
        let op = match fields.text() {
            b"0" => Op::Read,
            b"1" => Op::Write,
            _ => return Err(fields.bad("a type", "0 for a read or 1 for a write")),
        };
        let stream = fields.small("a volume")?;
        // Much has numbers in these places, such as fio's histograms.
        if !fields.is_done() {
            let problem = "the line has more than five fields: it is no line of Tencent's, or its fields are shifted";
            return Err(Bad::field(0..line.len(), problem.to_owned()));
        }
        Ok(Some(extent.record(at, op, stream)))
    }

    fn remarks(&self) -> Remarks {
        let assumed = vec!["a type of 0 is a read and 1 a write".to_owned()];
        Remarks { assumed, ..Remarks::default() }
    }
}

struct TencentWriter;

impl LineWriter for TencentWriter {
    fn record(&mut self, record: &Record, out: &mut Vec<u8>) -> Result<(), &'static str> {
        let kind = read_or_write(record, 0, 1)?;
        let Record { at, lba, sectors, stream, .. } = record;
        put!(out, "{},{},{sectors},{kind},{stream}\n", at.0 / 1_000_000_000, lba.0);
        Ok(())
    }
}
