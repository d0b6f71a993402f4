//! DiskSim's "validate" traces: `R|W action block blocks service-time gap`, times in microseconds. A request arrives a gap after
//! the one before it has ended where the trace was taken.

use ftlab::host::Op;
use ftlab::units::{Nanos, SimTime};

use crate::trace::error::Bad;
use crate::trace::fields::{BLANKS, Fields};
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, Remarks};
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};

pub(crate) static FORMAT: Format = Format {
    name: "disksim-validate",
    doc: "DiskSim's traces for validation: arrivals follow from service times and gaps",
    columns: "R|W action block blocks service-us gap-us",
    units: Units { time: TimeUnit::Us, address: SpaceUnit::Sector, size: SpaceUnit::Sector },
    tick: Nanos(1),
    unit_varies: false,
    source: "iotrace_validate_get_ioreq_event in disksim_iotrace.c",
    not_read: &["service times"],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Text {
        fit: format::fit::<Validate>,
        open: format::open::<Validate>,
        writer: None,
    },
};

struct Validate {
    units: Units,
    /// When the next request arrives.
    next: SimTime,
}

impl LineFormat for Validate {
    const SEPARATOR: u8 = BLANKS;
    const COLUMNS: Columns = Columns { time: 4, address: 2, size: 3 };

    fn new(units: Units, _: &Options, _: &[u8]) -> Validate {
        Validate { units, next: SimTime::ZERO }
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let mut fields = Fields::<BLANKS>::new(line);
        let op = match fields.text() {
            b"R" => Op::Read,
            b"W" => Op::Write,
            _ => return Err(fields.bad("an operation", "R or W")),
        };
        if fields.text().is_empty() {
            return Err(fields.bad("an action of the buffer", "a word, as in Miss"));
        }
        let extent = fields.extent(&self.units)?;
        let unit = self.units.time.ns();
        let (service, gap) = (fields.time(unit)?, fields.time(unit)?);
        if !fields.is_done() {
            fields.rest();
            return Err(fields.bad("the end of the line", "six columns"));
        }
        let at = self.next;
        let next = at.0.checked_add(service.0).and_then(|end| end.checked_add(gap.0));
        self.next = SimTime(next.ok_or_else(|| fields.bad("a time", "all within 584 years"))?);
        Ok(Some(extent.record(at, op, 0)))
    }

    fn remarks(&self) -> Remarks {
        let assumed = vec![
            "a request arrives a gap after the end of the one before, as it was measured"
                .to_owned(),
        ];
        Remarks { assumed, ..Remarks::default() }
    }
}
