//! A device model for replay tests: some servers with a fixed service time and one queue.

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod texts;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ftlab::host::{Advanced, Breakdown, Completion, Host, Op, Outcome, QueueId, Request};
use ftlab::units::{Nanos, SimTime};
use ftlab_workload::generate::Workload;
use ftlab_workload::replay::{Completed, PhaseStart, Sink};

/// Serves requests in order of arrival with `servers` servers.
pub struct Model {
    now: SimTime,
    capacity: u64,
    service: Nanos,
    /// How long a trim takes.
    pub trim: Nanos,
    /// When each server becomes free.
    free: Vec<SimTime>,
    /// Finish time, order of submission and submission time of each request.
    running: BinaryHeap<Reverse<(SimTime, u64, SimTime)>>,
    requests: Vec<Request>,
    /// Every submission, in order.
    pub submissions: Vec<(SimTime, Request)>,
    /// The most requests outstanding at once.
    pub peak: usize,
    /// How many requests it answers before it stops.
    pub answers: usize,
}

impl Model {
    pub fn new(servers: usize, service: Nanos, capacity: u64) -> Model {
        Model {
            now: SimTime::ZERO,
            capacity,
            service,
            trim: service,
            free: vec![SimTime::ZERO; servers],
            running: BinaryHeap::new(),
            requests: Vec::new(),
            submissions: Vec::new(),
            peak: 0,
            answers: usize::MAX,
        }
    }
}

impl Host for Model {
    fn now(&self) -> SimTime {
        self.now
    }

    fn capacity_sectors(&self) -> u64 {
        self.capacity
    }

    fn submit(&mut self, at: SimTime, request: Request) {
        let next = self.running.peek().map_or(SimTime::FOREVER, |Reverse((finish, ..))| *finish);
        assert!(self.now <= at && at <= next, "submitted at {at}, between {} and {next}", self.now);
        self.now = at;
        assert!(request.lba.0 + u64::from(request.sectors) <= self.capacity, "{request:?}");
        let server = self.free.iter_mut().min().expect("a server");
        let takes = if request.op == Op::Trim { self.trim } else { self.service };
        *server = (*server).max(at) + takes;
        let order = self.submissions.len() as u64;
        if self.submissions.len() < self.answers {
            self.running.push(Reverse((*server, order, at)));
        }
        self.requests.push(request);
        self.submissions.push((at, request));
        self.peak = self.peak.max(self.running.len());
    }

    fn advance_until(&mut self, limit: SimTime, done: &mut Vec<Completion>) -> Advanced {
        let Some(&Reverse((finish, ..))) = self.running.peek() else {
            if limit < SimTime::FOREVER {
                self.now = self.now.max(limit);
            }
            return Advanced::Idle;
        };
        if finish > limit {
            self.now = limit;
            return Advanced::Reached;
        }
        self.now = finish;
        while let Some(&Reverse((at, order, submitted))) = self.running.peek()
            && at == finish
        {
            self.running.pop();
            let request = self.requests[usize::try_from(order).unwrap()];
            let breakdown = Breakdown { cell: at - submitted, ..Breakdown::default() };
            done.push(Completion {
                request,
                queue: QueueId::default(),
                submitted,
                finished: at,
                breakdown,
                outcome: Outcome::Done,
            });
        }
        Advanced::Completed
    }
}

/// Keeps every completion and phase change.
#[derive(Default)]
pub struct Keep {
    pub completed: Vec<Completed>,
    pub phases: Vec<(u32, bool)>,
}

impl<H: Host> Sink<H> for Keep {
    fn phase_started(&mut self, phase: &PhaseStart, _host: &mut H) {
        self.phases.push((phase.index, true));
    }

    fn phase_ended(&mut self, phase: &PhaseStart, _host: &mut H) {
        self.phases.push((phase.index, false));
    }

    fn completed(&mut self, completed: &Completed) {
        self.completed.push(*completed);
    }
}

/// Parses a workload that uses no other files.
pub fn workload(text: &str) -> Workload {
    let mut none = |_: &str| Err("no files here".to_owned());
    Workload::parse("test.toml", text, &mut none).unwrap_or_else(|problems| panic!("{problems}"))
}
