//! Requests of a device that translates nothing (`ftl.mapping.policy = "physical"`): each page of a request
//! is one flash command to the page of that number.
//!
//! A read senses its page, whether or not it was ever written. A write programs it, without reading it
//! before: a part of a page costs what a whole one costs, and what becomes of the sectors that are not
//! written is the business of whoever sends physical addresses. (Where a device carries data, they stay as
//! they are.) A write is acknowledged when its pages are programmed. A flush waits for programs in flight.
//! A trim does nothing: there is no block that could be emptied sooner. Accesses to one page keep their
//! order, whatever the scheduler; the flash sees to that ([`Flash::keep_page_order`]).
//!
//! [`Flash::keep_page_order`]: crate::scheduler::Flash::keep_page_order

use std::collections::VecDeque;

use super::base::Base;
use super::{Contents, FlashRead, FlashWrite};
use crate::engine::skills;
use crate::host::{Op, Pages, Request};
use crate::scheduler::{Command, CommandId, Kind, Origin, Probe, Task};
use crate::units::{PageSpan, Ppn, RequestId};

/// What flushes wait for.
#[derive(Clone, Debug, Default)]
pub(super) struct Direct {
    /// Programs in flight.
    programs: u32,
    /// Flushes that wait, oldest first.
    flushes: VecDeque<WaitingFlush>,
    /// How many flushes have waited and are gone.
    gone: u64,
    /// By program: how many flushes had waited, or were waiting, when it came.
    flushes_before: Vec<u64>,
}

/// A flush, and how many programs it still waits for.
#[derive(Clone, Debug)]
struct WaitingFlush {
    request: RequestId,
    programs: u32,
}

impl Direct {
    fn program_begun(&mut self, id: CommandId) {
        self.programs += 1;
        if self.flushes_before.len() <= id.at() {
            self.flushes_before.resize(id.at() + 1, 0);
        }
        self.flushes_before[id.at()] = self.gone + self.flushes.len() as u64;
    }

    /// A flush waits for all programs in flight. False if there are none.
    fn flush(&mut self, request: RequestId) -> bool {
        let programs = self.programs;
        if programs > 0 {
            self.flushes.push_back(WaitingFlush { request, programs });
        }
        programs > 0
    }

    /// Flushes that came after the program wait for one less.
    fn program_ended(&mut self, id: CommandId) {
        self.programs -= 1;
        let before = self.flushes_before[id.at()].saturating_sub(self.gone);
        self.flushes.iter_mut().skip(before as usize).for_each(|flush| flush.programs -= 1);
    }

    /// The next flush that waits for nothing more. A later one waits for no less than one before it.
    fn next_flushed(&mut self) -> Option<RequestId> {
        let request = self.flushes.front().filter(|flush| flush.programs == 0)?.request;
        self.flushes.pop_front();
        self.gone += 1;
        Some(request)
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Takes a command up.
    pub(super) fn start_direct(&mut self, id: RequestId, request: &Request) {
        match request.op {
            Op::Read => self.each_page(request, |base, span, at| base.sense(id, span, at)),
            Op::Write => self.each_page(request, |base, span, at| {
                base.program_in_place(id, request, span, at);
            }),
            Op::Trim => {}
            Op::Flush => {
                if self.services.direct.as_mut().is_some_and(|direct| direct.flush(id)) {
                    self.desk.intake.wait_for_one(id);
                }
            }
        }
        if self.desk.intake.settle(id) {
            self.finish_from_buffer(id);
        }
    }

    fn each_page(&mut self, request: &Request, mut each: impl FnMut(&mut Self, PageSpan, Ppn)) {
        for span in Pages::new(request.lba, request.sectors, self.sectors_per_page) {
            let at = self
                .kernel
                .ftl
                .look_up(span.page)
                .expect("without translation, every page has a place");
            each(self, span, at);
        }
    }

    fn sense(&mut self, id: RequestId, span: PageSpan, at: Ppn) {
        let PageSpan { page, sectors } = span;
        let mut read = Command::new(Kind::Read, Origin::Host, Task::Request(id), at);
        read.units = 1;
        read.codewords = self.kernel.flash.bus().codewords_of(sectors);
        let read = self.kernel.flash.prepare(read);
        self.buffer.note_read(None, &self.kernel.ftl);
        self.desk.intake.wait_for_one(id);
        self.kernel.contents.plan_read(read, FlashRead { request: id, page, at, sectors });
        self.kernel.flash.submit(self.kernel.now, read);
    }

    fn program_in_place(&mut self, id: RequestId, request: &Request, span: PageSpan, at: Ppn) {
        let PageSpan { page, sectors } = span;
        let mut program = Command::new(Kind::Program, Origin::Host, Task::HostWrite(id), at);
        program.units = 1;
        program.codewords = self.kernel.flash.bus().page_codewords();
        if let Some(cost) = self.kernel.ftl.cost_of_write(page) {
            program.set_cost(cost);
        }
        let program = self.kernel.flash.prepare(program);
        if let Some(direct) = &mut self.services.direct {
            direct.program_begun(program);
        }
        self.desk.intake.wait_for_one(id);
        self.kernel
            .contents
            .plan_write(program, &FlashWrite { request: *request, page, at, sectors });
        self.kernel.flash.submit(self.kernel.now, program);
    }

    /// A page of a write is programmed.
    pub(super) fn programmed_in_place(&mut self, id: RequestId, program: CommandId) {
        self.kernel.contents.write_flash(program);
        self.kernel.ftl.programmed_in_place();
        let spent = self.kernel.flash.command(program).spent;
        self.settle::<{ skills::ALL }>(id, &spent);
        let Some(direct) = &mut self.services.direct else { return };
        direct.program_ended(program);
        while let Some(flush) =
            self.services.direct.as_mut().and_then(|direct| direct.next_flushed())
        {
            self.settle::<{ skills::ALL }>(flush, &spent);
        }
    }
}
