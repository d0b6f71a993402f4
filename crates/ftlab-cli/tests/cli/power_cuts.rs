//! `--cut-power`: when cuts come and what they find, that they do not change the run, and what is refused.

use serde_json::Value;

use super::common::{Place, fails};

/// A device with an FTL, without a buffer, that recovers its map by a scan.
const SCAN: &str = "--set cache.policy=none --set ftl.recovery.policy=scan";
/// A device with a small write buffer.
const BUFFER: &str =
    "--set ftl.recovery.policy=checkpoint --set cache.policy=lru --set cache.capacity=256KiB";
const ONE_DIE: &str = "--set nand.channels=1 --set nand.chips_per_channel=1 --set nand.dies_per_chip=1 \
                       --set nand.planes_per_die=1";

fn result(place: &Place, line: &str) -> Value {
    let done = place.run(&format!("{line} --no-output --json"));
    assert_eq!(done.code, 0, "{line}: {}", done.err);
    serde_json::from_str(&done.out).expect("JSON")
}

fn cuts(result: &Value) -> &Vec<Value> {
    result["power_cuts"]["cuts"].as_array().expect("a list")
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Asserts that cuts come at multiples of the interval after the start of the measurement.
#[track_caller]
fn are_on_time(result: &Value) {
    let report = &result["power_cuts"];
    let (from, every) = (number(&report["from_ns"]), number(&report["every_ns"]));
    let times: Vec<u64> = cuts(result).iter().map(|cut| number(&cut["at_ns"])).collect();
    let expected: Vec<u64> = (1..=times.len() as u64).map(|cut| from + cut * every).collect();
    assert_eq!(times, expected);
}

#[test]
fn the_run_knows_nothing_of_cuts_and_they_come_on_time() {
    let place = Place::new();
    place.write(
        "tenants.toml",
        b"name = 'tenants'\n[[phase]]\nmeasure = false\nwrites = '100%'\nsize = '4KiB'\nrequests = 500\n\
          arrivals = { kind = 'closed', queue_depth = 4 }\n[[phase]]\nreads = '40%'\nwrites = '60%'\nsize = '4KiB'\n\
          requests = 1500\narrivals = { kind = 'closed', queue_depth = 4, think_time = '70us' }\n\
          [[phase]]\nwith_previous = true\nwrites = '100%'\nsize = '8KiB'\nrequests = 700\n\
          arrivals = { kind = 'constant', rate = '3000/s' }\n",
    );
    place.write(
        "jobs.fio",
        b"[global]\nioengine=libaio\nfilename=file\nsize=1m\nbs=4k\niodepth=8\n[mix]\nrw=randrw\nfsync=16\n\
          numjobs=2\nloops=4\n[late]\nstonewall\nrw=randwrite\nthinktime=300us\nramp_time=5ms\nloops=2\n",
    );
    let loads = [
        ("--workload randwrite-4k --requests 6000 --precondition fill", SCAN),
        ("--workload mixed-70-30-zipf --requests 6000", BUFFER),
        ("--workload tenants.toml", SCAN),
        ("--workload tenants.toml", BUFFER),
        ("--trace trace.csv", BUFFER),
        ("--trace trace.csv --replay asap", SCAN),
        ("--fio jobs.fio", BUFFER),
        ("--fio jobs.fio --set host.link.rate=200MB/s", SCAN),
    ];
    for (load, sets) in loads {
        let line = format!("run --device tiny {sets} {load}");
        let plain = result(&place, &line);
        let mut cut = result(&place, &format!("{line} --cut-power 3337us"));
        assert!(cuts(&cut).len() > 10, "{load}: {} cuts", cuts(&cut).len());
        if !load.starts_with("--fio") {
            are_on_time(&cut);
        }
        cut.as_object_mut().expect("an object").remove("power_cuts");
        assert_eq!(plain, cut, "{line}");
    }
}

#[test]
fn cuts_fall_into_programs_as_often_as_programs_take() {
    let place = Place::new();
    // Without GC, a request is its data transfer and its program.
    let load = "--workload randwrite-4k --queue-depth 1 --requests 400";
    let run =
        result(&place, &format!("run --device tiny {ONE_DIE} {SCAN} {load} --cut-power 331us"));
    are_on_time(&run);
    let torn = cuts(&run).iter().filter(|cut| cut["torn_pages"] == 1).count() as f64;
    let all = cuts(&run).len() as f64;
    let cell = &run["report"]["host"]["write"]["time_share_ratio"]["cell"];
    let (found, expected) = (torn / all, cell.as_f64().expect("a share"));
    // Three standard deviations for this number of cuts.
    let chance = 3.0 * (expected * (1.0 - expected) / all).sqrt();
    assert!(all > 700.0 && expected < 0.99, "{all} cuts, {expected} of a request in the cells");
    assert!((found - expected).abs() < chance, "{found} torn, {expected} expected");
}

#[test]
fn what_is_lost_is_what_was_acknowledged_and_only_in_dram() {
    let place = Place::new();
    let load = "--workload randwrite-4k --requests 4000 --cut-power 1700us";
    let of = |sets: &str| result(&place, &format!("run --device tiny {sets} {load}"));
    let lost =
        |run: &Value| cuts(run).iter().map(|cut| number(&cut["lost_pages"])).collect::<Vec<_>>();
    let buffered = of(BUFFER);
    let pages = lost(&buffered);
    assert!(pages.iter().all(|&pages| (1..=64).contains(&pages)), "64 pages fit: {pages:?}");
    let mean = pages.iter().sum::<u64>() as f64 / pages.len() as f64;
    let told = buffered["power_cuts"]["lost_pages_mean"].as_f64().expect("a mean");
    assert!((told - mean).abs() < 1e-9, "{told} {mean}");
    let kept = of(&format!("{BUFFER} --set power.capacitors=on"));
    assert!(lost(&kept).iter().all(|&pages| pages == 0), "{kept}");
    assert!(number(&kept["power_cuts"]["hold_up_mean_ns"]) > 0);
    assert!(
        lost(&of(SCAN)).iter().all(|&pages| pages == 0),
        "nothing is told before it is on flash"
    );
}

#[test]
fn a_span_longer_than_the_run_and_one_too_short_say_so() {
    let place = Place::new();
    let line =
        format!("run --device tiny {SCAN} --workload randwrite-4k --requests 600 --no-output");
    let done = place.run(&format!("{line} --cut-power 1h"));
    assert!(done.out.contains("0 power cuts: the measured part took"), "{}", done.out);
    let none = result(&place, &format!("{} --cut-power 1h", line.replace(" --no-output", "")));
    assert_eq!(cuts(&none).len(), 0);
    assert_eq!(none["power_cuts"]["recovery_mean_ns"], Value::Null);
    assert_eq!(none["power_cuts"]["limit_reached"], false);
    let short = line.replace("--no-output", "-o short --cut-power 7us");
    let done = place.run(&short);
    assert_eq!(done.code, 0, "{}", done.err);
    let said = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["10,000 cuts, one every 7.00 us", "choose a longer span"] {
        assert!(said.contains(words), "{words}: {}", done.out);
    }
    assert!(done.out.lines().all(|line| line.chars().count() <= 79), "{}", done.out);
    let full: Value = serde_json::from_slice(&place.read("short/result.json")).expect("JSON");
    assert_eq!((cuts(&full).len(), &full["power_cuts"]["limit_reached"]), (10_000, &true.into()));
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_runs() {
    let place = Place::new();
    let load = "--workload randwrite-4k --requests 600";
    let run = format!("run --device tiny {load}");
    fails(&place, &format!("{run} --cut-power 1ms"), &["keeps nothing for recovery", "=scan"]);
    let scan = format!("{run} {SCAN}");
    fails(&place, &format!("{scan} --cut-power -1s"), &["can't be negative"]);
    fails(&place, &format!("{scan} --cut-power 0s"), &["not zero"]);
    fails(&place, &format!("{scan} --cut-power soon"), &["with its unit"]);
    let compare = format!("compare tiny --vary ftl.recovery.policy=scan,none {load}");
    let words = ["keeps nothing for recovery", "in the variant none"];
    fails(&place, &format!("{compare} --cut-power 1ms"), &words);
}

#[test]
fn a_comparison_has_rows_for_how_devices_come_up() {
    let place = Place::new();
    let vary = "--vary power.capacitors=off,on --set ftl.recovery.policy=scan --set cache.policy=lru \
                --set cache.capacity=256KiB";
    let load = "--workload randwrite-4k --requests 3000 --cut-power 3ms --seeds 3";
    let done = place.run(&format!("compare tiny {vary} {load} -o out"));
    assert_eq!(done.code, 0, "{}", done.err);
    let rows = ["until ready", "longest", "hold-up", "spares read", "pages lost"];
    for row in rows.map(|row| format!("power cuts, {row}")) {
        assert!(done.out.contains(&row), "{row}: {}", done.out);
    }
    // The devices differ only in their cuts.
    assert!(!done.out.contains("had no effect"), "{}", done.out);
    let comparison = place.json("out/compare.json");
    let metrics = &comparison["metrics"];
    let metric = |key: &str| {
        let id = format!("power_cuts/{key}");
        let all = metrics.as_array().expect("a list");
        all.iter().find(|metric| metric["id"] == *id).unwrap_or_else(|| panic!("no {id}")).clone()
    };
    let lost = metric("lost_pages_mean");
    assert_eq!(lost["variants"][1]["mean"], 0.0);
    assert!(lost["variants"][0]["mean"].as_f64().expect("a mean") > 1.0, "{lost}");
    assert_eq!(metric("hold_up_mean_ns")["variants"][0]["mean"], 0.0);
    let ready = metric("recovery_mean_ns");
    for variant in [0, 1] {
        let folder = comparison["variants"][variant]["results"][1].as_str().expect("a folder");
        let one = place.json(&format!("out/{folder}/result.json"));
        let told = &ready["variants"][variant]["values"][1];
        assert_eq!(told.as_f64(), one["power_cuts"]["recovery_mean_ns"].as_f64(), "{folder}");
    }
}

/// If cuts continued until the run asks whether to stop, this would take minutes.
#[cfg(unix)]
#[test]
fn no_cut_is_made_after_ctrl_c() {
    use super::common::{ENDLESS, interrupted};
    let place = Place::new();
    place.write("w.toml", ENDLESS);
    let sets =
        "--set nand.blocks_per_plane=2048 --precondition fill --set nand.timing.program=100ms";
    let line = format!("run --device tiny {SCAN} {sets} --workload w.toml --cut-power 10ms -o out");
    let began = std::time::Instant::now();
    let done = interrupted(&place, &line, std::process::Stdio::null());
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    assert_eq!(done.code, 130, "{}", done.err);
    assert_eq!(place.json("out.partial/result.json")["complete"], false);
}
