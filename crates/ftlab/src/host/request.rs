//! What a host asks of the device, and what the device answers.

use serde::Serialize;

use super::QueueId;
use crate::units::{Lba, Nanos, SimTime};

/// The kind of a host command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Read sectors.
    Read,
    /// Write sectors.
    Write,
    /// Deallocate sectors; pages that the range covers only in part keep their data.
    Trim,
    /// Make everything acknowledged before this command durable. Address and length are ignored.
    Flush,
}

impl Op {
    /// Whether data comes or goes with it.
    #[inline]
    #[must_use]
    pub const fn moves_data(self) -> bool {
        matches!(self, Op::Read | Op::Write)
    }

    /// Whether what the device holds is another after it.
    #[inline]
    #[must_use]
    pub const fn changes_data(self) -> bool {
        !matches!(self, Op::Read | Op::Flush)
    }
}

/// One host command. Plain data: whoever submits it chooses the `tag` and finds it again in the
/// [`Completion`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// What to do.
    pub op: Op,
    /// The first sector.
    pub lba: Lba,
    /// How many sectors; at least one, except for a flush.
    pub sectors: u32,
    /// The stream, queue or volume it belongs to, for policies that tell them apart.
    pub stream: u32,
    /// The submitter's own mark, handed back unchanged.
    pub tag: u32,
    /// Of a write: it is told when its data is on flash (force unit access). Means nothing for others.
    pub fua: bool,
}

/// Where the time of a request went. The parts sum to its latency exactly; for a request of several
/// pages they follow the page that finished last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Breakdown {
    /// In the submission queue, until the controller fetched the command.
    pub submission: Nanos,
    /// In the controller's front end.
    pub front_end: Nanos,
    /// Data on the link between host and device, or waiting for it.
    pub link: Nanos,
    /// In DRAM: moving data to or from the write buffer.
    pub buffer: Nanos,
    /// Waiting for room in the write buffer, or for the write-back that a flush or a write without a
    /// buffer waits for to begin.
    pub admission: Nanos,
    /// Waiting for entries of the map that were not in memory (`ftl.map.mapping.policy = "dftl"`).
    pub translation: Nanos,
    /// Waiting for a die or a bus that served other host work.
    pub queue: Nanos,
    /// Waiting for a die or a bus that was busy with garbage collection, or for a free page; for room
    /// in the write buffer, too, as long as write-backs found no free page.
    pub gc: Nanos,
    /// On the bus.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It was done.
    #[default]
    Done,
    /// The device takes no writes any more (see [`ftl::wear`](crate::ftl::wear)). What the request
    /// was to change is unchanged, or changed in part; what it was to make durable may not be.
    ReadOnly,
    /// A read found data that nothing corrects: it is lost, and what the read brings is none.
    Unreadable,
}

/// The answer to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The request, as it was submitted.
    pub request: Request,
    /// The submission queue through which it came.
    pub queue: QueueId,
    /// When it was submitted.
    pub submitted: SimTime,
    /// When it was done.
    pub finished: SimTime,
    /// Where the time between went.
    pub breakdown: Breakdown,
    /// How it ended.
    pub outcome: Outcome,
}

impl Completion {
    /// From submission to completion.
    #[must_use]
    pub fn latency(&self) -> Nanos {
        self.finished - self.submitted
    }
}

/// Why [`Host::advance_until`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advanced {
    /// At least one request finished at the present moment; its completion was appended.
    Completed,
    /// The limit was reached, and nothing finished on the way.
    Reached,
    /// Nothing is left to do before the limit or after it: no request is in the device and no
    /// background work either. The clock stands where the last event left it, or at the limit if
    /// that is a finite moment.
    Idle,
}

/// The whole interface between a front end and a device: replay, command line, Python and block
/// device call these three and differ only in who owns the clock.
pub trait Host {
    /// The present moment.
    fn now(&self) -> SimTime;

    /// How many sectors the host can address.
    fn capacity_sectors(&self) -> u64;

    /// The submission queue that commands of `stream` go to.
    fn queue_of(&self, stream: u32) -> QueueId {
        let _ = stream;
        QueueId::default()
    }

    /// Whether the host may submit one more command to `queue`.
    fn has_room(&self, queue: QueueId) -> bool {
        let _ = queue;
        true
    }

    /// Hands over one command at moment `at`.
    ///
    /// `at` must not lie before [`now`](Self::now), and the device must have been advanced so far that
    /// nothing is due in it before that (a request at the present moment always may be submitted). What
    /// is due at the same moment comes after the command. Its queue must have
    /// [room](Self::has_room). The range must lie within the capacity and hold at least one sector,
    /// unless it is a flush. Panics otherwise: front ends validate what comes from outside.
    fn submit(&mut self, at: SimTime, request: Request);

    /// Runs the device until something completes or `limit` is reached, whichever comes first.
    /// Events at `limit` itself are run. Completions of the instant are appended to `done`.
    fn advance_until(&mut self, limit: SimTime, done: &mut Vec<Completion>) -> Advanced;

    /// Says that `request` will be submitted soon, so that the tables it needs may be brought into
    /// the processor's caches. Changes nothing that can be observed.
    fn expect(&self, request: &Request) {
        let _ = request;
    }
}
