//! The store against a naive model: random requests on a device that completes its requests in any order and puts appends
//! wherever they come in. Every sector that is read, or found at the end, has a version that may be there. The device may lose
//! data, retire zones and refuse appends: then requests may fail, but no other data is lost, and none is made up.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use self::device::{AnyOrder, Faults};
use super::job::{HostJob, LogPart};
use super::{CleaningOrder, LogCounts, LogRules, LogStore};
use crate::engine::{Handle, Stream};
use crate::host::zones::ZoneRules;
use crate::host::{Advanced, Completion, Host, Op, Outcome, Request};
use crate::shape::ZoneShape;
use crate::units::{Bytes, Lba, Nanos, SECTOR_BYTES, SimTime};

mod device;

const BLOCK: u32 = 4;
const ZONE_BLOCKS: u32 = 16;
/// Requests of the host at once.
const HOST_DEPTH: u64 = 20;
/// What is taken for data where a read failed. No request has this tag.
const MADE_UP: u32 = u32::MAX;
/// No run needs so many steps, unless it goes round in circles.
const MOST_STEPS: u64 = 100_000;
/// The tag of reads after all others.
const LAST: u32 = MADE_UP - 1;

/// A write or a trim of a sector: the version that it leaves, and the steps between which it does. One that failed may have
/// left it or not.
#[derive(Clone, Copy, Debug)]
struct SectorChange {
    version: u32,
    from: u64,
    to: u64,
    failed: bool,
}

/// What the harness knows about data: versions by sector.
struct LogBench {
    rules: LogRules,
    step: u64,
    /// By sector of the host.
    history: Vec<Vec<SectorChange>>,
    /// By tag of the host: the request, and when it came.
    asked: BTreeMap<u32, (Request, u64)>,
    /// By place: the sectors of a block.
    flash: Vec<[u32; BLOCK as usize]>,
    /// By tag of the device: what an append brings.
    brought: BTreeMap<u32, Vec<[u32; BLOCK as usize]>>,
    /// What was read of old blocks, by request and block, and of victims, by place.
    old: BTreeMap<(u32, u32), [u32; BLOCK as usize]>,
    copied: BTreeMap<u32, [u32; BLOCK as usize]>,
    /// By tag of the device: the sectors of the host that a read finds.
    reading: BTreeMap<u32, Vec<Option<u64>>>,
    /// By tag of the host: the versions that a read has found, by sector.
    found: BTreeMap<u32, BTreeMap<u64, u32>>,
    /// Tags of the host whose reads failed on the device.
    failed: BTreeSet<u32>,
    /// By block, where it was before the last step, and whether its data was lost.
    places: Vec<Option<u32>>,
    /// By place, the last block there.
    holders: Vec<u32>,
    lost: BTreeSet<u32>,
    /// Whether writes may fail.
    any_faults: bool,
}

impl LogBench {
    fn new(rules: LogRules, any_faults: bool) -> LogBench {
        let places = (rules.zones * ZONE_BLOCKS) as usize;
        LogBench {
            rules,
            step: 1,
            history: vec![Vec::new(); rules.capacity_sectors() as usize],
            asked: BTreeMap::new(),
            flash: vec![[0; BLOCK as usize]; places],
            brought: BTreeMap::new(),
            old: BTreeMap::new(),
            copied: BTreeMap::new(),
            reading: BTreeMap::new(),
            found: BTreeMap::new(),
            failed: BTreeSet::new(),
            places: Vec::new(),
            holders: vec![0; places],
            lost: BTreeSet::new(),
            any_faults,
        }
    }

    /// A device completes its next request: what it reads is what lies there now.
    fn before(&mut self, store: &LogStore<'_, AnyOrder>) {
        self.places = (0..self.rules.blocks).map(|block| store.blocks.place_of(block)).collect();
        let next =
            store.device.inside.first_key_value().map(|(_, (_, request, fate))| (request, *fate));
        let Some((request, fate)) = next.filter(|(request, _)| request.op == Op::Read) else {
            return;
        };
        let fails = store.device.fails(request, fate);
        let made_up = fails.then_some([MADE_UP; BLOCK as usize]);
        let part = store.parts[Handle::new(request.tag)];
        let place = store.place_at(request.lba);
        match part {
            LogPart::OldRead { job, .. } => {
                let block = self.holders[place as usize];
                self.old.insert((job.get(), block), made_up.unwrap_or(self.flash[place as usize]));
            }
            LogPart::CopyRead { .. } => {
                for at in place..place + request.sectors / BLOCK {
                    self.copied.insert(at, made_up.unwrap_or(self.flash[at as usize]));
                }
            }
            LogPart::Read { job, .. } if fails => {
                self.failed.insert(store.jobs[job].request.tag);
            }
            LogPart::Read { job, .. } => {
                let found = self.found.entry(store.jobs[job].request.tag).or_default();
                for (at, sector) in (request.lba.0..).zip(&self.reading[&request.tag]) {
                    let version = self.flash[place_of(at, store)][(at % u64::from(BLOCK)) as usize];
                    found.extend(sector.map(|sector| (sector, version)));
                }
            }
            _ => unreachable!("nothing else reads"),
        }
    }

    /// What landed on the device meanwhile, and what was sent to it: appends bring what the store has at hand.
    fn after(&mut self, store: &mut LogStore<'_, AnyOrder>) {
        for (tag, lba) in std::mem::take(&mut store.device.landed) {
            let data = self.brought.remove(&tag).expect("it was sent");
            let first = place_of(lba.0, store);
            self.flash[first..first + data.len()].copy_from_slice(&data);
        }
        for request in std::mem::take(&mut store.device.entered) {
            let data = match store.parts[Handle::new(request.tag)] {
                LogPart::Append { job, first, count, .. } => {
                    let asked = store.jobs[job];
                    (first..first + count)
                        .map(|block| self.block_of(&asked, job.get(), block))
                        .collect()
                }
                LogPart::CopyAppend { copy, count, .. } => {
                    let sources = &store.cleaner.copies[copy as usize].sources;
                    sources[..count as usize].iter().map(|from| self.copied[from]).collect()
                }
                LogPart::Read { job, .. } => {
                    let sectors = self.sectors_of(&request, &store.jobs[job].request, store);
                    self.reading.insert(request.tag, sectors);
                    continue;
                }
                _ => continue,
            };
            self.brought.insert(request.tag, data);
        }
        self.look(store);
    }

    /// Where blocks are now. Data that the store gives up can't be read.
    fn look(&mut self, store: &LogStore<'_, AnyOrder>) {
        for block in 0..self.rules.blocks {
            if let Some(place) = store.blocks.place_of(block) {
                self.holders[place as usize] = block;
                let knows_zones = self.step > 1 || !store.device.is_offline(store.address(place).0);
                assert!(knows_zones, "{block} is in a zone that was offline before");
            }
            let is_lost = store.blocks.is_lost(block);
            if is_lost && self.lost.insert(block) && self.step > 1 {
                let place = self.places[block as usize].expect("what has no place is not lost");
                let lba = store.address(place).0;
                let device = &store.device;
                assert!(device.bad.contains(&lba) || device.is_offline(lba), "{block}, at {place}");
            }
        }
    }

    /// The sectors of the host that a read finds. They are unknown where it waited to enter the device, and blocks moved.
    fn sectors_of(
        &self,
        part: &Request,
        asked: &Request,
        store: &LogStore<'_, AnyOrder>,
    ) -> Vec<Option<u64>> {
        let (block, asked) = (u64::from(BLOCK), self.covered(asked));
        let sector = |at: u64| {
            let owner = store.blocks.owner_of(place_of(at, store) as u32);
            let sector = owner.map(|owner| u64::from(owner) * block + at % block);
            sector.filter(|sector| asked.contains(sector))
        };
        let sectors: Vec<_> =
            (part.lba.0..part.lba.0 + u64::from(part.sectors)).map(sector).collect();
        assert!(store.device.depth < usize::MAX || sectors.iter().all(Option::is_some), "{part:?}");
        sectors
    }

    fn covered(&self, request: &Request) -> std::ops::Range<u64> {
        request.lba.0..request.lba.0 + u64::from(request.sectors)
    }

    /// A block as a write appends it: its own version, and around it what the block held.
    fn block_of(&self, job: &HostJob, id: u32, block: u32) -> [u32; BLOCK as usize] {
        let edge = job.edges.iter().flatten().find(|edge| edge.block == block);
        let read = edge.is_some_and(|edge| edge.source.is_some());
        let mut data = if read { self.old[&(id, block)] } else { [0; BLOCK as usize] };
        for (sector, version) in (u64::from(block * BLOCK)..).zip(&mut data) {
            if self.covered(&job.request).contains(&sector) {
                *version = job.request.tag;
            }
        }
        data
    }

    /// Whether a read between two steps may find this version of a sector.
    fn may_find(&self, sector: u64, version: u32, from: u64, to: u64) -> bool {
        let history = &self.history[sector as usize];
        let first = SectorChange { version: 0, from: 0, to: 0, failed: false };
        let is_gone = |change: &SectorChange| {
            let is_sure = |later: &&SectorChange| !later.failed;
            history.iter().filter(is_sure).any(|later| later.from > change.to && later.to < from)
        };
        let mut all = std::iter::once(&first).chain(history);
        all.any(|change| change.version == version && change.from <= to && !is_gone(change))
    }

    /// The sectors that a request changes.
    fn changed(&self, request: &Request) -> std::ops::Range<u64> {
        let (covered, block) = (self.covered(request), u64::from(BLOCK));
        match request.op {
            Op::Write => covered,
            Op::Trim => covered.start.next_multiple_of(block)..covered.end / block * block,
            _ => 0..0,
        }
    }

    fn ask(&mut self, request: &Request) {
        self.asked.insert(request.tag, (*request, self.step));
        let version = if request.op == Op::Write { request.tag } else { 0 };
        for sector in self.changed(request) {
            let change = SectorChange { version, from: self.step, to: u64::MAX, failed: false };
            self.history[sector as usize].push(change);
        }
    }

    fn answer(&mut self, done: &Completion) {
        assert_eq!(done.breakdown.total(), done.latency(), "{done:?}");
        let failed = done.outcome != Outcome::Done;
        let (request, from) = self.asked.remove(&done.request.tag).expect("it was asked");
        for sector in self.changed(&request) {
            let mut changes = self.history[sector as usize].iter_mut();
            let change = changes.find(|change| change.from == from).expect("it is a change");
            (change.to, change.failed) = (self.step, failed);
        }
        let mut blocks = AnyOrder::blocks_of(&request).map(|at| (at / u64::from(BLOCK)) as u32);
        let may_fail = match request.op {
            Op::Read => {
                self.failed.remove(&request.tag) || blocks.any(|block| self.lost.contains(&block))
            }
            Op::Write => self.any_faults,
            _ => false,
        };
        assert!(!failed || may_fail, "{done:?}");
        if request.op == Op::Flush {
            let mut writes = self.asked.values().filter(|(other, _)| other.op == Op::Write);
            assert!(writes.all(|&(_, came)| came > from), "a flush overtakes a write");
        }
        if request.op == Op::Read {
            let found = self.found.remove(&request.tag).unwrap_or_default();
            for (sector, version) in found {
                let fits = self.may_find(sector, version, from, self.step);
                assert!(fits, "{version} at {sector}: {:?}", self.history[sector as usize]);
            }
        }
    }

    /// One completion of the device.
    fn advance(&mut self, store: &mut LogStore<'_, AnyOrder>) -> Vec<Completion> {
        let next = store.device.inside.first_key_value().map(|(&at, _)| at);
        let due = store.translating.front().map(|&(at, _)| at);
        self.before(store);
        let limit = next.into_iter().chain(due).min().unwrap_or(SimTime::FOREVER);
        let mut done: Vec<Completion> = Vec::new();
        let advanced = store.advance_until(limit, &mut done);
        assert!(advanced != Advanced::Idle || self.asked.is_empty(), "a standstill");
        self.after(store);
        self.step += 1;
        for completion in &done {
            self.answer(completion);
        }
        done
    }

    /// What was lost can't be read.
    fn read_lost(&mut self, store: &mut LogStore<'_, AnyOrder>) {
        for block in
            (0..self.rules.blocks).filter(|&block| store.blocks.is_lost(block)).collect::<Vec<_>>()
        {
            let lba = Lba(u64::from(block * BLOCK));
            let request =
                Request { op: Op::Read, lba, sectors: BLOCK, stream: 0, tag: LAST, fua: false };
            self.ask(&request);
            store.submit(store.now(), request);
            self.after(store);
            let mut done = Vec::new();
            while !self.asked.is_empty() {
                done = self.advance(store);
            }
            assert_eq!(done[0].outcome, Outcome::Unreadable, "{block}");
        }
    }

    /// Every block is where its last version is.
    fn check_all(&self, store: &LogStore<'_, AnyOrder>) {
        for block in 0..self.rules.blocks {
            if store.blocks.is_lost(block) {
                continue;
            }
            let place = store.blocks.place_of(block);
            let data = place.map_or([0; BLOCK as usize], |place| self.flash[place as usize]);
            for (sector, &version) in (u64::from(block * BLOCK)..).zip(&data) {
                let fits = self.may_find(sector, version, self.step, self.step);
                assert!(fits, "{version} at {sector}: {:?}", self.history[sector as usize]);
            }
        }
    }
}

/// The place at an address of the device, as an index.
fn place_of(lba: u64, store: &LogStore<'_, AnyOrder>) -> usize {
    store.place_at(Lba(lba)) as usize
}

fn rules(more_zones: u32, random: &mut Stream) -> (LogRules, ZoneRules) {
    let pick =
        |random: &mut Stream, choices: &[u32]| choices[random.below(choices.len() as u64) as usize];
    let host_classes = pick(random, &[1, 1, 3]);
    let is_shared = host_classes == 1 && random.below(2) == 0;
    let classes = host_classes + u32::from(!is_shared);
    let zones = classes + 2 + pick(random, &[2, 6]) + more_zones;
    let orders = [CleaningOrder::Greedy, CleaningOrder::CostBenefit, CleaningOrder::Fifo];
    let capacity = Bytes(u64::from(ZONE_BLOCKS * BLOCK) * SECTOR_BYTES);
    let size = Bytes(capacity.0 * u64::from(pick(random, &[1, 2])));
    let shape = ZoneShape {
        count: zones,
        pages: ZONE_BLOCKS,
        groups: 1,
        conventional: 0,
        unit: u64::from(BLOCK) * SECTOR_BYTES,
        size: size.0,
    };
    let rules = LogRules {
        block_sectors: BLOCK,
        blocks: (zones - classes - 2 - more_zones) * ZONE_BLOCKS,
        zones,
        zone_blocks: ZONE_BLOCKS,
        zone_size: shape.size_sectors(),
        append_blocks: pick(random, &[1, 3, 8]),
        host_classes,
        is_shared,
        cleaning: orders[random.below(3) as usize],
        clean_below: pick(random, &[2, 3]),
        copies: pick(random, &[1, 4]),
        most_active: classes + pick(random, &[0, 2]),
        map_cost: Nanos(random.below(2) * 3),
    };
    let device = ZoneRules {
        shape,
        max_open: rules.most_active,
        max_active: rules.most_active,
        append_limit: u64::from(rules.append_blocks * BLOCK),
        cross_reads: false,
        window: None,
    };
    (rules, device)
}

fn some_request(tag: u32, sectors: u64, random: &mut Stream) -> Request {
    let op = match random.below(20) {
        0..5 => Op::Read,
        5..18 => Op::Write,
        18 => Op::Trim,
        _ => Op::Flush,
    };
    // Half of the requests go to a few blocks, so that they meet.
    let within = if random.below(2) == 0 { sectors } else { 40 };
    let lba = random.below(within);
    let length = (1 + random.below(24)).min(sectors - lba);
    let stream = random.below(5) as u32;
    Request { op, lba: Lba(lba), sectors: length as u32, stream, tag, fua: random.below(8) == 0 }
}

fn run(seed: u64, faults: Faults, prefilled: bool) -> LogCounts {
    let mut random = Stream::new(seed, "host.translation.model");
    let more_zones = if prefilled || faults.to_retire > 0 { 4 } else { 0 };
    let (rules, of_device) = rules(more_zones, &mut random);
    let mut device = AnyOrder::new(seed, of_device, faults, prefilled);
    let mut store = LogStore::new(&mut device, rules);
    store.measures(true);
    let sectors = store.capacity_sectors();
    let any_faults = prefilled
        || faults.refused.is_some()
        || faults.unreadable.is_some()
        || faults.to_retire > 0;
    let mut bench = LogBench::new(rules, any_faults);
    bench.after(&mut store);
    let mut coming: VecDeque<Request> =
        (1..=1200).map(|tag| some_request(tag, sectors, &mut random)).collect();
    while !coming.is_empty() || !bench.asked.is_empty() {
        bench.step += 1;
        if (bench.asked.len() as u64) < 1 + random.below(HOST_DEPTH)
            && let Some(request) = coming.pop_front()
        {
            bench.ask(&request);
            store.submit(store.now(), request);
            bench.after(&mut store);
        } else {
            bench.advance(&mut store);
        }
        store.audit().unwrap();
        assert!(bench.step < MOST_STEPS, "no end: {:?}", store.counts());
    }
    bench.check_all(&store);
    bench.read_lost(&mut store);
    store.counts()
}

fn sum(runs: impl Iterator<Item = LogCounts>) -> LogCounts {
    runs.fold(LogCounts::default(), |sum, counts| sum.plus(&counts))
}

#[test]
fn nothing_is_lost() {
    let sum = sum((0..60).map(|seed| run(seed, Faults::default(), false)));
    // The loads reach what is to be tested.
    assert!(sum.copied > 5_000 && sum.repeated > 50 && sum.waited > 500, "{sum:?}");
    assert_eq!((sum.lost, sum.retired), (0, 0));
}

#[test]
fn what_cannot_be_read_is_lost_alone() {
    let faults = Faults { unreadable: Some(50), ..Faults::default() };
    let sum = sum((0..60).map(|seed| run(seed, faults, seed % 3 == 0)));
    assert!(sum.lost > 100 && sum.cleaned > 500, "{sum:?}");
}

#[test]
fn refused_appends_cost_no_zone() {
    let faults = Faults { refused: Some(50), ..Faults::default() };
    let sum = sum((0..60).map(|seed| run(seed, faults, false)));
    assert!(sum.cleaned > 500 && sum.copied > 5_000, "{sum:?}");
    assert_eq!((sum.lost, sum.retired), (0, 0));
}

#[test]
fn zones_are_retired_one_by_one_until_none_is_left() {
    let all =
        Faults { unreadable: Some(100), refused: Some(100), retired: Some(150), to_retire: 3 };
    let few = sum((0..60).map(|seed| run(seed, all, false)));
    assert!(few.retired > 120 && few.cleaned > 500, "{few:?}");
    let to_the_end = Faults { to_retire: u32::MAX, ..all };
    let last = sum((0..60).map(|seed| run(seed, to_the_end, seed % 2 == 0)));
    assert!(last.retired > 4 * few.retired / 3 && last.lost > few.lost, "{last:?}");
}
