//! What is in a store: requests of the host, and the requests to the device that they are made of.

use crate::engine::{Handle, Slab};
use crate::host::{Breakdown, Completion, Outcome, Request};
use crate::units::SimTime;

/// A request of the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostJob {
    pub request: Request,
    pub submitted: SimTime,
    /// Until when the breakdown explains its time.
    explained: SimTime,
    breakdown: Breakdown,
    pub outcome: Outcome,
    /// Its requests in the device. Of a flush, the writes that it waits for.
    pub pending: u32,
    /// Blocks that no append has yet.
    pub next: u32,
    pub end: u32,
    /// The first and the last block, where only a part of them is written.
    pub edges: [Option<BlockEdge>; 2],
    /// Whether it had to wait for a free zone.
    pub waited: bool,
    /// Its number, in the order in which requests were translated.
    pub order: u64,
}

/// A run of blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockRun {
    pub first: u32,
    pub count: u32,
}

/// A block of which a request writes only a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockEdge {
    pub block: u32,
    /// Where the rest that was read lies now, if the block had a place: the place, and how often its zone had been reset.
    pub source: Option<(u32, u32)>,
}

impl HostJob {
    pub fn new(at: SimTime, request: Request) -> HostJob {
        HostJob {
            request,
            submitted: at,
            explained: at,
            breakdown: Breakdown::default(),
            outcome: Outcome::Done,
            pending: 0,
            next: 0,
            end: 0,
            edges: [None; 2],
            waited: false,
            order: 0,
        }
    }

    /// Its addresses are translated.
    pub fn translated(&mut self, now: SimTime, order: u64) {
        self.breakdown.translation = now - self.explained;
        self.explained = now;
        self.order = order;
    }

    /// Takes in how a request of it went that the device has completed.
    pub fn hears(&mut self, completion: &Completion) {
        if self.outcome == Outcome::Done {
            self.outcome = completion.outcome;
        }
    }

    /// The last of its requests in the device is done: its time since that was submitted was spent as the device says.
    pub fn explain(&mut self, completion: &Completion) {
        self.explain_rest(completion.submitted);
        let (sum, part) = (&mut self.breakdown, &completion.breakdown);
        sum.submission += part.submission;
        sum.front_end += part.front_end;
        sum.link += part.link;
        sum.buffer += part.buffer;
        sum.admission += part.admission;
        sum.translation += part.translation;
        sum.queue += part.queue;
        sum.gc += part.gc;
        sum.bus += part.bus;
        sum.cell += part.cell;
        self.explained = completion.finished;
    }

    /// What is left of its time until `then` was spent waiting in the store: for a zone, or for other requests.
    pub fn explain_rest(&mut self, then: SimTime) {
        let rest = then - self.explained;
        match self.waited {
            true => self.breakdown.gc += rest,
            false => self.breakdown.submission += rest,
        }
        self.explained = then;
    }

    /// How its time was spent.
    pub fn breakdown(&self) -> Breakdown {
        self.breakdown
    }
}

pub(super) type HostJobId = Handle<HostJob>;

/// A request to the device.
#[derive(Clone, Copy, Debug)]
pub(super) enum LogPart {
    /// Reads for a request of the host from a zone.
    Read { job: HostJobId, zone: u32 },
    /// Reads the old data of a block that is written in part.
    OldRead { job: HostJobId, zone: u32 },
    /// Appends blocks of a request to a zone.
    Append { job: HostJobId, zone: u32, first: u32, count: u32 },
    /// A flush.
    Flush { job: HostJobId },
    /// Reads valid blocks of a victim.
    CopyRead { copy: u32, zone: u32 },
    /// Appends them to a zone.
    CopyAppend { copy: u32, zone: u32, count: u32 },
    /// Resets a zone.
    Reset { zone: u32 },
}

pub(super) type LogPartId = Handle<LogPart>;
pub(super) type LogParts = Slab<LogPart>;
