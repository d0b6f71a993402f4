//! The time of the host's side: links of every interface, cores that take up commands, completions and interrupts. The
//! ceilings that they set, to the nanosecond, and waits for cores against Crommelin's formula.

use ftlab::config::{Config, Layer};
use ftlab::device::assemble;
use ftlab::engine::Stream;
use ftlab::host::{Advanced, Breakdown, Completion, Host, Op, Request};
use ftlab::units::{BytesPerSec, Lba, Nanos, SimTime};

use crate::common::{DRAM, Spec, closed_loop, mean_and_error, poisson, timed};

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

/// A preset's rate gives way to an interface that is set over it. Both in one file contradict each other.
#[test]
fn an_interface_replaces_the_rate_of_a_preset() {
    let over = |layer| {
        Config::load(&[Layer::preset("mqsim"), layer]).map(|config| config.options.host.link)
    };
    let plain = over(Layer::set(1, "host.queues=1")).expect("sound");
    assert_eq!(plain.rate, Some(BytesPerSec(4_000_000_000)));
    let named = over(Layer::set(1, "host.link.interface=pcie-3x4")).expect("the rate gives way");
    assert_eq!(named.rate, None);
    let both = "[host.link]\ninterface = \"pcie-3x4\"\nrate = \"3GB/s\"\n";
    assert!(over(Layer::file("both.toml", both)).is_err());
}

/// The time to take up a command in the tests of cores.
const COMMAND: Nanos = Nanos(2_000);

fn cores(number: u32) -> Spec {
    Spec::small().set("host.command_time", "2us").set("firmware.cores", number)
}

/// Three commands at a time are taken up; the others wait in their queue.
#[test]
fn each_core_takes_up_one_command_at_a_time() {
    let (_, done) = all_at_once(&cores(3), &[command(Op::Read, 0, 8); 10]);
    for (at, done) in done.iter().enumerate() {
        let submission = Nanos(at as u64 / 3 * COMMAND.0);
        let front_end = COMMAND;
        let expected = Breakdown { submission, front_end, buffer: DRAM, ..Breakdown::default() };
        assert_eq!(done.breakdown, expected, "{at}");
    }
}

/// Cores add up, until completions are the bottleneck.
#[test]
fn commands_and_completions_bound_the_rate() {
    let count = 4_000;
    let run = |spec: &Spec| {
        let mut device = assemble(spec.setup());
        let done = closed_loop(&mut device, 64, vec![command(Op::Read, 0, 8); count as usize]);
        assert!(done.iter().all(|done| done.breakdown.total() == done.latency()));
        device.now().0
    };
    for number in [1, 2, 4, 8] {
        let spec = cores(number);
        assert_eq!(run(&spec), count / u64::from(number) * COMMAND.0 + DRAM.0, "{number}");
        // 700 ns a completion: more than a third of the time of a command.
        let slow = run(&spec.set("host.completion_time", "700ns"));
        let bound = match number {
            1 | 2 => count / u64::from(number) * COMMAND.0 + DRAM.0 + 700 * u64::from(number),
            _ => COMMAND.0 + DRAM.0 + count * 700,
        };
        assert_eq!(slow, bound, "{number}");
    }
}

/// The mean wait in an M/D/c queue, in service times (Crommelin 1932): of `c` servers with load `rho` each.
fn crommelin(c: u32, rho: f64) -> f64 {
    let load = f64::from(c) * rho;
    // The chance that a Poisson variable is at least `from`.
    let tail = |mean: f64, from: u32| {
        let chance = |n: f64| libm::exp(n * libm::log(mean) - mean - libm::lgamma(n + 1.0));
        (from..from + 2_000).map(|n| chance(f64::from(n))).sum::<f64>()
    };
    let term = |i: u32| {
        let mean = f64::from(i) * load;
        tail(mean, i * c) - f64::from(c) / load * tail(mean, i * c + 1)
    };
    (1..400).map(term).sum()
}

/// Poisson arrivals at cores. Each wait follows exactly from those before it, because every c-th command gets the core
/// of the one c before it; the mean is Crommelin's, for one core Pollaczek's and Khinchine's.
#[test]
fn waits_for_cores_are_those_of_m_d_c() {
    assert!((crommelin(1, 0.7) - 0.7 / (2.0 * 0.3)).abs() < 1e-9);
    for (c, rho, tolerance) in [(1, 0.7, 0.04), (2, 0.8, 0.06), (4, 0.8, 0.08)] {
        let count = 1_000_000;
        let mean_gap = COMMAND.0 as f64 / (rho * f64::from(c));
        let arrivals: Vec<SimTime> = poisson(5, mean_gap).take(count).collect();
        let mut device = assemble(cores(c).setup());
        let mut waits = Vec::with_capacity(count);
        let commands = arrivals.iter().map(|&at| (at, command(Op::Read, 0, 8)));
        timed(&mut device, commands, |done| waits.push(done.breakdown.submission.0));
        let c_before = c as usize;
        for at in c_before..count {
            let free = arrivals[at - c_before].0 + waits[at - c_before] + COMMAND.0;
            assert_eq!(waits[at], free.saturating_sub(arrivals[at].0), "command {at}, {c} cores");
        }
        let waits: Vec<f64> = waits.iter().map(|&wait| wait as f64).collect();
        let (mean, error) = mean_and_error(&waits);
        let expected = crommelin(c, rho) * COMMAND.0 as f64;
        println!("{c} cores at {rho}: {mean:.1} ns, {expected:.1} expected, error {error:.1}");
        assert!(4.0 * error < tolerance * expected, "not enough commands: {error}");
        assert!((mean / expected - 1.0).abs() < tolerance, "{mean} instead of {expected}");
    }
}

/// By hand on PCIe 3 x4: a command is a packet of 64 + 24 bytes, a completion one of 16 + 24.
#[test]
fn commands_and_completions_cross_the_link() {
    let (fetch, complete) = (23, 11);
    let spec = on("pcie-3x4").set("host.link.commands", "on");
    for op in [Op::Read, Op::Write] {
        let (time, done) = all_at_once(&spec, &[command(op, 0, 8)]);
        assert_eq!(time, Nanos(fetch + PCIE_4K + complete + DRAM.0), "{op:?}");
        assert_eq!(done[0].breakdown.link, Nanos(fetch + PCIE_4K + complete));
    }
    // Completions pass between the packets of the data that waits. What they take, later data waits for.
    let reads = [command(Op::Read, 0, 8); 20];
    let (time, _) = all_at_once(&spec, &reads);
    assert_eq!(time, Nanos(fetch + DRAM.0 + 20 * PCIE_4K + complete));
    // A core waits for the command that it fetches.
    let (time, done) = all_at_once(&spec.set("host.command_time", "2us"), &reads);
    assert_eq!(time, Nanos(20 * (fetch + COMMAND.0) + DRAM.0 + PCIE_4K + complete));
    assert_eq!(done[19].breakdown.submission, Nanos(19 * (fetch + COMMAND.0)));
    // Frames of 20 and 8 bytes and three double words on SATA 3. A flush moves no data.
    let spec = on("sata-3").set("host.link.commands", "on");
    let (_, done) = all_at_once(&spec, &[command(Op::Flush, 0, 0)]);
    assert_eq!(done[0].breakdown.link, Nanos(54 + 34));
}

/// While the data of a write comes in, a command waits for the packet under way, of 256 + 24 bytes in 72 ns; a second one
/// for the first. The data goes on as if there were none, and the next data waits for what they took.
#[test]
fn commands_pass_between_the_packets_of_data() {
    let (fetch, complete, packet) = (23, 11, 72);
    let spec = on("pcie-3x4").set("host.link.commands", "on");
    let long = |at| (SimTime(at), command(Op::Write, 0, 256));
    let short = |at, page: u64| (SimTime(at), command(Op::Read, page * 8, 8));
    let mut device = assemble(spec.setup());
    let mut done = Vec::new();
    let commands = [long(0), short(1_010, 40), short(1_010, 41), long(1_010)];
    timed(&mut device, commands, |it| done.push((it.request.op, it.breakdown.link.0)));
    let of = |op: Op| {
        let of = done.iter().filter(|&&(what, _)| what == op);
        of.map(|&(_, link)| link).collect::<Vec<u64>>()
    };
    let data = 36_401;
    let rest = (fetch + data - 1_010) % packet;
    assert_eq!(rest, 62);
    // The completion of the first read passes between the packets of the second one's data.
    let first = rest + fetch + PCIE_4K + PCIE_4K % packet + complete;
    assert_eq!(of(Op::Read), [first, rest + fetch + 2 * PCIE_4K + complete]);
    let second = fetch + data - 1_010 + 3 * fetch + data + complete;
    assert_eq!(of(Op::Write), [fetch + data + complete, second]);
}

/// With a threshold of 4 and 100 us.
fn coalescing() -> Spec {
    Spec::small().set("host.interrupt.coalesce", 4).set("host.interrupt.coalesce_time", "100us")
}

/// Four completions are enough; two wait until their time is over. The host looks 3 us after the interrupt, and sees what
/// was posted meanwhile, too.
#[test]
fn completions_are_told_of_together() {
    let mut device = assemble(coalescing().set("host.interrupt.delay", "3us").setup());
    let at = |us: u64| (SimTime(us * 1_000), command(Op::Read, 0, 8));
    let mut waits = Vec::new();
    timed(&mut device, [0, 0, 0, 0, 1, 10, 20].map(at), |done| {
        let Breakdown { front_end, buffer, .. } = done.breakdown;
        assert_eq!(front_end + buffer, done.latency());
        waits.push(front_end.0);
    });
    assert_eq!(waits, [3_000, 3_000, 3_000, 3_000, 2_000, 103_000, 93_000]);
}

/// The time runs from the first completion that is held back, in each queue for itself.
#[test]
fn the_first_completion_sets_the_time() {
    let mut device = assemble(coalescing().set("host.queues", 2).setup());
    let at = |us: u64, stream| (SimTime(us * 1_000), Request { stream, ..command(Op::Read, 0, 8) });
    let arrivals =
        [at(0, 0), at(30, 0), at(50, 1), at(90, 0), at(102, 0), at(120, 1), at(130, 1), at(140, 1)];
    let mut seen = Vec::new();
    timed(&mut device, arrivals, |done| {
        seen.push((done.queue.get(), done.submitted.0, done.finished.0))
    });
    let us = |queue, submitted: u64, told: u64| (queue, submitted * 1_000, told * 1_000 + DRAM.0);
    let expected = [
        us(0, 0, 100),
        us(0, 30, 100),
        us(0, 90, 100),
        us(1, 50, 140),
        us(1, 120, 140),
        us(1, 130, 140),
        us(1, 140, 140),
        us(0, 102, 202),
    ];
    assert_eq!(seen, expected);
}

/// What the host has not been told of occupies its queue, but no longer the controller.
#[test]
fn the_controller_goes_on_before_the_host_is_told() {
    let spec = coalescing().set("host.outstanding", 1);
    let (time, done) = all_at_once(&spec, &[command(Op::Read, 0, 8); 4]);
    assert_eq!(time, Nanos(4 * DRAM.0));
    assert!(done.iter().all(|done| done.finished == SimTime(4 * DRAM.0)));
    let mut device = assemble(coalescing().set("host.queue_depth", 2).setup());
    (0..2).for_each(|_| device.submit(SimTime::ZERO, command(Op::Read, 0, 8)));
    device.advance_until(SimTime(50_000), &mut Vec::new());
    assert!(!device.has_room(device.queue_of(0)));
}
