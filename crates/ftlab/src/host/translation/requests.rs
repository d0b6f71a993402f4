//! The ways of the host's requests through a log-structured store.

use super::LogStore;
use super::job::{BlockEdge, BlockRun, HostJob, HostJobId, LogPart};
use crate::host::{Completion, Host, Op, Outcome, Request};
use crate::units::Lba;

impl<D: Host> LogStore<'_, D> {
    /// Reads what is in zones, a run of neighbouring places at a time. What has no place is zeros, and read from nowhere,
    /// unless its data was lost.
    pub(super) fn read(&mut self, id: HostJobId) {
        let request = self.jobs[id].request;
        let size = u64::from(self.rules.block_sectors);
        let end = request.lba.0 + u64::from(request.sectors);
        let mut lba = request.lba.0;
        while lba < end {
            let block = (lba / size) as u32;
            let last = ((end - 1) / size) as u32;
            let Some(place) = self.blocks.place_of(block) else {
                if self.blocks.is_lost(block) {
                    self.jobs[id].outcome = Outcome::Unreadable;
                }
                lba = (u64::from(block) + 1) * size;
                continue;
            };
            let zone = self.blocks.zone_of(place);
            let follows = |count: &u32| {
                let next = place + count;
                self.blocks.place_of(block + count) == Some(next)
                    && self.blocks.zone_of(next) == zone
            };
            let count = (1..=last - block).take_while(follows).count() as u64 + 1;
            let until = end.min((u64::from(block) + count) * size);
            let from = Lba(self.address(place).0 + lba % size);
            let part = Request { lba: from, sectors: (until - lba) as u32, ..request };
            self.jobs[id].pending += 1;
            self.blocks.zone_mut(zone).reads += 1;
            self.send(LogPart::Read { job: id, zone }, part);
            lba = until;
        }
        if self.jobs[id].pending == 0 {
            self.finish(id);
        }
    }

    pub(super) fn read_done(&mut self, id: HostJobId, zone: u32, done: &Completion) {
        self.read_ended(zone);
        self.part_of_job_done(id, done);
    }

    fn read_ended(&mut self, zone: u32) {
        self.blocks.zone_mut(zone).reads -= 1;
        self.settle(zone);
    }

    /// A request of the device is done that belongs to a read or a flush.
    pub(super) fn part_of_job_done(&mut self, id: HostJobId, done: &Completion) {
        if self.is_last_part(id, done) {
            self.finish(id);
        }
    }

    /// Whether no other request of the device is outstanding that belongs to the same request of the host.
    fn is_last_part(&mut self, id: HostJobId, done: &Completion) -> bool {
        let job = &mut self.jobs[id];
        job.hears(done);
        job.pending -= 1;
        let is_last = job.pending == 0;
        if is_last {
            job.explain(done);
        }
        is_last
    }

    /// Deallocates the blocks that are covered in whole.
    pub(super) fn trim(&mut self, id: HostJobId) {
        let Request { lba, sectors, .. } = self.jobs[id].request;
        let size = u64::from(self.rules.block_sectors);
        let (first, end) = (lba.0.div_ceil(size), (lba.0 + u64::from(sectors)) / size);
        for block in first..end {
            if let Some(zone) = self.blocks.forget(block as u32) {
                self.settle(zone);
            }
        }
        self.finish(id);
    }

    /// Waits for the writes that came before, then flushes the device.
    pub(super) fn flush(&mut self, id: HostJobId) {
        self.jobs[id].pending = self.writes;
        match self.writes {
            0 => self.flush_device(id),
            _ => self.flushes.push(id),
        }
    }

    fn flush_device(&mut self, id: HostJobId) {
        let job = &mut self.jobs[id];
        job.pending = 1;
        let request = job.request;
        self.send(LogPart::Flush { job: id }, request);
    }

    pub(super) fn write(&mut self, id: HostJobId) {
        self.writes += 1;
        let size = u64::from(self.rules.block_sectors);
        let Request { lba, sectors, .. } = self.jobs[id].request;
        let end = lba.0 + u64::from(sectors);
        let (first, last) = ((lba.0 / size) as u32, ((end - 1) / size) as u32);
        let job = &mut self.jobs[id];
        (job.next, job.end) = (first, last + 1);
        let (head, tail) = (!lba.0.is_multiple_of(size), !end.is_multiple_of(size));
        if head || tail {
            self.partial.push(id);
        }
        if head || tail && first == last {
            self.read_rest(id, 0, first);
        }
        if tail && first != last {
            self.read_rest(id, 1, last);
        }
        self.go_on_with(id);
    }

    /// Appends a write, unless something is to be read before or could not be.
    fn go_on_with(&mut self, id: HostJobId) {
        let HostJob { pending, outcome, .. } = self.jobs[id];
        match outcome {
            _ if pending > 0 => {}
            Outcome::Done => self.append_or_wait(id),
            // What can't be read must not be written as if it could.
            _ => self.write_done(id),
        }
    }

    /// Reads a block that is written in part, if it has a place.
    fn read_rest(&mut self, id: HostJobId, edge: usize, block: u32) {
        let source = self.blocks.source_of(block);
        let job = &mut self.jobs[id];
        job.edges[edge] = Some(BlockEdge { block, source });
        let Some((place, _)) = source else {
            if self.blocks.is_lost(block) {
                job.outcome = Outcome::Unreadable;
            }
            return;
        };
        job.pending += 1;
        let (lba, sectors) = (self.address(place), self.rules.block_sectors);
        let request = Request { op: Op::Read, lba, sectors, ..self.jobs[id].request };
        let zone = self.blocks.zone_of(place);
        self.blocks.zone_mut(zone).reads += 1;
        self.counts.old_reads += 1;
        self.send(LogPart::OldRead { job: id, zone }, request);
    }

    pub(super) fn old_read_done(&mut self, id: HostJobId, zone: u32, done: &Completion) {
        self.read_ended(zone);
        if self.is_last_part(id, done) {
            self.go_on_with(id);
        }
    }

    /// Appends the blocks of a write, behind the writes that wait already.
    fn append_or_wait(&mut self, id: HostJobId) {
        if self.waiting.is_empty() && self.append(id) {
            return;
        }
        self.counts.waited += 1;
        self.jobs[id].waited = true;
        self.waiting.push_back(id);
    }

    /// Appends blocks of a write as far as there is room. Returns whether there was room for all.
    pub(super) fn append(&mut self, id: HostJobId) -> bool {
        while self.jobs[id].next < self.jobs[id].end {
            let HostJob { next, end, .. } = self.jobs[id];
            let run = BlockRun { first: next, count: end - next };
            let Some(count) = self.append_some(id, run) else { return false };
            self.jobs[id].next += count;
            self.jobs[id].pending += 1;
        }
        true
    }

    /// Appends what a retired zone refused, as far as there is room in others.
    pub(super) fn append_again(&mut self) {
        while let Some(&(id, BlockRun { first, count })) = self.again.front() {
            let Some(appended) = self.append_some(id, BlockRun { first, count }) else { return };
            self.again.pop_front();
            if appended < count {
                self.jobs[id].pending += 1;
                let rest = BlockRun { first: first + appended, count: count - appended };
                self.again.push_front((id, rest));
            }
        }
    }

    /// Appends the first blocks of a run, if there is room. Returns how many.
    fn append_some(&mut self, id: HostJobId, run: BlockRun) -> Option<u32> {
        let request = self.jobs[id].request;
        let zone = self.room_for_host(request.stream)?;
        let count = run.count.min(self.rules.append_blocks).min(self.blocks.room_in(zone));
        self.blocks.give(zone, count);
        self.cleaner.spend(count);
        let lba = self.address(zone * self.rules.zone_blocks);
        let sectors = count * self.rules.block_sectors;
        let append = Request { op: Op::Append, lba, sectors, ..request };
        self.send(LogPart::Append { job: id, zone, first: run.first, count }, append);
        Some(count)
    }

    pub(super) fn append_done(
        &mut self,
        id: HostJobId,
        zone: u32,
        run: BlockRun,
        done: &Completion,
    ) {
        let retired = done.outcome != Outcome::Done && self.append_failed(zone, run.count);
        self.blocks.appended(zone);
        if retired {
            self.jobs[id].waited = true;
            return self.again.push_back((id, run));
        }
        match done.outcome {
            Outcome::Done => self.land(id, run, self.place_at(done.request.lba)),
            _ => {
                let covered = run.first..run.first + run.count;
                let edges = self.jobs[id].edges.iter_mut();
                edges
                    .filter(|edge| edge.is_some_and(|edge| covered.contains(&edge.block)))
                    .for_each(|edge| *edge = None);
            }
        }
        self.settle(zone);
        let is_last = self.is_last_part(id, done);
        let HostJob { next, end, edges, .. } = self.jobs[id];
        if !is_last || next < end {
            return;
        }
        // A block that changed since the rest of it was read is written again.
        match edges.iter().flatten().next() {
            None => self.write_done(id),
            Some(&BlockEdge { block, .. }) => {
                let edge = usize::from(edges[0].is_none());
                let job = &mut self.jobs[id];
                (job.next, job.end) = (block, block + 1);
                self.read_rest(id, edge, block);
                self.go_on_with(id);
            }
        }
    }

    /// Blocks of a write are in a zone, from this place on.
    fn land(&mut self, id: HostJobId, BlockRun { first, count }: BlockRun, place: u32) {
        self.counts.written += u64::from(count);
        self.blocks.clock += u64::from(count);
        for (block, place) in (first..first + count).zip(place..) {
            let edges = &mut self.jobs[id].edges;
            let edge = edges.iter_mut().find(|edge| edge.is_some_and(|edge| edge.block == block));
            if let Some(edge) = edge {
                let is_old = edge.is_some_and(|edge| edge.source != self.blocks.source_of(block));
                if is_old || self.blocks.is_lost(block) {
                    self.counts.repeated += 1;
                    continue;
                }
                *edge = None;
            }
            if let Some(before) = self.blocks.put(block, place, self.blocks.clock) {
                self.settle(before);
            }
        }
    }

    /// Cleaning has moved a block: what was read of it before is still what it holds.
    pub(super) fn moved(&mut self, block: u32, from: Option<(u32, u32)>) {
        let to = self.blocks.source_of(block);
        for &id in &self.partial {
            let edges = self.jobs[id].edges.iter_mut().flatten();
            let same = edges.filter(|edge| edge.block == block && edge.source == from);
            same.for_each(|edge| edge.source = to);
        }
    }

    /// A write is done, which flushes may have waited for.
    pub(super) fn write_done(&mut self, id: HostJobId) {
        self.writes -= 1;
        self.partial.retain(|&partial| partial != id);
        let order = self.jobs[id].order;
        let mut at = 0;
        while let Some(&flush) = self.flushes.get(at) {
            let job = &mut self.jobs[flush];
            job.pending -= u32::from(job.order > order);
            match job.pending {
                0 => {
                    self.flushes.remove(at);
                    self.flush_device(flush);
                }
                _ => at += 1,
            }
        }
        self.finish(id);
    }
}
