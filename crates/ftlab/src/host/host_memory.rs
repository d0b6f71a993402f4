//! Reads of the host's memory, where a controller without DRAM keeps entries of its map (NVM Express, host memory
//! buffer). Each is a round trip on the link, and many may be under way; what comes back then takes its turn there.

use std::collections::VecDeque;

use crate::scheduler::CommandId;
use crate::units::{Lpn, Nanos, RequestId, SimTime, Tpn};

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

/// Who reads the host's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostReader {
    /// A request that reads pages.
    Request(RequestId),
    /// A program that pages are written back with.
    Program(CommandId),
    /// The update of a translation page.
    Update(Tpn),
}

/// A read under way.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    /// When it comes back.
    at: SimTime,
    what: HostRead,
    by: HostReader,
}

/// The reads under way.
#[derive(Clone, Debug)]
pub(super) struct HostMemory {
    latency: Nanos,
    /// In the order in which they come back. All take equally long.
    reads: VecDeque<UnderWay>,
}

impl HostMemory {
    pub fn new(latency: Nanos) -> HostMemory {
        HostMemory { latency, reads: VecDeque::new() }
    }

    /// Begins a read. Entries of successive pages that one request looks up at one time come together.
    pub fn read(&mut self, now: SimTime, what: HostRead, by: HostReader) {
        let at = now + self.latency;
        let last = self.reads.back_mut().filter(|last| (last.at, last.by) == (at, by));
        if !last.is_some_and(|last| last.what.takes_along(what)) {
            self.reads.push_back(UnderWay { at, what, by });
        }
    }

    /// When the next read comes back.
    pub fn next_time(&self) -> Option<SimTime> {
        self.reads.front().map(|read| read.at)
    }

    /// Takes a read that comes back now.
    pub fn came(&mut self, now: SimTime) -> Option<HostRead> {
        self.next_time().filter(|&at| at == now)?;
        self.reads.pop_front().map(|read| read.what)
    }
}
