//! A map on flash, partly in memory (`ftl.mapping.policy = "dftl"`): with all of it in memory it
//! equals the page map to the nanosecond; its hit ratio is that of LRU; its latencies follow a closed
//! form; it writes back what a naive table writes back.

use ftlab::device::{Device, assemble, power_up};
use ftlab::engine::Stream;
use ftlab::ftl::mapping::dftl::{Cause, DemandCounts};
use ftlab::host::{Advanced, Completion, Host, Op, Request};
use ftlab::scheduler::{Kind, Origin};
use ftlab::units::{Nanos, SimTime};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::common::random::Step;
use crate::common::{
    PROGRAM, READ, Spec, alone, assert_no_standstill, closed_loop, fill, ns, on_demand, request,
};
use crate::contents::cases;

/// Performs steps, at most `depth` at once, until the device is idle.
fn perform(spec: &Spec, depth: usize, steps: &[Step]) -> (Device, Vec<Completion>) {
    let mut device = assemble(spec.setup());
    let capacity = device.capacity_sectors();
    let mut done = Vec::new();
    for (tag, step) in (0u32..).zip(steps) {
        while device.requests_in_flight() >= depth {
            if device.advance_until(SimTime::FOREVER, &mut done) == Advanced::Idle {
                assert_no_standstill(&device);
            }
        }
        let until = device.now() + step.pause;
        while device.advance_until(until, &mut done) == Advanced::Completed {}
        let range = step.range(capacity, spec.sectors_per_page());
        let sectors = (range.end - range.start) as u32;
        let request = request(step.op, range.start, sectors, tag);
        device.submit(device.now(), Request { stream: tag / 3, ..request });
    }
    while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    assert_no_standstill(&device);
    (device, done)
}

fn counts(device: &Device) -> DemandCounts {
    *device.ftl().map_on_flash().expect("the map lies on flash").counts()
}

proptest! {
    #![proptest_config(cases())]

    /// Every request ends at the same time, with the same breakdown, after the same commands.
    #[test]
    fn with_all_of_it_in_memory_it_is_the_page_map((spec, depth, steps) in on_demand::run(400)) {
        // A map in memory takes no blocks: the two devices are equally full.
        let pages = spec.logical_pages();
        let all = on_demand::cached(spec.clone(), pages);
        let page = on_demand::in_memory(spec);
        prop_assert_eq!((all.logical_pages(), page.logical_pages()), (pages, pages));
        let (on_flash, got) = perform(&all, depth, &steps);
        let (in_memory, expected) = perform(&page, depth, &steps);
        prop_assert_eq!(got, expected);
        prop_assert_eq!(on_flash.now(), in_memory.now());
        prop_assert_eq!(on_flash.flash().done(), in_memory.flash().done());
        prop_assert_eq!(on_flash.ftl_counts(), in_memory.ftl_counts());
        prop_assert_eq!(on_flash.buffer_counts(), in_memory.buffer_counts());
        let DemandCounts { evicted, reads, programs, .. } = counts(&on_flash);
        prop_assert_eq!((evicted, reads, programs), Default::default());
    }
}

/// The random devices of these tests exercise what they are for.
#[test]
fn random_devices_page_their_map() {
    let config = ProptestConfig { rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let mut all = DemandCounts::default();
    let mut parted = 0;
    for _ in 0..1_200 {
        let tree = on_demand::run(400).new_tree(&mut runner).expect("a run");
        let (spec, depth, steps) = tree.current();
        let (device, _) = perform(&spec, depth, &steps);
        assert_eq!(device.audit(), Ok(()));
        let counts = counts(&device);
        let loads = counts.reads[0] + counts.reads[1];
        parted += u32::from(loads > counts.read_misses + counts.write_misses);
        all = all.plus(&counts);
    }
    println!("{all:?}, {parted} parted");
    let DemandCounts { shared, unwritten, write_backs, batched, reinserted, lazy, .. } = all;
    let enough =
        [shared, unwritten, write_backs, batched, reinserted, lazy, all.blocks, all.copies];
    assert!(enough.iter().all(|&count| count > 100), "{all:?}");
    // Power is not cut here.
    let recovery = Cause::Recovery as usize;
    assert!(all.reads[..recovery].iter().all(|&count| count > 100), "{all:?}");
    assert!(all.programs[2..recovery].iter().all(|&count| count > 100), "{all:?}");
}

/// Pages of 2 KiB, so that a translation page holds 512 entries; everything was written and then
/// read, so nothing in memory differs from flash.
fn settled(pages: u32, cache: u32, with_host: u32) -> Device {
    let spec = Spec::small().with(
        "nand.page_size = 2KiB
        nand.blocks_per_plane = 250
        nand.pages_per_block = 64",
    );
    let spec = lent(on_demand::cached(spec, cache), with_host).holding(pages);
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..pages, SECTORS);
    closed_loop(&mut device, 1, (0..pages).map(|page| whole(Op::Read, page)));
    device
}

/// How long a read of the host's memory takes.
const ROUND_TRIP: Nanos = Nanos(700);

/// The device with room for so many entries in the host's memory, or none.
fn lent(spec: Spec, entries: u32) -> Spec {
    match entries {
        0 => spec,
        _ => spec
            .set("ftl.mapping.host_memory", format!("{}B", entries * 8))
            .set("ftl.mapping.host_memory_latency", ns(ROUND_TRIP)),
    }
}

/// Sectors of such a page, and its transfer.
const SECTORS: u32 = 4;
const TRANSFER: Nanos = Nanos(5_000);

fn whole(op: Op, page: u32) -> Request {
    request(op, u64::from(page) * u64::from(SECTORS), SECTORS, 0)
}

/// Entries by use, the least recently used first, and which of them differ from flash; naive on purpose.
#[derive(Default)]
struct Naive {
    capacity: usize,
    /// The last so many that were used are in the controller's memory, the others in the host's.
    own: usize,
    entries: Vec<(u32, bool)>,
    hits: u64,
    misses: u64,
    write_backs: u64,
    batched: u64,
    /// Entries that were written back and lay with the host.
    read_for_updates: u64,
}

impl Naive {
    const PER_PAGE: u32 = 512;

    fn new(own: u32, with_host: u32) -> Naive {
        let capacity = (own + with_host) as usize;
        Naive { capacity, own: own as usize, ..Naive::default() }
    }

    /// How long it takes to have the entry of `page`.
    fn wait(&self, page: u32) -> Nanos {
        match self.entries.iter().rev().position(|entry| entry.0 == page) {
            Some(used_since) if used_since < self.own => Nanos::ZERO,
            Some(_) => ROUND_TRIP,
            None => READ + TRANSFER,
        }
    }

    /// Returns whether the entry of `page` was in memory, and whether another one had to be written back.
    fn uses(&mut self, page: u32, writes: bool) -> (bool, bool) {
        let found = self.entries.iter().position(|&(held, _)| held == page);
        let (mut dirty, mut written) = (writes, false);
        match found {
            Some(at) => {
                self.hits += 1;
                dirty |= self.entries.remove(at).1;
            }
            None => {
                self.misses += 1;
                if self.entries.len() == self.capacity {
                    let (gone, differs) = self.entries.remove(0);
                    written = differs;
                    self.write_backs += u64::from(differs);
                    self.read_for_updates += u64::from(differs && self.own < self.capacity);
                    let of = gone / Naive::PER_PAGE;
                    // The new entry, which is not in the list yet, is the controller's.
                    let held = (0..).zip(self.entries.iter_mut().rev());
                    for (used_since, entry) in held.filter(|_| differs) {
                        if entry.0 / Naive::PER_PAGE == of && std::mem::take(&mut entry.1) {
                            self.batched += 1;
                            self.read_for_updates += u64::from(used_since + 1 >= self.own);
                        }
                    }
                }
            }
        }
        self.entries.push((page, dirty));
        (found.is_some(), written)
    }
}

/// Draws pages with probabilities that fall with a power of their rank; ranks are scattered over the pages.
struct Zipf {
    cumulative: Vec<f64>,
    stream: Stream,
}

impl Zipf {
    fn new(pages: u32, exponent: f64) -> Zipf {
        let mut sum = 0.0;
        let weights = (1..=pages).map(|rank| libm::pow(f64::from(rank), -exponent));
        let mut cumulative: Vec<f64> = weights
            .map(|weight| {
                sum += weight;
                sum
            })
            .collect();
        cumulative.iter_mut().for_each(|value| *value /= sum);
        Zipf { cumulative, stream: Stream::new(1, "zipf") }
    }

    fn probabilities(&self) -> impl Iterator<Item = f64> {
        let before = std::iter::once(0.0).chain(self.cumulative.iter().copied());
        self.cumulative.iter().zip(before).map(|(value, before)| value - before)
    }

    fn page(&mut self) -> u32 {
        let (pages, drawn) = (self.cumulative.len(), self.stream.unit());
        let rank = self.cumulative.partition_point(|&value| value < drawn).min(pages - 1);
        // 1031 is prime, and the number of pages no multiple of it.
        (rank * 1_031 % pages) as u32
    }

    /// The hit ratio of LRU with this many places (Che, Tung and Wang, IEEE JSAC 2002): a page is there
    /// if it was used within the characteristic time, in which as many pages are used as fit.
    fn che(&self, places: f64) -> f64 {
        let there = |p: f64, time: f64| 1.0 - libm::exp(-p * time);
        let filled = |time| self.probabilities().map(|p| there(p, time)).sum::<f64>();
        let (mut low, mut high) = (0.0, 1e7);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            *(if filled(middle) < places { &mut low } else { &mut high }) = middle;
        }
        self.probabilities().map(|p| p * there(p, low)).sum()
    }
}

const PAGES: u32 = 2_000;

/// One at a time, a read takes the time of its page, plus that of its translation page on a miss, or of a round trip for an
/// entry that the host holds;
/// hits match LRU read for read, and their ratio matches theory.
#[test]
fn reads_of_a_zipf_load_hit_as_in_lru_and_take_as_long_as_they_must() {
    const READS: u32 = 30_000;
    for (own, with_host) in [(20, 0), (100, 0), (500, 0), (20, 80), (8, 492)] {
        let mut device = settled(PAGES, own, with_host);
        let cache = own + with_host;
        let (mut zipf, mut naive) = (Zipf::new(PAGES, 0.9), Naive::new(own, with_host));
        // What the pass over all pages left in memory.
        (PAGES - cache..PAGES).for_each(|page| _ = naive.uses(page, false));
        naive.misses = 0;
        let before = counts(&device);
        for _ in 0..READS {
            let page = zipf.page();
            let done = alone(&mut device, whole(Op::Read, page));
            let waited = naive.wait(page);
            naive.uses(page, false);
            assert_eq!(done.breakdown.translation, waited);
            assert_eq!(done.latency(), waited + READ + TRANSFER);
        }
        let counts = counts(&device).since(&before);
        let hits = counts.read_hits + counts.from_host;
        assert_eq!((hits, counts.read_misses), (naive.hits, naive.misses));
        assert_eq!(counts.from_host > 0, with_host > 0);
        assert_eq!(counts.reads.iter().sum::<u64>(), naive.misses);
        let (hits, theory) = (naive.hits as f64 / f64::from(READS), zipf.che(cache.into()));
        println!("{cache} entries of {PAGES}: {hits:.4} hit, {theory:.4} in theory");
        assert!((hits - theory).abs() < 0.01, "{hits} and {theory}");
    }
}

/// The same with writes, one at a time: which entries are written back, which go along with them, and
/// what a request waits for.
#[test]
fn what_is_written_back_is_what_a_naive_table_writes_back() {
    for (own, with_host) in [(1, 0), (3, 0), (40, 0), (400, 0), (8, 8), (8, 32), (100, 300)] {
        let mut device = settled(PAGES, own, with_host);
        let cache = own + with_host;
        let (mut zipf, mut naive) = (Zipf::new(PAGES, 0.7), Naive::new(own, with_host));
        (PAGES - cache..PAGES).for_each(|page| _ = naive.uses(page, false));
        naive.misses = 0;
        let (before, erased) = (counts(&device), device.ftl_counts().gc_runs);
        let mut stream = Stream::new(2, "writes");
        for _ in 0..1_500 {
            let (page, writes) = (zipf.page(), stream.below(3) == 0);
            let op = if writes { Op::Write } else { Op::Read };
            let done = alone(&mut device, whole(op, page));
            let load = naive.wait(page);
            let (_, written) = naive.uses(page, writes);
            // Reading the old copy, then programming the new one.
            let write_back = Nanos(if written { READ.0 + PROGRAM.0 + 2 * TRANSFER.0 } else { 0 });
            assert_eq!(done.breakdown.translation, load + write_back);
        }
        assert_eq!(device.ftl_counts().gc_runs, erased, "collection changes entries, too");
        let counts = counts(&device).since(&before);
        let hits = counts.read_hits + counts.write_hits + counts.from_host;
        let misses = counts.read_misses + counts.write_misses;
        assert_eq!((hits, misses), (naive.hits, naive.misses));
        assert_eq!((counts.write_backs, counts.batched), (naive.write_backs, naive.batched));
        assert_eq!(counts.updates_from_host, naive.read_for_updates);
        assert_eq!(counts.updates_from_host > 0, with_host > 0);
        assert_eq!(counts.programmed(), naive.write_backs);
        assert_eq!(counts.reads.iter().sum::<u64>(), naive.misses + naive.write_backs);
        assert!(naive.write_backs > 0 && (cache < 40 || naive.batched > 0));
    }
}

/// Pages of one request with entries in one translation page wait for a single read of it, and are then
/// read together if they share a flash page.
#[test]
fn misses_in_one_translation_page_share_its_read() {
    let spec = on_demand::cached(Spec::small().set("nand.page_size", "16KiB"), 8);
    let spec = spec.holding(96);
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..24, 32);
    let done = |device: &Device| device.flash().done()[Origin::Host as usize][Kind::Read as usize];
    alone(&mut device, request(Op::Read, 20 * 32, 32, 0));
    let (before, reads) = (counts(&device), done(&device));
    // Four pages on one flash page, with no entry in memory.
    alone(&mut device, request(Op::Read, 0, 32, 0));
    let counts = counts(&device).since(&before);
    assert_eq!((counts.read_misses, counts.shared), (4, 3));
    let written_back = counts.reads[2];
    assert_eq!((counts.reads[0], done(&device) - reads), (1, 2 + written_back));
}

/// The same with entries in the host's memory. Nothing is read for them.
#[test]
fn entries_of_the_host_for_one_flash_page_share_its_read() {
    let spec = on_demand::cached(Spec::small().set("nand.page_size", "16KiB"), 8);
    let spec = lent(spec.holding(96), 88).set("host.link.interface", "pcie-3x4");
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..24, 32);
    let done = |device: &Device| device.flash().done()[Origin::Host as usize][Kind::Read as usize];
    let (before, reads) = (counts(&device), done(&device));
    alone(&mut device, request(Op::Read, 0, 32, 0));
    let counts = counts(&device).since(&before);
    assert_eq!((counts.from_host, counts.read_misses, done(&device) - reads), (4, 0, 1));
}

/// Reads of a page whose entry is being fetched wait for it like the first one: none of them hits.
#[test]
fn an_entry_being_fetched_is_no_hit() {
    let spec = on_demand::cached(Spec::small(), 4);
    let mut device = assemble(spec.setup());
    let sectors = spec.sectors_per_page();
    fill(&mut device, 1, 0..24, sectors);
    let read = |page: u32| request(Op::Read, u64::from(page * sectors), sectors, page);
    closed_loop(&mut device, 1, (10..14).map(read));
    let before = counts(&device);
    closed_loop(&mut device, 16, (0..16).map(|tag| Request { tag, ..read(0) }));
    let at_once = counts(&device).since(&before);
    assert_eq!((at_once.read_hits, at_once.read_misses, at_once.shared), (0, 16, 15));
    assert_eq!(at_once.reads[0], 1, "one read for all of them");
    alone(&mut device, read(0));
    let later = counts(&device).since(&before);
    assert_eq!((later.read_hits, later.read_misses), (1, 16));
}

/// The next page is not read ahead while its entry is being fetched, but is once the entry is known.
#[test]
fn read_ahead_does_not_see_an_entry_being_fetched() {
    let spec = Spec::small().with(
        "nand.channels = 4
        cache.read.policy = lru
        cache.read.capacity = 4KiB
        cache.read.ahead = 1",
    );
    let spec = on_demand::cached(spec, 4);
    let mut device = assemble(spec.setup());
    let sectors = spec.sectors_per_page();
    fill(&mut device, 1, 0..24, sectors);
    let read = |page: u32| request(Op::Read, u64::from(page * sectors), sectors, page);
    closed_loop(&mut device, 1, [10, 11, 12, 13, 0, 12].map(read));
    let ahead = |device: &Device| device.reads().counts().read_ahead;
    let (before, ahead_before) = (counts(&device), ahead(&device));
    closed_loop(&mut device, 2, [1, 0].map(read));
    let found = counts(&device).since(&before);
    assert_eq!((found.read_hits, found.read_misses), (1, 1), "one known, one fetched");
    assert_eq!(ahead(&device), ahead_before);
    alone(&mut device, read(12));
    let ahead_before = ahead(&device);
    alone(&mut device, read(0));
    assert_eq!(ahead(&device), ahead_before + 1);
}

/// A device with room for eight entries, and for eight more in the host's memory, that holds those of pages 8 to 23.
fn lending(sets: &[(&str, &str)]) -> Device {
    let spec = lent(on_demand::cached(Spec::small().set("nand.channels", 4), 8), 8);
    let spec = sets.iter().fold(spec, |spec, (path, value)| spec.set(path, value));
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..24, 8);
    closed_loop(&mut device, 1, (8..24).map(|page| request(Op::Read, page * 8, 8, 0)));
    device
}

/// How long reads of these pages, submitted at once, waited for their entries.
fn waits(device: &mut Device, pages: &[u64]) -> Vec<u64> {
    let reads = (0..).zip(pages).map(|(tag, page)| request(Op::Read, page * 8, 8, tag));
    let mut done = closed_loop(device, pages.len(), reads);
    assert!(done.iter().all(|done| done.breakdown.total() == done.latency()));
    done.sort_by_key(|done| done.request.tag);
    done.iter().map(|done| done.breakdown.translation.0).collect()
}

#[test]
fn round_trips_to_the_host_overlap() {
    let mut device = lending(&[]);
    let before = counts(&device);
    // Page 23 was used last; 8 to 11 longest ago. Two reads share what the first one fetches.
    assert_eq!(waits(&mut device, &[23, 8, 9, 8]), [0, 700, 700, 700]);
    let found = counts(&device).since(&before);
    assert_eq!((found.read_hits, found.from_host, found.read_misses, found.shared), (1, 2, 1, 1));
    // They are in the controller's memory now, and others went to the host's.
    assert_eq!(waits(&mut device, &[8, 9, 16]), [0, 0, 700]);
}

#[test]
fn entries_of_the_host_take_their_turn_on_the_link() {
    // Eight bytes take a microsecond.
    let mut device = lending(&[("host.link.rate", "8MB/s")]);
    assert_eq!(waits(&mut device, &[23, 8, 10]), [0, 1_700, 2_700]);
    // Those of successive pages of a request come together.
    let done = closed_loop(&mut device, 1, [request(Op::Read, 12 * 8, 3 * 8, 0)]);
    assert_eq!(done[0].breakdown.translation, Nanos(3_700));
    // In a packet of their own, 32 bytes at 3,938 MB/s.
    let mut device = lending(&[("host.link.interface", "pcie-3x4")]);
    assert_eq!(waits(&mut device, &[23, 8, 10]), [0, 709, 718]);
}

/// The controller can write back only what it holds: entries in the host's memory are read first, while the old copy of
/// their translation page is read from flash.
#[test]
fn what_is_written_back_is_read_from_the_host_first() {
    // What an update waits for: the old copy (50 us and 10 us of the bus), or what comes from the host.
    for (sets, inputs) in [
        (&[][..], 60_000),
        (&[("ftl.mapping.host_memory_latency", "200us")], 200_000),
        // Nine entries of eight bytes, a microsecond each.
        (&[("ftl.mapping.host_memory_latency", "200us"), ("host.link.rate", "8MB/s")], 209_000),
    ] {
        let mut device = lending(sets);
        closed_loop(&mut device, 1, (8..24).map(|page| request(Op::Write, page * 8, 8, 0)));
        let before = counts(&device);
        // The entry of page 8 leaves the host's memory. It differs from flash, and those of pages 9 to 23 go along with it,
        // of which the host holds 9 to 16. Then the update is programmed (610 us), and the entry of page 0 read (60 us).
        assert_eq!(waits(&mut device, &[0]), [inputs + 670_000]);
        let found = counts(&device).since(&before);
        assert_eq!((found.write_backs, found.batched, found.updates_from_host), (1, 15, 9));
        // Page 9 is clean now.
        assert_eq!(waits(&mut device, &[1]), [60_000]);
        assert_eq!(counts(&device).since(&before).updates_from_host, 9);
    }
}

/// Pages whose entry the host holds are not read ahead, since that would wait.
#[test]
fn reading_ahead_does_not_wait_for_the_host() {
    let cache = [("cache.read.policy", "lru"), ("cache.read.capacity", "4KiB")];
    let mut device = lending(&[cache[0], cache[1], ("cache.read.ahead", "1")]);
    let ahead = |device: &Device| device.reads().counts().read_ahead;
    let before = ahead(&device);
    alone(&mut device, request(Op::Read, 8 * 8, 8, 0));
    assert_eq!(ahead(&device), before, "page 9 is with the host");
    alone(&mut device, request(Op::Read, 20 * 8, 8, 0));
    assert_eq!(ahead(&device), before + 1, "page 21 is not");
}

#[test]
fn after_a_power_cut_the_host_holds_nothing() {
    let spec = lent(on_demand::cached(Spec::small(), 8), 8).set("ftl.recovery.policy", "scan");
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..24, 8);
    closed_loop(&mut device, 1, (8..24).map(|page| request(Op::Read, page * 8, 8, 0)));
    assert_eq!(device.ftl().map_on_flash().map(|map| map.cached().held()), Some(16));
    let (mut device, _) =
        power_up(spec.setup(), (), device.cut_power()).expect("nothing is damaged");
    assert_eq!(device.ftl().map_on_flash().map(|map| map.cached().held()), Some(0));
    let before = counts(&device);
    waits(&mut device, &[23, 8]);
    let found = counts(&device).since(&before);
    assert_eq!((found.read_hits, found.from_host, found.read_misses), (0, 0, 2));
}
