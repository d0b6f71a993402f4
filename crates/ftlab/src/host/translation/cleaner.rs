//! The cleaning of zones: which one, and the copies that are under way.

use std::collections::VecDeque;

use super::blocks::{LogBlocks, LogUse, LogZone};
use super::job::LogPart;
use super::store::of_store;
use super::{LogRules, LogStore};
use crate::host::{Completion, Host, Op, Outcome};
use crate::options::declare::choices;

choices! {
    /// Which zone is cleaned. All choose among zones that are full and hold a block that is not valid.
    pub enum CleaningOrder {
        /// The zone with the fewest valid blocks.
        Greedy = "greedy",
        /// The zone with the best ratio of benefit to cost: free blocks times age, by blocks read and copied.
        CostBenefit = "cost-benefit",
        /// The zone that has been full for longest.
        Fifo = "fifo",
    }
}

/// Fractions of a ratio of benefit to cost that are told apart.
const FRACTION_BITS: u32 = 16;

/// Blocks of a victim on their way to another place.
#[derive(Clone, Debug, Default)]
pub(super) struct LogCopy {
    /// The places that they come from.
    pub sources: Vec<u32>,
}

/// The cleaning of zones.
#[derive(Clone, Debug)]
pub(super) struct LogCleaner {
    order: CleaningOrder,
    zone_blocks: u32,
    /// The zone that is cleaned, and where to go on in it.
    pub victim: Option<(u32, u32)>,
    pub copies: Vec<LogCopy>,
    pub free: Vec<u32>,
    /// Copies that were read and wait for room.
    pub ready: VecDeque<u32>,
}

impl LogCleaner {
    pub fn new(rules: &LogRules) -> LogCleaner {
        LogCleaner {
            order: rules.cleaning,
            zone_blocks: rules.zone_blocks,
            victim: None,
            copies: vec![LogCopy::default(); rules.copies as usize],
            free: (0..rules.copies).rev().collect(),
            ready: VecDeque::new(),
        }
    }

    /// Whether no copy is under way.
    pub fn rests(&self) -> bool {
        self.free.len() == self.copies.len()
    }

    /// Chooses a zone to clean. Among equals the first.
    pub fn choose(&self, blocks: &LogBlocks) -> Option<u32> {
        let is_candidate = |at: &LogZone| {
            at.is == LogUse::Full && at.appends == 0 && at.valid > 0 && at.valid < self.zone_blocks
        };
        let all = (0..).zip(blocks.zones()).filter(|(_, at)| is_candidate(at));
        let best = match self.order {
            CleaningOrder::Greedy => all.min_by_key(|(_, at)| at.valid),
            CleaningOrder::Fifo => all.min_by_key(|(_, at)| at.filled),
            CleaningOrder::CostBenefit => {
                all.min_by_key(|(_, at)| std::cmp::Reverse(self.benefit(at, blocks.clock)))
            }
        };
        best.map(|(zone, _)| zone)
    }

    /// Benefit by cost: (1 - u) age / (1 + u), where u is the share of valid blocks (Rosenblum and Ousterhout, "The Design and
    /// Implementation of a Log-Structured File System", ACM TOCS 1992). The age is that of F2FS, since the mean time at which the
    /// zone changed: as blocks were written, copies with the time of their zone, and as blocks were lost. Time counts blocks that
    /// the host writes.
    fn benefit(&self, at: &LogZone, now: u64) -> u128 {
        let (all, valid) = (u128::from(self.zone_blocks), u128::from(at.valid));
        let age = u128::from(now.saturating_sub(at.time));
        (((all - valid) * age) << FRACTION_BITS) / (all + valid)
    }

    /// The next run of valid blocks of the victim, at most this many; none if there are no more.
    pub fn next_run(&mut self, most: u32, blocks: &LogBlocks) -> Option<(u32, u32)> {
        let (zone, from) = self.victim?;
        let end = (zone + 1) * self.zone_blocks;
        let is_valid = |place: &u32| blocks.owner_of(*place).is_some();
        let first = (from..end).find(is_valid)?;
        let count = (first..end.min(first + most)).take_while(is_valid).count() as u32;
        self.victim = Some((zone, first + count));
        Some((first, count))
    }
}

impl<D: Host> LogStore<'_, D> {
    /// Cleans zones while few are free.
    pub(super) fn clean(&mut self) {
        self.append_copies();
        loop {
            let is_short = self.blocks.free_soon() < self.rules.clean_below;
            if self.cleaner.victim.is_none() && !(is_short && self.begin_victim()) {
                return;
            }
            self.read_victim();
            if !self.cleaner.rests() {
                return;
            }
            self.end_victim();
        }
    }

    fn begin_victim(&mut self) -> bool {
        let Some(zone) = self.cleaner.choose(&self.blocks) else { return false };
        self.blocks.zone_mut(zone).is = LogUse::Victim;
        self.cleaner.victim = Some((zone, zone * self.rules.zone_blocks));
        true
    }

    /// All copies of the victim have landed.
    fn end_victim(&mut self) {
        let Some((zone, _)) = self.cleaner.victim.take() else { return };
        let at = self.blocks.zone_mut(zone);
        if at.is == LogUse::Victim {
            at.is = LogUse::Full;
            self.counts.cleaned += 1;
            self.settle(zone);
        }
    }

    /// Reads valid blocks of the victim, as many runs at once as may be under way.
    fn read_victim(&mut self) {
        while let Some(&copy) = self.cleaner.free.last()
            && let Some((first, count)) =
                self.cleaner.next_run(self.rules.append_blocks, &self.blocks)
        {
            self.cleaner.free.pop();
            let sources = &mut self.cleaner.copies[copy as usize].sources;
            sources.extend(first..first + count);
            let zone = self.blocks.zone_of(first);
            self.blocks.zone_mut(zone).reads += 1;
            let (lba, sectors) = (self.address(first), count * self.rules.block_sectors);
            self.send(LogPart::CopyRead { copy, zone }, of_store(Op::Read, lba, sectors));
        }
    }

    pub(super) fn copy_read_done(&mut self, copy: u32, zone: u32, done: &Completion) {
        self.blocks.zone_mut(zone).reads -= 1;
        match done.outcome == Outcome::Done {
            true => self.cleaner.ready.push_back(copy),
            false => {
                self.blocks.lose(zone);
                self.give_up(copy);
            }
        }
    }

    /// Blocks can't be copied and stay where they are.
    fn give_up(&mut self, copy: u32) {
        self.cleaner.copies[copy as usize].sources.clear();
        self.cleaner.free.push(copy);
    }

    /// Appends what was read of a victim, as far as there is room. What was overwritten meanwhile is left out.
    fn append_copies(&mut self) {
        let class = self.rules.classes() - 1;
        while let Some(&copy) = self.cleaner.ready.front() {
            let sources = &mut self.cleaner.copies[copy as usize].sources;
            sources.retain(|&place| self.blocks.owner_of(place).is_some());
            let left = sources.len() as u32;
            if left == 0 {
                self.cleaner.ready.pop_front();
                self.cleaner.free.push(copy);
                continue;
            }
            let Some(zone) = self.room(class, 0) else { return };
            self.cleaner.ready.pop_front();
            let count = left.min(self.blocks.room_in(zone));
            self.blocks.give(zone, count);
            let lba = self.address(zone * self.rules.zone_blocks);
            let sectors = count * self.rules.block_sectors;
            let part = LogPart::CopyAppend { copy, zone, count };
            self.send(part, of_store(Op::Append, lba, sectors));
        }
    }

    pub(super) fn copy_append_done(&mut self, copy: u32, zone: u32, count: u32, done: &Completion) {
        self.blocks.appended(zone);
        if done.outcome != Outcome::Done {
            self.blocks.lose(zone);
            if let Some((victim, _)) = self.cleaner.victim {
                self.blocks.lose(victim);
            }
            return self.give_up(copy);
        }
        self.counts.copied += u64::from(count);
        let first = self.place_at(done.request.lba);
        let LogCopy { sources } = &mut self.cleaner.copies[copy as usize];
        for (from, to) in sources.drain(..count as usize).zip(first..) {
            // The host may have overwritten it meanwhile.
            if let Some(block) = self.blocks.owner_of(from) {
                let time = self.blocks.zone(self.blocks.zone_of(from)).time;
                self.blocks.put(block, to, time);
            }
        }
        match sources.is_empty() {
            true => self.cleaner.free.push(copy),
            false => self.cleaner.ready.push_back(copy),
        }
        self.settle(zone);
    }
}
