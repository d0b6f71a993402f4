//! The end of a device's life as one that takes writes: what is under way is brought to an end, what
//! was acknowledged still reaches flash, and reads go on.
//!
//! Writes and trims that come later, or that wait, end with [`Outcome::ReadOnly`]. A write that was
//! not acknowledged and has found no page yet is given up; one whose program is under way is done.
//! What the write buffer holds was acknowledged: it is written back at once, to wherever there is
//! room, for which the planes kept blocks back ([`ftl::wear`](crate::ftl::wear)). If even those fail,
//! it stays readable in DRAM, and flushes are refused. Of a map that lies on flash nothing is written any more
//! ([`map_path`](super::map_path)).
//!
//! [`Outcome::ReadOnly`]: crate::host::Outcome::ReadOnly

use super::base::Base;
use super::stalled::Waiting as Stall;
use super::{Contents, Device};
use crate::cache::{SlotId, Waiting};
use crate::engine::skills::{self, Skills};
use crate::ftl::Kernel;
use crate::ftl::streams::WriteStream;
use crate::ftl::wear::EndReason;
use crate::host::{Op, Request};
use crate::scheduler::{Command, CommandId, Probe, Spent};
use crate::units::{Bytes, Nanos, SimTime};

/// When and why a device stopped taking writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndOfLife {
    /// When.
    pub at: SimTime,
    /// Why.
    pub reason: EndReason,
    /// What the host had written by then.
    pub host_written: Bytes,
    /// Whether something that was acknowledged found no page that could be programmed.
    pub left_in_dram: bool,
}

impl<P: Probe, C: Contents> Device<P, C> {
    /// When and why the device stopped taking writes, if it did.
    pub fn end_of_life(&self) -> Option<&EndOfLife> {
        self.base.end_of_life.as_ref()
    }

    /// Ends the life of the device if it is time to.
    #[inline]
    pub(super) fn consider_end<const S: Skills>(&mut self) {
        if let Some(reason) = self.base.kernel.ftl.must_end() {
            self.end_life(reason);
        }
    }

    /// Nothing will happen by itself any more. On a device that can fail, what still waits for a page
    /// then waits in vain: that is its end. True if there is something to do after all.
    pub(super) fn stands_still(&mut self) -> bool {
        if self.base.kernel.ftl.life().is_none()
            || self.writes.stalled.is_empty()
                && !self.base.services.map.as_ref().is_some_and(|map| map.is_stalled())
        {
            return false;
        }
        match self.base.end_of_life.as_mut() {
            None => self.end_life(EndReason::NoRoom),
            Some(end) if end.left_in_dram => return false,
            Some(end) => {
                end.left_in_dram = true;
                self.base.refuse_flushes();
            }
        }
        true
    }

    #[cold]
    fn end_life(&mut self, reason: EndReason) {
        self.base.kernel.ftl.end_life(reason);
        let host_written = self.base.desk.intake.written();
        let at = self.base.kernel.now;
        self.base.end_of_life = Some(EndOfLife { at, reason, host_written, left_in_dram: false });
        while let Some(waiting) = self.base.buffer.queue.first() {
            self.base.buffer.queue.pop();
            self.refuse_waiting(waiting);
        }
        if self.base.buffer.has_acknowledged() {
            self.place_stalled();
            self.base.buffer.write_back_all();
        } else {
            self.give_up_all_stalled();
        }
        self.keep_stalled_map();
        self.write_back::<{ skills::ALL }>();
    }

    /// Something that programs waited for has come. On a device at its end they may have been given up, and
    /// left room for others to begin.
    #[inline]
    pub(super) fn begin_after_given_up(&mut self) {
        if self.base.kernel.ftl.is_read_only() {
            self.write_back::<{ skills::ALL }>();
        }
    }

    /// Programs that wait for a page go to wherever there is room.
    pub(super) fn place_stalled(&mut self) {
        for pool in 0..self.writes.stalled.pools() {
            while let Some((waiting, stream)) = self.writes.stalled.oldest(pool, |_| true) {
                if !self.try_issue::<{ skills::ALL }>(
                    waiting.program,
                    stream,
                    self.base.kernel.now - waiting.since,
                ) {
                    return;
                }
                self.writes.stalled.forget_oldest(self.base.kernel.now, pool, stream);
            }
        }
    }

    /// Programs of pages that were not acknowledged wait no longer.
    fn give_up_all_stalled(&mut self) {
        for pool in 0..self.writes.stalled.pools() {
            while let Some((waiting, stream)) = self.writes.stalled.oldest(pool, |_| true) {
                self.give_up_stalled(pool, stream, waiting);
            }
        }
    }

    /// The oldest program of a pool and a stream, which was not acknowledged, waits no longer.
    pub(super) fn give_up_stalled(&mut self, pool: u32, stream: WriteStream, waiting: Stall) {
        self.base.kernel.flash.command_mut(waiting.program).spent.gc +=
            self.base.kernel.now - waiting.since;
        self.writes.stalled.forget_oldest(self.base.kernel.now, pool, stream);
        self.give_up(waiting.program);
    }

    /// A page of a write that waits to come in never will.
    pub(super) fn refuse_waiting(&mut self, waiting: Waiting) {
        self.base.desk.intake.refuse(waiting.request);
        if self.base.desk.intake.settle(waiting.request) {
            self.account_waiting(&waiting);
            self.base.finish_from_buffer(waiting.request);
        }
    }

    /// A write that waited for room, or for an older version, does so no longer: what of that time it
    /// owes to collection.
    pub(super) fn account_waiting(&mut self, waiting: &Waiting) {
        let waited = self.base.kernel.now - self.base.desk.intake.get(waiting.request).started();
        let stalled =
            Nanos(self.writes.stalled.time_until(self.base.kernel.now).0 - waiting.stall_mark.0);
        let breakdown = self.base.desk.intake.breakdown_mut(waiting.request);
        breakdown.gc += stalled;
        breakdown.admission += Nanos(waited.0 - stalled.0);
    }

    /// Gives up a program of pages that were not acknowledged and have no place.
    pub(super) fn give_up(&mut self, program: CommandId) {
        let Command { units, spent, .. } = *self.base.kernel.flash.command(program);
        let first = self.first_page_of(program);
        for unit in 0..units {
            // Pages that were not acknowledged are never packed.
            let slot = SlotId::new(self.writes.loads.get(program, unit));
            let page = self.base.buffer.page(slot).page;
            let Base { buffer, desk, kernel, .. } = &mut self.base;
            let Kernel { now, ftl, contents, .. } = kernel;
            contents.end_write_back(slot, true);
            buffer.give_up(slot, ftl, |waiter| desk.refuse(waiter, &spent, *now, contents));
            self.admit_next_version::<{ skills::ALL }>(page);
        }
        self.base.buffer.under_way.program_ended();
        self.base.kernel.flash.release(program);
        self.given_up_by_planes(first);
    }

    /// A program failed: what it carried is still in the buffer, and is programmed elsewhere.
    pub(super) fn program_again(&mut self, failed: CommandId) {
        let failed_command = self.base.kernel.flash.command(failed);
        let cost = failed_command.cost();
        let Command { kind, origin, task, page, units, codewords, spent, .. } = *failed_command;
        let mut program = Command::new(kind, origin, task, page);
        program.set_cost(cost);
        (program.units, program.codewords, program.spent) = (units, codewords, spent);
        let program = self.base.kernel.flash.prepare(program);
        self.writes.loads.copy_row(failed, program);
        self.issue::<{ skills::ALL }>(program);
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Whether a request can't be done, now that the device takes no writes.
    #[inline]
    pub(super) fn refuses(&self, request: &Request) -> bool {
        match &self.end_of_life {
            None => self.has_no_place(request),
            Some(end) => match request.op {
                Op::Read => false,
                Op::Write | Op::Trim => true,
                Op::Flush => end.left_in_dram,
            },
        }
    }

    /// Flushes wait for pages that will never be on flash.
    fn refuse_flushes(&mut self) {
        let Base { buffer, desk, kernel: Kernel { now, contents, .. }, .. } = self;
        let nothing = Spent::default();
        buffer.wake_everyone(|waiter| desk.refuse(waiter, &nothing, *now, contents));
    }
}
