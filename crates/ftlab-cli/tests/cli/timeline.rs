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
        // A packet is field 1 with a length; the first one describes the track of requests.
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
    for when in ["5ms", "5..6", "slowest:erase:3"] {
        fails(&place, &format!("{RUN} -o new --timeline {when}"), &["slowest:read:10"]);
    }
    place.write("out/result.json", b"{}");
    fails(&place, "why out -q", &["has changed since this run"]);
    let compare = "compare tiny --vary scheduler.policy=fifo,read-first --workload randread-4k --requests 50 --seeds 1 -q -o both";
    assert_eq!(place.run(compare).code, 0);
    fails(&place, "why both/runs/1-fifo/seed-1", &["was not made by `ftlab run`", "remedy"]);
    fails(&place, "why both", &["no finished result"]);
}
