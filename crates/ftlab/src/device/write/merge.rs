//! Writes to a log-block mapping, and the merges that make room for them.
//!
//! If each plane has its own clock, a plane without room merges while the others continue, and writes to it stall. In
//! lock-step the whole device waits for merges (`device/write/lock_step.rs`).

use crate::cache::SlotId;
use crate::device::base::Base;
use crate::device::write::lock_step::Motion;
use crate::device::write::{Writes, cost, lock_step};
use crate::device::{Contents, Device};
use crate::engine::skills;
use crate::engine::skills::Skills;
use crate::ftl::mapping::hybrid::Room;
use crate::ftl::merge::{MergeStep, Merger, fold};
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::streams::WriteStream;
use crate::scheduler::{CommandId, Probe};
use crate::units::{Lpn, PlaneId, Ppn};

impl<P: Probe, C: Contents> Device<P, C> {
    /// Restarts the counts of reclaims' merges and of stalls: preparation is over, and the
    /// measurement begins. ([`DeviceCounters`](crate::stats::DeviceCounters) continue to count.)
    pub fn prepared(&mut self) {
        if let Some(merger) = self.base.services.merger.as_deref_mut() {
            merger.count_anew();
        }
        cost::forget_costs_of_preparation(&mut self.base);
    }

    /// The merger, if the mapping has a log.
    pub fn merger(&self) -> Option<&Merger> {
        self.base.services.merger.as_deref()
    }
}

/// Places a program in the log, if its plane takes writes and has room.
pub(in crate::device) fn place_in_log(
    program: CommandId,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) -> bool {
    let page = writes.first_page_of(program, on);
    let plane = fold::log_plane_of(page, &on.kernel.ftl);
    let Some(merger) = on.services.merger.as_deref_mut() else { return false };
    if !merger.takes_writes(plane) {
        return false;
    }
    let Some(at) = fold::place_in_log(page, &mut on.kernel.ftl) else { return false };
    merger.program_begins(plane);
    writes.fill_place::<{ skills::ALL }>(program, at, on);
    true
}

/// A program of this page is stalled: lets its plane make room.
pub(in crate::device) fn want_room(
    page: Lpn,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let plane = fold::log_plane_of(page, &on.kernel.ftl);
    let now = on.kernel.now;
    if on.services.merger.as_deref_mut().is_some_and(|merger| merger.want_room(now, plane, page)) {
        begin_merging(plane, writes, on);
    }
}

fn begin_merging(plane: PlaneId, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    let Base { kernel, services, .. } = on;
    let Some(merger) = services.merger.as_deref_mut() else { return };
    if merger.begin(plane, kernel) == MergeStep::Done {
        merged(plane, writes, on);
    }
}

/// A flash page of the host is programmed and current. Its plane may have waited for this to merge.
#[inline]
pub(in crate::device) fn programmed_for_host<const S: Skills>(
    first: Ppn,
    units: u32,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    on.kernel.ftl.programmed_for_host::<S>(first, units);
    if !skills::any(S, skills::RARE) {
        return;
    }
    let Base { kernel, services, .. } = on;
    services.journal.iter_mut().for_each(|journal| journal.consider_checkpoint(kernel));
    let Some(merger) = on.services.merger.as_deref_mut() else { return };
    let geometry = on.kernel.flash.geometry();
    let plane = geometry.plane_of(geometry.block_of(first));
    if merger.program_ends(plane) {
        begin_merging(plane, writes, on);
    }
}

/// A plane takes writes again.
pub(in crate::device) fn merged(
    plane: PlaneId,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    if writes.standstill.is(Motion::Merges) {
        if on.services.merger.as_ref().is_some_and(|merger| !merger.is_busy()) {
            merges_are_over(writes, on);
        }
        return;
    }
    let pool = on.kernel.ftl.placement().pool_of(plane);
    let stream = WriteStream::new(0);
    while let Some((waiting, _)) = writes.stalled.oldest(pool, |_| true) {
        let page = writes.first_page_of(waiting.program, on);
        if !writes.try_issue::<{ skills::ALL }>(
            waiting.program,
            stream,
            on.kernel.now - waiting.since,
            on,
        ) {
            return want_room(page, writes, on);
        }
        writes.stalled.forget_oldest(on.kernel.now, pool, stream);
    }
}

/// Whether every page of a write cycle has room. In lock-step, a device without room makes some
/// before the cycle begins: it stalls for merges, and write-back continues afterwards.
pub(in crate::device) fn log_has_room(
    pages: &[SlotId],
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) -> bool {
    if !on.is_in_lock_step() {
        return true;
    }
    let mut pages = pages.iter().map(|&slot| on.buffer.page(slot).page);
    let full =
        pages.find(|&page| matches!(fold::room_in_log(page, &on.kernel.ftl), Room::After(_)));
    if let Some(page) = full {
        stand_still(page, writes, on);
    }
    full.is_none()
}

/// Stands still to make room for a page.
fn stand_still(page: Lpn, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    writes.standstill.begins(Motion::Merges);
    writes.stalled.begin_standstill(on.kernel.now);
    if !on.kernel.flash.may_add_up() {
        return want_room(page, writes, on);
    }
    let Base { kernel, services, .. } = on;
    let Some(merger) = services.merger.as_deref_mut() else { return };
    let time = merger.at_once(page, kernel);
    on.idle.wake_at(on.kernel.now + time);
}

/// The time of merges that were carried out at once is over.
pub(in crate::device) fn merged_at_once(
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    if let Some(merger) = on.services.merger.as_deref_mut() {
        merger.settle(&mut on.kernel.flash);
    }
    merges_are_over(writes, on);
}

fn merges_are_over(writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    writes.stalled.end_standstill(on.kernel.now);
    lock_step::go_on(writes, on);
    writes.write_back::<{ skills::ALL }>(on);
}
