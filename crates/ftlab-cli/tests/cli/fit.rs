//! `ftlab trace fit --device`: how good the fitted workload is, by what a device does under both.

use serde_json::Value;

use super::common::{Place, fails};

/// Returns an MSR trace of independent requests with exponential gaps: 4 KiB, 70 % writes, all of 1,500 pages alike.
fn independent(requests: u64) -> String {
    let mut random = ftlab::engine::Stream::new(7, "a trace");
    let mut time = 129_000_000_000_000_000;
    (0..requests)
        .map(|_| {
            let op = if random.below(10) < 7 { "Write" } else { "Read" };
            let page = random.below(1_500);
            // 1 ms on average, in steps of 100 ns.
            let share = (random.below(1 << 20) + 1) as f64 / f64::from(1 << 20);
            time += (-share.ln() * 10_000.0) as u64;
            format!("{time},test,0,{op},{},4096,0\n", page * 4096)
        })
        .collect()
}

/// Returns a metric of the trace and of the workload.
fn both(comparison: &Value, id: &str) -> [f64; 2] {
    let metrics = comparison["metrics"].as_array().expect("a list");
    let found = metrics.iter().find(|metric| metric["id"] == id);
    let found = found.unwrap_or_else(|| panic!("no {id} in {metrics:#?}"));
    [0, 1].map(|at| found["variants"][at]["mean"].as_f64().expect("a number"))
}

fn fitted(place: &Place, line: &str) -> Value {
    let done = place.run(line);
    assert_eq!(done.code, 0, "{line}: {}", done.err);
    serde_json::from_str(&done.out).expect("JSON")
}

#[test]
fn a_load_without_memory_is_fitted_closely() {
    let place = Place::new();
    place.write("plain.csv", independent(6_000).as_bytes());
    let found =
        fitted(&place, "trace fit plain.csv -o like.toml --device tiny --precondition fill --json");
    for (id, at_most) in [
        ("report/write_amplification/total_ratio", 0.15),
        ("report/host/iops", 0.02),
        ("report/host/read/latency_ns/mean", 0.15),
        ("report/host/write/latency_ns/mean", 0.15),
    ] {
        let [trace, workload] = both(&found, id);
        let off = (workload / trace - 1.0).abs();
        assert!(off <= at_most, "{id}: {trace} and {workload}");
    }
    let figures = found["character"]["figures"].as_array().expect("a list");
    let alike =
        figures.iter().filter(|of| of["ratio"].as_f64().is_some_and(|it| (0.9..1.1).contains(&it)));
    assert!(alike.count() * 2 > figures.len(), "{figures:#?}");
    let names: Vec<&Value> =
        found["variants"].as_array().expect("a list").iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["trace", "fitted"]);
}

#[test]
fn what_a_fit_loses_is_shown() {
    let place = Place::new();
    // The pages in a fixed order, over and over: a fit keeps how popular they are, but not the order.
    let line = |at: u64| {
        let time = 129_000_000_000_000_000 + at * 10_000;
        format!("{time},test,0,Write,{},4096,0\n", at % 1_500 * 4096)
    };
    place.write("loop.csv", (0..6_000).map(line).collect::<String>().as_bytes());
    let line = "trace fit loop.csv -o like.toml --page like.html --device tiny --precondition fill,age --force";
    let found = fitted(&place, &format!("{line} --json"));
    let [trace, workload] = both(&found, "report/write_amplification/total_ratio");
    assert!(workload > 1.1 * trace, "{trace} and {workload}");
    let told = place.run(line);
    let page = String::from_utf8(place.read("like.html")).expect("text");
    assert!(page.contains("\"loads\":[\"A: trace\",\"B: fitted\"]"));
    assert_eq!(told.code, 0, "{}", told.err);
    assert!(told.out.contains("fitted against trace"), "{}", told.out);
    // The order is lost, which shows most in how soon pages are used again; and a fit says what it never keeps.
    let told = told.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("furthest off is ") && told.contains(" in the fitted workload ("),
        "{told}"
    );
    assert!(told.contains("It never keeps") && told.contains("the order in which"), "{told}");
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let place = Place::new();
    fails(&place, "trace fit trace.csv -o like.toml --json", &["--device"]);
    fails(&place, "trace fit trace.csv -o like.toml --device nothing", &["nothing"]);
    fails(&place, "trace fit - -o like.toml --device tiny", &["read only once", "remedy"]);
}

#[test]
fn a_trace_that_the_device_refuses_leaves_no_workload() {
    let place = Place::new();
    let line =
        |at: u64| format!("{},test,0,Write,{},4096,0\n", 129_000_000_000_000_000 + at, at << 40);
    place.write("far.csv", (0..40).map(line).collect::<String>().as_bytes());
    fails(
        &place,
        "trace fit far.csv -o like.toml --page like.html --device tiny",
        &["choose a larger device"],
    );
    assert!(!place.path("like.toml").exists() && !place.path("like.html").exists());
    assert_eq!(place.run("trace fit far.csv -o like.toml").code, 0);
}
