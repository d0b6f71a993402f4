//! Events of the block layer as ftrace, trace-cmd and perf print them: `process-pid [cpu] flags seconds: event: maj,min RWBS ...`.
//!
//! `block_rq_issue` is an issue, `block_bio_queue` a queue event, `block_rq_complete` a completion; which of them count is decided
//! as for [all such events](super::block_events). Lines of other tracers are skipped.

use std::ops::Range;

use ftlab::host::Op;
use ftlab::units::{Nanos, SimTime};

use crate::trace::error::Bad;
use crate::trace::fields::{BLANKS, Extent, Fields};
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, Remarks};
use crate::trace::gate::RecordPart;
use crate::trace::options::{BlkEvent, Options};
use crate::trace::record::Record;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};
use crate::trace::words::counted;

use super::block_events::{BlockAction, BlockEvents, BlockOperation, EventNames, stream_of_text};

pub(crate) static FORMAT: Format = Format {
    name: "ftrace",
    doc: "block events as ftrace, trace-cmd and perf print them; issue events, or queue events if there are none; \
          completions on demand (`blkparse_event` complete)",
    columns: "process-pid [cpu] flags seconds: event: maj,min RWBS [bytes (command)] sector + sectors [process]",
    units: Units { time: TimeUnit::S, address: SpaceUnit::Sector, size: SpaceUnit::Sector },
    tick: Nanos(1_000),
    unit_varies: false,
    source: "include/trace/events/block.h of Linux; Documentation/trace/ftrace.rst; trace-cmd-report(1)",
    not_read: &["processes", "processors", "events that are no requests"],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Text { fit: format::fit::<Ftrace>, open: format::open::<Ftrace>, writer: None },
};

struct Ftrace {
    units: Units,
    events: BlockEvents,
    /// Events that are missing.
    lost: u64,
}

/// How ftrace calls the events. perf knows them by the same names.
const NAMES: EventNames =
    EventNames { code: name_of, record: "trace-cmd record -e block:block_rq_issue" };

fn name_of(event: BlkEvent) -> &'static str {
    match event {
        BlkEvent::Issue => "block_rq_issue",
        BlkEvent::Queue => "block_bio_queue",
        BlkEvent::Complete => "block_rq_complete",
    }
}

/// The parts of a line, as ranges of it.
struct Parts {
    time: Range<usize>,
    event: Range<usize>,
    rest: Range<usize>,
}

/// Finds the time and the event of a line: `... seconds: event: rest`. None if it has none.
fn parts(line: &[u8]) -> Option<Parts> {
    let mut from = 0;
    // The name of a process may contain a colon.
    while let Some(colon) = memchr::memmem::find(&line[from..], b": ").map(|at| from + at) {
        let start = line[..colon].iter().rposition(|&byte| byte == b' ').map_or(0, |at| at + 1);
        let is_time = !line[start..colon].is_empty()
            && line[start..colon].iter().all(|&byte| byte.is_ascii_digit() || byte == b'.');
        let event = colon + 2..line.len();
        let ends = line[event.clone()].iter().position(|&byte| byte == b':');
        if let (true, Some(length)) = (is_time, ends) {
            let name = event.start..event.start + length;
            let blanks = line[name.clone()].iter().take_while(|&&byte| byte == b' ').count();
            let name = name.start + blanks..name.end;
            let (event, rest) = match &line[name.clone()] {
                // perf puts the group before the name.
                b"block" => {
                    let behind = name.end + 1;
                    let length = line[behind..].iter().position(|&byte| byte == b':')?;
                    (behind..behind + length, behind + length + 1..line.len())
                }
                _ => (name.clone(), name.end + 1..line.len()),
            };
            return Some(Parts { time: start..colon, event, rest });
        }
        from = colon + 2;
    }
    None
}

/// What an event does to a request.
fn action_of(event: &[u8]) -> BlockAction {
    match event {
        b"block_rq_issue" => BlockAction::Step(BlkEvent::Issue),
        b"block_bio_queue" => BlockAction::Step(BlkEvent::Queue),
        b"block_rq_complete" => BlockAction::Step(BlkEvent::Complete),
        b"block_rq_requeue" => BlockAction::Requeue,
        _ => BlockAction::Other,
    }
}

/// Whether a line stands before the events, as trace-cmd prints it.
fn is_head(line: &[u8]) -> bool {
    [&b"cpus="[..], b"version = ", b"CPU "].iter().any(|begin| line.starts_with(begin))
}

/// How many events a line says are missing there: `CPU:1 [LOST 12 EVENTS]`, or `[12 EVENTS DROPPED]`.
fn lost_events(line: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(line).ok()?.trim().strip_prefix("CPU:")?;
    let told = text.split_once('[')?.1.strip_suffix(']')?;
    if !told.contains("EVENTS") {
        return None;
    }
    told.split(' ').find_map(|word| word.parse().ok())
}

/// Returns issues if the beginning of a file has any, otherwise queue events.
fn dominant_event(sample: &[u8]) -> BlkEvent {
    let mut queued = false;
    for line in sample.split(|&byte| byte == b'\n') {
        match parts(line).map(|parts| action_of(&line[parts.event])) {
            Some(BlockAction::Step(BlkEvent::Issue)) => return BlkEvent::Issue,
            Some(BlockAction::Step(BlkEvent::Queue)) => queued = true,
            _ => {}
        }
    }
    if queued { BlkEvent::Queue } else { BlkEvent::Issue }
}

impl LineFormat for Ftrace {
    const SEPARATOR: u8 = BLANKS;
    // Process names may contain blanks, so columns have no fixed places: see `place`.
    const COLUMNS: Columns = Columns { time: 3, address: 7, size: 9 };
    const HAS_EVENTS: bool = true;

    fn new(units: Units, options: &Options, sample: &[u8]) -> Ftrace {
        Ftrace { units, events: BlockEvents::new(options, dominant_event(sample), NAMES), lost: 0 }
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let Some(parts) = parts(line) else {
            if let Some(lost) = lost_events(line) {
                self.lost = self.lost.saturating_add(lost);
                return Ok(None);
            }
            return if is_head(line) { Ok(None) } else { Err(no_event(line)) };
        };
        if !line[parts.event.clone()].starts_with(b"block_") {
            return Ok(None);
        }
        let action = action_of(&line[parts.event.clone()]);
        // Of a device that can't be read the request tells, if it counts.
        let device = || {
            let mut fields = Fields::<BLANKS>::new(&line[parts.rest.clone()]);
            stream_of_text(fields.text()).unwrap_or(0)
        };
        let Ftrace { units, events, .. } = self;
        events.pass(action, device, || request(units, line, &parts))
    }

    fn place(line: &[u8], part: RecordPart) -> Range<usize> {
        let Some(parts) = parts(line) else { return 0..line.len() };
        match part {
            RecordPart::Time => parts.time,
            _ => extent_of(line, parts.rest.clone()).unwrap_or(parts.rest),
        }
    }

    fn remarks(&self) -> Remarks {
        let mut remarks = self.events.remarks();
        if self.lost > 0 {
            remarks.warnings.push(format!(
                "{} lost where the trace was taken, and requests may be missing: record with a larger buffer",
                counted(self.lost, "event was", "events were")
            ));
        }
        remarks
    }
}

/// Parses an event whose request is needed.
fn request(
    units: &Units,
    line: &[u8],
    parts: &Parts,
) -> Result<Option<(Record, BlockOperation)>, Bad> {
    let at = Fields::<BLANKS>::new(&line[parts.time.clone()])
        .time(units.time.ns())
        .map_err(|bad| Bad { field: parts.time.clone(), ..bad })?;
    let mut fields = Fields::<BLANKS>::new(&line[parts.rest.clone()]);
    let from = parts.rest.start;
    let device = stream_of_text(fields.text())
        .ok_or_else(|| shifted(fields.bad("a device", "major,minor, as in 8,0"), from))?;
    let operation = BlockOperation::of_rwbs(fields.text()).ok_or_else(|| {
        let expected = "R, W, D, F or N, and modifiers";
        shifted(fields.bad("an operation (RWBS)", expected), from)
    })?;
    let Some(op) = operation.op else { return Ok(None) };
    let is_empty = |record: &Record| record.sectors == 0 && operation.flush;
    if op == Op::Flush {
        return Ok(Some((Record::flush(at, device), operation)));
    }
    let record = extent(units, line, parts.rest.clone(), (at, op, device))?;
    let record = match is_empty(&record) {
        true => Record::flush(at, device),
        false => Record { fua: operation.fua, ..record },
    };
    Ok(Some((record, operation)))
}

/// Parses `sector + sectors`.
fn extent(
    units: &Units,
    line: &[u8],
    rest: Range<usize>,
    (at, op, device): (SimTime, Op, u32),
) -> Result<Record, Bad> {
    let Some(place) = extent_of(line, rest.clone()) else {
        return Err(Bad::field(rest, "expected sector + sectors"));
    };
    let mut fields = Fields::<BLANKS>::new(&line[place.clone()]);
    let shift = |bad| shifted(bad, place.start);
    let address = fields.number("a sector").map_err(shift)?;
    fields.text();
    let size = fields.number("a number of sectors").map_err(shift)?;
    let extent = Extent::new(address, size, units);
    let extent =
        extent.ok_or_else(|| shift(fields.bad("a size", "address and size within 2^64 bytes")))?;
    Ok(extent.record(at, op, device))
}
/// The place of `sector + sectors` in a line.
fn extent_of(line: &[u8], rest: Range<usize>) -> Option<Range<usize>> {
    let text = &line[rest.clone()];
    let plus = memchr::memmem::find(text, b" + ")?;
    let start = text[..plus].iter().rposition(|&byte| byte == b' ').map_or(0, |at| at + 1);
    let end = text[plus + 3..].iter().position(|&byte| byte == b' ');
    let end = end.map_or(text.len(), |length| plus + 3 + length);
    Some(rest.start + start..rest.start + end)
}

fn shifted(bad: Bad, by: usize) -> Bad {
    Bad { field: bad.field.start + by..bad.field.end + by, ..bad }
}

#[cold]
fn no_event(line: &[u8]) -> Bad {
    Bad::field(0..line.len(), "expected an event: process-pid [cpu] flags seconds: event: ...")
}
