//! Dead dies, from the device's side: how a death is found, and what becomes of requests to pages
//! that may only go to dead dies.
//!
//! The first command that fails on a dead die reveals it; an unused die is never queried. This command, and later ones
//! on that die, end like any failed command: reads are unreadable, programs go elsewhere, collections are given up.

use crate::cache::WaitingPage;
use crate::device::Contents;
use crate::device::base::Base;
use crate::device::write::{Writes, end_of_life};
use crate::engine::skills;
use crate::ftl::wear::dies;
use crate::host::{Pages, Request};
use crate::scheduler::Probe;
use crate::units::PlaneId;

/// Continues the work of a dead die elsewhere, as far as possible.
#[cold]
pub(in crate::device) fn go_on_without_die(
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    on.verify_deaths();
    on.kernel.close_stripes();
    end_of_life::consider_end::<{ skills::ALL }>(writes, on);
    // Programs that wait for room may find that there is none, or get another place. Planes set more blocks aside.
    place_homeless(writes, on);
    writes.update_due_map_pages::<{ skills::ALL }>(on);
    for plane in (0..on.kernel.ftl.geometry().planes()).map(PlaneId::new) {
        on.consider_collecting::<{ skills::ALL }>(plane);
        writes.retry_map(plane, on);
    }
    let Base { kernel, services, .. } = on;
    services.collector.rebuild::<{ skills::ALL }>(kernel);
    on.relieve::<{ skills::ALL }>();
    writes.admit_waiting::<{ skills::ALL }>(on);
    writes.write_back::<{ skills::ALL }>(on);
}

/// A page of a write waits for admission (the whole write, in a gathering buffer). If it can never
/// be written, refuses the request and returns true.
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

/// Places programs whose own dies are all dead wherever there is room. Programs that were not
/// acknowledged are given up instead.
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

/// Whether a write needs a page whose dies are all dead.
pub(in crate::device) fn has_no_place(
    request: &Request,
    on: &Base<impl Probe, impl Contents>,
) -> bool {
    if on.kernel.ftl.dead_dies().is_empty() || !request.op.writes() {
        return false;
    }
    let mut pages = Pages::new(request.lba, request.sectors, on.sectors_per_page);
    pages.any(|span| on.kernel.ftl.is_homeless(span.page))
}
