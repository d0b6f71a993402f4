//! The time of the host's side: links of every interface, and the ceilings that they set, to the nanosecond.

use ftlab::config::Config;
use ftlab::device::assemble;
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Completion, Host, Op, Request};
use ftlab::units::{Lba, Nanos, SimTime};

use crate::common::{DRAM, Spec, closed_loop};

/// Reads of what was never written, and writes that a buffer takes, need the latency of DRAM and nothing else.
fn command(op: Op, first: u64, sectors: u32) -> Request {
    Request { op, lba: Lba(first), sectors, stream: 0, tag: 0, fua: false }
}

fn on(interface: &str) -> Spec {
    Spec::small().set("host.link.interface", interface).buffered("lru", 64)
}

/// The time until the last of these requests is done, all of them submitted at once.
fn all_at_once(spec: &Spec, requests: &[Request]) -> (Nanos, Vec<Completion>) {
    let mut device = assemble(spec.setup());
    requests.iter().for_each(|&request| device.submit(SimTime::ZERO, request));
    let mut done = Vec::new();
    while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    assert!(done.iter().all(|done| done.breakdown.total() == done.latency()), "{done:?}");
    assert_eq!(done.len(), requests.len());
    let last = done.iter().map(|done| done.finished).max().expect("some requests");
    (last - SimTime::ZERO, done)
}

/// 4 KiB on four lanes of PCIe 3, by hand: 16 packets of 256 + 24 bytes at 3,938,461,538 bytes a second.
const PCIE_4K: u64 = 1_138;
/// 4 KiB on SATA 3, by hand: a frame of 4096 + 16 bytes at 600 MB/s.
const SATA_4K: u64 = 6_854;

/// Reads wait for DRAM and then for the wire; writes for the wire and then for DRAM.
#[test]
fn a_link_carries_as_much_as_its_interface() {
    for (interface, each) in [("pcie-3x4", PCIE_4K), ("sata-3", SATA_4K)] {
        for op in [Op::Read, Op::Write] {
            let commands = [command(op, 0, 8); 20];
            let (time, done) = all_at_once(&on(interface), &commands);
            assert_eq!(time, Nanos(DRAM.0 + 20 * each), "{interface}, {op:?}");
            assert_eq!(done[19].breakdown.link, Nanos(20 * each));
        }
    }
}

/// 3,600 MB/s for large reads on four lanes of PCIe 3, twice that with each generation after it.
#[test]
fn generations_and_lanes_double_the_ceiling() {
    let rate = |interface: &str| {
        let count = 200;
        let mut device = assemble(on(interface).setup());
        closed_loop(&mut device, 8, vec![command(Op::Read, 0, 64); count]);
        (count * 64 * 512) as f64 / (device.now().0 - DRAM.0) as f64
    };
    let megabytes = [
        ("pcie-1x4", 914.286),
        ("pcie-2x4", 1_828.571),
        ("pcie-3x4", 3_600.879),
        ("pcie-3x16", 14_403.516),
        ("pcie-4x4", 7_201.758),
        ("pcie-5x4", 14_403.516),
        ("pcie-6x4", 27_764.706),
        ("sata-1", 149.707),
        ("sata-2", 299.415),
        ("sata-3", 598.830),
    ];
    for (interface, expected) in megabytes {
        let off = rate(interface) * 1e3 / expected - 1.0;
        // Each transfer of 32 KiB is rounded up to a nanosecond, of 295 or more.
        assert!((-0.0035..=1e-5).contains(&off), "{interface}: {off}");
    }
}

/// Reads and writes pass each other on PCIe. On SATA they share the wire, in the order in which they come to it: the
/// writes at once, the reads after DRAM has answered.
#[test]
fn only_pcie_moves_both_ways_at_once() {
    let mix: Vec<Request> =
        (0..10).flat_map(|_| [command(Op::Read, 0, 8), command(Op::Write, 320, 8)]).collect();
    let (time, _) = all_at_once(&on("pcie-3x4"), &mix);
    assert_eq!(time, Nanos(DRAM.0 + 10 * PCIE_4K));
    let (time, done) = all_at_once(&on("sata-3"), &mix);
    assert_eq!(time, Nanos(20 * SATA_4K));
    let ends = |op| done.iter().filter(move |done| done.request.op == op).map(|d| d.finished.0);
    assert!(ends(Op::Write).eq((1..=10).map(|n| n * SATA_4K + DRAM.0)));
    assert!(ends(Op::Read).eq((11..=20).map(|n| n * SATA_4K)));
}

/// In a closed loop of mixed sizes the wire of SATA never rests, so the run is as long as all its frames.
#[test]
fn a_mix_fills_the_wire_of_sata() {
    let mut random = Stream::new(3, "mix");
    let mix: Vec<Request> = (0..2_000)
        .map(|_| {
            let op = if random.below(3) == 0 { Op::Write } else { Op::Read };
            let first = if op == Op::Write { 320 } else { 0 };
            command(op, first, 8 * (1 + random.below(8) as u32))
        })
        .collect();
    let mut device = assemble(on("sata-3").buffered("lru", 256).setup());
    let done = closed_loop(&mut device, 32, mix.iter().copied());
    let frames = |request: &Request| {
        let data = u64::from(request.sectors) * 512;
        let ns = (data + data.div_ceil(8_192) * 16) as f64 / 0.6;
        ns.ceil() as u64
    };
    let wire: u64 = mix.iter().map(frames).sum();
    // Before its first transfer and after its last, the device is at most in DRAM.
    let over = done.iter().map(|done| done.finished.0).max().expect("some requests") - wire;
    assert!(over <= 2 * DRAM.0, "{over} ns");
}

fn told(sets: &[(&str, &str)]) -> Result<Config, String> {
    let spec = sets.iter().fold(Spec::small(), |spec, (path, value)| spec.set(path, value));
    spec.load().map_err(|errors| {
        let problem = &errors.problems[0];
        format!("{}; {}", problem.message, problem.remedy)
    })
}

#[test]
fn a_link_has_one_rate_and_sata_one_short_queue() {
    const SATA: (&str, &str) = ("host.link.interface", "sata-3");
    let other = "or host.link.interface to a PCIe link, such as \"pcie-3x4\"";
    let refused = [
        (
            ("host.link.rate", "3GB/s"),
            "sata-3 already says how fast the link is, and host.link.rate says 3GB/s; set host.link.rate to \
             \"none\", or host.link.interface to \"none\""
                .to_owned(),
        ),
        (
            ("host.queues", "2"),
            format!("Serial ATA has one queue, not 2; set host.queues to 1, {other}"),
        ),
        (
            ("host.queue_depth", "64"),
            format!("Serial ATA has tags for 32 commands, not for 64; set host.queue_depth to 32, {other}"),
        ),
    ];
    for (set, expected) in refused {
        assert_eq!(told(&[SATA, set]).expect_err("contradictory"), expected);
    }
    // Unless it is set, the depth is that of the tags.
    assert_eq!(told(&[SATA]).expect("sound").options.host.queue_depth, [32]);
    assert_eq!(
        told(&[SATA, ("host.queue_depth", "8")]).expect("sound").options.host.queue_depth,
        [8]
    );
}
