//! fio's JSON document: the same keys and types as real fio prints for the same jobs, and figures
//! that agree with each other and with `result.json`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value};

use crate::common::{Place, fails};

/// The jobs; what fio printed for each is stored beside it.
const JOBS: [&str; 5] = ["randread", "randwrite", "mix", "trim", "groups"];
const WAYS: [&str; 3] = ["read", "write", "trim"];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fio_json").join(name)
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Returns ftlab's document for a job file.
fn ours(place: &Place, job: &str) -> Value {
    let file = data(&format!("{job}.fio"));
    let line = format!("run --device tiny --fio {} -q -o {job} --force", file.display());
    let done = place.run(&line);
    assert_eq!(done.code, 0, "{}", done.err);
    place.json(&format!("{job}/fio.json"))
}

/// Collects differences in keys and types, with their places.
fn differences(real: &Value, ours: &Value, at: &str, list: &mut Vec<String>) {
    match (real, ours) {
        (Value::Object(real), Value::Object(ours)) => {
            let keys = |map: &Map<String, Value>| map.keys().cloned().collect::<Vec<_>>();
            for key in keys(real).iter().filter(|key| !ours.contains_key(*key)) {
                list.push(format!("{at}/{key} is missing"));
            }
            for key in keys(ours).iter().filter(|key| !real.contains_key(*key)) {
                list.push(format!("{at}/{key} is not of fio"));
            }
            for (key, real) in real {
                if let Some(ours) = ours.get(key) {
                    differences(real, ours, &format!("{at}/{key}"), list);
                }
            }
        }
        (Value::Array(real), Value::Array(ours)) => {
            if real.len() != ours.len() {
                list.push(format!("{at}: {} in fio, {} here", real.len(), ours.len()));
            }
            for (index, (real, ours)) in real.iter().zip(ours).enumerate() {
                differences(real, ours, &format!("{at}[{index}]"), list);
            }
        }
        _ if kind(real) == kind(ours) => {}
        _ => list.push(format!("{at}: {} in fio, {} here", kind(real), kind(ours))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.is_f64() => "a fraction",
        Value::Number(_) => "a whole number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Compares everything that does not depend on the device.
fn compare(job: &str, real: &Value, ours: &Value) {
    let mut ours_keys = ours.clone();
    // fio reports disks only if there was one; here there always is.
    if real.get("disk_util").is_none() {
        let map = ours_keys.as_object_mut().unwrap();
        assert!(map.remove("disk_util").is_some(), "{job}");
    }
    let mut list = Vec::new();
    differences(real, &ours_keys, "", &mut list);
    assert!(list.is_empty(), "{job}:\n{}", list.join("\n"));
    assert_eq!(real.get("global options"), ours.get("global options"), "{job}");
    for (real, ours) in jobs(real).iter().zip(jobs(ours)) {
        for key in ["jobname", "groupid", "error", "job options", "latency_depth"] {
            assert_eq!(real[key], ours[key], "{job}: {key}");
        }
        let sum = |entry: &Value, key: &str| -> f64 {
            WAYS.iter().map(|way| float(&entry[way][key])).sum()
        };
        // If time ends the job, fio's last requests are a matter of luck.
        let share = if ours_keys["global options"].get("runtime").is_some() { 0.05 } else { 0.0 };
        for key in ["total_ios", "io_bytes"] {
            near(&format!("{job} {key}"), sum(ours, key), sum(real, key), share);
        }
    }
}

fn jobs(document: &Value) -> &Vec<Value> {
    document["jobs"].as_array().expect("a list of jobs")
}

#[test]
fn keys_and_types_are_those_that_fio_printed() {
    let place = Place::new();
    for job in JOBS {
        compare(job, &read(&data(&format!("{job}.json"))), &ours(&place, job));
    }
}

#[test]
fn keys_and_types_are_those_that_fio_prints_here() {
    let version = Command::new("fio").arg("--version").output().ok();
    let Some(version) = version.filter(|output| output.status.success()) else {
        eprintln!("skipped: there is no fio on the path");
        return;
    };
    let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
    if version != "fio-3.33" {
        eprintln!("skipped: {version} is not the version whose keys these are");
        return;
    }
    let place = Place::new();
    std::fs::create_dir(place.path("fio")).unwrap();
    for job in JOBS {
        let output = place.path(&format!("{job}.json"));
        let done = Command::new("fio")
            .args(["--output-format=json", &format!("--output={}", output.display())])
            .arg(data(&format!("{job}.fio")))
            .current_dir(place.path("fio"))
            .status();
        assert!(done.is_ok_and(|status| status.success()), "fio fails on {job}");
        compare(job, &read(&output), &ours(&place, job));
    }
}

fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn near(what: &str, one: f64, other: f64, share: f64) {
    assert!((one - other).abs() <= share * other.abs().max(1e-9), "{what}: {one}, {other}");
}

#[test]
fn the_figures_agree_with_each_other() {
    let place = Place::new();
    for job in JOBS {
        for entry in jobs(&ours(&place, job)) {
            for way in WAYS {
                consistent(&format!("{job} {way}"), &entry[way]);
            }
            let all: f64 = WAYS.iter().map(|way| float(&entry[way]["total_ios"])).sum();
            let shares = |names: &[&str]| -> f64 {
                let lists = names.iter().map(|name| entry[name].as_object().unwrap());
                lists.flat_map(Map::values).map(float).sum()
            };
            assert!(all > 0.0, "{job}");
            near(job, shares(&["latency_ns", "latency_us", "latency_ms"]), 100.0, 1e-6);
            near(job, shares(&["iodepth_level"]), 100.0, 1e-6);
        }
    }
}

fn consistent(what: &str, way: &Value) {
    let (requests, bytes) = (float(&way["total_ios"]), float(&way["io_bytes"]));
    assert_eq!((float(&way["io_kbytes"]) * 1024.0).round(), bytes, "{what}");
    if requests == 0.0 {
        assert_eq!((float(&way["iops"]), float(&way["runtime"])), (0.0, 0.0), "{what}");
        return;
    }
    // The runtime is rounded up to a millisecond.
    let seconds = requests / float(&way["iops"]);
    let runtime = float(&way["runtime"]) / 1e3;
    assert!(
        runtime >= seconds - 1e-6 && runtime - seconds <= 0.001 + 1e-6,
        "{what}: {runtime}, {seconds}"
    );
    near(what, float(&way["bw_bytes"]), bytes / seconds, 1e-4);
    for key in ["clat_ns", "lat_ns"] {
        let latency = &way[key];
        let (min, mean, max) = (&latency["min"], &latency["mean"], &latency["max"]);
        assert!(float(min) <= float(mean) && float(mean) <= float(max), "{what} {key}");
        assert_eq!(float(&latency["N"]), requests, "{what} {key}");
        let Some(percentiles) = latency.get("percentile").and_then(Value::as_object) else {
            continue;
        };
        let mut list: Vec<(f64, f64)> =
            percentiles.iter().map(|(at, ns)| (at.parse().unwrap(), float(ns))).collect();
        list.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert!(list.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{what} {key}: {list:?}");
        let last = list.last().unwrap().1;
        assert!(last <= float(max) * (1.0 + 1.0 / 64.0) + 1.0, "{what} {key}: {last}");
    }
}

#[test]
fn a_single_job_agrees_with_the_result() {
    let place = Place::new();
    let text = "[mix]\nioengine=libaio\niodepth=4\nsize=8m\nrw=randrw\nbs=4k\nio_size=32m\n";
    place.write("mix.fio", text.as_bytes());
    let done = place.run("run --device tiny --fio mix.fio -q -o out --fio-json apart.json");
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(place.read("out/fio.json"), place.read("apart.json"));
    let (fio, result) = (place.json("apart.json"), place.json("out/result.json"));
    for way in ["read", "write"] {
        let (fio, host) = (&jobs(&fio)[0][way], &result["report"]["host"][way]);
        assert_eq!(fio["total_ios"], host["requests"]);
        assert_eq!(fio["io_bytes"], host["bytes"]);
        near("iops", float(&fio["iops"]), float(&host["iops"]), 1e-6);
        near("mean", float(&fio["lat_ns"]["mean"]), float(&host["latency_ns"]["mean"]), 1e-9);
        assert_eq!(fio["lat_ns"]["max"], host["latency_ns"]["max"]);
        let (median, p99) = (&host["latency_ns"]["p50"], &host["latency_ns"]["p99"]);
        near("median", float(&fio["clat_ns"]["percentile"]["50.000000"]), float(median), 0.01);
        near("p99", float(&fio["clat_ns"]["percentile"]["99.000000"]), float(p99), 0.01);
    }
}

#[test]
fn the_document_goes_where_it_is_asked_for_and_is_the_same_each_time() {
    let place = Place::new();
    place.write("job.fio", b"[a]\nsize=1m\nrw=randwrite\nbs=${BS}\n");
    let run = |line: &str| {
        let args: Vec<&str> = line.split_whitespace().collect();
        let output = place.command(&args).env("BS", "8k").output().expect("it starts");
        crate::common::Done::from(output)
    };
    let line = "run --device tiny --fio job.fio --no-output --fio-json";
    let (one, other) = (run(&format!("{line} -")), run(&format!("{line} -")));
    assert_eq!((one.code, &one.out), (0, &other.out), "{}", one.err);
    let document: Value = serde_json::from_str(&one.out).expect("nothing but the document");
    assert_eq!(document["jobs"][0]["job options"]["bs"], "8k");
    assert_eq!(document["jobs"][0]["write"]["total_ios"], 128);
    assert_eq!(run(&format!("{line} out.json -q")).code, 0);
    assert_eq!(place.read("out.json"), one.out.as_bytes());
    let again = run(&format!("{line} out.json -q"));
    assert!(again.code == 2 && again.err.contains("--force"), "{}", again.err);
    assert_eq!(run(&format!("{line} out.json -q --force")).code, 0);
}

/// As in fio with O_SYNC: what a write waits for is part of its latency, and `sync` counts only the
/// job's own requests.
#[test]
fn the_flush_of_a_synced_write_is_part_of_the_write() {
    let place = Place::new();
    let ran = |options: &str| {
        place.write("job.fio", format!("[a]\nsize=1m\nrw=write\nbs=4k\n{options}\n").as_bytes());
        let done = place.run("run --device tiny --fio job.fio -q -o out --force");
        assert_eq!(done.code, 0, "{}", done.err);
        let (job, result) =
            (jobs(&place.json("out/fio.json"))[0].clone(), place.json("out/result.json"));
        (job, result["report"]["host"].clone())
    };
    let (job, host) = ran("sync=1");
    assert_eq!((&job["write"]["total_ios"], &job["sync"]["total_ios"]), (&256.into(), &0.into()));
    let parts = ["write", "flush"].map(|op| float(&host[op]["latency_ns"]["mean"]));
    near("mean", float(&job["write"]["lat_ns"]["mean"]), parts.iter().sum(), 1e-6);
}

#[test]
fn the_place_of_the_document_may_be_that_of_the_result_folder() {
    let place = Place::new();
    place.write("job.fio", b"[a]\nsize=1m\n");
    let line = "run --device tiny --fio job.fio -q -o out --fio-json";
    for more in ["./out/fio.json", "out/fio.json --force"] {
        let done = place.run(&format!("{line} {more}"));
        assert_eq!(done.code, 0, "{more}: {}", done.err);
        assert_eq!(place.json("out/fio.json")["jobs"][0]["jobname"], "a");
    }
    let done = place.run("run --device tiny --fio job.fio -q -o other --fio-json other/x.json");
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(place.read("other/x.json"), place.read("other/fio.json"));
}

#[test]
fn what_can_not_be_is_refused() {
    let place = Place::new();
    place.write("job.fio", b"[a]\nsize=1m\n");
    place.write("notes.txt", b"mine");
    let run = "run --device tiny --no-output";
    fails(&place, &format!("{run} --trace trace.csv --fio-json x.json"), &["--fio"]);
    fails(&place, &format!("{run} --fio job.fio --fio-json - --json"), &["--json", "remedy"]);
    let over = format!("{run} --fio job.fio --fio-json notes.txt --force");
    fails(&place, &over, &["notes.txt", "output of fio", "--fio-json"]);
    for nowhere in ["no-such/x.json", "notes.txt/x.json"] {
        let line = format!("{run} --fio job.fio --fio-json {nowhere}");
        let done = place.run(&line);
        // Nothing was played, and not even the progress bar was started.
        assert!(done.code == 2 && done.err.contains(nowhere), "{}", done.err);
        assert!(!done.err.contains("unfinished") && done.out.is_empty(), "{}", done.err);
    }
    fails(&place, &format!("{run} --fio job.fio --force"), &["--no-output", "--force"]);
}
