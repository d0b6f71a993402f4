//! A naive version of the thesis's machine: log-block channels whose write cycles run in lock-step,
//! and garbage collection that stalls everything (Huang, "On Channel Management in Advanced
//! Solid-State Disk Architecture", NCTU 2010; sections 3.2 to 3.4 and 5).
//!
//! It is written from the rules alone and shares nothing with the simulator, so that it can judge
//! it: the device in lock-step must give the same nanoseconds, cycles, merges, moves and erases.
//! It prefers plain correctness over speed. There are no events: a request is handled at once, and
//! its cost is added to one clock.
//!
//! ```text
//! let mut machine = Machine::new(params);
//! machine.write(first_sector, sectors);  // one request; the next follows at machine.now()
//! let record = machine.finish();         // drains the buffer
//! ```
//!
//! Choices made where the rules leave one:
//! - A cycle's channels are checked for room in the order of its pages in the queue.
//! - A log block is closed once its last page is programmed, even before another is opened.
//! - A thief erases the oldest of its wholly invalid closed log blocks, also if nothing was merged.
//! - A thief whose log holds fewer than k data blocks merges those it has.
//! - A buffer has as many whole pages as fit in its bytes; of super pages, perhaps none.

use std::collections::VecDeque;

/// What the other channels do while one of them collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planner {
    /// They stay idle.
    None,
    /// All channels are one, with pages and blocks N times as large.
    Synchronised,
    /// They merge the data blocks of the same index.
    SuperDataBlock,
    /// They merge as many data blocks, chosen by their oldest log pages.
    CycleStealing,
}

/// How long an operation occupies a channel, transfer included, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub read: u64,
    pub program: u64,
    pub erase: u64,
}

/// The machine as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// N.
    pub channels: u32,
    /// Of 512 bytes each.
    pub sectors_per_page: u32,
    /// P.
    pub pages_per_block: u32,
    /// Of one channel (D). The host sees only these.
    pub data_blocks: u32,
    /// Of one channel (L), without the one spare.
    pub log_blocks: u32,
    pub times: Times,
    pub planner: Planner,
    /// At most this many merges in a reclaim (T); at least 1.
    pub throttle: Option<u32>,
    /// Of the gating buffer; less than a page is the same as none.
    pub buffer_bytes: u64,
    /// Pages reach the flash in the order in which they were written (integrity).
    pub in_order: bool,
}

const SECTOR_BYTES: u64 = 512;

impl Params {
    /// Sectors that the host sees.
    pub fn sectors(&self) -> u64 {
        u64::from(self.sectors_per_page)
            * u64::from(self.channels * self.data_blocks * self.pages_per_block)
    }

    /// The time to read and program every page of a data block, and to erase the old one.
    pub fn merge_time(&self) -> u64 {
        u64::from(self.pages_per_block) * (self.times.read + self.times.program) + self.times.erase
    }

    /// Rule 1: N synchronised channels are one with pages, and so blocks, N times as large.
    fn as_it_works(self) -> Params {
        match self.planner {
            Planner::Synchronised => Params {
                channels: 1,
                sectors_per_page: self.channels * self.sectors_per_page,
                ..self
            },
            _ => self,
        }
    }

    fn buffer_pages(&self) -> usize {
        (self.buffer_bytes / (SECTOR_BYTES * u64::from(self.sectors_per_page))) as usize
    }
}

/// The collection of one log block, and what it made the other channels do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reclaim {
    /// The channel that had no room (0 if synchronised).
    pub channel: usize,
    /// When it began, in nanoseconds from the start; the cycle that needs the room follows it.
    pub start: u64,
    /// How long everything stalled, in nanoseconds.
    pub time: u64,
    /// Data blocks that the channel itself merged.
    pub merges: u32,
    /// Pages moved to the spare because the throttle allowed no more merges.
    pub moved: u32,
    /// Merges of all other channels meanwhile.
    pub others_merges: u32,
}

/// The results of a run. Where channels are counted apart, synchronised ones count as one, and so do
/// their super pages and super blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The total time in nanoseconds: the write cycles and the reclaims, one after the other.
    pub time: u64,
    /// Write cycles that programmed pages for the host.
    pub write_cycles: u64,
    /// Pages programmed for the host.
    pub written_pages: u64,
    /// Collections in order of time.
    pub reclaims: Vec<Reclaim>,
    /// By channel: data blocks merged, in its own reclaims and while another collected. Each merge
    /// erases one data block.
    pub merges: Vec<u64>,
    /// By channel: log blocks erased.
    pub log_erases: Vec<u64>,
    /// By channel: pages moved to the spare.
    pub moved: Vec<u64>,
}

impl Record {
    /// Blocks erased by each channel, of data and of the log.
    pub fn erases(&self) -> Vec<u64> {
        self.merges.iter().zip(&self.log_erases).map(|(data, log)| data + log).collect()
    }
}

/// Where the newest version of a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// In the gating buffer.
    Buffer,
    /// In the log: blocks are counted from the oldest in use.
    Log { block: usize, slot: usize },
    /// In its data block, at its own place.
    Data,
}

/// A page on its way to the flash.
#[derive(Clone, Copy, Debug)]
struct Page {
    /// Logical, of the whole machine.
    number: u32,
    /// Whether the request covers only part of it.
    partial: bool,
    /// Which request wrote it: the first is 1.
    stamp: u32,
}

/// See the head of this file.
pub struct Machine {
    params: Params,
    channels: Vec<Channel>,
    /// Oldest first.
    buffer: VecDeque<Page>,
    requests: u32,
    record: Record,
}

impl Machine {
    /// Data area full, log and buffer empty, time 0.
    pub fn new(params: Params) -> Machine {
        let params = params.as_it_works();
        assert!(params.log_blocks > 0 && params.throttle != Some(0), "{params:?}");
        let count = params.channels as usize;
        Machine {
            channels: (0..count).map(|_| Channel::new(&params)).collect(),
            buffer: VecDeque::new(),
            requests: 0,
            record: Record {
                merges: vec![0; count],
                log_erases: vec![0; count],
                moved: vec![0; count],
                ..Record::default()
            },
            params,
        }
    }

    /// Nanoseconds from the start. After `write`: when that request is acknowledged.
    pub fn now(&self) -> u64 {
        self.record.time
    }

    /// The results so far. The gating buffer may still hold pages.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Drains the buffer, checks all tables and returns the results.
    pub fn finish(mut self) -> Record {
        self.drain();
        self.audit();
        self.record
    }

    /// Drains the buffer.
    pub fn drain(&mut self) {
        while !self.buffer.is_empty() {
            self.write_back();
        }
    }

    /// Writes `count` sectors from sector `first`, right after the previous request.
    pub fn write(&mut self, first: u64, count: u64) {
        assert!(count > 0 && first + count <= self.params.sectors());
        self.requests += 1;
        let mut pages = self.split(first, count);
        let room = self.params.buffer_pages();
        if pages.len() > room {
            self.drain();
            while !pages.is_empty() {
                let cycle = self.next_cycle(&mut pages);
                self.run_cycle(&cycle);
            }
        } else {
            while self.buffer.len() + pages.len() > room {
                self.write_back();
            }
            self.buffer.append(&mut pages);
        }
    }

    /// The request that last wrote logical page `page`, counted from 1; 0 if none did. Looked up where
    /// the newest version is kept.
    pub fn read(&self, page: u32) -> u32 {
        if let Some(page) = self.buffer.iter().rev().find(|other| other.number == page) {
            return page.stamp;
        }
        let (channel, local) = self.stripe(page);
        let channel = &self.channels[channel];
        match channel.map[local] {
            Some(at) => channel.blocks[at.block].slots[at.slot].stamp,
            None => channel.data[local],
        }
    }

    /// Where logical page `page` is.
    pub fn placement(&self, page: u32) -> Placement {
        if self.buffer.iter().any(|other| other.number == page) {
            return Placement::Buffer;
        }
        let (channel, local) = self.stripe(page);
        let channel = &self.channels[channel];
        match channel.map[local] {
            Some(at) => {
                let block = channel.used.iter().position(|used| *used == at.block).unwrap();
                Placement::Log { block, slot: at.slot }
            }
            None => Placement::Data,
        }
    }

    /// Checks every table against every other.
    pub fn audit(&self) {
        self.channels.iter().for_each(Channel::audit);
        assert!(self.buffer.len() <= self.params.buffer_pages());
    }

    /// The channel of a logical page, and its index there.
    fn stripe(&self, page: u32) -> (usize, usize) {
        ((page % self.params.channels) as usize, (page / self.params.channels) as usize)
    }

    /// The pages of a request.
    fn split(&self, first: u64, count: u64) -> VecDeque<Page> {
        let size = u64::from(self.params.sectors_per_page);
        let end = first + count;
        (first / size..=(end - 1) / size)
            .map(|page| Page {
                number: page as u32,
                partial: first > page * size || end < (page + 1) * size,
                stamp: self.requests,
            })
            .collect()
    }

    /// Writes one cycle back from the buffer.
    fn write_back(&mut self) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let cycle = self.next_cycle(&mut buffer);
        self.buffer = buffer;
        self.run_cycle(&cycle);
    }

    /// Takes the oldest page of each channel out of `queue`; in order, only those before the first
    /// whose channel already has one.
    fn next_cycle(&self, queue: &mut VecDeque<Page>) -> Vec<Page> {
        let mut taken = vec![false; self.channels.len()];
        let mut cycle = Vec::new();
        let mut barred = false;
        queue.retain(|page| {
            let (channel, _) = self.stripe(page.number);
            let stays = barred || taken[channel];
            barred |= stays && self.params.in_order;
            if !stays {
                taken[channel] = true;
                cycle.push(*page);
            }
            stays
        });
        cycle
    }

    /// Makes room where there is none, then programs the pages in parallel.
    fn run_cycle(&mut self, pages: &[Page]) {
        for page in pages {
            let (channel, _) = self.stripe(page.number);
            if self.channels[channel].has_no_room() {
                self.reclaim(channel);
            }
        }
        let mut programmed = vec![false; self.channels.len()];
        for page in pages {
            let (channel, local) = self.stripe(page.number);
            assert!(!programmed[channel], "two pages in a cycle of channel {channel}");
            programmed[channel] = true;
            self.channels[channel].append(local, page.stamp);
            assert!(!self.channels[channel].free.is_empty(), "the spare was used for the host");
        }
        let any_partial = pages.iter().any(|page| page.partial);
        let read = if any_partial { self.params.times.read } else { 0 };
        self.record.time += self.params.times.program + read;
        self.record.write_cycles += 1;
        self.record.written_pages += pages.len() as u64;
    }

    /// Rules 7 to 9: reclaims the oldest log block of `trigger` while everything else waits.
    fn reclaim(&mut self, trigger: usize) {
        let most = self.params.throttle.map_or(usize::MAX, |most| most as usize);
        let channel = &mut self.channels[trigger];
        let victim = channel.used[0];
        let merged = channel.data_blocks_of_log(&[victim], most);
        merged.iter().for_each(|block| channel.merge(*block));
        let moved = channel.move_live_pages(victim);
        channel.erase(victim);
        assert!(merged.len() <= most);
        assert!(moved == 0 || merged.len() == most, "pages moved below the throttle");

        let work = Work { merges: merged.len() as u64, moved, erases: 1 };
        let time = work.time(&self.params);
        self.count(trigger, &work);
        let mut others_merges = 0;
        for other in (0..self.channels.len()).filter(|other| *other != trigger) {
            let stolen = self.channels[other].work_along(self.params.planner, &merged);
            assert!(stolen.time(&self.params) <= time, "a thief takes longer than the trigger");
            self.count(other, &stolen);
            others_merges += stolen.merges as u32;
        }
        self.record.reclaims.push(Reclaim {
            channel: trigger,
            start: self.record.time,
            time,
            merges: merged.len() as u32,
            moved: moved as u32,
            others_merges,
        });
        self.record.time += time;
    }

    fn count(&mut self, channel: usize, work: &Work) {
        self.record.merges[channel] += work.merges;
        self.record.log_erases[channel] += work.erases;
        self.record.moved[channel] += work.moved;
    }
}

/// What a channel does in a reclaim.
struct Work {
    merges: u64,
    moved: u64,
    /// Of log blocks.
    erases: u64,
}

impl Work {
    fn time(&self, params: &Params) -> u64 {
        let Times { read, program, erase } = params.times;
        self.merges * params.merge_time() + self.moved * (read + program) + self.erases * erase
    }
}

/// A data area and a log. Pages and data blocks are counted within the channel.
struct Channel {
    pages_per_block: usize,
    log_blocks: usize,
    /// The stamp of each page in its data block.
    data: Vec<u32>,
    /// Where each page's newest version is in the log, if it is there.
    map: Vec<Option<Position>>,
    /// One more than L.
    blocks: Vec<LogBlock>,
    /// Oldest first; the last is the active one, perhaps full.
    used: VecDeque<usize>,
    free: VecDeque<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Position {
    block: usize,
    slot: usize,
}

/// A log block: its programmed slots.
#[derive(Clone, Default)]
struct LogBlock {
    slots: Vec<Slot>,
    live: usize,
}

#[derive(Clone)]
struct Slot {
    page: usize,
    stamp: u32,
    live: bool,
}

impl Channel {
    fn new(params: &Params) -> Channel {
        let pages = params.data_blocks as usize * params.pages_per_block as usize;
        let blocks = params.log_blocks as usize + 1;
        Channel {
            pages_per_block: params.pages_per_block as usize,
            log_blocks: params.log_blocks as usize,
            data: vec![0; pages],
            map: vec![None; pages],
            blocks: vec![LogBlock::default(); blocks],
            used: VecDeque::new(),
            free: (0..blocks).collect(),
        }
    }

    fn is_full(&self, block: usize) -> bool {
        self.blocks[block].slots.len() == self.pages_per_block
    }

    fn active_is_full(&self) -> bool {
        self.used.back().is_none_or(|active| self.is_full(*active))
    }

    /// Whether all L are in use and full, so that only the spare is free.
    fn has_no_room(&self) -> bool {
        self.used.len() == self.log_blocks && self.active_is_full()
    }

    /// Programs the next page of the log and invalidates its older version in the log.
    fn append(&mut self, page: usize, stamp: u32) {
        if self.active_is_full() {
            let opened = self.free.pop_front().expect("a free log block");
            assert!(self.blocks[opened].slots.is_empty());
            self.used.push_back(opened);
        }
        let block = *self.used.back().unwrap();
        self.invalidate(page);
        self.map[page] = Some(Position { block, slot: self.blocks[block].slots.len() });
        self.blocks[block].slots.push(Slot { page, stamp, live: true });
        self.blocks[block].live += 1;
    }

    /// Invalidates the version of `page` in the log, if any, and returns its slot.
    fn invalidate(&mut self, page: usize) -> Option<Slot> {
        let at = self.map[page].take()?;
        let block = &mut self.blocks[at.block];
        let slot = &mut block.slots[at.slot];
        assert!(slot.live && slot.page == page);
        slot.live = false;
        block.live -= 1;
        Some(slot.clone())
    }

    /// The distinct data blocks to which the live pages of the log blocks `log` belong, in the order of
    /// their pages; at most `most`.
    fn data_blocks_of_log(&self, log: &[usize], most: usize) -> Vec<usize> {
        let mut found = Vec::new();
        // Skipping blocks without live pages is only for speed.
        let held = log.iter().map(|block| &self.blocks[*block]).filter(|block| block.live > 0);
        for slot in held.flat_map(|block| &block.slots).filter(|slot| slot.live) {
            if found.len() == most {
                break;
            }
            let data_block = slot.page / self.pages_per_block;
            if !found.contains(&data_block) {
                found.push(data_block);
            }
        }
        found
    }

    /// Builds a new data block from the newest versions of all its pages.
    fn merge(&mut self, data_block: usize) {
        let first = data_block * self.pages_per_block;
        for page in first..first + self.pages_per_block {
            if let Some(newest) = self.invalidate(page) {
                self.data[page] = newest.stamp;
            }
        }
    }

    /// Moves the live pages of `victim` to the spare, which becomes the active block.
    fn move_live_pages(&mut self, victim: usize) -> u64 {
        let live = |slot: &&Slot| slot.live;
        let left: Vec<Slot> = self.blocks[victim].slots.iter().filter(live).cloned().collect();
        assert!(left.is_empty() || self.free.len() == 1, "only the spare is free in a reclaim");
        left.iter().for_each(|slot| self.append(slot.page, slot.stamp));
        left.len() as u64
    }

    fn erase(&mut self, block: usize) {
        assert!(self.is_full(block), "only closed log blocks are erased");
        assert_eq!(self.blocks[block].live, 0, "only empty log blocks are erased");
        self.blocks[block] = LogBlock::default();
        self.used.retain(|used| *used != block);
        self.free.push_back(block);
    }

    /// What a channel does while another merges the data blocks `merged` and erases a log block.
    fn work_along(&mut self, planner: Planner, merged: &[usize]) -> Work {
        let mut work = Work { merges: 0, moved: 0, erases: 0 };
        match planner {
            Planner::None | Planner::Synchronised => {}
            Planner::SuperDataBlock => {
                merged.iter().for_each(|block| self.merge(*block));
                work.merges = merged.len() as u64;
            }
            Planner::CycleStealing => {
                let oldest: Vec<usize> = self.used.iter().copied().collect();
                let stolen = self.data_blocks_of_log(&oldest, merged.len());
                stolen.iter().for_each(|block| self.merge(*block));
                work.merges = stolen.len() as u64;
                let erasable =
                    |block: &usize| self.blocks[*block].live == 0 && self.is_full(*block);
                if let Some(block) = oldest.into_iter().find(erasable) {
                    self.erase(block);
                    work.erases = 1;
                }
            }
        }
        work
    }

    fn audit(&self) {
        assert_eq!(self.used.len() + self.free.len(), self.log_blocks + 1);
        assert!(!self.free.is_empty(), "the spare is gone");
        let mut all: Vec<usize> = self.used.iter().chain(&self.free).copied().collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..=self.log_blocks), "a log block is in two places");
        assert!(self.free.iter().all(|block| self.blocks[*block].slots.is_empty()));
        let closed = self.used.len().saturating_sub(1);
        assert!(self.used.iter().take(closed).all(|block| self.is_full(*block)));
        // From slots to the map and back: as many live slots as mapped pages, and each maps to itself.
        let mut live = 0;
        for (index, block) in self.blocks.iter().enumerate() {
            let slots = block.slots.iter().enumerate().filter(|(_, slot)| slot.live);
            let own = |(slot, held): (usize, &Slot)| {
                assert!(self.map[held.page] == Some(Position { block: index, slot }));
            };
            assert_eq!(slots.map(own).count(), block.live);
            live += block.live;
        }
        let mapped = self.map.iter().filter(|at| at.is_some()).count();
        assert_eq!(mapped, live, "live log pages are the pages written and not yet merged");
    }
}
