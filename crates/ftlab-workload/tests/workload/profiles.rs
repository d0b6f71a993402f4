//! Profiles of well-known traces against the published figures that they are built from, and what a
//! fitted workload preserves of its trace.

use ftlab::host::Op;
use ftlab::units::{Lba, SimTime};
use ftlab_workload::generate::{Fit, Generator, Workload, preset};
use ftlab_workload::replay::{Arrival, Next};
use ftlab_workload::trace::{self, Location, Record};

/// 64 GiB, in sectors: every profile fits.
const CAPACITY: u64 = 1 << 27;
const SAMPLE: usize = 200_000;

/// Volume, requests, share of writes in per cent, mean write in KiB: commonly quoted figures.
const PUBLISHED: [(&str, u64, f64, f64); 16] = [
    ("msr-hm_0", 3_993_316, 64.5, 8.3),
    ("msr-hm_1", 609_311, 4.7, 19.9),
    ("msr-mds_0", 1_211_034, 88.1, 7.2),
    ("msr-prn_0", 5_585_886, 89.2, 9.7),
    ("msr-proj_0", 4_224_524, 87.5, 40.9),
    ("msr-prxy_0", 12_518_968, 96.9, 4.6),
    ("msr-rsrch_0", 1_433_655, 90.7, 8.7),
    ("msr-src1_2", 1_907_773, 74.6, 32.5),
    ("msr-src2_0", 1_557_814, 88.7, 7.1),
    ("msr-stg_0", 2_030_915, 84.8, 9.2),
    ("msr-ts_0", 1_801_734, 82.4, 8.0),
    ("msr-usr_0", 2_237_889, 59.6, 10.3),
    ("msr-wdev_0", 1_143_261, 79.9, 8.2),
    ("msr-web_0", 2_029_945, 70.1, 8.6),
    ("financial1", 5_334_987, 76.8, 3.7),
    ("financial2", 3_699_194, 17.7, 2.9),
];

fn parse(text: &str) -> Workload {
    let mut none = |_: &str| Err("no files here".to_owned());
    Workload::parse("test.toml", text, &mut none).unwrap_or_else(|problems| panic!("{problems}"))
}

fn sample(workload: &Workload, most: usize) -> Vec<Arrival> {
    let mut generator = Generator::new(workload, CAPACITY, 1).expect("it fits");
    let mut list = Vec::new();
    while list.len() < most {
        match generator.next_item() {
            Next::Request(arrival) => list.push(arrival),
            Next::End => break,
            _ => {}
        }
    }
    list
}

/// The figures compared: share of writes, mean KiB of reads and of writes, share of requests whose
/// first page is in the most used hundredth, share of requests to pages both read and written, runs
/// of writes, rate, variation of gaps.
#[derive(Debug)]
struct Figures {
    writes: f64,
    kib: [f64; 2],
    top: f64,
    both: f64,
    runs: f64,
    rate: f64,
    variation: f64,
    touched: f64,
}

fn figures(list: &[Arrival]) -> Figures {
    use std::collections::BTreeMap;
    let of = |op: Op| list.iter().filter(move |r| r.op == op);
    let kib = |op: Op| {
        of(op).map(|r| f64::from(r.sectors) / 2.0).sum::<f64>() / of(op).count().max(1) as f64
    };
    let mut pages: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
    let mut touched = std::collections::BTreeSet::new();
    let (mut runs, mut end) = (0, None);
    for r in list.iter().filter(|r| r.sectors > 0) {
        pages.entry(r.lba.0 / 8).or_default()[usize::from(r.op != Op::Read)] += 1;
        touched.extend(r.lba.0 / 8..(r.lba.0 + u64::from(r.sectors)).div_ceil(8));
        if r.op == Op::Write {
            runs += u64::from(end == Some(r.lba.0));
            end = Some(r.lba.0 + u64::from(r.sectors));
        }
    }
    let mut uses: Vec<u64> = pages.values().map(|uses| uses[0] + uses[1]).collect();
    uses.sort_unstable_by(|a, b| b.cmp(a));
    let all = uses.iter().sum::<u64>() as f64;
    let both: u64 = pages.values().filter(|u| u[0] > 0 && u[1] > 0).map(|u| u[0] + u[1]).sum();
    let gaps: Vec<f64> = list.windows(2).map(|p| (p[1].at.0 - p[0].at.0) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let squares = gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len() as f64;
    Figures {
        writes: of(Op::Write).count() as f64 / list.len() as f64,
        kib: [kib(Op::Read), kib(Op::Write)],
        top: uses.iter().take(uses.len().div_ceil(100)).sum::<u64>() as f64 / all,
        both: both as f64 / all,
        runs: runs as f64 / of(Op::Write).count().max(1) as f64,
        rate: 1e9 / mean,
        variation: squares / (mean * mean) - 1.0,
        touched: touched.len() as f64,
    }
}

#[test]
fn profiles_have_the_published_figures() {
    for (volume, requests, writes, kib) in PUBLISHED {
        let name = format!("{volume}-like");
        let preset = preset(&name).unwrap_or_else(|| panic!("{name} is built in"));
        let workload = parse(preset.text);
        assert_eq!((workload.name.as_str(), workload.total_requests()), (&*name, Some(requests)));
        let source = workload.source.as_deref().expect("a profile has a source");
        assert!(source.starts_with("Synthetic."), "{name}: {source}");
        let seen = figures(&sample(&workload, SAMPLE));
        // Five standard errors of the share, and 6 % of the mean size.
        let error = 5.0 * (writes / 100.0 * (1.0 - writes / 100.0) / SAMPLE as f64).sqrt();
        assert!((seen.writes - writes / 100.0).abs() < error, "{name}: {seen:?}");
        assert!((seen.kib[1] / kib - 1.0).abs() < 0.06, "{name}: {seen:?}");
    }
}

/// Of the writes to hm_0, 70.4 % go to the most used hundredth of the offsets; of prxy_0's, 36.9 %
/// go to about the thousand most used pages. The generator must reproduce these curves.
#[test]
fn measured_popularity_comes_out_again() {
    for name in ["msr-hm_0-like", "msr-prxy_0-like", "msr-web_0-like"] {
        let workload = parse(preset(name).expect("built in").text);
        let ftlab_workload::generate::Addresses::Histogram { buckets, .. } =
            &workload.phases[0].address
        else {
            panic!("{name} has a measured curve")
        };
        let accesses: u64 = buckets.iter().map(|bucket| bucket.accesses).sum();
        let pages: u64 = buckets.iter().filter(|b| b.accesses > 0).map(|b| b.space).sum();
        let (mut space, mut want) = (0, 0.0);
        for bucket in buckets {
            if (space + bucket.space) * 100 > pages {
                want += bucket.accesses as f64 / accesses as f64
                    * ((pages / 100).saturating_sub(space) as f64 / bucket.space as f64);
                break;
            }
            space += bucket.space;
            want += bucket.accesses as f64 / accesses as f64;
        }
        let list = sample(&workload, SAMPLE);
        let mut uses = std::collections::BTreeMap::<u64, u64>::new();
        let runs = workload.phases[0].sequential_writes.ppm;
        let mut end = None;
        for r in list.iter().filter(|r| r.op == Op::Write) {
            if end != Some(r.lba.0) {
                *uses.entry(r.lba.0 / 8).or_default() += 1;
            }
            end = Some(r.lba.0 + u64::from(r.sectors));
        }
        let mut uses: Vec<u64> = uses.into_values().collect();
        uses.sort_unstable_by(|a, b| b.cmp(a));
        let all: u64 = uses.iter().sum();
        let top: u64 = uses.iter().take(usize::try_from(pages / 100).unwrap()).sum();
        let got = top as f64 / all as f64;
        assert!((got - want).abs() < 0.03, "{name}: {got}, measured {want}, runs {runs} ppm");
    }
}

fn records(file: &std::path::Path) -> Vec<Record> {
    let location = Location::File(file.to_owned());
    let mut trace = trace::open(location, trace::Options::default()).expect("a trace");
    let (mut all, mut batch) = (Vec::new(), Vec::new());
    while trace.next_batch(&mut batch).expect("readable") {
        all.extend_from_slice(&batch);
    }
    all
}

fn fitted(records: &[Record]) -> (String, Workload) {
    let mut fit = Fit::default();
    records.iter().for_each(|record| fit.add(record));
    let text = fit.workload("a-like", "Synthetic: fitted to a").expect("it has requests");
    let workload = parse(&text);
    (text, workload)
}

fn check_fit(what: &str, records: &[Record]) {
    let (_, workload) = fitted(records);
    let real: Vec<Arrival> = records.iter().map(|record| (*record).into()).collect();
    let (real, like) = (figures(&real), figures(&sample(&workload, records.len())));
    let near = |figure: &str, a: f64, b: f64, within: f64| {
        assert!((a - b).abs() <= within, "{what}: {figure}: {a}, fitted {b}\n{real:?}\n{like:?}");
    };
    let ratio = |figure: &str, a: f64, b: f64, within: f64| {
        assert!(a == b || (a / b).ln().abs() <= within, "{what}: {figure}: {a}, fitted {b}");
    };
    near("writes", real.writes, like.writes, 0.02);
    near("runs", real.runs, like.runs, 0.04);
    near("pages read and written", real.both, like.both, 0.1);
    near("top hundredth", real.top, like.top, 0.15);
    ratio("reads", real.kib[0], like.kib[0], 0.15);
    ratio("writes", real.kib[1], like.kib[1], 0.15);
    ratio("rate", real.rate, like.rate, 0.25);
    ratio("variation", real.variation, like.variation, 0.6);
    ratio("touched", real.touched, like.touched, 0.5);
}

#[test]
fn a_fitted_workload_is_like_its_trace() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traces/office-20k.csv.gz");
    check_fit("office", &records(std::path::Path::new(example)));
    let beside =
        || std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let folder = std::env::var_os("FTLAB_TRACES").map_or_else(beside, Into::into);
    if !folder.is_dir() {
        println!("skipped: no traces at {} (set FTLAB_TRACES)", folder.display());
        return;
    }
    for file in ["msr-hm_0-cut-a.csv", "msr-hm_0-cut-b.csv", "msr-prxy_0-20k.csv"] {
        check_fit(file, &records(&folder.join(file)));
    }
}

/// The fitted workload has the trace's share of FUA writes.
#[test]
fn forced_writes_are_fitted() {
    let write = |n: u64| Record {
        at: SimTime(n * 1_000),
        op: Op::Write,
        lba: Lba(n * 8 % 4_096),
        sectors: 8,
        stream: 0,
        fua: n.is_multiple_of(4),
    };
    let (text, workload) = fitted(&(0..1_000).map(write).collect::<Vec<_>>());
    assert!(text.contains("fua = \"25"), "{text}");
    assert_eq!(workload.phases[0].fua.ppm, 250_000);
    let plain: Vec<_> = (0..1_000).map(|n| Record { fua: false, ..write(n) }).collect();
    assert!(!fitted(&plain).0.contains("fua"));
}

/// Sizes of reads, of writes and of trims stay those of their operations.
#[test]
fn sizes_are_fitted_by_operation() {
    const SECTORS: [(Op, u32); 3] = [(Op::Read, 8), (Op::Write, 16), (Op::Trim, 2_048)];
    let requests = |ops: &[usize]| -> Vec<Record> {
        let one = |n: u64| {
            let (op, sectors) = SECTORS[ops[n as usize % ops.len()]];
            let lba = Lba(n * 4_096 % 65_536);
            Record { at: SimTime(n * 1_000), op, lba, sectors, stream: 0, fua: false }
        };
        (0..900).map(one).collect()
    };
    for ops in [&[0, 1, 2][..], &[0, 2], &[1, 2], &[0, 1], &[2]] {
        let (text, workload) = fitted(&requests(ops));
        for request in sample(&workload, 900) {
            let known = SECTORS.iter().find(|(op, _)| *op == request.op).map(|(_, size)| *size);
            assert_eq!(Some(request.sectors), known, "{:?} of\n{text}", request.op);
        }
    }
}

/// Loads of a request in an hour, in 20 minutes and in 2 ms have the rate of their trace.
#[test]
fn slow_traces_keep_their_rate() {
    for gap in [3_600_000_000_000, 1_234_567_890_123, 2_000_000] {
        let at = |n: u64| Record {
            // Two at once and then none, on average one in a gap; or one after each gap.
            at: SimTime(if n < 500 { n * gap } else { 500 * gap + (n - 500) / 2 * 2 * gap }),
            op: Op::Write,
            lba: Lba(n * 8 % 4_096),
            sectors: 8,
            stream: 0,
            fua: false,
        };
        for count in [500, 2_500] {
            let (text, workload) = fitted(&(0..count).map(at).collect::<Vec<_>>());
            let last = sample(&workload, count as usize).last().expect("requests").at.0;
            let ratio = last as f64 / (gap * count) as f64;
            let hourly = gap == 3_600_000_000_000 && count == 500;
            assert_eq!(text.contains("kind = \"constant\", period = \"3600s\""), hourly, "{text}");
            assert!((0.85..1.15).contains(&ratio), "{gap} ns: {ratio} times as long\n{text}");
        }
    }
}

#[test]
fn what_cannot_be_fitted_is_refused_and_odd_traces_are_not() {
    assert!(Fit::default().workload("a", "b").is_err());
    let at = |n: u64, op, lba, sectors| Record {
        at: SimTime(n),
        op,
        lba: Lba(lba),
        sectors,
        stream: 0,
        fua: false,
    };
    let mut flushes = Fit::default();
    flushes.add(&Record::flush(SimTime(0), 0));
    assert!(flushes.workload("a", "b").is_err());
    for list in [
        vec![at(0, Op::Read, 7, 1)],
        vec![at(5, Op::Trim, 0, 1 << 20), Record::flush(SimTime(9), 3)],
        (0..5000).map(|n| at(n, Op::Write, n * n, 1 + n as u32)).collect(),
    ] {
        let (text, workload) = fitted(&list);
        assert_eq!(sample(&workload, 10_000).len(), list.len(), "{text}");
    }
}
