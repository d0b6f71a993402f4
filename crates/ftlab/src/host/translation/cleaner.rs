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

/// The zone that is cleaned.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogVictim {
    zone: u32,
    /// The place to go on at.
    next: u32,
    /// Blocks that were valid in it at first, at least one.
    valid: u32,
    /// Those that were copied.
    copied: u32,
    /// The credit that it has earned.
    earned: i64,
}

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
    victim: Option<LogVictim>,
    /// Places of the victim to be read one by one, because something near them can't be read.
    singly: Vec<u32>,
    /// The host's requests up to the last one for which cleaning failed: it is tried again at the next one.
    failed_at: Option<u64>,
    /// Blocks that the host may write while zones are short, in fractions: those that cleaning has gained.
    credit: i64,
    /// The most blocks of an append.
    append_blocks: u32,
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
            singly: Vec::new(),
            failed_at: None,
            credit: 0,
            append_blocks: rules.append_blocks,
            copies: vec![LogCopy::default(); rules.copies as usize],
            free: (0..rules.copies).rev().collect(),
            ready: VecDeque::new(),
        }
    }

    /// Whether no copy is under way.
    pub fn rests(&self) -> bool {
        self.free.len() == self.copies.len()
    }

    /// Whether the host has to wait for copies that are in the device.
    pub fn holds_up(&self) -> bool {
        self.credit <= 0 && self.free.len() + self.ready.len() < self.copies.len()
    }

    /// The host takes places.
    pub fn spend(&mut self, count: u32) {
        let debt = i64::from(self.append_blocks) << FRACTION_BITS;
        self.credit = (self.credit - (i64::from(count) << FRACTION_BITS)).max(-debt);
    }

    /// Blocks of the victim have another place, or all have if it has `ended`. Of the places that it will gain, the host may take
    /// the same share.
    fn earn(&mut self, count: u32, ended: bool) {
        let Some(victim) = &mut self.victim else { return };
        victim.copied += count;
        let of_zone = |count: u32| i64::from(self.zone_blocks - count) << FRACTION_BITS;
        let earned = match ended {
            true => of_zone(victim.copied),
            false => of_zone(victim.valid) * i64::from(victim.copied) / i64::from(victim.valid),
        };
        self.credit = (self.credit + earned - victim.earned).min(of_zone(0));
        victim.earned = earned;
    }

    /// Stops to clean the victim, whose other blocks stay where they are.
    fn stop(&mut self, request: u64) {
        self.failed_at = Some(request);
        self.singly.clear();
        if let Some(victim) = &mut self.victim {
            victim.next = (victim.zone + 1) * self.zone_blocks;
        }
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

    /// The next run of valid blocks of the victim; none if there are no more.
    fn next_run(&mut self, blocks: &LogBlocks) -> Option<(u32, u32)> {
        let is_valid = |place: &u32| blocks.owner_of(*place).is_some();
        while let Some(place) = self.singly.pop() {
            if is_valid(&place) {
                return Some((place, 1));
            }
        }
        let victim = self.victim.as_mut()?;
        let end = (victim.zone + 1) * self.zone_blocks;
        let first = (victim.next..end).find(is_valid)?;
        let most = end.min(first + self.append_blocks);
        let count = (first..most).take_while(is_valid).count() as u32;
        victim.next = first + count;
        Some((first, count))
    }
}

impl<D: Host> LogStore<'_, D> {
    /// Cleans zones while few are free.
    pub(super) fn clean(&mut self) {
        self.append_copies();
        loop {
            let is_short = self.blocks.free_soon() < self.rules.clean_below
                && self.cleaner.failed_at != Some(self.translated);
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
        let at = self.blocks.zone_mut(zone);
        at.is = LogUse::Victim;
        let (valid, next) = (at.valid, zone * self.rules.zone_blocks);
        self.cleaner.victim = Some(LogVictim { zone, next, valid, copied: 0, earned: 0 });
        true
    }

    /// No copies of the victim are under way.
    fn end_victim(&mut self) {
        let Some(LogVictim { zone, .. }) = self.cleaner.victim else { return };
        let at = self.blocks.zone_mut(zone);
        if at.is == LogUse::Victim {
            at.is = LogUse::Full;
            if at.valid == 0 {
                self.counts.cleaned += 1;
                self.cleaner.earn(0, true);
            }
            self.settle(zone);
        }
        self.cleaner.victim = None;
    }

    /// Reads valid blocks of the victim, as many runs at once as may be under way.
    fn read_victim(&mut self) {
        while let Some(&copy) = self.cleaner.free.last()
            && let Some((first, count)) = self.cleaner.next_run(&self.blocks)
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
        match done.outcome {
            Outcome::Done => return self.cleaner.ready.push_back(copy),
            Outcome::Unreadable => self.read_singly(copy),
            _ if self.finds_retired(zone) => {}
            _ => self.cleaner.stop(self.translated),
        }
        self.give_up(copy);
    }

    /// Some of these blocks can't be read: each is read by itself, and one that can't be read then is lost.
    fn read_singly(&mut self, copy: u32) {
        let sources = &self.cleaner.copies[copy as usize].sources;
        match sources[..] {
            [place] => self.counts.lost += u64::from(self.blocks.lose(place)),
            _ => self.cleaner.singly.extend(sources),
        }
    }

    /// Blocks are not copied now.
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
        let retired = done.outcome != Outcome::Done && self.append_failed(zone, count);
        self.blocks.appended(zone);
        match done.outcome {
            Outcome::Done => {}
            _ if retired => return self.cleaner.ready.push_back(copy),
            _ => {
                self.cleaner.stop(self.translated);
                return self.give_up(copy);
            }
        }
        self.counts.copied += u64::from(count);
        self.cleaner.earn(count, false);
        let first = self.place_at(done.request.lba);
        let mut sources = std::mem::take(&mut self.cleaner.copies[copy as usize].sources);
        for (from, to) in sources.drain(..count as usize).zip(first..) {
            // The host may have overwritten it meanwhile.
            if let Some(block) = self.blocks.owner_of(from) {
                let time = self.blocks.zone(self.blocks.zone_of(from)).time;
                let source = self.blocks.source_of(block);
                self.blocks.put(block, to, time);
                self.moved(block, source);
            }
        }
        match sources.is_empty() {
            true => self.cleaner.free.push(copy),
            false => self.cleaner.ready.push_back(copy),
        }
        self.cleaner.copies[copy as usize].sources = sources;
        self.settle(zone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The host may write what cleaning gains, as copies land: not all of it at the end.
    #[test]
    fn writes_take_turns_with_copies() {
        let victim = LogVictim { zone: 0, next: 0, valid: 12, copied: 0, earned: 0 };
        let mut cleaner = LogCleaner {
            order: CleaningOrder::Greedy,
            zone_blocks: 16,
            victim: Some(victim),
            singly: Vec::new(),
            failed_at: None,
            credit: 0,
            append_blocks: 8,
            copies: vec![LogCopy::default()],
            free: Vec::new(),
            ready: VecDeque::new(),
        };
        assert!(cleaner.holds_up());
        // Half of the copies are worth half of the four places to gain.
        cleaner.earn(6, false);
        cleaner.spend(1);
        assert!(!cleaner.holds_up());
        cleaner.spend(1);
        assert!(cleaner.holds_up());
        // Two of the other blocks were overwritten meanwhile: six places are gained in all.
        cleaner.earn(4, false);
        cleaner.earn(0, true);
        cleaner.spend(3);
        assert!(!cleaner.holds_up());
        cleaner.spend(1);
        assert!(cleaner.holds_up());
        // No write waits for copies that are not on their way.
        cleaner.free.push(0);
        assert!(!cleaner.holds_up());
    }
}
