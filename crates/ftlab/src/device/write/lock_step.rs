//! A device whose planes go in step does one thing at a time: a write cycle, merges, or reads. What the host
//! asks of the FTL during a cycle or a merge waits for its end; a cycle begins when no read is under way any more, and
//! reads that come meanwhile wait as well.
//!
//! Where nobody looks at single commands and the bus takes no time, a cycle needs none: each of its planes programs one
//! page, at the same time, after the time of a read if any of them needs one. So the cycle is done at once, like merges
//! ([`ftl::merge`](crate::ftl::merge)), and its time is added up. Results are the same.

use crate::cache::SlotId;
use crate::device::Contents;
use crate::device::base::Base;
use crate::device::write::{Writes, cycle, fill, merge, start};
use crate::engine::skills;
use crate::ftl::merge::fold;
use crate::host::Op;
use crate::scheduler::{Probe, Spent};
use crate::units::{Nanos, Ppn, RequestId, SimTime};

/// What a device in lock-step does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::device) enum Motion {
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
pub(in crate::device) struct Standstill {
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
    pub(in crate::device) fn is(&self, motion: Motion) -> bool {
        self.motion == motion
    }

    pub(in crate::device) fn begins(&mut self, motion: Motion) {
        self.motion = motion;
    }

    /// Whether nothing waits.
    pub(in crate::device) fn is_over(&self) -> bool {
        self.is(Motion::Goes) && self.held.is_empty()
    }
}

/// The flash pages that a cycle which is done at once is programming.
pub(in crate::device) fn torn_at_once(writes: &Writes) -> impl Iterator<Item = Ppn> {
    writes.standstill.cycle.iter().map(|written| written.at)
}

/// Whether a cycle or merges may begin: nothing of the kind is under way, and nothing on flash. If not, it will
/// be asked again.
pub(in crate::device) fn comes_to_rest(
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) -> bool {
    match writes.standstill.motion {
        _ if writes.standstill.releases => false,
        Motion::Writes | Motion::Merges => false,
        Motion::Goes | Motion::Stopping if on.kernel.flash.in_flight() > 0 => {
            writes.standstill.motion = Motion::Stopping;
            false
        }
        Motion::Goes | Motion::Stopping => true,
    }
}

/// Whether the device waits for its flash to be quiet.
#[inline]
pub(in crate::device) fn is_stopping(writes: &Writes) -> bool {
    writes.standstill.motion == Motion::Stopping
}

/// Nothing is under way on flash any more: a device that waited for that goes on.
pub(in crate::device) fn flash_is_quiet(
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    writes.write_back::<{ skills::ALL }>(on);
    // What should have been written has gone.
    if is_stopping(writes) {
        go_on(writes, on);
        writes.write_back::<{ skills::ALL }>(on);
    }
}

/// Keeps a request that came during a cycle or merges. Says whether it does.
pub(in crate::device) fn hold(
    id: RequestId,
    op: Op,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) -> bool {
    let standstill = &mut writes.standstill;
    // What is written after a trim must not be lost to it.
    let holds = match op {
        _ if standstill.is(Motion::Goes) => false,
        Op::Write => standstill.holds_trim,
        op => op != Op::Flush,
    };
    if holds {
        standstill.holds_trim |= op == Op::Trim;
        let stall_mark = writes.stalled.time_until(on.kernel.now);
        writes.standstill.held.push(Held { request: id, since: on.kernel.now, stall_mark });
    }
    holds
}

/// A cycle or merges are over: what waited for that is taken up.
pub(in crate::device) fn go_on(writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    writes.standstill.motion = Motion::Goes;
    if writes.standstill.held.is_empty() {
        return;
    }
    writes.standstill.holds_trim = false;
    writes.standstill.releases = true;
    let stalled = writes.stalled.time_until(on.kernel.now);
    for Held { request: id, since, stall_mark } in std::mem::take(&mut writes.standstill.held) {
        let waited = on.kernel.now - since;
        let merging = waited.min(Nanos(stalled.0 - stall_mark.0));
        let breakdown = on.desk.intake.breakdown_mut(id);
        breakdown.gc += merging;
        breakdown.admission += Nanos(waited.0 - merging.0);
        on.desk.intake.start(id, on.kernel.now);
        let request = *on.desk.intake.get(id).request();
        start::start::<{ skills::ALL }>(id, &request, writes, on);
    }
    writes.standstill.releases = false;
}

/// Does a cycle of these pages at once, if that can be done.
pub(in crate::device) fn write_at_once(
    pages: &[SlotId],
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) -> bool {
    if !on.cycles_add_up() {
        return false;
    }
    on.buffer.cycle_begun();
    let mut cycle = std::mem::take(&mut writes.standstill.cycle);
    for &slot in pages {
        let page = on.buffer.begin_write_back(slot, &on.kernel.ftl);
        on.kernel.contents.begin_write_back(slot, on.buffer.page(slot).writing_back);
        let is_partial = on.old_parts_of(slot).iter().any(Option::is_some);
        let at = fold::place_in_log(page, &mut on.kernel.ftl).expect("the cycle has room");
        fill::fill_page::<{ skills::ALL }>(slot, at, on);
        on.buffer.under_way.program_begun();
        cycle.push(Written { slot, at, is_partial });
    }
    let reads = cycle.iter().any(|written| written.is_partial);
    let (read, program) = on.kernel.flash.sheet().price_of_page();
    let cell = if reads { read + program } else { program };
    writes.standstill.cycle = cycle;
    writes.standstill.spent = Spent { cell, ..Spent::default() };
    on.idle.wake_at(on.kernel.now + cell);
    true
}

/// A cycle that was done at once has taken its time.
pub(in crate::device) fn written_at_once(
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let mut cycle = std::mem::take(&mut writes.standstill.cycle);
    let spent = writes.standstill.spent;
    for Written { slot, at, is_partial } in cycle.drain(..) {
        on.kernel.flash.account_write_at_once(at, is_partial);
        writes.make_current::<{ skills::ALL }>(slot, at, &spent, on);
        on.kernel.ftl.programmed_for_host::<{ skills::ALL }>(at, 1);
        on.buffer.under_way.program_ended();
    }
    writes.standstill.cycle = cycle;
    cycle::cycle_is_over(writes);
    go_on(writes, on);
    writes.admit_waiting::<{ skills::ALL }>(on);
    writes.write_back::<{ skills::ALL }>(on);
}

/// What was done at once has taken its time.
pub(in crate::device) fn stood_still(
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    match writes.standstill.is(Motion::Merges) {
        true => merge::merged_at_once(writes, on),
        false => written_at_once(writes, on),
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Whether all planes go in step.
    #[inline]
    pub(in crate::device) fn is_in_lock_step(&self) -> bool {
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
