//! The controller's front end: commands wait in their submission queues until it fetches them, it spends
//! its time on each, and data crosses the link. A device without any of that has none, and pays nothing.

use std::collections::VecDeque;

use super::arbitration::{Arbitration, Backlog};
use super::link::{Link, LinkSetup};
use super::processor::{Processor, ProcessorJob, ProcessorSetup, data_of};
use super::{Intake, Op, QueueId, QueueSet, Request};
use crate::host::arbitration::ArbitrationPolicy;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::scheduler::CommandId;
use crate::units::{Nanos, RequestId, SimTime};

/// What a front end is made of.
#[derive(Clone, Debug)]
pub struct FrontEndSetup {
    /// How many submission queues there are.
    pub queues: u32,
    /// Whose turn it is.
    pub arbitration: Arbitration,
    /// Commands that the controller works on at once.
    pub outstanding: u32,
    /// What it spends its time on, one thing after the other.
    pub processor: ProcessorSetup,
    /// The link; none if data takes no time on it.
    pub link: Option<LinkSetup>,
}

/// The front end.
#[derive(Clone, Debug)]
pub struct FrontEnd {
    /// By queue: the commands that wait in it.
    lines: Vec<VecDeque<RequestId>>,
    /// The queues that hold commands.
    waiting: QueueSet,
    /// By queue: commands submitted and not completed.
    outstanding: Vec<u32>,
    arbitration: Arbitration,
    /// Commands that were fetched and are not completed, and how many may be.
    at_work: u32,
    most_at_work: u32,
    processor: Processor,
    link: Option<Link>,
}

/// Something of the front end is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontEvent {
    /// The data of a read has reached the host.
    Delivered(RequestId),
    /// The data of a write has reached the controller.
    Brought(RequestId),
    /// The processor has spent its time on something, so long after it was asked to.
    Processed(ProcessorJob, Nanos),
}

impl FrontEnd {
    /// Whether its processor makes anything wait.
    #[must_use]
    pub fn spends_time(&self) -> bool {
        !self.processor.is_free()
    }

    /// An idle front end.
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
        }
    }

    /// Writes what the arbitration remembers. At rest nothing waits, and nothing is on the link.
    pub(crate) fn save(&self, out: &mut ImageWriter) {
        let FrontEnd {
            lines: _,
            waiting: _,
            outstanding: _,
            arbitration,
            at_work: _,
            most_at_work: _,
            processor: _,
            link: _,
        } = self;
        arbitration.save(out);
    }

    /// Takes up what the same arbitration remembered.
    pub(crate) fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.arbitration.load(from)
    }

    /// Commands of a queue that were submitted and are not completed.
    #[inline]
    #[must_use]
    pub fn outstanding(&self, queue: QueueId) -> u32 {
        self.outstanding[queue.at()]
    }

    /// A command comes to a queue.
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
        let takes_more = self.processor.is_idle() && self.at_work < self.most_at_work;
        if self.waiting.is_empty() || !takes_more {
            return None;
        }
        let backlog = Backlog::new(self.waiting, &self.lines, intake);
        let queue = self.arbitration.choose(&backlog);
        let line = &mut self.lines[queue.at()];
        let id = line.pop_front().expect("policies choose queues that wait");
        if line.is_empty() {
            self.waiting.remove(queue);
        }
        self.at_work += 1;
        Some(id)
    }

    /// The processor goes on, where it stands. `under_way` says that write-backs are under way.
    pub fn go_on(&mut self, now: SimTime, under_way: bool) {
        self.processor.go_on(now, under_way);
    }

    /// Begins to process a fetched command and says how long that takes; without a time it is
    /// processed already.
    pub fn process(&mut self, now: SimTime, id: RequestId) -> Option<Nanos> {
        self.processor.take_up(now, id)
    }

    /// Has the data of a command that has reached the controller taken in. False if that takes no time.
    pub fn take_in(&mut self, now: SimTime, id: RequestId, request: &Request) -> bool {
        self.processor.take_in(now, id, request)
    }

    /// Has a request that was served from flash answered. False if that takes no time.
    pub fn answer(&mut self, now: SimTime, id: RequestId, request: &Request) -> bool {
        self.processor.answer(now, id, request)
    }

    /// Has so many flash pages handed to the flash together. False if that takes no time.
    pub fn schedule(&mut self, now: SimTime, program: CommandId, pages: u32) -> bool {
        self.processor.schedule(now, program, pages)
    }

    /// Sends the data of a write on its way to the controller and says when it will be there; none if
    /// there is nothing to wait for.
    pub fn bring(&mut self, now: SimTime, id: RequestId, request: &Request) -> Option<SimTime> {
        let link = self.link.as_mut().filter(|_| request.op == Op::Write)?;
        Some(link.bring(now, id, data_of(request)))
    }

    /// The same for the data of a read on its way to the host.
    pub fn deliver(&mut self, now: SimTime, id: RequestId, request: &Request) -> Option<SimTime> {
        let link = self.link.as_mut().filter(|_| request.op == Op::Read)?;
        Some(link.deliver(now, id, data_of(request)))
    }

    /// The device itself has a request done, as if it had come through a queue.
    pub(crate) fn adopt(&mut self, queue: QueueId) {
        self.outstanding[queue.at()] += 1;
        self.at_work += 1;
    }

    /// A command of a queue is completed.
    pub fn completed(&mut self, queue: QueueId) {
        self.outstanding[queue.at()] -= 1;
        self.at_work -= 1;
    }

    /// When something is done next.
    #[inline(never)]
    #[must_use]
    pub fn next_time(&self) -> Option<SimTime> {
        let ways = self.link.iter().flat_map(|link| [&link.inbound, &link.outbound]);
        ways.filter_map(|way| way.next_time()).chain(self.processor.next_time()).min()
    }

    /// Takes the next thing that is done now. At the same moment the host is served first.
    pub fn step(&mut self, now: SimTime) -> Option<FrontEvent> {
        if let Some(link) = &mut self.link {
            if let Some(id) = link.outbound.arrived(now) {
                return Some(FrontEvent::Delivered(id));
            }
            if let Some(id) = link.inbound.arrived(now) {
                return Some(FrontEvent::Brought(id));
            }
        }
        let (job, took) = self.processor.step(now)?;
        Some(FrontEvent::Processed(job, took))
    }
}
