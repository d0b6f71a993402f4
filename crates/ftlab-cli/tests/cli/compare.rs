//! `ftlab compare` and `ftlab report` as users run them.

use super::common::fails;
use super::common::{Place, entries};
use serde_json::Value;

const LOAD: &str = "--workload mixed-70-30-zipf --requests 6000 --precondition fill";
const VARY: &str = "tiny --vary scheduler.policy=fifo,read-first";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn metric<'a>(comparison: &'a Value, id: &str) -> &'a Value {
    let metrics = comparison["metrics"].as_array().unwrap();
    metrics.iter().find(|metric| metric["id"] == id).unwrap_or_else(|| panic!("no {id}"))
}

#[test]
fn a_comparison_prints_tables_and_writes_runs_json_and_page() {
    let place = Place::new();
    let done = place.run(&format!("compare {VARY} {LOAD} --seeds 3"));
    assert_eq!(done.code, 0, "{}", done.err);
    for expected in
        ["read-first against fifo", "95 % interval", "write latency, p99", "Holm", "3 seeds"]
    {
        assert!(done.out.contains(expected), "{expected} is missing in\n{}", done.out);
    }
    assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
    let folder = "ftlab-results/compare-mixed-70-30-zipf-1";
    assert!(done.err.contains(folder), "{}", done.err);
    assert_eq!(entries(&place.path(folder)), ["compare.json", "report.html", "runs"]);
    let runs = format!("{folder}/runs");
    assert_eq!(entries(&place.path(&runs)), ["1-fifo", "2-read-first"]);
    assert_eq!(entries(&place.path(&format!("{runs}/1-fifo"))), ["seed-1", "seed-2", "seed-3"]);
    // The numbers match the results, and the interval matches a calculation by hand.
    let comparison = place.json(&format!("{folder}/compare.json"));
    assert_eq!(comparison["schema_version"], 1);
    let id = "report/host/read/latency_ns/mean";
    let found = metric(&comparison, id);
    let of = |variant: &str, seed: u64| {
        let result = place.json(&format!("{runs}/{variant}/seed-{seed}/result.json"));
        assert_eq!(result["seed"], seed);
        number(result.pointer(&format!("/{id}")).unwrap())
    };
    let logs: Vec<f64> =
        (1..=3).map(|seed| (of("2-read-first", seed) / of("1-fifo", seed)).ln()).collect();
    for seed in 1..=3u64 {
        assert_eq!(found["variants"][0]["values"][seed as usize - 1], of("1-fifo", seed));
    }
    let mean = logs.iter().sum::<f64>() / 3.0;
    let deviation = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
    // t[0.975; 2] from a table.
    let half = 4.302_652_73 * deviation / 3f64.sqrt();
    let change = &found["variants"][1]["change"];
    for (key, expected) in [("estimate", mean), ("low", mean - half), ("high", mean + half)] {
        let difference = number(&change[key]) - expected.exp_m1();
        assert!(difference.abs() < 1e-7, "{key}: {change}");
    }
    assert_eq!(found["variants"][0]["change"], Value::Null);
    // A run within the comparison equals one made by `ftlab run`.
    let set = "--set scheduler.policy=read-first";
    let alone = place.run(&format!("run --device tiny {set} {LOAD} --seed 2 -o alone --quiet"));
    assert_eq!(alone.code, 0, "{}", alone.err);
    for file in ["result.json", "timeline.parquet", "latencies.parquet", "blocks.parquet"] {
        let same = place.read(&format!("{runs}/2-read-first/seed-2/{file}"));
        assert!(same == place.read(&format!("alone/{file}")), "{file}");
    }
}

#[test]
fn one_thread_and_two_give_the_same_bytes() {
    let place = Place::new();
    for jobs in ["1", "2"] {
        let line = format!("compare {VARY} {LOAD} --seeds 2 -j {jobs} -o on-{jobs} --quiet");
        assert_eq!(place.run(&line).code, 0);
    }
    assert_eq!(place.read("on-1/compare.json"), place.read("on-2/compare.json"));
    for run in ["1-fifo/seed-1", "1-fifo/seed-2", "2-read-first/seed-1", "2-read-first/seed-2"] {
        for file in ["result.json", "timeline.parquet", "latencies.parquet", "blocks.parquet"] {
            let of = |jobs: u32| place.read(&format!("on-{jobs}/runs/{run}/{file}"));
            assert!(of(1) == of(2), "{run}/{file}");
        }
    }
}

#[test]
fn varied_options_multiply_and_named_variants_set_several() {
    let place = Place::new();
    let names = |rest: &str| -> Vec<String> {
        let line = format!("compare {rest} --workload randwrite-4k --requests 300 --seeds 1");
        let done = place.run(&format!("{line} --no-output --json --quiet"));
        let done =
            if done.code == 2 { place.run(&format!("{line} --no-output --json")) } else { done };
        assert_eq!(done.code, 0, "{}", done.err);
        let comparison: Value = serde_json::from_str(&done.out).unwrap();
        let variants = comparison["variants"].as_array().unwrap().clone();
        variants.iter().map(|variant| variant["name"].as_str().unwrap().to_owned()).collect()
    };
    let vary = "--vary scheduler.policy=fifo,read-first --vary ftl.gc.start=2,3";
    assert_eq!(
        names(&format!("tiny {vary}")),
        [
            "fifo, ftl.gc.start=2",
            "fifo, ftl.gc.start=3",
            "read-first, ftl.gc.start=2",
            "read-first, ftl.gc.start=3"
        ]
    );
    let named = "--variant plain --variant late:ftl.gc.start=2,ftl.gc.stop=3";
    assert_eq!(names(&format!("tiny {named}")), ["plain", "late"]);
    place.write("mine.toml", b"base = 'tiny'\n[scheduler]\npolicy = 'read-first'\n");
    assert_eq!(names("tiny mine.toml"), ["tiny", "mine"]);
    assert_eq!(place.entries(), ["mine.toml", "trace.csv"], "--no-output leaves nothing");
}

#[test]
fn finished_results_are_compared_and_reported() {
    let place = Place::new();
    for (name, policy) in [("a", "fifo"), ("b", "read-first")] {
        for seed in 1..=3 {
            let line = format!(
                "run --device tiny --set scheduler.policy={policy} {LOAD} --seed {seed} -o {name}{seed} \
                 --quiet"
            );
            assert_eq!(place.run(&line).code, 0);
        }
    }
    let done = place.run("compare a1 a2 a3 b3 b2 b1 -o out --quiet");
    assert_eq!(done.code, 0, "{}", done.err);
    let fresh = place.run(&format!("compare {VARY} {LOAD} --seeds 3 -o fresh --quiet"));
    assert_eq!(fresh.code, 0, "{}", fresh.err);
    let metrics = |folder: &str| place.json(&format!("{folder}/compare.json"))["metrics"].clone();
    assert_eq!(metrics("out"), metrics("fresh"));
    assert_eq!(place.run("report a1 -o one.html").code, 0);
    assert_eq!(place.run("report a1 b1 -o two.html --quiet").code, 0);
    for page in ["out/report.html", "one.html", "two.html"] {
        let text = String::from_utf8(place.read(page)).unwrap();
        // Only what loads something counts as an address; the licence and comments may name some.
        for bad in ["src=", "href=", "url(", "@import", "fetch(", "XMLHttpRequest", "import("] {
            assert!(!text.contains(bad), "{page}: {bad}");
        }
        assert!(text.contains("default-src 'none'") && text.len() < 600_000, "{page}");
    }
    let (version, result) = (env!("CARGO_PKG_VERSION"), "b1/result.json");
    let text = String::from_utf8(place.read(result)).unwrap();
    let with = |version: &str| format!("\"ftlab_version\": \"{version}\"");
    assert!(text.contains(&with(version)), "{text}");
    place.write(result, text.replace(&with(version), &with("0.0.1")).as_bytes());
    assert_eq!(place.run("compare a1 b1 -o versions --quiet").code, 0);
    let notes = place.json("versions/compare.json")["notes"].to_string();
    assert!(notes.contains(&format!("versions of ftlab (0.0.1, {version})")), "{notes}");
    let folders = "a1 a2 b1 b3";
    fails(&place, &format!("compare {folders} -o no"), &["seeds", "[1, 2]", "[1, 3]", "remedy"]);
    let other = "run --device tiny --workload randwrite-4k --requests 100 -o other --quiet";
    assert_eq!(place.run(other).code, 0);
    let line = "compare a1 other -o no";
    fails(&place, line, &["a1", "other", "name of the load", "mixed-70-30-zipf", "randwrite-4k"]);
    let line = format!("run --device tiny {LOAD} --queue-depth 3 --seed 1 -o deep --quiet");
    assert_eq!(place.run(&line).code, 0);
    fails(&place, "compare b1 deep -o no", &["pacing", "remedy"]);
    fails(&place, "compare a1 a2 -o no", &["one configuration", "ftlab report"]);
    fails(&place, "compare a1 tiny -o no", &["some of these are results", "tiny is a device"]);
    fails(&place, "compare a1 nope -o no", &["no result nope", "no device of that name", "remedy"]);
    fails(&place, "compare a1 a1/ b1 -o no", &["a1/ is named twice", "remedy"]);
    fails(&place, "report a1 b1 b1 -o no", &["b1 is named twice", "remedy"]);
    fails(&place, "compare a1 b1 --vary ftl.gc.start=2,3 -o no", &["--vary", "finished results"]);
    fails(&place, "report a1 -o one.html", &["one.html", "--force"]);
    assert_eq!(place.run("report a1 -o one.html --force --quiet").code, 0);
    place.write("thesis.html", b"<!DOCTYPE html><html>years of work</html>");
    for force in ["", " --force"] {
        let line = format!("report a1 -o thesis.html{force}");
        fails(&place, &line, &["thesis.html exists and is no page of ftlab", "remedy"]);
    }
    assert_eq!(place.read("thesis.html"), b"<!DOCTYPE html><html>years of work</html>");
    place.write("b1/latencies.parquet", b"not columns");
    fails(&place, "compare a1 b1 -o no", &["b1/latencies.parquet", "remedy"]);
    place.write("b2/result.json", b"{\"schema_version\": 99}");
    fails(&place, "compare a2 b2 -o no", &["layout 99", "remedy"]);
}

#[test]
fn equal_variants_and_equal_seeds_are_told() {
    let place = Place::new();
    place.write("same.toml", b"base = 'tiny'\n[device]\nname = 'same'\n");
    let done = place.run("compare tiny same.toml --trace trace.csv --seeds 3 -o out");
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("warning: tiny and same are the same device"), "{}", done.err);
    assert!(done.out.contains("All seeds gave the same numbers"), "{}", done.out);
    assert!(done.out.contains("equal in all seeds"), "{}", done.out);
    let comparison = place.json("out/compare.json");
    let found = metric(&comparison, "report/host/iops");
    let change = &found["variants"][1]["change"];
    assert_eq!(
        (&change["certainty"], &change["estimate"]),
        (&Value::from("exact"), &Value::from(0.0))
    );
    let one = place.run(&format!("compare {VARY} {LOAD} --seeds 1 --no-output"));
    assert!(one.out.contains("There is only one seed, so there are no intervals"), "{}", one.out);
}

/// Measures of the write buffer are compared; measures that are zero for every variant are left
/// out. An option without effect on any variant is reported.
#[test]
fn write_buffers_are_compared_by_what_they_did() {
    let place = Place::new();
    let line = "compare tiny --set cache.capacity=256KiB --precondition fill --workload randwrite-4k \
                --requests 2000 --seeds 2 --json --no-output";
    let run = |more: &str| -> Value {
        let done = place.run(&format!("{line} {more}"));
        assert_eq!(done.code, 0, "{}", done.err);
        serde_json::from_str(&done.out).expect("JSON")
    };
    let unused = |comparison: &Value| {
        let notes = comparison["notes"].as_array().unwrap();
        notes
            .iter()
            .filter(|note| note.as_str().unwrap().contains("is set but has no effect"))
            .count()
    };
    let found = run("--vary cache.policy=lru,bplru --set cache.block=64KiB");
    let has = |id: &str| found["metrics"].as_array().unwrap().iter().any(|one| one["id"] == id);
    assert_eq!(number(&metric(&found, "report/cache/padded_pages")["variants"][0]["mean"]), 0.0);
    assert!(number(&metric(&found, "report/cache/padded_pages")["variants"][1]["mean"]) > 1000.0);
    assert_eq!(metric(&found, "report/cache/write_hit_ratio")["better"], "higher");
    assert!(
        number(&metric(&found, "report/cache/written_back_pages")["variants"][0]["mean"]) > 1000.0
    );
    assert!(!has("report/cache/packed_programs") && !has("report/cache/read_hit_ratio"));
    assert_eq!(unused(&found), 0);
    let none = run("--vary cache.policy=lru,fifo --set cache.block=64KiB");
    assert_eq!(unused(&none), 1, "{}", none["notes"]);
    assert!(none["notes"].to_string().contains("cache.block is set but has no effect"));
}

/// Measures of maps on flash and read caches are compared, and left out when there are none.
#[test]
fn maps_on_flash_and_read_caches_are_compared_by_what_they_did() {
    let place = Place::new();
    let line = "compare tiny --precondition fill --workload mixed-70-30-zipf --requests 2000 --seeds 2 \
                --json --no-output";
    let run = |more: &str| -> Value {
        let done = place.run(&format!("{line} {more}"));
        assert_eq!(done.code, 0, "{}", done.err);
        serde_json::from_str(&done.out).expect("JSON")
    };
    let found = run("--set cache.read.policy=lru --vary ftl.mapping.policy=page,dftl");
    let dftl = |id: &str| {
        let metric = metric(&found, &format!("report/translation/{id}"));
        assert!(metric["variants"][0]["mean"].is_null(), "{id}: a map in memory has none");
        number(&metric["variants"][1]["mean"])
    };
    let ids = ["hit_ratio", "read_misses", "write_misses", "load_reads", "write_ratio"];
    assert!(dftl("hit_ratio") > 0.0);
    for id in ids {
        assert!(dftl(id) >= 0.0, "{id}");
    }
    for id in ["written_back_entries", "eviction_programs", "gc_programs"] {
        assert!(dftl(id) >= 0.0, "{id}");
    }
    assert_eq!(metric(&found, "report/translation/hit_ratio")["better"], "higher");
    let hits = metric(&found, "report/read_cache/hit_ratio");
    assert_eq!(hits["better"], "higher");
    metric(&found, "report/read_cache/read_ahead_flash_pages");
    let plain = run("--vary scheduler.policy=fifo,read-first").to_string();
    assert!(!plain.contains("report/translation") && !plain.contains("report/read_cache"));
}

#[test]
fn equal_variants_do_not_make_seeds_equal() {
    let place = Place::new();
    place.write("same.toml", b"base = 'tiny'\n[device]\nname = 'same'\n");
    let load = "--workload randwrite-4k --requests 3000 --precondition fill --seeds 2";
    let done = place.run(&format!("compare tiny same.toml {load} --no-output"));
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("tiny and same are the same device"), "{}", done.out);
    assert!(!done.out.contains("All seeds gave the same numbers"), "{}", done.out);
}

/// A device that died did less work: its figures are shown but not compared.
#[test]
fn a_dead_device_wins_nothing() {
    let place = Place::new();
    let dead =
        "--variant lasting --variant dying:nand.endurance.policy=fixed,nand.endurance.cycles=3";
    let load = "--workload randwrite-4k --requests 60000 --precondition fill --seeds 2";
    let done = place.run(&format!("compare tiny {dead} {load} -o out"));
    assert_eq!(done.code, 0, "{}", done.err);
    for part in
        ["dying: the device reached the end of its life in 2 of 2 runs", "refused", "Not compared"]
    {
        assert!(done.out.contains(part), "no {part} in {}", done.out);
    }
    let comparison = place.json("out/compare.json");
    let [lasting, dying] = [&comparison["variants"][0], &comparison["variants"][1]];
    assert_eq!(lasting["end_of_life_ns"], serde_json::json!([null, null]));
    assert_eq!(lasting["refused_requests"], serde_json::json!([0, 0]));
    assert!(dying["end_of_life_ns"][0].as_u64().unwrap() > 0);
    assert!(dying["refused_requests"][1].as_u64().unwrap() > 0);
    for metric in comparison["metrics"].as_array().unwrap() {
        assert!(metric["variants"][1]["change"].is_null(), "{metric}");
    }
    let page = String::from_utf8(place.read("out/report.html")).unwrap();
    assert!(page.contains("dying: the device reached the end") && page.contains("Not compared"));
    // Nor is a surviving device better than a dead one.
    let set = "--set nand.endurance.policy=fixed --set nand.endurance.cycles=3";
    let other = "--vary scheduler.policy=fifo,read-first";
    let done = place.run(&format!("compare tiny {set} {other} {load} --no-output"));
    assert!(done.out.contains("so\n  nothing is compared with it"), "{}{}", done.out, done.err);
}

/// The folder of a comparison can be passed in place of its runs' results.
#[test]
fn a_comparison_can_be_given_again() {
    let place = Place::new();
    let done = place.run(&format!("compare {VARY} {LOAD} --seeds 2 -o first --quiet"));
    assert_eq!(done.code, 0, "{}", done.err);
    let done = place.run("compare first -o again");
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("read-first against fifo"), "{}", done.out);
    let metrics = |folder: &str| place.json(&format!("{folder}/compare.json"))["metrics"].clone();
    assert_eq!(metrics("again"), metrics("first"));
    assert_eq!(place.run("report first -o page.html --quiet").code, 0);
    // A comparison of finished results contains no runs, and says where they are.
    fails(&place, "report again -o no.html", &["again/compare.json", "finished results", "remedy"]);
}

#[test]
fn one_image_serves_all_variants() {
    let place = Place::new();
    let done = place.run("device save --device tiny --precondition fill -o aged.ftlab --quiet");
    assert_eq!(done.code, 0, "{}", done.err);
    let rest = "--workload randwrite-4k --requests 3000 --seeds 2 --quiet -o";
    let line =
        format!("compare --image aged.ftlab --vary scheduler.policy=fifo,read-first {rest} out");
    let done = place.run(&line);
    assert_eq!(done.code, 0, "{}", done.err);
    let comparison = place.json("out/compare.json");
    assert_eq!(comparison["precondition"][0]["step"], "image");
    let result = place.json("out/runs/2-read-first/seed-2/result.json");
    assert_eq!(result["precondition"][0]["name"], "aged");
    assert_eq!(result["device"]["config"]["scheduler"]["policy"], "read-first");
    let other = "compare tiny tlc-32g --image aged.ftlab --workload randwrite-4k -o no";
    fails(&place, other, &["remedy"]);
}

#[test]
fn mistakes_are_named_with_their_remedy() {
    let place = Place::new();
    let with = |rest: &str| format!("compare tiny {rest} --workload randwrite-4k -o out");
    fails(
        &place,
        &with("--vary ftl.gc.victmi=greedy,x"),
        &["ftl.gc.victmi", "ftl.gc.victim", "--vary 1", "variant"],
    );
    let second = with("--vary scheduler.policy=fifo,read-first --vary ftl.gc.start=2,1000000");
    fails(&place, &second, &["--vary 2", "variant fifo, ftl.gc.start=1000000"]);
    let named = with("--variant plain --variant late:ftl.gc.start=0");
    fails(&place, &named, &["--variant late", "variant late"]);
    let set = with("--set ftl.gc.start=0 --vary scheduler.policy=fifo,read-first");
    fails(&place, &set, &["--set 1", "ftl.gc.start"]);
    fails(&place, &with("--vary scheduler.policy=fifo,fifi"), &["fifi", "fifo", "variant fifi"]);
    fails(&place, &with("--vary scheduler.policy"), &["--vary", "equals sign", "remedy"]);
    fails(&place, &with("--vary scheduler.policy=fifo,"), &["a value is empty", "remedy"]);
    fails(&place, &with("--vary scheduler.policy=fifo,fifo"), &["given twice", "remedy"]);
    fails(&place, &with("--variant scheduler.policy=fifo"), &["--variant", "no name", "remedy"]);
    let weights =
        "--variant wrr:host.arbitration.policy=weighted-round-robin,host.arbitration.weights=8,1";
    let told = ["--variant wrr: 1 sets nothing", "write host.arbitration.weights=[8,1]"];
    fails(&place, &with(weights), &told);
    let policies = with("--variant a:scheduler.policy=fifo,read-first --variant b");
    fails(
        &place,
        &policies,
        &["read-first sets nothing", "--vary scheduler.policy=fifo,read-first"],
    );
    fails(
        &place,
        "compare gone.partial --no-output",
        &["there is no result gone.partial", "remedy"],
    );
    fails(&place, &with("--fio x.fio"), &["--fio", "--workload"]);
    let twice = "--vary ftl.gc.victim=greedy,fifo --vary ftl.gc.victim=fifo,random";
    fails(&place, &with(twice), &["ftl.gc.victim is given twice", "leave one out"]);
    let set = "--vary ftl.gc.victim=greedy,fifo --set ftl.gc.victim=random";
    fails(&place, &with(set), &["--set ftl.gc.victim=random", "--vary ftl.gc.victim=greedy,fifo"]);
    let named = "--vary ftl.gc.victim=greedy,fifo --variant x:ftl.gc.victim=random";
    fails(&place, &with(named), &["ftl.gc.victim is given twice", "--variant x"]);
    let steps = "--vary precondition=none,fill --precondition fill";
    fails(&place, &with(steps), &["precondition is given twice", "--precondition"]);
    fails(&place, "compare --vary ftl.gc.start=2,3 --workload randwrite-4k", &["which device?"]);
    fails(&place, &with(""), &["only one variant", "--vary"]);
    fails(&place, &with("tiny"), &["the same name", "remedy"]);
    fails(&place, &with("nosuch"), &["nosuch", "tiny", "a built-in name or a path"]);
    fails(&place, &with("--vary ftl.gc.start=2,3 --seeds 0"), &["--seeds"]);
    fails(&place, &with("--vary ftl.gc.start=2,3 -j 0"), &["--jobs"]);
    fails(&place, &with("--vary ftl.gc.start=2,3 --confidence 0.95"), &["95%"]);
    let stdin = format!("compare {VARY} --trace - -o out");
    fails(&place, &stdin, &["standard input", "remedy"]);
    fails(&place, &format!("compare {VARY} -o out"), &["--trace", "--workload"]);
    fails(&place, &format!("compare {VARY} --trace no.csv -o out"), &["no.csv", "remedy"]);
    // A request that fits only one device: the failed run is named, and nothing is left behind.
    place.write("far.csv", b"129000000000000000,t,0,Write,99999999488,512,0\n");
    let far = "compare tlc-512g tiny --trace far.csv --seeds 1 -o out -j 1";
    fails(&place, far, &["the run of tiny with seed 1 failed", "outside the device"]);
    std::fs::create_dir(place.path("precious")).unwrap();
    place.write("precious/thesis.txt", b"years of work");
    fails(&place, &format!("compare {VARY} {LOAD} -o precious --force"), &["not a result"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_place_that_cannot_be_written_is_found_before_the_runs() {
    let place = Place::new();
    fails(&place, &format!("compare {VARY} {LOAD} -o /proc/ftlab/out"), &["/proc/ftlab", "remedy"]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_comparison_keeps_what_had_finished() {
    use super::common::{ENDLESS, interrupted};
    let place = Place::new();
    place.write("w.toml", ENDLESS);
    let line = "compare tiny --vary ftl.gc.start=2,3 --workload w.toml -o out";
    let done = interrupted(&place, line, std::process::Stdio::null());
    assert_eq!(done.code, 130, "{}", done.err);
    assert!(done.err.contains("no run had finished"), "{}", done.err);
    assert_eq!(place.entries(), ["trace.csv", "w.toml"]);
}

#[cfg(unix)]
#[test]
fn finished_runs_of_an_interrupted_comparison_can_be_compared() {
    use super::common::interrupted;
    let place = Place::new();
    let line = format!("compare {VARY} {LOAD} --seeds 1000 -j 1 -o out");
    let done = interrupted(&place, &line, std::process::Stdio::null());
    assert_eq!(done.code, 130, "{}", done.err);
    assert!(done.err.contains("out.partial"), "{}", done.err);
    assert_eq!(place.entries(), ["out.partial", "trace.csv"]);
    assert_eq!(entries(&place.path("out.partial")), ["runs", "variants.json"]);
    let (a, b) = ("out.partial/runs/1-fifo/seed-1", "out.partial/runs/2-read-first/seed-1");
    let compared = place.run(&format!("compare {a} {b} --no-output"));
    assert_eq!(compared.code, 0, "{}", compared.err);
    // The folder stands for the seeds that both variants have.
    let whole = place.run("compare out.partial --no-output --json");
    assert_eq!(whole.code, 0, "{}", whole.err);
    let comparison: Value = serde_json::from_str(&whole.out).unwrap();
    let seeds = comparison["seeds"].as_array().unwrap().len();
    let runs = |variant: &str| entries(&place.path(&format!("out.partial/runs/{variant}"))).len();
    assert_eq!(seeds, runs("1-fifo").min(runs("2-read-first")));
    assert_eq!(comparison["variants"][1]["name"], "read-first");
    assert!(comparison["notes"].to_string().contains("was interrupted: only seeds"));
    // A seed that only one variant has is left out.
    let more = format!("run --device tiny {LOAD} --seed 5000 -o out.partial/runs/1-fifo/seed-5000");
    assert_eq!(place.run(&format!("{more} --set scheduler.policy=fifo --quiet")).code, 0);
    let list = String::from_utf8(place.read("out.partial/variants.json")).unwrap();
    let first = "\"runs/1-fifo/seed-1\"";
    let list = list.replacen(first, &format!("\"runs/1-fifo/seed-5000\", {first}"), 1);
    place.write("out.partial/variants.json", list.as_bytes());
    let uneven = place.run("report out.partial -o page.html --quiet");
    assert_eq!(uneven.code, 0, "{}", uneven.err);
    let page = String::from_utf8(place.read("page.html")).unwrap();
    assert!(page.contains("other is skipped") || page.contains("others are skipped"));
    assert_eq!(place.run("compare out.partial -o again --quiet").code, 0);
    assert_eq!(place.json("again/compare.json")["seeds"].as_array().unwrap().len(), seeds);
}
