//! blkparse's default text: `maj,min cpu sequence seconds pid action RWBS sector + sectors [name]`.
//!
//! One request leaves many events. Issues to the driver (`D`) count, because the device sees them;
//! on demand, or if there are none, queue events (`Q`). Completions (`C`) count only on demand,
//! because their times are those of the ends. Summaries and all other events are skipped. The
//! stream is the device, `major << 20 | minor`.

use ftlab::host::Op;
use ftlab::units::Nanos;

use crate::trace::error::Bad;
use crate::trace::fields::{BLANKS, Fields};
use crate::trace::format::{self, Codec, Columns, Format, LineFormat, LineWriter, Remarks};
use crate::trace::options::{BlkEvent, Options};
use crate::trace::record::Record;
use crate::trace::units::{SpaceUnit, TimeUnit, Units};

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
    codec: Codec::Text {
        fit: format::fit::<Blkparse>,
        open: format::open::<Blkparse>,
        writer: || Box::new(BlkparseWriter::default()),
    },
};

/// The bits of the minor device number, as in the kernel.
const MINOR_BITS: u32 = 20;

struct Blkparse {
    units: Units,
    event: BlkEvent,
    said: bool,
    in_summary: bool,
    seen: Seen,
    preflush_writes: u64,
    devices: Vec<u32>,
}

/// Counts of events by kind.
#[derive(Default)]
struct Seen {
    issues: u64,
    queued: u64,
    completed: u64,
    others: u64,
}

impl Seen {
    fn count(&mut self, action: &[u8]) {
        *match action {
            b"D" => &mut self.issues,
            b"Q" => &mut self.queued,
            b"C" => &mut self.completed,
            _ => &mut self.others,
        } += 1;
    }

    fn of(&self, event: BlkEvent) -> u64 {
        match event {
            BlkEvent::Issue => self.issues,
            BlkEvent::Queue => self.queued,
            BlkEvent::Complete => self.completed,
        }
    }

    fn all(&self) -> u64 {
        self.issues + self.queued + self.completed + self.others
    }
}

/// Returns the name of an event.
const fn called(event: BlkEvent) -> &'static str {
    match event {
        BlkEvent::Issue => "issue events (D)",
        BlkEvent::Queue => "queue events (Q)",
        BlkEvent::Complete => "completions (C)",
    }
}

/// The beginning of an event line.
struct Event<'a> {
    time: ftlab::units::SimTime,
    device: u32,
    action: &'a [u8],
}

impl LineFormat for Blkparse {
    const SEPARATOR: u8 = BLANKS;
    const COLUMNS: Columns = Columns { time: 3, address: 7, size: 9 };

    fn new(units: Units, options: &Options, sample: &[u8]) -> Blkparse {
        let event = options.blkparse_event.unwrap_or_else(|| dominant_event(sample));
        Blkparse {
            units,
            event,
            said: options.blkparse_event.is_some(),
            in_summary: false,
            seen: Seen::default(),
            preflush_writes: 0,
            devices: Vec::new(),
        }
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Record>, Bad> {
        let mut fields = Fields::<BLANKS>::new(line);
        let event = match event(&mut fields, self.units.time.ns()) {
            Ok(event) => event,
            Err(bad) => return if self.is_summary(line) { Ok(None) } else { Err(bad) },
        };
        self.seen.count(event.action);
        let counts = event.action == self.event.letter().as_bytes();
        if counts { self.request(&mut fields, &event) } else { Ok(None) }
    }

    fn remarks(&self) -> Remarks {
        let mut remarks = Remarks { instead: self.instead(), ..Remarks::default() };
        let why = match self.event {
            _ if self.said => "as said",
            BlkEvent::Queue => "because the beginning of the file has no issue events (D)",
            _ => "because the beginning of the file has some",
        };
        remarks.assumed.push(format!("{} are the requests, {why}", called(self.event)));
        if self.preflush_writes > 0 {
            let count = self.preflush_writes;
            remarks
                .assumed
                .push(format!("{count} writes with a flush before them are plain writes"));
        }
        if self.event == BlkEvent::Queue && self.seen.issues > 0 {
            let count = self.seen.issues;
            remarks.warnings.push(format!(
                "queue events (Q) were counted, and there are {count} issue events (D) too \
                 (`blkparse_event` issue)"
            ));
        }
        if self.event == BlkEvent::Complete {
            remarks.warnings.push(
                "completions (C) were counted: requests arrive when they had ended where the trace was \
                 taken, and in that order; replay them with a queue depth"
                    .to_owned(),
            );
        }
        if self.devices.len() > 1 {
            remarks.warnings.push(format!(
                "{} devices in one file: a request to a partition or a mapped device shows again \
                 at the disk beneath",
                self.devices.len()
            ));
        }
        remarks
    }
}

impl Blkparse {
    /// Returns what the file contains if it has no counted events.
    fn instead(&self) -> Option<(String, String)> {
        let (seen, event) = (&self.seen, self.event);
        if seen.all() == 0 || seen.of(event) > 0 {
            return None;
        }
        let others: Vec<String> = BlkEvent::ALL
            .iter()
            .filter(|(_, other)| seen.of(*other) > 0)
            .map(|(_, other)| format!("{} {}", seen.of(*other), called(*other)))
            .chain((seen.others > 0).then(|| format!("{} of other kinds", seen.others)))
            .collect();
        let found = format!("it has no {}, but {}", called(event), others.join(", "));
        let remedy = match BlkEvent::ALL.iter().find(|(_, other)| seen.of(*other) > 0) {
            Some((name, BlkEvent::Complete)) => format!(
                "record issues too (blktrace -a issue); or `blkparse_event` {name} takes completions, which \
                 have the times at which requests ended"
            ),
            Some((name, _)) => format!("`blkparse_event` {name} takes those"),
            None => "record issues (blktrace -a issue), and print all events".to_owned(),
        };
        Some((found, remedy))
    }

    /// Parses a counted event.
    fn request(
        &mut self,
        fields: &mut Fields<'_, BLANKS>,
        event: &Event<'_>,
    ) -> Result<Option<Record>, Bad> {
        let rwbs = fields.text();
        let (flush, kind) = match rwbs {
            [b'F', rest @ ..] => (true, rest.first()),
            _ => (false, rwbs.first()),
        };
        if !self.devices.contains(&event.device) && self.devices.len() < usize::from(u8::MAX) {
            self.devices.push(event.device);
        }
        let op = match kind {
            Some(b'R') => Op::Read,
            Some(b'W') => Op::Write,
            Some(b'D') => Op::Trim,
            Some(b'N' | b'F') | None if flush => {
                return Ok(Some(Record::flush(event.time, event.device)));
            }
            Some(b'N') => return Ok(None),
            _ => return Err(fields.bad("an operation (RWBS)", "R, W, D, F or N, and modifiers")),
        };
        let mut ahead = Fields::<BLANKS>::new(fields.rest());
        if ahead.text().first() == Some(&b'[') {
            // No sectors: an empty write with a flush.
            return Ok(flush.then(|| Record::flush(event.time, event.device)));
        }
        self.preflush_writes += u64::from(flush);
        // An F behind the operation means force unit access.
        let after = rwbs.iter().skip(1 + usize::from(flush));
        let fua = op == Op::Write && after.into_iter().any(|&letter| letter == b'F');
        let record = self.extent(fields, event, op)?;
        Ok(record.map(|record| Record { fua, ..record }))
    }

    fn extent(
        &self,
        fields: &mut Fields<'_, BLANKS>,
        event: &Event<'_>,
        op: Op,
    ) -> Result<Option<Record>, Bad> {
        fields.back();
        let address = fields.number("a sector")?;
        if fields.text() != b"+" {
            return Err(fields.bad("a plus", "sector + sectors"));
        }
        let size = fields.number("a number of sectors")?;
        let extent = crate::trace::fields::Extent::new(address, size, &self.units)
            .ok_or_else(|| fields.bad("a size", "address and size within 2^64 bytes"))?;
        Ok(Some(extent.record(event.time, op, event.device)))
    }

    /// Whether a line belongs to the summary that blkparse prints behind the events.
    fn is_summary(&mut self, line: &[u8]) -> bool {
        let begins = line.starts_with(b"CPU") || line.starts_with(b"Total (");
        self.in_summary |= begins && self.seen.all() > 0;
        self.in_summary
    }
}

/// Parses the columns that all events have.
fn event<'a>(fields: &mut Fields<'a, BLANKS>, unit_ns: u64) -> Result<Event<'a>, Bad> {
    let device =
        device(fields.text()).ok_or_else(|| fields.bad("a device", "major,minor, as in 8,0"))?;
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

fn device(field: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(field).ok()?;
    let (major, minor) = text.split_once(',')?;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    let fits = major < 1 << (32 - MINOR_BITS) && minor < 1 << MINOR_BITS;
    fits.then_some(major << MINOR_BITS | minor)
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
        self.sequence += 1;
        let (major, minor) = (record.stream >> MINOR_BITS, record.stream % (1 << MINOR_BITS));
        put!(out, "{major:3},{minor:<3}  0 {:8} ", self.sequence);
        put_seconds(out, record.at.0);
        let letters = match record.op {
            Op::Read => "R",
            Op::Write if record.fua => "WF",
            Op::Write => "W",
            Op::Trim => "D",
            Op::Flush => "FN",
            _ => return Err(ZONES),
        };
        put!(out, "     0  D {letters:>3} ");
        if record.op != Op::Flush {
            put!(out, "{} + {} ", record.lba.0, record.sectors);
        }
        out.extend_from_slice(b"[ftlab]\n");
        Ok(())
    }
}
