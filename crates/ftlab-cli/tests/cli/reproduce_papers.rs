//! The built-in experiments, as `ftlab reproduce` runs them.

use serde_json::Value;

use super::common::Place;

#[test]
fn the_papers_are_listed() {
    let place = Place::new();
    let done = place.run("reproduce list");
    assert_eq!(done.code, 0);
    assert!(done.out.contains("rw-scheduler") && done.out.contains("36 numbers"), "{}", done.out);
    assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
    let all: Value = serde_json::from_str(&place.run("reproduce list --json").out).unwrap();
    let listed = all.as_array().unwrap().iter().map(|one| (&one["name"], &one["seeds"]));
    let expected = [
        ("agcr", 3),
        ("channel-management", 1),
        ("drives", 1),
        ("drives-behind", 1),
        ("five-ideas", 10),
        ("host-placement", 4),
        ("openssd-ftl", 1),
        ("placement", 3),
        ("prlru", 3),
        ("prlru-adaptive", 10),
        ("real-drives", 1),
        ("rw-scheduler", 1000),
    ];
    let expected = expected.map(|(name, seeds)| (Value::from(name), Value::from(seeds)));
    assert!(listed.eq(expected.iter().map(|(name, seeds)| (name, seeds))), "{all}");
}

/// A forgotten name must not start hours of work.
#[test]
fn without_a_name_nothing_is_run() {
    let place = Place::new();
    let before = place.entries();
    let done = place.run("reproduce");
    assert_eq!((done.code, place.entries()), (2, before), "{}", done.err);
    assert_eq!(done.out, place.run("reproduce list").out);
    for told in ["nothing was run", "ftlab reproduce NAME", "--all"] {
        assert!(done.err.contains(told), "{told}: {}", done.err);
    }
    // The list shows the cost of running them.
    assert!(done.out.contains(" runs"), "{}", done.out);
    let listed: Value = serde_json::from_str(&place.run("reproduce --json").out).unwrap();
    for one in listed.as_array().unwrap() {
        let [runs, cases, seeds] = ["runs", "cases", "seeds"].map(|key| one[key].as_u64().unwrap());
        assert_eq!(runs, cases * seeds, "{one}");
        assert!(runs > 0);
    }
    let all = place.run("reproduce --all rw-scheduler");
    assert_eq!(all.code, 2);
    assert!(all.err.contains("--all") && all.err.contains("cannot be used"), "{}", all.err);
    // With --all there is something to do: the folder of traces is looked for.
    let all = place.run("reproduce --all --traces gone");
    assert_eq!((all.code, all.out.as_str()), (2, ""), "{}", all.err);
    assert!(all.err.contains("there is no folder gone"), "{}", all.err);
}

/// All numbers of the paper, with all of its seeds.
#[test]
#[ignore = "long: ./x test --all"]
fn the_scheduler_paper_is_reproduced() {
    let place = Place::new();
    let done = place.run("reproduce rw-scheduler --claims-only -o out");
    let document = place.json("out/result.json");
    assert_eq!(document["seeds"].as_array().unwrap().len(), 1000);
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    let verdicts = &document["verdicts"];
    assert_eq!((&verdicts["reproduced"], &verdicts["differs_explained"]), (&34.into(), &2.into()));
    assert!(done.out.contains("calls these values read ratios"), "both labels are told");
}

/// The quick form: saturation and what the device was fitted to at 10,000 writes a second.
#[test]
#[ignore = "long: ./x test --all"]
fn real_drives_are_met() {
    let place = Place::new();
    let done = place.run("reproduce real-drives --quick -o out");
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    let document = place.json("out/result.json");
    assert_eq!(document["verdicts"]["reproduced"], 5);
    assert_eq!(document["errors"][0]["role"], "fitted");
    assert!(done.out.contains("5 numbers fitted: median error"), "{}", done.out);
    let none = place.run("reproduce rw-scheduler --quick");
    assert_eq!(none.code, 2);
    assert!(none.err.contains("marked as quick") && none.err.contains("--quick"), "{}", none.err);
}

/// Each way to separate pages pays at Zipf 1.0.
#[test]
#[ignore = "long: ./x test --all"]
fn separation_of_pages_pays() {
    let place = Place::new();
    let done = place.run("reproduce placement --quick -o out");
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    assert_eq!(place.json("out/result.json")["verdicts"]["reproduced"], 6);
}

/// Hints empty the blocks of a cache, and separation in the drive helps under Zipf.
#[test]
#[ignore = "long: ./x test --all"]
fn placement_by_host_and_drive_is_as_told() {
    let place = Place::new();
    let done = place.run("reproduce host-placement --quick -o out");
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    let verdicts = &place.json("out/result.json")["verdicts"];
    assert_eq!((&verdicts["reproduced"], &verdicts["differs_explained"]), (&2.into(), &1.into()));
}

/// The README's statements about the curves.
#[test]
#[ignore = "long: ./x test --all"]
fn the_curves_of_the_scheduler_paper_have_their_shape() {
    let place = Place::new();
    // Twelve seeds are too few for its tolerances.
    assert!([0, 1].contains(&place.run("reproduce rw-scheduler --seeds 12 -o out -q").code));
    let document = place.json("out/result.json");
    let of = |ratio: &str, bound: &str, metric: &str| {
        let mut cases = document["cases"].as_array().unwrap().iter();
        let found =
            cases.find(|case| case["at"]["write_ratio"] == ratio && case["at"]["bound"] == bound);
        found.expect("a case")["metrics"][metric]["mean"].as_f64().expect("a number")
    };
    // In us: the last bound well below 0.7 of the maximum write latency, and the first well above it.
    for (ratio, below, above) in
        [("0.8", 1000, 2000), ("0.6", 700, 1400), ("0.4", 500, 1000), ("0.2", 300, 800)]
    {
        let before = of(ratio, "200us", "read_max");
        let flat = of(ratio, &format!("{below}us"), "read_max") / before;
        let fallen = of(ratio, &format!("{above}us"), "read_max") / before;
        assert!((0.97..1.03).contains(&flat) && fallen < 0.8, "{ratio}: {flat} {fallen}");
        assert!(of(ratio, "none", "write_mean") < 1.08 * of(ratio, "200us", "write_mean"));
    }
    let late = of("0.2", "3000us", "read_max") / of("0.2", "none", "read_max");
    assert!((late - 1.0).abs() < 1e-9, "where writes are few, 3000 us is no bound: {late}");
}

/// All numbers of the paper on the OpenSSD board.
#[test]
#[ignore = "long: ./x test --all"]
fn the_openssd_paper_is_reproduced() {
    let place = Place::new();
    let done = place.run("reproduce openssd-ftl --claims-only -o out");
    let document = place.json("out/result.json");
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    assert_eq!(document["verdicts"]["out_of_tolerance"], 0);
}

/// The job file printed in the paper.
#[test]
fn the_job_file_of_the_openssd_paper_runs() {
    let place = Place::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/openssd-ftl/paper.fio");
    let variables = "--fio-var BS=4k --fio-var NUMJOBS=256 --requests 4000";
    let line = format!("run --device cosmos-openssd --fio {file} {variables} -q -o out");
    let done = place.run(&line);
    assert_eq!(done.code, 0, "{}", done.err);
    let jobs = &place.json("out/fio.json")["jobs"];
    assert_eq!(jobs.as_array().map(Vec::len), Some(1), "all report together");
    assert_eq!(jobs[0]["write"]["total_ios"], 4000);
    // The paper: 7538.
    let iops = jobs[0]["write"]["iops"].as_f64().unwrap();
    assert!((6400.0..8700.0).contains(&iops), "{iops}");
}

/// The README's statement about the AGCR paper: its gain in reads depends on the data written before.
#[test]
fn agcr_gains_in_reads_what_it_is_given_from_before() {
    let place = Place::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/agcr");
    let mean = |policy: &str, prior: &str| {
        let load = format!("--workload {folder}/hm_0-like.toml --precondition {folder}/used.toml");
        let cost = format!("--set ftl.cost.policy={policy} --set ftl.cost.prior={prior}");
        let done = place
            .run(&format!("run --device agcr {load} {cost} --requests 5000 --no-output --json"));
        let document: Value = serde_json::from_str(&done.out).expect(&done.err);
        let of = |op: &str| document["report"]["host"][op]["latency_ns"]["mean"].as_f64();
        [of("read"), of("write")].map(|mean| mean.expect("a number"))
    };
    let (li, agcr) = (mean("queue-driven", "medium"), mean("agcr", "high"));
    assert!((0.44..0.52).contains(&(agcr[0] / li[0])), "{agcr:?} {li:?}");
    assert!((0.75..0.90).contains(&(agcr[1] / li[1])), "{agcr:?} {li:?}");
    let alike = mean("agcr", "medium");
    assert!((1.0..1.15).contains(&(alike[0] / li[0])), "{alike:?} {li:?}");
    assert!((0.75..0.90).contains(&(alike[1] / li[1])), "{alike:?} {li:?}");
    let high = mean("queue-driven", "high");
    assert!(agcr[0] > high[0], "{agcr:?} {high:?}");
}

/// All numbers of the AGCR paper that need no real traces.
#[test]
#[ignore = "minutes; optimised and by hand: cargo test --release -p ftlab-cli agcr_paper -- --ignored"]
fn the_agcr_paper_is_reproduced_by_hand() {
    let place = Place::new();
    let done = place.run("reproduce agcr --claims-only -o out");
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    assert_eq!(place.json("out/result.json")["verdicts"]["out_of_tolerance"], 0);
}

/// All numbers in full, and the README's statements about devices with clocks of their own.
#[test]
#[ignore = "minutes; optimised and by hand: cargo test --release -p ftlab-cli channel_thesis -- --ignored"]
fn the_channel_thesis_is_reproduced_by_hand() {
    let place = Place::new();
    let done = place.run("reproduce channel-management -o out");
    let document = place.json("out/result.json");
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    assert_eq!(document["verdicts"]["out_of_tolerance"], 0);
    let iops = |planner: &str, clocks: &str| {
        let is_it = |case: &&Value| {
            let at = &case["at"];
            (&at["planner"], &at["clocks"]) == (&planner.into(), &clocks.into())
                && [("channels", "8"), ("op", "2.5%"), ("buffer", "32KiB"), ("throttle", "8")]
                    .iter()
                    .all(|(axis, value)| at[*axis] == *value)
                && (&at["load"], &at["cells"]) == (&"random".into(), &"MLC".into())
        };
        let mut cases = document["cases"].as_array().unwrap().iter();
        let case = cases.find(is_it).expect("a case");
        case["metrics"]["iops"]["mean"].as_f64().expect("a number")
    };
    let ratio = |clocks| iops("cycle-stealing", clocks) / iops("synchronised", clocks);
    for clocks in ["lock-step", "own", "own-32"] {
        assert!((3.60..3.85).contains(&ratio(clocks)), "{clocks}: {}", ratio(clocks));
    }
}
