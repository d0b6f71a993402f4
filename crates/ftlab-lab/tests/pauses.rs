//! A run that pauses, anywhere and for however long, gives the result of one that does not.

use std::pin::pin;
use std::task::{Context, Waker};

use ftlab::engine::Stream;
use ftlab::units::SimTime;
use ftlab_lab::Lab;
use ftlab_lab::device::{load, settings};
use ftlab_lab::experiment::{
    Conduct, Experiment, LoadSource, Measured, NamedRun, RunView, Watcher,
};
use ftlab_lab::memory::Instruments;
use ftlab_lab::result::to_json;
use ftlab_lab::stop::Stop;
use ftlab_workload::replay::{Going, Progress};

/// Lets the run go on for random spans, from one nanosecond to a millisecond, and for a while without a limit.
struct Pausing {
    random: Stream,
    /// Where it pauses next.
    until: Option<SimTime>,
    pauses: u64,
    /// The most pages that the device had programmed when it was looked at.
    most_pages: u64,
}

impl Watcher for Pausing {
    fn looks(&mut self, progress: &Progress, view: &dyn RunView) -> Going {
        self.most_pages = self.most_pages.max(view.counters().ftl.host_pages);
        if let Some(until) = self.until.take() {
            assert!(progress.now >= until, "asked at {} before {}", progress.now.0, until.0);
            self.pauses += 1;
            return Going::Pause;
        }
        if self.pauses > 150 && self.random.below(50) == 0 {
            return Going::On;
        }
        let span = 1 << self.random.below(18);
        let until = SimTime(progress.now.0 + 1 + self.random.below(span));
        self.until = Some(until);
        Going::Until(until)
    }
}

/// Runs `experiment` with pauses. Returns the result, and how often it paused.
fn paused(
    experiment: &Experiment,
    config: &ftlab::config::Config,
    seed: u64,
) -> (Measured, u64, u64) {
    let mut watcher =
        Pausing { random: Stream::new(seed, "pauses"), until: None, pauses: 0, most_pages: 0 };
    let stop = Stop::default();
    let conduct = Conduct { watcher: &mut watcher, stop: &stop, requests: None };
    let load = experiment.load.open().unwrap();
    let (mut polls, mut context) = (0, Context::from_waker(Waker::noop()));
    let measured = {
        let run = experiment.play_with(load, config, 7, conduct, Instruments::default());
        let mut run = pin!(run);
        loop {
            polls += 1;
            if let std::task::Poll::Ready(measured) = run.as_mut().poll(&mut context) {
                break measured.unwrap();
            }
        }
    };
    let pages = measured.device.ftl_counts().host_pages;
    assert!(watcher.most_pages <= pages, "it sees the device as it is");
    (measured, watcher.pauses, polls)
}

fn same(device: &str, sets: &[&str], load_of: LoadSource, options: &[(&str, &str)], least: u64) {
    let config = load(device, &settings(sets)).unwrap();
    let mut run = NamedRun::default();
    for (name, text) in options {
        run.set(name, text).unwrap();
    }
    let experiment = Experiment::new(load_of, &run.options).unwrap();
    let straight = Lab::default().run(&experiment, &config, 7, &mut (), None).unwrap();
    let straight = to_json(&straight.document).unwrap();
    for seed in 0..6 {
        let (measured, pauses, polls) = paused(&experiment, &config, seed);
        assert!(pauses >= least, "only {pauses} pauses");
        assert_eq!(polls, pauses + 1, "each pause is pending once");
        assert_eq!(to_json(&measured.document).unwrap(), straight, "{device}, seed {seed}");
    }
}

fn workload(name: &str) -> LoadSource {
    LoadSource::workload(name).unwrap()
}

#[test]
fn in_a_closed_loop_and_while_ageing() {
    let options = [("requests", "4000"), ("precondition", "fill,age")];
    same("tiny", &[], workload("mixed-70-30-zipf"), &options, 100);
}

#[test]
fn between_arrivals_and_in_idle_gaps() {
    let sets = ["nand.pages_per_block=24"];
    let trace = LoadSource::Trace {
        file: concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traces/office-20k.csv.gz")
            .to_owned(),
        held: None,
        reading: ftlab_workload::trace::Options::default(),
    };
    same("tlc-32g", &sets, trace.clone(), &[("requests", "3000"), ("address", "fold")], 100);
    let all = [("requests", "3000"), ("address", "fold"), ("replay", "asap")];
    same("tlc-32g", &sets, trace, &all, 20);
}

#[test]
fn of_a_device_that_suspends() {
    let sets = ["scheduler.policy=read-first", "scheduler.suspend=program-and-erase"];
    let options = [("requests", "2000"), ("precondition", "fill")];
    same("tiny", &sets, workload("mixed-70-30-zipf"), &options, 100);
}

#[test]
fn under_power_cuts() {
    let options = [("requests", "1500"), ("cut_power", "5ms")];
    same("tiny", &["ftl.recovery.policy=scan"], workload("randwrite-4k"), &options, 100);
}

#[test]
fn with_several_tenants() {
    same("tiny", &[], workload("noisy-neighbour"), &[("requests", "3000")], 100);
}

#[test]
fn of_fio_jobs() {
    let jobs = "[global]\nioengine=libaio\nfilename=/dev/x\nsize=4m\n[a]\nrw=randwrite\nbs=4k\niodepth=4\n\
                thinktime=50us\n[b]\nrw=randread\nbs=8k\nrate=20m\n[c]\nstonewall\nrw=read\nbs=64k\nramp_time=1\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jobs.fio");
    std::fs::write(&file, jobs).unwrap();
    same("tiny", &[], LoadSource::fio(file.to_str().unwrap(), &[]).unwrap(), &[], 100);
}
