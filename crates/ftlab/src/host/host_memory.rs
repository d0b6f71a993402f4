//! Reads of the host's memory, where a controller without DRAM keeps entries of its map (NVM Express, host memory
//! buffer). Each is a round trip on the link, and many may be under way; what comes back then takes its turn there.

use std::collections::VecDeque;

use crate::units::{Lpn, Nanos, SimTime};

/// The reads under way.
#[derive(Clone, Debug)]
pub(super) struct HostMemory {
    latency: Nanos,
    /// The entries that are read, and when each comes back. All take equally long.
    reads: VecDeque<(SimTime, Lpn)>,
}

impl HostMemory {
    pub fn new(latency: Nanos) -> HostMemory {
        HostMemory { latency, reads: VecDeque::new() }
    }

    /// Begins to read the entry of a page.
    pub fn read(&mut self, now: SimTime, page: Lpn) {
        self.reads.push_back((now + self.latency, page));
    }

    /// When the next entry comes back.
    pub fn next_time(&self) -> Option<SimTime> {
        self.reads.front().map(|&(at, _)| at)
    }

    /// Takes an entry that comes back now.
    pub fn came(&mut self, now: SimTime) -> Option<Lpn> {
        self.next_time().filter(|&at| at == now)?;
        self.reads.pop_front().map(|(_, page)| page)
    }
}
