//! The port between a front end and a device: the one trait that replay, command line, Python and block device use.

use super::zones::Zones;
use super::{Completion, QueueId, Request};
use crate::units::SimTime;

/// Why [`Host::advance_until`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advanced {
    /// At least one request finished now; its completion was appended.
    Completed,
    /// The limit was reached, and no request finished before.
    Reached,
    /// Nothing is left to do, before the limit or after it: there is neither a request nor background
    /// work. The clock is at the last event, or at the limit if that is finite.
    Idle,
}

/// The placement identifiers of streams. A host with several for one queue has a stream for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamIdentities {
    /// By stream: its identifier.
    pub identifiers: Vec<u8>,
    /// Streams come in rounds of so many: a stream has the queue of its place in the round.
    pub round: u32,
}

/// The whole interface between a front end and a device. Replay, command line, Python and block device
/// use it and differ only in who owns the clock.
pub trait Host {
    /// The current time.
    fn now(&self) -> SimTime;

    /// Number of sectors that the host can address.
    fn capacity_sectors(&self) -> u64;

    /// The zones, if the device has any. Then sectors lie in zones, perhaps with gaps between them.
    fn zones(&self) -> Option<&Zones> {
        None
    }

    /// The placement identifiers that a write may name: the handles of all reclaim groups. Zero without flexible data placement.
    fn placement_handles(&self) -> u32 {
        0
    }

    /// The writes of each stream carry this placement identifier from now on, those of further streams none. Otherwise the number
    /// of a stream is its identifier. Only drives with flexible data placement take notice.
    fn identify_streams(&mut self, identities: &StreamIdentities) {
        let _ = identities;
    }

    /// The submission queue for commands of `stream`.
    fn queue_of(&self, stream: u32) -> QueueId {
        let _ = stream;
        QueueId::default()
    }

    /// Whether the host may submit one more command to `queue`.
    fn has_room(&self, queue: QueueId) -> bool {
        let _ = queue;
        true
    }

    /// Submits a command at time `at`.
    ///
    /// `at` must not be before [`now`](Self::now), and the device must have been advanced so far that
    /// nothing is due in it before `at` (submitting at the current time is always allowed). Events due
    /// at the same time come after the command. Its queue must have [room](Self::has_room). The range
    /// must lie within the capacity and contain at least one sector, unless it is a flush. Panics
    /// otherwise: front ends validate external input.
    fn submit(&mut self, at: SimTime, request: Request);

    /// Runs the device until something completes or `limit` is reached, whichever comes first. Events
    /// at `limit` itself are run. Completions are appended to `done`.
    fn advance_until(&mut self, limit: SimTime, done: &mut Vec<Completion>) -> Advanced;

    /// Announces that `request` will be submitted soon, so that the tables it needs can be brought into
    /// the processor's caches. Has no observable effect.
    fn expect(&self, request: &Request) {
        let _ = request;
    }
}
