//! Workload files: what is accepted, what is assumed, and how mistakes are reported.

use ftlab::options::table::Form;
use ftlab::units::{Bytes, Nanos, Ratio};
use ftlab_workload::generate::keys::TABLES;
use ftlab_workload::generate::{
    Addresses, Amount, Arrivals, Bucket, Generator, PRESETS, Problems, Sizes, Workload, fuzz,
    preset,
};

fn parse(text: &str) -> Result<Workload, Problems> {
    let mut files = |name: &str| match name {
        "curve.csv" => Ok("space,accesses\n10,90\n90,10\n".to_owned()),
        "bad.csv" => Ok("1,2\n3;4\n".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    Workload::parse("load.toml", text, &mut files)
}

fn problems(text: &str) -> String {
    parse(text).expect_err("this file has mistakes").to_string()
}

#[test]
fn defaults_are_those_of_the_table() {
    let workload = parse("name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '8KiB'\nrequests = 5")
        .unwrap_or_else(|problems| panic!("{problems}"));
    let phase = &workload.phases[0];
    assert_eq!(phase.name, "1");
    assert!(phase.measure);
    assert_eq!(phase.size, Sizes::Fixed(Bytes(8192)));
    assert_eq!(phase.align, Bytes(8192));
    assert_eq!(phase.overlap, Ratio::ONE);
    assert_eq!(phase.address, Addresses::Uniform);
    let closed = Arrivals::Closed { queue_depth: 32, think_time: Nanos::ZERO };
    assert_eq!(phase.arrivals, closed);
    assert_eq!(workload.total_requests(), Some(5));
}

#[test]
fn every_kind_is_read() {
    let text = r#"
name = "all"
source = "a paper"
[[phase]]
name = "a"
measure = false
reads = "50%"
writes = "20%"
trims = "20%"
flushes = "10%"
size = [{ size = "4KiB", weight = 3 }, { size = "512B" }]
align = "1KiB"
region = { offset = "25%", size = "1MiB" }
streams = 4
overlap = "12.5%"
address = { kind = "strided", stride = "2KiB" }
arrivals = { kind = "bursts", period = "40us", burst_size = 10, burst_period = "1.2ms" }
requests = 10
bytes = "150%"
time = "2s"
[[phase]]
writes = "100%"
size = { from = "4KiB", to = "64KiB" }
address = { kind = "zipf", theta = 1, scatter = false }
arrivals = { kind = "constant", rate = "0.5/s" }
bytes = "1GiB"
[[phase]]
writes = "100%"
size = "4KiB"
address = { kind = "hot-cold" }
arrivals = { kind = "constant", period = "3ns" }
bytes = "1GiB"
[[phase]]
writes = "100%"
size = "4KiB"
address = { kind = "histogram", file = "curve.csv" }
arrivals = { kind = "poisson", rate = "100/s" }
bytes = "1GiB"
[[phase]]
writes = "100%"
size = "4KiB"
address = { kind = "histogram", weights = [3, 0, 1], scatter = true }
bytes = "1GiB"
[[phase]]
flushes = "100%"
requests = 3
"#;
    let workload = parse(text).unwrap_or_else(|problems| panic!("{problems}"));
    let phases = &workload.phases;
    assert_eq!(workload.source.as_deref(), Some("a paper"));
    assert_eq!(phases[0].size, Sizes::List(vec![(Bytes(4096), 3), (Bytes(512), 1)]));
    assert_eq!(phases[0].duration.bytes, Some(Amount::Share(Ratio::percent(150))));
    let Arrivals::Bursts { burst_period, burst_offset, .. } = phases[0].arrivals else {
        panic!("{:?}", phases[0].arrivals)
    };
    assert_eq!((burst_period, burst_offset), (Nanos(1_200_000), Nanos(1_200_000)));
    assert_eq!(phases[1].address, Addresses::Zipf { theta: 1.0, scatter: false, drift: None });
    let curve = vec![Bucket { space: 10, accesses: 90 }, Bucket { space: 90, accesses: 10 }];
    assert_eq!(
        phases[3].address,
        Addresses::Histogram { buckets: curve, scatter: false, drift: None }
    );
    // The strided phase is too short for its four streams on a tiny device, but fits here.
    Generator::new(&workload, 1 << 22, 1).unwrap_or_else(|problems| panic!("{problems}"));
}

#[test]
fn all_mistakes_are_told_at_once() {
    insta::assert_snapshot!(problems(
        r#"name = "x"
sorce = "typo"
[[phase]]
reads = "70%"
writes = "20%"
size = "4KB"
aling = "4KiB"
address = { kind = "zipf", teta = 0.9 }
arrivals = { kind = "closed", queue_depth = 0, rate = "5/s" }
requests = 1000

[[phase]]
reads = 0.7
size = 4096
address = { kind = "zipff" }
arrivals = { kind = "bursts" }
"#
    ));
}

#[test]
fn mistakes_of_meaning_point_at_the_key() {
    insta::assert_snapshot!(problems(
        r#"name = "x"
[[phase]]
reads = "70%"
writes = "20%"
size = "1000B"
address = { kind = "hot-cold", hot_space = "100%" }
[[phase]]
writes = "100%"
size = { from = "8KiB", to = "4KiB" }
region = { offset = "60%", size = "50%" }
overlap = "120%"
address = { kind = "histogram", weights = [0, 0] }
bytes = "1B"
[[phase]]
flushes = "100%"
bytes = "1GiB"
[[phase]]
writes = "100%"
size = "4KiB"
requests = 1000
measure_first = 1001
[[phase]]
measure = false
writes = "100%"
size = "4KiB"
requests = 1000
measure_first = 1000
"#
    ));
}

#[test]
fn other_mistakes_have_a_place_and_a_remedy() {
    let histogram = |address: &str| {
        problems(&format!(
            "name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\nrequests = 1\naddress = {address}"
        ))
    };
    let cases = [
        problems("name = "),
        problems("name = 'x'"),
        problems("name = 'x'\nphase = []"),
        problems("name = 'x'\n[[phase]]\nwrites = '100%'\nrequests = 1"),
        histogram("{ kind = 'histogram', file = 'bad.csv' }"),
        histogram("{ kind = 'histogram', file = 'none.csv' }"),
        histogram("{ kind = 'histogram', weights = [1, -2] }"),
        histogram("{ kind = 'histogram', skew = 's0.9 f0.1 s0.2 f0.9' }"),
        histogram("{ kind = 'histogram' }"),
        histogram("{ theta = 1 }"),
        histogram("'uniform'"),
        problems("name = 'x'\n[[phase]]\nwrites = '100%'\nsize = ['4KiB', '8KiB']\nrequests = 1"),
        problems("name = 'x'\nphase = [1, { writes = '100%', size = '4KiB', requests = 1 }]"),
        problems("name = ''\n[[phase]]\nregion = 5"),
    ];
    insta::assert_snapshot!(cases.join("\n----\n"));
}

#[test]
fn a_region_that_does_not_fit_is_told_with_its_place() {
    let text = "name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\nrequests = 1\n\
                region = { offset = '1MiB', size = '1MiB' }";
    let workload = parse(text).unwrap_or_else(|problems| panic!("{problems}"));
    Generator::new(&workload, 4096, 1).unwrap_or_else(|problems| panic!("{problems}"));
    let problems = Generator::new(&workload, 4095, 1).expect_err("too small");
    insta::assert_snapshot!(problems);
}

/// Extreme numbers are printed in a few digits.
#[test]
fn a_theta_out_of_range_is_told_legibly() {
    for (theta, told) in [("1e308", "theta is 1e308,"), ("-0.5", "theta is -0.5,"), ("1e-7", "")] {
        let text = format!(
            "name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\nrequests = 1\n\
             address = {{ kind = 'zipf', theta = {theta} }}"
        );
        let found = parse(&text).err().map_or(String::new(), |problems| problems.to_string());
        assert!(found.contains(told) && found.is_empty() == told.is_empty(), "{found}");
        assert!(found.lines().all(|line| line.len() < 120), "{found}");
    }
}

#[test]
fn a_workload_made_by_hand_is_checked_too() {
    let good = crate::common::workload(preset("randwrite-4k").unwrap().text);
    assert!(Workload::new("copy", None, good.phases.clone()).is_ok());
    let mut bad = good.phases;
    bad[0].mix.reads = Ratio::percent(1);
    bad[0].streams = 0;
    let problems = Workload::new("copy", None, bad).expect_err("two mistakes");
    assert_eq!(problems.problems.len(), 2, "{problems}");
}

#[test]
fn a_workload_goes_on_where_its_last_phase_alone_is_measured_and_counted() {
    let length = |text: &str, requests| {
        let workload = parse(text).unwrap_or_else(|problems| panic!("{problems}"));
        workload.continued_to(requests).phases.last().unwrap().duration.requests
    };
    let fill =
        "name = 'x'\n[[phase]]\nmeasure = false\nwrites = '100%'\nsize = '4KiB'\nrequests = 9\n";
    let phase = "[[phase]]\nreads = '100%'\nsize = '4KiB'\n";
    let counted = format!("{fill}{phase}requests = 100");
    assert_eq!([length(&counted, 250), length(&counted, 40)], [Some(250), Some(100)]);
    for other in [
        "requests = 100\ntime = '1s'",
        "requests = 100\nbytes = '1MiB'",
        "requests = 100\nmeasure_first = 50",
    ] {
        assert_eq!(length(&format!("{fill}{phase}{other}"), 250), Some(100), "{other}");
    }
    assert_eq!(length(&format!("{fill}{phase}time = '1s'"), 250), None);
    let two = format!("{counted}\n{phase}requests = 10");
    assert_eq!(length(&two, 250), Some(10), "two measured phases");
}

#[test]
fn presets_are_sorted_and_play_on_a_small_and_a_large_device() {
    assert!(PRESETS.is_sorted_by_key(|preset| preset.name));
    for preset in PRESETS {
        let workload = crate::common::workload(preset.text);
        assert_eq!(workload.name, preset.name);
        assert!(preset.text.starts_with("# ") && preset.about().ends_with('.'), "{}", preset.name);
        // A stand-in for a trace has the trace's footprint.
        let small = if preset.name.ends_with("-like") { 1 << 22 } else { 1 << 15 };
        for capacity in [small, 1 << 31] {
            Generator::new(&workload, capacity, 1).unwrap_or_else(|problems| panic!("{problems}"));
        }
    }
    assert!(preset("nothing").is_none());
}

/// Each default can be read for each kind that has the key, and each kind of the table exists.
#[test]
fn the_declared_keys_agree_with_the_reader() {
    for table in TABLES.map(|table| table()) {
        let choices = table.by.map(|by| (by.form)());
        for key in table.keys {
            assert!(key.doc.ends_with('.'), "{}", key.name);
            assert!(key.needed.iter().all(|kind| key.of.contains(kind)), "{key:?}");
            for kind in key.of {
                let Some(Form::Value(_, choices)) = &choices else { panic!("{}", key.name) };
                assert!(choices.iter().any(|choice| choice.name == *kind), "{kind}");
                let Some(default) = key.default() else { continue };
                let needed = if *kind == "bursts" { "period = '1ms', " } else { "" };
                let name = table.title.trim_start_matches("phase.");
                let text = format!(
                    "name = 'x'\n[[phase]]\nwrites = '100%'\nsize = '4KiB'\nrequests = 1\n\
                     {name} = {{ kind = '{kind}', {needed}{} = {default} }}",
                    key.name
                );
                parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
            }
        }
    }
}

/// Replaces each byte of the presets in turn and expects errors, never panics. Long presets are
/// mostly lists of numbers; in those, each byte is replaced in only one way.
#[test]
fn damaged_files_do_not_panic() {
    const DAMAGES: [u8; 5] = [b'0', b'"', b'\n', b'%', 0xff];
    const LONG: usize = 1_000;
    for preset in PRESETS {
        fuzz::parse_any(preset.text.as_bytes());
        let mut bytes = preset.text.as_bytes().to_vec();
        let is_long = bytes.len() > LONG;
        for at in 0..bytes.len() {
            let kept = bytes[at];
            let one = at % DAMAGES.len();
            for &damage in if is_long { &DAMAGES[one..=one] } else { &DAMAGES[..] } {
                bytes[at] = damage;
                fuzz::parse_any(&bytes);
            }
            bytes[at] = kept;
        }
    }
}

#[test]
fn a_workload_that_is_too_long_says_what_to_move() {
    let told = problems(&" ".repeat((16 << 20) + 1));
    assert!(told.contains("the limit is 16777216"), "{told}");
    assert!(told.contains("move long histograms into CSV files"), "{told}");
}

/// Far more mistakes than anyone reads, and names and values of any length.
#[test]
fn hopeless_files_are_refused_quickly_and_briefly() {
    let many: String = (0..200_000).map(|i| format!("k{i} = 1\n")).collect();
    let long = format!(
        "{} = 1\nname = 4\n[[phase]]\nsize = '{}'",
        "k".repeat(100_000),
        "9".repeat(100_000)
    );
    for text in [many, long, "[".repeat(100_000), "x = [".repeat(50_000)] {
        let told = problems(&text);
        assert!(told.len() < 50_000, "{} characters", told.len());
    }
}
