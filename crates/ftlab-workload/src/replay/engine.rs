//! The loop that plays a source on a device. It owns the clock: it advances the device to the next
//! time at which something is to be submitted, and never beyond.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use ftlab::host::{Completion, Host, Request};
use ftlab::units::{Nanos, Ratio, SimTime};

use super::ahead::{Ahead, Planned};
use super::held::Held;
use super::in_device::{ReplayCounts, Slot, Tags};
use super::mapping::Mapper;
use super::options::{
    Completed, Ended, Options, Pacing, PhaseReport, Progress, ReplayError, Report, Sink,
};
use super::pause::{Going, PacedStep, Pacer, Watch, finished, went_on};
use super::sharing::Sharing;
use super::source::{Pace, PhaseStart, Source};
use super::window::Window;

/// Replays a source on a device.
pub struct Replay<'a, H, S, K> {
    /// The device.
    pub host: &'a mut H,
    /// The requests.
    pub source: &'a mut S,
    /// Receives completions.
    pub sink: &'a mut K,
    /// How to replay.
    pub options: Options,
}

impl<H: Host, S: Source, K: Sink<H>> Replay<'_, H, S, K> {
    /// Plays the source to its end or to a limit. `watch` receives the progress every few thousand
    /// steps of the device and can stop the replay by returning `Break`.
    pub fn run(
        self,
        watch: &mut dyn FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Report, ReplayError> {
        finished(self.play(&mut |progress, _, _| match watch(progress) {
            ControlFlow::Continue(()) => Going::On,
            ControlFlow::Break(()) => Going::Stop,
        }))
    }

    /// As [`run`](Self::run), but `watch` sees more, and can also pause the replay.
    pub async fn play(self, watch: Watch<'_, H, K>) -> Result<Report, ReplayError> {
        let Replay { host, source, sink, options } = self;
        check(&options)?;
        let mapper = Mapper::new(options.mapping, host.capacity_sectors())?;
        let started = host.now();
        let end = options.limits.time.map_or(SimTime::FOREVER, |time| later(started, time));
        let mut engine = Engine {
            ahead: Ahead::new(source, mapper),
            host,
            sink,
            options,
            tags: Tags::default(),
            held: Held::default(),
            done: Vec::new(),
            phase: PhaseStart::timed(0, true),
            phased: false,
            end,
            stopped: None,
            standstill: None,
            pacer: Pacer::new(watch),
            counts: ReplayCounts::default(),
            sharing: options.count_sharing.then(Sharing::default),
        };
        let phases = engine.play().await?;
        Ok(engine.report(started, phases))
    }
}

fn check(options: &Options) -> Result<(), ReplayError> {
    let zero = |what, remedy| Err(ReplayError::Zero { what, remedy });
    match options.pacing {
        Pacing::Source { speed: Ratio { ppm: 0 }, .. } => {
            zero("the speed factor", "use 100% for the recorded speed")
        }
        Pacing::Source { queue_limit: 0, .. } => {
            zero("the limit on outstanding requests", "use 65536, the default")
        }
        Pacing::Closed { depth: 0, .. } | Pacing::Dependencies { depth: 0 } => {
            zero("the queue depth", "use 1 or more")
        }
        _ => Ok(()),
    }
}

pub(super) fn later(start: SimTime, span: Nanos) -> SimTime {
    SimTime(start.0.saturating_add(span.0))
}

pub(super) struct Engine<'a, H, S, K> {
    pub ahead: Ahead<'a, S>,
    pub host: &'a mut H,
    sink: &'a mut K,
    pub options: Options,
    pub tags: Tags,
    /// Requests that wait for a place in a submission queue.
    pub held: Held,
    /// The completions of the last step.
    pub done: Vec<Completion>,
    phase: PhaseStart,
    /// Whether the source has phases, whose clocks start at zero.
    phased: bool,
    /// Nothing is submitted at or after this time.
    pub end: SimTime,
    /// Why no more is submitted, although the source may have more.
    pub stopped: Option<Ended>,
    /// The device no longer responds.
    standstill: Option<ReplayError>,
    pacer: Pacer<'a, H, K>,
    pub counts: ReplayCounts,
    /// Which pages of the source share pages of the device, if they are counted.
    sharing: Option<Sharing>,
}

impl<H: Host, S: Source, K: Sink<H>> Engine<'_, H, S, K> {
    async fn play(&mut self) -> Result<Vec<PhaseReport>, ReplayError> {
        let mut phases = Vec::new();
        // A source either starts with a phase or consists of a single implicit one.
        let mut next = self.ahead.next_phase(self.host)?;
        self.phased = next.is_some();
        if next.is_none() && self.ahead.peek(self.host)?.is_some() {
            next = Some(PhaseStart::timed(0, true));
        }
        while let Some(phase) = next {
            self.phase = phase;
            phases.push(self.play_phase().await?);
            if let Some(error) = self.standstill.take() {
                return Err(error);
            }
            next = match self.stopped {
                Some(_) => None,
                None => self.ahead.next_phase(self.host)?,
            };
        }
        Ok(phases)
    }

    /// Plays a phase. Between phases only requests are waited for; background work of the device continues, as
    /// in a drive that never stops. Waiting for it would give the device free blocks to spend afterwards.
    async fn play_phase(&mut self) -> Result<PhaseReport, ReplayError> {
        let phase = self.phase;
        let (requests, sectors) = (self.counts.submitted, self.counts.sectors);
        let started = self.host.now();
        self.sink.phase_started(&phase, self.host);
        let time = phase.time.unwrap_or(Nanos(u64::MAX));
        let phase_end = later(started, time);
        match (self.options.pacing, phase.pace) {
            (Pacing::Dependencies { .. }, Pace::Together) => return Err(ReplayError::Tenants),
            (_, Pace::Together) => self.together().await?,
            (Pacing::Closed { depth, think_time }, _)
            | (Pacing::Source { .. }, Pace::Closed { depth, think_time }) => {
                self.closed(depth, think_time, phase_end).await?;
            }
            (Pacing::Source { speed, queue_limit }, Pace::Timed) => {
                self.timed(speed, queue_limit).await?;
            }
            (Pacing::Dependencies { depth }, _) => self.dependencies(depth, phase_end).await?,
        }
        let ran_dry = self.ahead.keeps_on() && !self.measured_are_done();
        self.finish_outstanding().await;
        if self.stopped != Some(Ended::Stopped) {
            self.sink.phase_ended(&phase, self.host);
        }
        Ok(PhaseReport {
            index: phase.index,
            measured: phase.measure,
            started,
            ended: self.host.now(),
            requests: self.counts.submitted - requests,
            sectors: self.counts.sectors - sectors,
            ran_dry,
        })
    }

    /// Plays by arrival times. A source with phases counts them from the start of the phase and
    /// ends the phase itself; one without uses its own clock.
    async fn timed(&mut self, speed: Ratio, queue_limit: u32) -> Result<(), ReplayError> {
        let started = self.host.now();
        let mut origin = SimTime::ZERO;
        let mut latest = SimTime::ZERO;
        let mut first = true;
        while let Some(planned) = self.next_planned()? {
            if std::mem::take(&mut first) && !self.phased {
                (origin, latest) = (planned.at, planned.at);
            }
            self.counts.out_of_order += u64::from(planned.at < latest);
            latest = latest.max(planned.at);
            let due = later(started, faster(latest - origin, speed));
            if due >= self.end {
                self.stopped = Some(Ended::Time);
                break;
            }
            // Arrivals at a time come before completions at it, so that the device knows all of them before it
            // starts the next operation. All completions before that time must be handled first.
            let eve = SimTime(due.0.saturating_sub(1));
            while self.host.now() <= eve
                && !self.is_all_measured(&planned)
                && self.step(eve).await
                && self.take_done() > 0
            {}
            let is_held = |engine: &Self| {
                engine.outstanding() >= u64::from(queue_limit) || engine.ahead.waits(&planned)
            };
            if is_held(self) {
                self.counts.held_back += 1;
            }
            while is_held(self)
                && self.host.now() < self.end
                && !self.is_all_measured(&planned)
                && self.step(self.end).await
            {
                self.take_done();
            }
            if self.stopped.is_some() {
                break;
            }
            if self.host.now() >= self.end {
                self.stopped = Some(Ended::Time);
                break;
            }
            if self.is_all_measured(&planned) {
                continue;
            }
            self.ahead.take();
            let queue = self.host.queue_of(planned.mapped.request.stream);
            if self.held.waits_for(queue) || !self.host.has_room(queue) {
                self.counts.held_back += 1;
                self.held.push(queue, planned, due);
                continue;
            }
            let request = self.admit(&planned, due);
            self.host.submit(due.max(self.host.now()), request);
        }
        Ok(())
    }

    /// Plays with `depth` requests outstanding. Each completion makes room for a request, at once
    /// or after the think time.
    async fn closed(
        &mut self,
        depth: u32,
        think_time: Nanos,
        phase_end: SimTime,
    ) -> Result<(), ReplayError> {
        let end = phase_end.min(self.end);
        let mut room = depth;
        let mut thinking: VecDeque<SimTime> = VecDeque::new();
        loop {
            let now = self.host.now();
            if now >= end {
                self.time_is_up(phase_end);
                return Ok(());
            }
            while thinking.front().is_some_and(|&ready| ready <= now) {
                thinking.pop_front();
                room += 1;
            }
            while room > 0 {
                let Some(planned) = self.next_planned()? else { return Ok(()) };
                let queue = self.host.queue_of(planned.mapped.request.stream);
                if !self.host.has_room(queue) || self.ahead.waits(&planned) {
                    break;
                }
                self.ahead.take();
                let request = self.admit(&planned, now);
                self.host.submit(now, request);
                room -= 1;
            }
            let next = thinking.front().map_or(end, |&ready| ready.min(end));
            if !self.step(next).await {
                return Ok(());
            }
            let finished = self.take_done();
            if think_time == Nanos::ZERO {
                room += finished;
            } else {
                let ready = later(self.host.now(), think_time);
                thinking.extend((0..finished).map(|_| ready));
            }
        }
    }

    /// Plays as fast as dependencies allow, with `depth` requests under consideration. Those under
    /// consideration when time is up are still played.
    async fn dependencies(&mut self, depth: u32, phase_end: SimTime) -> Result<(), ReplayError> {
        let end = phase_end.min(self.end);
        let mut window = Window::new(depth);
        let mut ready = Vec::new();
        let mut open = true;
        loop {
            let now = self.host.now();
            if open && now >= end {
                self.time_is_up(phase_end);
                open = false;
            }
            while open && window.live() < depth {
                let Some(planned) = self.next_planned()? else {
                    open = false;
                    break;
                };
                self.ahead.take();
                let request = self.admit(&planned, now);
                if window.enter(request.tag, &request) {
                    ready.push(request.tag);
                }
            }
            self.release(&mut ready);
            let limit = if open { end } else { SimTime::FOREVER };
            if window.live() == 0 || !self.step(limit).await {
                return Ok(());
            }
            let now = self.host.now();
            let waited = ready.len();
            for completion in &self.done {
                window.leave(completion.request.tag, &mut ready);
            }
            for &tag in &ready[waited..] {
                self.tags.slots[tag as usize].arrived = now;
            }
            self.take_done();
            self.release(&mut ready);
        }
    }

    /// Submits requests that wait only for a place in their submission queue, as far as there are
    /// places, in the order of the source.
    fn release(&mut self, ready: &mut Vec<u32>) {
        let now = self.host.now();
        ready.sort_unstable_by_key(|&tag| self.tags.slots[tag as usize].index);
        ready.retain(|&tag| {
            let request = self.tags.slots[tag as usize].request;
            let room = self.host.has_room(self.host.queue_of(request.stream));
            if room {
                self.host.submit(now, request);
            }
            !room
        });
    }

    /// Submits requests that waited for places in submission queues, as far as there are places now.
    fn submit_held(&mut self) {
        let most = match self.options.pacing {
            Pacing::Source { queue_limit, .. } => u64::from(queue_limit),
            _ => u64::MAX,
        };
        let now = self.host.now();
        if now >= self.end {
            self.stopped = Some(Ended::Time);
            return self.held.clear();
        }
        for queue in self.held.queues() {
            while self.outstanding() < most
                && self.host.has_room(queue)
                && let Some((planned, due)) = self.held.pop(queue)
            {
                let request = self.admit(&planned, due);
                self.host.submit(now, request);
            }
        }
    }

    /// Returns the next request of a tenant, unless a limit is reached.
    pub(super) fn next_of(&mut self, tenant: usize) -> Result<Option<Planned>, ReplayError> {
        if self.stopped.is_some() {
            return Ok(None);
        }
        let planned = self.ahead.peek_of(tenant, self.host)?.copied();
        Ok(self.unless_full(planned))
    }

    /// Returns the request, unless the limit on requests is reached.
    #[inline]
    fn unless_full(&mut self, planned: Option<Planned>) -> Option<Planned> {
        let counted = self.counts.measured + self.held.measured();
        if self.options.limits.requests == Some(counted) && planned.is_some() {
            self.stopped = Some(Ended::Requests);
            return None;
        }
        planned
    }

    /// Returns the next request, unless a limit is reached or everything measured is done.
    #[inline]
    fn next_planned(&mut self) -> Result<Option<Planned>, ReplayError> {
        if self.stopped.is_some() {
            return Ok(None);
        }
        let planned = self.ahead.peek(self.host)?.copied();
        if planned.is_some_and(|planned| self.is_all_measured(&planned)) {
            self.ahead.skip_phase();
            return Ok(None);
        }
        Ok(self.unless_full(planned))
    }

    /// Whether all measured requests of the phase have completed and `next` is not measured.
    #[inline]
    fn is_all_measured(&self, next: &Planned) -> bool {
        !next.measured && self.measured_are_done()
    }

    /// Whether the phase is measured and no measured request is waiting or in the device.
    pub(super) fn measured_are_done(&self) -> bool {
        let outstanding = self.counts.measured - self.counts.measured_done + self.held.measured();
        self.phase.measure && outstanding == 0
    }

    /// Counts a request as submitted and assigns it a tag.
    #[inline]
    pub(super) fn admit(&mut self, planned: &Planned, arrived: SimTime) -> Request {
        self.counts.submitted += 1;
        self.counts.measured += u64::from(planned.measured);
        self.counts.sectors += u64::from(planned.mapped.request.sectors);
        self.counts.mapping.count(&planned.mapped);
        if let Some(sharing) = &mut self.sharing {
            sharing.touch(&planned.mapped);
        }
        let request = self.tags.take(planned.mapped.request, planned.index, arrived);
        self.tags.slots[request.tag as usize].measured = planned.measured;
        self.sink.submitted(&request, planned.measured);
        request
    }

    fn time_is_up(&mut self, phase_end: SimTime) {
        if self.host.now() >= self.end {
            self.stopped = Some(Ended::Time);
        } else {
            debug_assert!(self.host.now() >= phase_end);
            self.ahead.skip_phase();
        }
    }

    pub(super) fn outstanding(&self) -> u64 {
        self.counts.submitted - self.counts.completed
    }

    /// Runs the device until something completes or `limit` is reached; completions are in `done` until they
    /// are taken. Returns `false` if the replay should stop or if there is nothing to wait for.
    #[inline]
    pub(super) async fn step(&mut self, limit: SimTime) -> bool {
        let outstanding = self.outstanding();
        let progress = |now| Progress {
            submitted: self.counts.submitted,
            completed: self.counts.completed,
            total: match (self.ahead.total(), self.options.limits.requests) {
                // The number of requests before the first measured one is unknown here.
                (_, Some(_)) if self.phased => None,
                (Some(total), Some(limit)) => Some(total.min(limit)),
                (total, limit) => total.or(limit),
            },
            sectors: self.counts.sectors,
            now,
            phase: self.phase.index,
        };
        let step = PacedStep { limit, outstanding, done: &mut self.done };
        let went = self.pacer.step(self.host, self.sink, step, progress).await;
        went_on(went, &mut self.standstill, &mut self.stopped)
    }

    /// Passes completions to the sink, frees their tags and returns their number.
    #[inline]
    pub(super) fn take_done(&mut self) -> u32 {
        let mut finished = 0;
        if !self.done.is_empty() {
            self.sink.advanced(self.host);
        }
        for completion in self.done.drain(..) {
            let slot = self.tags.release(completion.request.tag);
            let Slot { arrived, index, measured, .. } = slot;
            finished += 1;
            self.ahead.completed(completion.request.op);
            self.counts.measured_done += u64::from(measured);
            self.sink.completed(&Completed {
                completion,
                arrived,
                index,
                phase: self.phase.index,
                measured,
            });
        }
        self.counts.completed += u64::from(finished);
        if self.held.waiting() > 0 {
            self.submit_held();
        }
        finished
    }

    /// Waits for everything in the device, unless the replay was told to stop.
    async fn finish_outstanding(&mut self) {
        if matches!(self.stopped, Some(Ended::Time | Ended::Stopped)) {
            self.held.clear();
        }
        while self.outstanding() > 0
            && self.stopped != Some(Ended::Stopped)
            && self.step(SimTime::FOREVER).await
        {
            self.take_done();
        }
    }

    fn report(&self, started: SimTime, phases: Vec<PhaseReport>) -> Report {
        Report {
            ended: self.stopped.unwrap_or(Ended::Source),
            submitted: self.counts.submitted,
            completed: self.counts.completed,
            sectors: self.counts.sectors,
            started,
            finished: self.host.now(),
            mapping: self.counts.mapping,
            sharing: self.sharing.as_ref().map(Sharing::report),
            out_of_order: self.counts.out_of_order,
            empty: self.ahead.empty,
            held_back: self.counts.held_back,
            held_back_by_queue: self.held.counts().to_vec(),
            phases,
        }
    }
}

/// Converts a span of a source's clock to simulated time, rounded down.
#[inline]
pub(super) fn faster(span: Nanos, speed: Ratio) -> Nanos {
    if speed == Ratio::ONE {
        return span;
    }
    let scaled = u128::from(span.0) * u128::from(Ratio::ONE.ppm) / u128::from(speed.ppm);
    Nanos(u64::try_from(scaled).unwrap_or(u64::MAX))
}
