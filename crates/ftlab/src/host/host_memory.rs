//! Reads of the host's memory, where a controller without DRAM keeps entries of its map (NVM Express, host memory
//! buffer). Each is a round trip on the link, and many may be under way; what comes back then takes its turn there.

use std::collections::VecDeque;

use crate::units::{Lpn, Nanos, SimTime, Tpn};

/// What is read of the host's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostRead {
    /// The entries of so many pages, beginning with one, for look-ups.
    Entries(Lpn, u32),
    /// So many entries of a translation page that differ from flash, for its update.
    Changed(Tpn, u32),
}

impl HostRead {
    /// The number of entries. They lie anywhere, so each is fetched on its own.
    pub(super) fn entries(self) -> u32 {
        match self {
            HostRead::Entries(_, entries) | HostRead::Changed(_, entries) => entries,
        }
    }

    /// Whether `next`, which begins at the same time, goes on where this ends. This then includes it.
    fn takes_along(&mut self, next: HostRead) -> bool {
        match (self, next) {
            (HostRead::Entries(first, entries), HostRead::Entries(page, more))
                if first.get() + *entries == page.get() =>
            {
                *entries += more;
                true
            }
            _ => false,
        }
    }
}

/// The reads under way.
#[derive(Clone, Debug)]
pub(super) struct HostMemory {
    latency: Nanos,
    /// What is read, and when it comes back. All take equally long.
    reads: VecDeque<(SimTime, HostRead)>,
}

impl HostMemory {
    pub fn new(latency: Nanos) -> HostMemory {
        HostMemory { latency, reads: VecDeque::new() }
    }

    /// Begins a read. Entries of successive pages that are looked up at one time come together, as those of a request do.
    pub fn read(&mut self, now: SimTime, what: HostRead) {
        let at = now + self.latency;
        let last = self.reads.back_mut().filter(|(last, _)| *last == at);
        if !last.is_some_and(|(_, last)| last.takes_along(what)) {
            self.reads.push_back((at, what));
        }
    }

    /// When the next read comes back.
    pub fn next_time(&self) -> Option<SimTime> {
        self.reads.front().map(|&(at, _)| at)
    }

    /// Takes a read that comes back now.
    pub fn came(&mut self, now: SimTime) -> Option<HostRead> {
        self.next_time().filter(|&at| at == now)?;
        self.reads.pop_front().map(|(_, what)| what)
    }
}
