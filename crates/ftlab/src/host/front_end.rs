//! The controller's front end: commands wait in their submission queues until it fetches them, it spends
//! time on each, and data crosses the link. A device without any of this has no front end, at no cost.

use std::collections::VecDeque;

use super::arbitration::{Arbitration, Backlog};
use super::link::{Link, LinkSetup};
use super::processor::{Processor, ProcessorJob, ProcessorSetup, data_of};
use super::{Intake, Op, QueueId, QueueSet, Request};
use crate::host::arbitration::ArbitrationPolicy;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::scheduler::CommandId;
use crate::units::{Nanos, RequestId, SimTime};

/// The setup of a front end.
#[derive(Clone, Debug)]
pub struct FrontEndSetup {
    /// Number of submission queues.
    pub queues: u32,
    /// The policy that chooses the next queue.
    pub arbitration: Arbitration,
    /// Commands that the controller works on at once.
    pub outstanding: u32,
    /// The costs of the processor, which does one thing after the other.
    pub processor: ProcessorSetup,
    /// The link, or `None` if it takes no time.
    pub link: Option<LinkSetup>,
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
}

/// Something that the front end finishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontEvent {
    /// The data of a read has reached the host.
    Delivered(RequestId),
    /// The data of a write has reached the controller.
    Brought(RequestId),
    /// The processor has finished a job, this long after it was asked to do it.
    Processed(ProcessorJob, Nanos),
}

impl FrontEnd {
    /// Whether its processor makes anything wait.
    #[must_use]
    pub fn spends_time(&self) -> bool {
        !self.processor.is_free()
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
        }
    }

    /// Saves the state of the arbitration. At rest no command waits, and nothing is on the link.
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

    /// Loads the state of the same arbitration policy.
    pub(crate) fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.arbitration.load(from)
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
        let takes_more = self.processor.is_idle() && self.at_work < self.most_at_work;
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
        self.processor.go_on(now, under_way);
    }

    /// Starts processing a fetched command and returns the time that it takes, or `None` if it takes no
    /// time.
    pub fn process(&mut self, now: SimTime, id: RequestId) -> Option<Nanos> {
        self.processor.take_up(now, id)
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

    /// Sends the data of a write to the controller. Returns the time of its arrival, or `None` if it
    /// takes no time.
    pub fn bring(&mut self, now: SimTime, id: RequestId, request: &Request) -> Option<SimTime> {
        let link = self.link.as_mut().filter(|_| request.op == Op::Write)?;
        Some(link.bring(now, id, data_of(request)))
    }

    /// The same for the data of a read on its way to the host.
    pub fn deliver(&mut self, now: SimTime, id: RequestId, request: &Request) -> Option<SimTime> {
        let link = self.link.as_mut().filter(|_| request.op == Op::Read)?;
        Some(link.deliver(now, id, data_of(request)))
    }

    /// Adds a request of the device itself, as if it had come through a queue.
    pub(crate) fn adopt(&mut self, queue: QueueId) {
        self.outstanding[queue.at()] += 1;
        self.at_work += 1;
    }

    /// Notes that a command of a queue has completed.
    pub fn completed(&mut self, queue: QueueId) {
        self.outstanding[queue.at()] -= 1;
        self.at_work -= 1;
    }

    /// The time at which the next thing is finished.
    #[inline(never)]
    #[must_use]
    pub fn next_time(&self) -> Option<SimTime> {
        let ways = self.link.iter().flat_map(|link| [&link.inbound, &link.outbound]);
        ways.filter_map(|way| way.next_time()).chain(self.processor.next_time()).min()
    }

    /// Takes the next thing that is finished now. If several are, data for the host comes first.
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
