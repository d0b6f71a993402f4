//! Lock-step: a device whose planes run in step does one thing at a time, a write cycle, merges, or
//! reads. Requests that need the FTL during a cycle or merges wait until these end. A cycle begins
//! when no read is in flight; reads that arrive meanwhile wait as well.
//!
//! If no probe watches single commands and transfers take no time, a cycle needs no commands: each
//! of its planes programs one page at the same time, after one read time if any page needs a
//! read-modify-write. The cycle is then carried out at once, like merges
//! ([`ftl::merge`](crate::ftl::merge)), and its time is added up. The results are the same.

use crate::cache::SlotId;
use crate::device::Contents;
use crate::device::base::Base;
use crate::device::write::{Writes, cycle, fill, merge, start};
use crate::engine::skills;
use crate::ftl::merge::fold;
use crate::host::Op;
use crate::scheduler::{Probe, Spent};
use crate::units::{Nanos, Ppn, RequestId, SimTime};

/// What a device in lock-step is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::device) enum Motion {
    /// It serves requests as they come.
    #[default]
    Goes,
    /// It waits until nothing is in flight on flash.
    Stopping,
    /// A write cycle.
    Writes,
    /// Merges.
    Merges,
}

/// The state of a device in lock-step, and the requests that wait.
#[derive(Clone, Debug, Default)]
pub(in crate::device) struct Standstill {
    motion: Motion,
    held: Vec<Held>,
    /// Whether a trim is held.
    holds_trim: bool,
    /// Whether held requests are being started. Nothing else begins before all are.
    releases: bool,
    /// The pages of a cycle that is carried out at once.
    cycle: Vec<Written>,
    /// The time that this cycle takes.
    spent: Spent,
}

/// A request that arrived during a cycle or merges.
#[derive(Clone, Copy, Debug)]
struct Held {
    request: RequestId,
    since: SimTime,
    /// How long write-backs had been stalled in total when it arrived.
    stall_mark: Nanos,
}

/// A page of a cycle that is carried out at once.
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

/// The flash pages that a cycle carried out at once is programming.
pub(in crate::device) fn torn_at_once(writes: &Writes) -> impl Iterator<Item = Ppn> {
    writes.standstill.cycle.iter().map(|written| written.at)
}

/// Whether a cycle or merges may begin: neither is under way, and no command is in flight. If not,
/// the device asks again later.
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

/// Whether the device waits until no flash command is in flight.
#[inline]
pub(in crate::device) fn is_stopping(writes: &Writes) -> bool {
    writes.standstill.motion == Motion::Stopping
}

/// No flash command is in flight any more: a device that waited for this continues.
pub(in crate::device) fn flash_is_quiet(
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    writes.write_back::<{ skills::ALL }>(on);
    // No cycle began: the data that was to be written is gone.
    if is_stopping(writes) {
        go_on(writes, on);
        writes.write_back::<{ skills::ALL }>(on);
    }
}

/// Holds back a request that arrives during a cycle or merges. Returns whether it does.
pub(in crate::device) fn hold(
    id: RequestId,
    op: Op,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) -> bool {
    let standstill = &mut writes.standstill;
    // A held trim must not discard data that was written after it.
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

/// A cycle or merges are over: starts the requests that were held.
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

/// Carries a cycle of these pages out at once, if that is possible.
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
        on.move_to_write_back(slot, page, on.buffer.page(slot).writing_back);
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

/// The time of a cycle that was carried out at once is over.
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

/// The time of a cycle or merges that were carried out at once is over.
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
    /// Whether all planes run in lock-step.
    #[inline]
    pub(in crate::device) fn is_in_lock_step(&self) -> bool {
        self.services.merger.as_deref().is_some_and(|merger| merger.in_lock_step())
    }

    /// Whether cycles are carried out at once: each page of a cycle has its own die, and all take equally long.
    fn cycles_add_up(&self) -> bool {
        let planes = self.kernel.flash.geometry().planes_per_die();
        planes == 1 && self.kernel.flash.may_add_up()
    }
}
