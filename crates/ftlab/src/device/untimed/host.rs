//! Host writes without a clock: into the buffer, into its queue if there is no room, and out again.

use super::{Outstanding, Stuck, Untimed};
use crate::cache::{Entering, WaitingPage};
use crate::device::read::ahead;
use crate::device::{Contents, Movement, Place};
use crate::engine::skills::ALL;
use crate::ftl::streams::StreamsPolicy;
use crate::host::{Host, Op, Pages, Request};
use crate::scheduler::Probe;
use crate::units::{Lba, Lpn, Nanos, PageSpan, RequestId};

/// The request of a host that wants the whole buffer on flash.
const FLUSH: Request =
    Request { op: Op::Flush, lba: Lba(0), sectors: 0, stream: 0, tag: 0, fua: false };

impl<P: Probe, C: Contents> Untimed<'_, P, C> {
    /// Writes as soon as the host may have another request outstanding.
    ///
    /// # Errors
    /// The device has no room.
    ///
    /// # Panics
    /// If the request is not a write, or reaches beyond the device.
    pub fn write(&mut self, request: &Request) -> Result<(), Stuck> {
        let end = request.lba.0.checked_add(u64::from(request.sectors));
        let fits = end.is_some_and(|end| end <= self.device.capacity_sectors());
        assert!(request.op == Op::Write && request.sectors > 0 && fits, "{request:?}");
        let id = self.take_in(*request)?;
        let base = &mut self.device.base;
        base.hint(id, request);
        base.kernel.ftl.takes_request(base.identifier::<ALL>(id, request), request.sectors);
        for span in Pages::new(request.lba, request.sectors, self.device.base.sectors_per_page) {
            if !self.write_page(id, span, Entering::New) {
                self.requests[id.at()].left += 1;
                let waiting = WaitingPage { request: id, span, stall_mark: Nanos::ZERO };
                self.device.base.buffer.wait_for_room(waiting, 1);
            }
        }
        self.write_back();
        Self::settle(&mut self.requests, &mut self.free, id);
        Ok(())
    }

    /// Returns a number for a request, which counts as waiting until all its pages are submitted.
    fn take_in(&mut self, request: Request) -> Result<RequestId, Stuck> {
        let number = loop {
            match self.free.pop() {
                Some(number) => break number,
                None if self.step() => {}
                None => {
                    self.bench().finish();
                    if self.turns.is_empty() {
                        return Err(Stuck);
                    }
                }
            }
        };
        let outstanding = Outstanding { request, left: 1 };
        match self.requests.get_mut(number as usize) {
            Some(place) => *place = outstanding,
            None => {
                // Numbers are handed out in order.
                self.requests.resize(number as usize + 1, outstanding);
            }
        }
        Ok(RequestId::new(number))
    }

    /// Puts a page of a write into the buffer, if there is room.
    fn write_page(&mut self, id: RequestId, span: PageSpan, turn: Entering) -> bool {
        let request = &self.requests[id.at()].request;
        let identifier = self.device.base.identifier::<ALL>(id, request);
        let tag = self.device.base.kernel.ftl.streams().tag_of(identifier);
        let Some(slot) = self.device.base.let_page_in::<{ ALL }>(span, tag, turn) else {
            return false;
        };
        let (from, to) = (Place::Write { tag: request.tag }, Place::Buffer(slot));
        let PageSpan { page, sectors } = span;
        self.device.base.kernel.contents.copy(&Movement { from, to, page, sectors });
        ahead::outdate_read::<{ ALL }>(span.page, &mut self.device.base);
        if self.device.base.checks_itself() {
            self.device.base.ledger.written(span.page, tag);
        }
        if !self.device.base.buffer.has_acknowledged() {
            self.requests[id.at()].left += 1;
            self.device.base.buffer.wait_for_page(slot, id);
        }
        true
    }

    /// Admits writes that waited for room.
    pub(super) fn admit_waiting(&mut self) {
        while let Some(WaitingPage { request, span, .. }) = self.device.base.buffer.queue.first() {
            if !self.write_page(request, span, Entering::Waited) {
                return;
            }
            self.device.base.buffer.queue.pop();
            Self::settle(&mut self.requests, &mut self.free, request);
        }
    }

    /// A version of a page has left the staging area: admits the write that waited for this.
    #[inline]
    pub(super) fn admit_next_version(&mut self, page: Lpn) {
        if self.device.base.buffer.acknowledges_early()
            || self.device.base.buffer.find(page).is_some()
        {
            return;
        }
        if let Some(WaitingPage { request, span, .. }) =
            self.device.base.buffer.queue.next_version(page)
        {
            let admitted = self.write_page(request, span, Entering::Waited);
            debug_assert!(admitted, "nothing else can have come in");
            Self::settle(&mut self.requests, &mut self.free, request);
        }
    }

    /// Writes everything in the buffer to flash.
    pub(super) fn flush(&mut self) {
        let Ok(id) = self.take_in(FLUSH) else { return };
        self.requests[id.at()].left += self.device.base.buffer.wait_for_all(id);
        self.write_back();
        Self::settle(&mut self.requests, &mut self.free, id);
    }
}
