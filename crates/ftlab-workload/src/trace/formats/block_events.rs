//! Events of Linux' block layer, in whatever form they were written down: which of them are the requests, and what RWBS means.
//!
//! One request leaves many events. Issues to the driver count, because the device sees them; on demand, or if there are none,
//! queue events. Completions count only on demand, because their times are those of the ends. All other events are skipped.
//! The stream is the device, `major << 20 | minor`.

use ftlab::host::Op;

use crate::trace::format::Remarks;
use crate::trace::options::{BlkEvent, Options};

/// The bits of the minor device number, as in the kernel.
pub(super) const MINOR_BITS: u32 = 20;

/// The major number of the first SCSI disks, and how many minor numbers each has.
const SCSI_DISKS: u32 = 8;
const SCSI_MINORS: u32 = 16;
/// So many queue events for each other event are more than merges explain.
const MANY: u64 = 4;

/// How a file calls the events that can be requests.
pub(super) type EventNames = fn(BlkEvent) -> &'static str;

/// The names of blktrace, which are letters.
pub(super) fn as_letters(event: BlkEvent) -> &'static str {
    match event {
        BlkEvent::Issue => "issue events (D)",
        BlkEvent::Queue => "queue events (Q)",
        BlkEvent::Complete => "completions (C)",
    }
}

/// What has been seen of a file's events, and which of them count.
pub(super) struct BlockEvents {
    event: BlkEvent,
    said: bool,
    names: EventNames,
    issues: u64,
    queued: u64,
    completed: u64,
    others: u64,
    preflush_writes: u64,
    devices: Vec<u32>,
}

/// What RWBS says of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockOperation {
    /// None for an event without a request.
    pub op: Option<Op>,
    /// Whether a flush comes first.
    pub flush: bool,
    pub fua: bool,
}

impl BlockEvents {
    /// `found` is the event that counts by the beginning of the file: issues if there are any.
    pub fn new(options: &Options, found: BlkEvent, names: EventNames) -> BlockEvents {
        BlockEvents {
            event: options.blkparse_event.unwrap_or(found),
            said: options.blkparse_event.is_some(),
            names,
            issues: 0,
            queued: 0,
            completed: 0,
            others: 0,
            preflush_writes: 0,
            devices: Vec::new(),
        }
    }

    /// Counts an event; returns whether it is a request. `None` is any other event.
    pub fn counts(&mut self, event: Option<BlkEvent>) -> bool {
        *match event {
            Some(BlkEvent::Issue) => &mut self.issues,
            Some(BlkEvent::Queue) => &mut self.queued,
            Some(BlkEvent::Complete) => &mut self.completed,
            None => &mut self.others,
        } += 1;
        event == Some(self.event)
    }

    /// Notes a request to a device.
    pub fn note(&mut self, device: u32, operation: BlockOperation) {
        if !self.devices.contains(&device) && self.devices.len() < usize::from(u8::MAX) {
            self.devices.push(device);
        }
        self.preflush_writes += u64::from(operation.flush && operation.op == Some(Op::Write));
    }

    fn of(&self, event: BlkEvent) -> u64 {
        match event {
            BlkEvent::Issue => self.issues,
            BlkEvent::Queue => self.queued,
            BlkEvent::Complete => self.completed,
        }
    }

    /// All events so far.
    pub fn all(&self) -> u64 {
        self.issues + self.queued + self.completed + self.others
    }

    pub fn remarks(&self) -> Remarks {
        let (names, issue) = (self.names, (self.names)(BlkEvent::Issue));
        let mut remarks = Remarks { instead: self.instead(), ..Remarks::default() };
        let why = match self.event {
            _ if self.said => "as said".to_owned(),
            BlkEvent::Queue => format!("because the beginning of the file has no {issue}"),
            _ => "because the beginning of the file has some".to_owned(),
        };
        remarks.assumed.push(format!("{} are the requests, {why}", names(self.event)));
        if self.preflush_writes > 0 {
            let count = self.preflush_writes;
            remarks
                .assumed
                .push(format!("{count} writes with a flush before them are plain writes"));
        }
        if self.event == BlkEvent::Queue && self.issues > 0 {
            let (queue, count) = (names(BlkEvent::Queue), self.issues);
            remarks.warnings.push(format!(
                "{queue} were counted, and there are {count} {issue} too (`blkparse_event` issue)"
            ));
        }
        let seen = self.issues + self.others;
        if self.event == BlkEvent::Issue && !self.said && self.queued > seen.saturating_mul(MANY) {
            let (queue, queued) = (names(BlkEvent::Queue), self.queued);
            remarks.warnings.push(format!(
                "{} {issue} were counted, and there are {queued} {queue}: are issues missing? `blkparse_event` queue counts those",
                self.issues
            ));
        }
        if self.event == BlkEvent::Complete {
            let complete = names(BlkEvent::Complete);
            remarks.warnings.push(format!(
                "{complete} were counted: requests arrive when they had ended where the trace was taken, and in \
                 that order; replay them with a queue depth"
            ));
        }
        if self.devices.len() > 1 && !self.devices.iter().all(|device| is_whole_disk(*device)) {
            remarks.warnings.push(format!(
                "{} devices in one file: a request to a partition or a mapped device shows again \
                 at the disk beneath",
                self.devices.len()
            ));
        }
        remarks
    }

    /// Returns what the file contains if it has no counted events.
    fn instead(&self) -> Option<(String, String)> {
        if self.all() == 0 || self.of(self.event) > 0 {
            return None;
        }
        let there = || BlkEvent::ALL.iter().filter(|(_, other)| self.of(*other) > 0);
        let others: Vec<String> = there()
            .map(|(_, other)| format!("{} {}", self.of(*other), (self.names)(*other)))
            .chain((self.others > 0).then(|| format!("{} of other kinds", self.others)))
            .collect();
        let found = format!("it has no {}, but {}", (self.names)(self.event), others.join(", "));
        let remedy = match there().next() {
            Some((name, BlkEvent::Complete)) => format!(
                "record issues too (blktrace -a issue); or `blkparse_event` {name} takes completions, which \
                 have the times at which requests ended"
            ),
            Some((name, _)) => format!("`blkparse_event` {name} takes those"),
            None => "record issues (blktrace -a issue), and print all events".to_owned(),
        };
        Some((found, remedy))
    }
}

impl BlockOperation {
    /// What RWBS means: an F before the operation is a flush, one behind it force unit access. None if it is not RWBS.
    pub fn of_rwbs(rwbs: &[u8]) -> Option<BlockOperation> {
        let (flush, kind) = match rwbs {
            [b'F', rest @ ..] => (true, rest.first()),
            _ => (false, rwbs.first()),
        };
        let op = match kind {
            Some(b'R') => Some(Op::Read),
            Some(b'W') => Some(Op::Write),
            Some(b'D') => Some(Op::Trim),
            Some(b'N' | b'F') | None if flush => Some(Op::Flush),
            Some(b'N') => None,
            _ => return None,
        };
        let after = rwbs.iter().skip(1 + usize::from(flush));
        let fua = op == Some(Op::Write) && after.into_iter().any(|&letter| letter == b'F');
        Some(BlockOperation { op, flush, fua })
    }
}

/// Whether a device is a whole disk, as far as its numbers tell: those of SCSI are 16 apart.
fn is_whole_disk(device: u32) -> bool {
    let (major, minor) = (device >> MINOR_BITS, device & ((1 << MINOR_BITS) - 1));
    major == SCSI_DISKS && minor.is_multiple_of(SCSI_MINORS)
}

/// The stream of a device, unless its numbers are beyond the kernel's.
pub(super) fn stream_of(major: u32, minor: u32) -> Option<u32> {
    let fits = major < 1 << (32 - MINOR_BITS) && minor < 1 << MINOR_BITS;
    fits.then_some(major << MINOR_BITS | minor)
}

/// The stream of a device in the form `major,minor`.
pub(super) fn stream_of_text(field: &[u8]) -> Option<u32> {
    let (major, minor) = std::str::from_utf8(field).ok()?.split_once(',')?;
    stream_of(major.parse().ok()?, minor.parse().ok()?)
}
