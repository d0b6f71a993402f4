//! The laboratory as a library: what a front end without a command line gets is what the program writes.

use std::ops::ControlFlow;
use std::sync::Arc;

use ftlab::host::{Host, Op};
use ftlab::units::{Lba, SimTime};
use ftlab_lab::device::{load, settings};
use ftlab_lab::experiment::{
    AddressKind, Conduct, Experiment, GivenRequests, LoadSource, Measured, ReplayKind, RunOptions,
    Watcher,
};
use ftlab_lab::memory::Instruments;
use ftlab_lab::result::{Requests, RunTables, StepDocument, TableTarget, to_json};
use ftlab_lab::stepped::SteppedDevice;
use ftlab_lab::stop::Stop;
use ftlab_lab::timeline::{Recorder, Windows};
use ftlab_lab::{Failure, Lab};
use ftlab_workload::generate::Workload;
use ftlab_workload::replay::{Arrival, Completed, Progress};

fn config(sets: &[&str]) -> ftlab::config::Config {
    load("tiny", &settings(sets)).unwrap()
}

fn workload(requests: u64, precondition: Option<&str>) -> Experiment {
    let options = RunOptions {
        requests: Some(requests),
        precondition: precondition.map(str::to_owned),
        ..RunOptions::default()
    };
    Experiment::new(LoadSource::workload("mixed-70-30-zipf").unwrap(), &options).unwrap()
}

fn document(measured: &Measured) -> String {
    to_json(&measured.document).unwrap()
}

/// Requests at random places, some at the same time, in bursts that fill the submission queue.
fn requests(count: u64, timed: bool) -> Vec<Arrival> {
    let mut random = ftlab::engine::Stream::new(3, "requests");
    let mut at = 0;
    let mut request = |number: u64| {
        at += if number.is_multiple_of(64) { 3_000_000 } else { random.below(4) * 1_000 };
        Arrival {
            at: SimTime(if timed { at } else { 0 }),
            op: if random.below(3) == 0 { Op::Read } else { Op::Write },
            lba: Lba(random.below(2_000) * 8),
            sectors: 8 * (1 + random.below(4) as u32),
            stream: random.below(2) as u32,
            fua: random.below(50) == 0,
        }
    };
    (0..count).map(&mut request).collect()
}

#[test]
fn a_prepared_device_serves_several_runs_as_if_each_had_prepared_it() {
    let (lab, config) = (Lab::default(), config(&[]));
    let (one, other) = (workload(2_000, Some("fill,age")), workload(500, Some("fill,age")));
    let prepared =
        one.prepare(&config, 4, &mut (), &lab.stop, Instruments::<(), ()>::default()).unwrap();
    for experiment in [&one, &other] {
        let whole = lab.run(experiment, &config, 4, &mut (), None).unwrap();
        let conduct = Conduct { watcher: &mut (), stop: &lab.stop, requests: None };
        let load = experiment.load.open().unwrap();
        let shared = experiment.measure(prepared.clone(), load, &config, conduct).unwrap();
        assert_eq!(document(&whole), document(&shared));
        let [whole, shared] = [&whole, &shared].map(RunTables::of);
        assert_eq!(whole.timeline, shared.timeline);
        assert_eq!(whole.blocks, shared.blocks);
    }
}

#[test]
fn requests_of_the_callers_are_played_as_they_are() {
    let (lab, config) = (Lab::default(), config(&[]));
    let all = requests(3_000, false);
    let options = RunOptions { queue_depth: Some(8), ..RunOptions::default() };
    let run = |given: GivenRequests| {
        let experiment = Experiment::new(LoadSource::Requests(given), &options).unwrap();
        let records = Requests::new(TableTarget::Memory).unwrap();
        let mut measured = lab.run(&experiment, &config, 1, &mut (), Some(records)).unwrap();
        let records = measured.requests.take().unwrap().finish(&[]).unwrap().unwrap();
        (document(&measured), records)
    };
    let (columns, records) = run(GivenRequests::columns("mine", all.clone(), false));
    let (iterator, _) = run(GivenRequests::iterator("mine", all.clone().into_iter(), false));
    assert_eq!(columns, iterator);
    assert!(columns.contains("\"kind\": \"requests\""), "{columns}");
    assert_eq!(records.columns[0].1.len(), all.len());
    // They need a pace, since they have no times.
    let none = RunOptions::default();
    let untimed = LoadSource::Requests(GivenRequests::columns("mine", all, false));
    let refused = Experiment::new(untimed, &none).map(drop).expect_err("there is no pace");
    assert!(refused.text().contains("`queue_depth`"), "{refused}");
}

#[test]
fn addresses_of_given_requests_are_mapped_as_those_of_traces() {
    let (lab, config) = (Lab::default(), config(&[]));
    let far = |request: Arrival| Arrival { lba: Lba(request.lba.0 + (1 << 40)), ..request };
    let all: Vec<Arrival> = requests(500, true).into_iter().map(far).collect();
    let with =
        |address| RunOptions { address, replay: Some(ReplayKind::Open), ..RunOptions::default() };
    let load = LoadSource::Requests(GivenRequests::columns("far", all, true));
    let beyond = Experiment::new(load.clone(), &with(AddressKind::AsIs)).unwrap();
    let refused =
        lab.run(&beyond, &config, 1, &mut (), None).map(drop).expect_err("it is too small");
    assert!(matches!(refused, Failure::Usage(_)), "{refused:?}");
    for address in [AddressKind::Fold, AddressKind::Compact, AddressKind::Partition(None)] {
        let experiment = Experiment::new(load.clone(), &with(address)).unwrap();
        let measured = lab.run(&experiment, &config, 1, &mut (), None).unwrap();
        assert_eq!(measured.document.report.host.requests, 500, "{address:?}");
    }
}

/// A device that is stepped by hand answers every request when a replay of the same requests does.
#[test]
fn stepping_by_hand_is_a_replay() {
    let lab = Lab::default();
    for sets in [&[][..], &["host.queues=2", "host.queue_depth=4"], &["cache.policy=none"]] {
        let config = config(sets);
        let all = requests(4_000, true);
        let load = LoadSource::Requests(GivenRequests::columns("mine", all.clone(), true));
        let experiment = Experiment::new(load, &RunOptions::default()).unwrap();
        let records = Requests::new(TableTarget::Memory).unwrap();
        let mut measured = lab.run(&experiment, &config, 1, &mut (), Some(records)).unwrap();
        let records = measured.requests.take().unwrap().finish(&[]).unwrap().unwrap();
        let held = measured.document.replay.held_back_requests;
        assert_eq!(held > 0, sets.contains(&"host.queue_depth=4"), "{sets:?}: {held}");
        // A replay starts its clock at the first request.
        let origin = all[0].at.0;
        for batch in [1, 7, 1_000] {
            let device = ftlab_lab::memory::device(&config, 1, Instruments::<(), ()>::default());
            let mut stepped = SteppedDevice::new(device.unwrap());
            let mut done: Vec<Completed> = Vec::new();
            for some in all.chunks(batch) {
                let shifted: Vec<Arrival> = some
                    .iter()
                    .map(|one| Arrival { at: SimTime(one.at.0 - origin), ..*one })
                    .collect();
                stepped.submit_all(&shifted).unwrap();
                let until = SimTime(shifted[0].at.0.saturating_sub(1)).max(stepped.now());
                stepped.advance_until(until, &mut || lab.stop.look(), &mut done).unwrap();
            }
            stepped.drain(&mut || lab.stop.look(), &mut done).unwrap();
            let latencies: Vec<u64> = done.iter().map(|one| one.latency().0).collect();
            let numbers: Vec<u64> = done.iter().map(|one| one.index).collect();
            let column = |name: &str| {
                let (_, values) =
                    records.columns.iter().find(|(column, _)| column.name == name).unwrap();
                match values {
                    ftlab_lab::result::ColumnValues::Wide(values) => values.clone(),
                    _ => panic!("{name} is wide"),
                }
            };
            assert_eq!(numbers, column("index"), "{sets:?}, batches of {batch}");
            assert_eq!(latencies, column("latency_ns"), "{sets:?}, batches of {batch}");
            assert_eq!(stepped.outstanding(), 0);
            let report = stepped.report();
            assert_eq!(report.host.requests, 4_000);
            assert_eq!(report.write_amplification, measured.document.report.write_amplification);
        }
    }
}

#[test]
fn what_a_stepped_device_can_not_take_is_refused_whole() {
    let config = config(&[]);
    let device = ftlab_lab::memory::device(&config, 1, Instruments::<(), ()>::default()).unwrap();
    let capacity = device.capacity_sectors();
    let mut stepped = SteppedDevice::new(device);
    let good = Arrival {
        at: SimTime(5_000),
        op: Op::Write,
        lba: Lba(0),
        sectors: 8,
        stream: 0,
        fua: false,
    };
    for (bad, said) in [
        (Arrival { lba: Lba(capacity), ..good }, "outside the device"),
        (Arrival { lba: Lba(u64::MAX), ..good }, "outside the device"),
        (Arrival { sectors: 0, ..good }, "no sectors"),
    ] {
        let refused = stepped.submit_all(&[good, bad]).expect_err("it is wrong");
        assert!(refused.text().contains(said) && refused.text().contains("request 1"), "{refused}");
        assert_eq!(stepped.outstanding(), 0, "nothing was submitted");
    }
    let mut done = Vec::new();
    let stop = Stop::default();
    stepped.advance_until(SimTime(10_000), &mut || stop.look(), &mut done).unwrap();
    let late = stepped.submit(good).expect_err("it is in the past");
    assert!(late.text().contains("too late"), "{late}");
    assert_eq!(stepped.submit(Arrival { at: SimTime(10_000), ..good }), Ok(0));
    stepped.advance_to_completion(SimTime::FOREVER, &mut || stop.look(), &mut done).unwrap();
    assert_eq!((done.len(), stepped.outstanding()), (1, 0));
    assert!(stepped.into_device().is_ok());
}

/// Stops at the first news.
struct Impatient;

impl Watcher for Impatient {
    fn goes_on(&mut self, _: &Progress) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

#[test]
fn a_run_that_is_stopped_keeps_what_was_measured() {
    let (lab, config) = (Lab::default(), config(&[]));
    let measured = lab.run(&workload(200_000, None), &config, 1, &mut Impatient, None).unwrap();
    assert!(!measured.document.complete);
    assert!(measured.document.report.host.requests < 200_000);
    lab.stop.set();
    let stopped = lab.run(&workload(1_000, Some("fill:timed")), &config, 1, &mut (), None);
    assert!(matches!(stopped.map(drop), Err(Failure::Interrupted)));
}

#[test]
fn a_probe_observes_a_whole_experiment_without_changing_it() {
    let (lab, config) = (Lab::default(), config(&[]));
    let experiment = workload(1_000, Some("fill:timed"));
    let plain = lab.run(&experiment, &config, 2, &mut (), None).unwrap();
    // The time line's, so that the test compiles no device of its own.
    let always = Windows::new([(SimTime::ZERO, SimTime::FOREVER)]);
    let instruments = Instruments { probe: Recorder::new(always), contents: () };
    let probed = lab.run_with(&experiment, &config, 2, &mut (), instruments).unwrap();
    assert_eq!(document(&plain), to_json(&probed.document).unwrap());
    let seen = probed.device.flash().probe().clone().into_record();
    assert!(seen.commands.len() > 1_000, "{} commands", seen.commands.len());
}

#[test]
fn a_run_measures_as_many_requests_as_asked_or_notes_that_there_are_fewer() {
    let (lab, config) = (Lab::default(), config(&[]));
    let run = |load: LoadSource, wanted| {
        let options = RunOptions { requests: Some(wanted), ..RunOptions::default() };
        let experiment = Experiment::new(load, &options).unwrap();
        let document = lab.run(&experiment, &config, 1, &mut (), None).unwrap().document;
        let measured = document.report.phases.iter().filter(|phase| phase.measured);
        let requests: u64 = measured.map(|phase| phase.requests).sum();
        (requests, document.report.notes.iter().any(|note| note.contains("(`requests`)")))
    };
    let text = "name = 'short'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\nrequests = 100";
    let workload = |text: &str| {
        let parsed = Workload::parse("short.toml", text, &mut |_| Err(String::new()));
        LoadSource::Workload(Arc::new(parsed.unwrap()))
    };
    assert_eq!(run(workload(text), 40), (40, false));
    assert_eq!(run(workload(text), 250), (250, false));
    let twice = format!("{text}\n{}", text.split_once('\n').unwrap().1);
    assert_eq!(run(workload(&twice), 200), (200, false));
    assert_eq!(run(workload(&twice), 250), (200, true));
    let given =
        |count| LoadSource::Requests(GivenRequests::columns("given", requests(count, true), true));
    assert_eq!([run(given(30), 30), run(given(30), 31)], [(30, false), (30, true)]);
}

const ON_ZONES: [&str; 7] = [
    "host.zones.policy=zns",
    "host.zones.capacity=64KiB",
    "ftl.over_provisioning=100%",
    "ftl.streams.policy=single",
    "ftl.placement.policy=dynamic",
    "host.translation.policy=log",
    "host.translation.spare=100%",
];

#[test]
fn a_load_runs_on_the_store_of_the_host() {
    let (lab, config) = (Lab::default(), config(&ON_ZONES));
    for precondition in [None, Some("fill"), Some("fill:70%")] {
        let experiment = workload(20_000, precondition);
        experiment.check(&config, 1).unwrap();
        let measured = lab.run(&experiment, &config, 1, &mut (), None).unwrap();
        let host = measured.document.host_translation.expect("the host translates");
        assert!(host.counts.copied > 0, "{host:?}");
        let both = host.host_write_amplification_ratio.unwrap()
            * host.device_write_amplification_ratio.unwrap();
        // Requests are whole blocks, so nothing else is written.
        assert!(
            (both / host.total_write_amplification_ratio.unwrap() - 1.0).abs() < 0.02,
            "{host:?}"
        );
        let zones = measured.document.report.zones.expect("the device has zones");
        assert_eq!(zones.counts.errors, 0);
    }
}

#[test]
fn a_fill_counts_no_gaps_between_zones() {
    let sets = [&ON_ZONES[..5], &["host.zones.size=128KiB"]].concat();
    let experiment = workload(100, Some("fill"));
    let measured = Lab::default().run(&experiment, &config(&sets), 1, &mut (), None).unwrap();
    let Some(StepDocument::Fill { written_bytes, .. }) = measured.document.precondition.first()
    else {
        panic!("it was filled");
    };
    // Half of 32 MiB of flash.
    assert_eq!(*written_bytes, 16 << 20);
}

#[test]
fn what_a_store_does_not_survive_is_refused() {
    let (lab, config) = (Lab::default(), config(&ON_ZONES));
    for steps in ["age", "fill:random", "fill:timed"] {
        let failed = lab.run(&workload(100, Some(steps)), &config, 1, &mut (), None);
        assert!(
            failed.err().expect(steps).to_string().contains("host.translation.policy"),
            "{steps}"
        );
    }
    let options =
        RunOptions { cut_power: Some(ftlab::units::Nanos(1_000_000)), ..RunOptions::default() };
    let load = LoadSource::workload("mixed-70-30-zipf").unwrap();
    let cut = Experiment::new(load, &options).unwrap();
    let recovering: Vec<&str> = [&ON_ZONES[..], &["ftl.recovery.policy=scan"]].concat();
    let refused = cut.check(&self::config(&recovering), 1).unwrap_err();
    assert!(refused.to_string().contains("cut_power"), "{refused}");
}
