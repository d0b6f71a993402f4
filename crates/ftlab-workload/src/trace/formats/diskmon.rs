//! Sysinternals' DiskMon, saved: `number time duration disk Read|Write sector sectors`, separated by tabs, times in seconds with the
//! decimals of the country.

use ftlab::host::Op;
use ftlab::options::text::clip;
use ftlab::units::{Nanos, SimTime};

use crate::trace::columns::RequestPart;
use crate::trace::error::Bad;
use crate::trace::fields::{BLANKS, Fields};
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, Remarks};
use crate::trace::names_of_columns::unit_of;
use crate::trace::numbers::decimal_time;
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::units::{SpaceUnit, TimeUnit, Units};

pub(crate) static FORMAT: Format = Format {
    name: "diskmon",
    doc: "Sysinternals DiskMon, saved as text; the disk is the stream",
    columns: "# Time Duration(s) Disk Read|Write Sector Length",
    units: Units { time: TimeUnit::S, address: SpaceUnit::Sector, size: SpaceUnit::Sector },
    tick: Nanos(100),
    unit_varies: false,
    source: "DiskMon v2.01, Sysinternals",
    not_read: &["durations"],
    epoch: Epoch::Own,
    codec: Codec::Text { fit: format::fit::<DiskMon>, open: format::open::<DiskMon>, writer: None },
};

struct DiskMon {
    units: Units,
    /// What its head says against these units.
    other: Option<String>,
}

/// The columns whose names may say a unit.
const MEASURED: [(usize, RequestPart); 3] =
    [(1, RequestPart::Time), (5, RequestPart::Offset), (6, RequestPart::Size)];

/// A column of the head whose name says another unit.
fn other_unit(sample: &[u8], units: &Units) -> Option<String> {
    let head = sample
        .split(|&byte| byte == b'\n')
        .find(|line| !format::is_void(line) || line.starts_with(b"#"))?;
    let text = std::str::from_utf8(head.strip_prefix(b"#")?).ok()?;
    let names: Vec<&str> = text.trim_end().split('\t').collect();
    MEASURED.into_iter().find_map(|(index, part)| {
        let name = names.get(index)?;
        let own = match part {
            RequestPart::Time => units.time.ns(),
            RequestPart::Offset => units.address.bytes(),
            _ => units.size.bytes(),
        };
        // DiskMon itself says a unit for durations alone.
        unit_of(part, name).filter(|unit| *unit != own).map(|_| clip(name))
    })
}

impl LineFormat for DiskMon {
    const SEPARATOR: u8 = BLANKS;
    const COLUMNS: Columns = Columns { time: 1, address: 5, size: 6 };

    fn new(units: Units, _: &Options, sample: &[u8]) -> DiskMon {
        DiskMon { other: other_unit(sample, &units), units }
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let mut fields = Fields::<BLANKS>::new(line);
        fields.number("a line number")?;
        let unit = self.units.time.ns();
        let mut seconds = |what: &str| {
            let time = decimal_time(fields.text(), unit);
            time.ok_or_else(|| fields.bad(what, "seconds with decimals"))
        };
        let at = SimTime(seconds("a time")?);
        seconds("a duration")?;
        let stream = fields.small("a disk number")?;
        let op = match fields.text() {
            b"Read" => Op::Read,
            b"Write" => Op::Write,
            _ => return Err(fields.bad("an operation", "Read or Write")),
        };
        let extent = fields.extent(&self.units)?;
        Ok(Some(extent.record(at, op, stream)))
    }

    fn remarks(&self) -> Remarks {
        let warning = self.other.as_ref().map(|name| {
            format!(
                "the head calls a column {name}, which is another unit than DiskMon's: if the head is right, say the unit \
                 (`time_unit`, `address_unit`, `size_unit`)"
            )
        });
        Remarks { warnings: warning.into_iter().collect(), ..Remarks::default() }
    }
}
