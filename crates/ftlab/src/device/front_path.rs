//! A command on its way through the controller's front end: fetched from its submission queue,
//! processed, its data brought over the link and taken in; the data of a read on its way back; and flash
//! pages for which the processor needs its time.

use super::base::Base;
use super::{Contents, Device};
use crate::engine::skills::{self, RARE, Skills, any};
use crate::host::{FrontEvent, Job, Op, QueueId, Request};
use crate::scheduler::{CommandId, Probe};
use crate::units::{Nanos, RequestId};

impl<P: Probe, C: Contents> Device<P, C> {
    /// Puts a command into its submission queue.
    pub(super) fn enqueue(&mut self, id: RequestId) {
        if let Some(front) = &mut self.base.desk.front {
            front.submitted(self.base.desk.intake.get(id).queue(), id);
        }
        self.fetch();
    }

    /// The processor goes on, and fetches as many commands as the controller can take.
    pub(super) fn fetch(&mut self) {
        while let Some(front) = &mut self.base.desk.front {
            // At the end of a device's life pages stay under way for ever that find no place.
            let under_way =
                self.base.buffer.under_way.programs() > 0 && !self.base.kernel.ftl.is_read_only();
            front.go_on(self.base.kernel.now, under_way);
            let Some(id) = front.fetch(&self.base.desk.intake) else { return };
            let waited = self.base.kernel.now - self.base.desk.intake.get(id).submitted();
            self.base.desk.intake.breakdown_mut(id).submission = waited;
            match front.process(self.base.kernel.now, id) {
                Some(time) => self.base.desk.intake.breakdown_mut(id).front_end = time,
                None => self.bring(id),
            }
        }
    }

    /// Gets what a processed command writes, or starts it at once.
    fn bring(&mut self, id: RequestId) {
        if let Some(front) = &mut self.base.desk.front
            && let Some(at) =
                front.bring(self.base.kernel.now, id, self.base.desk.intake.get(id).request())
        {
            self.base.desk.intake.breakdown_mut(id).link = at - self.base.kernel.now;
            return;
        }
        self.take_in(id);
    }

    /// What a command brings has reached the controller.
    fn take_in(&mut self, id: RequestId) {
        if let Some(front) = &mut self.base.desk.front
            && front.take_in(self.base.kernel.now, id, self.base.desk.intake.get(id).request())
        {
            return;
        }
        self.start_late(id);
    }

    /// Takes up a command that the front end has passed on.
    fn start_late(&mut self, id: RequestId) {
        self.base.desk.intake.start(id, self.base.kernel.now);
        let request = *self.base.desk.intake.get(id).request();
        self.start::<{ skills::ALL }>(id, &request);
    }

    /// Takes a command up.
    #[inline(always)]
    pub(super) fn start<const S: Skills>(&mut self, id: RequestId, request: &Request) {
        if any(S, RARE) {
            if self.base.services.direct.is_some() {
                return self.base.start_direct(id, request);
            }
            if self.base.services.merger.is_some() && self.hold(id, request.op) {
                return;
            }
            self.consider_end::<S>();
        }
        match request.op {
            _ if any(S, RARE) && self.base.refuses(request) => self.base.desk.intake.refuse(id),
            Op::Read => self.base.submit_read::<S>(id, request),
            Op::Write => self.submit_write::<S>(id, request),
            Op::Trim => self.trim_in_turn(id, request),
            Op::Flush => self.submit_flush(id),
        }
        if self.base.desk.intake.settle(id) {
            self.base.finish_from_buffer(id);
        }
        if any(S, RARE) {
            self.consider_end::<S>();
        }
    }

    /// Something of the front end is done now.
    pub(super) fn step_front(&mut self) {
        let event =
            self.base.desk.front.as_mut().and_then(|front| front.step(self.base.kernel.now));
        match event {
            Some(FrontEvent::Delivered(id)) => self.base.complete(id),
            Some(FrontEvent::Brought(id)) => self.take_in(id),
            Some(FrontEvent::Processed(job, took)) => self.processed(job, took),
            None => {}
        }
    }

    /// The processor has spent its time on something.
    fn processed(&mut self, job: Job, took: Nanos) {
        match job {
            Job::TakeUp(id) => self.bring(id),
            Job::TakeIn(id) => {
                self.base.desk.intake.breakdown_mut(id).front_end += took;
                self.start_late(id);
            }
            Job::Answer(id) => {
                self.base.desk.intake.breakdown_mut(id).front_end += took;
                self.base.deliver(id);
            }
            Job::Schedule(program) => self.scheduled(program),
            Job::Look => {}
        }
    }

    /// The processor has handed over a flash page, or a row of them.
    fn scheduled(&mut self, program: CommandId) {
        match self.base.buffer.rules.row {
            1 => self.issue_now::<{ skills::ALL }>(program),
            _ => self.issue_row_now(program),
        }
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Commands of a queue that were submitted and are not completed.
    pub(super) fn outstanding(&self, queue: QueueId) -> u32 {
        match &self.desk.front {
            Some(front) => front.outstanding(queue),
            None => u32::try_from(self.desk.intake.in_flight()).unwrap_or(u32::MAX),
        }
    }

    /// So many flash pages, of which `first` is one, are ready to be handed to the flash. Says whether the
    /// processor needs its time for that.
    #[inline]
    pub(super) fn wait_for_processor(&mut self, first: CommandId, pages: u32) -> bool {
        match &mut self.desk.front {
            Some(front) => front.schedule(self.kernel.now, first, pages),
            None => false,
        }
    }
}
