//! Requests of the host and the answers of the device.

use serde::Serialize;

use super::QueueId;
use super::zones::ZoneError;
use crate::units::{Lba, Nanos, SimTime};

/// The kind of a host command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Read sectors.
    Read,
    /// Write sectors.
    Write,
    /// Deallocate sectors. Pages that the range covers only in part keep their data.
    Trim,
    /// Make everything acknowledged before this command durable. Address and length are ignored.
    Flush,
    /// Write at the write pointer of the zone that begins at the address. The completion has the address of the data.
    Append,
    /// Open the zones of the range.
    ZoneOpen,
    /// Close the zones of the range.
    ZoneClose,
    /// Make the zones of the range full.
    ZoneFinish,
    /// Empty the zones of the range.
    ZoneReset,
    /// Take the read-only zones of the range out of service.
    ZoneOffline,
    /// Commit the random write area of a zone up to the end of the range.
    ZoneCommit,
}

impl Op {
    /// All kinds.
    pub const ALL: [Op; 11] = [
        Op::Read,
        Op::Write,
        Op::Trim,
        Op::Flush,
        Op::Append,
        Op::ZoneOpen,
        Op::ZoneClose,
        Op::ZoneFinish,
        Op::ZoneReset,
        Op::ZoneOffline,
        Op::ZoneCommit,
    ];

    /// The kinds that every device has.
    pub const COMMON: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Flush];

    /// The number of [rows](Self::row).
    pub const ROWS: usize = 5;

    /// Its name, as results have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "flush",
            Op::Append => "append",
            Op::ZoneOpen => "zone-open",
            Op::ZoneClose => "zone-close",
            Op::ZoneFinish => "zone-finish",
            Op::ZoneReset => "zone-reset",
            Op::ZoneOffline => "zone-offline",
            Op::ZoneCommit => "zone-commit",
        }
    }

    /// The kind with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Op> {
        Op::ALL.into_iter().find(|op| op.name() == name)
    }

    /// Whether it transfers data.
    #[inline]
    #[must_use]
    pub const fn moves_data(self) -> bool {
        matches!(self, Op::Read | Op::Write | Op::Append)
    }

    /// Whether it changes the content of the device.
    #[inline]
    #[must_use]
    pub const fn changes_data(self) -> bool {
        matches!(self, Op::Write | Op::Trim | Op::Append | Op::ZoneReset)
    }

    /// Whether it is a write: it brings data.
    #[inline]
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Op::Write | Op::Append)
    }

    /// Whether it manages zones.
    #[inline]
    #[must_use]
    pub const fn manages_zones(self) -> bool {
        matches!(
            self,
            Op::ZoneOpen
                | Op::ZoneClose
                | Op::ZoneFinish
                | Op::ZoneReset
                | Op::ZoneOffline
                | Op::ZoneCommit
        )
    }

    /// The row of statistics in which it is counted: reads, writes and appends, trims, flushes, management of zones.
    #[inline]
    #[must_use]
    pub const fn row(self) -> usize {
        match self {
            Op::Read => 0,
            Op::Write | Op::Append => 1,
            Op::Trim => 2,
            Op::Flush => 3,
            _ => 4,
        }
    }
}

/// A host command. Plain data: the submitter chooses the `tag` and finds it again in the
/// [`Completion`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// What to do.
    pub op: Op,
    /// The first sector.
    pub lba: Lba,
    /// Number of sectors; at least one, except for a flush.
    pub sectors: u32,
    /// The stream, queue or volume that it belongs to, for policies that distinguish them.
    pub stream: u32,
    /// The submitter's own mark, handed back unchanged.
    pub tag: u32,
    /// Whether a write is acknowledged only when its data is on flash (force unit access). Ignored for
    /// other commands.
    pub fua: bool,
}

/// How the time of a request was spent. The parts add up to its latency exactly; for a request of
/// several pages they follow the page that finished last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Breakdown {
    /// In the submission queue, until the controller fetched the command.
    pub submission: Nanos,
    /// In the controller's front end: the command is taken up, its completion is posted and told of by an interrupt.
    pub front_end: Nanos,
    /// Data, the command and its completion on the link between host and device, or waiting for it.
    pub link: Nanos,
    /// In DRAM: moving data to or from the write buffer, and between DRAM and the host (`controller.dram`).
    pub buffer: Nanos,
    /// Waiting for room in the write buffer, or for the start of the write-back that a flush or an
    /// unbuffered write waits for.
    pub admission: Nanos,
    /// Waiting for entries of the map that were not in memory (`ftl.mapping.policy = "dftl"`).
    pub translation: Nanos,
    /// Waiting for a die or a bus that served other host work, or for pages of the index that name other writes.
    pub queue: Nanos,
    /// Waiting for a die or a bus that was busy with garbage collection or other work of the device's own, or for a free page; also for
    /// room in the write buffer while write-backs found no free page.
    pub gc: Nanos,
    /// On the bus, and behind it: in the engines that decode what was read (`controller.ecc`), and between DRAM and the
    /// flash (`controller.dram`).
    pub bus: Nanos,
    /// In the flash array: sensing, programming.
    pub cell: Nanos,
}

impl Breakdown {
    /// The sum of the parts: the latency.
    #[must_use]
    pub fn total(&self) -> Nanos {
        self.submission
            + self.front_end
            + self.link
            + self.buffer
            + self.admission
            + self.translation
            + self.queue
            + self.gc
            + self.bus
            + self.cell
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It was done.
    #[default]
    Done,
    /// The device accepts no writes any more (see [`ftl::wear`](crate::ftl::wear)). The data that the
    /// request was to change is unchanged, or changed in part; the data that it was to make durable may
    /// not be.
    ReadOnly,
    /// A read found uncorrectable data: it is lost, and the result of the read is invalid.
    Unreadable,
    /// The state of a zone does not allow it. Nothing has changed.
    Zone(ZoneError),
}

impl Outcome {
    /// Whether the device carried the request out, as far as its data could be read.
    #[inline]
    #[must_use]
    pub const fn is_carried_out(self) -> bool {
        matches!(self, Outcome::Done | Outcome::Unreadable)
    }

    /// Its number in tables: 0 done, 1 read-only, 2 unreadable, from 3 on the errors of zones.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Outcome::Done => 0,
            Outcome::ReadOnly => 1,
            Outcome::Unreadable => 2,
            Outcome::Zone(error) => 3 + error as u8,
        }
    }
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Completion {
    /// The request as submitted. That of an append has the address of its data.
    pub request: Request,
    /// The submission queue through which it came.
    pub queue: QueueId,
    /// When it was submitted.
    pub submitted: SimTime,
    /// When it was done.
    pub finished: SimTime,
    /// How the time in between was spent.
    pub breakdown: Breakdown,
    /// How it ended.
    pub outcome: Outcome,
}

impl Completion {
    /// The time from submission to completion.
    #[must_use]
    pub fn latency(&self) -> Nanos {
        self.finished - self.submitted
    }
}
