//! How fast devices are as users have them: presets, and one device for each way of working that has a path of its
//! own, aged and under a mixed load.
//!
//! `cargo bench -p ftlab --bench presets [-- SCENARIO...] [--requests N] [--whole]` prints, for each, requests a second
//! of CPU, what a request takes, write amplification, and a hash of all that was submitted and of all that came back:
//! two builds that print the same hash do the same. Devices are built from configuration alone, so that the same source
//! runs on older commits.
//!
//! Each device is filled in order and then overwritten at random as far as its scenario says, in 4 KiB, over all of its
//! capacity. Large presets are cut down for that, as tlc-32g is a cut of tlc-512g: fewer pages in a block and everything
//! else as it is. `--whole` leaves them as they are, which takes minutes and gigabytes.

mod common;

use std::time::Duration;

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Completion, Host, Op, Outcome, Request};
use ftlab::scheduler::flash_pages_programmed;
use ftlab::units::{Lba, SimTime};

use common::cpu_time;

/// Sectors of 4 KiB.
const PAGE: u32 = 8;
/// Pages of a request that fills the device.
const FILL_PAGES: u32 = 32;
const QUEUE_DEPTH: usize = 64;
/// How far ahead of its submission a request is announced to the device.
const LOOK_AHEAD: usize = 32;
/// Reads of a hundred requests while measuring.
const READS: u64 = 70;

/// A part of the device that many requests go to.
#[derive(Clone, Copy)]
struct Hot {
    /// Its share of the device: one in so many.
    part: u64,
    /// Requests of a hundred that go there.
    share: u64,
}

/// A device, and what happens to it.
struct Scenario {
    name: &'static str,
    preset: &'static str,
    /// What makes it the scenario that it is.
    sets: &'static [&'static str],
    /// What makes it smaller, so that it ages in seconds.
    cut: &'static [&'static str],
    /// What makes it so small, in place of `cut`, that it ages within a test.
    small: &'static [&'static str],
    /// Whether it is filled in order first; log-block devices start full.
    fill: bool,
    /// Random overwrites before measuring, in percent of the capacity.
    overwrite: u64,
    hot: Option<Hot>,
}

impl Scenario {
    const PRESET: Scenario = Scenario {
        name: "",
        preset: "",
        sets: &[],
        cut: &[],
        small: &[],
        fill: true,
        overwrite: 100,
        hot: None,
    };
}

/// TLC of 16 planes, 288 MiB of flash.
const SMALL_TLC: &[&str] = &[
    "nand.blocks_per_plane=96",
    "nand.pages_per_block=12",
    "ftl.over_provisioning=12%",
    "cache.capacity=1MiB",
];

const SMALL_LOG: &[&str] =
    &["nand.blocks_per_plane=160", "nand.pages_per_block=32", "ftl.capacity=128MiB"];

const SCENARIOS: [Scenario; 9] = [
    Scenario {
        name: "tlc-512g",
        preset: "tlc-512g",
        cut: &["nand.pages_per_block=36"],
        small: SMALL_TLC,
        ..Scenario::PRESET
    },
    Scenario {
        name: "tlc-1t",
        preset: "tlc-1t",
        cut: &["nand.pages_per_block=24"],
        small: &[
            "nand.blocks_per_plane=48",
            "nand.pages_per_block=6",
            "ftl.slc_cache.blocks=2",
            "ftl.slc_cache.most_borrowed=16",
            "ftl.over_provisioning=32%",
            "cache.capacity=1MiB",
        ],
        ..Scenario::PRESET
    },
    Scenario {
        name: "qlc-1t",
        preset: "qlc-1t",
        cut: &["nand.pages_per_block=24"],
        small: &[
            "nand.blocks_per_plane=64",
            "nand.pages_per_block=8",
            "ftl.slc_cache.blocks=3",
            "ftl.slc_cache.most_borrowed=30",
            "ftl.slc_cache.keep_free=17",
            "ftl.over_provisioning=25%",
            "cache.capacity=1MiB",
        ],
        ..Scenario::PRESET
    },
    Scenario {
        name: "mqsim",
        preset: "mqsim",
        cut: &["nand.pages_per_block=16"],
        small: &[
            "nand.blocks_per_plane=64",
            "nand.pages_per_block=8",
            "ftl.gc.start=3",
            "ftl.gc.stop=4",
            "ftl.over_provisioning=13%",
            "cache.capacity=1MiB",
        ],
        ..Scenario::PRESET
    },
    Scenario {
        name: "lock-step",
        preset: "channel-management",
        small: SMALL_LOG,
        fill: false,
        overwrite: 10,
        ..Scenario::PRESET
    },
    Scenario {
        name: "merges",
        preset: "channel-management",
        sets: &["ftl.merge.clocks=own"],
        small: SMALL_LOG,
        fill: false,
        overwrite: 10,
        ..Scenario::PRESET
    },
    Scenario {
        name: "dftl",
        preset: "tlc-512g",
        sets: &["ftl.mapping.policy=dftl"],
        cut: &["nand.pages_per_block=36", "ftl.mapping.cache=4MiB"],
        small: &[
            "nand.blocks_per_plane=96",
            "nand.pages_per_block=12",
            "cache.capacity=1MiB",
            "ftl.over_provisioning=12%",
            "ftl.mapping.cache=64KiB",
        ],
        overwrite: 25,
        ..Scenario::PRESET
    },
    // The die dies while the device is filled; what it held is computed from then on.
    Scenario {
        name: "dying-dies",
        preset: "tlc-512g",
        sets: &[
            "ftl.parity.policy=dies",
            "ftl.placement.rows=off",
            "ftl.over_provisioning=60%",
            "nand.faults.schedule=200ms: die 3 dies",
        ],
        cut: &["nand.pages_per_block=36"],
        small: &["nand.blocks_per_plane=96", "nand.pages_per_block=12", "cache.capacity=1MiB"],
        ..Scenario::PRESET
    },
    // Half of the requests go to what the buffer can hold.
    Scenario {
        name: "lru-buffer",
        preset: "tlc-512g",
        sets: &["cache.policy=lru"],
        cut: &["nand.pages_per_block=36", "cache.capacity=512MiB"],
        small: &[
            "nand.blocks_per_plane=96",
            "nand.pages_per_block=12",
            "ftl.over_provisioning=12%",
            "cache.capacity=6MiB",
        ],
        hot: Some(Hot { part: 32, share: 50 }),
        ..Scenario::PRESET
    },
];

/// How large the device of a scenario is.
#[derive(Clone, Copy)]
enum Size {
    Small,
    Cut,
    Whole,
}

fn build(scenario: &Scenario, size: Size) -> (Device, Config) {
    let shrunk = match size {
        Size::Small => scenario.small,
        Size::Cut => scenario.cut,
        Size::Whole => &[],
    };
    let sets = scenario.sets.iter().chain(shrunk);
    let sets = (1..).zip(sets).map(|(at, set)| Layer::set(at, set));
    let layers: Vec<Layer> = std::iter::once(Layer::preset(scenario.preset)).chain(sets).collect();
    let config = Config::load(&layers).unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
    (assemble(DeviceSetup::new(&config, 1)), config)
}

/// What went in and came out.
#[derive(Default)]
struct Seen {
    /// A hash of all of it, in order.
    hash: u64,
    /// Pages written.
    written: u64,
}

impl Seen {
    /// Odd numbers without a pattern, one for each field (from the fraction of pi, as Blowfish takes them).
    const FACTORS: [u64; 6] = [
        0x243f_6a88_85a3_08d3,
        0x1319_8a2e_0370_7345,
        0xa409_3822_299f_31d1,
        0x082e_fa98_ec4e_6c89,
        0x4528_21e6_38d0_1377,
        0xbe54_66cf_34e9_0c6d,
    ];

    fn take(&mut self, fields: [u64; 6]) {
        let sum = fields.iter().zip(Seen::FACTORS).fold(self.hash, |sum, (field, factor)| {
            sum.rotate_left(9) ^ field.wrapping_mul(factor)
        });
        self.hash = (sum ^ (sum >> 32)).wrapping_mul(Seen::FACTORS[0]);
    }

    fn submitted(&mut self, at: SimTime, request: &Request) {
        if request.op == Op::Write {
            self.written += u64::from(request.sectors / PAGE);
        }
        let op = request.op as u64;
        self.take([at.0, op, request.lba.0, u64::from(request.sectors), u64::from(request.tag), 0]);
    }

    fn completed(&mut self, done: &Completion) {
        let parts = &done.breakdown;
        let outcome = match done.outcome {
            Outcome::Done => 0,
            Outcome::ReadOnly => 1,
            Outcome::Unreadable => 2,
        };
        self.take([
            u64::from(done.request.tag) << 2 | outcome,
            done.submitted.0,
            done.finished.0,
            parts.buffer.0
                ^ parts.admission.0.rotate_left(32)
                ^ parts.translation.0.rotate_left(48),
            parts.queue.0 ^ parts.gc.0.rotate_left(32) ^ parts.link.0.rotate_left(48),
            parts.bus.0 ^ parts.cell.0.rotate_left(32),
        ]);
    }
}

/// A load of one kind: what comes next, and how much of it.
struct Load<F> {
    next: F,
    requests: u64,
}

/// Plays a load in closed loop; the CPU time it took.
///
/// Not inlined, so that a profile tells it from what prepares it.
#[inline(never)]
fn play<F: FnMut() -> Request>(device: &mut Device, load: Load<F>, seen: &mut Seen) -> Duration {
    let Load { mut next, requests } = load;
    let mut ahead: Vec<Request> = (0..LOOK_AHEAD).map(|_| next()).collect();
    let mut done = Vec::with_capacity(QUEUE_DEPTH);
    let started = cpu_time();
    let (mut left, mut in_flight, mut turn) = (requests, 0, 0);
    while left > 0 || in_flight > 0 {
        while in_flight < QUEUE_DEPTH && left > 0 {
            let request = std::mem::replace(&mut ahead[turn], next());
            device.expect(&ahead[turn]);
            turn = (turn + 1) % LOOK_AHEAD;
            let at = device.now();
            seen.submitted(at, &request);
            device.submit(at, request);
            (left, in_flight) = (left - 1, in_flight + 1);
        }
        let advanced = device.advance_until(SimTime::FOREVER, &mut done);
        assert_ne!(advanced, Advanced::Idle, "the device stands still");
        in_flight -= done.len();
        done.iter().for_each(|completion| seen.completed(completion));
        done.clear();
    }
    cpu_time() - started
}

/// A request for so many pages, from one of them on.
fn request(op: Op, page: u64, pages: u32, tag: &mut u32) -> Request {
    *tag = tag.wrapping_add(1);
    let lba = Lba(page * u64::from(PAGE));
    Request { op, lba, sectors: pages * PAGE, stream: 0, tag: *tag, fua: false }
}

/// Fills the device in order.
fn fill(device: &mut Device, pages: u64, tag: &mut u32, seen: &mut Seen) {
    let requests = pages / u64::from(FILL_PAGES);
    let mut turn = 0;
    let next = || {
        turn = (turn + 1) % requests;
        request(Op::Write, turn * u64::from(FILL_PAGES), FILL_PAGES, tag)
    };
    play(device, Load { next, requests }, seen);
}

fn run(scenario: &Scenario, size: Size, requests: u64) {
    let (mut device, config) = build(scenario, size);
    let pages = device.capacity_sectors() / u64::from(PAGE);
    let (mut seen, mut tag) = (Seen::default(), 0);
    if scenario.fill {
        fill(&mut device, pages, &mut tag, &mut seen);
    }
    let mut addresses = Stream::new(1, "bench");
    let mut draw = |reads: u64| {
        let op = if addresses.below(100) < reads { Op::Read } else { Op::Write };
        let part = match scenario.hot {
            Some(Hot { part, share }) if addresses.below(100) < share => part,
            _ => 1,
        };
        request(op, addresses.below(pages / part), 1, &mut tag)
    };
    let overwrites = pages * scenario.overwrite / 100;
    play(&mut device, Load { next: || draw(0), requests: overwrites }, &mut seen);
    let programs = |device: &Device| flash_pages_programmed(device.flash().done());
    let (before, since, written) = (programs(&device), device.now(), seen.written);
    let load = Load { next: || draw(READS), requests };
    let seconds = play(&mut device, load, &mut seen).as_secs_f64();
    let programmed = programs(&device) - before;
    let written = seen.written - written;
    let page_bytes = config.shape().page_size.0;
    let amplification = (programmed * page_bytes) as f64 / (written * u64::from(PAGE) * 512) as f64;
    println!(
        "{:<12} {:>6.3} M requests/s of CPU  {:>6.0} ns each  WA {amplification:>6.3}  {:>9.0} IOPS  hash {:016x}",
        scenario.name,
        requests as f64 / seconds / 1e6,
        seconds * 1e9 / requests as f64,
        requests as f64 / device.now().saturating_since(since).as_secs_f64(),
        seen.hash,
    );
}

/// Runs the scenarios named on the command line, or all. `cargo test` runs benches too, with `--test`: then small ones,
/// to show that they work.
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let size = match (has("--whole"), cfg!(debug_assertions) || has("--test")) {
        (true, _) => Size::Whole,
        (_, true) => Size::Small,
        _ => Size::Cut,
    };
    let asked = arguments.iter().skip_while(|argument| *argument != "--requests").nth(1);
    let requests = asked.map(|text| text.parse().expect("--requests takes a number"));
    let usual = if matches!(size, Size::Small) { 20_000 } else { 2_000_000 };
    let named: Vec<&String> = arguments.iter().filter(|&name| Some(name) != asked).collect();
    let named: Vec<&&String> = named.iter().filter(|name| !name.starts_with("--")).collect();
    for scenario in &SCENARIOS {
        if named.is_empty() || named.iter().any(|name| **name == scenario.name) {
            run(scenario, size, requests.unwrap_or(usual));
        }
    }
}
