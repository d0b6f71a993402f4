//! Replays several issuers at once, each with its own queue depth, pace and end: the loop for loads
//! whose next request depends on who has room, not on one order of all requests.
//!
//! [`Replay`](super::Replay) plays a list of requests; here every [`Issuer`] decides for itself.
//! Issuers that are ready at the same time take turns, request by request.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::ControlFlow;

use ftlab::host::{Completion, Host, Op, Outcome, Request};
use ftlab::units::{Lba, Nanos, SimTime};

use super::engine::later;
use super::held::Held;
use super::in_device::{ReplayCounts, Slot, Tags};
use super::mapping::{Mapper, Mapping};
use super::options::{Completed, Ended, Limits, PhaseReport, Progress, ReplayError, Report, Sink};
use super::pause::{Going, PacedStep, Pacer, Watch, finished, went_on};
use super::source::{Arrival, PhaseStart};

/// What an issuer does in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Submits this request now, ignoring its time. The issuer gets another turn at the same time.
    Submit(Arrival),
    /// Nothing before this time, unless one of its requests completes earlier.
    Until(Nanos),
    /// Nothing before one of its requests completes. Only allowed with requests outstanding.
    Wait,
    /// Nothing ever again. Only allowed without requests outstanding.
    Done {
        /// Whether the others of the group stop as well.
        all: bool,
    },
}

/// A request that has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The operation.
    pub op: Op,
    /// The address, as submitted.
    pub lba: Lba,
    /// Whether the device refused it or failed.
    pub failed: bool,
}

/// Submits requests. Times count from the start of its group.
pub trait Issuer {
    /// Returns what it does now.
    fn turn(&mut self, now: Nanos) -> Turn;

    /// Tells it that one of its requests has completed.
    fn completed(&mut self, ended: Answered, now: Nanos);

    /// Tells it to submit nothing more.
    fn stop(&mut self);
}

/// Issuers that start together; the next group starts when all of them are done.
pub struct Group {
    /// Whether results count the group.
    pub measure: bool,
    /// How long results do not count it at first: a separate phase, at whose end nothing is waited
    /// for.
    pub ramp: Nanos,
    /// The issuers.
    pub issuers: Vec<Box<dyn Issuer>>,
}

/// Replays groups of issuers, one after another, on a device.
pub struct Crew<'a, H, K> {
    /// The device.
    pub host: &'a mut H,
    /// Receives completions. Each group is a phase, or two if it has a ramp.
    pub sink: &'a mut K,
    /// When to stop early.
    pub limits: Limits,
}

impl<H: Host, K: Sink<H>> Crew<'_, H, K> {
    /// Runs the groups. `watch` receives the progress every few thousand steps of the device and
    /// can stop everything by returning `Break`.
    pub fn run(
        self,
        groups: Vec<Group>,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Report, ReplayError> {
        finished(self.play(groups, &mut |progress, _, _| match watch(progress) {
            ControlFlow::Continue(()) => Going::On,
            ControlFlow::Break(()) => Going::Stop,
        }))
    }

    /// As [`run`](Self::run), but `watch` sees more, and can also pause the replay.
    pub async fn play(
        self,
        groups: Vec<Group>,
        watch: Watch<'_, H, K>,
    ) -> Result<Report, ReplayError> {
        let Crew { host, sink, limits } = self;
        let started = host.now();
        let mapper = Mapper::new(Mapping::AsIs, host.capacity_sectors())?;
        let end = limits.time.map_or(SimTime::FOREVER, |time| later(started, time));
        let mut shift = Shift {
            host,
            sink,
            mapper,
            limit: limits.requests,
            end,
            tags: Tags::default(),
            owners: Vec::new(),
            blocked: Vec::new(),
            held: Held::default(),
            done: Vec::new(),
            phases: Vec::new(),
            phase: PhaseStart::timed(0, false),
            stopped: None,
            standstill: None,
            pacer: Pacer::new(watch),
            counts: ReplayCounts::default(),
        };
        for group in groups {
            if shift.stopped.is_none() {
                shift.group(group).await?;
            }
        }
        let Shift { stopped, counts, phases, host, held, .. } = shift;
        Ok(Report {
            ended: stopped.unwrap_or(Ended::Source),
            submitted: counts.submitted,
            completed: counts.completed,
            sectors: counts.sectors,
            started,
            finished: host.now(),
            mapping: counts.mapping,
            sharing: None,
            out_of_order: 0,
            empty: 0,
            held_back: counts.held_back,
            held_back_by_queue: held.counts().to_vec(),
            phases,
        })
    }
}

/// An issuer and its state.
struct Member {
    issuer: Box<dyn Issuer>,
    /// Whether it is in the queue for turns.
    ready: bool,
    /// When it wants its next turn.
    wake: Option<Nanos>,
    done: bool,
}

struct Shift<'a, H, K> {
    host: &'a mut H,
    sink: &'a mut K,
    mapper: Mapper,
    limit: Option<u64>,
    end: SimTime,
    tags: Tags,
    /// By tag: the issuer of the request.
    owners: Vec<usize>,
    /// Requests that wait for a place in their submission queue.
    blocked: Vec<Request>,
    held: Held,
    done: Vec<Completion>,
    phases: Vec<PhaseReport>,
    phase: PhaseStart,
    stopped: Option<Ended>,
    /// The device no longer responds.
    standstill: Option<ReplayError>,
    pacer: Pacer<'a, H, K>,
    counts: ReplayCounts,
}

/// The members of a group and their turns.
struct Roster {
    members: Vec<Member>,
    line: VecDeque<usize>,
    wakes: BinaryHeap<Reverse<(Nanos, usize)>>,
    at_work: usize,
}

impl Roster {
    fn new(issuers: Vec<Box<dyn Issuer>>) -> Roster {
        let member = |issuer| Member { issuer, ready: true, wake: None, done: false };
        let members: Vec<Member> = issuers.into_iter().map(member).collect();
        let at_work = members.len();
        Roster { line: (0..at_work).collect(), members, wakes: BinaryHeap::new(), at_work }
    }

    fn call(&mut self, number: usize) {
        let member = &mut self.members[number];
        if !member.done && !std::mem::replace(&mut member.ready, true) {
            self.line.push_back(number);
        }
    }

    /// Returns the time of the next wake-up.
    fn next_wake(&mut self) -> Option<Nanos> {
        while let Some(&Reverse((at, number))) = self.wakes.peek() {
            if self.members[number].wake == Some(at) && !self.members[number].done {
                return Some(at);
            }
            self.wakes.pop();
        }
        None
    }

    /// Queues the members whose wake-up time has come.
    fn call_due(&mut self, now: Nanos) {
        while self.next_wake().is_some_and(|at| at <= now) {
            if let Some(Reverse((_, number))) = self.wakes.pop() {
                self.members[number].wake = None;
                self.call(number);
            }
        }
    }

    fn stop(&mut self) {
        for number in 0..self.members.len() {
            self.members[number].issuer.stop();
            self.call(number);
        }
    }
}

impl<H: Host, K: Sink<H>> Shift<'_, H, K> {
    async fn group(&mut self, group: Group) -> Result<(), ReplayError> {
        let Group { measure, ramp, issuers } = group;
        let started = self.host.now();
        let mut ramp_end = (measure && ramp > Nanos::ZERO).then(|| later(started, ramp));
        self.begin(measure && ramp_end.is_none());
        let mut roster = Roster::new(issuers);
        loop {
            let now = self.host.now();
            if ramp_end.is_some_and(|end| end <= now) {
                ramp_end = None;
                self.finish();
                self.begin(true);
            }
            if now >= self.end && self.stopped.is_none() {
                self.stopped = Some(Ended::Time);
                roster.stop();
            }
            roster.call_due(now - started);
            self.turns(&mut roster, now - started)?;
            if roster.at_work == 0 {
                break;
            }
            let next = roster.next_wake().map_or(SimTime::FOREVER, |at| later(started, at));
            let open = if self.stopped.is_none() { self.end } else { SimTime::FOREVER };
            let limit = ramp_end.map_or(next, |end| next.min(end)).min(open);
            if !self.step(limit).await {
                break;
            }
            self.take_done(&mut roster, started);
        }
        self.finish();
        self.standstill.take().map_or(Ok(()), Err)
    }

    fn begin(&mut self, measure: bool) {
        let index = u32::try_from(self.phases.len()).expect("few groups");
        self.phase = PhaseStart::timed(index, measure);
        let now = self.host.now();
        let (requests, sectors) = (self.counts.submitted, self.counts.sectors);
        self.phases.push(PhaseReport {
            index,
            measured: measure,
            started: now,
            ended: now,
            requests,
            sectors,
            ran_dry: false,
        });
        self.sink.phase_started(&self.phase, self.host);
    }

    fn finish(&mut self) {
        if self.stopped != Some(Ended::Stopped) {
            self.sink.phase_ended(&self.phase, self.host);
        }
        let (now, counts) = (self.host.now(), &self.counts);
        if let Some(phase) = self.phases.last_mut() {
            phase.ended = now;
            phase.requests = counts.submitted - phase.requests;
            phase.sectors = counts.sectors - phase.sectors;
        }
    }

    /// Gives turns to all queued members, one request each in rotation.
    fn turns(&mut self, roster: &mut Roster, now: Nanos) -> Result<(), ReplayError> {
        while let Some(number) = roster.line.pop_front() {
            let member = &mut roster.members[number];
            member.ready = false;
            if member.done {
                continue;
            }
            match member.issuer.turn(now) {
                Turn::Submit(arrival) => {
                    self.submit(&arrival, number)?;
                    roster.call(number);
                    if self.limit == Some(self.counts.measured) && self.stopped.is_none() {
                        self.stopped = Some(Ended::Requests);
                        roster.stop();
                    }
                }
                Turn::Until(at) => {
                    debug_assert!(at > now, "an issuer waits for a moment that has passed");
                    member.wake = Some(at);
                    roster.wakes.push(Reverse((at, number)));
                }
                Turn::Wait => {}
                Turn::Done { all } => {
                    member.done = true;
                    roster.at_work -= 1;
                    if all {
                        roster.stop();
                    }
                }
            }
        }
        Ok(())
    }

    fn submit(&mut self, arrival: &Arrival, number: usize) -> Result<(), ReplayError> {
        let index = self.counts.submitted;
        let mapped = self.mapper.map(index, arrival)?;
        self.counts.submitted += 1;
        self.counts.measured += u64::from(self.phase.measure);
        self.counts.sectors += u64::from(mapped.request.sectors);
        self.counts.mapping.count(&mapped);
        let now = self.host.now();
        let request = self.tags.take(mapped.request, index, now);
        self.sink.submitted(&request, self.phase.measure);
        let tag = request.tag as usize;
        self.owners.resize(self.owners.len().max(tag + 1), 0);
        self.owners[tag] = number;
        let queue = self.host.queue_of(request.stream);
        if self.host.has_room(queue) {
            self.host.submit(now, request);
        } else {
            self.counts.held_back += 1;
            self.held.count(queue);
            self.blocked.push(request);
        }
        Ok(())
    }

    /// Submits requests that waited for places in submission queues, as far as there are places
    /// now.
    fn submit_blocked(&mut self) {
        let now = self.host.now();
        self.blocked.retain(|&request| {
            let room = self.host.has_room(self.host.queue_of(request.stream));
            if room {
                self.host.submit(now, request);
            }
            !room
        });
    }

    fn outstanding(&self) -> u64 {
        self.counts.submitted - self.counts.completed
    }

    /// As in the other loop: returns `false` if it should stop or if there is nothing to wait for.
    async fn step(&mut self, limit: SimTime) -> bool {
        let outstanding = self.outstanding();
        let progress = |now| Progress {
            submitted: self.counts.submitted,
            completed: self.counts.completed,
            total: None,
            sectors: self.counts.sectors,
            now,
            phase: self.phase.index,
        };
        let step = PacedStep { limit, outstanding, done: &mut self.done };
        let went = self.pacer.step(self.host, self.sink, step, progress).await;
        went_on(went, &mut self.standstill, &mut self.stopped)
    }

    fn take_done(&mut self, roster: &mut Roster, started: SimTime) {
        if !self.done.is_empty() {
            self.sink.advanced(self.host);
        }
        let now = self.host.now() - started;
        for completion in self.done.drain(..) {
            let Slot { arrived, index, .. } = self.tags.release(completion.request.tag);
            let owner = self.owners[completion.request.tag as usize];
            self.counts.completed += 1;
            self.sink.completed(&Completed {
                completion,
                arrived,
                index,
                phase: self.phase.index,
                measured: self.phase.measure,
            });
            let (Request { op, lba, .. }, outcome) = (completion.request, completion.outcome);
            let ended = Answered { op, lba, failed: outcome != Outcome::Done };
            roster.members[owner].issuer.completed(ended, now);
            roster.call(owner);
        }
        self.submit_blocked();
    }
}
