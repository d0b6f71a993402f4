//! The engines that decode what is read: single pages by hand, ceilings, and waits against the Pollaczek-Khinchine
//! formula and a naive queue.
//!
//! A page of 4 KiB has four codewords of 1 KiB, which the bus moves in 2.5 us each.

use ftlab::device::assemble;
use ftlab::engine::Stream;
use ftlab::host::{Breakdown, Completion, Host, Op, Request};
use ftlab::units::{Nanos, SimTime};

use crate::common::{
    BLOCKS, READ, Spec, alone, closed_loop, fill, mean_and_error, poisson, request, timed,
};

const CODEWORDS: u64 = 4;
const TRANSFER: Nanos = Nanos(10_000);
const PAGES: u32 = 2_400;

fn decoding(engines: u32, codeword: &str) -> Spec {
    Spec::small()
        .set("nand.codeword", "1KiB")
        .set(BLOCKS, 600)
        .set("controller.ecc.engines", engines)
        .set("controller.ecc.codeword", codeword)
}

/// How a read of whole pages spends its time on an idle device.
fn read_alone(spec: &Spec, sectors: u32) -> Breakdown {
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..8, 8);
    let done = alone(&mut device, request(Op::Read, 0, sectors, 9));
    assert_eq!(done.breakdown.total(), done.latency());
    done.breakdown
}

fn on_flash(decoding: u64) -> Breakdown {
    Breakdown { cell: READ, bus: TRANSFER + Nanos(decoding), ..Breakdown::default() }
}

#[test]
fn a_fast_engine_adds_its_last_codeword() {
    assert_eq!(read_alone(&decoding(1, "1us"), 8), on_flash(1_000));
    let deep = decoding(1, "1us").set("controller.ecc.latency", "700ns");
    assert_eq!(read_alone(&deep, 8), on_flash(1_700));
}

#[test]
fn a_slow_engine_begins_with_the_first_codeword() {
    // It comes 7.5 us before the last one.
    assert_eq!(read_alone(&decoding(1, "6us"), 8), on_flash(4 * 6_000 - 7_500));
    // Two engines: the third codeword waits for the first engine, the fourth for the second.
    assert_eq!(read_alone(&decoding(2, "6us"), 8), on_flash(2 * 6_000 - 5_000));
}

#[test]
fn a_part_of_a_page_has_fewer_codewords() {
    let half = Breakdown { bus: Nanos(5_000 + 2 * 6_000 - 2_500), ..on_flash(0) };
    assert_eq!(read_alone(&decoding(1, "6us"), 4), half);
}

#[test]
fn writes_are_not_decoded() {
    let mut device = assemble(decoding(1, "6us").setup());
    let done = alone(&mut device, request(Op::Write, 0, 8, 1));
    assert_eq!(done.breakdown.bus, TRANSFER);
}

/// Reads pages in order, eight dies on one channel, and returns how long that takes.
fn read_in_order(spec: &Spec) -> Nanos {
    let spec = spec.clone().set("nand.channels", 1).set("nand.dies_per_chip", 8);
    let mut device = assemble(spec.holding(PAGES).setup());
    fill(&mut device, 64, 0..PAGES, 8);
    let start = device.now();
    let reads = (0..PAGES).map(|page| request(Op::Read, u64::from(page) * 8, 8, page));
    closed_loop(&mut device, 64, reads);
    device.now() - start
}

#[test]
fn engines_bound_a_faster_bus() {
    let first = READ.0 + TRANSFER.0 / CODEWORDS;
    // The bus moves a page in 10 us, and an engine decodes it in 12.
    let all = u64::from(PAGES) * CODEWORDS * 3_000;
    assert_eq!(read_in_order(&decoding(1, "3us")), Nanos(first + all));
    // Two engines keep up with it, and add the last codeword.
    let bus = READ.0 + u64::from(PAGES) * TRANSFER.0;
    assert_eq!(read_in_order(&decoding(2, "3us")), Nanos(bus + 3_000));
}

#[test]
fn the_die_goes_on_while_its_page_is_decoded() {
    // 40 us of decoding behind 50 us of sensing and 10 of transfer: one die, always busy.
    let one = decoding(1, "10us").set("nand.channels", 1).set("nand.dies_per_chip", 1);
    let mut device = assemble(one.holding(PAGES).setup());
    fill(&mut device, 8, 0..100, 8);
    let start = device.now();
    closed_loop(&mut device, 8, (0..100).map(|page| request(Op::Read, page * 8, 8, page as u32)));
    let tail = Nanos(4 * 10_000 - 7_500);
    assert_eq!(device.now() - start, Nanos(100 * (READ.0 + TRANSFER.0)) + tail);
}

/// 4 KiB at 100 GB/s.
const ON_BUS: u64 = 41;

/// Reads at random times from so many dies that their pages come to the engines nearly as a Poisson process: each page
/// waits little before. Returns when each came to the engines, and how long it was there.
fn at_random(spec: &Spec, mean_ns: f64, count: u32) -> Vec<(SimTime, Nanos)> {
    let spec = spec.clone().set("nand.channels", 16).set("nand.dies_per_chip", 16);
    let spec = spec
        .set("nand.chips_per_channel", 4)
        .set("nand.bus.rate", "100GB/s")
        .set("controller.ecc.serve", "device");
    let mut device = assemble(spec.holding(PAGES).setup());
    fill(&mut device, 64, 0..PAGES, 8);
    let start = device.now();
    let arrivals = poisson(5, mean_ns).map(|at| start + (at - SimTime::ZERO));
    let mut random = Stream::new(6, "pages");
    let reads = (0..count)
        .map(|tag| -> Request { request(Op::Read, random.below(PAGES.into()) * 8, 8, tag) });
    let mut stays = Vec::new();
    timed(&mut device, arrivals.zip(reads), |completion| {
        let Completion { finished, breakdown, .. } = *completion;
        let stay = breakdown.bus.0 - ON_BUS;
        stays.push((SimTime(finished.0 - stay), Nanos(stay)));
    });
    stays
}

#[test]
fn one_engine_waits_as_m_d_1() {
    // A page is one codeword of 4 KiB.
    let service = 2_000.0;
    let spec = decoding(1, "2us").set("nand.codeword", "4KiB");
    for (rho, count) in [(0.3, 400_000), (0.6, 800_000)] {
        let stays = at_random(&spec, service / rho, count);
        let waits: Vec<f64> = stays.iter().map(|&(_, stay)| stay.0 as f64 - service).collect();
        let (mean, error) = mean_and_error(&waits);
        let expected = rho * service / (2.0 * (1.0 - rho));
        println!("M/D/1 at {rho}: {expected:.1} ns expected, {mean:.1} ns measured ({error:.1})");
        // 1,024 dies that sense for 50 us are nearly a Poisson process.
        assert!(
            (mean / expected - 1.0).abs() < 0.05,
            "{mean} ns instead of {expected} ns at {rho}"
        );
        assert!(4.0 * error < 0.03 * expected);
    }
}

/// A naive queue: pages in the order in which they came, each codeword to the engine that is free first.
#[test]
fn several_engines_work_as_a_naive_queue() {
    let spec = decoding(3, "2us").set("nand.codeword", "2KiB");
    let mut stays = at_random(&spec, 2.0 * 2_000.0 / (3.0 * 0.8), 50_000);
    stays.sort_by_key(|&(came, _)| came);
    // Pages that come at one moment may be taken in either order.
    let alone = |at: usize| at == 0 || stays[at - 1].0 < stays[at].0;
    let mut free_at = [SimTime::ZERO; 3];
    let mut checked = 0;
    for (at, &(came, stay)) in stays.iter().enumerate() {
        let mut done = came;
        for behind in [1, 0] {
            let engine = free_at.iter_mut().min().expect("there are three");
            let comes = SimTime(came.0 - behind * ON_BUS / 2);
            *engine = comes.max(*engine) + Nanos(2_000);
            done = done.max(*engine);
        }
        let differs = done - came != stay;
        assert!(!differs || !alone(at), "{stay} instead of {} at {came}", done - came);
        checked += usize::from(!differs);
    }
    assert!(checked * 100 > stays.len() * 99, "{checked} of {}", stays.len());
}
