//! Sysinternals' DiskMon, saved: `number time duration disk Read|Write sector sectors`, separated by tabs, times in seconds with the
//! decimals of the country.

use ftlab::host::Op;
use ftlab::options::text::clip;
use ftlab::units::{Nanos, SimTime};

use crate::trace::columns::RequestPart;
use crate::trace::error::{Bad, ErrorKind};
use crate::trace::fields::{BLANKS, Fields};
use crate::trace::format::{self, Codec, Columns, Format, LineFormat};
use crate::trace::names_of_columns::unit_of;
use crate::trace::numbers::decimal_time;
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units, space_name, time_name};

pub(crate) static FORMAT: Format = Format {
    name: "diskmon",
    doc: "Sysinternals DiskMon, saved as text; the disk is the stream",
    columns: "# Time Duration(s) Disk Read|Write Sector Length",
    units: Units { time: TimeUnit::S, address: SpaceUnit::Sector, size: SpaceUnit::Sector },
    tick: Nanos(100),
    unit_varies: false,
    source: "DiskMon v2.01, Sysinternals",
    not_read: &["durations"],
    address_varies: true,
    epoch: Epoch::Own,
    codec: Codec::Text { fit: format::fit::<DiskMon>, open: format::open::<DiskMon>, writer: None },
};

struct DiskMon {
    units: Units,
    /// What its head says against these units, and where.
    other: Option<(u64, Bad)>,
}

/// The columns whose names may say a unit, and the option for it.
const MEASURED: [(usize, RequestPart, &str); 3] = [
    (1, RequestPart::Time, "time_unit"),
    (5, RequestPart::Offset, "address_unit"),
    (6, RequestPart::Size, "size_unit"),
];

/// A column of the head whose name says another unit.
fn other_unit(sample: &[u8], units: &Units) -> Option<(u64, Bad)> {
    let mut lines = (1..).zip(sample.split(|&byte| byte == b'\n'));
    let (number, head) =
        lines.find(|(_, line)| !format::is_void(line) || line.starts_with(b"#"))?;
    let text = std::str::from_utf8(head.strip_prefix(b"#")?).ok()?.trim_end();
    let names: Vec<&str> = text.split('\t').collect();
    let own = [units.time.ns(), units.address.bytes(), units.size.bytes()];
    // DiskMon itself says a unit for durations alone.
    let named = MEASURED.map(|(index, part, _)| unit_of(part, names.get(index)?));
    let differ = |at: &usize| named[*at].is_some_and(|unit| unit != own[*at]);
    let others: Vec<usize> = (0..MEASURED.len()).filter(differ).collect();
    let (first, is_one) = (*others.first()?, others.len() == 1);
    let (index, part, option) = MEASURED[first];
    let all = [0, 1, 2].map(|at| named[at].unwrap_or(own[at]));
    let is_option = part == RequestPart::Time
        || SpaceUnit::ALL.iter().any(|(_, known)| known.bytes() == all[first]);
    let said = match part {
        _ if !is_one || !is_option => as_columns(all),
        RequestPart::Time => format!("`{option}` {}", time_name(all[first])),
        _ => format!("`{option}` {}", space_name(all[first])),
    };
    let name = clip(names[index]);
    let problem = format!("the head calls a column {name}, which is another unit than DiskMon's");
    let remedy = format!("if the head is right, say the unit: {said}; if not, correct it");
    let (kind, field) = (ErrorKind::Unsupported, 0..1 + text.len());
    Some((number, Bad { kind, field, problem, remedy: Some(remedy) }))
}

/// DiskMon's columns as a table's, in nanoseconds and bytes.
fn as_columns([time, offset, size]: [u64; 3]) -> String {
    let time = match time == TimeUnit::S.ns() {
        true => String::new(),
        false => format!(":{}", time_name(time)),
    };
    format!(
        "`columns` time=2{time},op=5,offset=6:{offset},size=7:{size},stream=4; leave out `format` {}",
        FORMAT.name
    )
}

impl LineFormat for DiskMon {
    const SEPARATOR: u8 = BLANKS;
    const EVEN: Option<u8> = Some(b'\t');
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

    fn refusal(&self) -> Option<(u64, Bad)> {
        self.other.clone()
    }
}
