//! `ftlab figure`: which numbers are drawn. The Python package tests what they look like.

use serde_json::Value;

use super::common::{Done, Place, fails};

const COMPARE: &str = "compare tiny --workload mixed-70-30-zipf --requests 3000 --precondition fill --seeds 3 \
                       --variant fifo:scheduler.policy=fifo --variant first:scheduler.policy=read-first -q -o cmp";
const SWEEP: &str = r#"
name = "spare"
title = "Over-provisioning and victims"
seeds = 2

[run]
device = "tiny"
workload = "randwrite-4k"
precondition = "fill"
requests = 500

[[axis]]
option = "ftl.over_provisioning"
label = "Over-provisioning"
values = "20%..50%"
steps = 3

[[axis]]
option = "ftl.gc.victim"
label = "Victim"
values = ["greedy", "fifo"]
"#;

fn compared() -> Place {
    let place = Place::new();
    let done = place.run(COMPARE);
    assert_eq!(done.code, 0, "{}", done.err);
    place
}

fn swept() -> Place {
    let place = Place::new();
    place.write("spare.toml", SWEEP.as_bytes());
    let done = place.run("sweep spare.toml -o swept -q");
    assert_eq!(done.code, 0, "{}", done.err);
    place
}

fn drawn(place: &Place, line: &str) -> Value {
    let done = place.run(&format!("figure {line} -q --force -o figure.json"));
    assert_eq!(done.code, 0, "{line}: {}", done.err);
    place.json("figure.json")
}

fn names(of: &Value) -> Vec<&str> {
    of.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

fn near(one: &Value, other: &Value) {
    let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
    assert!((one - other).abs() <= 1e-9 * other.abs(), "{one} {other}");
}

#[test]
fn a_comparison_is_drawn_with_its_own_means_and_changes() {
    let place = compared();
    let compared = place.json("cmp/compare.json");
    let metrics = compared["metrics"].as_array().unwrap();
    let of = |name: &str| metrics.iter().find(|metric| metric["name"] == name).unwrap();
    let figure = drawn(&place, "cmp -m read.latency.p99 -m write.latency.mean --relative");
    let panels = figure["panels"].as_array().unwrap();
    for (panel, name) in panels.iter().zip(["read latency, p99", "write latency, mean"]) {
        let change = &of(name)["variants"][1]["change"];
        let point = &panel["lines"][0]["points"][0];
        assert_eq!((&panel["against"], &panel["y"]["unit"]), (&"fifo".into(), &"%".into()));
        assert_eq!(names(&panel["x"]["names"]), ["first"]);
        for (ours, theirs) in [("y", "estimate"), ("low", "low"), ("high", "high")] {
            near(&point[ours], &(change[theirs].as_f64().unwrap() * 100.0).into());
        }
    }
    let figure = drawn(&place, "cmp -m read.latency.p99 --rename first=FIRST");
    let panel = &figure["panels"][0];
    assert_eq!(names(&panel["x"]["names"]), ["fifo", "FIRST"]);
    for (at, point) in panel["lines"][0]["points"].as_array().unwrap().iter().enumerate() {
        let variant = &of("read latency, p99")["variants"][at];
        near(&point["y"], &variant["mean"]);
        // Student's t of three seeds, on logarithms.
        let logs: Vec<f64> = variant["values"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one.as_f64().unwrap().ln())
            .collect();
        let mean = logs.iter().sum::<f64>() / 3.0;
        let deviation = (logs.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
        let high = (mean + 4.302_652_729_911_275 * deviation / 3f64.sqrt()).exp();
        assert!((point["high"].as_f64().unwrap() / high - 1.0).abs() < 1e-6, "{point} {high}");
    }
}

#[test]
fn a_sweep_is_drawn_along_an_axis() {
    let place = swept();
    let sweep = place.json("swept/sweep.json");
    let figure = drawn(&place, "swept -m write_amplification.total");
    let panel = &figure["panels"][0];
    assert_eq!((&panel["drawn"], &panel["legend"]), (&"lines".into(), &"Victim".into()));
    let lines = panel["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 2);
    for line in lines {
        let points = line["points"].as_array().unwrap();
        assert_eq!(points.len(), 3);
        for (point, spare) in points.iter().zip(["20%", "35%", "50%"]) {
            let same = |one: &&Value| {
                one["at"]["ftl.over_provisioning"] == spare
                    && one["at"]["ftl.gc.victim"] == line["name"]
            };
            let found = sweep["points"].as_array().unwrap().iter().find(same).unwrap();
            let mean = &found["metrics"]["write_amplification.total"];
            near(&point["y"], &mean["mean"]);
            near(&point["high"], &mean["high"]);
            assert_eq!(format!("{}%", point["x"]), format!("{}.0%", spare.trim_end_matches('%')));
        }
    }
    let figure = drawn(&place, "swept -m iops --along Victim --only ftl.over_provisioning=20%");
    let panel = &figure["panels"][0];
    assert_eq!(
        (&panel["drawn"], names(&panel["x"]["names"])),
        (&"marks".into(), vec!["greedy", "fifo"])
    );
    assert_eq!(panel["lines"].as_array().unwrap().len(), 1);
}

#[test]
fn curves_come_from_all_seeds_and_end_with_the_run() {
    let place = compared();
    let figure = drawn(&place, "cmp -c read-latency -c throughput");
    let panels = figure["panels"].as_array().unwrap();
    for line in panels[0]["lines"].as_array().unwrap() {
        let shares: Vec<f64> = line["points"]
            .as_array()
            .unwrap()
            .iter()
            .map(|point| point["y"].as_f64().unwrap())
            .collect();
        assert!(shares[0] == 1.0 && shares.windows(2).all(|two| two[1] <= two[0]), "{shares:?}");
        assert!(*shares.last().unwrap() > 0.0);
    }
    let throughput = &panels[1]["lines"][0]["points"];
    let points: Vec<(f64, f64)> = throughput
        .as_array()
        .unwrap()
        .iter()
        .map(|point| (point["x"].as_f64().unwrap(), point["y"].as_f64().unwrap()))
        .collect();
    // What is drawn has as many bytes as the host moved.
    let drawn: f64 = points.windows(2).map(|two| two[0].1 * (two[1].0 - two[0].0)).sum();
    let results = place.json("cmp/compare.json")["variants"][0]["results"][0].clone();
    let result = place.json(&format!("cmp/{}/result.json", results.as_str().unwrap()));
    let host = &result["report"]["host"];
    let moved = ["read", "write"].map(|op| host[op]["bytes"].as_f64().unwrap()).iter().sum::<f64>();
    assert!((drawn * 1e6 / moved - 1.0).abs() < 1e-3, "{drawn} {moved}");
    assert!(points.len() <= 121);
}

#[test]
fn numbers_go_along_as_a_table() {
    let place = swept();
    let done = place.run("figure swept -m iops -o iops.csv");
    assert_eq!((done.code, done.err.as_str()), (0, "Figure: iops.csv\n"));
    let text = String::from_utf8(place.read("iops.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "panel,unit,against,line,along,x_unit,x,y,low,high");
    assert_eq!(lines.len(), 1 + 6);
    assert!(lines[1].starts_with("IOPS,,,greedy,Over-provisioning,%,20,"), "{}", lines[1]);
}

#[test]
fn what_can_not_be_drawn_is_refused() {
    let place = compared();
    place.write("spare.toml", SWEEP.as_bytes());
    assert_eq!(place.run("sweep spare.toml -o swept -q").code, 0);
    place.write("mine.csv", b"my own numbers");
    let refused: [(&str, &[&str]); 16] = [
        ("cmp", &["nothing is chosen", "--metric: throughput, iops", "--curve: read-latency"]),
        (
            "cmp -m read.latency.p98",
            &["no metric read.latency.p98", "did you mean read.latency.p9"],
        ),
        ("cmp -m iops -o a.tex", &["says its form", ".pdf, .svg"]),
        ("cmp -m iops -o mine.csv --force", &["mine.csv exists and is no figure"]),
        ("cmp -m iops --along load -o a.csv", &["have no axes", "--along and --only"]),
        (
            "cmp -m iops --rename x=y -o a.csv",
            &["nothing in the figure is called x", "fifo; first"],
        ),
        ("cmp -c trim-latency -o a.csv", &["no result has a curve trim-latency"]),
        ("cmp -c throughput --relative -o a.csv", &["curves have no changes", "--relative"]),
        ("swept -c throughput -o a.csv", &["has no curve throughput"]),
        ("swept -m iops --relative -o a.csv", &["leave out --relative"]),
        ("swept -m iops --along load -o a.csv", &["has no axis load", "ftl.gc.victim"]),
        ("swept -m iops --only Victim=lifo -o a.csv", &["ftl.gc.victim is never lifo", "fifo"]),
        ("swept cmp -m iops -o a.csv", &["swept is a sweep", "name it alone"]),
        ("nowhere -m iops -o a.csv", &["nowhere"]),
        ("cmp -m iops --width 3px -o a.csv", &["--width", "88mm"]),
        ("cmp -m iops -o nowhere/a.csv", &["can't write nowhere/a.csv"]),
    ];
    for (line, expected) in refused {
        fails(&place, &format!("figure {line}"), expected);
    }
    let latencies = place.json("cmp/compare.json")["variants"][0]["results"][0].clone();
    place.write(
        &format!("cmp/{}/latencies.parquet", latencies.as_str().unwrap()),
        b"PAR1 and no more",
    );
    fails(&place, "figure cmp -c read-latency -o a.csv", &["latencies.parquet", "run it again"]);
    drawn(&place, "cmp -c throughput -m iops");
    for damage in ["{", "{\"schema_version\": 9}", "{\"schema_version\": 1}"] {
        place.write("swept/sweep.json", damage.as_bytes());
        fails(
            &place,
            "figure swept -m iops -o a.csv",
            &["swept/sweep.json", "perform the sweep again"],
        );
    }
}

/// Stands for the program of the Python package.
#[cfg(unix)]
fn with_drawer(place: &Place, script: &str, line: &str) -> Done {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(place.path("bin")).unwrap();
    let file = place.path("bin/ftlab-figure");
    std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let args: Vec<&str> = line.split_whitespace().collect();
    let path = format!("{}:/usr/bin:/bin", place.path("bin").display());
    place.command(&args).env("PATH", path).output().unwrap().into()
}

#[cfg(unix)]
#[test]
fn the_python_package_draws() {
    let place = compared();
    let line = "figure cmp -m iops --font serif --columns 2 -o a.pdf";
    let done = with_drawer(&place, "cat > seen.json; echo \"%PDF $1 ftlab figure\"", line);
    assert_eq!((done.code, done.err.as_str()), (0, "Figure: a.pdf\n"));
    assert_eq!(place.read("a.pdf"), b"%PDF pdf ftlab figure\n");
    let look = &place.json("seen.json")["look"];
    assert_eq!((&look["font"], &look["font_size_pt"]), (&"serif".into(), &8.0.into()));
    near(&look["width_mm"], &177.8.into());
    let failing = [
        ("echo 'error: no matplotlib' >&2; exit 2", "error: no matplotlib"),
        ("exit 3", "ftlab-figure failed"),
        ("cat > /dev/null", "wrote no figure"),
    ];
    for (script, expected) in failing {
        let done = with_drawer(&place, script, "figure cmp -m iops -o b.pdf");
        assert!(done.code == 2 && done.err.contains(expected), "{script}: {}", done.err);
        assert!(!place.path("b.pdf").exists());
    }
    let args = ["figure", "cmp", "-m", "iops", "-o", "b.pdf"];
    let done: Done = place.command(&args).env("PATH", "/nowhere").output().unwrap().into();
    assert!(done.code == 2 && done.err.contains("pip install") && done.err.contains("-o FILE.csv"));
}
