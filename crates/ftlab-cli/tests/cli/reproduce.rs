//! `ftlab reproduce` as users run it, on small experiments.

use std::fs;

use serde_json::Value;

use super::common::fails;
use super::common::{Place, entries};

/// The common part of these experiments: two policies, three GC start levels, reads and writes.
const BODY: &str = r#"
title = "Reads go first"
paper = "Nobody: Nothing, 2026"
doi = "10.1000/182"
summary = "Reads are faster if they go first."
seeds = 3

[run]
device = "tiny"
set = ["ftl.gc.stop=5"]
precondition = "fill"
requests = 400

[[axis]]
name = "policy"
label = "scheduler"
note = "The paper calls FIFO first come, first served."
set = ["scheduler.policy={}"]
values = [{ name = "fifo", label = "FIFO" }, "read-first"]

[[axis]]
name = "start"
label = "start of collection"
set = ["ftl.gc.start={}"]
values = [2, 3, { name = "4", label = "late" }]

[[axis]]
name = "load"
values = [{ name = "own", workload = "own.toml" }]

[[metric]]
name = "read"
label = "average read latency"
from = "/report/host/read/latency_ns/mean"
divide = 1000
unit = "us"

[[metric]]
name = "write"
label = "average write latency"
from = "/report/host/write/latency_ns/mean"
divide = 1000
unit = "us"
"#;

const OWN: &str = "name = 'own'\n[[phase]]\nreads = '50%'\nwrites = '50%'\nsize = '4KiB'\n\
                   arrivals = { kind = 'closed', queue_depth = 16 }\nrequests = 1000\n";

/// Returns a claim about reads with FIFO; `rest` holds the printed number and its tolerance.
pub fn reads(rest: &str) -> String {
    format!(
        "[[claim]]\nid = \"reads\"\ntext = \"Reads take so long\"\nwhere = \"table 1, page 3\"\n\
         metric = \"read\"\nat = {{ policy = \"fifo\", start = 2 }}\n{rest}\n"
    )
}

/// Returns a claim about how much faster reads become.
fn faster(rest: &str) -> String {
    format!(
        "[[claim]]\nid = \"faster\"\ntext = \"Reads become faster\"\nwhere = \"section 2\"\nmetric = \"read\"\n\
         at = {{ policy = \"read-first\" }}\nagainst = {{ policy = \"fifo\" }}\nas = \"reduction\"\n\
         mean_over = [\"start\"]\n{rest}\n"
    )
}

const FIGURES: &str = r#"
[[figure]]
title = "Figure 1: latencies"
note = "As in the paper."
x = "start"
panels = "policy"
metrics = ["read", "write"]
reference = { start = 2, policy = "fifo" }

[[figure]]
title = "Figure 2: bars"
kind = "bars"
x = "start"
series = "policy"
metrics = ["read"]
y_label = "us a read"
"#;

const HEAT_MAP: &str = r#"
[[figure]]
title = "Figure 3: where it pays"
kind = "heatmap"
x = "start"
y = "policy"
metrics = ["read"]
as = "change"
against = { policy = "fifo" }
"#;

/// Writes an experiment into a folder called `name`.
pub fn experiment(place: &Place, name: &str, rest: &str) {
    fs::create_dir_all(place.path(name)).unwrap();
    let text = format!("name = \"{name}\"\n{BODY}\n{rest}");
    place.write(&format!("{name}/experiment.toml"), text.as_bytes());
    place.write(&format!("{name}/own.toml"), OWN.as_bytes());
    place.write(&format!("{name}/README.md"), b"# What was found\n\nA *great deal*.\n");
}

/// Writes an experiment with numbers that match, differ and miss, and with lines, bars and cells.
pub fn write_example(place: &Place, name: &str) {
    let claims = [
        reads("paper = 100\ntolerance = \"5%\""),
        faster("paper = \"> 0\""),
        faster("paper = \"99%\"\ntolerance = \"1 point\"\ndiffers = { expected = \"< 90\", reason = \"It is a test.\" }")
            .replace("\"faster\"", "\"other\""),
    ];
    experiment(place, name, &[&claims.concat(), FIGURES, HEAT_MAP].concat());
}

pub fn row(document: &Value, claim: usize, row: usize) -> &Value {
    &document["claims"][claim]["rows"][row]
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn near(found: &Value, expected: f64) {
    let found = number(found);
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found} {expected}");
}

#[test]
fn numbers_are_means_of_the_runs_that_ftlab_run_makes() {
    let place = Place::new();
    let claims = [reads("paper = \"> 0\""), faster("paper = \"> 0\"")].concat();
    experiment(&place, "e", &claims);
    let done = place.run("reproduce e -o out");
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    assert_eq!(entries(&place.path("out")), ["report.html", "result.json", "run.json"]);
    let document = place.json("out/result.json");
    assert_eq!(
        (&document["kind"], &document["schema_version"]),
        (&"reproduction".into(), &1.into())
    );
    assert_eq!(document["seeds"].as_array().unwrap().len(), 3);
    assert_eq!(document["verdicts"]["reproduced"], 2);
    let alone = |policy: &str, start: u32| -> Vec<f64> {
        let of = |seed: u32| {
            let line = format!(
                "run --device tiny --set ftl.gc.stop=5 --set scheduler.policy={policy} --set ftl.gc.start={start} \
                 --precondition fill --requests 400 --workload e/own.toml --seed {seed} --json --no-output"
            );
            let done = place.run(&line);
            let result: Value = serde_json::from_str(&done.out).expect("JSON");
            number(&result["report"]["host"]["read"]["latency_ns"]["mean"]) / 1000.0
        };
        (1..=3).map(of).collect()
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let values = alone("fifo", 2);
    let own = row(&document, 0, 0);
    near(&own["ours"], mean(&values));
    let steps = values.iter().map(|value| (value - mean(&values)).powi(2)).sum::<f64>();
    // t[0.975; 2] from a table.
    let half = 4.302_653 * (steps / 2.0).sqrt() / 3f64.sqrt();
    assert!((number(&own["high"]) - mean(&values) - half).abs() < 1e-6 * half);
    let cases = document["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 6, "what no claim needs is not run");
    let case =
        cases.iter().find(|case| case["at"]["policy"] == "fifo" && case["at"]["start"] == "2");
    let case = case.unwrap();
    near(&case["metrics"]["read"]["standard_deviation"], (steps / 2.0).sqrt());
    assert_eq!(case["load"], "own");
    assert_eq!(case["config_blake3"].as_str().unwrap().len(), 64);
    // The mean of the values derived at each point of the axis.
    let formed = [2, 3, 4]
        .map(|start| 1.0 - mean(&alone("read-first", start)) / mean(&alone("fifo", start)));
    near(&row(&document, 1, 0)["ours"], 100.0 * mean(&formed));
}

#[test]
fn a_verdict_is_within_a_tolerance_or_not_and_sets_the_exit_code() {
    let place = Place::new();
    experiment(&place, "e", &reads("paper = \"> 0\""));
    let done = place.run("reproduce e --no-output --json");
    let document: Value = serde_json::from_str(&done.out).unwrap();
    let exact = number(&row(&document, 0, 0)["ours"]);
    let ours = exact.round();
    for (share, code, said) in
        [(1.0, 0, "1 reproduced"), (1.04, 0, "1 reproduced"), (1.07, 1, "OUT")]
    {
        experiment(&place, "e", &reads(&format!("paper = {}\ntolerance = \"5%\"", ours * share)));
        let done = place.run("reproduce e --no-output");
        assert_eq!(done.code, code, "{share} {}", done.out);
        assert!(done.out.contains(said), "{}", done.out);
        assert!(done.out.contains("The paper calls FIFO first come"), "{}", done.out);
        assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
    }
    let limit = format!("paper = \"< {exact} us\"");
    experiment(&place, "e", &reads(&limit));
    assert_eq!(place.run("reproduce e --no-output -q").code, 1, "a limit leaves its end out");
    // Several values of an axis, one of them out of tolerance.
    let each = format!(
        "[[claim]]\nid = \"each\"\ntext = \"t\"\nwhere = \"w\"\nmetric = \"read\"\nat = {{ start = 2 }}\n\
         each = \"policy\"\npaper = {{ fifo = {ours}, read-first = {} }}\ntolerance = \"1 us\"\n",
        ours * 100.0
    );
    experiment(&place, "e", &each);
    let done = place.run("reproduce e --no-output");
    assert_eq!(done.code, 1);
    assert!(done.out.contains("1 reproduced; 0 differ, explained; 1 out"), "{}", done.out);
    assert!(done.out.contains("  scheduler FIFO"), "{}", done.out);
    assert_eq!(place.entries(), ["e", "trace.csv"], "--no-output leaves nothing");
}

#[test]
fn what_is_declared_to_differ_is_held_against_what_is_expected() {
    let place = Place::new();
    experiment(&place, "e", &reads("paper = \"> 0\""));
    let done = place.run("reproduce e --no-output --json");
    let document: Value = serde_json::from_str(&done.out).unwrap();
    let ours = number(&row(&document, 0, 0)["ours"]).round();
    let differs = |paper: f64, expected: f64| {
        reads(&format!(
            "paper = {paper}\ntolerance = \"5%\"\n\
             differs = {{ expected = {expected}, tolerance = \"5%\", reason = \"The table is wrong.\" }}"
        ))
    };
    experiment(&place, "e", &differs(ours * 2.0, ours));
    let done = place.run("reproduce e -o out");
    assert_eq!(done.code, 0, "{}", done.out);
    for said in [
        "0 reproduced; 1 differs, explained; 0 out",
        "explained",
        "expected",
        "The table is wrong.",
    ] {
        assert!(done.out.contains(said), "{said}\n{}", done.out);
    }
    let found = place.json("out/result.json");
    let own = row(&found, 0, 0);
    assert_eq!(own["verdict"], "differs_explained");
    near(&own["paper"]["number"], ours * 2.0);
    near(&own["expected"]["number"], ours);
    let page = String::from_utf8(place.read("out/report.html")).unwrap();
    assert!(page.contains("differs, explained") && page.contains("The table is wrong."));
    // If the paper's number is met, or neither is, the claim fails.
    for (paper, expected, is_met) in [
        (ours * 1.04, ours * 0.96, true),
        (ours, ours * 2.0, true),
        (ours * 3.0, ours * 2.0, false),
    ] {
        experiment(&place, "e", &differs(paper, expected));
        let done = place.run("reproduce e -o out --force");
        assert_eq!(done.code, 1, "{}", done.err);
        assert!(done.out.contains("0 reproduced; 0 differ, explained; 1 out"), "{}", done.out);
        let said = "but meets the paper's number: remove the declaration";
        let words = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words.contains(said), is_met, "{}", done.out);
        let page = String::from_utf8(place.read("out/report.html")).unwrap();
        assert_eq!(page.contains(said), is_met);
    }
}

#[test]
fn one_thread_and_two_give_the_same_bytes() {
    let place = Place::new();
    let all = [&reads("paper = \"> 0\""), FIGURES].concat();
    experiment(&place, "e", &all);
    for jobs in [1, 2] {
        let done = place.run(&format!("reproduce e -j {jobs} -o on-{jobs} --quiet"));
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "", ""));
    }
    assert_eq!(place.read("on-1/result.json"), place.read("on-2/result.json"));
    assert_eq!(place.json("on-1/result.json")["cases"].as_array().unwrap().len(), 6);
    // Other seeds give other numbers.
    assert_eq!(place.run("reproduce e --seed 2 -o other -q").code, 0);
    let ours =
        |folder: &str| row(&place.json(&format!("{folder}/result.json")), 0, 0)["ours"].clone();
    assert_ne!(ours("other"), ours("on-1"));
}

#[test]
fn fewer_seeds_than_declared_are_mentioned() {
    let place = Place::new();
    experiment(&place, "e", &reads("paper = \"> 0\""));
    let note = "tolerances are meant for the mean of 3 seeds, not of 1";
    let said = |line: &str| place.run(line).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said("reproduce e --seeds 1 -o out").contains(note));
    let page = String::from_utf8(place.read("out/report.html")).unwrap();
    assert!(page.contains(note), "the page says so, too");
    assert_eq!(row(&place.json("out/result.json"), 0, 0)["low"], Value::Null);
    assert!(!said("reproduce e --no-output").contains("tolerances are meant"));
    assert!(!said("reproduce e --seeds 4 --no-output").contains("tolerances are meant"));
}

/// Returns the data that the page's script draws.
pub fn drawn(place: &Place, page: &str) -> Value {
    let text = String::from_utf8(place.read(page)).unwrap();
    let from = text.split("id=\"data\">").nth(1).expect("data");
    serde_json::from_str(from.split("</script>").next().unwrap()).expect("JSON")
}

#[test]
fn the_page_draws_our_means_and_marks_what_is_printed() {
    let place = Place::new();
    let claims =
        [reads("paper = 100\ntolerance = \"5%\""), faster("paper = \"72%\"\ntolerance = \"1%\"")];
    experiment(&place, "e", &[&claims.concat(), FIGURES].concat());
    assert_eq!(place.run("reproduce e -o out -q").code, 1);
    let (document, figures) = (place.json("out/result.json"), drawn(&place, "out/report.html"));
    let lines = &figures[0];
    assert_eq!(
        lines["series"],
        serde_json::json!(["average read latency", "average write latency"])
    );
    let panels = lines["panels"].as_array().unwrap();
    assert_eq!(panels.len(), 2);
    assert_eq!(panels[0]["title"], "scheduler FIFO");
    let first = &panels[0]["points"][0][0];
    let ours = row(&document, 0, 0);
    assert_eq!((&first["y"], &first["low"]), (&ours["ours"], &ours["low"]));
    assert_eq!(first["x"], 2.0);
    // The printed number appears where it belongs, and only there.
    let marks = serde_json::json!([{ "series": 0, "x": 2.0, "y": 100.0, "claim": "reads", "origin": null }]);
    assert_eq!(panels[0]["printed"], marks);
    assert_eq!(panels[1]["printed"], serde_json::json!([]));
    // The reference line is the same case in both panels.
    assert_eq!(panels[1]["references"][0]["y"], ours["ours"]);
    let bars = &figures[1];
    assert_eq!((&bars["kind"], &bars["y_label"]), (&"bars".into(), &"us a read".into()));
    assert_eq!(bars["series"], serde_json::json!(["FIFO", "read-first"]));
    let at = |series: usize| -> Vec<f64> {
        let dots = bars["panels"][0]["points"][series].as_array().unwrap();
        dots.iter().map(|dot| number(&dot["x"])).collect()
    };
    assert_eq!((at(0), at(1)), (vec![0.0, 3.0, 6.0], vec![1.0, 4.0, 7.0]), "bars stand in groups");
    let text = String::from_utf8(place.read("out/report.html")).unwrap();
    for expected in [
        "What was found",
        "<em>great deal</em>",
        "10.1000/182",
        "table 1, page 3",
        "ftlab reproduce",
    ] {
        assert!(
            text.contains(expected) || text.contains(&expected.replace(' ', "&nbsp;")),
            "{expected}"
        );
    }
    for bad in ["src=", "url(", "@import", "fetch(", "XMLHttpRequest", "import("] {
        assert!(!text.contains(bad), "the page fetches nothing, but holds {bad}");
    }
    // Without figures, only cases needed for the claims are run.
    assert_eq!(place.run("reproduce e --claims-only -o claims -q").code, 1);
    assert_eq!(drawn(&place, "claims/report.html"), serde_json::json!([]));
}

#[test]
fn several_experiments_are_run_one_after_the_other() {
    let place = Place::new();
    experiment(&place, "a", &reads("paper = \"> 0\""));
    experiment(&place, "b", &reads("paper = \"< 0\""));
    let done = place.run("reproduce a b -o out --seeds 1");
    assert_eq!(done.code, 1, "one of them is out");
    assert_eq!(entries(&place.path("out")), ["a", "b"]);
    assert!(done.out.contains("b                      Of 1 number 0 reproduced"), "{}", done.out);
    let done = place.run("reproduce a b --no-output --seeds 1 --json");
    let both: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((&both[0]["name"], &both[1]["name"]), (&"a".into(), &"b".into()));
    fails(&place, "reproduce a ./a", &["two of these experiments are named a"]);
    fails(&place, "reproduce a list", &["list"]);
    fails(&place, "reproduce a b -o out --seeds 2", &["--force replaces it"]);
    assert_eq!(place.run("reproduce a -o out/a --force --seeds 1 -q").code, 0);
    // The folder of a reproduction is not the result of a run.
    fails(&place, "compare out/a out/b", &["ftlab reproduce"]);
    fails(&place, "report out/a -o page.html", &["ftlab reproduce"]);
    assert_eq!(place.run("reproduce a --seeds 1 -q").code, 0);
    assert_eq!(entries(&place.path("ftlab-results")), ["reproduce-a-1"]);
}

/// What is finished is saved and printed, even if the next experiment fails.
#[test]
fn what_is_finished_outlives_the_failure_of_the_next() {
    let place = Place::new();
    experiment(&place, "a", &reads("paper = \"> 0\""));
    // Without a write buffer the result has no buffer; with one, the value is not a number.
    let buffered = reads("paper = { none = 1, lru = 1 }\ntolerance = \"5%\"\neach = \"cache\"")
        .replace("metric = \"read\"", "metric = \"buffer\"");
    let own = "[[axis]]\nname = \"cache\"\nset = [\"cache.policy={}\"]\nvalues = [\"none\", \"lru\"]\n\
               [[metric]]\nname = \"buffer\"\nfrom = \"/report/cache\"\n";
    experiment(&place, "b", &[own, &buffered].concat());
    let done = place.run("reproduce a b --json -o out");
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("/report/cache is no number"), "{}", done.err);
    let all: Value = serde_json::from_str(&done.out).expect("a list of what was finished");
    assert_eq!((all.as_array().unwrap().len(), &all[0]["name"]), (1, &"a".into()));
    assert_eq!(entries(&place.path("out")), ["a"]);
}

/// The example in the documentation is valid.
#[test]
fn the_example_of_the_documentation_runs() {
    let guide = include_str!("../../../../docs/reproduce.md");
    let text = guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let place = Place::new();
    fs::create_dir(place.path("read-first")).unwrap();
    place.write("read-first/experiment.toml", text.as_bytes());
    let done = place.run("reproduce read-first --seeds 1 -o out");
    assert!([0, 1].contains(&done.code), "{}", done.err);
    let document = place.json("out/result.json");
    let mut means: Vec<f64> = document["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| number(&case["metrics"]["read"]["mean"]))
        .collect();
    assert_eq!(means.len(), 6);
    means.sort_by(f64::total_cmp);
    means.dedup();
    assert_eq!(means.len(), 6, "policies and queue depths differ: {means:?}");
}

#[test]
fn a_bad_declaration_is_told_as_a_whole() {
    let place = Place::new();
    experiment(&place, "e", &reads("paper = \"> 0\""));
    let good = String::from_utf8(place.read("e/experiment.toml")).unwrap();
    let bad = good
        .replace("seeds = 3", "seeds = 0\nseed = 3")
        .replace("requests = 400", "requests = 400\nqueue-depth = 3")
        .replace("set = [\"ftl.gc.start={}\"]", "set = [\"ftl.gc.start=2\"]")
        .replace("name = \"write\"", "name = \"read\"")
        .replace("from = \"/report/host/read", "from = \"report/host/read")
        .replace("start = 2 }", "start = 7, polcy = 1 }")
        .replace("paper = \"> 0\"", "paper = \"ten\"\ntolerance = \"5\"\nas = \"chnge\"")
        + FIGURES
        + "[[figure]]\ntitle = \"\"\nkind = \"pie\"\nx = \"start\"\nmetrics = [\"reads\"]\n";
    place.write("e/experiment.toml", bad.as_bytes());
    let done = place.run("reproduce e");
    assert_eq!((done.code, done.out.as_str()), (2, ""));
    insta::assert_snapshot!("bad_declaration", done.err);
    // Malformed numbers, and numbers that can't be judged.
    let all = [
        reads("paper = \"10 ms\"\ntolerance = \"5\""),
        reads("paper = 10").replace("\"reads\"", "\"b\""),
        reads("paper = \"> 0\"\ntolerance = \"5%\"").replace("\"reads\"", "\"c\""),
        reads("paper = { fifo = 1 }\ntolerance = \"5%\"").replace("\"reads\"", "\"d\""),
        reads("paper = 1\ntolerance = \"5%\"\nagainst = { start = 3 }")
            .replace("\"reads\"", "\"e\""),
        reads("paper = 1\ntolerance = \"5%\"\nas = \"ratio\"").replace("\"reads\"", "\"f\""),
        reads("paper = 1\ntolerance = \"5%\"\nmean_over = [\"start\"]")
            .replace("\"reads\"", "\"g\""),
        reads("paper = 1\ndiffers = { expected = 2 }"),
        reads("paper = 1\ntolerance = \"5%\"")
            .replace(", start = 2", "")
            .replace("\"reads\"", "\"h\""),
    ];
    experiment(&place, "e", &all.concat());
    let done = place.run("reproduce e");
    assert_eq!((done.code, done.out.as_str()), (2, ""));
    insta::assert_snapshot!("bad_claims", done.err);
}

#[test]
fn what_a_declaration_names_must_be_there() {
    let place = Place::new();
    let try_with = |from: &str, to: &str, expected: &[&str]| {
        experiment(&place, "e", &reads("paper = \"> 0\""));
        let text = String::from_utf8(place.read("e/experiment.toml")).unwrap();
        assert!(text.contains(from), "{from}");
        place.write("e/experiment.toml", text.replace(from, to).as_bytes());
        fails(&place, "reproduce e --seeds 1", expected);
    };
    try_with("device = \"tiny\"", "", &["some of the cases have no device", "remedy"]);
    try_with("device = \"tiny\"", "device = \"tyni\"", &["no preset \"tyni\"", "tiny"]);
    try_with("workload = \"own.toml\"", "workload = \"gone.toml\"", &["gone.toml"]);
    try_with(", workload = \"own.toml\"", "", &["some of the cases have no load", "remedy"]);
    try_with(
        "requests = 400",
        "requests = \"many\"",
        &["run.requests", "experiment.toml:13", "many"],
    );
    try_with("ftl.gc.stop=5", "ftl.gc.stop=x", &["ftl.gc.stop", "run.set[1]"]);
    try_with(
        "latency_ns/mean",
        "latency_us/mean",
        &["nothing at /report/host/read/latency_us", "latency_ns"],
    );
    try_with("summary =", "sumary =", &["lacks `summary`", "did you mean summary?"]);
    try_with("name = \"e\"", "name = \"e/f\"", &["no name for a folder"]);
    fails(&place, "reproduce rw-shceduler", &["did you mean rw-scheduler?"]);
    fs::create_dir(place.path("empty")).unwrap();
    fails(&place, "reproduce empty", &["there is no experiment.toml in empty"]);
    place.write("e/experiment.toml", b"name = [");
    fails(&place, "reproduce e", &["not valid TOML", "e/experiment.toml:1"]);
}

#[test]
fn cells_do_not_run_into_each_other() {
    let place = Place::new();
    experiment(&place, "e", &reads("paper = 90\ntolerance = \"1 to 100000\""));
    let done = place.run("reproduce e --no-output");
    assert!(done.out.contains(" us 1 to 100000  reproduced"), "{}", done.out);
    assert!(done.out.contains("Of 1 number 1 reproduced"), "{}", done.out);
}

/// Zero over zero is not a number, and no number is out of tolerance.
#[test]
fn what_is_not_known_is_out_of_tolerance() {
    let place = Place::new();
    let metric = "[[metric]]\nname = \"none\"\nfrom = \"/report/host/trim/latency_ns/mean\"\n";
    let claim = reads("paper = \"> 0\"").replace("metric = \"read\"", "metric = \"none\"");
    experiment(&place, "e", &[metric, &claim].concat());
    let done = place.run("reproduce e -o out");
    assert_eq!(done.code, 1, "{}{}", done.out, done.err);
    assert_eq!(row(&place.json("out/result.json"), 0, 0)["ours"], Value::Null);
}

#[cfg(unix)]
#[test]
fn an_interrupted_reproduction_leaves_nothing() {
    use super::common::{ENDLESS, interrupted};
    let place = Place::new();
    experiment(&place, "e", &reads("paper = \"> 0\""));
    place.write("e/own.toml", ENDLESS);
    let text = String::from_utf8(place.read("e/experiment.toml")).unwrap();
    let text = text.replace("requests = 400", "").replace("precondition = \"fill\"", "");
    place.write("e/experiment.toml", text.as_bytes());
    let done = interrupted(&place, "reproduce e -o out", std::process::Stdio::null());
    assert_eq!((done.code, done.out.as_str()), (130, ""), "{}", done.err);
    assert!(done.err.contains("Interrupted: nothing of e was written"), "{}", done.err);
    assert_eq!(place.entries(), ["e", "trace.csv"]);
}
