//! Concurrent tenants, and full submission queues.

use std::ops::ControlFlow;

use crate::common::{Keep, Model, workload};
use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::host::{Host, Op};
use ftlab::units::{Lba, Nanos, Ratio, SimTime};
use ftlab_workload::generate::{Generator, Workload};
use ftlab_workload::replay::{
    Answered, Arrival, Crew, Ended, Group, Issuer, Limits, Options, Pacing, Records, Replay,
    ReplayError, Report, Source, Turn,
};

/// The time of a read of a page that was never written.
const DRAM: Nanos = Nanos(1_000);

fn device(sets: &[&str]) -> Device {
    let sets = ["cache.latency=1us"].iter().chain(sets).enumerate();
    let sets = sets.map(|(at, set)| Layer::set(at + 1, set));
    let layers: Vec<Layer> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
    let config = Config::load(&layers).unwrap_or_else(|error| panic!("{error}"));
    assemble(DeviceSetup::new(&config, 1))
}

fn play<S: Source>(
    device: &mut Device,
    source: &mut S,
    options: Options,
) -> Result<(Report, Keep), ReplayError> {
    let mut sink = Keep::default();
    let replay = Replay { host: device, source, sink: &mut sink, options };
    let report = replay.run(&mut |_| ControlFlow::Continue(()))?;
    Ok((report, sink))
}

fn generator(device: &Device, workload: &Workload) -> Generator {
    Generator::new(workload, device.capacity_sectors(), 1).expect("it fits")
}

/// Two tenants that read unwritten pages, each with 16 requests outstanding.
const TWO: &str = "
    name = 'two'
    [[phase]]
    name = 'light'
    reads = '100%'
    size = '4KiB'
    arrivals = { kind = 'closed', queue_depth = 16 }
    time = '20ms'
    [[phase]]
    name = 'heavy'
    with_previous = true
    reads = '100%'
    size = '4KiB'
    arrivals = { kind = 'closed', queue_depth = 16 }
    time = '20ms'
    [[phase]]
    name = 'after'
    reads = '100%'
    size = '4KiB'
    requests = 10
";

const ONE_BY_ONE: [&str; 4] = [
    "host.queues=2",
    "host.outstanding=1",
    "host.arbitration.policy=weighted-round-robin",
    "host.arbitration.weights=[1, 3]",
];

#[test]
fn tenants_share_the_device_as_their_weights() {
    let mut device = device(&ONE_BY_ONE);
    let load = workload(TWO);
    assert_eq!(load.group_names(), ["light + heavy", "after"]);
    let mut source = generator(&device, &load);
    let (report, kept) = play(&mut device, &mut source, Options::default()).unwrap();
    let shared: Vec<_> = kept.completed.iter().filter(|done| done.phase == 0).collect();
    let of = |stream| shared.iter().filter(move |done| done.completion.request.stream == stream);
    // 20 ms at one command per microsecond; 32 are in flight when time is up.
    assert_eq!(shared.len(), 20_000 + 31);
    let share = of(1).count() as f64 / shared.len() as f64;
    assert!((share / 0.75 - 1.0).abs() < 0.01, "{share}");
    // The queues never exceeded their depths, and the next phase began when both had ended.
    let longest = of(1).map(|done| done.latency()).max();
    assert!(longest.is_some_and(|longest| longest <= Nanos(24 * DRAM.0)), "{longest:?}");
    assert_eq!(kept.phases, [(0, true), (0, false), (1, true), (1, false)]);
    assert_eq!((report.phases.len(), report.ended), (2, Ended::Source));
    assert_eq!(report.phases[1].requests, 10);
    let last = shared.iter().map(|done| done.completion.finished).max();
    assert_eq!(last, Some(report.phases[1].started));
}

#[test]
fn tenants_are_deterministic() {
    let run = || {
        let mut device = device(&ONE_BY_ONE);
        let mut source = generator(&device, &workload(TWO));
        play(&mut device, &mut source, Options::default()).unwrap().1.completed
    };
    assert_eq!(run(), run());
}

/// A tenant with its own arrival times, and one with think time.
#[test]
fn tenants_keep_their_own_pace() {
    let load = workload(
        "name = 'paces'
        [[phase]]
        reads = '100%'
        size = '4KiB'
        arrivals = { kind = 'constant', period = '10us' }
        requests = 50
        [[phase]]
        with_previous = true
        first_stream = 7
        reads = '100%'
        size = '4KiB'
        arrivals = { kind = 'closed', queue_depth = 2, think_time = '4us' }
        requests = 60",
    );
    let mut plain = device(&[]);
    let mut source = generator(&plain, &load);
    let (report, kept) = play(&mut plain, &mut source, Options::default()).unwrap();
    let arrivals = |stream| {
        let of = kept.completed.iter().filter(move |c| c.completion.request.stream == stream);
        of.map(|done| done.arrived.0).collect::<Vec<u64>>()
    };
    assert_eq!(arrivals(0), (0..50).map(|n| n * 10_000).collect::<Vec<u64>>());
    // One microsecond of service, four of think time, two at a time.
    assert_eq!(arrivals(7), (0..60).map(|n| n / 2 * 5_000).collect::<Vec<u64>>());
    assert_eq!(report.held_back, 0);
    // Numbers follow the order of submission.
    let mut numbers: Vec<u64> = kept.completed.iter().map(|done| done.index).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..110).collect::<Vec<u64>>());
    let twice = Options {
        pacing: Pacing::Source { speed: Ratio::percent(200), queue_limit: 65_536 },
        ..Options::default()
    };
    let mut again = device(&[]);
    let mut source = generator(&again, &load);
    let (_, kept) = play(&mut again, &mut source, twice).unwrap();
    let last = kept.completed.iter().filter(|c| c.completion.request.stream == 0);
    assert_eq!(last.map(|done| done.arrived).max(), Some(SimTime(49 * 5_000)));
}

#[test]
fn a_limit_on_requests_holds_for_all_tenants_together() {
    let mut device = device(&ONE_BY_ONE);
    let mut source = generator(&device, &workload(TWO));
    let limits = Limits { requests: Some(100), time: None };
    let options = Options { limits, ..Options::default() };
    let (report, kept) = play(&mut device, &mut source, options).unwrap();
    assert_eq!((report.ended, kept.completed.len()), (Ended::Requests, 100));
}

#[test]
fn tenants_have_no_dependencies() {
    let mut device = device(&ONE_BY_ONE);
    let mut source = generator(&device, &workload(TWO));
    let options = Options { pacing: Pacing::Dependencies { depth: 8 }, ..Options::default() };
    let error = play(&mut device, &mut source, options).err().expect("an error");
    assert!(error.to_string().contains("its own pace"), "{error}");
}

fn read(at: u64, stream: u32) -> Arrival {
    Arrival { at: SimTime(at), op: Op::Read, lba: Lba(0), sectors: 8, stream, fua: false }
}

/// Ten requests at once for a queue with one place; another queue is unaffected.
#[test]
fn a_full_queue_holds_back_its_own_requests_only() {
    let mut device = device(&["host.queues=2", "host.queue_depth=[1, 8]"]);
    let arrivals: Vec<Arrival> =
        (0..10).map(|_| read(0, 0)).chain((0..3).map(|_| read(500, 1))).collect();
    let mut source = Records::of(&arrivals);
    let (report, kept) = play(&mut device, &mut source, Options::default()).unwrap();
    let latencies = |stream| {
        let of = kept.completed.iter().filter(move |c| c.completion.request.stream == stream);
        of.map(|done| done.latency().0).collect::<Vec<u64>>()
    };
    assert_eq!(latencies(0), (1..=10).map(|n| n * DRAM.0).collect::<Vec<u64>>());
    assert_eq!(latencies(1), [DRAM.0; 3]);
    assert_eq!((report.held_back, report.held_back_by_queue), (9, vec![9]));
    // Time spent waiting in the host counts from arrival.
    let waited = kept.completed.iter().map(|c| c.completion.submitted - c.arrived).max();
    assert_eq!(waited, Some(Nanos(9 * DRAM.0)));
}

#[test]
fn what_waits_in_the_host_when_time_is_up_is_not_played() {
    let arrivals: Vec<Arrival> = (0..10).map(|_| read(0, 0)).collect();
    let run = |time, requests| {
        let mut device = device(&["host.queue_depth=1"]);
        let limits = Limits { time, requests };
        let options = Options { limits, ..Options::default() };
        let (report, kept) = play(&mut device, &mut Records::of(&arrivals), options).unwrap();
        (report.ended, kept.completed.len())
    };
    assert_eq!(run(Some(Nanos(3_500)), None), (Ended::Time, 4));
    assert_eq!(run(None, Some(6)), (Ended::Requests, 6));
    assert_eq!(run(None, None), (Ended::Source, 10));
}

/// The device panics if it is given more than a queue holds.
#[test]
fn no_pace_overfills_a_queue() {
    let arrivals: Vec<Arrival> = (0..200).map(|n| read(n * 100, (n % 5) as u32)).collect();
    for pacing in [
        Pacing::default(),
        Pacing::Closed { depth: 32, think_time: Nanos::ZERO },
        Pacing::Dependencies { depth: 32 },
    ] {
        let mut device = device(&["host.queues=3", "host.queue_depth=[1, 2, 3]"]);
        let options = Options { pacing, ..Options::default() };
        let (report, kept) = play(&mut device, &mut Records::of(&arrivals), options).unwrap();
        assert_eq!((report.ended, kept.completed.len()), (Ended::Source, 200), "{pacing:?}");
    }
}

/// Keeps `room` more requests outstanding until none is `left`.
struct Deep {
    room: u32,
    left: u32,
    outstanding: u32,
}

impl Issuer for Deep {
    fn turn(&mut self, _now: Nanos) -> Turn {
        match (self.left, self.room, self.outstanding) {
            (0, _, 0) => Turn::Done { all: false },
            (0, ..) | (_, 0, _) => Turn::Wait,
            _ => {
                (self.left, self.room) = (self.left - 1, self.room - 1);
                self.outstanding += 1;
                Turn::Submit(read(0, 0))
            }
        }
    }

    fn completed(&mut self, _answered: Answered, _now: Nanos) {
        self.room += 1;
        self.outstanding -= 1;
    }

    fn stop(&mut self) {
        self.left = 0;
    }
}

/// Requests that exceed their queue wait in the host, and their latency counts from when they were
/// issued.
#[test]
fn issuers_wait_for_places_in_their_queue() {
    let mut device = device(&["host.queue_depth=1"]);
    let mut sink = Keep::default();
    let deep = Deep { room: 4, left: 40, outstanding: 0 };
    let group = Group { measure: true, ramp: Nanos::ZERO, issuers: vec![Box::new(deep)] };
    let crew = Crew { host: &mut device, sink: &mut sink, limits: Limits::default() };
    let report = crew.run(vec![group], &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((report.completed, report.finished), (40, SimTime(40 * DRAM.0)));
    assert_eq!(report.held_back_by_queue, [39]);
    // One is served after three that wait before it.
    let latencies: Vec<u64> = sink.completed.iter().map(|done| done.latency().0).collect();
    assert!(latencies[3..].iter().all(|&latency| latency == 4 * DRAM.0), "{latencies:?}");
}

#[test]
fn a_crew_on_a_device_that_stands_still_ends_with_an_error() {
    let mut host = Model::new(1, DRAM, 1 << 16);
    host.answers = 10;
    let mut sink = Keep::default();
    let deep = Deep { room: 4, left: 40, outstanding: 0 };
    let group = || Group {
        measure: true,
        ramp: Nanos::ZERO,
        issuers: vec![Box::new(Deep { room: 4, ..deep })],
    };
    let crew = Crew { host: &mut host, sink: &mut sink, limits: Limits::default() };
    let error = crew.run(vec![group(), group()], &mut |_| ControlFlow::Continue(()));
    let error = error.expect_err("it stands still");
    assert!(matches!(error, ReplayError::Standstill { requests: 4, .. }), "{error}");
    assert_eq!(sink.completed.len(), 10);
}
