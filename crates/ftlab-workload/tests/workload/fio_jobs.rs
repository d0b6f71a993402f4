//! fio's job files against fio itself: what fio 3.33 did with `ioengine=null` and `write_iolog`
//! (counts, coverage and order, not its random sequences), and in timed runs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use crate::common::{Keep, Model};
use ftlab::host::Op;
use ftlab::units::{Lba, Nanos, SimTime};
use ftlab_workload::fio::{JobFile, Surroundings};
use ftlab_workload::replay::{Answered, Crew, Limits, Report, Turn};

const SERVICE: Nanos = Nanos(10_000);
/// 8 GiB.
const CAPACITY: u64 = 1 << 24;

struct Nothing;

impl Surroundings for Nothing {
    fn file(&mut self, name: &str) -> Result<String, String> {
        match name {
            "shared.fio" => Ok("[global]\nbs=8k\n".to_owned()),
            _ => Err("no such file".to_owned()),
        }
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        let known = [("SIZE", "2m"), ("BS", "120k"), ("NUMJOBS", "256")];
        known.into_iter().find(|known| known.0 == name).map(|known| known.1.to_owned())
    }
}

/// The outcome of a job file.
struct Done {
    /// Measured requests in submission order: time, operation, offset in KiB, length in KiB,
    /// stream.
    requests: Vec<(u64, Op, f64, f64, u32)>,
    report: Report,
    /// Number of writes with FUA.
    fua: usize,
    peak: usize,
    notes: Vec<String>,
}

fn run(text: &str) -> Done {
    let file = JobFile::parse("test.fio", text, &mut Nothing).unwrap_or_else(|p| panic!("{p}"));
    let plan = file.plan(CAPACITY, 1).unwrap_or_else(|p| panic!("{p}"));
    let mut host = Model::new(64, SERVICE, CAPACITY);
    let mut sink = Keep::default();
    let crew = Crew { host: &mut host, sink: &mut sink, limits: Limits::default() };
    let report = crew.run(plan.groups, &mut |_| ControlFlow::Continue(())).expect("played");
    let before: u64 = report.phases.iter().filter(|p| !p.measured).map(|p| p.requests).sum();
    let start = report.phases.iter().find(|p| p.measured).map_or(SimTime::ZERO, |p| p.started);
    let kib = |sectors: u64| sectors as f64 / 2.0;
    let measured = host.submissions.iter().skip(usize::try_from(before).unwrap());
    let requests = measured
        .map(|(at, r)| (at.0 - start.0, r.op, kib(r.lba.0), kib(u64::from(r.sectors)), r.stream))
        .collect();
    let fua = host.submissions.iter().filter(|(_, request)| request.fua).count();
    Done { requests, report, fua, peak: host.peak, notes: plan.notes }
}

/// Runs one job of 1 MiB with fio's defaults and these options.
fn job(options: &str) -> Done {
    run(&format!("[global]\nioengine=null\nsize=1m\n[a]\n{}\n", options.replace(';', "\n")))
}

impl Done {
    fn of(&self, op: Op) -> Vec<(f64, f64)> {
        self.requests.iter().filter(|r| r.1 == op).map(|r| (r.2, r.3)).collect()
    }

    fn counts(&self) -> [usize; 4] {
        [Op::Read, Op::Write, Op::Trim, Op::Flush].map(|op| self.of(op).len())
    }

    fn offsets(&self) -> Vec<f64> {
        self.requests.iter().filter(|r| r.1 != Op::Flush).map(|r| r.2).collect()
    }

    fn distinct(&self) -> usize {
        self.offsets().iter().map(|at| (at * 2.0) as u64).collect::<BTreeSet<u64>>().len()
    }

    fn total_kib(&self) -> f64 {
        self.requests.iter().map(|r| r.3).sum()
    }

    /// Returns the number of sectors touched, and whether any was touched twice.
    fn coverage(&self) -> (usize, bool) {
        let mut seen = BTreeMap::new();
        for (_, _, at, len, _) in &self.requests {
            for half in (at * 2.0) as u64..((at + len) * 2.0) as u64 {
                *seen.entry(half).or_insert(0) += 1;
            }
        }
        (seen.len(), seen.values().any(|count| *count > 1))
    }
}

fn near(what: &str, seen: f64, fio: f64, within: f64) {
    assert!((seen - fio).abs() <= within, "{what}: {seen}, fio {fio} +- {within}");
}

/// Options, [reads, writes, trims, syncs], distinct offsets, KiB moved: exactly as in fio.
#[test]
fn counts_and_coverage_are_those_of_fio() {
    for (options, counts, distinct, kib) in [
        ("rw=read", [256, 0, 0, 0], 256, 1024.0),
        ("rw=randread", [256, 0, 0, 0], 256, 1024.0),
        ("rw=read;bs=12k", [85, 0, 0, 0], 85, 1020.0),
        ("rw=randread;bs=12k", [85, 0, 0, 0], 85, 1020.0),
        ("rw=trim", [0, 0, 256, 0], 256, 1024.0),
        ("rw=randtrim", [0, 0, 256, 0], 256, 1024.0),
        ("rw=trimwrite", [0, 256, 256, 0], 256, 2048.0),
        ("rw=randtrimwrite", [0, 256, 256, 0], 256, 2048.0),
        ("rw=randread:8;rw_sequencer=identical", [256, 0, 0, 0], 32, 1024.0),
        ("rw=write:4k", [0, 256, 0, 0], 128, 1024.0),
        ("rw=read;filesize=1m;size=50%", [128, 0, 0, 0], 128, 512.0),
        ("rw=write;filesize=1m;offset=512k;size=100%", [0, 128, 0, 0], 128, 512.0),
        ("rw=write;io_size=1536k", [0, 384, 0, 0], 256, 1536.0),
        ("rw=randwrite;io_size=1536k", [0, 384, 0, 0], 256, 1536.0),
        ("rw=randwrite;io_size=512k", [0, 128, 0, 0], 128, 512.0),
        ("rw=randwrite;loops=2", [0, 512, 0, 0], 256, 2048.0),
        ("rw=randwrite;number_ios=10", [0, 10, 0, 0], 10, 40.0),
        ("rw=randwrite;number_ios=1000", [0, 256, 0, 0], 256, 1024.0),
        ("rw=randread;percentage_random=0", [256, 0, 0, 0], 256, 1024.0),
        ("rw=randread;random_generator=lfsr", [256, 0, 0, 0], 256, 1024.0),
        ("rw=write;fsync=8", [0, 256, 0, 31], 256, 1024.0),
        ("rw=randwrite;fdatasync=32", [0, 256, 0, 7], 256, 1024.0),
        ("rw=write;end_fsync=1", [0, 256, 0, 1], 256, 1024.0),
        ("rw=read;end_fsync=1;fsync=4", [256, 0, 0, 0], 256, 1024.0),
        ("rw=read;nrfiles=4", [256, 0, 0, 0], 256, 1024.0),
        ("rw=randread;nrfiles=4", [256, 0, 0, 0], 256, 1024.0),
        ("rw=read;nrfiles=4;file_service_type=sequential", [256, 0, 0, 0], 256, 1024.0),
        ("rw=read;nrfiles=4;file_service_type=random", [256, 0, 0, 0], 256, 1024.0),
        ("rw=write;filename=x:y", [0, 256, 0, 0], 256, 1024.0),
        ("rw=write;offset=25%;offset_align=128k;size=1000k", [0, 250, 0, 0], 250, 1000.0),
    ] {
        let done = job(options);
        assert_eq!((done.counts(), done.distinct()), (counts, distinct), "{options}");
        assert_eq!(done.total_kib(), kib, "{options}");
    }
}

/// Options and the first offsets in KiB; sequential walks use no random numbers.
#[test]
fn walks_go_where_fio_goes() {
    for (options, first) in [
        ("rw=read", vec![0.0, 4.0, 8.0, 12.0]),
        ("rw=trimwrite", vec![0.0, 0.0, 4.0, 4.0, 8.0]),
        ("rw=write:4k", vec![0.0, 8.0, 16.0, 24.0]),
        ("rw=read;offset=256k", vec![256.0, 260.0, 264.0]),
        ("rw=read;offset=25%", vec![256.0, 260.0, 264.0]),
        ("rw=write;offset=25%;offset_align=128k;size=1000k", vec![256.0, 260.0]),
        ("rw=read;nrfiles=4", vec![0.0, 256.0, 512.0, 768.0, 4.0, 260.0]),
        ("rw=read;nrfiles=4;file_service_type=roundrobin:4", vec![0.0, 4.0, 8.0, 12.0, 256.0]),
        ("rw=read;nrfiles=4;file_service_type=sequential", vec![0.0, 4.0, 8.0, 12.0, 16.0]),
        ("rw=write;filename=x:y", vec![0.0, 512.0, 4.0, 516.0]),
        (
            "rw=read;zonemode=strided;zonesize=16k;zonerange=32k;zoneskip=64k",
            vec![0.0, 4.0, 8.0, 12.0, 96.0, 100.0, 104.0, 108.0, 192.0],
        ),
    ] {
        assert_eq!(job(options).offsets()[..first.len()], first, "{options}");
    }
    // Three files of a third each hold 85 whole blocks, so 255 requests; the zones have 44 places.
    assert_eq!(job("rw=write;nrfiles=3").counts(), [0, 255, 0, 0]);
    let zones = job("rw=read;zonemode=strided;zonesize=16k;zonerange=32k;zoneskip=64k");
    assert_eq!((zones.counts(), zones.distinct()), ([256, 0, 0, 0], 44));
    // In a sequential mix, reads and writes walk separately.
    let mix = job("rw=rw");
    for op in [Op::Read, Op::Write] {
        let offsets: Vec<f64> = mix.of(op).iter().map(|r| r.0).collect();
        assert!(offsets.iter().enumerate().all(|(i, at)| *at == i as f64 * 4.0), "{op:?}");
    }
    assert_eq!(mix.requests.len(), 256);
    // Offsets wrap around with holes, and a second pass starts over.
    assert_eq!(job("rw=write;io_size=1536k").offsets().last(), Some(&508.0));
}

#[test]
fn random_orders_have_the_properties_of_fio() {
    // A trim and its write go to the same place.
    let pairs = job("rw=randtrimwrite").offsets();
    assert!(pairs.chunks(2).all(|pair| pair[0] == pair[1]));
    // With a map every pass has the same order; without one, the sequence continues.
    let twice = job("rw=randwrite;loops=2").offsets();
    assert_eq!(twice[..256], twice[256..]);
    let half = job("rw=randwrite;io_size=1536k").offsets();
    assert_eq!(half[..128], half[256..]);
    let free = job("rw=randread;norandommap;loops=2");
    assert_ne!(free.offsets()[..256], free.offsets()[256..]);
    near("two free passes", free.distinct() as f64, 225.0, 15.0);
    near("free", job("rw=randread;norandommap").distinct() as f64, 157.0, 20.0);
    // Runs of eight from random places.
    let runs = job("rw=randread:8");
    near("runs", runs.distinct() as f64, 162.0, 25.0);
    let follow = runs.offsets().windows(2).filter(|pair| pair[1] == pair[0] + 4.0).count();
    assert!(follow >= 256 / 8 * 7 - 32, "{follow} follow their predecessor");
    near("half random", job("rw=randread;percentage_random=50").distinct() as f64, 173.0, 20.0);
    // Alignment turns the map off.
    let aligned = job("rw=randread;ba=8k");
    assert!(aligned.offsets().iter().all(|at| at % 8.0 == 0.0));
    near("aligned", aligned.distinct() as f64, 110.0, 10.0);
    let large = job("rw=randread;ba=4k;bs=16k");
    assert_eq!(large.requests.len(), 64);
    near("aligned by less", large.distinct() as f64, 56.0, 6.0);
    // A mixed random job shares one map.
    let shared = job("rw=randrw;rwmixread=70");
    assert_eq!((shared.requests.len(), shared.distinct()), (256, 256));
    near("reads", shared.of(Op::Read).len() as f64, 184.0, 22.0);
}

#[test]
fn sizes_are_mixed_and_cut_as_in_fio() {
    for (options, requests, within) in [
        ("rw=randread;bssplit=4k/50:16k/50", 146.0, 15.0),
        ("rw=write;bssplit=4k/50:16k/50", 100.0, 15.0),
        ("rw=randread;bsrange=4k-16k", 134.0, 13.0),
        ("rw=write;bsrange=4k-16k", 99.0, 12.0),
    ] {
        let done = job(options);
        assert_eq!((done.coverage(), done.total_kib()), ((2048, false), 1024.0), "{options}");
        near(options, done.requests.len() as f64, requests, within);
        assert!(done.requests.iter().all(|r| (4.0..=16.0).contains(&r.3) && r.3 % 4.0 == 0.0));
    }
    // Entries without a share divide what is left: 4k/50:1k/:32k/ is 50, 25, 25.
    let split = job("rw=randwrite;norandommap;bssplit=4k/50:1k/:32k/;size=64m");
    let count = |kib| split.requests.iter().filter(|r| r.3 == kib).count() as f64;
    let all = split.requests.len() as f64;
    near("4k", count(4.0) / all, 0.5, 0.02);
    near("1k", count(1.0) / all, 0.25, 0.02);
    near("32k", count(32.0) / all, 0.25, 0.02);
    // The last request of a mix is not shortened: fio moved 1028 KiB.
    let mix = job("rw=rw;bs=4k,8k");
    assert!((1024.0..=1028.0).contains(&mix.total_kib()));
    assert!(mix.of(Op::Read).iter().all(|r| r.1 == 4.0));
    assert!(mix.of(Op::Write).iter().all(|r| r.1 == 8.0));
}

#[test]
fn the_later_share_of_a_mix_counts() {
    for (options, reads) in [
        ("rw=rw", 132.0),
        ("rw=rw;rwmixwrite=20", 205.0),
        ("rw=rw;rwmixread=30;rwmixwrite=20", 205.0),
        ("rw=rw;rwmixwrite=20;rwmixread=30", 83.0),
    ] {
        near(options, job(options).of(Op::Read).len() as f64, reads, 25.0);
    }
}

/// fio flushes before every request while the number of writes is a multiple, so several times in a
/// mix.
#[test]
fn flushes_come_where_fio_has_them() {
    let writes = job("rw=write;fsync=8");
    let flushes = writes.requests.iter().enumerate().filter(|(_, r)| r.1 == Op::Flush);
    assert!(flushes.enumerate().all(|(n, (at, _))| at == (n + 1) * 9 - 1));
    near("syncs of a mix", job("rw=rw;fsync=8").counts()[3] as f64, 27.0, 14.0);
    let durable = job("rw=write;sync=1");
    assert_eq!(durable.counts(), [0, 256, 0, 256]);
    let forced = run("[a]\nioengine=null\nsize=1m\nrw=randrw\nwritefua=1\n");
    assert!(forced.fua > 0 && forced.fua == forced.of(Op::Write).len());
    assert_eq!((job("rw=write").fua, forced.counts()[3]), (0, 0));
    let last = job("rw=write;end_fsync=1");
    assert_eq!(last.requests.last().map(|r| r.1), Some(Op::Flush));
}

/// A write that finishes after a flush was issued becomes durable with the next flush.
#[test]
fn a_flush_covers_only_what_was_done_before_it() {
    let text = "[a]\nioengine=null\nsize=1m\nrw=write\nsync=1\niodepth=4\n";
    let file = JobFile::parse("test.fio", text, &mut Nothing).unwrap_or_else(|p| panic!("{p}"));
    let mut plan = file.plan(CAPACITY, 1).unwrap_or_else(|p| panic!("{p}"));
    let clone = &mut plan.groups[0].issuers[0];
    let now = Nanos(0);
    let done = |op| Answered { op, lba: Lba(0), failed: false };
    let mut next = || match clone.turn(now) {
        Turn::Submit(arrival) => Some(arrival.op),
        _ => None,
    };
    assert_eq!([next(), next(), next(), next()], [Some(Op::Write); 4]);
    assert_eq!(next(), None, "the queue is full");
    clone.completed(done(Op::Write), now);
    assert!(matches!(clone.turn(now), Turn::Submit(flush) if flush.op == Op::Flush));
    clone.completed(done(Op::Write), now);
    clone.completed(done(Op::Flush), now);
    assert!(matches!(clone.turn(now), Turn::Submit(flush) if flush.op == Op::Flush), "the second");
    clone.completed(done(Op::Flush), now);
    let writes = (0..3).map(|_| clone.turn(now)).filter(|turn| matches!(turn, Turn::Submit(_)));
    assert_eq!(writes.count(), 2, "two of four are outstanding");
}

/// Shares of requests to the most popular 1, 10 and 50 % of 16,384 blocks, over 262,144 requests,
/// as in fio. In fio's hash some places collide, hence the tolerance.
#[test]
fn popularity_is_that_of_fio() {
    for (distribution, first, shares) in [
        ("zipf:1.2", 0.2046, [0.789, 0.921, 0.989]),
        ("zipf:0.9", 0.0593, [0.434, 0.689, 0.914]),
        ("pareto:0.2", 0.2603, [0.530, 0.732, 0.926]),
        ("random", 0.0001, [0.017, 0.146, 0.599]),
    ] {
        let options = "rw=randread;norandommap;size=64m;io_size=1g;random_distribution=";
        let done = job(&format!("{options}{distribution}"));
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for at in done.offsets() {
            *counts.entry(at as u64 / 4).or_default() += 1;
        }
        let mut sorted: Vec<u64> = counts.into_values().collect();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let all = done.requests.len() as f64;
        assert_eq!(done.requests.len(), 262_144);
        near(distribution, sorted[0] as f64 / all, first, 0.01);
        for (blocks, share) in [163, 1638, 8192].into_iter().zip(shares) {
            let sum: u64 = sorted.iter().take(blocks).sum();
            near(&format!("{distribution}, {blocks} blocks"), sum as f64 / all, share, 0.025);
        }
    }
}

#[test]
fn zones_and_normal_distributions_keep_their_shares() {
    let text = "rw=randread;size=64m;io_size=256m;random_distribution=";
    let zoned = job(&format!("{text}zoned:60/10:30/20:8/30:2/40")).offsets();
    let share = |from: f64, to: f64| {
        let inside = zoned.iter().filter(|at| **at >= from * 65_536.0 && **at < to * 65_536.0);
        inside.count() as f64 / zoned.len() as f64
    };
    for (from, to, of) in [(0.0, 0.1, 0.6), (0.1, 0.3, 0.3), (0.3, 0.6, 0.08), (0.6, 1.0, 0.02)] {
        near("zone", share(from, to), of, 0.01);
    }
    // fio scatters the places of a normal distribution: each tenth of the file gets a tenth.
    let normal = job(&format!("{text}normal:10")).offsets();
    for tenth in 0..10 {
        let inside = normal.iter().filter(|at| (**at * 10.0 / 65_536.0) as u32 == tenth).count();
        near("tenth", inside as f64 / normal.len() as f64, 0.1, 0.01);
    }
    let blocks: BTreeSet<u64> = normal.iter().map(|at| *at as u64 / 4).collect();
    assert!(blocks.len() < 14_000, "{} of 16,384 blocks", blocks.len());
}

/// Requests in timed runs of two seconds, as in fio.
#[test]
fn rates_are_kept_for_each_direction() {
    for (options, reads, writes) in [
        ("rw=randread;rate_iops=2000", 4001, 0),
        ("rw=randrw;rate=8m,4m", 4096, 2049),
        ("rw=randrw;rwmixread=70;rate_iops=1000", 2000, 2001),
        ("rw=randrw;rate_iops=1000,200", 2000, 400),
    ] {
        let done = job(&format!("{options};time_based;runtime=2"));
        let [r, w, ..] = done.counts();
        near(options, r as f64, f64::from(reads), 2.0);
        near(options, w as f64, f64::from(writes), 2.0);
    }
    let done = job("rw=randrw;rate_iops=,500;time_based;runtime=2");
    near("limited writes", done.counts()[1] as f64, 1000.0, 2.0);
    // Counted in the smallest size: 800 requests of 10 KiB on average; fio made 814.
    let mixed = job("rw=read;rate_iops=1000;bsrange=4k-16k;time_based;runtime=2");
    near("mixed sizes", mixed.counts()[0] as f64, 807.0, 45.0);
    let poisson = job("rw=read;rate_iops=1000;rate_process=poisson;time_based;runtime=2");
    near("poisson", poisson.counts()[0] as f64, 2000.0, 150.0);
    let gaps: Vec<u64> = poisson.requests.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert!(gaps.iter().any(|gap| *gap > 3_000_000), "random gaps have a tail");
}

/// A request takes 10 us here. Ten of them and a pause of 1 ms make 9,090 per second at depth one.
/// At depth eight the ten take two rounds, because fio waits for outstanding requests before it
/// pauses.
#[test]
fn thinking_stops_the_job() {
    let rate = |options: &str| job(&format!("rw=read;time_based;runtime=1;{options}")).counts()[0];
    near("one", rate("thinktime=1000") as f64, 1e6 / 1010.0, 2.0);
    near("ten", rate("thinktime=1ms;thinktime_blocks=10") as f64, 1e7 / 1100.0, 10.0);
    let deep = "iodepth=10;thinktime=1ms;thinktime_blocks=10;thinktime_blocks_type=issue";
    near("deep", rate(deep) as f64, 1e7 / 1010.0, 10.0);
    // 9 ms of work, 1 ms of pause.
    near("io time", rate("thinktime=1ms;thinktime_iotime=9ms") as f64, 90_000.0, 200.0);
}

#[test]
fn queues_are_as_deep_as_the_engine_lets_them_be() {
    assert_eq!(job("rw=randwrite;iodepth=16").peak, 16);
    let sync = job("ioengine=psync;rw=randwrite;iodepth=16");
    assert_eq!(sync.peak, 1);
    assert!(sync.notes[0].contains("iodepth=16 counts as 1"), "{:?}", sync.notes);
    // The queue drops to four before it is refilled, so requests come in bursts of twelve.
    let low = job("rw=randwrite;iodepth=16;iodepth_low=4");
    let mut bursts: BTreeMap<u64, u32> = BTreeMap::new();
    low.requests.iter().for_each(|r| *bursts.entry(r.0).or_default() += 1);
    assert_eq!(bursts.values().next(), Some(&16));
    let batch = job("rw=randwrite;iodepth=16;iodepth_batch_complete_min=8;rate_iops=200k");
    assert_eq!(batch.requests.len(), 256);
}

#[test]
fn jobs_run_together_and_groups_after_each_other() {
    let text = "[global]\nioengine=null\nsize=1m\nbs=4k\n";
    let done =
        run(&format!("{text}[a]\nrw=read\nnumjobs=2\n[b]\nstonewall\nrw=write\niodepth=4\n"));
    let names: Vec<u32> = done.requests.iter().map(|r| r.4).collect();
    assert_eq!(names[..4], [0, 1, 0, 1], "clones take turns");
    assert!(names[..512].iter().all(|n| *n < 2) && names[512..].iter().all(|n| *n == 2));
    // The readers' files were written beforehand, unmeasured; clones have files of their own.
    let measured: Vec<bool> = done.report.phases.iter().map(|phase| phase.measured).collect();
    assert_eq!(measured, [false, true, true]);
    assert_eq!(done.report.phases[0].sectors, 2 * 2048);
    let starts: BTreeSet<u64> =
        (0..3).map(|n| done.requests.iter().find(|r| r.4 == n).expect("ran").2 as u64).collect();
    assert_eq!(starts.into_iter().collect::<Vec<_>>(), [0, 1024, 2048]);
    // Jobs that name the same file use the same places.
    let same = run(&format!("{text}filename=f\n[a]\nrw=write\n[b]\nrw=write\nstonewall\n"));
    assert_eq!(same.offsets()[..256], same.offsets()[256..]);
    // exitall: the writer stops when the reader is done. fio: 1024 and 511.
    let end =
        run("[global]\nioengine=null\nbs=4k\n[a]\nrw=read\nrate_iops=1000\nsize=4m\nexitall\n\
                   [b]\nrw=write\nrate_iops=500\nruntime=3\ntime_based\nsize=1g\n");
    assert_eq!(end.counts()[0], 1024);
    near("the other", end.counts()[1] as f64, 511.0, 2.0);
}

/// The job file of a paper on the OpenSSD board, with another runtime.
#[test]
fn many_jobs_of_one_device_go_to_the_same_places() {
    let paper = |rw: &str| {
        run(&format!(
            "[job]\nioengine=sync\nfilename=/dev/pcissda\nrw={rw}\nbs=${{BS}}\ndirect=1\nsize=4g\n\
             numjobs=${{NUMJOBS}}\niodepth=1\nruntime=10ms\ngroup_reporting\n"
        ))
    };
    let places = |done: &Done, clone: u32| -> Vec<f64> {
        done.requests.iter().filter(|r| r.4 == clone).map(|r| r.2).collect()
    };
    let written = paper("write");
    let count = places(&written, 0).len();
    // 64 requests at once of 10 us each for 10 ms, shared by 256 clones.
    near("requests of a clone", count as f64, 250.0, 1.0);
    for clone in 0..256 {
        let walk: Vec<f64> = (0..count).map(|at| 120.0 * at as f64).collect();
        assert_eq!(places(&written, clone)[..count - 1], walk[..count - 1], "clone {clone}");
    }
    assert!(written.requests.iter().all(|r| r.0 < 10_000_000), "nothing begins after the runtime");
    let random = paper("randwrite");
    assert_ne!(places(&random, 0)[..9], places(&random, 1)[..9], "each clone draws for itself");
}

#[test]
fn a_ramp_is_played_and_not_measured() {
    let done = job("rw=read;rate_iops=1000;time_based;runtime=1;ramp_time=1;startdelay=0");
    let measured: Vec<(bool, u64)> =
        done.report.phases.iter().map(|phase| (phase.measured, phase.requests)).collect();
    assert_eq!(measured.len(), 3, "files, ramp, run");
    near("ramp", measured[1].1 as f64, 1000.0, 1.0);
    near("run", measured[2].1 as f64, 1000.0, 1.0);
    let late = job("rw=write;startdelay=500ms");
    assert_eq!(late.requests[0].0, 500_000_000);
}

#[test]
fn text_is_read_as_fio_reads_it() {
    let kib = |text: &str| run(text).requests[0].3;
    let head = "[global]\nioengine=null\nsize=1m\n";
    for (text, first) in [
        ("[a]\nbs=8k ; comment\n", 8.0),
        ("[a]\nbs = 8k # comment\n", 8.0),
        ("; bs=8k\n[a]\n# bs=8k\n", 4.0),
        ("[a]\nbs=8k\nbs=16k\n", 16.0),
        ("[a]\nbs=0x4000\n", 16.0),
        ("[a]\nbs=4ki\nkb_base=1000\n", 4.0),
        ("include shared.fio\n[a]\n", 8.0),
        ("[a]\nsize=${SIZE}\nbs=2*$pagesize\n", 8.0),
        ("bs=8k\n[a]\n[global]\nbs=16k\n", 8.0),
    ] {
        assert_eq!(kib(&format!("{head}{text}")), first, "{text}");
    }
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let text = "bs=4k\n[a]\nrw=randraed\nbs=1.5k\nsise=1m\nverify=crc32c\nread_iolog=x\niodepth\n\
                runtime=5y\nioengine=net\nbssplit=4k/60:8k/60\nsize=$ncpus\nverify=0\n[b\n";
    let problems = JobFile::parse("bad.fio", text, &mut Nothing).expect_err("wrong");
    insta::assert_snapshot!(problems.to_string());
    for (text, says) in [
        ("[a]\nrw=read\n", "no size"),
        ("[a]\nsize=50%\n", "per cent of a file"),
        ("[a]\nsize=1m\ntime_based\n", "never ends"),
        ("[a]\nsize=1m\nzonemode=strided\n", "without a size"),
        ("", "no job"),
    ] {
        let problems = JobFile::parse("bad.fio", text, &mut Nothing).expect_err(text).to_string();
        assert!(problems.contains(says), "{problems}");
    }
    for (text, says) in [
        ("[a]\nsize=9g\n", "the device has"),
        ("[a]\nfilename=/dev/x\noffset=100%\n", "to work in"),
        ("[a]\nsize=1m\n[b]\nsize=1m\nramp_time=1\n", "the same ramp_time"),
    ] {
        let file = JobFile::parse("bad.fio", text, &mut Nothing).expect("readable");
        let problems = file.plan(CAPACITY, 1).err().expect(text).to_string();
        assert!(problems.contains(says), "{problems}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_job_file() {
    let text = "\u{feff}[job]\nrw=write\nsize=1m\n";
    let file = JobFile::parse("bom.fio", text, &mut Nothing).unwrap_or_else(|p| panic!("{p}"));
    assert!(file.plan(1 << 20, 1).is_ok());
}

/// Results are filed under the essence of their jobs, which must contain everything that affects
/// the result and nothing else.
#[test]
fn the_essence_holds_what_decides_and_not_the_name() {
    let essence = |name: &str, text: &str| {
        JobFile::parse(name, text, &mut Nothing).unwrap_or_else(|p| panic!("{p}")).essence()
    };
    let text = "[global]\nioengine=null\nsize=${SIZE}\n[a]\nrw=read\n";
    let whole = essence("one.fio", text);
    assert_eq!(essence("other.fio", text), whole);
    for other in [
        text.replace("rw=read", "rw=write"),
        text.replace("[a]", "[b]"),
        text.replace("${SIZE}", "3m"),
        text.replace("[global]\n", "[global]\ninclude shared.fio\n"),
    ] {
        assert_ne!(essence("one.fio", &other), whole, "{other}");
    }
}
