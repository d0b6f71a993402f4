//! The schemes of the papers as a naive model that only counts: on one plane, with one request after
//! another, the device makes the same merges of each kind, the same copies and the same erases, and
//! takes the sum of their times.
//!
//! The model follows the rules at the heads of the mappings, without any of their tables: blocks are
//! lists of what was written to them, and the current copy is looked up page by page.

use ftlab::device::{Device, assemble};
use ftlab::host::{Advanced, Host, Op};
use ftlab::units::SimTime;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

use super::{ERASE, ONE, PAGE, PROGRAM, READ, Small};
use crate::common::request;

/// A page: its data block, and its offset there.
type Page = (u32, u32);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Nowhere,
    Data,
    /// Which log block, and which page of it.
    Log(u32, usize),
}

/// A log block: what was written to its pages, from the first on. Some pages may be skipped.
#[derive(Clone, Debug)]
struct Log {
    name: u32,
    /// Set if it belongs to one data block alone.
    home: Option<u32>,
    pages: Vec<Option<Page>>,
    /// When it was last written.
    written: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    programs: u64,
    reclaims: u64,
    switch: u64,
    partial: u64,
    full: u64,
    copied: u64,
    moved: u64,
    erases: u64,
}

struct Model {
    small: Small,
    places: Vec<Vec<Place>>,
    /// By data block: the first page behind the programmed ones.
    next: Vec<Option<u32>>,
    /// In the order in which they were opened.
    logs: Vec<Log>,
    opened: u32,
    time: u64,
    counts: Counts,
}

/// What happens to a write.
enum Way {
    InPlace,
    /// To a page of a log block.
    To(u32, usize),
    Open(Option<u32>),
    Reclaim(u32),
}

impl Model {
    fn new(small: Small) -> Model {
        let full = small.start == "full";
        let (place, next) =
            if full { (Place::Data, Some(small.pages)) } else { (Place::Nowhere, None) };
        Model {
            places: vec![vec![place; small.pages as usize]; small.data as usize],
            next: vec![next; small.data as usize],
            logs: Vec::new(),
            opened: 0,
            time: 0,
            counts: Counts::default(),
            small,
        }
    }

    fn place(&self, (data, offset): Page) -> Place {
        self.places[data as usize][offset as usize]
    }

    fn put(&mut self, (data, offset): Page, place: Place) {
        self.places[data as usize][offset as usize] = place;
    }

    fn log(&self, name: u32) -> &Log {
        self.logs.iter().find(|log| log.name == name).expect("a log block")
    }

    fn is_full(&self, log: &Log) -> bool {
        log.pages.len() == self.small.pages as usize
    }

    /// The pages of a log block that hold current data.
    fn current(&self, log: &Log) -> Vec<Page> {
        let slots = log.pages.iter().enumerate();
        let held = slots.filter_map(|(at, page)| Some((at, (*page)?)));
        held.filter(|&(at, page)| self.place(page) == Place::Log(log.name, at))
            .map(|held| held.1)
            .collect()
    }

    /// Whether a log block can become the data block: all pages current, each in its place, from the first on.
    fn is_heir(&self, log: &Log) -> bool {
        let own = |at: u32| log.home.map(|data| (data, at));
        let in_place = (0..).zip(&log.pages).all(|(at, page)| page.is_some() && *page == own(at));
        in_place && self.current(log).len() == log.pages.len()
    }

    fn written_of(&self, data: u32) -> Vec<u32> {
        let pages = (0..self.small.pages).filter(|&at| self.place((data, at)) != Place::Nowhere);
        pages.collect()
    }

    fn in_place(&self, (data, offset): Page) -> bool {
        self.next[data as usize].is_none_or(|next| next <= offset)
    }

    fn homed(&self) -> impl Iterator<Item = &Log> {
        self.logs.iter().filter(|log| log.home.is_some())
    }

    fn chain(&self, data: u32) -> Vec<&Log> {
        self.homed().filter(|log| log.home == Some(data)).collect()
    }

    fn way(&self, page: Page) -> Way {
        match self.small.mapping {
            "bast" => self.bast(page),
            "nftl" => self.nftl(page),
            "fast" => self.fast(page),
            _ if self.in_place(page) => Way::InPlace,
            _ => self.shared(self.small.log),
        }
    }

    fn bast(&self, page: Page) -> Way {
        if let Some(own) = self.chain(page.0).first() {
            return match self.is_full(own) {
                true => Way::Reclaim(own.name),
                false => Way::To(own.name, own.pages.len()),
            };
        }
        if self.in_place(page) {
            return Way::InPlace;
        }
        let oldest = self.homed().min_by_key(|log| log.written);
        match oldest.filter(|_| self.logs.len() == self.small.log as usize) {
            Some(oldest) => Way::Reclaim(oldest.name),
            None => Way::Open(Some(page.0)),
        }
    }

    fn nftl(&self, page: Page) -> Way {
        let chain = self.chain(page.0);
        match chain.last() {
            Some(last) if last.pages.len() <= page.1 as usize => {
                return Way::To(last.name, page.1 as usize);
            }
            None if self.in_place(page) => return Way::InPlace,
            _ => {}
        }
        if self.logs.len() < self.small.log as usize {
            return Way::Open(Some(page.0));
        }
        // The longest chain; of equals, the one whose block was written longest ago.
        let oldest = |data| self.chain(data).iter().map(|log| log.written).min().expect("a chain");
        let homes = self.homed().filter_map(|log| log.home);
        let longest = homes.max_by_key(|&data| (self.chain(data).len(), u64::MAX - oldest(data)));
        Way::Reclaim(self.chain(longest.expect("a chain")).last().expect("a block").name)
    }

    fn fast(&self, page: Page) -> Way {
        let sequential = self.homed().next();
        if let Some(own) = sequential.filter(|log| log.home == Some(page.0)) {
            return match own.pages.len() == page.1 as usize {
                true => Way::To(own.name, own.pages.len()),
                false => Way::Reclaim(own.name),
            };
        }
        match (page.1, sequential) {
            _ if self.in_place(page) => Way::InPlace,
            (0, Some(other)) => Way::Reclaim(other.name),
            (0, None) => Way::Open(Some(page.0)),
            _ => self.shared(self.small.log - 1),
        }
    }

    /// To the end of a log of any pages.
    fn shared(&self, most: u32) -> Way {
        let blocks: Vec<_> = self.logs.iter().filter(|log| log.home.is_none()).collect();
        match blocks.last() {
            Some(last) if !self.is_full(last) => Way::To(last.name, last.pages.len()),
            Some(_) if blocks.len() as u32 == most => Way::Reclaim(blocks[0].name),
            _ => Way::Open(None),
        }
    }

    fn write(&mut self, page: Page) {
        self.time += 1;
        loop {
            match self.way(page) {
                Way::InPlace => {
                    self.next[page.0 as usize] = Some(page.1 + 1);
                    self.put(page, Place::Data);
                }
                Way::To(log, at) => self.append(log, at, page),
                Way::Open(home) => {
                    self.open(home);
                    continue;
                }
                Way::Reclaim(log) => {
                    self.reclaim(log);
                    continue;
                }
            }
            self.counts.programs += 1;
            return;
        }
    }

    fn open(&mut self, home: Option<u32>) {
        self.opened += 1;
        let log = Log { name: self.opened, home, pages: Vec::new(), written: self.time };
        self.logs.push(log);
    }

    fn append(&mut self, name: u32, at: usize, page: Page) {
        let time = self.time;
        let log = self.logs.iter_mut().find(|log| log.name == name).expect("a log block");
        log.pages.resize(at, None);
        log.pages.push(Some(page));
        log.written = time;
        self.put(page, Place::Log(name, at));
    }

    fn erase(&mut self, name: u32) {
        assert!(self.current(self.log(name)).is_empty());
        self.logs.retain(|log| log.name != name);
        self.counts.erases += 1;
    }

    fn reclaim(&mut self, victim: u32) {
        self.counts.reclaims += 1;
        let mut merges: Vec<u32> = Vec::new();
        for (data, _) in self.current(self.log(victim)) {
            if !merges.contains(&data) {
                merges.push(data);
            }
        }
        merges.truncate(self.small.throttle.map_or(usize::MAX, |most| most as usize));
        merges.iter().for_each(|&data| self.merge(data));
        if !self.logs.iter().any(|log| log.name == victim) {
            return;
        }
        for page in self.current(self.log(victim)) {
            let last = self.logs.iter().rfind(|log| log.home.is_none() && log.name != victim);
            let room = last.filter(|last| !self.is_full(last)).map(|last| last.name);
            let to = room.unwrap_or_else(|| {
                self.open(None);
                self.opened
            });
            let at = self.log(to).pages.len();
            self.append(to, at, page);
            self.counts.moved += 1;
        }
        self.erase(victim);
    }

    fn merge(&mut self, data: u32) {
        let written = self.written_of(data);
        let heir = self.chain(data).into_iter().find(|log| self.is_heir(log)).cloned();
        let there = heir.as_ref().map_or(0, |heir| heir.pages.len() as u32);
        let copied = written.iter().filter(|&&at| at >= there).count() as u64;
        match (&heir, copied) {
            (Some(_), 0) => self.counts.switch += 1,
            (Some(_), _) => self.counts.partial += 1,
            (None, _) => self.counts.full += 1,
        }
        self.counts.copied += copied;
        for &offset in &written {
            self.put((data, offset), Place::Data);
        }
        self.counts.erases += u64::from(self.next[data as usize].is_some());
        self.next[data as usize] = written.last().map(|last| last + 1);
        if let Some(heir) = heir {
            self.logs.retain(|log| log.name != heir.name);
        }
        let spent: Vec<u32> = self.chain(data).iter().map(|log| log.name).collect();
        spent.into_iter().for_each(|log| self.erase(log));
    }

    fn time(&self) -> u64 {
        let Counts { programs, copied, moved, erases, .. } = self.counts;
        programs * PROGRAM + (copied + moved) * (READ + PROGRAM) + erases * ERASE
    }
}

/// The device's counters.
fn counts(device: &Device) -> Counts {
    let merges = device.merger().expect("a log is merged").counts();
    Counts {
        programs: device.ftl_counts().host_pages,
        reclaims: merges.reclaims,
        switch: merges.switch,
        partial: merges.partial,
        full: merges.full,
        copied: merges.copied,
        moved: merges.moved,
        erases: device.ftl().blocks().all_erases().map(u64::from).sum(),
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// This many pages in order, from a share of the device in 1/65536 on, perhaps from the start of a data block.
    Write {
        place: u32,
        aligned: bool,
        pages: u32,
    },
    Trim {
        place: u32,
    },
}

/// The pages of a step, in order.
fn pages(small: &Small, step: Step) -> std::ops::Range<u32> {
    let all = small.data * small.pages;
    let at = |place: u32| (u64::from(place) * u64::from(all) / 65_536) as u32;
    match step {
        Step::Write { place, aligned, pages } => {
            let first = if aligned { at(place) / small.pages * small.pages } else { at(place) };
            first..(first + pages).min(all)
        }
        Step::Trim { place } => at(place)..at(place) + 1,
    }
}

fn compare(small: Small, steps: &[Step]) -> Counts {
    let mut model = Model::new(small);
    let mut device = assemble(small.setup());
    let sectors = PAGE / 512;
    for &step in steps {
        let op = if matches!(step, Step::Write { .. }) { Op::Write } else { Op::Trim };
        for page in pages(&small, step) {
            let at = (page / small.pages, page % small.pages);
            match op {
                Op::Write => model.write(at),
                _ => model.put(at, Place::Nowhere),
            }
            device.submit(device.now(), request(op, u64::from(page) * sectors, sectors as u32, 0));
            while device.advance_until(SimTime::FOREVER, &mut Vec::new()) != Advanced::Idle {}
            assert_eq!(counts(&device), model.counts, "{page} of {small:?}");
            assert_eq!(device.now().0, model.time(), "{page} of {small:?}");
        }
    }
    assert_eq!(device.audit(), Ok(()));
    model.counts
}

fn small() -> impl Strategy<Value = Small> {
    let policies = (
        select(vec!["log-block", "bast", "fast", "nftl"]),
        select(vec![None, Some(1), Some(2)]),
        select(vec!["own", "lock-step"]),
        select(vec!["empty", "full"]),
    );
    let shape = (4u32..=9, 3u32..=8, 2u32..=4);
    (policies, shape).prop_map(|((mapping, throttle, clocks, start), (pages, data, log))| Small {
        mapping,
        throttle,
        clocks,
        start,
        pages,
        data,
        log: log.min(data),
        ..ONE
    })
}

fn step() -> impl Strategy<Value = Step> {
    let place = || prop_oneof![0u32..65_536, 0u32..16_384];
    let write = (place(), any::<bool>(), prop_oneof![3 => Just(1u32), 1 => 2u32..=12]);
    prop_oneof![
        12 => write.prop_map(|(place, aligned, pages)| Step::Write { place, aligned, pages }),
        1 => place().prop_map(|place| Step::Trim { place }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600,
        rng_seed: RngSeed::Fixed(3),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_device_counts_what_the_papers_schemes_do(
        small in small(),
        steps in proptest::collection::vec(step(), 200),
    ) {
        compare(small, &steps);
    }
}

/// The random runs meet merges of every kind, for every mapping that has them.
#[test]
fn every_scheme_makes_merges_of_its_kinds() {
    let mut stream = ftlab::engine::Stream::new(1, "steps");
    let steps: Vec<Step> = (0..400)
        .map(|_| Step::Write {
            place: stream.below(65_536) as u32,
            aligned: stream.below(2) == 0,
            pages: 1 + stream.below(8) as u32,
        })
        .collect();
    for mapping in ["log-block", "bast", "fast", "nftl"] {
        let small = Small { mapping, pages: 6, data: 8, log: 3, ..ONE };
        let counts = compare(small, &steps);
        let throttled = compare(Small { throttle: Some(1), ..small }, &steps);
        println!("{mapping}: {counts:?}; moved under a throttle: {}", throttled.moved);
        let has_homes = mapping != "log-block";
        let has_shared = matches!(mapping, "log-block" | "fast");
        assert!(counts.full > 20 && (counts.switch > 5 && counts.partial > 5) == has_homes);
        assert_eq!(throttled.moved > 20, has_shared);
    }
}
