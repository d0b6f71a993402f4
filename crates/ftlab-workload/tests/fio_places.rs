//! The places of fio's random jobs against fio itself: which blocks are hot, whether reads and writes
//! share them, and after how many writes a block is written or read again.
//!
//! The figures are those of fio 3.33. Each is of a run with `ioengine=null`, `write_iolog` and the
//! options that stand beside it, counted from the log. Random sequences differ, hence tolerances.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::process::Command;

use common::{Keep, Model};
use ftlab::host::Op;
use ftlab::units::Nanos;
use ftlab_workload::fio::{JobFile, Surroundings};
use ftlab_workload::replay::{Crew, Limits};

/// A gigabyte.
const CAPACITY: u64 = 1 << 21;
/// Of the smallest requests here.
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

/// Operation, first byte, bytes.
type Sent = (Op, u64, u64);

/// What one job with these options sends after its files were laid out, and what was noted.
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

/// How often each block was asked for, the most popular ones first.
fn popular<'a>(sent: impl Iterator<Item = &'a Sent>) -> Vec<(u64, u64)> {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    sent.for_each(|request| *counts.entry(request.1 / BLOCK).or_default() += 1);
    let mut list: Vec<(u64, u64)> = counts.into_iter().collect();
    list.sort_by_key(|&(block, count)| (std::cmp::Reverse(count), block));
    list
}

/// Places as a job's log has them: what fio printed, or what a job here did.
#[derive(Debug)]
struct Places {
    /// Of the hundred hottest blocks of reads those that are also among the hundred of writes.
    shared: usize,
    /// Writes from one write of a block to the next, and to a read of it: quartiles.
    overwritten: [u64; 3],
    read_back: [u64; 3],
    distinct: usize,
    /// Shares of requests to the 163, 1,638 and 8,192 most popular blocks.
    shares: [f64; 3],
}

impl Places {
    fn of(sent: &[Sent]) -> Places {
        let hottest = |op: Op| -> BTreeSet<u64> {
            let list = popular(sent.iter().filter(|request| request.0 == op));
            list.into_iter().take(100).map(|(block, _)| block).collect()
        };
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
        Places {
            shared: hottest(Op::Read).intersection(&hottest(Op::Write)).count(),
            overwritten: quartiles(overwritten),
            read_back: quartiles(read_back),
            distinct: all.len(),
            shares: [163, 1638, 8192].map(share),
        }
    }

    /// Twice what two seeds of fio differ by.
    fn agrees_with(&self, fio: &Places, what: &str) {
        println!("{what}: {self:?}\n{what}, fio: {fio:?}");
        let near = |ours: f64, theirs: f64, share: f64, least: f64| {
            let within = (share * theirs).max(least);
            assert!((ours - theirs).abs() <= within, "{what}:\n{self:?}\nfio:\n{fio:?}");
        };
        near(self.shared as f64, fio.shared as f64, 0.0, 8.0);
        near(self.distinct as f64, fio.distinct as f64, 0.02, 0.0);
        let distances = self.overwritten.iter().chain(&self.read_back);
        for (ours, theirs) in distances.zip(fio.overwritten.iter().chain(&fio.read_back)) {
            near(*ours as f64, *theirs as f64, 0.05, 1.0);
        }
        for (ours, theirs) in self.shares.iter().zip(fio.shares) {
            near(*ours, theirs, 0.0, 0.006);
        }
    }
}

fn quartiles(mut list: Vec<u64>) -> [u64; 3] {
    list.sort_unstable();
    [1, 2, 3].map(|quarter| list[list.len() * quarter / 4])
}

const SKEWED: &str = "rw=randrw;bs=4k;io_size=512m;random_distribution=";

/// 131,072 requests to 16,384 blocks: `size=64m` and these options.
#[test]
fn reads_and_writes_have_one_hot_set_as_in_fio() {
    let fio = |shared, overwritten, read_back, distinct, shares| Places {
        shared,
        overwritten,
        read_back,
        distinct,
        shares,
    };
    for (distribution, fio) in [
        ("zipf:1.2", fio(94, [6, 27, 319], [6, 28, 320], 8017, [0.789, 0.924, 1.0])),
        ("zipf:0.9", fio(93, [75, 689, 4563], [75, 710, 4702], 14420, [0.436, 0.693, 0.930])),
        ("pareto:0.2", fio(89, [5, 239, 3299], [5, 252, 3387], 14063, [0.530, 0.734, 0.938])),
        ("normal:5", fio(10, [1282, 3190, 6619], [1281, 3147, 6525], 7839, [0.058, 0.461, 1.0])),
        ("normal:20", fio(2, [1520, 3737, 7716], [1526, 3741, 7695], 9099, [0.049, 0.396, 0.993])),
        (
            "normal:50",
            fio(5, [2379, 5750, 11599], [2345, 5704, 11569], 12909, [0.032, 0.253, 0.881]),
        ),
    ] {
        let (sent, notes) = job("64m", &format!("{SKEWED}{distribution}"), 1);
        assert_eq!((sent.len(), notes.len()), (131_072, 1), "{notes:?}");
        Places::of(&sent).agrees_with(&fio, distribution);
    }
}

/// `rw=randread;bs=4k;io_size=256m`: the eight hottest blocks in their order. Other numbers of blocks
/// than powers of two have other places, and fewer of them.
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
    // `io_size=1g`, 262,144 requests: 16,383 is a bad number of places for the multiplication.
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

/// Where reads and writes differ in size they share a map of block numbers, each counted in its own
/// size: nobody is shortened, no number is used twice, and a number beyond the end ends the pass.
/// The mean number of requests is that of a naive model of this, over 3,000 runs; the model foretells
/// to the request what fio 3.33 does in eleven jobs with its own numbers (25 requests of `bs=4k,16k`,
/// 105 of `bs=16k,4k`, 29 of `rw=randwrite;bs=,16k`, 125 of `bs=4k,12k`, `size=1m` each).
#[test]
fn sizes_of_their_own_share_a_map_as_in_fio() {
    for (options, [read, write], requests) in [
        ("rw=randrw;bs=4k,16k", [4, 16], 76.5),
        ("rw=randrw;bs=16k,4k", [16, 4], 76.8),
        ("rw=randwrite;bs=,16k", [4, 16], 46.2),
        ("rw=randrw;bs=4k,12k", [4, 12], 96.8),
    ] {
        let seeds = 400;
        let mut sum = 0;
        for seed in 0..seeds {
            let (sent, notes) = job("1m", options, seed);
            assert!(notes.iter().any(|note| note.contains("ends the pass")), "{notes:?}");
            let mut used = BTreeSet::new();
            for (op, at, len) in &sent {
                let size = if *op == Op::Read { read } else { write } << 10;
                assert_eq!((*len, at % size), (size, 0), "{options}: whole and aligned");
                assert!(used.insert(at / size), "{options}: a number twice");
            }
            sum += sent.len();
        }
        let mean = sum as f64 / seeds as f64;
        println!("{options}: {mean} requests, naively {requests}");
        assert!((mean / requests - 1.0).abs() < 0.05, "{options}: {mean}, not {requests}");
    }
}

/// A pass that ended early is begun again, in the same order, for `loops` and for `io_size`: fio 3.33
/// made 50 requests of 25 with `loops=2`, and 421 of 4,096 KiB with `io_size=4m`.
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
    // A distribution of 4 KiB blocks whose hottest one lies beyond the end for requests of 16 KiB: fio
    // made none.
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

/// The same against the fio that is installed, if it is the version above.
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
        let log = folder.path().join(distribution.replace(':', "-"));
        let options = format!("{SKEWED}{distribution}");
        let text = format!(
            "[a]\nioengine=null\nsize=64m\n{}\nwrite_iolog={}\n",
            options.replace(';', "\n"),
            log.display()
        );
        let file = folder.path().join("job.fio");
        std::fs::write(&file, text).expect("written");
        let done = Command::new("fio")
            .args(["--output-format=json", "--output=/dev/null"])
            .arg(&file)
            .current_dir(&folder)
            .status();
        assert!(done.is_ok_and(|status| status.success()), "fio fails on {distribution}");
        let theirs: Vec<Sent> = std::fs::read_to_string(&log)
            .expect("a log")
            .lines()
            .filter_map(|line| sent_by_fio(&line.split_whitespace().collect::<Vec<_>>()))
            .collect();
        assert_eq!(theirs.len(), 131_072, "{distribution}");
        let ours = Places::of(&job("64m", &options, 1).0);
        ours.agrees_with(&Places::of(&theirs), distribution);
    }
}

/// A line of a log: moment, file, operation, offset and length.
fn sent_by_fio(words: &[&str]) -> Option<Sent> {
    let [_, _, op, at, len] = *words else { return None };
    let op = match op {
        "read" => Op::Read,
        "write" => Op::Write,
        _ => return None,
    };
    Some((op, at.parse().ok()?, len.parse().ok()?))
}
