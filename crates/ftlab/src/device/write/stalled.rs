//! Stalled programs, which found no free page, and the total time of stalls.

use std::collections::VecDeque;

use crate::device::Contents;
use crate::device::base::Base;
use crate::device::write::{Writes, dead_dies, end_of_life};
use crate::engine::skills::{RARE, Skills, any};
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::streams::WriteStream;
use crate::scheduler::{CommandId, Probe};
use crate::units::{Nanos, PlaneId, SimTime};

/// A stalled program.
#[derive(Clone, Copy, Debug)]
pub struct StalledProgram {
    /// When it first looked for a free page.
    pub since: SimTime,
    /// The program.
    pub program: CommandId,
}

/// The programs that wait for collection to free pages, oldest first.
#[derive(Clone, Debug)]
pub struct Stalled {
    /// By pool of planes to which they may go, then by stream.
    queues: Vec<VecDeque<StalledProgram>>,
    streams: usize,
    waiting: usize,
    /// Time during which at least one program was stalled, as of the last change.
    total: Nanos,
    /// The start of the current stall.
    since: SimTime,
}

impl Stalled {
    /// An empty queue for each pool of planes and each stream of the host.
    pub fn new(pools: u32, streams: u8) -> Stalled {
        let streams = usize::from(streams);
        Stalled {
            queues: vec![VecDeque::new(); pools as usize * streams],
            streams,
            waiting: 0,
            total: Nanos::ZERO,
            since: SimTime::ZERO,
        }
    }

    fn at(&self, pool: u32, stream: WriteStream) -> usize {
        pool as usize * self.streams + stream.at()
    }

    /// A program of `stream` finds no free page in `pool`.
    pub fn push(&mut self, now: SimTime, program: CommandId, pool: u32, stream: WriteStream) {
        if self.waiting == 0 {
            self.since = now;
        }
        self.waiting += 1;
        let at = self.at(pool, stream);
        self.queues[at].push_back(StalledProgram { since: now, program });
    }

    /// The device stalls, and nothing can be placed.
    pub fn begin_standstill(&mut self, now: SimTime) {
        if self.waiting == 0 {
            self.since = now;
        }
        self.waiting += 1;
    }

    /// The standstill is over.
    pub fn end_standstill(&mut self, now: SimTime) {
        self.waiting -= 1;
        if self.waiting == 0 {
            self.total += now - self.since;
        }
    }

    /// The number of pools of planes for which programs may wait.
    pub fn pools(&self) -> u32 {
        (self.queues.len() / self.streams) as u32
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Whether a program of this stream waits for this pool.
    pub fn has_waiting(&self, pool: u32, stream: WriteStream) -> bool {
        !self.queues[self.at(pool, stream)].is_empty()
    }

    /// The oldest program that waits for a pool, among the streams that `may` write.
    pub fn oldest(
        &self,
        pool: u32,
        may: impl Fn(WriteStream) -> bool,
    ) -> Option<(StalledProgram, WriteStream)> {
        let first = self.at(pool, WriteStream::new(0));
        let queues = self.queues[first..first + self.streams].iter();
        queues
            .enumerate()
            .filter_map(|(at, queue)| Some((*queue.front()?, WriteStream::new(at as u8))))
            .filter(|&(_, stream)| may(stream))
            .min_by_key(|&(waiting, _)| waiting.since)
    }

    /// Removes the program that [`oldest`](Self::oldest) returned.
    pub fn forget_oldest(&mut self, now: SimTime, pool: u32, stream: WriteStream) {
        let at = self.at(pool, stream);
        if self.queues[at].pop_front().is_none() {
            return;
        }
        self.waiting -= 1;
        if self.waiting == 0 {
            self.total += now - self.since;
        }
    }

    /// Time until `now` during which at least one program was stalled. The difference of two
    /// readings is the share of the time between them that a write, which waited for room in the
    /// buffer, owes to collection.
    pub fn time_until(&self, now: SimTime) -> Nanos {
        if self.waiting == 0 { self.total } else { self.total + (now - self.since) }
    }
}

impl Writes {
    /// Pages of the host became or ceased to be valid: stalled programs may now go to another reclaim group.
    #[inline]
    pub(in crate::device) fn retry_in_groups<const S: Skills>(
        &mut self,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if any(S, RARE) && !self.stalled.is_empty() && !on.kernel.ftl.live_by_group().is_empty() {
            self.retry_stalled::<S>(PlaneId::new(0), on);
        }
    }

    /// The host may write to a plane again: places stalled programs there, oldest first, while it
    /// has room.
    pub(in crate::device) fn retry_stalled<const S: Skills>(
        &mut self,
        plane: PlaneId,
        on: &mut Base<impl Probe, impl Contents>,
    ) {
        if any(S, RARE) && on.kernel.ftl.is_read_only() {
            return end_of_life::place_stalled(self, on);
        }
        if self.stalled.is_empty() {
            return;
        }
        let pool = on.kernel.ftl.placement().pool_of(plane);
        loop {
            let oldest = self.stalled.oldest(pool, |stream| on.kernel.ftl.may_place(plane, stream));
            let Some((waiting, stream)) = oldest else { break };
            if !self.try_issue::<S>(waiting.program, stream, on.kernel.now - waiting.since, on) {
                break;
            }
            self.stalled.forget_oldest(on.kernel.now, pool, stream);
        }
        if any(S, RARE) && !on.kernel.ftl.dead_dies().is_empty() {
            dead_dies::place_homeless(self, on);
        }
    }
}
