//! Waits under random arrivals, against the Pollaczek-Khinchine formula and against Cobham's for
//! priorities.
//!
//! One die alone on its channel serves one command after another: a single server. A read holds it
//! for sensing and transfer, a write for transfer and program. Arrivals are a Poisson process. The
//! test computes the statistical error from batch means, and requires it to be so far below the
//! tolerance that a correct model fails with a chance under 1e-4 for one seed; the seed is fixed.

use ftlab::device::assemble;
use ftlab::engine::Stream;
use ftlab::host::{Completion, Host, Op, Request};
use ftlab::units::{Nanos, SimTime};

use crate::common::{
    BLOCKS, PAGE_TIMES, PROGRAM, READ, Spec, fill, mean_and_error, poisson, request, timed,
};

/// 4 KiB at 409.6 MB/s.
const TRANSFER: f64 = 10_000.0;
const READ_SERVICE: f64 = READ.0 as f64 + TRANSFER;
const WRITE_SERVICE: f64 = PROGRAM.0 as f64 + TRANSFER;
/// Pages that are on flash before the run.
const WRITTEN: u32 = 1_200;

/// One die with room for `writes` more pages without collection.
fn one_die(writes: u32) -> Spec {
    let spec = Spec::small().set("nand.pages_per_block", 120);
    spec.set(BLOCKS, (WRITTEN + writes) / 120 + 8).holding(WRITTEN + writes)
}

/// The waits of reads and of writes, in order of arrival, in nanoseconds.
#[derive(Default)]
struct Waits {
    reads: Vec<f64>,
    writes: Vec<f64>,
}

/// Serves requests that arrive at load `rho` with the given mean service time.
fn serve(spec: &Spec, rho: f64, mean: f64, requests: impl Iterator<Item = Request>) -> Waits {
    let mut device = assemble(spec.setup());
    fill(&mut device, 1, 0..WRITTEN, 8);
    let start = device.now();
    let arrivals = poisson(11, mean / rho).map(|at| start + (at - SimTime::ZERO));
    let mut waits = Waits::default();
    timed(&mut device, arrivals.zip(requests), |completion| {
        let Completion { request, breakdown, .. } = completion;
        // Whatever is not service is waiting.
        let waited = completion.latency().0 - breakdown.cell.0 - breakdown.bus.0;
        assert_eq!(Nanos(waited), breakdown.queue, "{completion:?}");
        let waits = if request.op == Op::Read { &mut waits.reads } else { &mut waits.writes };
        waits.push(waited as f64);
    });
    assert_eq!(device.ftl_counts().gc_runs, 0);
    waits
}

fn random_reads(seed: u64, count: u32) -> impl Iterator<Item = Request> {
    let mut stream = Stream::new(seed, "pages");
    (0..count).map(move |tag| request(Op::Read, stream.below(WRITTEN.into()) * 8, 8, tag))
}

/// The mean wait is within `tolerance` of `expected`, and the error of the mean is small enough to tell.
fn check(name: &str, waits: &[f64], expected: f64, tolerance: f64) {
    let (mean, error) = mean_and_error(waits);
    let (off, error) = (mean / expected - 1.0, error / expected);
    println!(
        "{name}: {:.2} us expected, {:.2} us measured, {:+.2} % (standard error {:.2} %)",
        expected / 1e3,
        mean / 1e3,
        100.0 * off,
        100.0 * error
    );
    assert!(4.0 * error < tolerance, "{name}: not enough requests: error {error}");
    assert!(off.abs() < tolerance, "{name}: {mean} ns instead of {expected} ns");
}

/// Pollaczek-Khinchine: the mean wait at rate `lambda` for services with these moments.
fn pollaczek_khinchine(lambda: f64, mean: f64, square: f64) -> f64 {
    lambda * square / (2.0 * (1.0 - lambda * mean))
}

#[test]
fn fixed_service_waits_as_m_d_1() {
    for (rho, reads, tolerance) in
        [(0.2, 500_000, 0.03), (0.5, 500_000, 0.03), (0.7, 1_000_000, 0.03), (0.9, 4_000_000, 0.05)]
    {
        let waits = serve(&one_die(0), rho, READ_SERVICE, random_reads(1, reads));
        let expected = pollaczek_khinchine(rho / READ_SERVICE, READ_SERVICE, READ_SERVICE.powi(2));
        check(&format!("M/D/1 at {rho}"), &waits.reads, expected, tolerance);
    }
}

/// A random page is of each type with equal chance: blocks of 120 pages, 1,200 pages written.
#[test]
fn page_types_wait_as_m_g_1() {
    let services = PAGE_TIMES.map(|times| times.read.0 as f64 + TRANSFER);
    let mean = services.iter().sum::<f64>() / 3.0;
    let square = services.iter().map(|s| s * s).sum::<f64>() / 3.0;
    let spec = one_die(0).set("nand.timing.policy", "page-type");
    for (rho, reads, tolerance) in [(0.5, 500_000, 0.03), (0.8, 2_000_000, 0.04)] {
        let waits = serve(&spec, rho, mean, random_reads(2, reads));
        let expected = pollaczek_khinchine(rho / mean, mean, square);
        check(&format!("page types at {rho}"), &waits.reads, expected, tolerance);
    }
}

/// Planes that sense on their own are queues of their own: each gets its share of the arrivals. The bus is so fast that
/// waits for it do not count.
#[test]
fn planes_apart_wait_as_separate_m_d_1() {
    const PLANES: u32 = 4;
    /// 4 KiB at 40.96 GB/s.
    const FAST: f64 = 100.0;
    let service = READ.0 as f64 + FAST;
    let spec = one_die(0).set("nand.planes_per_die", PLANES).holding(WRITTEN);
    let spec = spec.set("nand.multi_plane.independent_reads", "on");
    let spec = spec.set("nand.bus.rate", "40.96GB/s");
    for (rho, reads, tolerance) in
        [(0.3, 500_000, 0.03), (0.5, 500_000, 0.03), (0.7, 1_000_000, 0.04)]
    {
        let waits = serve(&spec, rho, service / f64::from(PLANES), random_reads(4, reads));
        let expected = pollaczek_khinchine(rho / service, service, service.powi(2));
        check(&format!("planes apart at {rho}"), &waits.reads, expected, tolerance);
    }
}

/// Four reads to each write, every write to its own page, in random order.
fn mixture(count: u32) -> impl Iterator<Item = Request> {
    let mut stream = Stream::new(3, "mixture");
    let mut next = u64::from(WRITTEN);
    (0..count).map(move |tag| {
        if stream.below(5) > 0 {
            return request(Op::Read, stream.below(WRITTEN.into()) * 8, 8, tag);
        }
        next += 1;
        request(Op::Write, (next - 1) * 8, 8, tag)
    })
}

/// Load, requests, tolerance.
const MIXED_RUNS: [(f64, u32, f64); 2] = [(0.4, 1_200_000, 0.03), (0.7, 2_500_000, 0.05)];
const MIXED_MEAN: f64 = 0.8 * READ_SERVICE + 0.2 * WRITE_SERVICE;
const MIXED_SQUARE: f64 = 0.8 * READ_SERVICE * READ_SERVICE + 0.2 * WRITE_SERVICE * WRITE_SERVICE;

#[test]
fn reads_and_writes_in_order_wait_as_m_g_1() {
    for (rho, count, tolerance) in MIXED_RUNS {
        let waits = serve(&one_die(count / 4), rho, MIXED_MEAN, mixture(count));
        let expected = pollaczek_khinchine(rho / MIXED_MEAN, MIXED_MEAN, MIXED_SQUARE);
        // First in, first out: a read waits as long as a write.
        check(&format!("mixed, reads at {rho}"), &waits.reads, expected, tolerance);
        check(&format!("mixed, writes at {rho}"), &waits.writes, expected, tolerance);
    }
}

/// Cobham, "Priority Assignment in Waiting Line Problems", Operations Research 1954.
#[test]
fn reads_first_wait_as_in_a_priority_queue() {
    for (rho, count, tolerance) in MIXED_RUNS {
        let spec = one_die(count / 4).set("scheduler.policy", "read-first");
        let waits = serve(&spec, rho, MIXED_MEAN, mixture(count));
        let lambda = rho / MIXED_MEAN;
        let residual = lambda * MIXED_SQUARE / 2.0;
        let of_reads = residual / (1.0 - lambda * 0.8 * READ_SERVICE);
        let of_writes = of_reads / (1.0 - rho);
        check(&format!("reads first, reads at {rho}"), &waits.reads, of_reads, tolerance);
        check(&format!("reads first, writes at {rho}"), &waits.writes, of_writes, tolerance);
    }
}
