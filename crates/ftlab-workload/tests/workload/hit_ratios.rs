//! Hits and misses of LRU, FIFO and 2Q agree exactly with plain lists that know nothing of flash,
//! on the example trace and, if available, on real ones.
//!
//! Each request starts after the one before has finished, so no page is being written back when it starts. The lists
//! then need to model only this of the device: pages of a write that are present, or fit, enter first; the remaining
//! pages are evicted one by one, and a waiting page enters as each write-back finishes; a page is read from the
//! buffer only if all requested sectors are present.
//!
//! The folder of real traces is `$FTLAB_TRACES`, or `../shared/traces` beside the workspace;
//! without it the test says so.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::host::{Advanced, Host, Op, Request};
use ftlab::units::{Lba, SimTime};
use ftlab_workload::trace::{self, Location, Record, SpaceUnit};

/// Sectors per page.
const SECTORS: u64 = 8;
/// Requests used of each trace.
const REQUESTS: usize = 50_000;
/// Buffer sizes in pages; some requests are larger than the smallest.
const SIZES: [usize; 3] = [12, 200, 1_000];

/// Hits and misses of writes, then of reads.
type Counts = [u64; 4];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    Lru,
    Fifo,
    TwoQ,
}

/// A cache made of plain lists, oldest first.
struct Lists {
    rule: Rule,
    capacity: usize,
    /// All pages; for 2Q, the pages seen once.
    pages: Vec<u64>,
    /// For 2Q: pages seen again, and pages that left recently.
    again: Vec<u64>,
    left: Vec<u64>,
    /// The sectors present in each page.
    sectors: BTreeMap<u64, u8>,
    counts: Counts,
}

impl Lists {
    fn new(rule: Rule, capacity: usize) -> Lists {
        let (pages, again, left) = Default::default();
        Lists { rule, capacity, pages, again, left, sectors: BTreeMap::new(), counts: [0; 4] }
    }

    fn used(&mut self, page: u64) {
        let list = match self.rule {
            Rule::Fifo => return,
            Rule::Lru => &mut self.pages,
            Rule::TwoQ => &mut self.again,
        };
        if let Some(at) = list.iter().position(|&other| other == page) {
            list.remove(at);
            list.push(page);
        }
    }

    fn comes(&mut self, page: u64, sectors: u8) {
        self.counts[1] += 1;
        self.sectors.insert(page, sectors);
        match self.left.iter().position(|&other| other == page) {
            Some(at) => {
                self.left.remove(at);
                self.again.push(page);
            }
            None => self.pages.push(page),
        }
    }

    /// Evicts the next page.
    fn goes(&mut self) {
        let all = self.pages.len() + self.again.len();
        let once =
            self.rule != Rule::TwoQ || self.again.is_empty() || self.pages.len() > all * 25 / 100;
        let page = if once { self.pages.remove(0) } else { self.again.remove(0) };
        self.sectors.remove(&page);
        if self.rule == Rule::TwoQ && once {
            self.left.push(page);
            if self.left.len() > self.capacity / 2 {
                self.left.remove(0);
            }
        }
    }

    fn write(&mut self, spans: impl Iterator<Item = (u64, u8)>) {
        let mut waiting = VecDeque::new();
        for (page, sectors) in spans {
            if let Some(there) = self.sectors.get_mut(&page) {
                *there |= sectors;
                self.counts[0] += 1;
                self.used(page);
            } else if waiting.is_empty() && self.sectors.len() < self.capacity {
                self.comes(page, sectors);
            } else {
                waiting.push_back((page, sectors));
            }
        }
        let mut on_their_way = 0;
        while !waiting.is_empty() {
            let free = |lists: &Lists| lists.capacity - lists.sectors.len() - on_their_way;
            if waiting.len() > on_their_way + free(self) && !self.sectors.is_empty() {
                self.goes();
                on_their_way += 1;
                continue;
            }
            on_their_way -= 1;
            let (page, sectors) = waiting.pop_front().expect("somebody waits");
            self.comes(page, sectors);
        }
    }

    fn read(&mut self, spans: impl Iterator<Item = (u64, u8)>) {
        for (page, wanted) in spans {
            let hit = self.sectors.get(&page).is_some_and(|there| there & wanted == wanted);
            self.counts[if hit { 2 } else { 3 }] += 1;
            if hit {
                self.used(page);
            }
        }
    }
}

/// Returns the pages of a request, with a bit for each sector.
fn spans(record: &Record) -> impl Iterator<Item = (u64, u8)> + use<> {
    let (first, end) = (record.lba.0, record.end());
    (first / SECTORS..end.div_ceil(SECTORS)).map(move |page| {
        let sectors =
            (0..SECTORS).filter(|sector| (first..end).contains(&(page * SECTORS + sector)));
        (page, sectors.fold(0, |mask, sector| mask | 1 << sector))
    })
}

/// Returns the first reads and writes of a trace, with touched pages packed together.
fn records(file: &Path, options: trace::Options) -> Vec<Record> {
    let location = Location::File(file.to_owned());
    let mut trace = trace::open(location, options).unwrap_or_else(|error| panic!("{error}"));
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while all.len() < REQUESTS && trace.next_batch(&mut batch).expect("readable") {
        all.extend(batch.iter().filter(|record| matches!(record.op, Op::Read | Op::Write)));
    }
    all.truncate(REQUESTS);
    let touched: BTreeSet<u64> = all.iter().flat_map(spans).map(|(page, _)| page).collect();
    let touched: Vec<u64> = touched.into_iter().collect();
    for record in &mut all {
        let page = touched.partition_point(|page| *page < record.lba.0 / SECTORS) as u64;
        record.lba = Lba(page * SECTORS + record.lba.0 % SECTORS);
    }
    all
}

fn device(rule: Rule, capacity: usize, pages: u64) -> Device {
    // A block on each of the 8 planes holds 160 pages of the host.
    let blocks = (pages / 160 + 2).max(20);
    let policy = format!("{rule:?}").to_lowercase().replace("twoq", "2q");
    let sets = [
        format!("nand.blocks_per_plane={blocks}"),
        "ftl.over_provisioning=60%".to_owned(),
        format!("cache.policy={policy}"),
        format!("cache.capacity={}KiB", capacity * 4),
        "cache.write_back_start=100%".to_owned(),
        "cache.programs_per_die=4096".to_owned(),
    ];
    let sets = sets.iter().zip(1..).map(|(set, number)| Layer::set(number, set));
    let layers: Vec<_> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
    let config = Config::load(&layers).unwrap_or_else(|error| panic!("{error}"));
    assemble(DeviceSetup::new(&config, 1))
}

fn on_device(mut device: Device, records: &[Record]) -> Counts {
    let mut done = Vec::new();
    for (record, tag) in records.iter().zip(0..) {
        let &Record { op, lba, sectors, .. } = record;
        device.submit(device.now(), Request { op, lba, sectors, stream: 0, tag, fua: false });
        while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    }
    assert_eq!(done.len(), records.len());
    let counts = device.buffer_counts();
    [counts.write_hits, counts.write_misses, counts.read_hits, counts.read_misses]
}

fn on_lists(rule: Rule, capacity: usize, records: &[Record]) -> Counts {
    let mut lists = Lists::new(rule, capacity);
    for record in records {
        match record.op {
            Op::Write => lists.write(spans(record)),
            _ => lists.read(spans(record)),
        }
    }
    lists.counts
}

fn compare(name: &str, records: &[Record]) {
    let pages = records.iter().map(|record| record.end().div_ceil(SECTORS)).max().unwrap_or(0);
    // If all rules behave alike, the test shows nothing.
    let mut differ = [false; 3];
    for capacity in SIZES {
        let all = [Rule::Lru, Rule::Fifo, Rule::TwoQ].map(|rule| {
            let seen = on_device(device(rule, capacity, pages), records);
            println!("{name}, {capacity} pages, {rule:?}: {seen:?}");
            assert_eq!(seen, on_lists(rule, capacity, records), "{name}, {capacity}, {rule:?}");
            seen
        });
        let [lru, fifo, two_q] = all;
        let differ_here = [lru != fifo, lru != two_q, fifo != two_q];
        (0..3).for_each(|pair| differ[pair] |= differ_here[pair]);
    }
    assert_eq!(differ, [true; 3], "{name}: rules do the same at all sizes");
}

#[test]
fn hits_and_misses_are_those_of_plain_lists() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traces/office-20k.csv.gz");
    compare("office", &records(Path::new(example), trace::Options::default()));
}

#[test]
fn hits_and_misses_on_real_traces_are_those_of_plain_lists() {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let folder = std::env::var_os("FTLAB_TRACES").map_or_else(beside, PathBuf::from);
    if !folder.is_dir() {
        return println!("skipped: no traces at {} (set FTLAB_TRACES)", folder.display());
    }
    for (file, size_unit) in [
        ("msr-prxy_0-20k.csv", None),
        ("msr-hm_0-cut-a.csv", None),
        ("financial1-50k.disksim", Some(SpaceUnit::Page4k)),
    ] {
        let options = trace::Options { size_unit, ..trace::Options::default() };
        compare(file, &records(&folder.join(file), options));
    }
}

/// Hits counted by libCacheSim (Python package libcachesim 0.3.5, `LRU` and `FIFO`), by capacity in pages: 50,000
/// requests of one object each, drawn as below. Its `TwoQ` is a different algorithm: it splits the capacity into two
/// fixed parts, while the paper gives all remaining room to pages seen once (12 pages: 5,192 hits there, 5,277 here).
const OF_LIBCACHESIM: [(usize, [(Rule, u64); 2]); 3] = [
    (12, [(Rule::Lru, 2_082), (Rule::Fifo, 1_803)]),
    (200, [(Rule::Lru, 10_093), (Rule::Fifo, 9_113)]),
    (1_000, [(Rule::Lru, 22_757), (Rule::Fifo, 20_935)]),
];

/// Returns writes of one page each to 5,000 pages, the first ones far more often. Uses only
/// integers, so that every language draws the same.
fn skewed_writes() -> Vec<Record> {
    const PAGES: u128 = 5_000;
    let mut state = 1_u64;
    let draw = |at: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let even = u128::from(state >> 40);
        let page = u64::try_from((even * even * even * PAGES) >> 72).expect("below the pages");
        Record {
            at: SimTime(at),
            op: Op::Write,
            lba: Lba(page * SECTORS),
            sectors: SECTORS as u32,
            stream: 0,
            fua: false,
        }
    };
    (0..50_000).map(draw).collect()
}

#[test]
fn hits_are_those_of_libcachesim() {
    let records = skewed_writes();
    for (capacity, of_rules) in OF_LIBCACHESIM {
        for (rule, expected) in of_rules {
            let [hits, misses, ..] = on_device(device(rule, capacity, 5_000), &records);
            assert_eq!(hits + misses, 50_000);
            assert_eq!(hits, expected, "{rule:?}, {capacity} pages");
        }
    }
}
