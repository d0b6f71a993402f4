//! A die that died, from the device's side: when that is found, and what becomes of requests that would write where
//! no die is left.
//!
//! The device finds out by the first command that fails on the die: nothing asks a die that is not used. That command,
//! and those that follow it there, end as any that failed: reads are unreadable, programs go elsewhere,
//! collections are given up.

use crate::cache::WaitingPage;
use crate::device::Contents;
use crate::device::base::Base;
use crate::device::write::{Writes, end_of_life};
use crate::engine::skills;
use crate::ftl::wear::dies;
use crate::host::{Op, Pages, Request};
use crate::scheduler::Probe;
use crate::units::PlaneId;

/// What was to be done on a die that died is done elsewhere, as far as it can be.
#[cold]
pub(in crate::device) fn go_on_without_die(
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    on.kernel.close_stripes();
    end_of_life::consider_end::<{ skills::ALL }>(writes, on);
    // What waits for room may find that there is none, or another place; planes keep more back.
    place_homeless(writes, on);
    for plane in (0..on.kernel.ftl.geometry().planes()).map(PlaneId::new) {
        on.consider_collecting::<{ skills::ALL }>(plane);
    }
    on.relieve::<{ skills::ALL }>();
    writes.admit_waiting::<{ skills::ALL }>(on);
    writes.write_back::<{ skills::ALL }>(on);
}

/// A page of a write waits to come in, or in a gathering buffer the whole write. If it never can be written, the
/// request is told so.
#[inline]
pub(in crate::device) fn turned_away(
    waiting: &WaitingPage,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) -> bool {
    if on.kernel.ftl.dead_dies().is_empty() {
        return false;
    }
    let refused = match on.buffer.keeps_versions() {
        true => has_no_place(on.desk.intake.get(waiting.request).request(), on),
        false => on.kernel.ftl.is_homeless(waiting.span.page),
    };
    if refused {
        on.buffer.queue.pop();
        end_of_life::refuse_waiting(*waiting, writes, on);
    }
    refused
}

/// Programs that wait, and whose place is on dead dies, go to wherever there is room, or are given up if nobody
/// was told that they are done.
pub(in crate::device) fn place_homeless(
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    for pool in dies::homeless_pools(&on.kernel.ftl) {
        while let Some((waiting, stream)) = writes.stalled.oldest(pool, |_| true) {
            if !on.buffer.has_acknowledged() {
                end_of_life::give_up_stalled(pool, stream, waiting, writes, on);
            } else if writes.try_issue::<{ skills::ALL }>(
                waiting.program,
                stream,
                on.kernel.now - waiting.since,
                on,
            ) {
                writes.stalled.forget_oldest(on.kernel.now, pool, stream);
            } else {
                break;
            }
        }
    }
}

/// Whether a write would go where no die is left.
pub(in crate::device) fn has_no_place(
    request: &Request,
    on: &Base<impl Probe, impl Contents>,
) -> bool {
    if on.kernel.ftl.dead_dies().is_empty() || request.op != Op::Write {
        return false;
    }
    let mut pages = Pages::new(request.lba, request.sectors, on.sectors_per_page);
    pages.any(|span| on.kernel.ftl.is_homeless(span.page))
}
