//! Requests that arrived at a full submission queue: they wait in the host, each queue on its own, so
//! that the full queue of one tenant does not hold back the others. They are kept in memory, so a queue
//! that can't keep up with its arrivals takes memory as it falls behind.

use std::collections::VecDeque;

use ftlab::host::QueueId;
use ftlab::units::SimTime;

use super::ahead::Planned;

/// The requests that wait, and how many ever did.
#[derive(Debug, Default)]
pub(super) struct Held {
    lines: Vec<VecDeque<(Planned, SimTime)>>,
    waiting: u64,
    /// Of these, the ones that are measured.
    measured: u64,
    counts: Vec<u64>,
}

impl Held {
    /// How many wait.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// How many of them are measured.
    pub fn measured(&self) -> u64 {
        self.measured
    }

    /// Whether one waits for a place in `queue`.
    pub fn waits_for(&self, queue: QueueId) -> bool {
        self.lines.get(queue.at()).is_some_and(|line| !line.is_empty())
    }

    /// The queues for which some wait.
    pub fn queues(&self) -> impl Iterator<Item = QueueId> + use<> {
        (0..self.lines.len() as u32).map(QueueId::new)
    }

    /// Counts a request that found its queue full.
    pub fn count(&mut self, queue: QueueId) {
        if self.counts.len() <= queue.at() {
            self.counts.resize(queue.at() + 1, 0);
        }
        self.counts[queue.at()] += 1;
    }

    /// A request, due at `due`, waits for a place in `queue`.
    pub fn push(&mut self, queue: QueueId, planned: Planned, due: SimTime) {
        self.count(queue);
        if self.lines.len() <= queue.at() {
            self.lines.resize_with(queue.at() + 1, VecDeque::new);
        }
        self.measured += u64::from(planned.measured);
        self.lines[queue.at()].push_back((planned, due));
        self.waiting += 1;
    }

    /// The request that waited longest for `queue` gets its place.
    pub fn pop(&mut self, queue: QueueId) -> Option<(Planned, SimTime)> {
        let first = self.lines.get_mut(queue.at())?.pop_front();
        self.waiting -= u64::from(first.is_some());
        self.measured -= u64::from(first.is_some_and(|(planned, _)| planned.measured));
        first
    }

    /// None of them is played any more.
    pub fn clear(&mut self) {
        self.lines.clear();
        (self.waiting, self.measured) = (0, 0);
    }

    /// By queue: how many ever waited. Empty if none did.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}
