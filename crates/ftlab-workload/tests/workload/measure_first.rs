//! Phases in which only the first requests are measured: the others keep the device busy until
//! those finish, and count in no figure.

use std::ops::ControlFlow;

use crate::common::{Keep, Model, workload};
use ftlab::config::{Config, Layer};
use ftlab::device::{DeviceSetup, assemble};
use ftlab::host::Host;
use ftlab::units::{Nanos, Ratio};
use ftlab_workload::generate::{Generator, Workload};
use ftlab_workload::replay::{Completed, Limits, Options, Pacing, Replay, Report};

const CAPACITY: u64 = 1 << 14;

fn play<H: Host>(mut host: H, load: &Workload, options: Options) -> (Report, Vec<Completed>) {
    let mut source = Generator::new(load, host.capacity_sectors(), 1).expect("it fits");
    let mut sink = Keep::default();
    let replay = Replay { host: &mut host, source: &mut source, sink: &mut sink, options };
    let report = replay.run(&mut |_| ControlFlow::Continue(())).expect("it can be played");
    (report, sink.completed)
}

/// Plays on one server that takes 10 us.
fn play_one(text: &str, options: Options) -> (Report, Vec<Completed>) {
    play(Model::new(1, Nanos(10_000), CAPACITY), &workload(text), options)
}

fn measured(completed: &[Completed]) -> Vec<u64> {
    completed.iter().filter(|done| done.measured).map(|done| done.index).collect()
}

#[test]
fn arrivals_go_on_until_the_measured_ones_are_done() {
    let text = "name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\nmeasure_first = 5\n\
        arrivals = { kind = 'constant', period = '6us' }\n\
        [[phase]]\nreads = '100%'\nsize = '4KiB'\nrequests = 4";
    let (report, completed) = play_one(text, Options::default());
    // The fifth finishes at 50 us; the ninth arrives at 48 us, the tenth would arrive at 54 us.
    assert_eq!(report.phases.iter().map(|phase| phase.requests).collect::<Vec<_>>(), [9, 4]);
    assert_eq!(report.phases[0].ended.0, 90_000);
    let first: Vec<_> = completed.iter().filter(|done| done.phase == 0).copied().collect();
    assert_eq!(measured(&first), [0, 1, 2, 3, 4]);
    let late: Vec<_> = completed.iter().filter(|done| done.phase == 1).copied().collect();
    assert_eq!(measured(&late).len(), 4);
    assert!(report.phases.iter().all(|phase| !phase.ran_dry));
    // The phase's own end still counts, if it comes first.
    let short = text.replace("measure_first", "requests = 7\nmeasure_first");
    let (report, completed) = play_one(&short, Options::default());
    assert_eq!(report.phases[0].requests, 7);
    assert_eq!(report.phases.iter().map(|phase| phase.ran_dry).collect::<Vec<_>>(), [true, false]);
    assert_eq!(measured(&completed).len(), 5 + 4);
}

#[test]
fn a_closed_loop_and_dependencies_end_likewise() {
    let text = "name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\nmeasure_first = 5\n\
        arrivals = { kind = 'closed', queue_depth = 4 }";
    let (report, completed) = play_one(text, Options::default());
    // Four at once, one more at each completion except the fifth.
    assert_eq!((report.submitted, measured(&completed)), (8, vec![0, 1, 2, 3, 4]));
    let options = Options { pacing: Pacing::Dependencies { depth: 4 }, ..Options::default() };
    let (report, completed) = play_one(text, options);
    assert_eq!((report.submitted, measured(&completed)), (8, vec![0, 1, 2, 3, 4]));
}

#[test]
fn a_limit_counts_what_is_measured() {
    let text = "name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\nmeasure_first = 5\n\
        arrivals = { kind = 'constant', period = '6us' }\n\
        [[phase]]\nreads = '100%'\nsize = '4KiB'\nrequests = 10";
    for (limit, in_all) in [(3, 3), (7, 9 + 2)] {
        let limits = Limits { requests: Some(limit), ..Limits::default() };
        let (report, completed) = play_one(text, Options { limits, ..Options::default() });
        assert_eq!(report.submitted, in_all, "limit {limit}");
        assert_eq!(measured(&completed).len() as u64, limit);
    }
}

/// No tenant stops interfering before everything measured has finished.
#[test]
fn tenants_go_on_for_each_other() {
    let tenants = |first: &str, second: &str| {
        let text = format!(
            "name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\n{first}\n\
             arrivals = {{ kind = 'constant', period = '10us' }}\n\
             [[phase]]\nwith_previous = true\nreads = '100%'\nsize = '4KiB'\n{second}\n\
             arrivals = {{ kind = 'constant', period = '10us' }}\n\
             [[phase]]\nreads = '100%'\nsize = '4KiB'\nrequests = 2"
        );
        let model = Model::new(1, Nanos(5_000), CAPACITY);
        let (_, completed) = play(model, &workload(&text), Options::default());
        assert_eq!(completed.iter().filter(|done| done.phase == 1).count(), 2);
        let count = |stream: u32, measured: bool| {
            let of = |done: &&Completed| {
                let request = done.completion.request;
                (request.stream, done.measured, done.phase) == (stream, measured, 0)
            };
            completed.iter().filter(of).count()
        };
        [count(0, true), count(0, false), count(1, true), count(1, false)]
    };
    // Both arrive at 0, 10, ... 50 us; the sixth of the second finishes at 60, when both arrive
    // again.
    assert_eq!(tenants("measure_first = 3", "measure_first = 6"), [3, 3, 6, 0]);
    assert_eq!(tenants("measure_first = 3", "requests = 6"), [3, 3, 6, 0]);
    assert_eq!(tenants("requests = 2", "measure_first = 6"), [2, 0, 6, 0]);
    assert_eq!(tenants("requests = 9", "measure_first = 6"), [9, 0, 6, 3]);
}

/// On a simulated device, the measured requests equal those of a run that measures everything.
#[test]
fn the_measured_requests_fare_as_in_a_run_that_measures_all() {
    let text = |keys: &str| {
        workload(&format!(
            "name = 'x'\n[[phase]]\nreads = '40%'\nwrites = '60%'\nsize = '4KiB'\nstreams = 3\n{keys}\n\
             arrivals = {{ kind = 'poisson', rate = '20000/s' }}"
        ))
    };
    let device = |sets: &[&str]| {
        let sets = sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set));
        let layers: Vec<Layer> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
        let config = Config::load(&layers).unwrap_or_else(|error| panic!("{error}"));
        assemble(DeviceSetup::new(&config, 1))
    };
    let pacings = [
        Pacing::Source { speed: Ratio::ONE, queue_limit: 65_536 },
        Pacing::Source { speed: Ratio::ONE, queue_limit: 3 },
        Pacing::Closed { depth: 7, think_time: Nanos(20_000) },
        Pacing::Dependencies { depth: 7 },
    ];
    for sets in [&[][..], &["host.queues=3", "host.queue_depth=[1, 2, 3]"]] {
        for pacing in pacings {
            let options = Options { pacing, ..Options::default() };
            let of_first = |keys: &str| {
                let (_, mut completed) = play(device(sets), &text(keys), options);
                let unmeasured = completed.iter().filter(|done| !done.measured).count();
                completed.retain(|done| done.measured && done.index < 400);
                let facts =
                    completed.iter().map(|done| (done.index, done.arrived, done.completion));
                (facts.map(|(i, at, done)| (i, at, done.finished)).collect::<Vec<_>>(), unmeasured)
            };
            let (first, unmeasured) = of_first("requests = 5000\nmeasure_first = 400");
            let (all, _) = of_first("requests = 5000");
            assert_eq!(first.len(), 400, "{pacing:?}, {sets:?}");
            assert_eq!(first, all, "{pacing:?}, {sets:?}");
            assert!((1..4_000).contains(&unmeasured), "{unmeasured}, {pacing:?}, {sets:?}");
        }
    }
}

/// A drive that never stops is measured: measuring starts while its GC and write-backs continue,
/// and whether the previous phase is measured changes no completion.
#[test]
fn a_device_does_not_rest_before_it_is_measured() {
    let play_on_tiny = |first_is_measured: bool, buffer: &str| {
        let set = |text: &str| Layer::set(1, text);
        let layers = [Layer::preset("tiny"), set(buffer), set("cache.capacity=1MiB")];
        let config = Config::load(&layers[..if buffer.contains("none") { 2 } else { 3 }]);
        let device = assemble(DeviceSetup::new(&config.expect("a good config"), 1));
        let text = format!(
            "name = 'x'\n[[phase]]\nmeasure = {first_is_measured}\nwrites = '100%'\nsize = '4KiB'\n\
             requests = 20000\n[[phase]]\nreads = '50%'\nwrites = '50%'\nsize = '4KiB'\nrequests = 2000"
        );
        let (_, completed) = play(device, &workload(&text), Options::default());
        let of =
            |done: Completed| (done.completion.request, done.completion.submitted, done.latency());
        completed.into_iter().map(of).collect::<Vec<_>>()
    };
    for buffer in ["cache.policy=none", "cache.policy=lru"] {
        let (warm, all) = (play_on_tiny(false, buffer), play_on_tiny(true, buffer));
        assert_eq!(warm.len(), 22_000);
        assert!(warm == all, "{buffer}: the second phase begins on a device that rested");
    }
}
