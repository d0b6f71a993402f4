//! Tenants with their own submission queues: their names and their figures, wherever queues are shown.

use std::fs::File;

use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Value, json};

use crate::common::Place;

/// Two tenants after a fill: one sends many small reads, the other large writes.
const LOAD: &[u8] = b"name = 'tenants'
[[phase]]
name = 'fill'
measure = false
writes = '100%'
size = '64KiB'
address = { kind = 'sequential' }
arrivals = { kind = 'closed', queue_depth = 4 }
bytes = '100%'
[[phase]]
name = 'shop'
reads = '100%'
size = '4KiB'
arrivals = { kind = 'closed', queue_depth = 2 }
requests = 2000
[[phase]]
name = 'backup'
with_previous = true
writes = '100%'
size = '64KiB'
arrivals = { kind = 'closed', queue_depth = 8 }
requests = 400
";

const QUEUES: &str = "--set host.queues=2 --set host.outstanding=4";

fn place() -> Place {
    let place = Place::new();
    place.write("tenants.toml", LOAD);
    place
}

#[test]
fn tenants_are_named_in_the_result_its_tables_and_its_columns() {
    let place = place();
    let line = format!("run --device tiny --workload tenants.toml {QUEUES} --records -o out");
    let done = place.run(&line);
    assert_eq!(done.code, 0, "{}", done.err);
    let row = |start: &str| {
        let found = done.out.lines().find(|line| line.starts_with(start));
        found.unwrap_or_else(|| panic!("no {start} in {}", done.out)).to_owned()
    };
    assert!(row("0 ").contains(" shop ") && row("1 ").contains(" backup "), "{}", done.out);
    let reads = &place.json("out/result.json")["report"]["host"]["queues"][0]["read"]["latency_ns"];
    for key in ["mean", "p50", "p90", "p99"] {
        let ns = reads[key].as_f64().expect("a latency");
        let time = match ns < 999.5e3 {
            true => format!(" {} us ", round(ns / 1e3)),
            false => format!(" {} ms ", round(ns / 1e6)),
        };
        assert!(row("shop, read").contains(&time), "{key}: {time} in {}", done.out);
    }
    assert!(row("backup, write").contains(" ms "), "{}", done.out);
    assert!(row("Fairness").contains("Jain's index"), "{}", done.out);
    let host = place.json("out/result.json")["report"]["host"].take();
    let tenants = |at: usize| host["queues"][at]["tenants"].clone();
    assert_eq!([tenants(0), tenants(1)], [json!(["shop"]), json!(["backup"])]);
    for file in ["queues.parquet", "requests.parquet"] {
        let reader = SerializedFileReader::new(File::open(place.path("out").join(file)).unwrap());
        let reader = reader.unwrap();
        let known = reader.metadata().file_metadata().key_value_metadata().expect("metadata");
        let of = |key: &str| known.iter().find(|pair| pair.key == key)?.value.clone();
        let names = ["queue.0", "queue.1", "queue.2"].map(of);
        assert_eq!(names, [Some("shop".to_owned()), Some("backup".to_owned()), None], "{file}");
    }
}

/// Tenants that share queues get no figures of their own, and a note says how to get them.
#[test]
fn tenants_who_share_a_queue_are_told() {
    let place = place();
    let run = |settings: &str| {
        let line = "run --device tiny --workload tenants.toml --requests 100 --no-output";
        let done = place.run(&format!("{line} {settings}"));
        assert_eq!(done.code, 0, "{}", done.err);
        done.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let told = "The tenants shop, backup share one submission queue";
    let shared = run("");
    assert!(shared.contains(told) && shared.contains("host.queues = 2"), "{shared}");
    assert!(!run("--set host.queues=2").contains(told));
    let alone =
        place.run("run --device tiny --workload randwrite-4k --requests 50 --no-output").out;
    assert!(!alone.contains("submission queue"), "{alone}");
}

/// Rounds to three significant digits.
fn round(value: f64) -> String {
    let decimals = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

#[test]
fn fio_jobs_name_their_queues() {
    let place = Place::new();
    let jobs = b"[global]\nbs=4k\nsize=1m\nnumber_ios=200\n[web]\nrw=randread\n[log]\nrw=write\nnumjobs=2\n";
    place.write("jobs.fio", jobs);
    let done = place.run("run --device tiny --fio jobs.fio --set host.queues=2 --no-output --json");
    assert_eq!(done.code, 0, "{}", done.err);
    let result: Value = serde_json::from_str(&done.out).expect("JSON");
    let tenants = |at: usize| result["report"]["host"]["queues"][at]["tenants"].clone();
    // The third stream uses the first queue again.
    let names = result["load"]["jobs"].clone();
    assert_eq!(tenants(0), json!([names[0], names[2]]), "{names}");
    assert_eq!(tenants(1), json!([names[1]]));
}

#[test]
fn comparisons_have_rows_by_tenant_and_fairness() {
    let place = place();
    let vary = "--vary host.arbitration.policy=round-robin,weighted-round-robin \
                --set host.arbitration.weights=[1,8]";
    let load = "--workload tenants.toml --seeds 2";
    let done = place.run(&format!("compare tiny {vary} {QUEUES} {load} -o out"));
    assert_eq!(done.code, 0, "{}", done.err);
    let document = place.json("out/compare.json");
    let metrics = document["metrics"].as_array().expect("metrics");
    let metric = |name: &str| {
        let found = metrics.iter().find(|metric| metric["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {}", done.out))
    };
    let page = String::from_utf8(place.read("out/report.html")).expect("UTF-8");
    for name in [
        "shop: IOPS",
        "shop: throughput, MB/s",
        "shop: read latency, mean",
        "shop: read latency, p50",
        "shop: read latency, p99",
        "shop: read latency, max",
        "backup: write latency, p50",
        "fairness, bytes",
        "fairness, requests",
        "fairness, least / most",
    ] {
        assert!(done.out.contains(name) && page.contains(name), "{name} in {}", done.out);
        let id = metric(name)["id"].as_str().expect("a place");
        let first = place.json("out/runs/1-round-robin/seed-1/result.json");
        let measured = first.pointer(&format!("/{id}")).and_then(Value::as_f64);
        assert!(measured.is_some(), "{id}");
        assert_eq!(metric(name)["variants"][0]["values"][0].as_f64(), measured, "{id}");
    }
    assert_eq!(metric("shop: read latency, p99")["id"], "report/host/queues/0/read/latency_ns/p99");
    assert!(!done.out.contains("shop: write latency"), "it writes nothing: {}", done.out);
    assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
    // The weight favours the backup: the shop's reads wait longer, and the table names the tenant.
    let change = |name: &str| metric(name)["variants"][1]["change"]["estimate"].as_f64().unwrap();
    assert!(change("shop: read latency, mean") > 0.0, "{}", done.out);
    let others = "--vary host.queues=1,2 --workload tenants.toml --seeds 1 --no-output";
    let differ = place.run(&format!("compare tiny {others}"));
    assert!(
        differ.out.contains("no rows by queue") && !differ.out.contains("shop:"),
        "{}",
        differ.out
    );
}

/// However long the ageing was, the page shows the measured part in hundreds of points.
#[test]
fn what_is_measured_is_drawn_in_windows_of_its_own() {
    let place = place();
    let line = "run --device tiny --precondition fill,age --workload tenants.toml -o out --quiet";
    assert_eq!(place.run(line).code, 0);
    assert_eq!(place.run("report out -o page.html --quiet").code, 0);
    let page = String::from_utf8(place.read("page.html")).expect("UTF-8");
    let data = page.split_once("id=\"data\">").expect("data").1;
    let data = data.split_once("</script>").expect("its end").0;
    let data: Value = serde_json::from_str(data).expect("JSON");
    let starts = data["time"][0]["s"].as_array().expect("starts of windows");
    let host = place.json("out/result.json")["report"]["host"].take();
    let measured_s = host["duration_ns"].as_f64().expect("a duration") / 1e9;
    // Windows of a millisecond are not divided further.
    assert!(measured_s > 1.1 && (512..=1024).contains(&starts.len()), "{}", starts.len());
    assert_eq!(starts[0], 0);
    assert!(starts.last().and_then(Value::as_f64).is_some_and(|last| last < measured_s));
}

/// A note that all variants share appears once.
#[test]
fn an_arbitration_that_does_nothing_is_told_once() {
    let place = place();
    let set = "--set host.queues=2 --set host.arbitration.policy=weighted-round-robin";
    let vary = "--vary ftl.gc.start=2,3";
    let done = place.run(&format!(
        "compare tiny {set} {vary} --workload tenants.toml --requests 50 --seeds 1 --no-output"
    ));
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.err.matches("there is nothing to choose").count(), 1, "{}", done.err);
}

/// Jobs whose names differ only at the end get distinct rows.
#[test]
fn jobs_with_long_names_are_told_apart() {
    let place = Place::new();
    let jobs = "[global]\nsize=4M\nbs=4k\nrw=randwrite\nnumber_ios=50\n[customer-database-primary-a]\n\
                [customer-database-primary-b]\n";
    place.write("jobs.fio", jobs.as_bytes());
    let done = place.run("run --device tiny --set host.queues=2 --fio jobs.fio --no-output");
    assert_eq!(done.code, 0, "{}", done.err);
    for label in ["customer-d…-primary-a", "customer-d…-primary-b"] {
        let rows = done.out.lines().filter(|line| line.contains(label)).count();
        assert_eq!(rows, 2, "{label}: {}", done.out);
    }
}

/// Two devices may have the same mistake, each in its own file.
#[test]
fn what_two_files_have_is_told_of_both() {
    let place = place();
    let text = "base = \"tiny\"\n[host]\nqueues = 2\narbitration = { policy = \"weighted-round-robin\" }\n";
    place.write("one.toml", text.as_bytes());
    place.write("two.toml", text.as_bytes());
    let done = place.run(
        "compare one.toml two.toml --workload tenants.toml --requests 50 --seeds 1 --no-output",
    );
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.err.matches("there is nothing to choose").count(), 2, "{}", done.err);
    for file in ["one.toml:4:", "two.toml:4:"] {
        assert_eq!(done.err.matches(file).count(), 1, "{file}: {}", done.err);
    }
}

#[test]
fn a_sweep_names_tenants() {
    let place = place();
    let file = format!(
        "name = 'queues'\ntitle = 'Queues'\nseeds = 1\n[run]\ndevice = 'tiny'\nworkload = 'tenants.toml'\nrequests = 200\n\
         set = [{}]\n[[axis]]\noption = 'ftl.gc.victim'\nvalues = ['greedy', 'fifo']\n",
        QUEUES
            .split_whitespace()
            .filter(|word| *word != "--set")
            .map(|set| format!("'{set}'"))
            .collect::<Vec<_>>()
            .join(", ")
    );
    place.write("queues.toml", file.as_bytes());
    let done = place.run("sweep queues.toml -o swept -q");
    assert_eq!(done.code, 0, "{}", done.err);
    let sweep = place.json("swept/sweep.json");
    let name = |key: &str| {
        let metrics = sweep["metrics"].as_array().unwrap();
        metrics.iter().find(|metric| metric["key"] == key).map(|metric| metric["name"].clone())
    };
    assert_eq!(name("queues.0.throughput"), Some(json!("shop: throughput, MB/s")));
    assert_eq!(name("queues.1.iops"), Some(json!("backup: IOPS")));
}
