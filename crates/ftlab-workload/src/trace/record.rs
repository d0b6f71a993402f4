//! A request of a trace, whatever its format.

use ftlab::host::Op;
use ftlab::units::{Lba, SimTime};
use serde::Serialize;

use crate::replay::Arrival;

/// A request. Plain data, 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Record {
    /// The arrival time, from the first record of the trace.
    pub at: SimTime,
    /// The operation.
    pub op: Op,
    /// The first sector; zero for a flush.
    pub lba: Lba,
    /// The number of sectors of 512 bytes; zero for a flush.
    pub sectors: u32,
    /// The device, volume, disk or file it belongs to, as numbered in the trace.
    pub stream: u32,
    /// Whether a write completes only when its data is on flash (force unit access).
    pub fua: bool,
}

impl Record {
    /// Creates a flush.
    #[must_use]
    pub fn flush(at: SimTime, stream: u32) -> Record {
        Record { at, op: Op::Flush, lba: Lba(0), sectors: 0, stream, fua: false }
    }

    /// Returns the sector after the last one.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.lba.0 + u64::from(self.sectors)
    }
}

impl From<Record> for Arrival {
    fn from(record: Record) -> Arrival {
        let Record { at, op, lba, sectors, stream, fua } = record;
        Arrival { at, op, lba, sectors, stream, fua }
    }
}

/// Returns the code of a request's operation in Parquet files and digests.
#[must_use]
pub(crate) const fn op_code(record: &Record) -> u8 {
    match record.op {
        Op::Read => 0,
        Op::Write if record.fua => 4,
        Op::Write => 1,
        Op::Trim => 2,
        Op::Flush => 3,
        Op::Append if record.fua => 12,
        Op::Append => 5,
        Op::ZoneOpen => 6,
        Op::ZoneClose => 7,
        Op::ZoneFinish => 8,
        Op::ZoneReset => 9,
        Op::ZoneOffline => 10,
        Op::ZoneCommit => 11,
    }
}

/// The inverse of [`op_code`]: returns the operation, and whether it has `fua`.
pub(crate) const fn op_of(code: u8) -> Option<(Op, bool)> {
    match code {
        0 => Some((Op::Read, false)),
        1 => Some((Op::Write, false)),
        2 => Some((Op::Trim, false)),
        3 => Some((Op::Flush, false)),
        4 => Some((Op::Write, true)),
        5 => Some((Op::Append, false)),
        6 => Some((Op::ZoneOpen, false)),
        7 => Some((Op::ZoneClose, false)),
        8 => Some((Op::ZoneFinish, false)),
        9 => Some((Op::ZoneReset, false)),
        10 => Some((Op::ZoneOffline, false)),
        11 => Some((Op::ZoneCommit, false)),
        12 => Some((Op::Append, true)),
        _ => None,
    }
}
