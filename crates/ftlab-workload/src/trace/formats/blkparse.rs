//! blkparse's default text: `maj,min cpu sequence seconds pid action RWBS sector + sectors [name]`.
//!
//! Which events are the requests is decided as for all [events of the block layer](super::block_events). Summaries are skipped.

use ftlab::host::Op;
use ftlab::units::Nanos;

use crate::trace::error::Bad;
use crate::trace::fields::{BLANKS, Fields};
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, LineWriter, Remarks};
use crate::trace::options::{BlkEvent, Options};
use crate::trace::record::Record;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};

use super::block_events::{
    BLKTRACE, BlockAction, BlockEvents, BlockOperation, FLUSH, MINOR_BITS, stream_of_text,
};
use super::{ZONES, put, put_seconds};

pub(crate) static FORMAT: Format = Format {
    name: "blkparse",
    doc: "blkparse default text; issue events (D), or queue events (Q) if there are none; completions (C) on \
          demand (`blkparse_event` complete)",
    columns: "maj,min cpu sequence seconds pid action RWBS sector + sectors [process]",
    units: Units { time: TimeUnit::S, address: SpaceUnit::Sector, size: SpaceUnit::Sector },
    tick: Nanos(1),
    unit_varies: false,
    source: "blkparse(1), sections on the default format, actions and RWBS",
    not_read: &["processes", "processors", "events that are no requests"],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Text {
        fit: format::fit::<Blkparse>,
        open: format::open::<Blkparse>,
        writer: Some(|| Box::new(BlkparseWriter::default())),
    },
};

struct Blkparse {
    units: Units,
    events: BlockEvents,
    in_summary: bool,
    /// What the summary says of events that were lost.
    skips: Option<String>,
}

/// The letter of a request that the driver gives back.
const REQUEUE: &[u8] = b"R";

/// The beginning of an event line.
struct Event<'a> {
    time: ftlab::units::SimTime,
    device: u32,
    action: &'a [u8],
}

impl LineFormat for Blkparse {
    const SEPARATOR: u8 = BLANKS;
    const COLUMNS: Columns = Columns { time: 3, address: 7, size: 9 };
    const HAS_EVENTS: bool = true;

    fn new(units: Units, options: &Options, sample: &[u8]) -> Blkparse {
        let events = BlockEvents::new(options, dominant_event(sample), BLKTRACE);
        Blkparse { units, events, in_summary: false, skips: None }
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let mut fields = Fields::<BLANKS>::new(line);
        let event = match event(&mut fields, self.units.time.ns()) {
            Ok(event) => event,
            Err(bad) => return if self.is_summary(line) { Ok(None) } else { Err(bad) },
        };
        let is = |(_, known): &&(&str, BlkEvent)| event.action == known.letter().as_bytes();
        let action = match BlkEvent::ALL.iter().find(is) {
            Some((_, known)) => BlockAction::Step(*known),
            None if event.action == REQUEUE => BlockAction::Requeue,
            None => BlockAction::Other,
        };
        let Blkparse { units, events, .. } = self;
        events.pass(action, || event.device, || request(units, &mut fields, &event))
    }

    fn remarks(&self) -> Remarks {
        let mut remarks = self.events.remarks();
        remarks.warnings.extend(self.skips.as_ref().map(|skips| {
            format!(
                "by its summary blkparse lacks events (Skips: {skips}): requests may be missing"
            )
        }));
        remarks
    }
}

/// Parses an event whose request is needed.
fn request(
    units: &Units,
    fields: &mut Fields<'_, BLANKS>,
    event: &Event<'_>,
) -> Result<Option<(Record, BlockOperation)>, Bad> {
    let operation = BlockOperation::of_rwbs(fields.text())
        .ok_or_else(|| fields.bad("an operation (RWBS)", "R, W, D, F or N, and modifiers"))?;
    let flush = || (Record::flush(event.time, event.device), FLUSH);
    let Some(op) = operation.op else { return Ok(None) };
    if op == Op::Flush {
        return Ok(Some(flush()));
    }
    let mut ahead = Fields::<BLANKS>::new(fields.rest());
    if ahead.text().first() == Some(&b'[') {
        // No sectors: an empty write with a flush.
        return Ok(operation.flush.then(flush));
    }
    let record = extent(units, fields, event, op)?;
    Ok(Some((Record { fua: operation.fua, ..record }, operation)))
}

fn extent(
    units: &Units,
    fields: &mut Fields<'_, BLANKS>,
    event: &Event<'_>,
    op: Op,
) -> Result<Record, Bad> {
    fields.back();
    let address = fields.number("a sector")?;
    if fields.text() != b"+" {
        return Err(fields.bad("a plus", "sector + sectors"));
    }
    let size = fields.number("a number of sectors")?;
    let extent = crate::trace::fields::Extent::new(address, size, units)
        .ok_or_else(|| fields.bad("a size", "address and size within 2^64 bytes"))?;
    Ok(extent.record(event.time, op, event.device))
}

impl Blkparse {
    /// Whether a line belongs to what blkparse prints before the events, or to the summary behind them. A terminal shows the
    /// key that stopped it, too.
    fn is_summary(&mut self, line: &[u8]) -> bool {
        if line.starts_with(b"Input file ") || line == b"^C" {
            return true;
        }
        let line = line.strip_prefix(b"^C").unwrap_or(line);
        let begins = line.starts_with(b"CPU") || line.starts_with(b"Total (");
        self.in_summary |= begins && self.events.all() > 0;
        if let Some(skips) = line.strip_prefix(b"Skips: ").filter(|_| self.in_summary)
            && !skips.starts_with(b"0 ")
        {
            self.skips = Some(String::from_utf8_lossy(skips.trim_ascii()).into_owned());
        }
        self.in_summary
    }
}

/// Parses the columns that all events have.
fn event<'a>(fields: &mut Fields<'a, BLANKS>, unit_ns: u64) -> Result<Event<'a>, Bad> {
    let device = stream_of_text(fields.text())
        .ok_or_else(|| fields.bad("a device", "major,minor, as in 8,0"))?;
    fields.number("a processor")?;
    fields.number("a sequence number")?;
    let time = fields.time(unit_ns)?;
    fields.number("a process")?;
    let action = fields.text();
    if !matches!(action.len(), 1..=2) || !action.iter().all(u8::is_ascii_alphabetic) {
        return Err(fields.bad("an action", "one or two letters, as in Q or D"));
    }
    Ok(Event { time, device, action })
}

/// Returns issue events if the beginning of a file has any, otherwise queue events.
fn dominant_event(sample: &[u8]) -> BlkEvent {
    let mut queued = false;
    for line in sample.split(|&byte| byte == b'\n') {
        match event(&mut Fields::new(line), 1).map(|event| event.action) {
            Ok(b"D") => return BlkEvent::Issue,
            Ok(b"Q") => queued = true,
            _ => {}
        }
    }
    if queued { BlkEvent::Queue } else { BlkEvent::Issue }
}

#[derive(Default)]
struct BlkparseWriter {
    sequence: u64,
}

impl LineWriter for BlkparseWriter {
    fn record(&mut self, record: &Record, out: &mut Vec<u8>) -> Result<(), &'static str> {
        // What is refused leaves nothing behind.
        let letters = match record.op {
            Op::Read => "R",
            Op::Write if record.fua => "WF",
            Op::Write => "W",
            Op::Trim => "D",
            Op::Flush => "FN",
            _ => return Err(ZONES),
        };
        self.sequence += 1;
        let (major, minor) = (record.stream >> MINOR_BITS, record.stream % (1 << MINOR_BITS));
        put!(out, "{major:3},{minor:<3}  0 {:8} ", self.sequence);
        put_seconds(out, record.at.0);
        put!(out, "     0  D {letters:>3} ");
        if record.op != Op::Flush {
            put!(out, "{} + {} ", record.lba.0, record.sectors);
        }
        out.extend_from_slice(b"[ftlab]\n");
        Ok(())
    }
}
