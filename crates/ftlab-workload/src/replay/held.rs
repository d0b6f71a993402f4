//! Requests that arrived at a full submission queue. They wait in the host, separately for each
//! queue, so that the full queue of one tenant does not hold back the others. Memory grows as long
//! as a queue cannot keep up with its arrivals.

use std::collections::VecDeque;

use ftlab::host::QueueId;
use ftlab::units::SimTime;

use super::ahead::Planned;

/// The waiting requests, and how many ever waited.
#[derive(Debug, Default)]
pub(super) struct Held {
    lines: Vec<VecDeque<(Planned, SimTime)>>,
    waiting: u64,
    /// How many of them are measured.
    measured: u64,
    counts: Vec<u64>,
}

impl Held {
    /// Returns how many requests wait.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Returns how many measured requests wait.
    pub fn measured(&self) -> u64 {
        self.measured
    }

    /// Whether a request waits for a place in `queue`.
    pub fn waits_for(&self, queue: QueueId) -> bool {
        self.lines.get(queue.at()).is_some_and(|line| !line.is_empty())
    }

    /// Returns the queues that requests may wait for.
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

    /// Adds a request, due at `due`, that waits for a place in `queue`.
    pub fn push(&mut self, queue: QueueId, planned: Planned, due: SimTime) {
        self.count(queue);
        if self.lines.len() <= queue.at() {
            self.lines.resize_with(queue.at() + 1, VecDeque::new);
        }
        self.measured += u64::from(planned.measured);
        self.lines[queue.at()].push_back((planned, due));
        self.waiting += 1;
    }

    /// Removes the request that has waited longest for `queue`.
    pub fn pop(&mut self, queue: QueueId) -> Option<(Planned, SimTime)> {
        let first = self.lines.get_mut(queue.at())?.pop_front();
        self.waiting -= u64::from(first.is_some());
        self.measured -= u64::from(first.is_some_and(|(planned, _)| planned.measured));
        first
    }

    /// Drops all waiting requests.
    pub fn clear(&mut self) {
        self.lines.clear();
        (self.waiting, self.measured) = (0, 0);
    }

    /// Returns how many requests ever waited, by queue. Empty if none did.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}
