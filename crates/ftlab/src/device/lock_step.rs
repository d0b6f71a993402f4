//! A device whose planes go in step does one thing at a time: a write cycle, merges, or reads. What the host
//! asks of the FTL during a cycle or a merge waits for its end; a cycle begins when no read is under way any more, and
//! reads that come meanwhile wait as well.
//!
//! Where nobody looks at single commands and the bus takes no time, a cycle needs none: each of its planes programs one
//! page, at the same time, after the time of a read if any of them needs one. So the cycle is done at once, like merges
//! ([`ftl::merge`](crate::ftl::merge)), and its time is added up. Results are the same.

use super::Contents;
use super::Writes;
use super::base::Base;
use crate::cache::SlotId;
use crate::engine::skills;
use crate::host::Op;
use crate::scheduler::{Probe, Spent};
use crate::units::{Nanos, Ppn, RequestId, SimTime};

/// What a device in lock-step does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Motion {
    /// What comes.
    #[default]
    Goes,
    /// It waits until nothing is under way on flash.
    Stopping,
    /// A write cycle.
    Writes,
    /// Merges.
    Merges,
}

/// What a device in lock-step does, and what waits for its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Standstill {
    motion: Motion,
    held: Vec<Held>,
    /// Whether one of those is a trim.
    holds_trim: bool,
    /// They are being taken up: nothing begins before all are.
    releases: bool,
    /// The pages of a cycle that is done at once.
    cycle: Vec<Written>,
    /// How long that takes.
    spent: Spent,
}

/// A request that came during a cycle or merges.
#[derive(Clone, Copy, Debug)]
struct Held {
    request: RequestId,
    since: SimTime,
    /// For how long write-backs had been stalled, over the whole run, when it came.
    stall_mark: Nanos,
}

/// A page of a cycle that is done at once.
#[derive(Clone, Copy, Debug)]
struct Written {
    slot: SlotId,
    at: Ppn,
    is_partial: bool,
}

impl Standstill {
    pub(super) fn is(&self, motion: Motion) -> bool {
        self.motion == motion
    }

    pub(super) fn begins(&mut self, motion: Motion) {
        self.motion = motion;
    }

    /// Whether nothing waits.
    pub(super) fn is_over(&self) -> bool {
        self.is(Motion::Goes) && self.held.is_empty()
    }
}

impl Writes {
    /// The flash pages that a cycle which is done at once is programming.
    pub(super) fn torn_at_once(&self) -> impl Iterator<Item = Ppn> {
        self.standstill.cycle.iter().map(|written| written.at)
    }

    /// Whether a cycle or merges may begin: nothing of the kind is under way, and nothing on flash. If not, it will
    /// be asked again.
    pub(super) fn comes_to_rest(&mut self, on: &mut Base<impl Probe, impl Contents>) -> bool {
        match self.standstill.motion {
            _ if self.standstill.releases => false,
            Motion::Writes | Motion::Merges => false,
            Motion::Goes | Motion::Stopping if on.kernel.flash.in_flight() > 0 => {
                self.standstill.motion = Motion::Stopping;
                false
            }
            Motion::Goes | Motion::Stopping => true,
        }
    }

    /// Whether the device waits for its flash to be quiet.
    #[inline]
    pub(super) fn is_stopping(&self) -> bool {
        self.standstill.motion == Motion::Stopping
    }

    /// Nothing is under way on flash any more: a device that waited for that goes on.
    pub(super) fn flash_is_quiet(&mut self, on: &mut Base<impl Probe, impl Contents>) {
        self.write_back::<{ skills::ALL }>(on);
        // What should have been written has gone.
        if self.is_stopping() {
            self.go_on(on);
            self.write_back::<{ skills::ALL }>(on);
        }
    }

    /// Keeps a request that came during a cycle or merges. Says whether it does.
    pub(super) fn hold(
        &mut self,
        id: RequestId,
        op: Op,
        on: &mut Base<impl Probe, impl Contents>,
    ) -> bool {
        let standstill = &mut self.standstill;
        // What is written after a trim must not be lost to it.
        let holds = match op {
            _ if standstill.is(Motion::Goes) => false,
            Op::Read | Op::Trim => true,
            Op::Write => standstill.holds_trim,
            Op::Flush => false,
        };
        if holds {
            standstill.holds_trim |= op == Op::Trim;
            let stall_mark = self.stalled.time_until(on.kernel.now);
            self.standstill.held.push(Held { request: id, since: on.kernel.now, stall_mark });
        }
        holds
    }

    /// A cycle or merges are over: what waited for that is taken up.
    pub(super) fn go_on(&mut self, on: &mut Base<impl Probe, impl Contents>) {
        self.standstill.motion = Motion::Goes;
        if self.standstill.held.is_empty() {
            return;
        }
        self.standstill.holds_trim = false;
        self.standstill.releases = true;
        let stalled = self.stalled.time_until(on.kernel.now);
        for Held { request: id, since, stall_mark } in std::mem::take(&mut self.standstill.held) {
            let waited = on.kernel.now - since;
            let merging = waited.min(Nanos(stalled.0 - stall_mark.0));
            let breakdown = on.desk.intake.breakdown_mut(id);
            breakdown.gc += merging;
            breakdown.admission += Nanos(waited.0 - merging.0);
            on.desk.intake.start(id, on.kernel.now);
            let request = *on.desk.intake.get(id).request();
            self.start::<{ skills::ALL }>(id, &request, on);
        }
        self.standstill.releases = false;
    }

    /// Does a cycle of these pages at once, if that can be done.
    pub(super) fn write_at_once(
        &mut self,
        pages: &[SlotId],
        on: &mut Base<impl Probe, impl Contents>,
    ) -> bool {
        if !on.cycles_add_up() {
            return false;
        }
        on.buffer.cycle_begun();
        let mut cycle = std::mem::take(&mut self.standstill.cycle);
        for &slot in pages {
            let page = on.buffer.begin_write_back(slot, &on.kernel.ftl);
            on.kernel.contents.begin_write_back(slot, on.buffer.page(slot).flushing);
            let is_partial = on.older_parts_of(slot).iter().any(Option::is_some);
            let at = on.kernel.ftl.place_in_log(page).expect("the cycle has room");
            on.fill_page::<{ skills::ALL }>(slot, at);
            on.buffer.program_begun();
            cycle.push(Written { slot, at, is_partial });
        }
        let reads = cycle.iter().any(|written| written.is_partial);
        let (read, program) = on.kernel.flash.sheet().price_of_page();
        let cell = if reads { read + program } else { program };
        self.standstill.cycle = cycle;
        self.standstill.spent = Spent { cell, ..Spent::default() };
        on.idle.wake_at(on.kernel.now + cell);
        true
    }

    /// A cycle that was done at once has taken its time.
    pub(super) fn written_at_once(&mut self, on: &mut Base<impl Probe, impl Contents>) {
        let mut cycle = std::mem::take(&mut self.standstill.cycle);
        let spent = self.standstill.spent;
        for Written { slot, at, is_partial } in cycle.drain(..) {
            on.kernel.flash.account_write_at_once(at, is_partial);
            self.make_current::<{ skills::ALL }>(slot, at, &spent, on);
            on.kernel.ftl.programmed_for_host::<{ skills::ALL }>(at, 1);
            on.buffer.program_ended();
        }
        self.standstill.cycle = cycle;
        self.cycle_is_over();
        self.go_on(on);
        self.admit_waiting::<{ skills::ALL }>(on);
        self.write_back::<{ skills::ALL }>(on);
    }

    /// What was done at once has taken its time.
    pub(super) fn stood_still(&mut self, on: &mut Base<impl Probe, impl Contents>) {
        match self.standstill.is(Motion::Merges) {
            true => self.merged_at_once(on),
            false => self.written_at_once(on),
        }
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Whether all planes go in step.
    #[inline]
    pub(super) fn is_in_lock_step(&self) -> bool {
        self.services.merger.as_deref().is_some_and(|merger| merger.in_lock_step())
    }

    /// Whether cycles are done at once: each page of one has a die for itself, and all take the same time.
    fn cycles_add_up(&self) -> bool {
        let planes = self.kernel.flash.geometry().planes_per_die();
        planes == 1
            && self.kernel.flash.sheet().price_of_any_copy().is_some()
            && self.kernel.flash.may_add_up()
    }
}
