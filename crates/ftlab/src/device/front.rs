//! A command on its way through the controller's front end: fetched from its submission queue,
//! processed, its data brought over the link and taken in; the data of a read on its way back; and flash
//! pages for which the processor needs its time.

use crate::device::Contents;
use crate::device::base::Base;
use crate::device::write::{Writes, start};
use crate::engine::skills;
use crate::host::{FrontEvent, ProcessorJob, QueueId};
use crate::scheduler::{CommandId, Probe};
use crate::units::{Nanos, RequestId};

/// Puts a command into its submission queue.
pub(in crate::device) fn enqueue(
    id: RequestId,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    if let Some(front) = &mut on.desk.front {
        front.submitted(on.desk.intake.get(id).queue(), id);
    }
    fetch(writes, on);
}

/// The processor goes on, and fetches as many commands as the controller can take.
pub(in crate::device) fn fetch(writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    while let Some(front) = &mut on.desk.front {
        // At the end of a device's life pages stay under way for ever that find no place.
        let under_way = on.buffer.under_way.programs() > 0 && !on.kernel.ftl.is_read_only();
        front.go_on(on.kernel.now, under_way);
        let Some(id) = front.fetch(&on.desk.intake) else { return };
        let waited = on.kernel.now - on.desk.intake.get(id).submitted();
        on.desk.intake.breakdown_mut(id).submission = waited;
        match front.process(on.kernel.now, id) {
            Some(time) => on.desk.intake.breakdown_mut(id).front_end = time,
            None => bring(id, writes, on),
        }
    }
}

/// Gets what a processed command writes, or starts it at once.
fn bring(id: RequestId, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    if let Some(front) = &mut on.desk.front
        && let Some(at) = front.bring(on.kernel.now, id, on.desk.intake.get(id).request())
    {
        on.desk.intake.breakdown_mut(id).link = at - on.kernel.now;
        return;
    }
    take_in(id, writes, on);
}

/// What a command brings has reached the controller.
fn take_in(id: RequestId, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    if let Some(front) = &mut on.desk.front
        && front.take_in(on.kernel.now, id, on.desk.intake.get(id).request())
    {
        return;
    }
    start_late(id, writes, on);
}

/// Takes up a command that the front end has passed on.
fn start_late(id: RequestId, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    on.desk.intake.start(id, on.kernel.now);
    let request = *on.desk.intake.get(id).request();
    start::start::<{ skills::ALL }>(id, &request, writes, on);
}

/// Something of the front end is done now.
pub(in crate::device) fn step_front(writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    let event = on.desk.front.as_mut().and_then(|front| front.step(on.kernel.now));
    match event {
        Some(FrontEvent::Delivered(id)) => on.complete(id),
        Some(FrontEvent::Brought(id)) => take_in(id, writes, on),
        Some(FrontEvent::Processed(job, took)) => processed(job, took, writes, on),
        None => {}
    }
}

/// The processor has spent its time on something.
fn processed(
    job: ProcessorJob,
    took: Nanos,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) {
    match job {
        ProcessorJob::TakeUp(id) => bring(id, writes, on),
        ProcessorJob::TakeIn(id) => {
            on.desk.intake.breakdown_mut(id).front_end += took;
            start_late(id, writes, on);
        }
        ProcessorJob::Answer(id) => {
            on.desk.intake.breakdown_mut(id).front_end += took;
            on.deliver(id);
        }
        ProcessorJob::Schedule(program) => scheduled(program, writes, on),
        ProcessorJob::Look => {}
    }
}

/// The processor has handed over a flash page, or a row of them.
fn scheduled(program: CommandId, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    match on.buffer.rules.row {
        1 => writes.issue_now::<{ skills::ALL }>(program, on),
        _ => writes.issue_row_now::<{ skills::ALL }>(program, on),
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
