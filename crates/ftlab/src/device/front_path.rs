//! A command on its way through the controller's front end: fetched from its submission queue,
//! processed, its data brought over the link; and the data of a read on its way back.

use super::{Contents, Device};
use crate::host::{FrontEvent, Op, QueueId, Request, RequestId};
use crate::scheduler::Probe;

impl<P: Probe, C: Contents> Device<P, C> {
    /// Commands of a queue that were submitted and are not completed.
    pub(super) fn outstanding(&self, queue: QueueId) -> u32 {
        match &self.front {
            Some(front) => front.outstanding(queue),
            None => u32::try_from(self.intake.in_flight()).unwrap_or(u32::MAX),
        }
    }

    /// Puts a command into its submission queue.
    pub(super) fn enqueue(&mut self, id: RequestId) {
        if let Some(front) = &mut self.front {
            front.submitted(self.intake.get(id).queue(), id);
        }
        self.fetch();
    }

    /// Fetches as many commands as the controller can take.
    pub(super) fn fetch(&mut self) {
        while let Some(front) = &mut self.front
            && let Some(id) = front.fetch(&self.intake)
        {
            let waited = self.now - self.intake.get(id).submitted();
            self.intake.breakdown_mut(id).submission = waited;
            match front.process(self.now, id) {
                Some(time) => self.intake.breakdown_mut(id).front_end = time,
                None => self.bring(id),
            }
        }
    }

    /// Gets what a processed command writes, or starts it at once.
    fn bring(&mut self, id: RequestId) {
        if let Some(front) = &mut self.front
            && let Some(at) = front.bring(self.now, id, self.intake.get(id).request())
        {
            self.intake.breakdown_mut(id).link = at - self.now;
            return;
        }
        self.start_late(id);
    }

    /// Takes up a command that the front end has passed on.
    fn start_late(&mut self, id: RequestId) {
        self.intake.start(id, self.now);
        let request = *self.intake.get(id).request();
        self.start(id, &request);
    }

    /// Takes a command up.
    #[inline(always)]
    pub(super) fn start(&mut self, id: RequestId, request: &Request) {
        if self.direct.is_some() {
            return self.start_direct(id, request);
        }
        if self.merger.is_some() && self.hold(id, request.op) {
            return;
        }
        self.consider_end();
        match request.op {
            op if self.refuses(op) => self.intake.refuse(id),
            Op::Read => self.submit_read(id, request),
            Op::Write => self.submit_write(id, request),
            Op::Trim => self.submit_trim(request),
            Op::Flush => self.submit_flush(id),
        }
        if self.intake.settle(id) {
            self.finish_from_buffer(id);
        }
        self.consider_end();
    }

    /// Something of the front end is done now.
    pub(super) fn step_front(&mut self) {
        let event = self.front.as_mut().and_then(|front| front.step(self.now));
        match event {
            Some(FrontEvent::Delivered(id)) => self.outlet().complete(id),
            Some(FrontEvent::Processed(id)) => self.bring(id),
            Some(FrontEvent::Brought(id)) => self.start_late(id),
            None => {}
        }
    }
}
