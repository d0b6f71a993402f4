//! The places of fio's random jobs against fio itself: which blocks are hot, whether reads and
//! writes share them, and how many writes pass before a block is written or read again.
//!
//! The figures are from fio 3.33, counted from the logs of runs with `ioengine=null`, `write_iolog`
//! and the options given beside them. Random sequences differ, so the tests compare means over
//! seeds, within the scatter of both sides.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Command;

use crate::common::{Keep, Model};
use ftlab::engine::Stream;
use ftlab::host::Op;
use ftlab::units::Nanos;
use ftlab_workload::fio::{JobFile, Surroundings};
use ftlab_workload::replay::{Crew, Limits};

/// One gibibyte, in sectors.
const CAPACITY: u64 = 1 << 21;
/// The size of the smallest requests.
const BLOCK: u64 = 4096;

struct Nothing;

impl Surroundings for Nothing {
    fn file(&mut self, _name: &str) -> Result<String, String> {
        Err("no such file".to_owned())
    }

    fn variable(&mut self, _name: &str) -> Option<String> {
        None
    }
}

/// Operation, first byte, length in bytes.
type Sent = (Op, u64, u64);

/// Returns what one job with these options sends after its files were laid out, and its notes.
fn job(size: &str, options: &str, seed: u64) -> (Vec<Sent>, Vec<String>) {
    let text = format!("[a]\nioengine=null\nsize={size}\n{}\n", options.replace(';', "\n"));
    let file = JobFile::parse("test.fio", &text, &mut Nothing).unwrap_or_else(|p| panic!("{p}"));
    let plan = file.plan(CAPACITY, seed).unwrap_or_else(|p| panic!("{p}"));
    let mut host = Model::new(64, Nanos(10_000), CAPACITY);
    let crew = Crew { host: &mut host, sink: &mut Keep::default(), limits: Limits::default() };
    let report = crew.run(plan.groups, &mut |_| ControlFlow::Continue(())).expect("played");
    let before: u64 = report.phases.iter().filter(|p| !p.measured).map(|p| p.requests).sum();
    let sent = host.submissions.iter().skip(usize::try_from(before).expect("few"));
    let sent = sent.map(|(_, r)| (r.op, r.lba.0 * 512, u64::from(r.sectors) * 512)).collect();
    (sent, plan.notes)
}

/// Returns how often each block was requested, most popular first.
fn popular<'a>(sent: impl Iterator<Item = &'a Sent>) -> Vec<(u64, u64)> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    sent.for_each(|request| *counts.entry(request.1 / BLOCK).or_default() += 1);
    let mut list: Vec<(u64, u64)> = counts.into_iter().collect();
    list.sort_by_key(|&(block, count)| (std::cmp::Reverse(count), block));
    list
}

/// The figures counted from a log.
const FIGURES: [&str; 11] = [
    // How many of the hundred hottest blocks of reads are also among the hundred hottest of writes.
    "shared",
    // Quartiles of the number of writes between two writes of a block, and between a write and a
    // read of it.
    "overwritten, 1",
    "overwritten, 2",
    "overwritten, 3",
    "read back, 1",
    "read back, 2",
    "read back, 3",
    "distinct",
    // Shares of requests to this many of the most popular blocks.
    "of 163",
    "of 1,638",
    "of 8,192",
];
/// Half a unit of counts, and half of the last given digit of shares: smaller scatter is only
/// rounding.
const ROUNDING: [f64; 11] = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.000_05, 0.000_05, 0.000_05];
/// Runs on each side, each with its own seed.
const RUNS: u64 = 8;
/// How many standard errors two means may differ by. Since the deviations come from eight runs,
/// chance exceeds this in one of 30,000 comparisons (Student's t, 14 degrees of freedom).
const ERRORS: f64 = 6.0;

/// Computes the figures of a log.
fn figures(sent: &[Sent]) -> [f64; 11] {
    let hottest = |op: Op| -> BTreeSet<u64> {
        let list = popular(sent.iter().filter(|request| request.0 == op));
        list.into_iter().take(100).map(|(block, _)| block).collect()
    };
    let shared = hottest(Op::Read).intersection(&hottest(Op::Write)).count();
    let (mut last, mut writes) = (BTreeMap::new(), 0u64);
    let (mut overwritten, mut read_back) = (Vec::new(), Vec::new());
    for (op, at, _) in sent {
        let seen = last.get(at).map(|before| writes - before);
        match op {
            Op::Write => {
                overwritten.extend(seen);
                last.insert(*at, writes);
                writes += 1;
            }
            _ => read_back.extend(seen),
        }
    }
    let all = popular(sent.iter());
    let share = |blocks: usize| {
        let sum: u64 = all.iter().take(blocks).map(|(_, count)| count).sum();
        sum as f64 / sent.len() as f64
    };
    let [a, b, c] = quartiles(overwritten).map(|distance| distance as f64);
    let [d, e, f] = quartiles(read_back).map(|distance| distance as f64);
    let [g, h, i] = [163, 1638, 8192].map(share);
    [shared as f64, a, b, c, d, e, f, all.len() as f64, g, h, i]
}

/// Means and standard deviations over runs.
#[derive(Clone, Copy, Debug)]
struct Runs {
    mean: [f64; 11],
    deviation: [f64; 11],
}

impl Runs {
    fn of(runs: &[[f64; 11]]) -> Runs {
        let count = runs.len() as f64;
        let mean: [f64; 11] =
            std::array::from_fn(|at| runs.iter().map(|run| run[at]).sum::<f64>() / count);
        let deviation = std::array::from_fn(|at| {
            let squares = runs.iter().map(|run| (run[at] - mean[at]).powi(2));
            (squares.sum::<f64>() / (count - 1.0)).sqrt()
        });
        Runs { mean, deviation }
    }

    /// Returns our runs of a distribution.
    fn here(distribution: &str) -> Runs {
        let options = format!("{SKEWED}{distribution}");
        let runs: Vec<_> = (1..=RUNS)
            .map(|seed| {
                let (sent, notes) = job("64m", &options, seed);
                assert_eq!((sent.len(), notes.len()), (131_072, 1), "{notes:?}");
                figures(&sent)
            })
            .collect();
        Runs::of(&runs)
    }

    /// Asserts that each mean differs by no more than the scatter of both sides allows. A normal
    /// distribution has no clear hundred hottest blocks, so their overlap is not compared.
    fn agrees_with(&self, fio: &Runs, what: &str) {
        let skipped = usize::from(what.starts_with("normal"));
        for (at, figure) in FIGURES.iter().enumerate().skip(skipped) {
            let square = |runs: &Runs| runs.deviation[at].max(ROUNDING[at]).powi(2);
            let error = ((square(self) + square(fio)) / RUNS as f64).sqrt();
            let off = (self.mean[at] - fio.mean[at]) / error;
            let [mean, theirs] = [self, fio].map(|runs| runs.mean[at]);
            println!("{what}, {figure}: {mean:.4}, fio {theirs:.4}, {off:+.1} standard errors");
            assert!(
                off.abs() <= ERRORS,
                "{what}, {figure}: {mean}, fio {theirs}, {off:+.1} errors"
            );
        }
    }
}

fn quartiles(mut list: Vec<u64>) -> [u64; 3] {
    list.sort_unstable();
    [1, 2, 3].map(|quarter| list[list.len() * quarter / 4])
}

const SKEWED: &str = "rw=randrw;bs=4k;io_size=512m;random_distribution=";

/// 131,072 requests to 16,384 blocks: `size=64m`, these options, `randrepeat=0` and `randseed` from
/// 1001 to 1008. Means, then standard deviations. (With `randrepeat=1`, the default, all eight
/// seeds gave the same counts, so such runs show no scatter.)
#[test]
fn reads_and_writes_have_one_hot_set_as_in_fio() {
    for (distribution, mean, deviation) in [
        (
            "zipf:1.2",
            [93.62, 6.0, 28.25, 320.38, 6.0, 28.0, 316.25, 8152.38, 0.7892, 0.9234, 0.9999],
            [1.19, 0.0, 0.46, 5.58, 0.0, 0.53, 8.78, 52.68, 0.00099, 0.00046, 0.00011],
        ),
        (
            "zipf:0.9",
            [
                92.38, 77.88, 713.12, 4623.0, 77.88, 702.75, 4572.25, 14514.38, 0.4341, 0.6917,
                0.9283,
            ],
            [1.3, 2.17, 13.56, 65.42, 1.25, 8.15, 56.27, 49.34, 0.00104, 0.00135, 0.00035],
        ),
        (
            "pareto:0.2",
            [91.75, 5.0, 251.5, 3366.38, 5.12, 247.38, 3333.38, 14117.25, 0.5276, 0.7338, 0.9373],
            [1.04, 0.0, 7.39, 67.58, 0.35, 5.26, 63.06, 14.09, 0.00135, 0.00133, 0.00029],
        ),
        (
            "normal:5",
            [6.75, 1276.88, 3154.5, 6612.0, 1280.12, 3160.0, 6621.75, 7839.88, 0.0582, 0.461, 1.0],
            [2.38, 12.35, 13.32, 33.17, 10.15, 17.63, 41.29, 33.77, 0.00054, 0.00151, 0.0],
        ),
        (
            "normal:20",
            [
                4.12, 1518.5, 3727.75, 7708.0, 1519.62, 3728.75, 7705.88, 9104.5, 0.0494, 0.3958,
                0.993,
            ],
            [1.96, 13.41, 19.66, 44.55, 17.4, 21.92, 29.26, 22.77, 0.0003, 0.00126, 0.00018],
        ),
        (
            "normal:50",
            [
                1.62, 2378.88, 5752.5, 11593.75, 2381.88, 5743.0, 11581.75, 12928.0, 0.0312,
                0.2524, 0.8804,
            ],
            [1.41, 17.56, 29.64, 39.71, 20.66, 46.23, 68.64, 23.29, 0.00025, 0.00061, 0.00062],
        ),
    ] {
        Runs::here(distribution).agrees_with(&Runs { mean, deviation }, distribution);
    }
}

/// The eight hottest blocks, in order, of `rw=randread;bs=4k;io_size=256m`. Numbers of blocks that
/// are not powers of two have other places, and fewer of them.
#[test]
fn the_hottest_places_are_those_of_fio() {
    for (size, distribution, hottest) in [
        ("64m", "zipf:1.2:0.3", [4915, 5918, 6921, 7924, 8927, 9930, 10933, 11936]),
        ("64m", "zipf:1.2:0", [0, 1003, 2006, 3009, 4012, 5015, 6018, 7021]),
        ("64m", "pareto:0.1:0.5", [8192, 9195, 10198, 11201, 12204, 13207, 14210, 15213]),
        ("50000k", "zipf:1.2:0.3", [3750, 6881, 10012, 11527, 2158, 5289, 6804, 9935]),
        ("65532k", "zipf:1.2:0", [0, 7596, 15192, 6149, 13745, 4958, 12298, 3511]),
        ("40004k", "zipf:1.5:0.3", [3000, 4715, 6430, 1646, 3361, 5076, 292, 2007]),
        ("3m", "pareto:0.1:0.5", [384, 363, 342, 65, 44, 23, 514, 493]),
    ] {
        let options = format!("rw=randread;bs=4k;io_size=256m;random_distribution={distribution}");
        let list = popular(job(size, &options, 1).0.iter());
        let list: Vec<u64> = list.into_iter().take(8).map(|(block, _)| block).collect();
        assert_eq!(list, hottest, "{size}, {distribution}");
    }
    // `io_size=1g`, 262,144 requests: 16,383 places are a bad number for the multiplicative hash.
    let many = "rw=randread;bs=4k;io_size=1g;random_distribution=";
    for (size, distribution, distinct) in [
        ("65532k", "zipf:1.2", 3584.0),
        ("50000k", "zipf:1.2", 9419.0),
        ("65532k", "normal:20", 2846.0),
        ("50000k", "normal:50", 10603.0),
    ] {
        let seen = popular(job(size, &format!("{many}{distribution}"), 1).0.iter()).len() as f64;
        assert!((seen / distinct - 1.0).abs() < 0.02, "{size}, {distribution}: {seen} blocks");
    }
}

/// A naive model of fio's rule: the number of requests in one pass over a mebibyte. Reads and
/// writes share a list of used numbers, as many as there are blocks of the smaller size. A number
/// is drawn below the end of the request's own direction, and the next free one is taken, wrapping
/// around. A number beyond that end ends the pass, and so does the last byte.
fn naive_pass(sizes: [u64; 2], reads: bool, stream: &mut Stream) -> u32 {
    const BYTES: u64 = 1 << 20;
    let numbers = sizes.map(|size| BYTES / size);
    let mut taken = vec![false; (BYTES / sizes[0].min(sizes[1])) as usize];
    let (mut requests, mut bytes) = (0, 0);
    while bytes < BYTES {
        let direction = usize::from(!reads || stream.below(2) == 0);
        let drawn = stream.below(numbers[direction]) as usize;
        let free = |from: usize| (from..taken.len()).find(|&number| !taken[number]);
        let Some(number) = free(drawn).or_else(|| free(0)) else { break };
        if number as u64 >= numbers[direction] {
            break;
        }
        taken[number] = true;
        requests += 1;
        bytes += sizes[direction];
    }
    requests
}

/// If reads and writes differ in size, they share a map of block numbers, each counted in its own
/// size. No request is shortened, no number is used twice, and a number beyond the end ends the
/// pass. The mean number of requests equals the naive model's. Fed with fio's own numbers, such a
/// model predicted exactly what fio 3.33 did in eleven jobs (25 requests of `bs=4k,16k`, 105 of
/// `bs=16k,4k`, 29 of `rw=randwrite;bs=,16k`, 125 of `bs=4k,12k`, `size=1m` each); that was
/// measured separately and no test repeats it.
#[test]
fn sizes_of_their_own_share_a_map_as_in_fio() {
    for (options, [read, write]) in [
        ("rw=randrw;bs=4k,16k", [4, 16]),
        ("rw=randrw;bs=16k,4k", [16, 4]),
        ("rw=randwrite;bs=,16k", [4, 16]),
        ("rw=randrw;bs=4k,12k", [4, 12]),
    ] {
        let (runs, seeds) = (3_000, 1_000);
        let mut stream = Stream::new(1, options);
        let reads = options.contains("randrw");
        let mut pass = || naive_pass([read << 10, write << 10], reads, &mut stream);
        let naive: Vec<f64> = (0..runs).map(|_| f64::from(pass())).collect();
        let mut requests = Vec::new();
        for seed in 0..seeds {
            let (sent, notes) = job("1m", options, seed);
            assert!(notes.iter().any(|note| note.contains("ends the pass")), "{notes:?}");
            let mut used = BTreeSet::new();
            for (op, at, len) in &sent {
                let size = if *op == Op::Read { read } else { write } << 10;
                assert_eq!((*len, at % size), (size, 0), "{options}: whole and aligned");
                assert!(used.insert(at / size), "{options}: a number twice");
            }
            requests.push(sent.len() as f64);
        }
        let [(mean, error), (naive, of_naive)] =
            [requests, naive].map(|list| mean_and_error(&list));
        println!("{options}: {mean:.2} requests ({error:.2}), naively {naive:.2} ({of_naive:.2})");
        let within = 4.0 * error.hypot(of_naive);
        assert!((mean - naive).abs() < within, "{options}: {mean}, not {naive} by {within}");
    }
}

/// Returns the mean and its standard error.
fn mean_and_error(list: &[f64]) -> (f64, f64) {
    let count = list.len() as f64;
    let mean = list.iter().sum::<f64>() / count;
    let squares: f64 = list.iter().map(|one| (one - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// With `loops` and `io_size`, a pass that ended early starts over in the same order: fio 3.33 made
/// 50 requests instead of 25 with `loops=2`, and 421 of 4,096 KiB with `io_size=4m`.
#[test]
fn a_pass_that_ended_early_is_repeated_as_in_fio() {
    let options = "rw=randrw;bs=4k,16k";
    let bytes = |sent: &[Sent]| sent.iter().map(|request| request.2).sum::<u64>();
    let early = |seed: &u64| bytes(&job("1m", options, *seed).0) < 1 << 19;
    let seed = (0..).find(early).expect("most passes end early");
    let once = job("1m", options, seed).0;
    let twice = job("1m", &format!("{options};loops=2"), seed).0;
    assert_eq!(twice, [&once[..], &once].concat());
    let long = job("1m", &format!("{options};io_size=4m"), seed).0;
    let bytes = bytes(&long);
    assert!((4 << 20) - (16 << 10) < bytes && bytes < (4 << 20) + (16 << 10), "{bytes}");
    assert!(long.chunks(once.len()).all(|pass| once.starts_with(pass)));
    // A distribution over 4 KiB blocks whose hottest one is beyond the end for requests of 16 KiB:
    // fio made none.
    let far = "rw=randwrite;bs=4k,16k;random_distribution=zipf:9:0.5;time_based;runtime=1";
    assert_eq!(job("1m", far, 1).0, []);
    // Without a map each direction has places of its own.
    let (free, notes) = job("1m", &format!("{options};norandommap"), 1);
    let bytes: u64 = free.iter().map(|request| request.2).sum();
    assert!((1 << 20..(1 << 20) + (16 << 10)).contains(&bytes), "{bytes}");
    assert!(!notes.iter().any(|note| note.contains("ends the pass")), "{notes:?}");
}

/// With a map all passes send the same reads and writes; fio 3.33: 256 of 256.
#[test]
fn passes_with_a_map_repeat_directions_too() {
    let twice = job("1m", "rw=randrw;bs=4k;loops=2", 1).0;
    assert_eq!(twice[..256], twice[256..]);
    let free = job("1m", "rw=randrw;bs=4k;loops=2;norandommap", 1).0;
    assert_ne!(free[..256], free[256..]);
}

/// The same comparison with the installed fio, if it is the version above.
#[test]
fn places_are_those_of_the_fio_that_is_here() {
    let version = Command::new("fio").arg("--version").output().ok();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    if version.as_deref() != Some("fio-3.33") {
        eprintln!("skipped: there is no fio 3.33 on the path");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for distribution in ["zipf:1.1", "pareto:0.3", "normal:30"] {
        let logs: Vec<_> =
            (1..=RUNS).map(|seed| log_of_fio(folder.path(), distribution, seed)).collect();
        let theirs: Vec<_> = logs.iter().map(|log| figures(log)).collect();
        Runs::here(distribution).agrees_with(&Runs::of(&theirs), distribution);
    }
}

/// Returns what the installed fio sends.
fn log_of_fio(folder: &Path, distribution: &str, seed: u64) -> Vec<Sent> {
    let log = folder.join(format!("{}-{seed}", distribution.replace(':', "-")));
    let options = format!("{SKEWED}{distribution};randrepeat=0;randseed={seed}");
    let options = options.replace(';', "\n");
    let log_at = log.display();
    let text = format!("[a]\nioengine=null\nsize=64m\n{options}\nwrite_iolog={log_at}\n");
    let file = folder.join("job.fio");
    std::fs::write(&file, text).expect("written");
    let done = Command::new("fio")
        .args(["--output-format=json", "--output=/dev/null"])
        .arg(&file)
        .current_dir(folder)
        .status();
    assert!(done.is_ok_and(|status| status.success()), "fio fails on {distribution}");
    let sent: Vec<Sent> = std::fs::read_to_string(&log)
        .expect("a log")
        .lines()
        .filter_map(|line| sent_by_fio(&line.split_whitespace().collect::<Vec<_>>()))
        .collect();
    assert_eq!(sent.len(), 131_072, "{distribution}");
    sent
}

/// Parses a line of a log: time, file, operation, offset and length.
fn sent_by_fio(words: &[&str]) -> Option<Sent> {
    let [_, _, op, at, len] = *words else { return None };
    let op = match op {
        "read" => Op::Read,
        "write" => Op::Write,
        _ => return None,
    };
    Some((op, at.parse().ok()?, len.parse().ok()?))
}
