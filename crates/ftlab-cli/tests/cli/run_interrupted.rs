//! Interrupted `ftlab run`: measured results are kept and marked; a run that measured nothing
//! leaves nothing.

use super::common::{ENDLESS, Place, interrupted, signalled, trace};

const RUN: &str = "run --device tiny --trace trace.csv";

#[test]
fn an_interrupted_run_says_what_was_measured_and_is_marked() {
    let place = Place::new();
    place.write("w.toml", ENDLESS);
    let line = "run --device tiny --workload w.toml -o result";
    let done = interrupted(&place, line, std::process::Stdio::null());
    assert_eq!(done.code, 130, "{}", done.err);
    assert!(done.out.contains("interrupted"), "{}", done.out);
    assert_eq!(place.entries(), ["result.partial", "trace.csv", "w.toml"]);
    let result = place.json("result.partial/result.json");
    assert_eq!(result["complete"], false);
    assert_eq!(result["replay"]["ended"], "stopped");
    assert!(result["report"]["host"]["requests"].as_u64().unwrap() > 0);
}

#[test]
fn two_signals_at_once_count_as_one() {
    let place = Place::new();
    place.write("w.toml", ENDLESS);
    let line = "run --device tiny --workload w.toml -o result";
    let script = "kill -INT $0; sleep 0.05; kill -INT $0 || true";
    let done = signalled(&place, line, std::process::Stdio::null(), script);
    assert_eq!(done.code, 130, "{}", done.err);
    assert_eq!(place.entries(), ["result.partial", "trace.csv", "w.toml"]);
}

#[test]
fn an_interrupted_precondition_leaves_nothing() {
    let place = Place::new();
    place.write("w.toml", ENDLESS);
    let line = format!("{RUN} --precondition w.toml -o result");
    let done = interrupted(&place, &line, std::process::Stdio::null());
    assert_eq!(done.code, 130, "{}", done.err);
    assert!(done.err.contains("nothing was measured"), "{}", done.err);
    assert_eq!(place.entries(), ["trace.csv", "w.toml"]);
}

#[test]
fn a_run_that_waits_for_its_input_can_be_interrupted() {
    use std::io::Write;
    let place = Place::new();
    let (reader, mut writer) = std::io::pipe().unwrap();
    // More than the reader reads ahead before the run starts; then neither more data nor an end
    // follows.
    let feeder = std::thread::spawn(move || {
        writer.write_all(trace(20_000).as_bytes()).unwrap();
        writer
    });
    let done = interrupted(&place, "run --device tiny --trace - -o result", reader.into());
    drop(feeder.join().unwrap());
    assert_eq!(done.code, 130, "{}", done.err);
}
