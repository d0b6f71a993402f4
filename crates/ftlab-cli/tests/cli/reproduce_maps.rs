//! Heat maps of `ftlab reproduce`, and experiments that need traces that are not part of ftlab.

use std::fs;

use serde_json::{Value, json};

use super::common::{Place, fails, trace};
use super::reproduce::{drawn, experiment, number, reads, row};

/// How much faster reads become, by queue depth and length of the run.
const MAP: &str = r#"
[[axis]]
name = "depth"
label = "requests at once"
queue_depth = "{}"
values = [4, 8, 32]

[[axis]]
name = "many"
label = "so many"
requests = "{}"
values = [200, 400]

[[figure]]
title = "Where it pays"
note = "Not in the paper."
kind = "heatmap"
x = "depth"
y = "many"
at = { start = 2 }
panels = ["policy", "load"]
only = { policy = ["read-first"] }
metrics = ["read"]
as = "change"
against = { policy = "fifo" }

[[figure]]
title = "What it is"
kind = "heatmap"
x = "depth"
y = "many"
metrics = ["read"]
only = { depth = [4, 32] }
at = { policy = "fifo", start = 2 }
"#;

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found} {expected}");
}

/// Returns the mean of a metric for the case with these values.
fn mean(document: &Value, policy: &str, depth: &str, many: &str) -> f64 {
    let mut cases = document["cases"].as_array().unwrap().iter();
    let is_it = |case: &&Value| {
        let at = &case["at"];
        (&at["policy"], &at["depth"], &at["many"]) == (&policy.into(), &depth.into(), &many.into())
    };
    number(&cases.find(is_it).expect("a case")["metrics"]["read"]["mean"])
}

#[test]
fn heat_maps_stand_in_table_result_and_page() {
    let place = Place::new();
    experiment(&place, "e", MAP);
    let done = place.run("reproduce e -o out");
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    let document = place.json("out/result.json");
    let figures = document["figures"].as_array().unwrap();
    assert_eq!(figures[0]["kind"], "heatmap");
    assert_eq!((&figures[0]["as"], &figures[1]["as"]), (&"change".into(), &"value".into()));
    assert_eq!(figures[0]["against"], json!({ "policy": "fifo" }));
    let points = figures[0]["points"].as_array().unwrap();
    assert_eq!(points.len(), 6, "each depth with each length");
    assert_eq!(figures[1]["points"].as_array().unwrap().len(), 4, "what `only` names");
    let page = String::from_utf8(place.read("out/report.html")).unwrap();
    for point in points {
        let [depth, many] = ["depth", "many"].map(|axis| point["at"][axis].as_str().unwrap());
        let of = |policy| mean(&document, policy, depth, many);
        let change = 100.0 * (of("read-first") / of("fifo") - 1.0);
        near(number(&point["value"]), change);
        let (low, high) = (number(&point["low"]), number(&point["high"]));
        assert!(low <= change && change <= high, "{low} {change} {high}");
        assert_eq!(point["unit"], "%");
        // The same number is on the terminal, in the map and in the table beside it.
        let text = if change.abs() < 0.05 { "0.0".to_owned() } else { format!("{change:+.1}") };
        assert!(done.out.contains(&text), "{text}\n{}", done.out);
        assert!(page.contains(&format!(">{text}</text>")), "{text}");
    }
    for said in [
        "Where it pays",
        "average read latency: change against FIFO, per cent",
        "so many down, requests at once across",
        "scheduler read-first, load own",
    ] {
        assert!(done.out.contains(said), "{said}\n{}", done.out);
    }
    assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
    let rows: Vec<&str> =
        done.out.lines().filter_map(|line| line.trim_start().split(' ').next()).collect();
    let rows: Vec<&&str> = rows.iter().filter(|name| ["200", "400"].contains(name)).collect();
    assert_eq!(rows, [&"400", &"200", &"400", &"200"], "the first value is at the bottom");
    let mut values: Vec<f64> = points.iter().map(|point| number(&point["value"])).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    assert_eq!(values.len(), 6, "a cell in the wrong place would show");
    for said in [
        "As a table, with 95 % intervals",
        "role=\"img\"",
        "<caption>scheduler read-first",
        "(less)",
        "(highest)",
    ] {
        assert!(page.contains(said), "{said}");
    }
    assert!(!page.contains("style="), "the page's own policy forbids it");
    assert_eq!(drawn(&place, "out/report.html"), json!([]), "the script draws none of it");
}

#[test]
fn what_heat_maps_can_not_have_is_told() {
    let place = Place::new();
    for (from, to, said) in [
        ("y = \"many\"\n", "", "a heat map lacks `y`"),
        (
            "panels = [\"policy\", \"load\"]",
            "panels = \"load\"\nseries = \"policy\"",
            "no meaning for a heat map",
        ),
        ("metrics = [\"read\"]", "metrics = [\"read\", \"write\"]", "draws one metric, not 2"),
        ("kind = \"heatmap\"", "kind = \"lines\"", "only a heat map has the axis `y`"),
        ("y = \"many\"", "y = \"depth\"", "depth is fixed by x and y"),
        ("panels = [\"policy\", \"load\"]", "panels = [\"policy\", \"policy\"]", "twice"),
    ] {
        assert!(MAP.contains(from), "{from}");
        experiment(&place, "e", &MAP.replacen(from, to, 1));
        fails(&place, "reproduce e", &[said, "e/experiment.toml:", "remedy"]);
    }
}

/// A load of our own and a trace from elsewhere.
const TRACED: &str = r#"
[[axis]]
name = "kind"
values = [{ name = "stand-in" }, { name = "real", trace = "$FTLAB_TRACES/sub/real.csv" }]

[[claim]]
id = "both"
text = "Reads take so long"
where = "table 1"
metric = "read"
at = { policy = "fifo", start = 2 }
each = "kind"
paper = { stand-in = "> 0", real = "> 0" }

[[figure]]
title = "Figure 1"
kind = "bars"
x = "kind"
metrics = ["read"]
at = { policy = "fifo", start = 2 }
"#;

#[test]
fn cases_whose_trace_is_not_there_are_named_and_the_others_run() {
    let place = Place::new();
    experiment(&place, "e", TRACED);
    let left_out = |line: &str| {
        let done = place.run(line);
        assert_eq!(done.code, 0, "{}{}", done.out, done.err);
        let said = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(
            "Of 2 numbers 1 reproduced; 0 differ, explained; 0 out of tolerance; 1 not run."
        ));
        assert!(
            said.contains(
                "1 case was not run, because these real traces, which are not part of ftlab"
            ),
            "{said}"
        );
        assert!(said.contains("are missing: sub/real.csv."), "{said}");
        let document = place.json("out/result.json");
        assert_eq!(
            (&row(&document, 0, 0)["verdict"], &row(&document, 0, 1)["verdict"]),
            (&"reproduced".into(), &"not_run".into())
        );
        assert_eq!(row(&document, 0, 1)["ours"], Value::Null);
        assert_eq!(document["not_run"][0]["trace"], "sub/real.csv");
        assert_eq!(document["not_run"][0]["at"]["kind"], "real");
        assert_eq!(document["cases"].as_array().unwrap().len(), 1);
        assert_eq!(document["figures"][0]["points"][1]["value"], Value::Null);
        let page = String::from_utf8(place.read("out/report.html")).unwrap();
        assert!(page.contains("1 case was not run"));
    };
    left_out("reproduce e -o out");
    fs::create_dir_all(place.path("traces/sub")).unwrap();
    left_out("reproduce e -o out --force --traces traces");
    place.write("traces/sub/real.csv", trace(500).as_bytes());
    let done = place.run("reproduce e -o out --force --traces traces");
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    let document = place.json("out/result.json");
    assert_eq!(
        (&document["verdicts"]["reproduced"], &document["not_run"]),
        (&2.into(), &json!([]))
    );
    // The variable names the same folder; the flag takes precedence.
    let with = |line: &[&str]| {
        let mut command = place.command(line);
        command
            .env("FTLAB_TRACES", place.path("traces"))
            .output()
            .expect("the program can be started")
    };
    let line = ["reproduce", "e", "--json", "--no-output"];
    let output = with(&line);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found, document);
    fs::create_dir(place.path("empty")).unwrap();
    let output = with(&[&line[..], &["--traces", "empty"]].concat());
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["verdicts"]["not_run"], 1);
}

#[test]
fn traces_are_looked_for_where_they_are_said_to_be() {
    let place = Place::new();
    experiment(&place, "e", TRACED);
    fails(&place, "reproduce e --traces gone", &["there is no folder gone", "remedy"]);
    // A path above the folder of traces is refused.
    experiment(&place, "e", &TRACED.replace("sub/real.csv", "../trace.csv"));
    fails(&place, "reproduce e", &["outside", "e/experiment.toml:"]);
    // An experiment with only real traces.
    let alone = reads("paper = \"> 0\"");
    experiment(&place, "e", &alone);
    let text = String::from_utf8(place.read("e/experiment.toml")).unwrap();
    let text = text.replace("workload = \"own.toml\"", "trace = \"$FTLAB_TRACES/real.csv\"");
    place.write("e/experiment.toml", text.as_bytes());
    fails(&place, "reproduce e", &["such as real.csv", "--traces"]);
}
