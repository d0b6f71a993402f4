//! Binary output of blktrace: records of 48 bytes, each followed by as many bytes of other data as it says, in the byte order of
//! the machine that wrote them. One file per processor, or one of all (`blktrace -o -`).
//!
//! Which events are the requests is decided as for [all events of the block layer](super::block_events).

use ftlab::host::Op;
use ftlab::units::{Nanos, SimTime};

use crate::trace::error::{Bad, ErrorKind};
use crate::trace::fields::Extent;
use crate::trace::format::{self, BinaryFormat, Codec, Format, Remarks, Taken};
use crate::trace::options::{BlkEvent, Options};
use crate::trace::record::Record;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};

use super::block_events::{BLKTRACE, BlockAction, BlockEvents, BlockOperation, stream_of};
use super::bytes::ByteOrder;

pub(crate) static FORMAT: Format = Format {
    name: "blktrace",
    doc: "binary output of blktrace, one file or one for each processor, of either byte order; issue events (D), or \
          queue events (Q) if there are none; completions (C) on demand (`blkparse_event` complete)",
    columns: "magic sequence time sector bytes action pid device cpu error length (48 bytes), and as many more bytes",
    units: Units { time: TimeUnit::Ns, address: SpaceUnit::Sector, size: SpaceUnit::Byte },
    tick: Nanos(1),
    unit_varies: false,
    source: "struct blk_io_trace in include/uapi/linux/blktrace_api.h, version 7",
    not_read: &["processes", "processors", "events that are no requests"],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Binary { begins, open: format::open_binary::<Blktrace> },
};

/// The upper three bytes of each record's first word.
const MAGIC: u32 = 0x6561_7400;
/// The version of the records, in the lowest byte.
const VERSION: u32 = 7;
/// The bytes of a record before its own data.
const HEAD: usize = 48;
/// Where the action stands in it.
const ACTION_AT: usize = 28;
/// Where its device stands.
const DEVICE_AT: usize = 36;
/// Where the length of its own data stands in it.
const LENGTH_AT: usize = 46;

/// Categories in the upper half of an action.
mod category {
    pub const READ: u32 = 1 << 0;
    pub const WRITE: u32 = 1 << 1;
    pub const FLUSH: u32 = 1 << 2;
    pub const PC: u32 = 1 << 9;
    pub const NOTIFY: u32 = 1 << 10;
    pub const DISCARD: u32 = 1 << 13;
    pub const FUA: u32 = 1 << 15;
}

/// The action in the lower half, without the flag of control groups.
const ACTION: u32 = 0xff;
const QUEUE: u32 = 1;
const REQUEUE: u32 = 6;
const ISSUE: u32 = 7;
const COMPLETE: u32 = 8;

/// The byte order in which a file begins with the magic number.
fn order(start: &[u8]) -> Option<ByteOrder> {
    let orders = [ByteOrder::Little, ByteOrder::Big];
    let fits = |order: &ByteOrder| order.u32(start, 0) & !0xff == MAGIC;
    orders.into_iter().filter(|_| start.len() >= 4).find(fits)
}

fn begins(start: &[u8]) -> bool {
    order(start).is_some()
}

struct Blktrace {
    units: Units,
    order: ByteOrder,
    events: BlockEvents,
}

impl BinaryFormat for Blktrace {
    const LONGEST: usize = HEAD + u16::MAX as usize;
    const HAS_EVENTS: bool = true;

    fn new(units: Units, options: &Options, start: &[u8]) -> Result<Blktrace, Bad> {
        let order = order(start).ok_or_else(no_magic)?;
        let mut queued = false;
        let mut at = 0;
        let mut found = BlkEvent::Issue;
        while let Some(head) = start.get(at..at + HEAD) {
            match action_of(order.u32(head, ACTION_AT)) {
                BlockAction::Step(BlkEvent::Issue) => {
                    queued = false;
                    break;
                }
                BlockAction::Step(BlkEvent::Queue) => queued = true,
                _ => {}
            }
            at += HEAD + usize::from(order.u16(head, LENGTH_AT));
        }
        if queued {
            found = BlkEvent::Queue;
        }
        Ok(Blktrace { units, order, events: BlockEvents::new(options, found, BLKTRACE) })
    }

    fn record(&mut self, ahead: &[u8]) -> Result<Option<Taken>, Bad> {
        let Some(head) = ahead.get(..HEAD) else { return Ok(None) };
        let order = self.order;
        let magic = order.u32(head, 0);
        if magic & !0xff != MAGIC {
            return Err(no_magic());
        }
        if magic & 0xff != VERSION {
            return Err(other_version(magic & 0xff));
        }
        let length = HEAD + usize::from(order.u16(head, LENGTH_AT));
        if ahead.len() < length {
            return Ok(None);
        }
        let (word, device) = (order.u32(head, ACTION_AT), order.u32(head, DEVICE_AT));
        // The kernel's internal form of a device number: twelve bits and twenty.
        let stream = stream_of(device >> 20, device & ((1 << 20) - 1)).unwrap_or(device);
        let action = action_of(word);
        let read = || request(&self.units, order, head, (word, stream));
        let request = self.events.pass(action, || stream, read)?;
        Ok(Some(Taken { length, request }))
    }

    fn remarks(&self) -> Remarks {
        self.events.remarks()
    }
}

/// What happens to a request. Notes and commands from programs (SCSI, NVMe) are none.
fn action_of(word: u32) -> BlockAction {
    if (word >> 16) & (category::NOTIFY | category::PC) != 0 {
        return BlockAction::Other;
    }
    match word & ACTION {
        QUEUE => BlockAction::Step(BlkEvent::Queue),
        ISSUE => BlockAction::Step(BlkEvent::Issue),
        COMPLETE => BlockAction::Step(BlkEvent::Complete),
        REQUEUE => BlockAction::Requeue,
        _ => BlockAction::Other,
    }
}

/// Reads an event whose request is needed.
fn request(
    units: &Units,
    order: ByteOrder,
    head: &[u8],
    (word, stream): (u32, u32),
) -> Result<Option<(Record, BlockOperation)>, Bad> {
    let has = |category: u32| (word >> 16) & category != 0;
    let bytes = order.u32(head, 24);
    let flush = has(category::FLUSH);
    let op = match () {
        () if bytes == 0 => flush.then_some(Op::Flush),
        () if has(category::DISCARD) => Some(Op::Trim),
        () if has(category::WRITE) => Some(Op::Write),
        () if has(category::READ) => Some(Op::Read),
        () => None,
    };
    let fua = op == Some(Op::Write) && has(category::FUA);
    let Some(op) = op else { return Ok(None) };
    let operation = BlockOperation { op: Some(op), flush, fua };
    let at = order.u64(head, 8).checked_mul(units.time.ns());
    let at = SimTime(at.ok_or_else(|| beyond("time"))?);
    if op == Op::Flush {
        return Ok(Some((Record::flush(at, stream), operation)));
    }
    let extent = Extent::new(order.u64(head, 16), bytes.into(), units);
    let extent = extent.ok_or_else(|| beyond("address"))?;
    Ok(Some((Record { fua, ..extent.record(at, op, stream) }, operation)))
}

#[cold]
fn beyond(what: &str) -> Bad {
    Bad::record(format!(
        "the {what} of a record of blktrace is beyond 64 bits of nanoseconds or bytes"
    ))
}

#[cold]
fn no_magic() -> Bad {
    Bad::record("a record of blktrace does not begin with its magic number")
}

#[cold]
fn other_version(version: u32) -> Bad {
    Bad {
        kind: ErrorKind::Unsupported,
        field: 0..0,
        problem: format!("the records of blktrace are of version {version}, not {VERSION}"),
        remedy: Some(
            "convert it to text with the blkparse of that time: blkparse -i FILE".to_owned(),
        ),
    }
}
