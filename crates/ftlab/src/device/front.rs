//! A command on its way through the controller's front end: fetched from its submission queue,
//! processed, its data brought over the link and taken in; the data of a read on its way back; and flash
//! pages for which the processor needs its time.

use crate::device::base::Base;
use crate::device::direct;
use crate::device::read;
use crate::device::write::Writes;
use crate::device::write::end_of_life;
use crate::device::write::lock_step;
use crate::device::{Contents, Device};
use crate::engine::skills::{self, RARE, Skills, any};
use crate::host::{FrontEvent, Job, Op, QueueId, Request};
use crate::scheduler::{CommandId, Probe};
use crate::units::{Nanos, RequestId};

impl<P: Probe, C: Contents> Device<P, C> {
    /// Puts a command into its submission queue.
    pub(in crate::device) fn enqueue(&mut self, id: RequestId) {
        if let Some(front) = &mut self.base.desk.front {
            front.submitted(self.base.desk.intake.get(id).queue(), id);
        }
        self.fetch();
    }

    /// The processor goes on, and fetches as many commands as the controller can take.
    pub(in crate::device) fn fetch(&mut self) {
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
        self.writes.start::<{ skills::ALL }>(id, &request, &mut self.base);
    }

    /// Something of the front end is done now.
    pub(in crate::device) fn step_front(&mut self) {
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
            1 => self.writes.issue_now::<{ skills::ALL }>(program, &mut self.base),
            _ => self.writes.issue_row_now(program, &mut self.base),
        }
    }
}

impl Writes {
    /// Takes a command up.
    #[inline(always)]
    pub(in crate::device) fn start<const S: Skills>(
        &mut self,
        id: RequestId,
        request: &Request,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if any(S, RARE) {
            if on.direct.is_some() {
                return direct::start_direct(id, request, on);
            }
            if on.services.merger.is_some() && lock_step::hold(id, request.op, self, on) {
                return;
            }
            end_of_life::consider_end::<S>(self, on);
        }
        match request.op {
            _ if any(S, RARE) && on.refuses(request) => on.desk.intake.refuse(id),
            Op::Read => read::submit_read::<S>(id, request, on),
            Op::Write => self.submit_write::<S>(id, request, on),
            Op::Trim => self.trim(id, request, on),
            Op::Flush => self.submit_flush(id, on),
        }
        if on.desk.intake.settle(id) {
            on.finish_from_buffer(id);
        }
        if any(S, RARE) {
            end_of_life::consider_end::<S>(self, on);
        }
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// Commands of a queue that were submitted and are not completed.
    pub(in crate::device) fn outstanding(&self, queue: QueueId) -> u32 {
        match &self.desk.front {
            Some(front) => front.outstanding(queue),
            None => u32::try_from(self.desk.intake.in_flight()).unwrap_or(u32::MAX),
        }
    }

    /// So many flash pages, of which `first` is one, are ready to be handed to the flash. Says whether the
    /// processor needs its time for that.
    #[inline]
    pub(in crate::device) fn wait_for_processor(&mut self, first: CommandId, pages: u32) -> bool {
        match &mut self.desk.front {
            Some(front) => front.schedule(self.kernel.now, first, pages),
            None => false,
        }
    }
}
