//! Throughput at high queue depth: what the bus or the dies can carry, and not more.
//!
//! Addresses go round the dies in turn, so nothing is random and the run's length has a closed
//! form: the bottleneck never pauses once the first command has reached it. Random runs come as
//! close as their queue depth allows; the test derives the margin.

use ftlab::device::assemble;
use ftlab::engine::Stream;
use ftlab::host::{Host, Op, Request};
use ftlab::units::Nanos;

use crate::common::{BLOCKS, PROGRAM, READ, Spec, closed_loop, fill, request};

const PAGES: u32 = 2_400;
/// 4 KiB at 409.6 MB/s.
const TRANSFER: Nanos = Nanos(10_000);

fn array(channels: u32, dies: u32) -> Spec {
    let spec = Spec::small().set("nand.channels", channels).set("nand.dies_per_chip", dies);
    spec.set(BLOCKS, 600).holding(2 * PAGES)
}

fn in_order(op: Op, first: u32) -> impl Iterator<Item = Request> {
    (first..first + PAGES).map(move |page| request(op, u64::from(page) * 8, 8, page))
}

/// The time to read, then to write, all pages in order.
fn run(spec: &Spec) -> (Nanos, Nanos) {
    let mut device = assemble(spec.setup());
    fill(&mut device, 64, 0..PAGES, 8);
    let start = device.now();
    closed_loop(&mut device, 64, in_order(Op::Read, 0));
    let between = device.now();
    closed_loop(&mut device, 64, in_order(Op::Write, PAGES));
    (between - start, device.now() - between)
}

#[test]
fn the_bus_bounds_many_dies() {
    // Eight dies sense in 50 us while the bus moves seven other pages in 70 us.
    let (read, _) = run(&array(1, 8));
    assert_eq!(read, Nanos(READ.0 + u64::from(PAGES) * TRANSFER.0));
    // On a bus ten times slower, eight dies program in 600 us while it moves seven pages in 700 us.
    let slow = array(1, 8).set("nand.bus.rate", "40.96MB/s");
    let (read, write) = run(&slow);
    assert_eq!(read, Nanos(READ.0 + u64::from(PAGES) * 10 * TRANSFER.0));
    assert_eq!(write, Nanos(u64::from(PAGES) * 10 * TRANSFER.0 + PROGRAM.0));
}

#[test]
fn the_dies_bound_a_fast_bus() {
    // Four dies are busy 60 us with each read, of which the bus sees 10; the last of them starts its
    // first transfer when the other three are done.
    let (read, write) = run(&array(1, 4));
    let turns = u64::from(PAGES) / 4;
    let late = 3 * TRANSFER.0;
    assert_eq!(read, Nanos(turns * (READ.0 + TRANSFER.0) + late));
    assert_eq!(write, Nanos(turns * (PROGRAM.0 + TRANSFER.0) + late));
}

/// A die whose planes sense on their own reads as fast as that many dies, and no faster than the bus.
#[test]
fn planes_apart_bound_reads_like_dies() {
    let one_die = |planes: u32, apart: &str| {
        let spec = array(1, 1).set("nand.planes_per_die", planes);
        let (read, write) = run(&spec.set("nand.multi_plane.independent_reads", apart));
        (read.0, write)
    };
    let pages = u64::from(PAGES);
    for planes in [2, 4] {
        let late = (planes - 1) * TRANSFER.0;
        let (read, write) = one_die(planes as u32, "on");
        assert_eq!(read, pages / planes * (READ.0 + TRANSFER.0) + late, "{planes} planes");
        let (in_turn, same) = one_die(planes as u32, "off");
        assert_eq!(in_turn, pages * (READ.0 + TRANSFER.0));
        // Programs still have the die to themselves.
        assert_eq!((write, same), (same, Nanos(pages * (PROGRAM.0 + TRANSFER.0))));
    }
    // Eight planes sense in 50 us while the bus moves seven other pages in 70 us.
    assert_eq!(one_die(8, "on").0, READ.0 + pages * TRANSFER.0);
}

#[test]
fn channels_add_up() {
    let (one, _) = run(&array(1, 8));
    let (four, _) = run(&array(4, 8));
    assert_eq!(four.0 - READ.0, (one.0 - READ.0) / 4);
}

/// Random reads at a depth of 256 on 8 dies. A die rests only if all 256 reads miss it, which has a
/// chance of 8 (7/8)^256 < 1e-13 at a time. That leaves the start and the end of the run, where
/// the queue is short: under 256 service times of 8 dies in parallel, which is 32 of 300 turns at
/// the very worst if all fell on the slowest die. At the end dies differ by a standard deviation of
/// sqrt(2400 / 8) = 17 reads of 300, so 4 of them bound the excess.
#[test]
fn random_reads_come_close_to_the_dies() {
    let spec = array(1, 8).set("nand.bus.rate", "40.96GB/s");
    let mut device = assemble(spec.setup());
    fill(&mut device, 64, 0..PAGES, 8);
    let mut stream = Stream::new(5, "pages");
    let start = device.now();
    let reads = 16 * PAGES;
    let random = (0..reads).map(|tag| request(Op::Read, stream.below(PAGES.into()) * 8, 8, tag));
    closed_loop(&mut device, 256, random);
    let floor = u64::from(reads) / 8 * (READ.0 + 100);
    let excess = (device.now() - start).0 as f64 / floor as f64 - 1.0;
    println!("random reads take {:.2} % longer than the dies' minimum", 100.0 * excess);
    assert!((0.0..0.05).contains(&excess), "{excess}");
}
