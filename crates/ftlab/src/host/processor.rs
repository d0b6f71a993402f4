//! The controller's processor: it takes up commands, takes in the data of
//! writes, hands flash pages to the flash, and answers reads.
//!
//! Source: Lu, Fan and Jiang, "Improved Flash Translation Layer Algorithm Based on OpenSSD", Computer
//! Systems & Applications 27(5), 2018, sections 4.1.1, 5.2 and figures 3 to 5. On that board the processor's
//! time, and its copies within memory, are a part of every result.
//!
//! Pages for the flash go before all other jobs. While write-backs are under way it may do nothing else
//! ([`ProcessorSetup::waits`]). Jobs are not preempted.
//!
//! With several cores, any free one takes up a command. All other jobs are done by one core at a time, whichever is
//! free, and go before commands, so that pages reach the flash, and data the buffer, in their order.

use std::collections::VecDeque;

use super::passage::earlier;
use super::{Op, Request};
use crate::options::declare::choices;
use crate::scheduler::CommandId;
use crate::units::{Bytes, BytesPerSec, Nanos, RequestId, SECTOR_BYTES, SimTime};

choices! {
    /// What the processor copies within its memory.
    pub enum Copies {
        /// Nothing: data is moved directly to and from its final place.
        Nothing = "nothing",
        /// Data of writes, from where the link has put it to its place in the buffer.
        Writes = "writes",
        /// Data that passes through a buffer of one page: pages that are programmed, and data of reads from
        /// flash.
        PageBuffer = "page-buffer",
    }
}

/// The time that each job takes the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorSetup {
    /// Cores that take up commands.
    pub cores: u32,
    /// Taking up a command.
    pub command: Nanos,
    /// Taking in a mapping unit of a write.
    pub unit: Nanos,
    /// Handing a flash page of a write-back to the flash.
    pub page: Nanos,
    /// Noticing that the flash has finished a host's read, or what the processor waits for.
    pub poll: Nanos,
    /// What it copies and at which rate, or `None` if it copies nothing.
    pub copies: Option<(Copies, BytesPerSec)>,
    /// Whether it does nothing else while write-backs are under way.
    pub waits: bool,
    /// The size of a flash page.
    pub flash_page: Bytes,
    /// Sectors of a mapping unit.
    pub sectors_per_unit: u32,
}

impl ProcessorSetup {
    /// Whether it never makes anything wait.
    #[must_use]
    pub fn is_free(&self) -> bool {
        let ProcessorSetup { command, unit, page, poll, copies, waits, .. } = *self;
        let times = [command, unit, page, poll];
        times.iter().all(|&time| time == Nanos::ZERO) && copies.is_none() && !waits
    }

    /// Whether programs wait until it hands them out, or it waits for them.
    #[must_use]
    pub fn delays_programs(&self) -> bool {
        let copies_pages = matches!(self.copies, Some((Copies::PageBuffer, _)));
        self.page > Nanos::ZERO || self.waits || copies_pages
    }

    fn copying(&self, which: Copies, data: Bytes) -> Nanos {
        match self.copies {
            Some((copies, rate)) if copies == which => rate.time_for(data),
            _ => Nanos::ZERO,
        }
    }

    /// Time to take in the data of a write.
    fn taking_in(&self, request: &Request) -> Nanos {
        if !request.op.writes() {
            return Nanos::ZERO;
        }
        let each = u64::from(self.sectors_per_unit);
        let last = request.lba.0 + u64::from(request.sectors) - 1;
        let units = last / each - request.lba.0 / each + 1;
        Nanos(units * self.unit.0) + self.copying(Copies::Writes, data_of(request))
    }

    /// Time to answer a read that was served from flash.
    fn answering(&self, request: &Request) -> Nanos {
        match request.op {
            Op::Read => self.poll + self.copying(Copies::PageBuffer, data_of(request)),
            _ => Nanos::ZERO,
        }
    }

    fn scheduling(&self) -> Nanos {
        self.page + self.copying(Copies::PageBuffer, self.flash_page)
    }
}

pub(super) fn data_of(request: &Request) -> Bytes {
    Bytes(u64::from(request.sectors) * SECTOR_BYTES)
}

/// A job of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessorJob {
    /// Takes up a command.
    TakeUp(RequestId),
    /// Takes in the data of a write.
    TakeIn(RequestId),
    /// Answers a read that was served from flash.
    Answer(RequestId),
    /// Hands a flash page, or a row of them, to the flash.
    Schedule(CommandId),
    /// Notices that the flash has done what it waited for.
    Look,
}

/// A job, the time that it takes, and when it was requested.
#[derive(Clone, Copy, Debug)]
struct Asked {
    job: ProcessorJob,
    takes: Nanos,
    since: SimTime,
}

/// The processor.
#[derive(Clone, Debug)]
pub(super) struct Processor {
    setup: ProcessorSetup,
    /// Commands that are taken up, with the times at which they have been. All take equally long.
    taking_up: VecDeque<(SimTime, Asked)>,
    /// The job of another kind that is being done.
    current: Option<(SimTime, Asked)>,
    pages: VecDeque<Asked>,
    others: VecDeque<Asked>,
    /// Whether it waited for the flash at the last check.
    was_held: bool,
    /// The time of its cores that all jobs take that have begun.
    taken: Nanos,
}

impl Processor {
    /// Whether it never makes anything wait.
    pub fn is_free(&self) -> bool {
        self.setup.is_free()
    }

    pub fn delays_programs(&self) -> bool {
        self.setup.delays_programs()
    }

    pub fn new(setup: ProcessorSetup) -> Processor {
        Processor {
            setup,
            taking_up: VecDeque::new(),
            current: None,
            pages: VecDeque::new(),
            others: VecDeque::new(),
            was_held: false,
            taken: Nanos::ZERO,
        }
    }

    /// Whether it can take up a command.
    pub fn takes_commands(&self) -> bool {
        // Other jobs had their chance before (`go_on`), so those that wait do so for the core that does them.
        self.has_free_core() && !self.was_held
    }

    fn has_free_core(&self) -> bool {
        let busy = self.taking_up.len() + usize::from(self.current.is_some());
        busy < self.setup.cores as usize
    }

    /// The time to take up a command, or `None` if it takes none.
    pub fn command_time(&self) -> Option<Nanos> {
        Some(self.setup.command).filter(|&time| time > Nanos::ZERO)
    }

    /// Lets a free core take up a command that will be there at `arrival`. The core waits for it.
    pub fn take_up(&mut self, now: SimTime, arrival: SimTime, id: RequestId) {
        let takes = self.setup.command;
        self.taken += (arrival - now) + takes;
        let asked = Asked { job: ProcessorJob::TakeUp(id), takes, since: arrival };
        self.taking_up.push_back((arrival + takes, asked));
    }

    /// Queues a job to take in the data of a command. Returns false if it takes no time.
    pub fn take_in(&mut self, now: SimTime, id: RequestId, request: &Request) -> bool {
        let takes = self.setup.taking_in(request);
        // Data that arrives later must also be taken in later.
        self.ask(now, ProcessorJob::TakeIn(id), takes)
    }

    /// Queues a job to answer a request that was served from flash. Returns false if it takes no time.
    pub fn answer(&mut self, now: SimTime, id: RequestId, request: &Request) -> bool {
        self.ask(now, ProcessorJob::Answer(id), self.setup.answering(request))
    }

    fn ask(&mut self, now: SimTime, job: ProcessorJob, takes: Nanos) -> bool {
        let costs = takes > Nanos::ZERO;
        if costs {
            self.others.push_back(Asked { job, takes, since: now });
        }
        costs
    }

    /// Queues a job to hand `pages` flash pages to the flash together. Returns false if it takes no time.
    pub fn schedule(&mut self, now: SimTime, program: CommandId, pages: u32) -> bool {
        let takes = Nanos(self.setup.scheduling().0 * u64::from(pages));
        let costs = takes > Nanos::ZERO;
        if costs {
            self.pages.push_back(Asked { job: ProcessorJob::Schedule(program), takes, since: now });
        }
        costs
    }

    /// Starts the next job if the processor is free. `under_way` says whether write-backs are under way. Returns whether it
    /// started one.
    pub fn go_on(&mut self, now: SimTime, under_way: bool) -> bool {
        let held = self.setup.waits && under_way;
        let was_held = std::mem::replace(&mut self.was_held, held);
        if was_held && !held && self.setup.poll > Nanos::ZERO {
            let look = Asked { job: ProcessorJob::Look, takes: self.setup.poll, since: now };
            self.others.push_front(look);
        }
        if self.current.is_some() || !self.has_free_core() {
            return false;
        }
        let next = match self.pages.pop_front() {
            None if !held => self.others.pop_front(),
            page => page,
        };
        self.current = next.map(|asked| (now + asked.takes, asked));
        self.taken += self.current.map_or(Nanos::ZERO, |(_, asked)| asked.takes);
        self.current.is_some()
    }

    /// Its cores.
    pub fn cores(&self) -> u32 {
        self.setup.cores
    }

    /// How long its cores have worked until now, or have waited for a command that they fetch.
    pub fn busy_until(&self, now: SimTime) -> Nanos {
        let ends = self.taking_up.iter().chain(&self.current).map(|&(at, _)| at);
        let ahead: u64 = ends.map(|at| at.saturating_since(now).0).sum();
        Nanos(self.taken.0 - ahead)
    }

    /// When the next job ends.
    pub fn next_time(&self) -> Option<SimTime> {
        let current = self.current.as_ref().map(|&(at, _)| at);
        let taking_up = self.taking_up.front().map(|&(at, _)| at);
        earlier(current, taking_up)
    }

    /// Takes a job that ends now, with the time since it was requested.
    pub fn step(&mut self, now: SimTime) -> Option<(ProcessorJob, Nanos)> {
        let asked = match self.current.take_if(|(at, _)| *at == now) {
            Some((_, asked)) => asked,
            None => {
                self.taking_up.front().filter(|(at, _)| *at == now)?;
                self.taking_up.pop_front()?.1
            }
        };
        Some((asked.job, now - asked.since))
    }
}
