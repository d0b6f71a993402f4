//! FIU's traces (SyLab, "IODedup" and others): `time pid process block blocks R|W major minor [hash]`, times in nanoseconds, blocks of
//! 512 bytes, a hash of the content as MD5. A process name may contain blanks.

use ftlab::host::Op;
use ftlab::units::Nanos;

use crate::trace::error::Bad;
use crate::trace::fields::{BLANKS, Fields};
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, Remarks};
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};

use super::block_events::stream_of;

pub(crate) static FORMAT: Format = Format {
    name: "fiu",
    doc: "FIU SyLab traces (homes, web-vm, mail); the device is the stream, process and content hash are not used",
    columns: "time pid process block blocks R|W major minor [hash]",
    units: Units { time: TimeUnit::Ns, address: SpaceUnit::Sector, size: SpaceUnit::Sector },
    tick: Nanos(1),
    unit_varies: true,
    source: "README of the FIU traces at SNIA IOTTA; Koller and Rangaswami, FAST 2010",
    not_read: &["processes", "hashes of content"],
    address_varies: true,
    epoch: Epoch::Own,
    codec: Codec::Text { fit: format::fit::<Fiu>, open: format::open::<Fiu>, writer: None },
};

struct Fiu {
    units: Units,
}

impl LineFormat for Fiu {
    const SEPARATOR: u8 = BLANKS;
    const COLUMNS: Columns = Columns { time: 0, address: 3, size: 4 };

    fn new(units: Units, _: &Options, _: &[u8]) -> Fiu {
        Fiu { units }
    }

    #[inline]
    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let mut fields = Fields::<BLANKS>::new(line);
        let at = fields.time(self.units.time.ns())?;
        fields.number("a process number")?;
        if fields.text().is_empty() {
            return Err(fields.bad("a process", "its name"));
        }
        // The rest of a name with blanks.
        loop {
            match fields.text() {
                [] => return Err(fields.bad("an address", "a whole number")),
                word if word.iter().all(u8::is_ascii_digit) => break,
                _ => {}
            }
        }
        fields.back();
        let extent = fields.extent(&self.units)?;
        let op = match fields.text() {
            b"R" | b"r" => Op::Read,
            b"W" | b"w" => Op::Write,
            _ => return Err(fields.bad("an operation", "R or W")),
        };
        let (major, minor) = (fields.small("a major number")?, fields.small("a minor number")?);
        let stream = stream_of(major, minor)
            .ok_or_else(|| fields.bad("a device", "major below 2^12 and minor below 2^20"))?;
        Ok(Some(extent.record(at, op, stream)))
    }

    fn remarks(&self) -> Remarks {
        Remarks::default()
    }
}
