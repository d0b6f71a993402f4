//! Flushes of a device without translation, and the programs that they wait for.

use std::collections::VecDeque;

use crate::scheduler::CommandId;
use crate::units::RequestId;

/// The programs and flushes of a device without translation.
#[derive(Clone, Debug, Default)]
pub(in crate::device) struct Direct {
    /// Programs in flight.
    pub(in crate::device) programs: u32,
    /// Waiting flushes, oldest first.
    pub(in crate::device) flushes: VecDeque<WaitingFlush>,
    /// Number of flushes that have waited and are complete.
    pub(in crate::device) gone: u64,
    /// By program: number of flushes that had completed or were waiting when it began.
    pub(in crate::device) flushes_before: Vec<u64>,
}

/// A flush, and the number of programs that it still waits for.
#[derive(Clone, Debug)]
pub(in crate::device) struct WaitingFlush {
    request: RequestId,
    programs: u32,
}

impl Direct {
    pub(in crate::device) fn program_begun(&mut self, id: CommandId) {
        self.programs += 1;
        if self.flushes_before.len() <= id.at() {
            self.flushes_before.resize(id.at() + 1, 0);
        }
        self.flushes_before[id.at()] = self.gone + self.flushes.len() as u64;
    }

    /// Lets a flush wait for all programs in flight. Returns false if there are none.
    pub(in crate::device) fn flush(&mut self, request: RequestId) -> bool {
        let programs = self.programs;
        if programs > 0 {
            self.flushes.push_back(WaitingFlush { request, programs });
        }
        programs > 0
    }

    /// A program is done: the flushes that came after it wait for one program less.
    pub(in crate::device) fn program_ended(&mut self, id: CommandId) {
        self.programs -= 1;
        let before = self.flushes_before[id.at()].saturating_sub(self.gone);
        self.flushes.iter_mut().skip(before as usize).for_each(|flush| flush.programs -= 1);
    }

    /// The next flush that waits for nothing. A later flush never waits for less than an earlier
    /// one.
    pub(in crate::device) fn next_flushed(&mut self) -> Option<RequestId> {
        let request = self.flushes.front().filter(|flush| flush.programs == 0)?.request;
        self.flushes.pop_front();
        self.gone += 1;
        Some(request)
    }
}
