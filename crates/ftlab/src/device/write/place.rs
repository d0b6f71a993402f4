//! Placement of programs whose data is complete: they get a place and go to the flash, or wait.

use super::{Writes, end_of_life, merge};
use crate::cache::SlotId;
use crate::device::Contents;
use crate::device::base::Base;
use crate::engine::skills::{RARE, Skills, any};
use crate::ftl::streams::WriteStream;
use crate::scheduler::{CommandId, Probe};
use crate::units::{Lpn, Nanos, Ppn};

impl Writes {
    /// The stream of a program: that of its first page.
    pub(in crate::device) fn stream_of_program<const S: Skills>(
        &self,
        program: CommandId,
        on: &Base<impl Probe, impl Contents>,
    ) -> WriteStream {
        on.stream_on_way(SlotId::new(self.loads.get(program, 0)))
    }

    /// Places a program whose data is complete and submits it to the flash, as soon as the
    /// processor has time and its data has left DRAM.
    pub(in crate::device) fn issue<const S: Skills>(
        &mut self,
        program: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if !any(S, RARE) || !(on.wait_for_processor(program, 1) || on.wait_for_dram(program)) {
            self.issue_now::<S>(program, on);
        }
    }

    /// Places a program whose data is complete and submits it, or lets it wait if nothing is free.
    pub(in crate::device) fn issue_now<const S: Skills>(
        &mut self,
        program: CommandId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        let stream = self.stream_of_program::<S>(program, on);
        if self.place_or_stall::<S>(program, stream, on) {
            on.hand_over::<S>(program, on.kernel.flash.command(program).page);
        }
    }

    /// Places a program whose data is complete, or lets it wait if nothing is free. A device that
    /// takes no more writes gives it up unless it was acknowledged. Returns whether it was placed.
    #[inline]
    pub(in crate::device) fn place_or_stall<const S: Skills>(
        &mut self,
        program: CommandId,
        stream: WriteStream,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> bool {
        if any(S, RARE)
            && !on.buffer.has_acknowledged()
            && (on.kernel.ftl.is_read_only()
                || on.kernel.ftl.is_homeless(self.first_page_of(program, on)))
        {
            end_of_life::give_up(program, self, on);
            return false;
        }
        // It queues behind waiting programs if it would take the pages that they wait for.
        if self.stalled.is_empty() && self.place::<S>(program, stream, on) {
            return true;
        }
        self.place_behind::<S>(program, stream, on)
    }

    /// Places a program unless others wait for the same pages; otherwise it queues behind them.
    pub(in crate::device) fn place_behind<const S: Skills>(
        &mut self,
        program: CommandId,
        stream: WriteStream,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> bool {
        let pool = on.kernel.ftl.pool(self.first_page_of(program, on));
        if !self.stalled.has_waiting(pool, stream) && self.place::<S>(program, stream, on) {
            return true;
        }
        self.stalled.push(on.kernel.now, program, pool, stream);
        if any(S, RARE) && on.services.merger.is_some() {
            merge::want_room(self.first_page_of(program, on), self, on);
        }
        false
    }

    /// The first page of a program.
    #[inline]
    pub(in crate::device) fn first_page_of(
        &self,
        program: CommandId,
        on: &Base<impl Probe, impl Contents>,
    ) -> Lpn {
        on.buffer.page(SlotId::new(self.loads.get(program, 0))).page
    }

    /// Places a program and submits it, if there is room. It has `waited` for this.
    pub(in crate::device) fn try_issue<const S: Skills>(
        &mut self,
        program: CommandId,
        stream: WriteStream,
        waited: Nanos,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> bool {
        if !self.place::<S>(program, stream, on) {
            return false;
        }
        // Waiting for room is waiting for collection.
        let command = on.kernel.flash.command_mut(program);
        command.spent.gc += waited;
        let at = command.page;
        on.hand_over::<S>(program, at);
        true
    }

    /// Places a program, if there is room.
    #[inline(always)]
    pub(in crate::device) fn place<const S: Skills>(
        &mut self,
        program: CommandId,
        stream: WriteStream,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> bool {
        if any(S, RARE) && on.services.merger.is_some() {
            return merge::place_in_log(program, self, on);
        }
        let page = self.first_page_of(program, on);
        let Some(first) = on.kernel.ftl.place::<S>(page, stream, on.kernel.flash.load()) else {
            return false;
        };
        self.fill_place::<S>(program, first, on);
        true
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Submits a placed program to the flash.
    #[inline(always)]
    pub(in crate::device) fn hand_over<const S: Skills>(&mut self, program: CommandId, at: Ppn) {
        self.kernel.submit::<S>(program);
        self.consider_collecting_at::<S>(at);
    }

    /// A page was taken: its plane may have to collect.
    #[inline]
    pub(in crate::device) fn consider_collecting_at<const S: Skills>(&mut self, page: Ppn) {
        let geometry = self.kernel.ftl.geometry();
        self.consider_collecting::<S>(geometry.plane_of(geometry.block_of(page)));
    }
}
