//! Writes that come in: as a whole where the buffer gathers, when all their pages fit, and in order of arrival. Whether
//! DRAM is enough for them, or they wait for flash, as flushes do.

use super::base::Base;
use super::{Contents, Device};
use crate::cache::{SlotId, Turn, Waiting};
use crate::engine::skills;
use crate::host::{Host, Op, Pages, Request};
use crate::scheduler::Probe;
use crate::units::{RequestId, SimTime};
use crate::verify::Canary;

impl<P: Probe, C: Contents> Device<P, C> {
    /// A request may come now, through its queue, and lies on the device.
    pub(super) fn check(&self, at: SimTime, request: &Request) {
        assert!(
            at >= self.base.kernel.now,
            "a request at {at}, but it is {} already",
            self.base.kernel.now
        );
        let next = self.base.next_event().map_or(SimTime::FOREVER, |(next, _)| next);
        assert!(next >= at, "a request at {at}, but the device stands before an event at {next}");
        let queue = self.base.desk.queues.of(request.stream);
        assert!(self.has_room(queue), "a request to queue {}, which is full", queue.get());
        if request.op != Op::Flush {
            let end = request.lba.0.checked_add(u64::from(request.sectors));
            let inside = end.is_some_and(|end| end <= self.base.capacity_sectors);
            assert!(inside && request.sectors > 0, "{request:?} does not lie on the device");
        }
    }

    /// A write comes in, or waits behind those that do.
    pub(super) fn submit_whole(&mut self, id: RequestId, request: &Request) {
        if self.base.buffer.queue.first().is_none() && self.base.enter(id, request) {
            return;
        }
        let mut pages = self.base.pages_of(request);
        let Some(span) = pages.next() else { return };
        self.base.desk.intake.wait_for_one(id);
        let stall_mark = self.writes.stalled.time_until(self.base.kernel.now);
        let waiting = Waiting { request: id, span, stall_mark };
        self.base.buffer.wait_for_room(waiting, 1 + pages.count() as u32);
    }

    /// A flush waits for all that is not on flash, unless capacitors would carry it there.
    pub(super) fn submit_flush(&mut self, id: RequestId) {
        if self.base.has_capacitors {
            return;
        }
        let pages = match self.base.plant.is(Canary::FlushWaitsForNothing) {
            true => 0,
            false => self.base.buffer.wait_for_all(id),
        };
        for _ in 0..pages {
            self.base.desk.intake.wait_for_one(id);
        }
        self.write_back::<{ skills::ALL }>();
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Lets the write that has waited longest in, if it fits.
    pub(super) fn let_in(&mut self, id: RequestId) -> bool {
        let request = *self.desk.intake.get(id).request();
        self.enter(id, &request)
    }

    fn enter(&mut self, id: RequestId, request: &Request) -> bool {
        let pages = self.pages_of(request);
        if !self.buffer.let_in(pages.clone().count() as u32) {
            return false;
        }
        for span in pages {
            let entered = self.write_page::<{ skills::ALL }>(id, span, Turn::Waited);
            debug_assert!(entered, "there was room for all of them");
        }
        true
    }

    /// A page of a write has come in: the write waits until it is on flash, unless DRAM is enough for it. With
    /// capacitors DRAM is as good as flash.
    #[inline]
    pub(super) fn wait_for_flash(&mut self, id: RequestId, slot: SlotId) {
        let acknowledged = self.buffer.has_acknowledged();
        let fua = self.desk.intake.get(id).request().fua && !self.has_capacitors;
        let forced = fua && !self.plant.is(Canary::ForceIgnored);
        if acknowledged && !forced {
            return;
        }
        self.desk.intake.wait_for_one(id);
        match acknowledged {
            true => self.buffer.force(slot, id),
            false => self.buffer.wait_for_page(slot, id),
        }
    }

    pub(super) fn pages_of(&self, request: &Request) -> Pages {
        Pages::new(request.lba, request.sectors, self.sectors_per_page)
    }
}
