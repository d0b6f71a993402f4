//! A die that died, from the device's side: when that is found, and what becomes of requests that would write where
//! no die is left.
//!
//! The device finds out by the first command that fails on the die: nothing asks a die that is not used. That command,
//! and those that follow it there, end as any that failed: reads are unreadable, programs go elsewhere,
//! collections are given up.

use super::Contents;
use super::Writes;
use super::base::Base;
use crate::cache::Waiting;
use crate::engine::skills;
use crate::ftl::parity::Stripes;
use crate::host::{Op, Pages, Request};
use crate::scheduler::{CommandId, Probe};
use crate::units::PlaneId;

impl Writes {
    /// What was to be done on a die that died is done elsewhere, as far as it can be.
    #[cold]
    pub(super) fn go_on_without_die(&mut self, on: &mut Base<impl Probe, impl Contents>) {
        on.close_stripes();
        self.consider_end::<{ skills::ALL }>(on);
        // What waits for room may find that there is none, or another place; planes keep more back.
        self.place_homeless(on);
        for plane in (0..on.kernel.ftl.geometry().planes()).map(PlaneId::new) {
            on.consider_collecting::<{ skills::ALL }>(plane);
        }
        on.relieve::<{ skills::ALL }>();
        self.admit_waiting::<{ skills::ALL }>(on);
        self.write_back::<{ skills::ALL }>(on);
    }

    /// A page of a write waits to come in, or in a gathering buffer the whole write. If it never can be written, the
    /// request is told so.
    #[inline]
    pub(super) fn turned_away(
        &mut self,
        waiting: &Waiting,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> bool {
        if on.kernel.ftl.dead_dies().is_empty() {
            return false;
        }
        let refused = match on.buffer.gathers() {
            true => on.has_no_place(on.desk.intake.get(waiting.request).request()),
            false => on.kernel.ftl.is_homeless(waiting.span.page),
        };
        if refused {
            on.buffer.forget_waiting();
            self.refuse_waiting(*waiting, on);
        }
        refused
    }

    /// Programs that wait, and whose place is on dead dies, go to wherever there is room, or are given up if nobody
    /// was told that they are done.
    pub(super) fn place_homeless(&mut self, on: &mut Base<impl Probe, impl Contents>) {
        for pool in on.kernel.ftl.homeless_pools() {
            while let Some((waiting, stream)) = self.stalled.oldest(pool, |_| true) {
                if !on.buffer.has_acknowledged() {
                    self.give_up_stalled(pool, stream, waiting, on);
                } else if self.try_issue::<{ skills::ALL }>(
                    waiting.program,
                    stream,
                    on.kernel.now - waiting.since,
                    on,
                ) {
                    self.stalled.forget_oldest(on.kernel.now, pool, stream);
                } else {
                    break;
                }
            }
        }
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// A command failed: its die may have died.
    #[cold]
    pub(super) fn found_failed(&mut self, id: CommandId) {
        let die = self.kernel.flash.die_of(id);
        if self.kernel.flash.cells().is_dead(die, self.kernel.now) {
            self.kernel.ftl.die_died(die);
            if self.kernel.ftl.stripes().is_some_and(Stripes::leaves_pages_out) {
                self.kernel.flash.leave_pages_out();
            }
        }
    }

    /// Whether a write would go where no die is left.
    pub(super) fn has_no_place(&self, request: &Request) -> bool {
        if self.kernel.ftl.dead_dies().is_empty() || request.op != Op::Write {
            return false;
        }
        let mut pages = Pages::new(request.lba, request.sectors, self.sectors_per_page);
        pages.any(|span| self.kernel.ftl.is_homeless(span.page))
    }
}
