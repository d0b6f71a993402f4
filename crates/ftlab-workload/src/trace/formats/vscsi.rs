//! CloudPhysics' traces of virtual disks (vSCSI), versions 1 and 2: records of 32 and 40 bytes, lowest byte first. The file has no
//! head; each record names its version.
//!
//! The disk is not in the records: a file is one disk. Commands other than reads, writes, synchronizations of the cache and
//! unmaps are skipped, and counted.

use ftlab::host::Op;
use ftlab::units::Nanos;

use crate::trace::error::Bad;
use crate::trace::fields::Extent;
use crate::trace::format::{self, BinaryFormat, Codec, Format, Remarks, Taken};
use crate::trace::options::Options;
use crate::trace::record::Record;
use crate::trace::units::{Epoch, SpaceUnit, TimeUnit, Units};
use ftlab::units::SimTime;

use super::bytes::ByteOrder;

pub(crate) static FORMAT: Format = Format {
    name: "vscsi",
    doc: "CloudPhysics traces of virtual disks (vSCSI), binary, versions 1 and 2; a file is one disk",
    columns: "1: serial length segments command version block time; 2: command version serial length segments block time \
              response",
    units: Units { time: TimeUnit::Us, address: SpaceUnit::Sector, size: SpaceUnit::Byte },
    tick: Nanos(1_000),
    unit_varies: false,
    source: "Waldspurger et al., FAST 2015; vscsi.h of libCacheSim",
    not_read: &["serial numbers", "numbers of segments"],
    address_varies: false,
    epoch: Epoch::Own,
    codec: Codec::Binary { begins, open: format::open_binary::<Vscsi> },
};

/// The places of the numbers in a record of one version.
struct VscsiLayout {
    length: usize,
    version: usize,
    command: usize,
    bytes: usize,
    block: usize,
    time: usize,
}

const LAYOUTS: [VscsiLayout; 2] = [
    VscsiLayout { length: 32, version: 14, command: 12, bytes: 4, block: 16, time: 24 },
    VscsiLayout { length: 40, version: 2, command: 0, bytes: 8, block: 16, time: 24 },
];

/// The version whose records a file begins with: the first three, as far as they are there, have its number.
fn layout(start: &[u8]) -> Option<&'static VscsiLayout> {
    let fits = |(at, layout): &(usize, &'static VscsiLayout)| {
        let mut records = start.chunks_exact(layout.length).take(3);
        let is_of = |record: &[u8]| version(record, layout) == at + 1;
        start.len() >= layout.length && records.all(is_of)
    };
    LAYOUTS.iter().enumerate().find(fits).map(|(_, layout)| layout)
}

/// The upper byte of a record's version.
fn version(record: &[u8], layout: &VscsiLayout) -> usize {
    usize::from(ByteOrder::Little.u16(record, layout.version) >> 8)
}

fn begins(start: &[u8]) -> bool {
    layout(start).is_some()
}

struct Vscsi {
    units: Units,
    layout: &'static VscsiLayout,
    widened: u64,
    others: u64,
}

impl BinaryFormat for Vscsi {
    const LONGEST: usize = 40;

    fn new(units: Units, _: &Options, start: &[u8]) -> Result<Vscsi, Bad> {
        let layout = layout(start).ok_or_else(no_version)?;
        Ok(Vscsi { units, layout, widened: 0, others: 0 })
    }

    fn record(&mut self, ahead: &[u8]) -> Result<Option<Taken>, Bad> {
        let (layout, order) = (self.layout, ByteOrder::Little);
        let Some(record) = ahead.get(..layout.length) else { return Ok(None) };
        if version(record, layout) != version_of(layout) {
            return Err(no_version());
        }
        let Some(op) = operation(order.u16(record, layout.command)) else {
            self.others += 1;
            return Ok(Some(Taken { length: layout.length, request: None }));
        };
        let time = order.u64(record, layout.time).checked_mul(self.units.time.ns());
        let at = SimTime(time.ok_or_else(|| too_large("a time"))?);
        let (block, bytes) = (order.u64(record, layout.block), order.u32(record, layout.bytes));
        let extent = Extent::new(block, bytes.into(), &self.units);
        let extent = extent.ok_or_else(|| too_large("an address"))?;
        self.widened += u64::from(extent.widened);
        let request = match op {
            Op::Flush => Record::flush(at, 0),
            _ => extent.record(at, op, 0),
        };
        Ok(Some(Taken { length: layout.length, request: Some(request) }))
    }

    fn remarks(&self) -> Remarks {
        let mut remarks = Remarks { widened: self.widened, ..Remarks::default() };
        let number = version_of(self.layout);
        remarks.assumed.push(format!("records of version {number}, as the first ones say"));
        if self.others > 0 {
            remarks.assumed.push(format!("{} other commands are no requests", self.others));
        }
        remarks
    }
}

fn version_of(layout: &VscsiLayout) -> usize {
    if layout.length == LAYOUTS[0].length { 1 } else { 2 }
}

/// What a SCSI command does to the medium (SBC-4): reads and writes of 6, 10, 12 and 16 bytes, writes with verification.
fn operation(command: u16) -> Option<Op> {
    match command {
        0x08 | 0x28 | 0xa8 | 0x88 => Some(Op::Read),
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => Some(Op::Write),
        0x35 | 0x91 => Some(Op::Flush),
        _ => None,
    }
}

#[cold]
fn no_version() -> Bad {
    Bad::record("a record of vSCSI does not say version 1 or 2")
}

#[cold]
fn too_large(what: &str) -> Bad {
    Bad::record(format!("{what} exceeds 2^64 bytes or nanoseconds"))
}
