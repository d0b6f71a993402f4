//! The speed of the simulator, compared with what memory allows.
//!
//! `cargo bench -p ftlab --bench device [-- SCENARIO]` prints host requests and flash page operations a second of
//! CPU for each load, and the memory for each page touched. For writes it also prints the floor: a bare loop over
//! tables of the same size with only the random accesses that no page map with collection can avoid, for the same
//! addresses and the same write amplification.
//! map with collection can avoid, for the same addresses and the same write amplification.

mod common;

use std::time::Duration;

use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::engine::{Stream, prefetch};
use ftlab::host::{Host, Op, Request};
use ftlab::units::{Lba, SimTime};
#[cfg(feature = "external-policies")]
use ftlab::{
    ftl::{gc::Greedy, mapping::PageMap, placement::Dynamic, streams::Single},
    scheduler::Fifo,
};

use common::{cpu_time, page_map, setup};

const SECTORS_PER_PAGE: u32 = 8;
const PAGES_PER_BLOCK: u32 = 256;
const DIES: u32 = 64;
/// Physical capacity by 100 of logical: about 2 in write amplification.
const PHYSICAL_PERCENT: u64 = 138;
const QUEUE_DEPTH: u32 = 64;
/// How far ahead of its submission a request is announced to the device.
const LOOK_AHEAD: usize = 32;

/// Resident memory of this process in bytes, where the system reports it.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// A change to a device before it is assembled.
type Change = fn(DeviceSetup) -> DeviceSetup;

fn as_it_is(setup: DeviceSetup) -> DeviceSetup {
    setup
}

/// The same victims, behind a pointer.
#[cfg(feature = "external-policies")]
fn boxed_victim(setup: DeviceSetup) -> DeviceSetup {
    let victim = Greedy::new(&setup.ftl.geometry);
    setup.with_victim(victim)
}

/// Every policy that a write consults, behind a pointer each.
#[cfg(feature = "external-policies")]
fn boxed(setup: DeviceSetup) -> DeviceSetup {
    let placement = Dynamic::new(&setup.ftl.geometry);
    let mapping = PageMap::new(setup.ftl.logical_pages);
    let setup = boxed_victim(setup).with_scheduler(Fifo).with_placement(placement);
    let setup = setup.and_then(|setup| setup.with_streams(Single::new(1)));
    setup.and_then(|setup| setup.with_mapping(mapping)).unwrap_or_else(|why| panic!("{why}"))
}

fn device(logical: u32, buffer_pages: Option<u32>, change: Change) -> Device {
    let blocks = u64::from(logical) * PHYSICAL_PERCENT / 100 / u64::from(DIES * PAGES_PER_BLOCK);
    let kib = |pages: u32| u64::from(pages) * 4;
    let mut sets = vec![
        "nand.dies_per_chip=2".to_owned(),
        "nand.planes_per_die=1".to_owned(),
        format!("nand.blocks_per_plane={blocks}"),
        "ftl.over_provisioning=37.5%".to_owned(),
        format!("ftl.capacity={}KiB", kib(logical)),
        "ftl.gc.copies_in_flight=2".to_owned(),
    ];
    if let Some(pages) = buffer_pages {
        sets.push("cache.policy=lru".to_owned());
        sets.push(format!("cache.capacity={}KiB", kib(pages)));
    }
    assemble(change(setup(page_map(), &sets)))
}

/// A load of one kind.
#[derive(Clone, Copy)]
struct Load {
    op: Op,
    requests: u64,
    /// The number of pages it covers, from the first one.
    span: u32,
    sequential: bool,
    pages: u32,
}

/// Plays a load in closed loop; returns the CPU time it took.
fn play(device: &mut Device, load: Load, addresses: &mut Stream) -> Duration {
    let mut cursor = 0u64;
    let mut draw = || {
        let page = if load.sequential {
            cursor += u64::from(load.pages);
            (cursor - u64::from(load.pages)) % u64::from(load.span)
        } else {
            addresses.below(u64::from(load.span))
        };
        let lba = Lba(page * u64::from(SECTORS_PER_PAGE));
        Request {
            op: load.op,
            lba,
            sectors: load.pages * SECTORS_PER_PAGE,
            stream: 0,
            tag: 0,
            fua: false,
        }
    };
    let mut ahead: Vec<Request> = (0..LOOK_AHEAD).map(|_| draw()).collect();
    let started = cpu_time();
    let (mut left, mut in_flight, mut turn) = (load.requests, 0, 0);
    let mut done = Vec::new();
    while left > 0 || in_flight > 0 {
        while in_flight < QUEUE_DEPTH && left > 0 {
            let request = std::mem::replace(&mut ahead[turn], draw());
            device.expect(&ahead[turn]);
            turn = (turn + 1) % LOOK_AHEAD;
            device.submit(device.now(), request);
            left -= 1;
            in_flight += 1;
        }
        device.advance_until(SimTime::FOREVER, &mut done);
        in_flight -= done.len() as u32;
        done.clear();
    }
    cpu_time() - started
}

/// Page operations on flash so far: reads, programs and erases of any origin.
fn flash_operations(device: &Device) -> u64 {
    device.flash().done().iter().flatten().sum()
}

/// Measures one load and prints its row. Returns nanoseconds a request and write amplification.
fn measure(device: &mut Device, name: &str, load: Load, addresses: &mut Stream) -> (f64, f64) {
    let before = (*device.ftl_counts(), flash_operations(device));
    let seconds = play(device, load, addresses).as_secs_f64();
    let after = (*device.ftl_counts(), flash_operations(device));
    let host = (after.0.host_pages - before.0.host_pages) as f64;
    let copied = (after.0.gc_pages - before.0.gc_pages) as f64;
    let amplification = if host > 0.0 { (host + copied) / host } else { 0.0 };
    println!(
        "{name:<44} {:>6.2} M requests/s  {:>6.2} M flash operations/s  {:>5.0} ns each  WA {:.2}",
        load.requests as f64 / seconds / 1e6,
        (after.1 - before.1) as f64 / seconds / 1e6,
        seconds * 1e9 / load.requests as f64,
        amplification,
    );
    (seconds * 1e9 / load.requests as f64, amplification)
}

/// The tables of a page map with collection, and nothing else.
struct BareTables {
    map: Vec<u32>,
    owner: Vec<u32>,
    valid: Vec<u64>,
    counts: Vec<u32>,
    frontier: usize,
    victim: usize,
}

impl BareTables {
    /// Creates tables with a random one-to-one map, as a randomly written device has.
    fn new(logical: u32, addresses: &mut Stream) -> BareTables {
        let physical = (u64::from(logical) * PHYSICAL_PERCENT / 100) as usize;
        let mut owner: Vec<u32> = (0..physical as u32).map(|at| at % logical).collect();
        for at in (1..physical).rev() {
            owner.swap(at, addresses.below(at as u64 + 1) as usize);
        }
        let mut map = vec![0u32; logical as usize];
        (0u32..).zip(&owner).for_each(|(at, &page)| map[page as usize] = at);
        BareTables {
            map,
            owner,
            valid: vec![u64::MAX; physical.div_ceil(64)],
            counts: vec![PAGES_PER_BLOCK; physical.div_ceil(PAGES_PER_BLOCK as usize)],
            frontier: 0,
            victim: physical / 2,
        }
    }

    /// Records the new copy's owner and swaps the map's entry. Returns where the page lay.
    fn place(&mut self, page: u32) -> usize {
        self.frontier = (self.frontier + 1) % self.owner.len();
        self.owner[self.frontier] = page;
        std::mem::replace(&mut self.map[page as usize], self.frontier as u32) as usize
    }

    /// A host write: the old copy becomes invalid.
    fn write(&mut self, page: u32) -> usize {
        let old = self.place(page);
        self.valid[old / 64] &= !(1 << (old % 64));
        let count = &mut self.counts[old / PAGES_PER_BLOCK as usize];
        *count = count.wrapping_sub(1);
        old
    }

    /// Collection copies the next page of its victim.
    fn copy(&mut self) -> usize {
        self.victim = (self.victim + 1) % self.owner.len();
        let ahead = (self.victim + LOOK_AHEAD) % self.owner.len();
        prefetch(&self.map, self.owner[ahead] as usize);
        self.place(self.owner[self.victim])
    }
}

/// The unavoidable accesses of random writes, in nanoseconds a host write: overlapped as far as the
/// processor can, or each waiting for the one before it.
fn floor(tables: &mut BareTables, load: Load, amplification: f64, overlapped: bool) -> f64 {
    let mut addresses = Stream::new(2, "floor");
    let logical = tables.map.len() as u64;
    let mut ahead: Vec<u32> = (0..LOOK_AHEAD).map(|_| addresses.below(logical) as u32).collect();
    let started = cpu_time();
    let (mut owed, mut last) = (0.0, 0);
    for turn in 0..load.requests as usize {
        let next = addresses.below(logical) as u32;
        let page = std::mem::replace(&mut ahead[turn % LOOK_AHEAD], next);
        if overlapped {
            prefetch(&tables.map, next as usize);
            last = tables.write(page);
        } else {
            // Zero, but the processor must have loaded `last` to know.
            let wait = std::hint::black_box(last as u32) & std::hint::black_box(0);
            last = tables.write(page ^ wait);
        }
        owed += amplification - 1.0;
        while owed >= 1.0 {
            owed -= 1.0;
            last ^= tables.copy();
        }
    }
    let taken = cpu_time() - started;
    std::hint::black_box(last);
    taken.as_nanos() as f64 / load.requests as f64
}

fn steady_gc(gib: u32, requests: u64, buffer_pages: Option<u32>, change: Change) {
    let logical = gib << 18;
    let before = resident();
    let mut device = device(logical, buffer_pages, change);
    let mut addresses = Stream::new(1, "bench");
    let fill = Load {
        op: Op::Write,
        requests: u64::from(logical) / 32,
        span: logical,
        sequential: true,
        pages: 32,
    };
    play(&mut device, fill, &mut addresses);
    if let (Some(before), Some(after)) = (before, resident()) {
        let bytes = after.saturating_sub(before) as f64 / f64::from(logical);
        println!("{gib} GiB, filled: {bytes:.2} bytes of memory a 4 KiB page");
    }
    let write = Load {
        op: Op::Write,
        requests: u64::from(logical) * 5 / 2,
        span: logical,
        sequential: false,
        pages: 1,
    };
    play(&mut device, write, &mut addresses);
    let buffered = if buffer_pages.is_some() { ", LRU buffer" } else { "" };
    let load = Load { requests, ..write };
    let name = format!("{gib} GiB, 4 KiB random writes, steady GC{buffered}");
    let (cost, amplification) = measure(&mut device, &name, load, &mut addresses);
    let mut tables = BareTables::new(logical, &mut addresses);
    for (name, overlapped) in [("touches one by one", false), ("touches overlapped", true)] {
        let bare = floor(&mut tables, load, amplification, overlapped);
        println!("  floor, {name:<35} {bare:>6.0} ns: {:.1} times that", cost / bare);
    }
    drop(tables);
    let read = Load { op: Op::Read, ..load };
    measure(&mut device, &format!("{gib} GiB, 4 KiB random reads{buffered}"), read, &mut addresses);
}

fn cache_resident(requests: u64) {
    let mut device = device(1 << 18, Some(1 << 16), as_it_is);
    let mut addresses = Stream::new(1, "bench");
    let write = Load { op: Op::Write, requests, span: 1 << 15, sequential: false, pages: 1 };
    measure(&mut device, "1 GiB, random writes within the buffer", write, &mut addresses);
    let read = Load { op: Op::Read, ..write };
    measure(&mut device, "1 GiB, random reads within the buffer", read, &mut addresses);
}

/// A scenario: its name, what it runs, and whether it fits into a test.
type Scenario = (&'static str, fn(u64), bool);

const SCENARIOS: &[Scenario] = &[
    ("cache-resident", cache_resident, true),
    ("1gib", |requests| steady_gc(1, requests, None, as_it_is), true),
    #[cfg(feature = "external-policies")]
    ("1gib-boxed-victim", |requests| steady_gc(1, requests, None, boxed_victim), true),
    #[cfg(feature = "external-policies")]
    ("1gib-boxed", |requests| steady_gc(1, requests, None, boxed), true),
    ("64gib", |requests| steady_gc(64, requests, None, as_it_is), false),
    ("64gib-buffer", |requests| steady_gc(64, requests, Some(1 << 14), as_it_is), false),
];

/// Runs the scenarios named on the command line, or all. `cargo test` also runs benches, with
/// `--test`: then small ones, to show that they work.
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let small = cfg!(debug_assertions) || arguments.iter().any(|argument| argument == "--test");
    let named: Vec<&String> = arguments.iter().filter(|a| !a.starts_with("--")).collect();
    let requests = if small { 100_000 } else { 8_000_000 };
    for &(name, run, fits_a_test) in SCENARIOS {
        let wanted = named.is_empty() || named.iter().any(|wanted| *wanted == name);
        if wanted && (fits_a_test || !small) {
            run(requests);
        }
    }
}
