//! `ftlab run --timeline` and `ftlab why`: what a device did, and why a request took as long as it did.

use serde_json::Value;

use super::common::{Place, fails};

const RUN: &str =
    "run --device tiny --workload mixed-70-30-zipf --requests 3000 --precondition fill,age";

fn made(place: &Place, rest: &str) {
    let done = place.run(&format!("{RUN} -q {rest}"));
    assert_eq!(done.code, 0, "{rest}: {}", done.err);
}

fn sum(parts: &Value) -> u64 {
    parts.as_array().unwrap().iter().map(|part| part["ns"].as_u64().unwrap()).sum()
}

#[test]
fn a_time_line_does_not_change_the_result() {
    let place = Place::new();
    made(&place, "-o plain");
    for (name, when) in [("all", "0..10s"), ("some", "1ms..2ms"), ("slow", "slowest:read:5")] {
        made(&place, &format!("-o {name} --timeline {when}"));
        assert_eq!(place.read(&format!("{name}/result.json")), place.read("plain/result.json"));
        let trace = place.read(&format!("{name}/timeline.pftrace"));
        // A packet is field 1 with a length; the first ones describe the tracks.
        assert!(trace[0] == 0x0a && trace.windows(8).any(|text| text == b"Requests"), "{name}");
    }
    let length = |name: &str| place.read(&format!("{name}/timeline.pftrace")).len();
    assert!(length("some") < length("all") / 4 && length("slow") < length("all") / 4);
    made(&place, "-o again --timeline slowest:read:5");
    assert_eq!(place.read("again/timeline.pftrace"), place.read("slow/timeline.pftrace"));
}

#[test]
fn parts_sum_to_latencies() {
    let place = Place::new();
    made(&place, "-o out --records");
    let done = place.run("why out --slowest 3 --tail 1% --json -q");
    assert_eq!(done.code, 0, "{}", done.err);
    let answer: Value = serde_json::from_str(&done.out).unwrap();
    let requests = answer["requests"].as_array().unwrap();
    assert_eq!(requests.len(), 6, "three reads and three writes");
    for request in requests {
        assert_eq!(sum(&request["parts"]), request["latency_ns"].as_u64().unwrap(), "{request}");
    }
    let tails = answer["tails"].as_array().unwrap();
    assert_eq!(tails.len(), 2);
    for tail in tails {
        assert_eq!(sum(&tail["parts"]), tail["total_ns"].as_u64().unwrap(), "{tail}");
        let (measured, requests) = (tail["measured"].as_u64(), tail["requests"].as_u64());
        assert_eq!(requests.unwrap(), measured.unwrap() / 100);
    }
    let reads =
        place.json("out/result.json")["report"]["host"]["read"]["latency_ns"]["max"].as_u64();
    assert_eq!(requests[0]["latency_ns"].as_u64(), reads, "the slowest read");
    let index = requests[1]["index"].as_u64().unwrap();
    let one = place.run(&format!("why out --request {index} --json -q"));
    let one: Value = serde_json::from_str(&one.out).unwrap();
    assert_eq!(one["requests"][0], requests[1]);
    let text = place.run("why out -q").out;
    for told in ["The slowest", "took", "reads", "sensing"] {
        assert!(text.contains(told), "{text}");
    }
}

#[test]
fn what_cannot_be_told_is_refused() {
    let place = Place::new();
    made(&place, "-o out");
    fails(&place, "why nowhere", &["no finished result", "remedy"]);
    fails(
        &place,
        "why out --request 99999999 -q",
        &["no measured request has the index", "slowest"],
    );
    fails(&place, "why out --tail 0%", &["write a share"]);
    fails(&place, &format!("{RUN} --no-output --timeline 0..5ms"), &["--no-output"]);
    fails(&place, &format!("{RUN} -o new --timeline cut"), &["none comes", "--cut-power"]);
    for when in ["5ms", "5..6", "slowest:erase:3", "cut:"] {
        fails(&place, &format!("{RUN} -o new --timeline {when}"), &["slowest:read:10"]);
    }
    place.write("out/result.json", b"{}");
    fails(&place, "why out -q", &["has changed since this run"]);
    let compare = "compare tiny --vary scheduler.policy=fifo,read-first --workload randread-4k --requests 50 --seeds 1 -q -o both";
    assert_eq!(place.run(compare).code, 0);
    fails(&place, "why both/runs/1-fifo/seed-1", &["was not made by `ftlab run`", "remedy"]);
    fails(&place, "why both", &["no finished result"]);
}

#[test]
fn a_result_is_kept_when_there_is_no_time_line() {
    let place = Place::new();
    for (name, rest) in [("late", "--timeline 500s..501s"), ("none", "--timeline slowest:trim:3")] {
        let done = place.run(&format!("{RUN} -o {name} {rest}"));
        assert_eq!(done.code, 2, "{}", done.err);
        assert!(done.err.contains("there is no time line") && done.err.contains("--timeline"));
        assert!(place.path(&format!("{name}/result.json")).is_file(), "{name}");
        assert!(!place.path(&format!("{name}/timeline.pftrace")).exists(), "{name}");
    }
}

/// The names of slices, counters and marks in a trace, as its bytes have them.
fn has(trace: &[u8], text: &str) -> bool {
    trace.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn a_time_line_shows_power_cuts_levels_merges_and_failures() {
    let place = Place::new();
    made(&place, "--set ftl.recovery.policy=scan --cut-power 5ms --timeline cut:1ms -o cut");
    let cut = place.read("cut/timeline.pftrace");
    for text in ["a copy of the device loses power", "lost_pages", "Free blocks", "write buffer"] {
        assert!(has(&cut, text), "{text}");
    }
    let load = "run --workload randwrite-4k --requests 3000 -q";
    let merging = "--device tiny --set ftl.mapping.policy=fast --timeline 0..1s -o merging";
    let done = place.run(&format!("{load} {merging}"));
    assert_eq!(done.code, 0, "{}", done.err);
    let merging = place.read("merging/timeline.pftrace");
    assert!(has(&merging, "Merges") && has(&merging, "log block"));
    let failing =
        "--device tiny --set nand.faults.program_failures=30000000 --timeline 0..1s -o failing";
    let done = place.run(&format!("{load} {failing}"));
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(has(&place.read("failing/timeline.pftrace"), "program fails"));
}

#[test]
fn pages_have_the_time_line() {
    let place = Place::new();
    made(&place, "-o out --timeline slowest:read:3");
    assert_eq!(place.run("report out -o report.html -q").code, 0);
    let page = place.read("report.html");
    assert!(has(&page, "id=\"moments\"") && has(&page, "\"windows\":[["));
    let told = place.run("why out --page why.html --timeline why.pftrace -q");
    assert_eq!(told.code, 0, "{}", told.err);
    let page = place.read("why.html");
    for text in ["The slowest", "sensing", "\"windows\":[[", "\"about\":\"read "] {
        assert!(has(&page, text), "{text}");
    }
    assert!(has(&place.read("why.pftrace"), "Recorded"));
    fails(&place, "why out --page why.html -q", &["already exists", "--force", "--page"]);
    assert_eq!(place.run("why out --page why.html --timeline why.pftrace --force -q").code, 0);
    place.write("other.html", b"<p>mine</p>");
    fails(&place, "why out --page other.html --force -q", &["other.html"]);
    place.write("out/timeline.pftrace", b"no trace at all");
    fails(&place, "report out -o again.html -q", &["timeline.pftrace", "--timeline"]);
}
