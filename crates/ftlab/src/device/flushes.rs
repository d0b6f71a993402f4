//! Flushes of a device without translation, and the programs that they wait for.

use std::collections::VecDeque;

use crate::scheduler::CommandId;
use crate::units::{PageSpan, RequestId};

/// The programs and flushes of a device without translation.
#[derive(Clone, Debug, Default)]
pub(in crate::device) struct Direct {
    /// Programs in flight.
    pub(in crate::device) programs: u32,
    /// Waiting flushes, oldest first.
    pub(in crate::device) flushes: VecDeque<WaitingFlush>,
    /// Number of flushes that have waited and are complete.
    pub(in crate::device) gone: u64,
    /// By program.
    begun: Vec<InPlaceProgram>,
}

/// A program in flight.
#[derive(Clone, Copy, Debug)]
struct InPlaceProgram {
    /// The sectors that the host writes.
    span: PageSpan,
    /// The tag of its request.
    tag: u32,
    /// Number of flushes that had completed or were waiting when it began.
    flushes_before: u64,
}

/// A flush, and the number of programs that it still waits for.
#[derive(Clone, Debug)]
pub(in crate::device) struct WaitingFlush {
    request: RequestId,
    programs: u32,
}

impl Direct {
    pub(in crate::device) fn program_begun(&mut self, id: CommandId, span: PageSpan, tag: u32) {
        self.programs += 1;
        let flushes_before = self.gone + self.flushes.len() as u64;
        let begun = InPlaceProgram { span, tag, flushes_before };
        if self.begun.len() <= id.at() {
            self.begun.resize(id.at() + 1, begun);
        }
        self.begun[id.at()] = begun;
    }

    /// The sectors that a program in flight writes, and the tag of their request.
    pub(in crate::device) fn of(&self, id: CommandId) -> (PageSpan, u32) {
        let begun = &self.begun[id.at()];
        (begun.span, begun.tag)
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
        let before = self.begun[id.at()].flushes_before.saturating_sub(self.gone);
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
