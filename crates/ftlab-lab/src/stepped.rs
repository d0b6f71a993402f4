//! A device that is stepped by hand: the caller owns the clock, submits requests, advances the device, and takes
//! completions.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use ftlab::device::{Contents, Device};
use ftlab::host::{Advanced, Completion, Host, Op, Request};
use ftlab::scheduler::Probe;
use ftlab::stats::{Circumstances, Recorder, Report};
use ftlab::units::{SECTOR_BYTES, SimTime};
use ftlab_workload::replay::{Arrival, Completed};

use crate::experiment::LATEST;
use crate::failure::Failure;

/// The name of the only phase in reports.
const PHASE: &str = "steps";
/// Asked now and then while a device advances; `Break` stops it. A [`Stop`](crate::stop::Stop) can be looked at.
pub type Look<'a> = &'a mut dyn FnMut() -> ControlFlow<()>;

/// How many advances pass between two looks.
const ADVANCES_PER_LOOK: u32 = 4096;

/// A device and the requests that wait for it.
///
/// A request with a time in the future waits until then; one whose submission queue is full waits for a place, as a
/// host would make it. Arrivals at a time come before completions at it, as in a replay.
#[derive(Debug)]
pub struct SteppedDevice<P = (), C = ()> {
    device: Device<P, C>,
    /// Requests whose time has not come, in the order of their times.
    coming: VecDeque<ComingRequest>,
    /// By submission queue, the requests that wait for a place.
    held: Vec<VecDeque<ComingRequest>>,
    waiting: u64,
    /// The requests in the device, by tag.
    inside: Vec<ComingRequest>,
    free: Vec<u32>,
    submitted: u64,
    done: Vec<Completion>,
    recorder: Recorder,
    advances: u32,
}

/// A request with its number, in the order of submission.
#[derive(Clone, Copy, Debug)]
struct ComingRequest {
    index: u64,
    request: Arrival,
}

impl<P: Probe, C: Contents> SteppedDevice<P, C> {
    /// Takes a device on which nothing is outstanding.
    #[must_use]
    pub fn new(device: Device<P, C>) -> SteppedDevice<P, C> {
        let mut device = device;
        let mut recorder = Recorder::new(&device);
        device.prepared();
        recorder.phase_started(PHASE, true, &device);
        let held = (0..device.queues().count()).map(|_| VecDeque::new()).collect();
        SteppedDevice {
            device,
            coming: VecDeque::new(),
            held,
            waiting: 0,
            inside: Vec::new(),
            free: Vec::new(),
            submitted: 0,
            done: Vec::new(),
            recorder,
            advances: 0,
        }
    }

    /// Returns the device.
    pub fn device(&self) -> &Device<P, C> {
        &self.device
    }

    /// Returns the simulated time.
    pub fn now(&self) -> SimTime {
        self.device.now()
    }

    /// Returns the number of requests that were submitted so far.
    pub fn submitted(&self) -> u64 {
        self.submitted
    }

    /// Returns the number of requests that have not completed.
    pub fn outstanding(&self) -> u64 {
        self.coming.len() as u64 + self.in_host_and_device()
    }

    fn in_host_and_device(&self) -> u64 {
        self.waiting + (self.inside.len() - self.free.len()) as u64
    }

    /// Checks that a request can be submitted.
    ///
    /// # Errors
    /// It lies outside the device, is empty, or comes before the present.
    pub fn check(&self, request: &Arrival) -> Result<(), Failure> {
        let (now, capacity) = (self.now(), self.device.capacity_sectors());
        if request.at < now {
            return Err(Failure::usage(format!(
                "a request at {} ns comes too late: the device is at {} ns\n  remedy: submit it at that time or later, \
                 or without a time, which means now",
                request.at.0, now.0
            )));
        }
        if request.at > LATEST {
            return Err(Failure::usage(format!(
                "a request at {} ns comes too late: a device lives until {} ns\n  remedy: check the unit of times",
                request.at.0, LATEST.0
            )));
        }
        if request.op == Op::Flush {
            return Ok(());
        }
        let end = request.lba.0.checked_add(request.sectors.into());
        match end {
            _ if request.sectors == 0 => Err(Failure::usage(
                "a request has no sectors\n  remedy: give it at least one; only a flush has none",
            )),
            Some(end) if end <= capacity => Ok(()),
            _ => Err(Failure::usage(format!(
                "a request for {} sectors from sector {} lies outside the device, which has {capacity} ({} bytes)\n  \
                 remedy: keep lba + sectors at or below that",
                request.sectors,
                request.lba.0,
                capacity * SECTOR_BYTES
            ))),
        }
    }

    /// Submits a request at its time, and returns its number.
    ///
    /// # Errors
    /// See [`check`](Self::check).
    pub fn submit(&mut self, request: Arrival) -> Result<u64, Failure> {
        self.check(&request)?;
        Ok(self.submit_checked(request))
    }

    /// Submits requests, and returns the number of the first; all or none of them.
    ///
    /// # Errors
    /// See [`check`](Self::check); the message names the first wrong request.
    pub fn submit_all(&mut self, requests: &[Arrival]) -> Result<u64, Failure> {
        for (at, request) in requests.iter().enumerate() {
            let named = |text| format!("request {at}: {text}");
            self.check(request).map_err(|failure| failure.map_text(named))?;
        }
        let first = self.submitted;
        requests.iter().for_each(|&request| {
            self.submit_checked(request);
        });
        Ok(first)
    }

    fn submit_checked(&mut self, request: Arrival) -> u64 {
        let numbered = ComingRequest { index: self.submitted, request };
        self.submitted += 1;
        match self.coming.back() {
            Some(last) if last.request.at > request.at => {
                let at = self.coming.partition_point(|one| one.request.at <= request.at);
                self.coming.insert(at, numbered);
            }
            _ => self.coming.push_back(numbered),
        }
        numbered.index
    }

    /// Advances to a time, and appends what completes until then, that time included.
    ///
    /// # Errors
    /// Stopped; or the device no longer responds.
    pub fn advance_until(
        &mut self,
        limit: SimTime,
        look: Look<'_>,
        out: &mut Vec<Completed>,
    ) -> Result<(), Failure> {
        while self.step(limit, out)? {
            self.look(look)?;
        }
        Ok(())
    }

    /// Advances until something completes or to a time, and appends what completed.
    ///
    /// # Errors
    /// Stopped; or the device no longer responds.
    pub fn advance_to_completion(
        &mut self,
        limit: SimTime,
        look: Look<'_>,
        out: &mut Vec<Completed>,
    ) -> Result<(), Failure> {
        let before = out.len();
        while out.len() == before && self.step(limit, out)? {
            self.look(look)?;
        }
        Ok(())
    }

    /// Advances until every request has completed, and appends the completions.
    ///
    /// # Errors
    /// Stopped; or the device no longer responds.
    pub fn drain(&mut self, look: Look<'_>, out: &mut Vec<Completed>) -> Result<(), Failure> {
        while self.outstanding() > 0 && self.step(SimTime::FOREVER, out)? {
            self.look(look)?;
        }
        Ok(())
    }

    fn look(&mut self, look: Look<'_>) -> Result<(), Failure> {
        self.advances += 1;
        if self.advances.is_multiple_of(ADVANCES_PER_LOOK) && look().is_break() {
            return Err(Failure::Interrupted);
        }
        Ok(())
    }

    /// Goes to the next completion, arrival, or the limit. Returns false at the limit.
    fn step(&mut self, limit: SimTime, out: &mut Vec<Completed>) -> Result<bool, Failure> {
        let due = self.coming.front().map(|one| one.request.at).filter(|&due| due <= limit);
        let Some(due) = due else {
            return match self.advance(limit)? {
                Advanced::Completed => {
                    self.take_done(out);
                    Ok(true)
                }
                Advanced::Reached | Advanced::Idle => Ok(false),
            };
        };
        if due > self.now() {
            // All completions before that time come first.
            let eve = SimTime(due.0 - 1);
            if self.now() < eve && self.advance(eve)? == Advanced::Completed {
                self.take_done(out);
                return Ok(true);
            }
        }
        self.arrive(due);
        Ok(true)
    }

    fn advance(&mut self, limit: SimTime) -> Result<Advanced, Failure> {
        let advanced = self.device.advance_until(limit, &mut self.done);
        if advanced == Advanced::Idle && self.in_host_and_device() > 0 {
            return Err(Failure::Experiment(format!(
                "the device is at a standstill at {} ns with {} requests outstanding: garbage collection cannot free \
                 any room",
                self.now().0,
                self.in_host_and_device()
            )));
        }
        Ok(advanced)
    }

    /// Passes on the first request that comes at `due`.
    fn arrive(&mut self, due: SimTime) {
        let Some(numbered) = self.coming.pop_front() else { return };
        let queue = self.device.queue_of(numbered.request.stream);
        if !self.held[queue.at()].is_empty() || !self.device.has_room(queue) {
            self.held[queue.at()].push_back(numbered);
            self.waiting += 1;
            return;
        }
        self.enter(numbered, due.max(self.now()));
    }

    fn enter(&mut self, numbered: ComingRequest, at: SimTime) {
        let tag = self.free.pop().unwrap_or(self.inside.len() as u32);
        match self.inside.get_mut(tag as usize) {
            Some(place) => *place = numbered,
            None => self.inside.push(numbered),
        }
        let Arrival { op, lba, sectors, stream, fua, .. } = numbered.request;
        self.device.submit(at, Request { op, lba, sectors, stream, tag, fua });
    }

    fn take_done(&mut self, out: &mut Vec<Completed>) {
        self.recorder.look(&self.device);
        let mut done = std::mem::take(&mut self.done);
        for completion in done.drain(..) {
            let tag = completion.request.tag;
            self.free.push(tag);
            let ComingRequest { index, request } = self.inside[tag as usize];
            self.recorder.record(&completion, request.at);
            let arrived = request.at;
            out.push(Completed { completion, arrived, index, phase: 0, measured: true });
        }
        self.done = done;
        if self.waiting > 0 {
            self.enter_held();
        }
    }

    /// Submits requests that waited for places, as far as there are places now.
    fn enter_held(&mut self) {
        let now = self.now();
        for queue in 0..self.held.len() {
            while let Some(&numbered) = self.held[queue].front() {
                if !self.device.has_room(self.device.queue_of(numbered.request.stream)) {
                    break;
                }
                self.held[queue].pop_front();
                self.waiting -= 1;
                self.enter(numbered, now);
            }
        }
    }

    /// Returns the report of everything since the first step.
    #[must_use]
    pub fn report(&self) -> Report
    where
        Recorder: Clone,
    {
        let mut recorder = self.recorder.clone();
        recorder.phase_ended(&self.device);
        recorder.report(&self.device, &Circumstances::default())
    }

    /// Returns the device, if nothing is outstanding.
    ///
    /// # Errors
    /// Requests are outstanding.
    pub fn into_device(self) -> Result<Device<P, C>, Failure> {
        match self.outstanding() {
            0 => Ok(self.device),
            many => Err(Failure::usage(format!(
                "{many} requests are outstanding\n  remedy: advance until all have completed"
            ))),
        }
    }
}
