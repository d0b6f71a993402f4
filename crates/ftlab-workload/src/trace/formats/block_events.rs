//! Events of Linux' block layer, in whatever form they were written down: which of them are the requests, and what RWBS means.
//!
//! One request leaves many events. Issues to the driver count, because the device sees them; on demand, or if there are none,
//! queue events. Completions count only on demand, because their times are those of the ends. A request that the driver gave back
//! is issued again, and counts [once](super::requeues). All other events are skipped. The stream is the device, `major << 20 | minor`.

use ftlab::host::Op;

use crate::trace::error::Bad;
use crate::trace::format::Remarks;
use crate::trace::options::{BlkEvent, Options};
use crate::trace::record::Record;
use crate::trace::words::counted;

use super::requeues::Requeues;

/// The bits of the minor device number, as in the kernel.
pub(super) const MINOR_BITS: u32 = 20;

/// The major number of the first SCSI disks, and how many minor numbers each has.
const SCSI_DISKS: u32 = 8;
const SCSI_MINORS: u32 = 16;
/// So many queue events for each other event are more than merges explain.
const MANY: u64 = 4;

/// How many devices are told apart.
const MOST_DEVICES: usize = 255;
/// How many devices a warning lists.
const LISTED: usize = 4;

/// What happens to a request in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockAction {
    /// It goes one step on.
    Step(BlkEvent),
    /// The driver gives it back, to be issued again.
    Requeue,
    Other,
}

/// The events of one device.
#[derive(Clone, Copy, Debug)]
struct DeviceEvents {
    device: u32,
    issues: u64,
    queued: u64,
    requests: u64,
}

/// How a program calls the events, and how it records issues.
pub(super) struct EventNames {
    pub code: fn(BlkEvent) -> &'static str,
    pub record: &'static str,
}

/// Those of blktrace.
pub(super) const BLKTRACE: EventNames =
    EventNames { code: BlkEvent::letter, record: "blktrace -a issue" };

impl EventNames {
    /// An event as its source calls it.
    fn one(&self, event: BlkEvent, plural: &str) -> String {
        let word = match event {
            BlkEvent::Issue => "issue event",
            BlkEvent::Queue => "queue event",
            BlkEvent::Complete => "completion",
        };
        format!("{word}{plural} ({})", (self.code)(event))
    }

    fn all(&self, event: BlkEvent) -> String {
        self.one(event, "s")
    }

    /// So many of them.
    fn counted(&self, number: u64, event: BlkEvent) -> String {
        format!("{number} {}", self.one(event, if number == 1 { "" } else { "s" }))
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
    devices: Vec<DeviceEvents>,
    /// Where the device of the last event is among them, which mostly has the next, too.
    last_device: usize,
    /// Whether there are more devices than are told apart.
    has_more_devices: bool,
    requeues: Requeues,
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

/// A flush alone.
pub(super) const FLUSH: BlockOperation =
    BlockOperation { op: Some(Op::Flush), flush: true, fua: false };

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
            last_device: 0,
            has_more_devices: false,
            requeues: Requeues::default(),
        }
    }

    /// Passes an event on: its request, if it counts and is a new one. The device and the request are read only where they are needed.
    #[inline]
    pub fn pass(
        &mut self,
        action: BlockAction,
        device: impl FnOnce() -> u32,
        request: impl FnOnce() -> Result<Option<(Record, BlockOperation)>, Bad>,
    ) -> Result<Option<Record>, Bad> {
        if !self.needs(action, device) {
            return Ok(None);
        }
        match request() {
            Ok(found) => {
                Ok(found.and_then(|(record, operation)| self.take(action, record, operation)))
            }
            // What is given back or ends was told when it was issued.
            Err(_) if action != BlockAction::Step(self.event) => Ok(None),
            Err(bad) => Err(bad),
        }
    }

    /// Counts an event; returns whether its request is needed.
    fn needs(&mut self, action: BlockAction, device: impl FnOnce() -> u32) -> bool {
        match action {
            BlockAction::Step(BlkEvent::Issue) => {
                self.issues += 1;
                self.device(device(), |events| events.issues += 1);
            }
            BlockAction::Step(BlkEvent::Queue) => {
                self.queued += 1;
                self.device(device(), |events| events.queued += 1);
            }
            BlockAction::Step(BlkEvent::Complete) => self.completed += 1,
            BlockAction::Requeue | BlockAction::Other => self.others += 1,
        }
        match action {
            BlockAction::Step(event) if event == self.event => true,
            // It tells which requests will not be issued again.
            BlockAction::Step(BlkEvent::Complete) => self.requeues.are_awaited(),
            BlockAction::Requeue => self.event == BlkEvent::Issue,
            BlockAction::Step(_) | BlockAction::Other => false,
        }
    }

    /// Notes the request of an event that is needed. Returns it if it counts and is a new one.
    fn take(
        &mut self,
        action: BlockAction,
        record: Record,
        operation: BlockOperation,
    ) -> Option<Record> {
        let key = (record.stream, record.lba.0, record.sectors);
        if action == BlockAction::Requeue {
            self.requeues.give_back(key);
            return None;
        }
        if action != BlockAction::Step(self.event) {
            self.requeues.end(key);
            return None;
        }
        if self.event == BlkEvent::Issue && !self.requeues.issue(key) {
            return None;
        }
        self.device(record.stream, |events| events.requests += 1);
        self.preflush_writes += u64::from(operation.flush && operation.op == Some(Op::Write));
        Some(record)
    }

    /// Counts an event of a device.
    #[inline]
    fn device(&mut self, device: u32, count: impl FnOnce(&mut DeviceEvents)) {
        let is_it = |known: &DeviceEvents| known.device == device;
        if !self.devices.get(self.last_device).is_some_and(is_it) {
            let Some(at) = self.place_of(device) else { return };
            self.last_device = at;
        }
        count(&mut self.devices[self.last_device]);
    }

    /// Where a device is among those that are told apart, to which it is added if there is room.
    fn place_of(&mut self, device: u32) -> Option<usize> {
        let known = self.devices.iter().position(|known| known.device == device);
        if known.is_none() && self.devices.len() == MOST_DEVICES {
            self.has_more_devices = true;
            return None;
        }
        Some(known.unwrap_or_else(|| {
            self.devices.push(DeviceEvents { device, issues: 0, queued: 0, requests: 0 });
            self.devices.len() - 1
        }))
    }

    /// Devices of which there are queue events alone, in words.
    fn unissued(&self) -> Option<String> {
        if self.event != BlkEvent::Issue || self.said || self.issues == 0 {
            return None;
        }
        let is_without = |events: &&DeviceEvents| events.issues == 0 && events.queued > 0;
        let without: Vec<&DeviceEvents> = self.devices.iter().filter(is_without).collect();
        let listed = without.iter().take(LISTED).map(|events| {
            let (major, minor) =
                (events.device >> MINOR_BITS, events.device & ((1 << MINOR_BITS) - 1));
            (format!("{major},{minor}"), events.queued)
        });
        let listed: Vec<(String, u64)> = listed.collect();
        let (first, _) = listed.first()?;
        let counted = listed.iter().map(|(device, queued)| format!("{device} ({queued})"));
        let counted = counted.collect::<Vec<_>>().join(", ");
        let more = if without.len() > LISTED { ", ..." } else { "" };
        let (issue, queue) = (self.names.all(BlkEvent::Issue), self.names.all(BlkEvent::Queue));
        Some(format!(
            "of these devices there are {queue} and no {issue}, so they have no requests: {counted}{more}. That is right for \
             partitions and mapped devices, whose requests show again at the disk beneath; of another disk, record \
             issues, too, or read its events alone (of text such as blkparse's by grep -w {first}) with \
             `blkparse_event` queue"
        ))
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
        let (names, issue) = (&self.names, self.names.all(BlkEvent::Issue));
        let mut remarks = Remarks { instead: self.instead(), ..Remarks::default() };
        let why = match self.event {
            _ if self.said => "as said".to_owned(),
            BlkEvent::Queue => format!("because the beginning of the file has no {issue}"),
            _ => "because the beginning of the file has some".to_owned(),
        };
        remarks.assumed.push(format!("{} are the requests, {why}", names.all(self.event)));
        if self.preflush_writes > 0 {
            remarks.assumed.push(counted(
                self.preflush_writes,
                "write with a flush before it is a plain write",
                "writes with a flush before them are plain writes",
            ));
        }
        if self.requeues.again() > 0 {
            let again = counted(
                self.requeues.again(),
                "issue of a request that the driver had given back (requeued) is left out",
                "issues of requests that the driver had given back (requeued) are left out",
            );
            let why = "a request counts once, when it was issued first, as far as its events are in one file";
            remarks.assumed.push(format!("{again}: {why}"));
        }
        remarks.warnings = self.warnings();
        remarks
    }

    /// What is odd about the events.
    fn warnings(&self) -> Vec<String> {
        let names = &self.names;
        let mut warnings: Vec<String> = self.unissued().into_iter().collect();
        if self.event == BlkEvent::Queue && self.issues > 0 {
            let (queue, issues) =
                (names.all(BlkEvent::Queue), names.counted(self.issues, BlkEvent::Issue));
            warnings.push(format!(
                "{queue} were counted, and the file has {issues}, too (`blkparse_event` issue)"
            ));
        }
        let seen = self.issues + self.others;
        if self.event == BlkEvent::Issue && !self.said && self.queued > seen.saturating_mul(MANY) {
            let issues = names.counted(self.issues, BlkEvent::Issue);
            let queued = names.counted(self.queued, BlkEvent::Queue);
            warnings.push(format!(
                "the file has {issues}, which were counted, and {queued}: are issues missing? `blkparse_event` queue \
                 counts those"
            ));
        }
        if self.requeues.unissued() > 0 {
            let given_back = counted(
                self.requeues.unissued(),
                "request was given back (requeued) whose issue is not in this file",
                "requests were given back (requeued) whose issues are not in this file",
            );
            warnings.push(format!(
                "{given_back}: if it was recorded by another processor, and the next issue here, such a request counts twice"
            ));
        }
        if self.event == BlkEvent::Complete {
            let complete = names.all(BlkEvent::Complete);
            warnings.push(format!(
                "{complete} were counted: requests arrive when they had ended where the trace was taken, and in \
                 that order; replay them with a queue depth"
            ));
        }
        let devices = || self.devices.iter().filter(|events| events.requests > 0);
        let count = devices().count();
        let more = if self.has_more_devices { " or more" } else { "" };
        if count > 1 && !devices().all(|events| is_whole_disk(events.device)) {
            warnings.push(format!(
                "{count}{more} devices in one file: a request to a partition or a mapped device shows again \
                 at the disk beneath"
            ));
        }
        if self.has_more_devices {
            warnings.push(format!(
                "the file has events of more than {MOST_DEVICES} devices: whether the others have issues was not looked at"
            ));
        }
        warnings
    }

    /// Returns what the file contains if it has no counted events.
    fn instead(&self) -> Option<(String, String)> {
        if self.all() == 0 || self.of(self.event) > 0 {
            return None;
        }
        let there = || BlkEvent::ALL.iter().filter(|(_, other)| self.of(*other) > 0);
        let others: Vec<String> = there()
            .map(|(_, other)| self.names.counted(self.of(*other), *other))
            .chain((self.others > 0).then(|| format!("{} of other kinds", self.others)))
            .collect();
        let found = format!("it has no {}, but {}", self.names.all(self.event), others.join(", "));
        let record = self.names.record;
        let remedy = match there().next() {
            Some((name, BlkEvent::Complete)) => format!(
                "record issues, too ({record}); or `blkparse_event` {name} takes completions, which \
                 have the times at which requests ended"
            ),
            Some((name, _)) => format!("`blkparse_event` {name} takes those"),
            None => format!("record issues ({record}), and print all events"),
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
