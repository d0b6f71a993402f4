//! The host's side: orders of service drawn by hand, long-run shares, what queues must not change,
//! and the ceilings of link and front end to the nanosecond.

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::host::{Advanced, Breakdown, Completion, Host, Op, Request};
use ftlab::units::{Lba, Nanos, SimTime};

use crate::common::{DRAM, Spec, closed_loop, policies};

/// A read of a page that was never written takes the DRAM latency and nothing else, so the order
/// of completions is the order of service.
fn read(queue: u32, sectors: u32) -> Request {
    Request { op: Op::Read, lba: Lba(0), sectors, stream: queue, tag: 0, fua: false }
}

fn device(spec: &Spec) -> Device {
    assemble(spec.setup())
}

/// This many queues, of weights 1, 2, 3, 4.
fn queues(queues: u32, arbitration: &str) -> Spec {
    let weights: Vec<_> = (1..=queues).map(|weight| weight.to_string()).collect();
    let spec = Spec::small().set("host.queues", queues);
    // Set last: other policies have no weights.
    spec.set("host.arbitration.weights", format!("[{}]", weights.join(", ")))
        .set("host.arbitration.policy", arbitration)
}

/// A controller that handles one command at a time.
fn one_by_one(number: u32, arbitration: &str) -> Spec {
    queues(number, arbitration).set("host.outstanding", 1)
}

fn classes(spec: Spec, classes: [&str; 4]) -> Spec {
    spec.set("host.arbitration.classes", format!("{classes:?}"))
}

/// The queues in the order in which they are served, with all commands there from the start. The
/// controller is idle then, so it takes the first command at once.
fn service(spec: &Spec, requests: &[Request]) -> Vec<u32> {
    let mut device = device(spec);
    requests.iter().for_each(|request| device.submit(SimTime::ZERO, *request));
    let mut done = Vec::new();
    while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    for (at, completion) in done.iter().enumerate() {
        // Back to back; commands wait in the submission queue.
        assert_eq!(completion.finished, SimTime(DRAM.0 * (at as u64 + 1)));
        let submission = Nanos(DRAM.0 * at as u64);
        let expected = Breakdown { submission, buffer: DRAM, ..Breakdown::default() };
        assert_eq!(completion.breakdown, expected);
    }
    assert_eq!(done.len(), requests.len());
    done.iter().map(|completion| completion.queue.get()).collect()
}

/// `counts[q]` commands for each queue q, queue after queue.
fn each(counts: &[usize]) -> Vec<Request> {
    let queues = counts.iter().enumerate();
    queues.flat_map(|(queue, &count)| vec![read(queue as u32, 8); count]).collect()
}

#[test]
fn round_robin_takes_turns() {
    let spec = one_by_one(3, "round-robin");
    assert_eq!(service(&spec, &each(&[3, 2, 1])), [0, 1, 2, 0, 1, 0]);
    let bursts = spec.set("host.arbitration.burst", 2);
    assert_eq!(service(&bursts, &each(&[3, 2, 1])), [0, 0, 1, 1, 2, 0]);
}

#[test]
fn weights_are_lengths_of_turns() {
    let spec = one_by_one(3, "weighted-round-robin");
    let order = [0, 1, 1, 2, 2, 2, 0, 1, 1, 2, 0, 0];
    assert_eq!(service(&spec, &each(&[4, 4, 4])), order);
}

/// Weights 8, 4, 1 for high, medium, low. Queue 0 is low, and is served while nothing else is
/// there, which ends its class's turn.
#[test]
fn urgent_queues_go_first_and_classes_share() {
    let spec = one_by_one(4, "priority-classes");
    let spec = classes(spec, ["low", "high", "urgent", "medium"]);
    let order = [0, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 0, 1, 3, 0];
    assert_eq!(service(&spec, &each(&[3, 9, 2, 5])), order);
}

/// Start tags of queue 0 (weight 1): 0, 8, 16, 24; of queue 1 (weight 2): 0, 4, 8, 12. The lower
/// number wins a tie.
#[test]
fn the_smallest_start_tag_goes_first() {
    let spec = one_by_one(2, "start-time-fair");
    assert_eq!(service(&spec, &each(&[4, 4])), [0, 1, 1, 0, 1, 1, 0, 0]);
    // Large commands of one queue count as several small ones of the other.
    let equal = spec.set("host.arbitration.weights", "[1]");
    let large = vec![read(0, 24); 3];
    let requests = [large, vec![read(1, 8); 5]].concat();
    assert_eq!(service(&equal, &requests), [0, 1, 1, 1, 0, 1, 1, 0]);
}

/// An idle queue earns no credit: when it comes back it starts at the current virtual time.
#[test]
fn a_queue_that_was_idle_has_no_credit() {
    let spec = one_by_one(2, "start-time-fair").set("host.arbitration.weights", "[1]");
    let mut device = device(&spec);
    let mut order = Vec::new();
    let mut done = Vec::new();
    (0..20).for_each(|_| device.submit(SimTime::ZERO, read(0, 8)));
    while order.len() < 26 {
        assert_eq!(device.advance_until(SimTime::FOREVER, &mut done), Advanced::Completed);
        for completion in done.drain(..) {
            order.push(completion.queue.get());
            if order.len() == 10 {
                (0..6).for_each(|_| device.submit(device.now(), read(1, 8)));
            }
        }
    }
    // The eleventh command was already fetched when the others came.
    assert_eq!(order[10..], [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0]);
}

/// Every queue always has commands waiting; returns the last `count` completions.
fn saturated(spec: &Spec, sectors: [u32; 4], count: usize) -> Vec<Completion> {
    let mut device = device(spec);
    let mut done = Vec::new();
    let mut all = Vec::new();
    for queue in 0..4 {
        (0..16).for_each(|_| device.submit(SimTime::ZERO, read(queue, sectors[queue as usize])));
    }
    while all.len() < count {
        assert_eq!(device.advance_until(SimTime::FOREVER, &mut done), Advanced::Completed);
        for completion in done.drain(..) {
            device.submit(device.now(), completion.request);
            all.push(completion);
        }
    }
    all
}

fn shares(done: &[Completion], of: impl Fn(&Completion) -> u32) -> [f64; 4] {
    let mut sums = [0.0; 4];
    done.iter().for_each(|c| sums[c.queue.at()] += f64::from(of(c)));
    let all: f64 = sums.iter().sum();
    sums.map(|sum| sum / all)
}

fn assert_near(found: [f64; 4], expected: [f64; 4]) {
    for (found, expected) in found.into_iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 0.01, "{found} instead of {expected}");
    }
}

#[test]
fn shares_in_the_long_run_are_the_weights() {
    let spec = |arbitration| queues(4, arbitration).set("host.outstanding", 4);
    let run = |arbitration, sectors| saturated(&spec(arbitration), sectors, 30_000);
    let commands = |arbitration| shares(&run(arbitration, [8; 4]), |_| 1);
    assert_near(commands("round-robin"), [0.25; 4]);
    assert_near(commands("weighted-round-robin"), [0.1, 0.2, 0.3, 0.4]);
    assert_near(commands("start-time-fair"), [0.1, 0.2, 0.3, 0.4]);
    // Shares are of bytes, whatever the size of the commands.
    let sizes = [64, 8, 24, 16];
    let fair = run("start-time-fair", sizes);
    assert_near(shares(&fair, |completion| completion.request.sectors), [0.1, 0.2, 0.3, 0.4]);
    // Without an urgent queue, classes share 8 to 4 to 1.
    let classed = classes(spec("priority-classes"), ["high", "medium", "low", "high"]);
    let expected = [4.0, 4.0, 1.0, 4.0].map(|share| share / 13.0);
    assert_near(shares(&saturated(&classed, [8; 4], 30_000), |_| 1), expected);
}

#[test]
fn no_queue_starves() {
    for arbitration in policies("host.arbitration.policy") {
        let spec = queues(4, arbitration).set("host.outstanding", 3);
        let done = saturated(&spec, [8; 4], 4_000);
        for queue in 0..4 {
            let turns = done.iter().enumerate().filter(|(_, c)| c.queue.get() == queue);
            let turns: Vec<usize> = turns.map(|(at, _)| at).collect();
            let longest = turns.windows(2).map(|pair| pair[1] - pair[0]).max();
            // A round has as many commands as the weights sum to; start tags let each other queue go
            // once more, because both ends of the span in virtual time count.
            let bound = 10 + if arbitration == "start-time-fair" { 3 } else { 0 };
            assert!(longest.is_some_and(|gap| gap <= bound), "{arbitration}, {queue}: {longest:?}");
        }
    }
}

/// A mixture on four streams, page-aligned and within the first pages.
fn mixture(count: u32) -> Vec<Request> {
    let request = |tag: u32| Request {
        op: if tag.is_multiple_of(3) { Op::Read } else { Op::Write },
        lba: Lba(u64::from(tag * 7 % 90) * 8),
        sectors: 8,
        stream: tag,
        tag,
        fua: false,
    };
    (0..count).map(request).collect()
}

/// If the controller takes every command at once, queues change nothing at any load.
#[test]
fn queues_alone_cost_nothing() {
    let run = |spec: Spec, depth| {
        let done = closed_loop(&mut device(&spec.buffered("lru", 16)), depth, mixture(2_000));
        done.into_iter().map(|c| (c.request, c.finished, c.breakdown)).collect::<Vec<_>>()
    };
    for depth in [1, 32] {
        let plain = run(Spec::small(), depth);
        for arbitration in policies("host.arbitration.policy") {
            assert!(run(queues(4, arbitration), depth) == plain, "{arbitration} at depth {depth}");
        }
    }
}

/// One command at a time never waits, whatever the arbitration and its limits.
#[test]
fn an_idle_controller_takes_a_command_at_once() {
    let run = |spec: &Spec| {
        let done = closed_loop(&mut device(spec), 1, mixture(300));
        done.into_iter().map(|c| (c.finished, c.breakdown)).collect::<Vec<_>>()
    };
    let plain = run(&Spec::small());
    for arbitration in policies("host.arbitration.policy") {
        assert_eq!(run(&one_by_one(3, arbitration)), plain, "{arbitration}");
    }
}

/// A link of 1 GB/s.
const LINK: &str = "host.link.rate = 1GB/s";

/// 64 sectors at that rate.
const TRANSFER: u64 = 64 * 512;

#[test]
fn reads_fill_the_link() {
    let mut device = device(&Spec::small().with(LINK));
    let count = 500;
    let done = closed_loop(&mut device, 8, vec![read(0, 64); count as usize]);
    assert_eq!(device.now(), SimTime(DRAM.0 + count * TRANSFER));
    let link = Nanos(TRANSFER);
    let first = Breakdown { buffer: DRAM, link, ..Breakdown::default() };
    assert_eq!(done[0].breakdown, first);
    assert!(done.iter().all(|c| c.breakdown.total() == c.latency()));
}

/// Writes use the other direction and do not disturb reads.
#[test]
fn the_link_is_full_duplex() {
    let spec = queues(2, "round-robin").with(LINK).buffered("lru", 64);
    let mut device = device(&spec);
    let count = 8;
    let far = Lba(40 * 8);
    for _ in 0..count {
        device.submit(SimTime::ZERO, read(0, 64));
        device.submit(SimTime::ZERO, Request { op: Op::Write, lba: far, ..read(1, 64) });
    }
    let mut done = Vec::new();
    while device.requests_in_flight() > 0 {
        device.advance_until(SimTime::FOREVER, &mut done);
    }
    for op in [Op::Read, Op::Write] {
        let ends: Vec<u64> =
            done.iter().filter(|c| c.request.op == op).map(|c| c.finished.0).collect();
        let expected: Vec<u64> = (1..=count).map(|n| n * TRANSFER + DRAM.0).collect();
        assert_eq!(ends, expected, "{op:?}");
    }
}

#[test]
fn the_front_end_takes_one_command_at_a_time() {
    let command_time = Nanos(2_000);
    let mut device = device(&Spec::small().set("host.command_time", "2us"));
    (0..5).for_each(|_| device.submit(SimTime::ZERO, read(0, 8)));
    let mut done = Vec::new();
    while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    for (at, completion) in done.iter().enumerate() {
        let submission = Nanos(command_time.0 * at as u64);
        let expected =
            Breakdown { submission, front_end: command_time, buffer: DRAM, ..Breakdown::default() };
        assert_eq!(completion.breakdown, expected);
        assert_eq!(completion.finished, SimTime(expected.total().0));
    }
}

#[test]
fn only_a_full_queue_has_no_room() {
    let mut device = device(&queues(2, "round-robin").set("host.queue_depth", 2));
    let [first, second] = [0, 1].map(|stream| device.queue_of(stream));
    device.submit(SimTime::ZERO, read(0, 8));
    assert!(device.has_room(first));
    device.submit(SimTime::ZERO, read(0, 8));
    assert!(!device.has_room(first) && device.has_room(second));
    let mut done = Vec::new();
    device.advance_until(SimTime::FOREVER, &mut done);
    assert!(device.has_room(first));
}

#[test]
#[should_panic(expected = "queue 0, which is full")]
fn a_full_queue_takes_nothing() {
    let mut device = device(&Spec::small().set("host.queue_depth", 1).with(LINK));
    (0..2).for_each(|_| device.submit(SimTime::ZERO, read(0, 8)));
}

fn config(sets: &[&str]) -> Result<Config, String> {
    let sets = sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set));
    let layers: Vec<Layer> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
    Config::load(&layers).map_err(|error| error.to_string())
}

/// The options reach the device.
#[test]
fn a_configured_front_end_is_the_same() {
    let sets = [
        "host.queues=2",
        "host.outstanding=1",
        "host.command_time=2us",
        "host.link.rate=1GB/s",
        "host.queue_of=saturate",
        "host.queue_depth=[1, 3]",
        "host.arbitration.policy=weighted-round-robin",
        "host.arbitration.weights=[1, 2]",
        "cache.latency=1us",
    ];
    let config = config(&sets).unwrap_or_else(|error| panic!("{error}"));
    let mut device = assemble(DeviceSetup::new(&config, 1));
    [0, 1, 1, 7].iter().for_each(|&stream| device.submit(SimTime::ZERO, read(stream, 64)));
    assert!(!device.has_room(device.queue_of(0)) && !device.has_room(device.queue_of(5)));
    let mut done = Vec::new();
    while device.advance_until(SimTime::FOREVER, &mut done) != Advanced::Idle {}
    let served: Vec<(u32, u64)> = done.iter().map(|c| (c.queue.get(), c.finished.0)).collect();
    let each = 2_000 + 1_000 + TRANSFER;
    assert_eq!(served, [(0, each), (1, 2 * each), (1, 3 * each), (1, 4 * each)]);
}

#[test]
fn lists_have_one_entry_or_one_for_each_queue() {
    for wrong in [
        "host.queue_depth=[1, 2]",
        "host.arbitration.weights=[1, 2, 3, 4]",
        "host.arbitration.classes=[\"high\", \"low\"]",
    ] {
        let policy = match wrong.contains("classes") {
            true => "host.arbitration.policy=priority-classes",
            false => "host.arbitration.policy=start-time-fair",
        };
        let error = config(&["host.queues=3", policy, wrong]).expect_err("three queues");
        assert!(error.contains("for 3 submission queues"), "{error}");
    }
}
