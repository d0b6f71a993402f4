//! Real traces, if available: what is read agrees with what is known of them.
//!
//! The folder is `$FTLAB_TRACES`, or `../shared/traces` beside the workspace; without it the tests
//! say so and pass.

use std::path::PathBuf;

use ftlab_workload::trace::{
    ErrorKind, Inspection, Location, Options, SpaceUnit, TimeUnit, TraceError, inspect, open,
};

fn folder() -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let folder = std::env::var_os("FTLAB_TRACES").map_or_else(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no traces at {} (set FTLAB_TRACES)", folder.display());
    None
}

fn read(file: &str, options: Options) -> Option<Result<Inspection, TraceError>> {
    let location = Location::File(folder()?.join(file));
    Some(open(location, options).and_then(|mut trace| inspect(&mut trace)))
}

/// Known figures of a trace: requests, write share in per cent, mean read and write in KiB, touched
/// MiB.
struct Known {
    requests: u64,
    write_percent: f64,
    read_kib: f64,
    write_kib: f64,
    touched_mib: f64,
}

/// Half a unit of the last known digit, plus a little for double rounding.
const LAST_DIGIT: f64 = 0.051;

fn check(file: &str, format: &str, options: Options, known: &Known) {
    let Some(result) = read(file, options) else { return };
    let seen = result.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((seen.format, seen.requests), (format, known.requests), "{file}");
    let kib = |bytes: u64, requests: u64| bytes as f64 / 1024.0 / requests.max(1) as f64;
    let near = |what: &str, seen: f64, known: f64, within: f64| {
        assert!((seen - known).abs() <= within, "{file}: {what} {seen}, known {known}");
    };
    let share = 100.0 * seen.writes as f64 / seen.requests as f64;
    near("write share", share, known.write_percent, 0.51);
    near("mean read", kib(seen.read_bytes, seen.reads), known.read_kib, LAST_DIGIT);
    near("mean write", kib(seen.write_bytes, seen.writes), known.write_kib, LAST_DIGIT);
    // Figures above 20 are known in whole MiB.
    let within = if known.touched_mib > 20.0 { 0.51 } else { LAST_DIGIT };
    near("touched", seen.touched_pages_4k as f64 / 256.0, known.touched_mib, within);
}

fn known(requests: u64, write_percent: f64, means: (f64, f64), touched_mib: f64) -> Known {
    Known { requests, write_percent, read_kib: means.0, write_kib: means.1, touched_mib }
}

#[test]
fn files_that_need_no_options() {
    let cases = [
        ("msr-hm_0-1k.csv", "msr", known(1_000, 49.0, (11.7, 7.1), 7.5)),
        ("msr-hm_0-cut-a.csv", "msr", known(10_000, 80.0, (1.8, 6.2), 29.0)),
        ("msr-hm_0-cut-b.csv", "msr", known(10_000, 59.5, (4.7, 4.8), 35.0)),
        ("msr-hm_0-cut-c.csv", "msr", known(10_000, 17.0, (4.2, 54.9), 113.0)),
        ("msr-prxy_0-20k.csv", "msr", known(20_000, 98.0, (17.7, 2.3), 11.6)),
        ("financial1-949.spc", "spc", known(949, 81.0, (1.6, 2.9), 1.9)),
        ("financial1-10k.ssdsim", "ssdsim", known(10_000, 59.0, (6.1, 4.9), 28.6)),
        ("tpcc-small.mqsim", "ssdsim", known(6_999, 37.0, (8.1, 8.7), 80.0)),
        ("wsrch-small.mqsim", "ssdsim", known(24_783, 0.0, (15.1, 8.0), 363.0)),
        ("msnfs-150k.disksim", "disksim", known(149_999, 13.0, (18.2, 9.2), 2_102.0)),
        ("fiu-home-1k.ssdsim", "ssdsim", known(1_000, 100.0, (0.0, 4.0), 3.4)),
        ("tencent-50k.csv", "tencent", known(50_000, 51.0, (25.8, 33.4), 1_360.0)),
        ("f2fs-hadoop.blkparse", "blkparse", known(5_727, 18.0, (111.1, 427.4), 908.0)),
        ("ycsb-rocksdb.blkparse", "blkparse", known(1_694, 0.0, (114.2, 0.0), 189.0)),
    ];
    for (file, format, known) in cases {
        check(file, format, Options::default(), &known);
    }
}

#[test]
fn sizes_in_pages_are_doubted_and_then_read_right() {
    let said = Options { size_unit: Some(SpaceUnit::Page4k), ..Options::default() };
    for (file, known) in [
        ("financial1-50k.disksim", known(50_000, 42.0, (7.5, 6.4), 122.0)),
        ("websearch1-50k.disksim", known(50_000, 0.0, (15.1, 8.0), 724.0)),
    ] {
        let Some(unsaid) = read(file, Options::default()) else { return };
        let warnings = unsaid.expect("readable").warnings;
        assert!(warnings.iter().any(|text| text.contains("`size_unit` 4k")), "{warnings:?}");
        check(file, "disksim", said.clone(), &known);
    }
}

#[test]
fn a_clock_of_microseconds_is_doubted_and_then_read_right() {
    let file = "dtrs-127k.ssdsim";
    let Some(unsaid) = read(file, Options::default()) else { return };
    let warnings = unsaid.expect("readable").warnings;
    assert!(warnings.iter().any(|text| text.contains("`time_unit` us")), "{warnings:?}");
    let said = Options { time_unit: Some(TimeUnit::Us), ..Options::default() };
    check(file, "ssdsim", said.clone(), &known(127_043, 11.0, (55.6, 53.4), 4_970.0));
    let seen = read(file, said).expect("there").expect("readable");
    assert_eq!(seen.duration_ns / 1_000_000_000, 299);
    assert_eq!(seen.warnings, Vec::<String>::new());
}

#[test]
fn a_damaged_last_event_is_refused_and_can_be_left_out() {
    let file = "ext4-hadoop.blkparse";
    let Some(strict) = read(file, Options::default()) else { return };
    let error = strict.expect_err("the last issue is forty years late");
    assert_eq!(error.kind, ErrorKind::Implausible);
    assert!(error.remedy.contains("`skip_malformed`"));
    let lenient = Options { skip_malformed: true, ..Options::default() };
    let Some(seen) = read(file, lenient) else { return };
    let seen = seen.expect("readable");
    assert_eq!((seen.requests, seen.skipped_lines), (9_886, 1));
    assert!(seen.out_of_order > 1_000);
    assert_eq!(seen.touched_pages_4k / 256, 1_238);
}
