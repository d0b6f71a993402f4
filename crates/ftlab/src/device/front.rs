//! The way of a command through the controller's front end: it is fetched from its submission queue
//! and processed, and its data crosses the link and is taken in. Also the data of reads and
//! completions on their way back, and flash pages that need time of the processor.

use crate::device::Contents;
use crate::device::base::Base;
use crate::device::desk::Desk;
use crate::device::write::{Writes, start};
use crate::engine::skills;
use crate::ftl::gc::Purpose;
use crate::ftl::{Ftl, Kernel};
use crate::host::{Crossing, FrontEndBusy, FrontEvent, ProcessorJob, QueueId, Victims};
use crate::scheduler::{CommandId, Probe, ServiceId};
use crate::units::{Nanos, RequestId, SimTime};
use crate::verify::Canary;

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

/// Advances the processor, and fetches as many commands as the controller can take.
pub(in crate::device) fn fetch(writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    while let Some(front) = &mut on.desk.front {
        // At the end of life, programs that find no free page stay under way forever.
        let under_way = on.buffer.under_way.programs() > 0 && !on.kernel.ftl.is_read_only();
        front.go_on(on.kernel.now, under_way);
        let Some(id) = front.fetch(&on.desk.intake) else { return };
        let waited = on.kernel.now - on.desk.intake.get(id).submitted();
        on.desk.intake.breakdown_mut(id).submission = waited;
        let Some(taking) = front.take_up(on.kernel.now, id) else {
            bring(id, writes, on);
            continue;
        };
        let breakdown = on.desk.intake.breakdown_mut(id);
        (breakdown.link, breakdown.front_end) = (taking.link, taking.processor);
    }
}

/// Transfers the data of a processed command, or takes the command in at once.
fn bring(id: RequestId, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    if let Some(front) = &mut on.desk.front
        && let Some(at) = front.bring(on.kernel.now, id, on.desk.intake.get(id).request())
    {
        on.desk.intake.breakdown_mut(id).link += at - on.kernel.now;
        return;
    }
    enter_dram(id, writes, on);
}

/// The data of a command has crossed the link: it moves into DRAM.
fn enter_dram(id: RequestId, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    if let Some(front) = &mut on.desk.front
        && let Some(at) = front.enter_dram(on.kernel.now, id, on.desk.intake.get(id).request())
    {
        on.desk.intake.breakdown_mut(id).buffer += at - on.kernel.now;
        return;
    }
    take_in(id, writes, on);
}

/// The data of a command is in the controller.
fn take_in(id: RequestId, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    if let Some(front) = &mut on.desk.front
        && front.take_in(on.kernel.now, id, on.desk.intake.get(id).request())
    {
        return;
    }
    pace(id, writes, on);
}

/// A command has passed the processor: writes may be held back.
fn pace(id: RequestId, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    if let Some(front) = &mut on.desk.front {
        let victims = || victims(&on.kernel.ftl);
        let request = on.desk.intake.get(id).request();
        if let Some(at) = front.pace(on.kernel.now, id, request, victims) {
            on.desk.intake.breakdown_mut(id).admission += at - on.kernel.now;
            return;
        }
    }
    start_late(id, writes, on);
}

/// What was collected for space so far.
pub(in crate::device) fn victims(ftl: &Ftl) -> Victims {
    let counts = ftl.counts();
    let runs = counts.by_purpose[Purpose::Space as usize].runs;
    let room = runs * u64::from(ftl.blocks().units_per_block());
    Victims { room, valid: counts.space_victim_valid }
}

/// Starts a command that has passed the front end.
fn start_late(id: RequestId, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    on.desk.intake.start(id, on.kernel.now);
    let request = *on.desk.intake.get(id).request();
    start::start::<{ skills::ALL }>(id, &request, writes, on);
}

/// A flash command that goes on, because its data has crossed the DRAM.
pub(in crate::device) enum Crossed {
    /// What it read is in DRAM.
    Read(CommandId),
    /// What was computed for it is on its way to the flash.
    Computed(CommandId),
}

/// Runs the front end's event that is due. Returns the flash command that goes on, if any.
pub(in crate::device) fn step_front(
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) -> Option<Crossed> {
    let event = on.desk.front.as_mut().and_then(|front| front.step(on.kernel.now));
    match event {
        Some(FrontEvent::Fetched(id)) => bring(id, writes, on),
        Some(FrontEvent::Brought(id)) => enter_dram(id, writes, on),
        Some(FrontEvent::Delivered(id)) => on.on_the_way(id, Desk::post),
        Some(FrontEvent::Posted(id)) => on.on_the_way(id, Desk::announce),
        Some(FrontEvent::Announced(id)) => on.on_the_way(id, Desk::tell),
        Some(FrontEvent::Told(id, took)) => {
            on.desk.intake.breakdown_mut(id).front_end += took;
            on.on_the_way(id, Desk::complete);
        }
        Some(FrontEvent::EntriesCame(what)) => writes.entries_came(what, on),
        Some(FrontEvent::CameIn(id)) => start_late(id, writes, on),
        Some(FrontEvent::Crossed(crossing)) => return crossed(crossing, writes, on),
        Some(FrontEvent::Processed(job, took)) => processed(job, took, writes, on),
        None => {}
    }
    None
}

/// Data has crossed the DRAM. Returns the flash command that goes on, if any.
fn crossed(
    crossing: Crossing,
    writes: &mut Writes,
    on: &mut Base<impl Probe, impl Contents>,
) -> Option<Crossed> {
    match crossing {
        Crossing::FromHost(id) => take_in(id, writes, on),
        Crossing::ToHost(id) => on.on_the_way(id, Desk::send),
        Crossing::ToFlash(program) => place(program, writes, on),
        Crossing::FromFlash(read) => return Some(Crossed::Read(read)),
        Crossing::Computed(copy) => return Some(Crossed::Computed(copy)),
    }
    None
}

/// The processor has finished a job.
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
            pace(id, writes, on);
        }
        ProcessorJob::Answer(id) => {
            on.desk.intake.breakdown_mut(id).front_end += took;
            on.on_the_way(id, Desk::deliver);
        }
        ProcessorJob::Schedule(program) => scheduled(program, writes, on),
        ProcessorJob::Look => {}
    }
}

/// The processor has scheduled a flash page, or a row of them.
fn scheduled(program: CommandId, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    if !on.wait_for_dram(program) {
        place(program, writes, on);
    }
}

/// A flash page, or a row of them, is ready for the flash.
fn place(program: CommandId, writes: &mut Writes, on: &mut Base<impl Probe, impl Contents>) {
    match on.buffer.rules.row {
        1 => writes.issue_now::<{ skills::ALL }>(program, on),
        _ => writes.issue_row_now::<{ skills::ALL }>(program, on),
    }
}

impl<P: Probe, C: Contents> Base<P, C> {
    /// The number of commands of a queue that were submitted and are not completed.
    pub(in crate::device) fn outstanding(&self, queue: QueueId) -> u32 {
        match &self.desk.front {
            Some(front) => front.outstanding(queue),
            None => u32::try_from(self.desk.intake.in_flight()).unwrap_or(u32::MAX),
        }
    }

    /// How long the parts of the front end have been in use.
    pub(in crate::device) fn front_busy(&self) -> FrontEndBusy {
        let until = match self.plant.is(Canary::BusyInAdvance) {
            true => SimTime::FOREVER,
            false => self.kernel.now,
        };
        self.desk.front.as_ref().map(|front| front.busy_until(until)).unwrap_or_default()
    }

    /// Takes a request that is done a step further on its way to the host.
    fn on_the_way(
        &mut self,
        id: RequestId,
        step: impl FnOnce(&mut Desk, RequestId, SimTime, &mut C),
    ) {
        let Kernel { now, contents, .. } = &mut self.kernel;
        step(&mut self.desk, id, *now, contents);
    }

    /// `pages` flash pages, beginning with `first`, are ready for the flash. Returns whether the
    /// processor needs time for them.
    #[inline]
    pub(in crate::device) fn wait_for_processor(&mut self, first: CommandId, pages: u32) -> bool {
        match &mut self.desk.front {
            Some(front) => front.schedule(self.kernel.now, first, pages),
            None => false,
        }
    }
    /// A flash page, or a row of them, is ready for the flash. Returns whether moving its data out of DRAM takes time.
    #[inline]
    pub(in crate::device) fn wait_for_dram(&mut self, first: CommandId) -> bool {
        let Base { desk, kernel: Kernel { now, flash, .. }, .. } = self;
        let Some(front) = &mut desk.front else { return false };
        let mut codewords = 0;
        let mut next = Some(first);
        while let Some(id) = next {
            codewords += flash.command(id).codewords;
            next = flash.next_of_row(id);
        }
        let Some(at) = front.cross_for_flash(*now, Crossing::ToFlash(first), codewords) else {
            return false;
        };
        next = Some(first);
        while let Some(id) = next {
            flash.command_mut(id).spent.bus += at - *now;
            next = flash.next_of_row(id);
        }
        true
    }

    /// A page that was read has come out of the flash: it moves into DRAM. What the device copies leaves it again, but not
    /// what it only computes from.
    pub(in crate::device) fn take_into_dram(&mut self, read: CommandId) {
        let Base { desk, kernel: Kernel { now, flash, .. }, .. } = self;
        let Some(front) = &mut desk.front else { return };
        let command = flash.command(read);
        let is_whole = command.owner.service != ServiceId::STRIPES;
        let crossings = if command.is_copy() && is_whole { 2 } else { 1 };
        let what = Crossing::FromFlash(read);
        if let Some(at) = front.cross_for_flash(*now, what, crossings * command.codewords) {
            flash.moves_into_dram(*now, read, at);
        }
    }

    /// A page was computed in DRAM. If it is copied, it leaves again. Returns whether that takes time.
    pub(in crate::device) fn leaves_dram(&mut self, computed: CommandId) -> bool {
        let Base { desk, kernel: Kernel { now, flash, .. }, .. } = self;
        let Some(front) = &mut desk.front else { return false };
        let command = flash.command_mut(computed);
        if !command.is_copy() || command.found.unreadable {
            return false;
        }
        let what = Crossing::Computed(computed);
        let at = front.cross_for_flash(*now, what, command.codewords);
        command.spent.bus += at.map_or(Nanos::ZERO, |at| at - *now);
        at.is_some()
    }
}
