//! When requests are submitted: closed and open loop, dependencies, phases, limits.

use std::ops::ControlFlow;

use crate::common::{Keep, Model, workload};
use ftlab::config::{Config, Layer};
use ftlab::device::{DeviceSetup, assemble};
use ftlab::host::{Host, Op};
use ftlab::units::{Lba, Nanos, Ratio, SimTime};
use ftlab_workload::generate::Generator;
use ftlab_workload::replay::{
    Arrival, Batches, Ended, Limits, Merge, Next, Options, Pacing, Progress, Records, Replay,
    ReplayError, Report, Source, Starts,
};
use proptest::prelude::*;

const SERVICE: Nanos = Nanos(10_000);
const CAPACITY: u64 = 1 << 16;

fn go_on(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn play<S: Source>(
    servers: usize,
    source: &mut S,
    options: Options,
) -> Result<(Model, Keep, Report), ReplayError> {
    let mut host = Model::new(servers, SERVICE, CAPACITY);
    let mut sink = Keep::default();
    let replay = Replay { host: &mut host, source, sink: &mut sink, options };
    let report = replay.run(&mut go_on)?;
    Ok((host, sink, report))
}

fn write(at: u64, lba: u64, sectors: u32) -> Arrival {
    Arrival { at: SimTime(at), op: Op::Write, lba: Lba(lba), sectors, stream: 0, fua: false }
}

fn writes(count: u64) -> Vec<Arrival> {
    (0..count).map(|i| write(i * 1_000, i * 8, 8)).collect()
}

fn with(pacing: Pacing) -> Options {
    Options { pacing, ..Options::default() }
}

#[test]
fn a_closed_loop_keeps_its_depth_and_submits_at_completions() {
    let records = writes(100);
    let pacing = Pacing::Closed { depth: 4, think_time: Nanos::ZERO };
    let (host, sink, report) = play(2, &mut Records::of(&records), with(pacing)).unwrap();
    assert_eq!((report.submitted, report.completed, host.peak), (100, 100, 4));
    assert_eq!(report.ended, Ended::Source);
    // Two servers finish two requests every 10 us; both are replaced at that moment.
    for (i, (at, _)) in host.submissions.iter().enumerate() {
        let expected = if i < 4 { 0 } else { (i as u64 - 2) / 2 * SERVICE.0 };
        assert_eq!(at.0, expected, "request {i}");
    }
    assert_eq!(report.finished.0, 50 * SERVICE.0);
    assert!(sink.completed.iter().enumerate().all(|(i, c)| c.index == i as u64 && c.measured));
}

#[test]
fn thinking_delays_the_replacement() {
    let records = writes(4);
    let pacing = Pacing::Closed { depth: 1, think_time: Nanos(5_000) };
    let (host, _, _) = play(1, &mut Records::of(&records), with(pacing)).unwrap();
    let times: Vec<u64> = host.submissions.iter().map(|(at, _)| at.0).collect();
    assert_eq!(times, [0, 15_000, 30_000, 45_000]);
}

#[test]
fn an_open_loop_submits_at_arrivals_under_a_speed_factor() {
    // The trace's clock starts anywhere; one line is out of order.
    let times = [70_000, 70_000, 71_001, 70_500, 90_000];
    let records: Vec<Arrival> = times.iter().map(|&at| write(at, 0, 8)).collect();
    for (percent, expected) in
        [(100, [0, 0, 1_001, 1_001, 20_000]), (200, [0, 0, 500, 500, 10_000])]
    {
        let pacing = Pacing::Source { speed: Ratio::percent(percent), queue_limit: 64 };
        let (host, sink, report) = play(1, &mut Records::of(&records), with(pacing)).unwrap();
        let submitted: Vec<u64> = host.submissions.iter().map(|(at, _)| at.0).collect();
        assert_eq!(submitted, expected);
        assert_eq!((report.out_of_order, report.held_back), (1, 0));
        assert!(sink.completed.iter().all(|c| c.arrived == c.completion.submitted));
    }
}

/// A device reports simultaneous completions one by one, and accepts nothing until all are
/// received.
#[test]
fn a_request_may_arrive_right_after_several_have_ended() {
    let config = Config::load(&[Layer::preset("tiny")]).expect("the preset is sound");
    let played = |third: u64| {
        let arrivals = [(0, 0), (0, 8), (third, 16)];
        let read = |(at, lba)| Arrival { op: Op::Read, ..write(at, lba, 8) };
        let records = arrivals.map(read);
        let mut host = assemble(DeviceSetup::new(&config, 1));
        let (mut source, mut sink) = (Records::of(&records), Keep::default());
        let options = Options::default();
        let replay = Replay { host: &mut host, source: &mut source, sink: &mut sink, options };
        replay.run(&mut go_on).expect("it can be played");
        let completed = sink.completed.iter().map(|done| done.completion.finished.0);
        completed.collect::<Vec<u64>>()
    };
    let [first, second, _] = played(0)[..] else { panic!("three requests") };
    assert_eq!(first, second, "both are answered at one moment");
    assert_eq!(played(first + 1), [first, first, 2 * first + 1]);
}

#[test]
fn latency_counts_from_arrival_where_the_queue_is_full() {
    let records: Vec<Arrival> = (0..6).map(|_| write(0, 0, 8)).collect();
    let pacing = Pacing::Source { speed: Ratio::ONE, queue_limit: 2 };
    let (host, sink, report) = play(1, &mut Records::of(&records), with(pacing)).unwrap();
    assert_eq!((host.peak, report.held_back), (2, 4));
    let latencies: Vec<u64> = sink.completed.iter().map(|c| c.latency().0).collect();
    assert_eq!(latencies, [10_000, 20_000, 30_000, 40_000, 50_000, 60_000]);
}

#[test]
fn limits_end_a_replay_and_the_rest_is_finished() {
    let records = writes(100);
    let closed = Pacing::Closed { depth: 4, think_time: Nanos::ZERO };
    for pacing in [Pacing::default(), closed, Pacing::Dependencies { depth: 4 }] {
        let mut options = with(pacing);
        options.limits = Limits { requests: Some(10), time: None };
        let (_, sink, report) = play(1, &mut Records::of(&records), options).unwrap();
        assert_eq!((report.ended, report.submitted), (Ended::Requests, 10));
        assert_eq!(sink.completed.len(), 10);
        options.limits = Limits { requests: None, time: Some(Nanos(30_000)) };
        let (host, sink, report) = play(1, &mut Records::of(&records), options).unwrap();
        assert_eq!(report.ended, Ended::Time);
        assert!(host.submissions.iter().all(|(at, _)| at.0 < 30_000), "{pacing:?}");
        assert_eq!(sink.completed.len() as u64, report.submitted);
        options.limits = Limits { requests: Some(100), time: None };
        let (_, _, report) = play(1, &mut Records::of(&records), options).unwrap();
        assert_eq!(report.ended, Ended::Source, "the limit is where the source ends");
    }
}

/// A full queue on a device that does not answer before the time limit must not spin.
#[test]
fn the_limit_on_time_holds_while_requests_wait_for_the_queue() {
    let records: Vec<Arrival> = (0..6).map(|_| write(0, 0, 8)).collect();
    let pacing = Pacing::Source { speed: Ratio::ONE, queue_limit: 1 };
    let limits = Limits { requests: None, time: Some(Nanos(15_000)) };
    let options = Options { pacing, limits, ..Options::default() };
    let (_, sink, report) = play(1, &mut Records::of(&records), options).unwrap();
    assert_eq!((report.ended, report.submitted, sink.completed.len()), (Ended::Time, 2, 2));
}

#[test]
fn told_to_stop_it_stops_and_says_so() {
    let text = "name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\nrequests = 1000000";
    let mut source = Generator::new(&workload(text), CAPACITY, 1).unwrap();
    let mut host = Model::new(1, SERVICE, CAPACITY);
    let mut sink = Keep::default();
    let mut polls = Vec::new();
    let replay = Replay {
        host: &mut host,
        source: &mut source,
        sink: &mut sink,
        options: Options::default(),
    };
    let report = replay.run(&mut |progress| {
        polls.push(*progress);
        if polls.len() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let report = report.unwrap();
    assert_eq!(report.ended, Ended::Stopped);
    assert_eq!(report.submitted - report.completed, 32);
    assert_eq!(report.completed, sink.completed.len() as u64);
    assert!(polls.iter().all(|progress| progress.total == Some(1_000_000)));
    assert!(polls.windows(2).all(|pair| pair[0].completed < pair[1].completed));
    assert!(report.completed < 20_000, "a few thousand steps between polls");
}

#[test]
fn phases_follow_their_own_pace_and_do_not_mix() {
    let text = "name = 'x'\n\
        [[phase]]\nmeasure = false\nwrites = '100%'\nsize = '4KiB'\ntime = '95us'\n\
        arrivals = { kind = 'closed', queue_depth = 3 }\n\
        [[phase]]\nreads = '100%'\nsize = '4KiB'\nrequests = 4\n\
        arrivals = { kind = 'constant', period = '40us' }\n\
        [[phase]]\nflushes = '100%'\nrequests = 2\n\
        arrivals = { kind = 'closed', queue_depth = 1, think_time = '1us' }";
    let mut source = Generator::new(&workload(text), CAPACITY, 1).unwrap();
    let (host, sink, report) = play(1, &mut source, Options::default()).unwrap();
    // Closed loop: 3 at the start and one at each of 9 completions before 95 us; the last finishes
    // at 120.
    let times: Vec<u64> = host.submissions.iter().map(|(at, _)| at.0 / 1000).collect();
    let first = [0, 0, 0, 10, 20, 30, 40, 50, 60, 70, 80, 90];
    let rest = [120, 160, 200, 240, 250, 261];
    assert_eq!(times, [&first[..], &rest[..]].concat());
    assert_eq!(sink.phases, [(0, true), (0, false), (1, true), (1, false), (2, true), (2, false)]);
    let played: Vec<_> = report.phases.iter().map(|p| (p.requests, p.started.0 / 1000)).collect();
    assert_eq!(played, [(12, 0), (4, 120), (2, 250)]);
    let measured = sink.completed.iter().filter(|c| c.measured).count();
    assert_eq!((measured, sink.completed.len()), (6, 18));
    assert!(sink.completed.iter().all(|c| c.measured == (c.phase > 0)));
}

#[test]
fn merged_sources_go_by_time_and_keep_their_order() {
    let at = |times: &[u64]| times.iter().map(|&at| write(at, 0, 8)).collect::<Vec<_>>();
    let (a, b, c) = (at(&[100, 120, 110, 130]), at(&[5, 15, 25]), at(&[]));
    let order = |starts| {
        let sources = vec![Records::of(&a), Records::of(&b), Records::of(&c)];
        let mut merge = Merge::new(sources, starts);
        assert_eq!(merge.total(), Some(7));
        let (host, _, report) = play(1, &mut merge, Options::default()).unwrap();
        assert_eq!(report.out_of_order, 0);
        let pairs = host.submissions.iter().map(|(at, request)| (at.0, request.stream));
        pairs.collect::<Vec<_>>()
    };
    let together = [(0, 0), (0, 1), (10, 1), (20, 0), (20, 0), (20, 1), (30, 0)];
    assert_eq!(order(Starts::Together), together);
    let recorded = [(0, 1), (10, 1), (20, 1), (95, 0), (115, 0), (115, 0), (125, 0)];
    assert_eq!(order(Starts::AsRecorded), recorded);
}

#[test]
fn a_merged_workload_is_refused() {
    let text = "name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\nrequests = 1";
    let source = Generator::new(&workload(text), CAPACITY, 1).unwrap();
    let mut merge = Merge::new(vec![source], Starts::Together);
    let error = play(1, &mut merge, Options::default()).err().expect("an error");
    assert!(error.to_string().contains("play it on its own"), "{error}");
}

#[test]
fn batches_are_played_like_one_slice() {
    let records = writes(100);
    // Batches of zero to seven records; the last may come with the end or before it.
    for with_the_last in [false, true] {
        let (mut at, mut len) = (0, 0);
        let fill = |batch: &mut Vec<Arrival>| {
            batch.extend(&records[at..records.len().min(at + len)]);
            at += batch.len();
            len = (len + 1) % 8;
            Ok(at < records.len() || (!batch.is_empty() && !with_the_last))
        };
        let mut source = Batches::new(fill, Some(100));
        let played = play(1, &mut source, Options::default()).unwrap().0.submissions;
        let whole = play(1, &mut Records::of(&records), Options::default()).unwrap().0.submissions;
        assert_eq!(played, whole);
    }
}

#[test]
fn a_source_that_fails_plays_what_came_before() {
    let fine = (0..40).map(|i| Ok(write(i, 0, 8)));
    let broken = std::iter::once_with(|| {
        Err(ftlab_workload::replay::SourceError::message("line 41: nonsense".to_owned()))
    });
    let mut host = Model::new(1, SERVICE, CAPACITY);
    let mut sink = Keep::default();
    let mut source = Records::fallible(fine.chain(broken), None);
    let replay = Replay {
        host: &mut host,
        source: &mut source,
        sink: &mut sink,
        options: Options::default(),
    };
    let error = replay.run(&mut go_on).expect_err("the source fails");
    assert_eq!(error.to_string(), "line 41: nonsense");
    assert_eq!(host.submissions.len(), 40);
}

#[test]
fn a_phase_starts_its_clock_before_its_first_arrival() {
    let text = "name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\nrequests = 3\n\
                arrivals = { kind = 'poisson', rate = '1000/s' }";
    let mut source = Generator::new(&workload(text), CAPACITY, 1).unwrap();
    let mut times = Vec::new();
    let mut copy = source.clone();
    while times.len() < 3 {
        if let Next::Request(arrival) = copy.next_item() {
            times.push(arrival.at);
        }
    }
    assert!(times[0] > SimTime::ZERO);
    let (host, _, _) = play(1, &mut source, Options::default()).unwrap();
    assert_eq!(host.submissions.iter().map(|(at, _)| *at).collect::<Vec<_>>(), times);
}

/// The same workload twice gives the same submissions to the nanosecond.
#[test]
fn the_same_seed_gives_the_same_run() {
    let text = "name = 'x'\n[[phase]]\nreads = '50%'\nwrites = '50%'\nsize = '4KiB'\n\
                address = { kind = 'zipf', theta = 0.99 }\nrequests = 5000\n\
                arrivals = { kind = 'poisson', rate = '150000/s' }";
    let run = |seed| {
        let mut source = Generator::new(&workload(text), CAPACITY, seed).unwrap();
        play(2, &mut source, Options::default()).unwrap().0.submissions
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// Waiting times in M/D/1 (Poisson arrivals, one server, fixed service time `s`, load `r`): the
/// mean is `r s / 2(1-r)` (Pollaczek-Khinchine). Over 200,000 requests the mean of these correlated
/// times has a standard error below 1 % up to a load of 0.7 (correlation decays over about
/// `1/(1-r)^2` requests), so 3 % is at least three standard errors.
#[test]
fn poisson_arrivals_at_one_server_wait_as_the_formula_says() {
    for load in [0.3, 0.5, 0.7] {
        let rate = load * 1e9 / SERVICE.0 as f64;
        let text = format!(
            "name = 'x'\n[[phase]]\nreads = '100%'\nsize = '4KiB'\nrequests = 200000\n\
             arrivals = {{ kind = 'poisson', rate = '{rate}/s' }}"
        );
        let mut source = Generator::new(&workload(&text), CAPACITY, 11).unwrap();
        let (_, sink, _) = play(1, &mut source, Options::default()).unwrap();
        let total: u64 = sink.completed.iter().map(|c| c.latency().0 - SERVICE.0).sum();
        let mean = total as f64 / sink.completed.len() as f64;
        let expected = load * SERVICE.0 as f64 / (2.0 * (1.0 - load));
        assert!((mean / expected - 1.0).abs() < 0.03, "load {load}: {mean} for {expected}");
    }
}

/// Computes one by one when each request finishes: the window takes requests in order while it has
/// room, and a request starts when all earlier conflicting ones have finished. There are unlimited
/// servers, so a request finishes one service time after it starts.
fn naive(records: &[Arrival], depth: usize) -> Vec<u64> {
    let mut finishes: Vec<u64> = Vec::new();
    let mut starts = Vec::new();
    let mut entered = 0;
    for (i, new) in records.iter().enumerate() {
        if i >= depth {
            // Room comes when the (i - depth + 1)-th of the earlier requests finishes.
            let mut before = finishes.clone();
            before.sort_unstable();
            entered = entered.max(before[i - depth]);
        }
        let changes = |op| matches!(op, Op::Write | Op::Trim);
        let start = (0..i)
            .filter(|&j| {
                let old = &records[j];
                let overlap = new.lba.0 < old.lba.0 + u64::from(old.sectors)
                    && old.lba.0 < new.lba.0 + u64::from(new.sectors);
                let either = changes(new.op) || changes(old.op);
                new.op == Op::Flush || (old.op != Op::Flush && overlap && either)
            })
            .map(|j| finishes[j])
            .fold(entered, u64::max);
        starts.push(start);
        finishes.push(start + SERVICE.0);
    }
    starts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn dependencies_are_kept_and_nothing_else_waits(
        depth in 1u32..20,
        raw in prop::collection::vec((0u8..10, 0u64..600, 1u32..40, any::<bool>()), 1..120),
    ) {
        let records: Vec<Arrival> = raw
            .into_iter()
            .map(|(op, lba, sectors, wide)| {
                let op = match op {
                    0..5 => Op::Read,
                    5..8 => Op::Write,
                    8 => Op::Trim,
                    _ => Op::Flush,
                };
                // Some requests are longer than the filter takes.
                let sectors = match op {
                    Op::Flush => 0,
                    _ if wide && sectors == 1 => 8_000,
                    _ => sectors,
                };
                let lba = if op == Op::Flush { 0 } else { lba };
                Arrival { at: SimTime::ZERO, op, lba: Lba(lba), sectors, stream: 0, fua: false }
            })
            .zip(0..)
            // The stream carries the number of the request to the device.
            .map(|(arrival, stream)| Arrival { stream, ..arrival })
            .collect();
        let options = with(Pacing::Dependencies { depth });
        let (host, sink, _) = play(200, &mut Records::of(&records), options).unwrap();
        prop_assert!(host.peak <= depth as usize);
        let order: Vec<_> = host.submissions.iter().map(|(at, r)| (*at, r.stream)).collect();
        prop_assert!(order.is_sorted(), "at one moment in the order of the source: {order:?}");
        let mut starts = vec![0; records.len()];
        for done in &sink.completed {
            starts[usize::try_from(done.index).unwrap()] = done.completion.submitted.0;
            prop_assert_eq!(done.arrived, done.completion.submitted);
        }
        prop_assert_eq!(starts, naive(&records, depth as usize));
        prop_assert_eq!(sink.completed.len(), records.len());
        prop_assert_eq!(host.capacity_sectors(), CAPACITY);
    }
}

/// A device that stops answering ends the replay with an error, whatever the pacing.
#[test]
fn a_device_that_stands_still_is_an_error() {
    let speed = Ratio::ONE;
    for pacing in [
        Pacing::Source { speed, queue_limit: 2 },
        Pacing::Source { speed, queue_limit: 1000 },
        Pacing::Closed { depth: 4, think_time: Nanos::ZERO },
        Pacing::Closed { depth: 4, think_time: Nanos(5_000) },
        Pacing::Dependencies { depth: 4 },
    ] {
        let records = writes(100);
        let mut host = Model::new(2, SERVICE, CAPACITY);
        host.answers = 10;
        let mut sink = Keep::default();
        let mut source = Records::of(&records);
        let replay =
            Replay { host: &mut host, source: &mut source, sink: &mut sink, options: with(pacing) };
        let error = replay.run(&mut go_on).expect_err("it stands still");
        assert!(
            matches!(error, ReplayError::Standstill { requests: 1.., .. }),
            "{pacing:?}: {error}"
        );
        assert_eq!(sink.completed.len(), 10, "{pacing:?}");
    }
}
