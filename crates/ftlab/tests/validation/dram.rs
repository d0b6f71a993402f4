//! DRAM as a bandwidth: single requests by hand, ceilings, and waits against the Pollaczek-Khinchine formula.
//!
//! DRAM moves a page of 4 KiB in 10 us, as long as the bus takes.

use ftlab::device::assemble;
use ftlab::engine::Stream;
use ftlab::ftl::gc::{Purpose, Wanted};
use ftlab::host::{Breakdown, Host, Op, Request};
use ftlab::units::{BlockId, Nanos, SimTime};

use crate::common::{
    BLOCKS, DRAM, PROGRAM, READ, Spec, alone, closed_loop, fill, mean_and_error, poisson, request,
    timed,
};

const BANDWIDTH: &str = "controller.dram.bandwidth";
const RATE: &str = "409.6MB/s";
/// 4 KiB on the bus, and through DRAM.
const TRANSFER: Nanos = Nanos(10_000);
const CROSSING: Nanos = Nanos(10_000);
const PAGES: u32 = 2_400;

fn slow_dram() -> Spec {
    Spec::small().set(BANDWIDTH, RATE)
}

/// How a request spends its time on an idle device whose first pages are written.
fn spent(spec: &Spec, op: Op, sectors: u32) -> Breakdown {
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..8, 8);
    let done = alone(&mut device, request(op, 0, sectors, 9));
    assert_eq!(done.breakdown.total(), done.latency());
    done.breakdown
}

#[test]
fn a_write_crosses_into_dram_and_out_of_it() {
    let written = Breakdown {
        buffer: CROSSING,
        bus: CROSSING + TRANSFER,
        cell: PROGRAM,
        ..Breakdown::default()
    };
    assert_eq!(spent(&slow_dram(), Op::Write, 8), written);
    // The host does not wait for the way out of a buffer.
    let buffered = Breakdown { buffer: CROSSING + DRAM, ..Breakdown::default() };
    assert_eq!(spent(&slow_dram().buffered("lru", 64), Op::Write, 8), buffered);
}

#[test]
fn a_read_crosses_into_dram_and_out_of_it() {
    let read = Breakdown {
        cell: READ,
        bus: TRANSFER + CROSSING,
        buffer: CROSSING,
        ..Breakdown::default()
    };
    assert_eq!(spent(&slow_dram(), Op::Read, 8), read);
    // Three sectors lie in two codewords of 1 KiB: the flash moves both, and the host gets 1.5 KiB.
    let part = Breakdown { cell: READ, bus: Nanos(5_000 + 5_000), ..Breakdown::default() };
    let part = Breakdown { buffer: Nanos(3_750), ..part };
    assert_eq!(spent(&slow_dram(), Op::Read, 3), part);
    // From the buffer it crosses once.
    let hit = Breakdown { buffer: DRAM + CROSSING, ..Breakdown::default() };
    assert_eq!(spent(&slow_dram().buffered("lru", 64), Op::Read, 8), hit);
}

#[test]
fn what_was_read_is_decoded_before_it_crosses() {
    let spec = slow_dram().set("controller.ecc.engines", 1).set("controller.ecc.codeword", "1us");
    let read = spent(&spec, Op::Read, 8);
    assert_eq!(read.bus, TRANSFER + Nanos(1_000) + CROSSING);
}

#[test]
fn the_link_comes_before_dram_for_writes_and_behind_it_for_reads() {
    let spec = slow_dram().set("host.link.rate", "4.096GB/s");
    for op in [Op::Read, Op::Write] {
        let Breakdown { link, buffer, .. } = spent(&spec, op, 8);
        assert_eq!((link, buffer), (Nanos(1_000), CROSSING));
    }
}

#[test]
fn a_row_crosses_together() {
    let spec = slow_dram().set("nand.planes_per_die", 2).set("nand.multi_plane.program", "on");
    let row = spent(&spec, Op::Write, 16);
    let expected = Breakdown {
        buffer: CROSSING + CROSSING,
        bus: Nanos(2 * CROSSING.0 + 2 * TRANSFER.0),
        cell: PROGRAM,
        ..Breakdown::default()
    };
    assert_eq!(row, expected);
}

/// A page written in part: its old copy crosses into DRAM, and the whole page out of it.
#[test]
fn a_read_modify_write_crosses_three_times() {
    let part = spent(&slow_dram(), Op::Write, 2);
    let expected = Breakdown {
        buffer: Nanos(2_500),
        // The old page on the bus and into DRAM, the new one out of it and on the bus.
        bus: Nanos(2 * TRANSFER.0 + 2 * CROSSING.0),
        cell: READ + PROGRAM,
        ..Breakdown::default()
    };
    assert_eq!(part, expected);
}

/// How long a block with twelve valid pages takes to be emptied, one copy after the other.
fn emptying(spec: &Spec) -> Nanos {
    let mut device = assemble(spec.clone().set("ftl.gc.copies_in_flight", 1).setup());
    fill(&mut device, 1, 0..24, 8);
    let start = device.now();
    let wanted = Wanted { block: BlockId::new(0), purpose: Purpose::WearLevel };
    assert!(device.collect(wanted));
    closed_loop(&mut device, 1, []);
    device.now() - start
}

#[test]
fn a_copy_crosses_twice_and_a_copyback_never() {
    let without = emptying(&Spec::small());
    assert_eq!(emptying(&slow_dram()), without + Nanos(12 * 2 * CROSSING.0));
    let copyback = |spec: Spec| emptying(&spec.set("ftl.gc.copyback", "on"));
    assert_eq!(copyback(slow_dram()), copyback(Spec::small()));
}

/// 64 dies on four channels: the flash could do four times as much.
fn many_dies() -> Spec {
    let spec = slow_dram().set("nand.channels", 4).set("nand.dies_per_chip", 16);
    spec.set(BLOCKS, 40).holding(2 * PAGES)
}

fn in_order(op: Op, first: u32) -> impl Iterator<Item = Request> {
    (first..first + PAGES).map(move |page| request(op, u64::from(page) * 8, 8, page))
}

#[test]
fn dram_bounds_reads_and_writes_at_half_its_rate() {
    let mut device = assemble(many_dies().setup());
    let all = Nanos(u64::from(PAGES) * 2 * CROSSING.0);
    let start = device.now();
    closed_loop(&mut device, 64, in_order(Op::Write, 0));
    assert_eq!(device.now() - start, all + TRANSFER + PROGRAM);
    let start = device.now();
    closed_loop(&mut device, 64, in_order(Op::Read, 0));
    assert_eq!(device.now() - start, READ + TRANSFER + all);
}

/// Reads and writes by turns share what there is.
#[test]
fn dram_bounds_a_mixture() {
    let mut device = assemble(many_dies().setup());
    fill(&mut device, 64, 0..PAGES, 8);
    let start = device.now();
    let pairs = in_order(Op::Read, 0).zip(in_order(Op::Write, PAGES));
    closed_loop(&mut device, 256, pairs.flat_map(|(read, write)| [read, write]));
    let all = Nanos(u64::from(PAGES) * 4 * CROSSING.0);
    let took = device.now() - start;
    // The last read crosses while the last page is on the bus.
    assert_eq!(took, all + PROGRAM);
    assert_eq!(device.ftl_counts().gc_runs, 0);
}

/// Reads of what the buffer holds come to DRAM as they arrive, later by its latency. Each waits as in a naive queue, and
/// the mean is that of the formula.
#[test]
fn reads_of_the_buffer_wait_as_m_d_1() {
    let service = 2_000.0;
    let spec = Spec::small().set(BANDWIDTH, "2.048GB/s").buffered("lru", 64);
    for (rho, count) in [(0.3, 400_000), (0.6, 800_000), (0.8, 3_000_000)] {
        let mut device = assemble(spec.setup());
        fill(&mut device, 1, 0..32, 8);
        let start = device.now();
        let arrivals = poisson(5, service / rho).map(|at| start + (at - SimTime::ZERO));
        let mut random = Stream::new(6, "pages");
        let reads = (0..count).map(|tag| request(Op::Read, random.below(32) * 8, 8, tag));
        let (mut waits, mut free_at) = (Vec::new(), SimTime::ZERO);
        timed(&mut device, arrivals.zip(reads), |completion| {
            let came = completion.submitted + DRAM;
            free_at = free_at.max(came) + Nanos(service as u64);
            assert_eq!(completion.breakdown.buffer, DRAM + (free_at - came));
            waits.push((free_at - came).0 as f64 - service);
        });
        let (mean, error) = mean_and_error(&waits);
        let expected = rho * service / (2.0 * (1.0 - rho));
        println!("M/D/1 at {rho}: {expected:.1} ns expected, {mean:.1} ns measured ({error:.1})");
        assert!((mean - expected).abs() < 4.0 * error, "{mean} ns instead of {expected} at {rho}");
        assert!(4.0 * error < 0.03 * expected, "not enough requests: {error} at {rho}");
    }
}
