//! Admission of writes to the buffer. A gathering buffer admits whole writes, in order of arrival,
//! when all their pages fit. Also decides whether a write or a flush has to wait for flash.

use crate::cache::{Entering, SlotId, WaitingPage};
use crate::device::base::Base;
use crate::device::write::Writes;
use crate::device::{Contents, Device};
use crate::engine::skills;
use crate::host::{Host, Op, Pages, Request};
use crate::scheduler::Probe;
use crate::units::{RequestId, SimTime};
use crate::verify::Canary;

impl<P: Probe, C: Contents> Device<P, C> {
    /// Asserts that a request may arrive at this time through its queue, and that it lies on the device.
    pub(in crate::device) fn check(&self, at: SimTime, request: &Request) {
        assert!(
            at >= self.base.kernel.now,
            "a request at {at}, but it is {} already",
            self.base.kernel.now
        );
        let next = self.base.next_event().map_or(SimTime::FOREVER, |(next, _)| next);
        assert!(next >= at, "a request at {at}, but an event is due at {next}");
        let queue = self.base.desk.queues.of(request.stream);
        assert!(self.has_room(queue), "a request to queue {}, which is full", queue.get());
        if request.op != Op::Flush {
            let end = request.lba.0.checked_add(u64::from(request.sectors));
            let inside = end.is_some_and(|end| end <= self.base.capacity_sectors());
            assert!(inside && request.sectors > 0, "{request:?} does not lie on the device");
        }
    }
}

impl Writes {
    /// Admits a write, or queues it behind those that wait already.
    pub(in crate::device) fn submit_whole(
        &mut self,
        id: RequestId,
        request: &Request,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if on.buffer.queue.first().is_none() && enter(id, request, on) {
            return;
        }
        let mut pages = pages_of(request, on);
        let Some(span) = pages.next() else { return };
        on.desk.intake.wait_for_one(id);
        let stall_mark = self.stalled.time_until(on.kernel.now);
        let waiting = WaitingPage { request: id, span, stall_mark };
        on.buffer.wait_for_room(waiting, 1 + pages.count() as u32);
    }

    /// Lets a flush wait for all data that is not on flash. Capacitors make this unnecessary.
    pub(in crate::device) fn submit_flush(
        &mut self,
        id: RequestId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if on.needs_no_flush() {
            return;
        }
        let pages = match on.plant.is(Canary::FlushWaitsForNothing) {
            true => 0,
            false => on.buffer.wait_for_all(id),
        };
        for _ in 0..pages {
            on.desk.intake.wait_for_one(id);
        }
        self.write_back::<{ skills::ALL }>(on);
    }
}

/// Admits the write that has waited longest, if it fits.
pub(in crate::device) fn let_in(id: RequestId, on: &mut Base<impl Probe, impl Contents>) -> bool {
    let request = *on.desk.intake.get(id).request();
    enter(id, &request, on)
}

fn enter(id: RequestId, request: &Request, on: &mut Base<impl Probe, impl Contents>) -> bool {
    let pages = pages_of(request, on);
    if !on.buffer.let_in(pages.clone().count() as u32) {
        return false;
    }
    for span in pages {
        let entered = on.write_page::<{ skills::ALL }>(id, span, Entering::Waited);
        debug_assert!(entered, "there was room for all of them");
    }
    true
}

/// A page of a write is in the buffer. The write waits until the page is on flash, unless DRAM is
/// enough. With capacitors, DRAM is as safe as flash.
#[inline]
pub(in crate::device) fn wait_for_flash(
    id: RequestId,
    slot: SlotId,
    on: &mut Base<impl Probe, impl Contents>,
) {
    let acknowledged = on.buffer.has_acknowledged();
    let fua = on.desk.intake.get(id).request().fua && !on.needs_no_flush();
    let forced = fua && !on.plant.is(Canary::ForceIgnored);
    if acknowledged && !forced {
        return;
    }
    on.desk.intake.wait_for_one(id);
    match acknowledged {
        true => on.buffer.force(slot, id),
        false => on.buffer.wait_for_page(slot, id),
    }
}

pub(in crate::device) fn pages_of(
    request: &Request,
    on: &Base<impl Probe, impl Contents>,
) -> Pages {
    Pages::new(request.lba, request.sectors, on.sectors_per_page)
}
