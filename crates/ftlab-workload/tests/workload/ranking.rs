//! Checks that a fitted workload ranks policies as its trace does. The example trace, and cuts of
//! real ones if available, are played on small devices that differ in one policy, and so is the
//! workload fitted to each. If two policies differ clearly on the trace, they must differ the same
//! way on the fitted load. Known exceptions are in [`KNOWN`].

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use ftlab::config::{Config, Layer};
use ftlab::device::{Device, DeviceSetup, assemble};
use ftlab::host::{Host, Op};
use ftlab::stats::DeviceCounters;
use ftlab::units::{Lba, Nanos};
use ftlab_workload::generate::{Fit, Generator, Workload};
use ftlab_workload::replay::{Arrival, Completed, Options, Pacing, Records, Replay, Sink, Source};
use ftlab_workload::trace::{self, Location, Record};

/// Policies to compare, and the figure to compare them by.
const CONTESTS: [(&str, Figure, &[&[&str]]); 3] = [
    (
        "victim",
        Figure::Programs,
        &[
            &["ftl.gc.victim=greedy"],
            &["ftl.gc.victim=cost-benefit"],
            &["ftl.gc.victim=d-choices"],
            &["ftl.gc.victim=fifo"],
            &["ftl.gc.victim=random"],
        ],
    ),
    (
        "buffer",
        Figure::Programs,
        &[
            &["cache.policy=none"],
            &["cache.policy=lru", "cache.capacity=256KiB"],
            &["cache.policy=lru", "cache.capacity=1MiB"],
            &["cache.policy=lru", "cache.capacity=4MiB"],
        ],
    ),
    (
        "scheduler",
        Figure::ReadLatency,
        &[&["scheduler.policy=fifo"], &["scheduler.policy=read-first"]],
    ),
];
/// Results that differ by less than this are a tie.
const CLEAR: f64 = 0.10;
/// Trace, better and worse policy: clear differences that the fitted load does not show. On hm_0
/// neighbouring pages are written together, which spares cost-benefit and d-choices copies that
/// fifo makes (26 % and 14 % fewer programs). A fitted load scatters popular pages and loses such
/// neighbourhoods; there they program 1 % and 7 % more than fifo.
const KNOWN: [(&str, &str, &str); 2] = [
    ("msr-hm_0-cut-a.csv", "ftl.gc.victim=cost-benefit", "ftl.gc.victim=fifo"),
    ("msr-hm_0-cut-a.csv", "ftl.gc.victim=d-choices", "ftl.gc.victim=fifo"),
];
/// What a failing comparison lists.
const WRONG: &str = "trace, better on it, worse on it, but not on the fitted load";
/// Number of outstanding requests.
const DEPTH: u32 = 8;
/// How many times the capacity is written before the measurement, and again during it.
const PASSES: u64 = 3;
/// The most times the load is played.
const MOST_TIMES: u64 = 8;
/// Requests used of the example trace.
const EXAMPLE_REQUESTS: usize = 8_000;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    /// Sectors programmed per sector written by the host.
    Programs,
    /// Mean, in microseconds.
    ReadLatency,
}

/// Running totals.
#[derive(Default)]
struct Sums {
    reads: u64,
    read_time: u128,
    written: u64,
}

impl Sink<Device> for Sums {
    fn completed(&mut self, completed: &Completed) {
        match completed.completion.request.op {
            Op::Read => {
                self.reads += 1;
                self.read_time += u128::from(completed.latency().0);
            }
            Op::Write => self.written += u64::from(completed.completion.request.sectors),
            _ => {}
        }
    }
}

fn device(sets: &[&str], capacity_mib: u64) -> Device {
    // The tiny device has 0.75 MiB for the host per block of all its planes.
    let blocks = format!("nand.blocks_per_plane={}", (capacity_mib * 4).div_ceil(3).max(16) + 1);
    let mut layers = vec![Layer::preset("tiny"), Layer::set(1, &blocks)];
    layers.extend((2..).zip(sets).map(|(number, set)| Layer::set(number, set)));
    let config = Config::load(&layers).unwrap_or_else(|error| panic!("{error}"));
    assemble(DeviceSetup::new(&config, 1))
}

fn play(device: &mut Device, source: &mut impl Source, sums: &mut Sums) {
    let pacing = Pacing::Closed { depth: DEPTH, think_time: Nanos::ZERO };
    let options = Options { pacing, ..Options::default() };
    let replay = Replay { host: device, source, sink: sums, options };
    replay.run(&mut |_| ControlFlow::Continue(())).expect("it plays");
}

/// Fills a device, plays `load` as often as needed, and measures the second half.
fn measure(sets: &[&str], capacity_mib: u64, load: &[Arrival]) -> [f64; 2] {
    let mut device = device(sets, capacity_mib);
    let fill = "name = \"fill\"\n[[phase]]\nwrites = \"100%\"\nsize = \"64KiB\"\nbytes = \"100%\"\n\
                address = { kind = \"sequential\" }\n";
    let fill = parse(fill);
    let capacity = device.capacity_sectors();
    let mut fill = Generator::new(&fill, capacity, 1).expect("it fits");
    play(&mut device, &mut fill, &mut Sums::default());
    let written: u64 =
        load.iter().filter(|r| r.op == Op::Write).map(|r| u64::from(r.sectors)).sum();
    let times = (PASSES * capacity).div_ceil(written.max(1)).clamp(1, MOST_TIMES);
    let mut sums = Sums::default();
    for _ in 0..times {
        play(&mut device, &mut Records::of(load), &mut sums);
    }
    sums = Sums::default();
    let before = DeviceCounters::of(&device);
    for _ in 0..times {
        play(&mut device, &mut Records::of(load), &mut sums);
    }
    let counts = DeviceCounters::of(&device).since(&before).ftl;
    let programmed = (counts.host_pages + counts.gc_pages) * 8;
    [
        programmed as f64 / sums.written.max(1) as f64,
        sums.read_time as f64 / sums.reads.max(1) as f64 / 1e3,
    ]
}

fn parse(text: &str) -> Workload {
    let mut none = |_: &str| Err("no files here".to_owned());
    Workload::parse("test.toml", text, &mut none).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Returns a trace's records with the touched pages packed in order, so that a small device holds
/// them and neighbours stay neighbours.
fn packed(file: &Path) -> Vec<Record> {
    let location = Location::File(file.to_owned());
    let mut trace = trace::open(location, trace::Options::default()).expect("a trace");
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while trace.next_batch(&mut batch).expect("readable") {
        all.extend_from_slice(&batch);
    }
    let pages = |r: &Record| r.lba.0 / 8..r.end().div_ceil(8);
    let touched: BTreeSet<u64> = all.iter().flat_map(pages).collect();
    let touched: Vec<u64> = touched.into_iter().collect();
    for record in &mut all {
        let page = touched.partition_point(|page| *page < record.lba.0 / 8) as u64;
        record.lba = Lba(page * 8 + record.lba.0 % 8);
        record.stream = 0;
    }
    all
}

/// Returns as many requests as the trace has from the workload fitted to it, and the MiB they need.
fn fitted(records: &[Record]) -> (Vec<Arrival>, u64) {
    let mut fit = Fit::default();
    records.iter().for_each(|record| fit.add(record));
    let text = fit.workload("like", "Synthetic: fitted").expect("it has requests");
    let workload = parse(&text);
    let size = workload.phases[0].region.size.expect("a fitted workload has a region");
    let mib = size.sectors(0).div_ceil(2048);
    let generator = Generator::new(&workload, mib * 2048, 1).expect("it fits");
    let mut generator = generator;
    let mut list = Vec::new();
    loop {
        match generator.next_item() {
            ftlab_workload::replay::Next::Request(arrival) => list.push(arrival),
            ftlab_workload::replay::Next::End => break,
            ftlab_workload::replay::Next::Phase(_) => {}
        }
    }
    (list, mib)
}

/// Returns clear differences of the trace that the fitted load does not show: trace, better, worse.
fn compare(name: &str, records: &[Record]) -> Vec<[String; 3]> {
    let real: Vec<Arrival> = records.iter().map(|record| (*record).into()).collect();
    let (like, mib) = fitted(records);
    let mut wrong = Vec::new();
    for (contest, figure, variants) in CONTESTS {
        let results: Vec<[f64; 2]> = variants
            .iter()
            .map(|sets| {
                let at = usize::from(figure == Figure::ReadLatency);
                [measure(sets, mib, &real)[at], measure(sets, mib, &like)[at]]
            })
            .collect();
        println!("{name}, {contest}, {mib} MiB ({figure:?}):");
        for (sets, [trace, fitted]) in variants.iter().zip(&results) {
            println!("  {:<45} trace {trace:>9.3}  fitted {fitted:>9.3}", sets.join(" "));
        }
        for (one, a) in variants.iter().zip(&results) {
            for (other, b) in variants.iter().zip(&results) {
                let clear = a[0] < b[0] * (1.0 - CLEAR);
                if clear && a[1] >= b[1] {
                    wrong.push([name.to_owned(), one.join(" "), other.join(" ")]);
                }
            }
        }
    }
    wrong
}

#[test]
fn policies_rank_as_on_the_trace_that_a_workload_was_fitted_to() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traces/office-20k.csv.gz");
    let mut office = packed(Path::new(example));
    office.truncate(EXAMPLE_REQUESTS);
    assert_eq!(compare("office", &office), Vec::<[String; 3]>::new(), "{WRONG}");
}

#[test]
#[ignore = "long: ./x test --all"]
fn policies_rank_as_on_real_traces() {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let folder = std::env::var_os("FTLAB_TRACES").map_or_else(beside, Into::into);
    if !folder.is_dir() {
        println!("skipped: no traces at {} (set FTLAB_TRACES)", folder.display());
        return;
    }
    let files = ["msr-hm_0-cut-a.csv", "msr-prxy_0-20k.csv"];
    let wrong: Vec<_> =
        files.into_iter().flat_map(|file| compare(file, &packed(&folder.join(file)))).collect();
    let known = KNOWN.map(|(name, better, worse)| [name, better, worse].map(str::to_owned));
    assert_eq!(wrong, known, "{WRONG}");
}
