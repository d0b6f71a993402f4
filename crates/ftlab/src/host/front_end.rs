//! The controller's front end: commands wait in their submission queues until it fetches them, it spends
//! time on each, data crosses the link, and the host hears of completions. A device without any of this has no front
//! end, at no cost.

use std::collections::VecDeque;

use super::arbitration::{Arbitration, Backlog};
use super::busy::{FrontEndBusy, FrontEndParts, LinkWays};
use super::completions::{CompletionSetup, Completions};
use super::dram::{Crossing, Dram, DramSetup};
use super::host_memory::{HostMemory, HostRead, HostReader};
use super::link::{Link, LinkSetup, Parcel};
use super::pacing::{Victims, WritePacing, WritePacingSetup};
use super::passage::earlier;
use super::processor::{Processor, ProcessorJob, ProcessorSetup, data_of};
use super::{Intake, Op, QueueId, QueueSet, Request};
use crate::host::arbitration::ArbitrationPolicy;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::scheduler::CommandId;
use crate::units::{Bytes, Nanos, RequestId, SimTime};

/// What is read of the host's memory for a map entry: a logical and a physical page number.
const MAP_ENTRY: Bytes = Bytes(8);

/// The setup of a front end.
#[derive(Clone, Debug)]
pub struct FrontEndSetup {
    /// Number of submission queues.
    pub queues: u32,
    /// The policy that chooses the next queue.
    pub arbitration: Arbitration,
    /// Commands that the controller works on at once.
    pub outstanding: u32,
    /// The costs of the processor.
    pub processor: ProcessorSetup,
    /// The link, or `None` if it takes no time.
    pub link: Option<LinkSetup>,
    /// The DRAM, or `None` if moving data through it takes no time.
    pub dram: Option<DramSetup>,
    /// How long a read of the host's memory takes, or `None` if the controller keeps nothing there.
    pub host_memory: Option<Nanos>,
    /// How writes are spread over time, if they are.
    pub pacing: Option<WritePacingSetup>,
    /// The costs of completions.
    pub completions: CompletionSetup,
}

/// The front end.
#[derive(Clone, Debug)]
pub struct FrontEnd {
    /// By queue: the commands that wait in it.
    lines: Vec<VecDeque<RequestId>>,
    /// The queues that hold commands.
    waiting: QueueSet,
    /// By queue: commands that were submitted and have not completed.
    outstanding: Vec<u32>,
    arbitration: Arbitration,
    /// Commands that were fetched and have not completed, and the maximum.
    at_work: u32,
    most_at_work: u32,
    processor: Processor,
    link: Option<Link>,
    dram: Option<Dram>,
    /// Entries of the map on their way from the host's memory.
    host_memory: Option<HostMemory>,
    /// Writes that are held back.
    pacing: Option<WritePacing>,
    /// Completions on their way, or `None` if the host sees them at once.
    completions: Option<Completions>,
    /// The request of the device itself, if there is one. Nobody hears of its end.
    own: Option<RequestId>,
    /// When the next thing is finished: it is asked for at every event of the device, and seldom changes.
    next: Option<SimTime>,
}

/// How long a command is on its way to where its data is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakingUp {
    /// On the link.
    pub link: Nanos,
    /// In the processor.
    pub processor: Nanos,
}

/// Something that the front end finishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontEvent {
    /// The data of a read has reached the host.
    Delivered(RequestId),
    /// The data of a write has reached the controller.
    Brought(RequestId),
    /// A command has reached the controller.
    Fetched(RequestId),
    /// A completion was posted.
    Posted(RequestId),
    /// A completion has reached the host.
    Announced(RequestId),
    /// The host was told of a completion, this long after it reached the host.
    Told(RequestId, Nanos),
    /// Map entries have come from the host's memory.
    EntriesCame(HostRead),
    /// Data has crossed the DRAM.
    Crossed(Crossing),
    /// A write that was held back comes in.
    CameIn(RequestId),
    /// The processor has finished a job, this long after it was asked to do it.
    Processed(ProcessorJob, Nanos),
}

impl FrontEnd {
    /// Whether its processor makes anything wait.
    #[must_use]
    pub fn spends_time(&self) -> bool {
        !self.processor.is_free()
    }

    /// Whether its processor takes time between the buffer and the flash.
    #[must_use]
    pub fn delays_programs(&self) -> bool {
        self.processor.delays_programs()
    }

    /// How long its parts have been in use until now.
    #[must_use]
    pub fn busy_until(&self, now: SimTime) -> FrontEndBusy {
        let mut busy = FrontEndBusy {
            dram: self.dram.as_ref().map_or(Nanos::ZERO, |dram| dram.busy_until(now)),
            processor: self.processor.busy_until(now),
            ..FrontEndBusy::default()
        };
        match &self.link {
            Some(link) if link.is_shared() => busy.link_both = link.shared_busy_until(now),
            Some(link) => {
                busy.link_in = link.inbound.busy_until(now);
                busy.link_out = link.outbound.busy_until(now);
            }
            None => {}
        }
        busy
    }

    /// Which of its parts take time.
    #[must_use]
    pub fn parts(&self) -> FrontEndParts {
        FrontEndParts {
            dram: self.dram.is_some(),
            link: self.link.as_ref().map(|link| match link.is_shared() {
                true => LinkWays::Shared,
                false => LinkWays::Apart,
            }),
            cores: Some(self.processor.cores()).filter(|_| self.spends_time()),
        }
    }

    /// Returns an idle front end.
    #[must_use]
    pub fn new(setup: FrontEndSetup) -> FrontEnd {
        let queues = setup.queues as usize;
        FrontEnd {
            lines: vec![VecDeque::new(); queues],
            waiting: QueueSet::default(),
            outstanding: vec![0; queues],
            arbitration: setup.arbitration,
            at_work: 0,
            most_at_work: setup.outstanding,
            processor: Processor::new(setup.processor),
            link: setup.link.map(Link::new),
            dram: setup.dram.map(Dram::new),
            host_memory: setup.host_memory.map(HostMemory::new),
            pacing: setup.pacing.map(WritePacing::new),
            completions: Some(setup.completions)
                .filter(|completions| !completions.is_free())
                .map(|completions| Completions::new(completions, setup.queues)),
            own: None,
            next: None,
        }
    }

    /// Saves the state of the arbitration and of pacing; `victims` is what was collected so far. At rest no command waits,
    /// and nothing is on its way.
    pub(crate) fn save(&self, victims: Victims, out: &mut ImageWriter) {
        let FrontEnd {
            lines: _,
            waiting: _,
            outstanding: _,
            arbitration,
            at_work: _,
            most_at_work: _,
            processor: _,
            link: _,
            dram: _,
            host_memory: _,
            pacing,
            completions: _,
            own: _,
            next: _,
        } = self;
        arbitration.save(out);
        pacing.iter().for_each(|pacing| pacing.save(victims, out));
    }

    /// Loads the state of the same arbitration policy and pacing.
    pub(crate) fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.arbitration.load(from)?;
        self.pacing.as_mut().map_or(Ok(()), |pacing| pacing.load(from))
    }

    /// Commands of a queue that were submitted and have not completed.
    #[inline]
    #[must_use]
    pub fn outstanding(&self, queue: QueueId) -> u32 {
        self.outstanding[queue.at()]
    }

    /// Adds a command to a queue.
    pub fn submitted(&mut self, queue: QueueId, id: RequestId) {
        self.outstanding[queue.at()] += 1;
        if !self.waiting.contains(queue) {
            self.waiting.insert(queue);
            self.arbitration.becomes_backlogged(queue);
        }
        self.lines[queue.at()].push_back(id);
    }

    /// Fetches a command, if one waits and the controller can take it.
    pub fn fetch(&mut self, intake: &Intake) -> Option<RequestId> {
        let takes_more = self.processor.takes_commands() && self.at_work < self.most_at_work;
        if self.waiting.is_empty() || !takes_more {
            return None;
        }
        let backlog = Backlog::new(self.waiting, &self.lines, intake);
        let queue = self.arbitration.choose(&backlog);
        let line = &mut self.lines[queue.at()];
        let id = line.pop_front().expect("policies choose queues that hold commands");
        if line.is_empty() {
            self.waiting.remove(queue);
        }
        self.at_work += 1;
        Some(id)
    }

    /// Lets the processor start its next job. `under_way` says whether write-backs are under way.
    pub fn go_on(&mut self, now: SimTime, under_way: bool) {
        if self.processor.go_on(now, under_way) {
            self.next = earlier(self.next, self.processor.next_time());
        }
    }

    /// Brings a command to the controller and takes it up. Returns the time that this takes, or `None` if it takes
    /// no time.
    pub fn take_up(&mut self, now: SimTime, id: RequestId) -> Option<TakingUp> {
        let Some(processor) = self.processor.command_time() else {
            let at = self.link.as_mut()?.fetch_alone(now, id)?;
            self.next = earlier(self.next, Some(at));
            return Some(TakingUp { link: at - now, processor: Nanos::ZERO });
        };
        // The core that takes it up fetches it, so that arbitration chooses as late as possible.
        let at = self.link.as_mut().and_then(|link| link.fetch(now)).unwrap_or(now);
        self.processor.take_up(now, at, id);
        self.next = earlier(self.next, self.processor.next_time());
        Some(TakingUp { link: at - now, processor })
    }

    /// Lets the processor take in the data of a write that has reached the controller. Returns false if
    /// that takes no time.
    pub fn take_in(&mut self, now: SimTime, id: RequestId, request: &Request) -> bool {
        self.processor.take_in(now, id, request)
    }

    /// Lets the processor answer a request that was served from flash. Returns false if that takes no
    /// time.
    pub fn answer(&mut self, now: SimTime, id: RequestId, request: &Request) -> bool {
        self.processor.answer(now, id, request)
    }

    /// Lets the processor hand `pages` flash pages to the flash together. Returns false if that takes no
    /// time.
    pub fn schedule(&mut self, now: SimTime, program: CommandId, pages: u32) -> bool {
        self.processor.schedule(now, program, pages)
    }

    /// Moves the data of a write into DRAM. Returns when it is there, or `None` if that takes no time.
    pub fn enter_dram(
        &mut self,
        now: SimTime,
        id: RequestId,
        request: &Request,
    ) -> Option<SimTime> {
        let dram = self.dram.as_mut().filter(|_| request.op.writes())?;
        let at = dram.cross(now, Crossing::FromHost(id), data_of(request));
        self.next = earlier(self.next, Some(at));
        Some(at)
    }

    /// The same for the data of a read that leaves DRAM for the host.
    pub fn leave_dram(
        &mut self,
        now: SimTime,
        id: RequestId,
        request: &Request,
    ) -> Option<SimTime> {
        let dram = self.dram.as_mut().filter(|_| request.op == Op::Read)?;
        let at = dram.cross(now, Crossing::ToHost(id), data_of(request));
        self.next = earlier(self.next, Some(at));
        Some(at)
    }

    /// Spreads writes over time. Returns when this one comes in, or `None` if at once.
    pub fn pace(
        &mut self,
        now: SimTime,
        id: RequestId,
        request: &Request,
        victims: impl FnOnce() -> Victims,
    ) -> Option<SimTime> {
        let pacing = self.pacing.as_mut().filter(|_| request.op.writes())?;
        let at = pacing.admit(now, id, data_of(request), victims())?;
        self.next = earlier(self.next, Some(at));
        Some(at)
    }

    /// Moves codewords between DRAM and the flash. Returns when that is done, or `None` if it takes no time.
    pub fn cross_for_flash(
        &mut self,
        now: SimTime,
        what: Crossing,
        codewords: u32,
    ) -> Option<SimTime> {
        let dram = self.dram.as_mut()?;
        let at = dram.cross(now, what, dram.codewords(codewords));
        self.next = earlier(self.next, Some(at));
        Some(at)
    }

    /// Begins to read map entries from the host's memory. Returns false if nothing is kept there.
    pub fn read_host_memory(&mut self, now: SimTime, what: HostRead, by: HostReader) -> bool {
        let Some(memory) = &mut self.host_memory else { return false };
        memory.read(now, what, by);
        self.next = earlier(self.next, memory.next_time());
        true
    }

    /// Sends the data of a write to the controller. Returns the time of its arrival, or `None` if it
    /// takes no time.
    pub fn bring(&mut self, now: SimTime, id: RequestId, request: &Request) -> Option<SimTime> {
        let link = self.link.as_mut().filter(|_| request.op.writes())?;
        let at = link.bring(now, id, data_of(request));
        self.next = earlier(self.next, Some(at));
        Some(at)
    }

    /// The same for the data of a read on its way to the host.
    pub fn deliver(&mut self, now: SimTime, id: RequestId, request: &Request) -> Option<SimTime> {
        let link = self.link.as_mut().filter(|_| request.op == Op::Read)?;
        let at = link.deliver(now, id, data_of(request));
        self.next = earlier(self.next, Some(at));
        Some(at)
    }

    /// Posts the completion of a request. Returns when it is posted, or `None` if it takes no time.
    pub fn post(&mut self, now: SimTime, id: RequestId) -> Option<SimTime> {
        let own = self.own == Some(id);
        let at = self.completions.as_mut().filter(|_| !own)?.post(now, id)?;
        self.next = earlier(self.next, Some(at));
        Some(at)
    }

    /// Sends a posted completion to the host. Returns the time of its arrival, or `None` if it takes no time.
    pub fn announce(&mut self, now: SimTime, id: RequestId) -> Option<SimTime> {
        let own = self.own == Some(id);
        let at = self.link.as_mut().filter(|_| !own)?.announce(now, id)?;
        self.next = earlier(self.next, Some(at));
        Some(at)
    }

    /// Lets the host know of a completion. The controller's work on the command has ended. Returns false if the host
    /// knows at once.
    pub fn tell(&mut self, now: SimTime, queue: QueueId, id: RequestId) -> bool {
        self.at_work -= 1;
        let own = self.own == Some(id);
        let completions = self.completions.as_mut().filter(|_| !own);
        let waits = completions.is_some_and(|completions| completions.tell(now, queue, id));
        if waits {
            self.next = self.find_next();
        }
        waits
    }

    /// Adds a request of the device itself, as if it had come through a queue.
    pub(crate) fn adopt(&mut self, queue: QueueId, id: RequestId) {
        self.outstanding[queue.at()] += 1;
        self.at_work += 1;
        self.own = Some(id);
    }

    /// Notes that the host knows that a command of a queue has completed.
    pub fn completed(&mut self, queue: QueueId) {
        self.outstanding[queue.at()] -= 1;
    }

    /// The time at which the next thing is finished.
    #[inline]
    #[must_use]
    pub fn next_time(&self) -> Option<SimTime> {
        self.next
    }

    fn find_next(&self) -> Option<SimTime> {
        let mut next = self.processor.next_time();
        if let Some(link) = &self.link {
            next = earlier(next, earlier(link.inbound.next_time(), link.outbound.next_time()));
        }
        if let Some(dram) = &self.dram {
            next = earlier(next, dram.next_time());
        }
        if let Some(memory) = &self.host_memory {
            next = earlier(next, memory.next_time());
        }
        if let Some(pacing) = &self.pacing {
            next = earlier(next, pacing.next_time());
        }
        if let Some(completions) = &self.completions {
            next = earlier(next, completions.next_time());
        }
        next
    }

    /// Takes the next thing that is finished now. If several are, data for the host comes first.
    pub fn step(&mut self, now: SimTime) -> Option<FrontEvent> {
        let event = self.take_event(now);
        self.next = self.find_next();
        event
    }

    fn take_event(&mut self, now: SimTime) -> Option<FrontEvent> {
        if let Some(what) = self.host_memory.as_mut().and_then(|memory| memory.came(now)) {
            let link = self.link.as_mut();
            if link.and_then(|link| link.bring_map_entries(now, what, MAP_ENTRY)).is_none() {
                return Some(FrontEvent::EntriesCame(what));
            }
        }
        if let Some(link) = &mut self.link {
            match link.outbound.arrived(now) {
                Some(Parcel::Data(id)) => return Some(FrontEvent::Delivered(id)),
                Some(Parcel::Entry(id)) => return Some(FrontEvent::Announced(id)),
                Some(Parcel::MapEntries(what)) => return Some(FrontEvent::EntriesCame(what)),
                None => {}
            }
            match link.inbound.arrived(now) {
                Some(Parcel::Data(id)) => return Some(FrontEvent::Brought(id)),
                Some(Parcel::Entry(id)) => return Some(FrontEvent::Fetched(id)),
                Some(Parcel::MapEntries(what)) => return Some(FrontEvent::EntriesCame(what)),
                None => {}
            }
        }
        if let Some(crossing) = self.dram.as_mut().and_then(|dram| dram.arrived(now)) {
            return Some(FrontEvent::Crossed(crossing));
        }
        if let Some(id) = self.pacing.as_mut().and_then(|pacing| pacing.came_in(now)) {
            return Some(FrontEvent::CameIn(id));
        }
        if let Some(completions) = &mut self.completions {
            if let Some(id) = completions.posted(now) {
                return Some(FrontEvent::Posted(id));
            }
            if let Some((id, took)) = completions.seen(now) {
                return Some(FrontEvent::Told(id, took));
            }
        }
        let (job, took) = self.processor.step(now)?;
        Some(FrontEvent::Processed(job, took))
    }
}
