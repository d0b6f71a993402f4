//! Rows of flash pages over the planes of a die: their times to the nanosecond, and the write rate of
//! devices that only dies and buses limit. docs/validation.md has the calculation.

use ftlab::config::{Config, Layer};
use ftlab::device::{DeviceSetup, assemble};
use ftlab::engine::Stream;
use ftlab::host::{Host, Op, Request};
use ftlab::nand::Kind;

use crate::common::{BLOCKS, PROGRAM, READ, Spec, closed_loop, request};

const PLANES: u32 = 4;
/// 4 KiB at 409.6 MB/s.
const TRANSFER: u64 = 10_000;
const GAP: u64 = 500;

fn die(placement: &str) -> Spec {
    let spec = Spec::small().with(
        "nand.blocks_per_plane = 64
        nand.multi_plane.program = on
        nand.multi_plane.gap = 500ns",
    );
    let spec = spec.set("ftl.placement.policy", placement);
    spec.set("nand.planes_per_die", PLANES).holding(1_024)
}

/// The time of a row of `pages` flash pages on an idle die: their data one after another, one program.
fn alone(pages: u64) -> u64 {
    pages * TRANSFER + (pages - 1) * GAP + PROGRAM.0
}

/// The latency of a write of `pages` pages to an idle device without a buffer.
fn latency(spec: &Spec, pages: u32) -> u64 {
    let mut device = assemble(spec.setup());
    let done = closed_loop(&mut device, 1, [request(Op::Write, 0, 8 * pages, 0)]);
    assert_eq!(device.ftl().audit(), Ok(()));
    done[0].latency().0
}

#[test]
fn a_row_is_programmed_at_once() {
    for placement in ["dynamic", "static"] {
        let spec = die(placement);
        for pages in 1..=PLANES {
            assert_eq!(latency(&spec, pages), alone(pages.into()), "{placement}, {pages}");
        }
        assert_eq!(latency(&spec, 6), alone(4) + alone(2), "{placement}");
        // One after another: the first page finds its die idle and does not wait; the later ones do.
        let without = spec.set("ftl.placement.rows", "off");
        assert_eq!(latency(&without, 4), alone(1) + alone(3), "{placement}");
    }
}

/// If the second page of a row lacks sectors, the whole row waits for them.
#[test]
fn a_row_waits_for_its_old_copies() {
    let spec = die("dynamic");
    let mut device = assemble(spec.setup());
    closed_loop(&mut device, 1, [request(Op::Write, 0, 8 * PLANES, 0)]);
    // Page 0 whole, and two sectors of page 1. Not just one codeword of four: the whole unit is read.
    let done = closed_loop(&mut device, 1, [request(Op::Write, 0, 10, 1)]);
    assert_eq!(done[0].latency().0, READ.0 + TRANSFER + alone(2));
    assert_eq!(device.flash().overlaps().multi_plane[Kind::Program as usize], 3 + 1);
}

/// What limits a run, and how it writes.
struct Case {
    name: &'static str,
    dies: u32,
    placement: &'static str,
    random: bool,
    cached: bool,
    /// How many times slower the bus is than [`TRANSFER`] says.
    slower: u64,
}

impl Case {
    fn spec(&self) -> Spec {
        let cached = if self.cached { "on" } else { "off" };
        let spec = die(self.placement)
            .set("nand.dies_per_chip", self.dies)
            .set(BLOCKS, 1_000)
            .set("nand.bus.rate", format!("{}B/s", 409_600_000 / self.slower))
            .set("nand.cache_ops.program", cached)
            .buffered("lru", 64 * self.dies)
            .set("cache.programs_per_die", 2);
        spec.holding(12_000 * self.dies)
    }

    /// Nanoseconds a page that the dies or the bus need.
    fn bound(&self) -> f64 {
        let moved = f64::from(PLANES) * (TRANSFER * self.slower) as f64
            + f64::from(PLANES - 1) * GAP as f64;
        let hidden = if self.cached { 0.0 } else { moved };
        let of_dies = (hidden + PROGRAM.0 as f64) / f64::from(self.dies);
        of_dies.max(moved) / f64::from(PLANES)
    }

    /// Nanoseconds a page as measured.
    fn measured(&self, rows: bool) -> f64 {
        let spec = self.spec().set("ftl.placement.rows", if rows { "on" } else { "off" });
        let mut device = assemble(spec.setup());
        let mut stream = Stream::new(9, "pages");
        let pages = 8_000 * self.dies;
        let mut page = |number: u32| match self.random {
            true => stream.below(spec.logical_pages().into()),
            false => number.into(),
        };
        let mut writes = (0..pages).map(|tag| request(Op::Write, page(tag) * 8, 8, tag));
        // The buffer is full when the measurement begins, and full when it ends.
        let warm: Vec<Request> = writes.by_ref().take(128 * self.dies as usize).collect();
        closed_loop(&mut device, 32, warm);
        let before = (device.now(), device.buffer_counts().written_back);
        closed_loop(&mut device, 32, writes);
        let written = device.buffer_counts().written_back - before.1;
        assert_eq!(device.ftl_counts().gc_runs, 0);
        (device.now() - before.0).0 as f64 / written as f64
    }
}

#[test]
fn writes_reach_what_all_planes_or_the_bus_can_take() {
    let plain = Case {
        name: "sequential, dies",
        dies: 4,
        placement: "dynamic",
        random: false,
        cached: false,
        slower: 1,
    };
    let cases = [
        Case { name: "random, dies", random: true, ..plain },
        Case { name: "sequential, by address", placement: "static", ..plain },
        Case { name: "sequential, partly by address", placement: "partly-dynamic", ..plain },
        Case { name: "sequential, transfers hidden", cached: true, ..plain },
        Case { name: "random, transfers hidden", cached: true, random: true, ..plain },
        Case { name: "sequential, bus", slower: 10, cached: true, ..plain },
        Case { name: "random, bus", slower: 10, random: true, ..plain },
        Case { name: "one die", dies: 1, cached: true, random: true, ..plain },
        plain,
    ];
    for case in cases {
        let (bound, measured, without) = (case.bound(), case.measured(true), case.measured(false));
        let off = measured / bound - 1.0;
        println!(
            "{}: {bound:.0} ns a page, measured {measured:.0} ({:+.2} %), without rows {without:.0}",
            case.name,
            100.0 * off
        );
        assert!((-0.005..0.02).contains(&off), "{}: {measured}, not {bound}", case.name);
    }
}

/// The write rate that a preset's dies or bus allow, in MB/s, without an SLC cache (docs/validation.md).
const PRESETS: [(&str, f64); 9] = [
    ("slc-16g", 318.0),
    ("slc-240g", 4_553.0),
    ("mlc-32g", 146.0),
    ("mlc-256g", 379.0),
    ("plain-32g", 412.0),
    ("tlc-512g", 412.0),
    ("tlc-1t", 2_110.0),
    ("qlc-1t", 270.0),
    ("qlc-2t", 480.0),
];

#[test]
fn presets_write_in_order_what_their_parts_can_take() {
    const BYTES: u64 = 128 * 1024;
    const REQUESTS: u32 = 40_000;
    for (name, bound) in PRESETS {
        let layers = [Layer::preset(name), Layer::set(1, "ftl.slc_cache.policy=none")];
        let config = Config::load(&layers).expect("the preset is valid");
        let mut device = assemble(DeviceSetup::new(&config, 1));
        let sectors = BYTES / 512;
        let span = device.capacity_sectors() / sectors;
        let write =
            |tag: u32| request(Op::Write, u64::from(tag) % span * sectors, sectors as u32, tag);
        let done = closed_loop(&mut device, 32, (0..REQUESTS).map(write));
        // The second half: the buffer is full.
        let (half, last) = (done[done.len() / 2].finished, done[done.len() - 1].finished);
        let bytes = (done.len() - 1 - done.len() / 2) as u64 * BYTES;
        let measured = bytes as f64 / (last - half).0 as f64 * 1e3;
        println!("{name}: {measured:.1} MB/s, bound {bound}");
        assert!((measured / bound - 1.0).abs() < 0.02, "{name}: {measured:.1} MB/s, not {bound}");
    }
}
