//! The log-structured store: requests of the host become reads, appends and resets of zones.

use std::collections::VecDeque;

use super::LogRules;
use super::blocks::{LogBlocks, LogUse};
use super::cleaner::LogCleaner;
use super::job::{BlockRun, HostJob, HostJobId, LogPart, LogPartId, LogParts};
use crate::counters::counters;
use crate::engine::{Handle, Slab};
use crate::host::zones::{ZoneError, ZoneState};
use crate::host::{Advanced, Completion, Host, Op, Outcome, QueueId, Request};
use crate::units::{Lba, Nanos, SimTime};

/// Free zones that only copies may take.
const KEPT_FOR_COPIES: u32 = 1;

counters! {
    /// What a log-structured store did.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct LogCounts {
        /// Blocks that requests of the host appended.
        written: u64, unit "blocks", at "host_translation/written_blocks";
        /// Blocks that cleaning appended.
        copied: u64, unit "blocks", at "host_translation/copied_blocks";
        /// Zones that were cleaned.
        cleaned: u64, unit "zones", at "host_translation/cleaned_zones";
        /// Zones that were reset, with those that had become empty by themselves.
        resets: u64, unit "zones", at "host_translation/resets";
        /// Blocks that were read because a write covered only a part of them.
        old_reads: u64, unit "blocks", at "host_translation/partial_block_reads";
        /// Blocks that were appended in vain, because they had changed since the rest of them was read.
        repeated: u64, unit "blocks", at "host_translation/repeated_blocks";
        /// Writes that waited for cleaning.
        waited: u64, unit "requests", at "host_translation/writes_held_up";
        /// Blocks that could not be read when they were to move.
        lost: u64, unit "blocks", at "host_translation/lost_blocks";
        /// Zones that the device retired.
        retired: u64, unit "zones", at "host_translation/retired_zones";
    }
}

/// A conventional drive on the zones of a device.
#[derive(Debug)]
pub struct LogStore<'a, D> {
    pub(super) device: &'a mut D,
    pub(super) rules: LogRules,
    pub(super) blocks: LogBlocks,
    pub(super) cleaner: LogCleaner,
    pub(super) jobs: Slab<HostJob>,
    pub(super) parts: LogParts,
    /// Requests that wait for the processor, with the time at which each is translated.
    pub(super) translating: VecDeque<(SimTime, HostJobId)>,
    /// Until when the processor is busy.
    busy: SimTime,
    /// Writes that cover a part of a block.
    pub(super) partial: Vec<HostJobId>,
    /// Appends to retired zones, which wait for room in another.
    pub(super) again: VecDeque<(HostJobId, BlockRun)>,
    /// Writes that wait for room.
    pub(super) waiting: VecDeque<HostJobId>,
    /// Flushes that wait for writes.
    pub(super) flushes: Vec<HostJobId>,
    /// Requests that wait for a place in a submission queue of the device.
    outbox: VecDeque<Request>,
    /// The open zone of each class.
    open: Vec<Option<u32>>,
    /// Requests that were translated so far.
    pub(super) translated: u64,
    /// Writes that were translated and are not done.
    pub(super) writes: u32,
    /// Zones that the device had taken out of service when the store looked last.
    known_retired: u64,
    finished: Vec<Completion>,
    done: Vec<Completion>,
    now: SimTime,
    pub(super) counts: LogCounts,
    /// The counts when the part of the run began that is measured now, and of those before.
    since: Option<LogCounts>,
    measured: LogCounts,
}

impl<'a, D: Host> LogStore<'a, D> {
    /// The store on a device with zones on which nothing is outstanding. What they hold was written block after block.
    ///
    /// # Panics
    /// The device has no zones.
    #[must_use]
    pub fn new(device: &'a mut D, rules: LogRules) -> LogStore<'a, D> {
        let zones = device.zones().expect("only devices with zones have rules for a store");
        let blocks = LogBlocks::new(rules, zones);
        let open = vec![None; rules.classes() as usize];
        let now = device.now();
        let mut store = LogStore {
            device,
            rules,
            blocks,
            cleaner: LogCleaner::new(&rules),
            jobs: Slab::default(),
            parts: Slab::default(),
            translating: VecDeque::new(),
            busy: now,
            partial: Vec::new(),
            again: VecDeque::new(),
            waiting: VecDeque::new(),
            flushes: Vec::new(),
            outbox: VecDeque::new(),
            open,
            translated: 0,
            writes: 0,
            known_retired: 0,
            finished: Vec::new(),
            done: Vec::new(),
            now,
            counts: LogCounts::default(),
            since: None,
            measured: LogCounts::default(),
        };
        (0..rules.zones).for_each(|zone| store.settle(zone));
        store
    }

    /// The device.
    pub fn device(&self) -> &D {
        self.device
    }

    /// The device.
    pub fn device_mut(&mut self) -> &mut D {
        self.device
    }

    /// The rules.
    pub fn rules(&self) -> &LogRules {
        &self.rules
    }

    /// What it did in the measured parts of the run.
    pub fn counts(&self) -> LogCounts {
        self.since.map_or(self.measured, |since| self.measured.plus(&self.counts.since(&since)))
    }

    /// The memory of its tables, in bytes.
    pub fn table_bytes(&self) -> u64 {
        self.blocks.bytes()
    }

    /// Starts or ends a measured part of the run.
    pub fn measures(&mut self, measured: bool) {
        self.measured = self.counts();
        self.since = measured.then_some(self.counts);
    }

    /// Checks that everything that is kept twice agrees.
    ///
    /// # Errors
    /// What does not.
    pub fn audit(&self) -> Result<(), String> {
        self.blocks.audit()
    }

    /// The address on the device of a place.
    pub(super) fn address(&self, place: u32) -> Lba {
        Lba(self.rules.end_on_device(u64::from(place) * u64::from(self.rules.block_sectors)))
    }

    /// The place at an address on the device.
    pub(super) fn place_at(&self, lba: Lba) -> u32 {
        let before = lba.0 / self.rules.zone_size * self.rules.zone_sectors();
        ((before + lba.0 % self.rules.zone_size) / u64::from(self.rules.block_sectors)) as u32
    }

    /// The zone of a class to which at least one more block can be appended. It is opened if more than `kept` zones are free.
    pub(super) fn room(&mut self, class: u32, kept: u32) -> Option<u32> {
        let open = &mut self.open[class as usize];
        if let Some(zone) = *open
            && self.blocks.zone(zone).is == LogUse::Open
        {
            return Some(zone);
        }
        *open = self.blocks.open(kept);
        *open
    }

    /// The zone for writes of a stream of the host.
    pub(super) fn room_for_host(&mut self, stream: u32) -> Option<u32> {
        let free = self.blocks.free();
        let is_short = free <= KEPT_FOR_COPIES + self.rules.host_classes;
        // The shared zone is left to copies while nothing else is.
        let is_left = self.rules.is_shared && free == 0;
        match is_left || is_short && self.cleaner.holds_up() {
            true => None,
            false => self.room(stream % self.rules.host_classes, KEPT_FOR_COPIES),
        }
    }

    /// Sends a request to the device, or puts it in line for its queue.
    pub(super) fn send(&mut self, part: LogPart, request: Request) {
        let request = Request { tag: self.parts.insert(part).get(), ..request };
        match self.outbox.is_empty() && self.may_enter(&request) {
            true => self.device.submit(self.now, request),
            false => self.outbox.push_back(request),
        }
    }

    fn may_enter(&self, request: &Request) -> bool {
        self.device.has_room(self.device.queue_of(request.stream))
    }

    /// Zones have gone out of service, as the device reports: those that were free are so no more.
    fn hear_of_retired(&mut self) {
        let Some(zones) = self.device.zones() else { return };
        let retired = zones.counts().retired;
        if std::mem::replace(&mut self.known_retired, retired) == retired {
            return;
        }
        for zone in 0..self.rules.zones {
            if self.blocks.zone(zone).is == LogUse::Free {
                self.finds_retired(zone);
            }
        }
    }

    /// A request to a zone failed. Returns whether the device has retired the zone. What it held is lost with one that is offline.
    pub(super) fn finds_retired(&mut self, zone: u32) -> bool {
        let state = self.device.zones().map(|zones| zones.all()[zone as usize].state);
        let is_retired = matches!(state, Some(ZoneState::ReadOnly | ZoneState::Offline));
        if is_retired && self.blocks.zone(zone).is != LogUse::Retired {
            self.blocks.retire(zone);
            self.counts.retired += 1;
        }
        if state == Some(ZoneState::Offline) {
            self.counts.lost += u64::from(self.blocks.lose_all(zone));
        }
        is_retired
    }

    /// An append to a zone failed. Returns whether the device has retired the zone.
    pub(super) fn append_failed(&mut self, zone: u32, count: u32) -> bool {
        let is_retired = self.finds_retired(zone);
        if !is_retired {
            self.blocks.refused(zone, count);
        }
        is_retired
    }

    /// Resets a zone if nothing in it is needed any more.
    pub(super) fn settle(&mut self, zone: u32) {
        if !self.blocks.resets(zone) {
            return;
        }
        let lba = self.address(zone * self.rules.zone_blocks);
        let sectors = self.rules.zone_blocks * self.rules.block_sectors;
        self.send(LogPart::Reset { zone }, of_store(Op::ZoneReset, lba, sectors));
    }

    /// A request of the device is done.
    fn hear(&mut self, done: &Completion) {
        let id: LogPartId = Handle::new(done.request.tag);
        let part = self.parts[id];
        self.parts.release(id);
        match part {
            LogPart::Read { job, zone } => self.read_done(job, zone, done),
            LogPart::OldRead { job, zone } => self.old_read_done(job, zone, done),
            LogPart::Append { job, zone, first, count } => {
                self.append_done(job, zone, BlockRun { first, count }, done);
            }
            LogPart::Flush { job } => self.part_of_job_done(job, done),
            LogPart::CopyRead { copy, zone } => self.copy_read_done(copy, zone, done),
            LogPart::CopyAppend { copy, zone, count } => {
                self.copy_append_done(copy, zone, count, done);
            }
            LogPart::Reset { zone } if done.outcome == Outcome::Done => {
                self.counts.resets += 1;
                self.blocks.was_reset(zone);
            }
            // A zone that can't be reset is as good as retired.
            LogPart::Reset { zone } if !self.finds_retired(zone) => {
                self.blocks.retire(zone);
                self.counts.retired += 1;
            }
            LogPart::Reset { .. } => {}
        }
    }

    /// Does what can be done now: sends requests that waited for a queue, appends what waited for room, and cleans.
    fn go_on(&mut self) {
        while let Some(request) = self.outbox.front().copied()
            && self.may_enter(&request)
        {
            self.outbox.pop_front();
            self.device.submit(self.now, request);
        }
        self.hear_of_retired();
        self.clean();
        self.append_again();
        while let Some(&job) = self.waiting.front()
            && self.append(job)
        {
            self.waiting.pop_front();
        }
        // The writes may have opened zones.
        self.clean();
        if self.parts.in_use() == 0 {
            self.refuse_waiting();
        }
    }

    /// Nothing is on its way that could make room, because zones were retired: writes that wait are refused.
    fn refuse_waiting(&mut self) {
        for (id, _) in std::mem::take(&mut self.again) {
            let job = &mut self.jobs[id];
            job.outcome = Outcome::ReadOnly;
            job.pending -= 1;
            if job.pending == 0 && job.next == job.end {
                self.write_done(id);
            }
        }
        for id in std::mem::take(&mut self.waiting) {
            self.jobs[id].outcome = Outcome::ReadOnly;
            self.write_done(id);
        }
    }

    /// The first request in line has been translated.
    fn begin(&mut self, at: SimTime, id: HostJobId) {
        self.now = at;
        self.translated += 1;
        let job = &mut self.jobs[id];
        job.translated(at, self.translated);
        match job.request.op {
            Op::Read => self.read(id),
            Op::Write => self.write(id),
            Op::Trim => self.trim(id),
            Op::Flush => self.flush(id),
            _ => {
                job.outcome = Outcome::Zone(ZoneError::InvalidField);
                self.finish(id);
            }
        }
        self.go_on();
    }

    /// A request of the host is done.
    pub(super) fn finish(&mut self, id: HostJobId) {
        let now = self.now;
        let job = &mut self.jobs[id];
        job.explain_rest(now);
        let HostJob { request, submitted, outcome, .. } = *job;
        let (queue, breakdown) = (self.device.queue_of(request.stream), job.breakdown());
        self.jobs.release(id);
        self.finished.push(Completion {
            request,
            queue,
            submitted,
            finished: now,
            breakdown,
            outcome,
        });
    }

    /// Blocks that the request covers, in whole or in part.
    fn blocks_of(&self, request: &Request) -> u64 {
        let size = u64::from(self.rules.block_sectors);
        let end = request.lba.0 + u64::from(request.sectors);
        end.div_ceil(size) - request.lba.0 / size
    }

    /// The time to translate a request.
    fn cost(&self, request: &Request) -> Nanos {
        let blocks = if request.op == Op::Flush { 0 } else { self.blocks_of(request) };
        Nanos(self.rules.map_cost.0.saturating_mul(blocks))
    }
}

/// A request of the store itself.
pub(super) fn of_store(op: Op, lba: Lba, sectors: u32) -> Request {
    Request { op, lba, sectors, stream: 0, tag: 0, fua: false }
}

impl<D: Host> Host for LogStore<'_, D> {
    fn now(&self) -> SimTime {
        self.now
    }

    fn capacity_sectors(&self) -> u64 {
        self.rules.capacity_sectors()
    }

    fn queue_of(&self, stream: u32) -> QueueId {
        self.device.queue_of(stream)
    }

    fn submit(&mut self, at: SimTime, request: Request) {
        let end = request.lba.0.saturating_add(request.sectors.into());
        let fits = request.sectors > 0 && end <= self.capacity_sectors();
        assert!(at >= self.now && (fits || request.op == Op::Flush), "{request:?} at {at:?}");
        self.now = at;
        let ready = at.max(self.busy) + self.cost(&request);
        self.busy = ready;
        let id = self.jobs.insert(HostJob::new(at, request));
        match ready == at && self.translating.is_empty() {
            true => self.begin(at, id),
            false => self.translating.push_back((ready, id)),
        }
    }

    fn advance_until(&mut self, limit: SimTime, done: &mut Vec<Completion>) -> Advanced {
        loop {
            if !self.finished.is_empty() {
                done.append(&mut self.finished);
                return Advanced::Completed;
            }
            let next = self.translating.front().copied();
            let until = next.map_or(limit, |(at, _)| limit.min(at));
            let mut heard = std::mem::take(&mut self.done);
            let advanced = self.device.advance_until(until, &mut heard);
            self.now = self.now.max(self.device.now());
            for completion in &heard {
                self.hear(completion);
            }
            heard.clear();
            self.done = heard;
            match (advanced, next) {
                (Advanced::Completed, _) => self.go_on(),
                (_, Some((at, id))) if at <= limit => {
                    self.translating.pop_front();
                    self.begin(at, id);
                }
                (_, Some(_)) => {
                    self.now = self.now.max(limit);
                    return Advanced::Reached;
                }
                (advanced, None) => return advanced,
            }
        }
    }
}
