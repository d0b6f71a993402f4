//! Write-backs that start plane by plane: gating buffers, and write cycles in lock-step. Timelines
//! drawn by hand, random runs beside the naive reference, and the order in which pages reach flash.
//!
//! Programming takes 600 us, sensing 50 us, a transfer 10 us; each plane has its own channel, and
//! DRAM takes no time.

use ftlab::cache::Gate;
use ftlab::device::{Device, assemble, assemble_with};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Host, Op};
use ftlab::nand::Kind;
use ftlab::scheduler::Origin;
use ftlab::units::{Lpn, Nanos, SimTime};
use proptest::prelude::*;

use crate::channels::machine::{Machine, Params, Planner, Times};
use crate::common::gating::{self, IN_ORDER, LOCK_STEP, OWN};
use crate::common::{BLOCKS, PROGRAM, READ, Spec, closed_loop, failing, request};
use crate::contents::{cases, loses_nothing};
use ftlab_torture::Versions;

/// Sectors of a page.
const PAGE: u64 = 8;
/// The transfer of a page.
const TRANSFER: u64 = 10_000;
/// Transferring and programming a page.
const WRITTEN: u64 = TRANSFER + PROGRAM.0;
/// Reading and transferring a page.
const FETCHED: u64 = READ.0 + TRANSFER;

/// Pages alternate over this many channels of one plane.
fn channels(channels: u32) -> Spec {
    let spec = Spec::small().set("nand.channels", channels).set(BLOCKS, 64);
    spec.set("cache.latency", "0ns").holding(channels * 128)
}

/// With a gating buffer of `pages` flash pages, or none, and this gate.
fn buffered(spec: Spec, pages: u32, gate: Gate) -> Spec {
    if pages > 0 { gating::buffered(spec, pages, gate) } else { gating::gated(spec, gate) }
}

fn gating_on(number: u32, capacity: u32, gate: Gate) -> Device {
    assemble(buffered(channels(number), capacity, gate).setup())
}

/// Submits writes of whole pages now, each as its first page and number of pages.
fn write(device: &mut Device, writes: &[(u64, u32)]) {
    for (&(page, pages), tag) in writes.iter().zip(0..) {
        device.submit(device.now(), request(Op::Write, page * PAGE, 8 * pages, tag));
    }
}

/// Runs the device until it is idle. Returns the end of each write, by first page.
fn finish(device: &mut Device) -> Vec<(u64, u64)> {
    let (mut done, began) = (Vec::new(), device.now());
    while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    assert_eq!(device.audit(), Ok(()));
    done.iter().map(|done| (done.request.lba.0 / PAGE, (done.finished - began).0)).collect()
}

fn programs(device: &Device) -> u64 {
    device.flash().done()[Origin::Host as usize][Kind::Program as usize]
}

#[test]
fn a_write_back_takes_one_page_of_each_plane() {
    // Pages 0 and 4 are on channel 0. A request that waits for room starts a write-back.
    let writes = [(0, 1), (4, 1), (1, 1), (2, 1), (3, 1)];
    for (gate, written, cycles) in [(OWN, 3, 0), (LOCK_STEP, 3, 1), (IN_ORDER, 1, 1)] {
        let mut device = gating_on(4, 4, gate);
        write(&mut device, &writes);
        let done = finish(&mut device);
        assert_eq!(done, [(0, 0), (4, 0), (1, 0), (2, 0), (3, WRITTEN)], "{gate:?}");
        assert_eq!((programs(&device), device.buffer_counts().cycles), (written, cycles));
    }
}

/// In order, a cycle ends where a plane would come twice; later pages wait for the next cycle.
#[test]
fn a_cycle_in_order_ends_at_a_plane_that_comes_twice() {
    let writes = [(0, 1), (1, 1), (5, 1), (2, 1), (3, 3)];
    for (gate, at, written) in
        [(OWN, WRITTEN, 4), (LOCK_STEP, WRITTEN, 3), (IN_ORDER, 2 * WRITTEN, 4)]
    {
        let mut device = gating_on(4, 4, gate);
        write(&mut device, &writes);
        let done = finish(&mut device);
        // Three pages have to leave: 0, 1 and 2 together, or 0 and 1, then 5 and 2. A channel without
        // the barrier takes page 5 when page 1 has left and page 2 has not.
        assert_eq!(done.last(), Some(&(3, at)), "{gate:?}");
        assert_eq!(programs(&device), written, "{gate:?}");
    }
}

/// Each plane continues on its own, or waits for the slowest.
#[test]
fn the_barrier_holds_planes_together() {
    // Page 1 is written in part, so channel 1 has to read first.
    for (gate, first, last) in [
        (OWN, WRITTEN, 2 * WRITTEN),
        (LOCK_STEP, FETCHED + WRITTEN, FETCHED + 2 * WRITTEN),
        (IN_ORDER, FETCHED + WRITTEN, FETCHED + 2 * WRITTEN),
    ] {
        let mut device = gating_on(2, 2, gate);
        closed_loop(&mut device, 1, [request(Op::Write, 0, 16, 0), request(Op::Flush, 0, 0, 1)]);
        let began = device.now();
        device.submit(began, request(Op::Write, 0, 12, 2));
        // Two pages of channel 0, each of which needs its own room.
        write(&mut device, &[(2, 1), (4, 2)]);
        let done = finish(&mut device);
        assert_eq!(done, [(0, 0), (2, first), (4, last)], "{gate:?}");
    }
}

#[test]
fn a_request_enters_as_a_whole_and_in_its_turn() {
    for gate in [OWN, LOCK_STEP, IN_ORDER] {
        let mut device = gating_on(4, 4, gate);
        // Three pages of channel 0; two more do not fit, though the one behind them would.
        write(&mut device, &[(0, 1), (4, 1), (8, 1), (1, 2), (3, 1)]);
        assert_eq!(device.buffer().pages_held(), 3);
        let done = finish(&mut device);
        // When one of the three has left, the two enter; the last waits for another.
        let expected = [(0, 0), (4, 0), (8, 0), (1, WRITTEN), (3, 2 * WRITTEN)];
        assert_eq!(done, expected, "{gate:?}");
    }
}

/// A request larger than the buffer waits until it is empty, passes through, and lets nothing in meanwhile.
#[test]
fn a_request_larger_than_the_buffer_passes_through() {
    for gate in [OWN, LOCK_STEP, IN_ORDER] {
        let mut device = gating_on(4, 2, gate);
        write(&mut device, &[(0, 1), (4, 4), (1, 1)]);
        let done = finish(&mut device);
        assert_eq!(done, [(0, 0), (4, 2 * WRITTEN), (1, 2 * WRITTEN)], "{gate:?}");
        assert_eq!((programs(&device), device.buffer().pages_held()), (5, 1));
    }
}

/// Without a buffer, a cycle is whatever is there; with one that absorbs, it is the first page of each
/// plane in the order of the policy.
#[test]
fn every_buffer_can_be_kept_in_lock_step() {
    let mut device = assemble(gating::gated(channels(4), LOCK_STEP).setup());
    write(&mut device, &[(0, 2), (1, 2), (3, 1)]);
    // The first request alone, then page 1 again with 2 and 3.
    let done = finish(&mut device);
    assert_eq!(done, [(0, WRITTEN), (3, 2 * WRITTEN), (1, 2 * WRITTEN)]);
    let absorbing = gating::gated(channels(4).buffered("lru", 4), LOCK_STEP);
    let mut device = assemble(absorbing.setup());
    // Page 0 is used again: page 4 goes first of channel 0.
    write(&mut device, &[(0, 1), (4, 1), (1, 1), (2, 1), (0, 1), (3, 1)]);
    let done = finish(&mut device);
    assert_eq!(done.last(), Some(&(3, WRITTEN)));
    assert_eq!((programs(&device), device.buffer_counts().cycles), (3, 1));
    assert!(
        device.buffer().find(Lpn::new(0)).is_some() && device.ftl().look_up(Lpn::new(4)).is_some()
    );
}

/// A host flush writes back in cycles, and does not wait for later writes.
#[test]
fn a_host_flush_writes_back_in_cycles() {
    for (gate, cycles) in [(OWN, 0), (LOCK_STEP, 2), (IN_ORDER, 3)] {
        let mut device = gating_on(4, 8, gate);
        write(&mut device, &[(0, 1), (4, 1), (1, 1), (5, 1), (2, 1)]);
        device.submit(device.now(), request(Op::Flush, 0, 0, 9));
        let turns = if gate == IN_ORDER { 3 } else { 2 };
        let mut done = Vec::new();
        while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
        assert_eq!(done.last().map(|done| done.finished.0), Some(turns * WRITTEN), "{gate:?}");
        assert_eq!((device.buffer().pages_held(), device.buffer_counts().cycles), (0, cycles));
    }
}

type Carrying = Device<(), Versions>;

fn carrying(spec: &Spec) -> Carrying {
    let versions = Versions::new(spec.geometry().physical_pages(), spec.sectors_per_page());
    assemble_with(spec.setup(), (), versions)
}

/// The versions that a read of the first page finds: the tags of the writes by sector, 0 for none.
fn read_first_page(device: &mut Carrying) -> Vec<u32> {
    device.contents_mut().take_finished();
    closed_loop(device, 1, [request(Op::Read, 0, 8, 99)]);
    let mut found = vec![0; 8];
    let finished = device.contents_mut().take_finished();
    for &(sector, version) in &finished[0].1 {
        found[sector as usize] = version;
    }
    found
}

/// Versions of a page: each goes to flash on its own, reads see the newest of each sector, and a
/// trim drops them all.
#[test]
fn versions_of_a_page_are_kept_apart() {
    for gate in [OWN, LOCK_STEP, IN_ORDER] {
        let spec = buffered(channels(2), 3, gate);
        let mut device = carrying(&spec);
        let writes =
            [(0, 6, 1), (2, 2, 2)].map(|(lba, count, tag)| request(Op::Write, lba, count, tag));
        closed_loop(&mut device, 1, writes);
        assert_eq!(device.buffer().pages_held(), 2, "nothing is absorbed");
        assert_eq!(read_first_page(&mut device), [1, 1, 2, 2, 1, 1, 0, 0]);
        // Two more, so the oldest version has to leave: the next covers what is on flash.
        closed_loop(&mut device, 1, [request(Op::Write, 5, 2, 3), request(Op::Write, 8, 8, 4)]);
        let at = device.ftl().look_up(Lpn::new(0)).expect("the first version is on flash");
        let (_, sectors) = device.contents().on_flash(at).expect("programmed");
        assert_eq!(sectors, [1, 1, 1, 1, 1, 1, 0, 0], "{gate:?}");
        assert_eq!(read_first_page(&mut device), [1, 1, 2, 2, 1, 3, 3, 0]);
        closed_loop(&mut device, 1, [request(Op::Trim, 0, 8, 5)]);
        assert_eq!(device.buffer().pages_held(), 1, "only the other page is left");
        assert_eq!(read_first_page(&mut device), [0; 8]);
        closed_loop(&mut device, 1, [request(Op::Flush, 0, 0, 6)]);
        assert_eq!((device.ftl().look_up(Lpn::new(0)), device.audit()), (None, Ok(())));
    }
}

proptest! {
    #![proptest_config(cases())]

    /// Several versions of a page in the buffer, requests that pass through as a whole, cycles that
    /// wait for collection: a read returns what was last written, and a flush leaves nothing behind.
    #[test]
    fn nothing_is_lost(run in gating::run(400)) {
        loses_nothing(&run)?;
    }
}

proptest! {
    #![proptest_config(cases())]

    /// Likewise if programs and erases fail and devices come to their end.
    #[test]
    fn failures_lose_nothing(run in gating::of(failing::run(600))) {
        loses_nothing(&run)?;
    }
}

/// Random writes in the order in which they were made, page by page, and the content of the flash.
struct Order {
    device: Carrying,
    /// Page versions: the page, its sectors and its tag.
    written: Vec<(u64, std::ops::Range<u64>, u32)>,
    /// By sector: the content after the first `prefix` versions.
    expected: Vec<u32>,
    prefix: usize,
}

impl Order {
    fn new(spec: &Spec) -> Order {
        let device = carrying(spec);
        let expected = vec![0; device.capacity_sectors() as usize];
        Order { device, written: Vec::new(), expected, prefix: 0 }
    }

    fn write(&mut self, first: u64, count: u64, tag: u32) {
        let end = first + count;
        for page in first / PAGE..=(end - 1) / PAGE {
            let sectors = first.max(page * PAGE)..end.min((page + 1) * PAGE);
            self.written.push((page, sectors, tag));
        }
        self.device.submit(self.device.now(), request(Op::Write, first, count as u32, tag));
    }

    fn on_flash(&self) -> Vec<u32> {
        let pages = 0..self.device.ftl().logical_pages();
        let sectors = pages.map(Lpn::new).flat_map(|page| {
            let at = self.device.ftl().look_up(page);
            let held = at.and_then(|at| self.device.contents().on_flash(at));
            held.map_or([0; PAGE as usize], |(_, held)| held.try_into().expect("a page"))
        });
        sectors.collect()
    }

    /// Whether the flash holds what was written up to some point, no earlier than the last one found.
    fn is_a_prefix(&mut self) -> bool {
        let found = self.on_flash();
        while found != self.expected {
            let Some((_, sectors, tag)) = self.written.get(self.prefix) else { return false };
            self.expected[sectors.start as usize..sectors.end as usize].fill(*tag);
            self.prefix += 1;
        }
        true
    }

    /// Writes at random, at most `depth` at once, and watches the flash all the time. Returns whether
    /// its content was ever not a prefix of the writes.
    fn breaks(mut self, seed: u64, depth: usize) -> bool {
        let mut stream = Stream::new(seed, "writes");
        let capacity = self.device.capacity_sectors();
        let mut done = Vec::new();
        for tag in 1..=150 {
            while self.device.requests_in_flight() >= depth {
                // Shorter than any flash operation.
                let limit = self.device.now() + Nanos::from_micros(1);
                self.device.advance_until(limit, &mut done);
                if !self.is_a_prefix() {
                    return true;
                }
            }
            let count = 1 + stream.below(20);
            self.write(stream.below(capacity - count), count, tag);
        }
        false
    }
}

/// With `cache.in_order` a power cut at any time leaves a prefix of the writes; without it,
/// it does not.
#[test]
fn pages_reach_flash_in_the_order_of_the_writes() {
    let breaks = |gate, seed| {
        // Small enough to collect, two planes a channel: programs end at different times.
        let spec = channels(3).set("nand.planes_per_die", 2).set(BLOCKS, 6).holding(48);
        Order::new(&buffered(spec, 6, gate)).breaks(seed, 1 + seed as usize % 3 * 4)
    };
    for seed in 0..12 {
        assert!(!breaks(IN_ORDER, seed), "seed {seed}");
    }
    for gate in [OWN, LOCK_STEP] {
        assert!((0..12).all(|seed| breaks(gate, seed)), "{gate:?}");
    }
}

/// The channel machine of the thesis as a naive model, with a log that never fills up.
fn machine(number: u32, pages: u32, gate: Gate) -> Machine {
    Machine::new(Params {
        channels: number,
        sectors_per_page: PAGE as u32,
        pages_per_block: 128,
        data_blocks: 1,
        log_blocks: 50,
        times: Times { read: FETCHED, program: WRITTEN, erase: 0 },
        planner: Planner::None,
        throttle: None,
        buffer_bytes: u64::from(pages) * PAGE * 512,
        in_order: gate.prefix,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..cases() })]

    /// In lock-step the device matches the naive machine: each request is acknowledged at the same
    /// nanosecond, after the same number of cycles. Some requests are larger than the buffer.
    #[test]
    fn lock_step_is_the_machine_of_the_thesis(
        number in 1u32..=8,
        pages in 0u32..=20,
        in_order in any::<bool>(),
        requests in proptest::collection::vec((0u64..65_536, 1u64..=80), 100),
    ) {
        let gate = if in_order { IN_ORDER } else { LOCK_STEP };
        let spec = buffered(channels(number), pages, gate);
        let mut device = assemble(spec.setup());
        let capacity = device.capacity_sectors();
        // The data area starts full.
        closed_loop(&mut device, 1, [request(Op::Write, 0, capacity as u32, 0), request(Op::Flush, 0, 0, 0)]);
        let (began, before) = (device.now(), device.buffer_counts().cycles);
        let mut machine = machine(number, pages, gate);
        for (place, count) in requests {
            let count = if count > 60 { count } else { 1 + count % 16 };
            let first = place * (capacity - count) / 65_536;
            closed_loop(&mut device, 1, [request(Op::Write, first, count as u32, 1)]);
            machine.write(first, count);
            prop_assert_eq!((device.now() - began).0, machine.now());
        }
        closed_loop(&mut device, 1, [request(Op::Flush, 0, 0, 2)]);
        let record = machine.finish();
        let cycles = device.buffer_counts().cycles - before;
        prop_assert_eq!(((device.now() - began).0, cycles), (record.time, record.write_cycles));
        prop_assert!(device.ftl_counts().gc_runs == 0 && record.reclaims.is_empty());
    }
}

/// Write cycles of random writes of 4 KiB at any sector, one request after the other.
fn cycles_per_request(number: u32, capacity: u32, gate: Gate) -> f64 {
    const REQUESTS: u32 = 20_000;
    let spec = channels(number).set("nand.pages_per_block", 512).set(BLOCKS, 100);
    let spec = buffered(spec.holding(number * 16_384), capacity, gate);
    let mut device = assemble(spec.setup());
    let mut stream = Stream::new(7, "starts");
    let sectors = device.capacity_sectors();
    let next = |tag| request(Op::Write, stream.below(sectors - 8), 8, tag);
    closed_loop(&mut device, 1, (0..REQUESTS).map(next));
    assert_eq!(device.ftl_counts().gc_runs, 0);
    device.buffer_counts().cycles as f64 / f64::from(REQUESTS)
}

/// Against the cycles of an independent model of the thesis's machine: see docs/validation.md.
#[test]
fn write_cycles_agree_with_an_independent_model() {
    for (capacity, expected) in
        [(0, 1.0), (2, 0.988), (4, 0.578), (8, 0.372), (16, 0.291), (32, 0.260)]
    {
        let cycles = cycles_per_request(8, capacity, LOCK_STEP);
        assert!((cycles - expected).abs() < 0.004, "{capacity} pages: {cycles:.4}, not {expected}");
    }
}

/// The thesis, chapter 5: with integrity, a buffer of more than two pages a channel gains nothing. In
/// a longer queue some pages could go at once, if not for those ahead of them.
#[test]
fn in_order_a_buffer_of_two_pages_a_channel_is_enough() {
    for channels in [2, 4, 8] {
        let enough = cycles_per_request(channels, 2 * channels, IN_ORDER);
        let more = cycles_per_request(channels, 8 * channels, IN_ORDER);
        assert!((enough - more).abs() < 0.002 * more, "{channels}: {enough:.4} and {more:.4}");
        let free = cycles_per_request(channels, 8 * channels, LOCK_STEP);
        assert!(channels == 2 || free < 0.8 * more, "{channels}: {free:.4} and {more:.4}");
    }
}
