//! What `ftlab run` refuses or fails at, its messages, and that it leaves nothing half done behind.

use super::common::{Place, fails, trace};

const RUN: &str = "run --device tiny --trace trace.csv";

#[test]
fn mistakes_are_named_with_their_remedy() {
    let place = Place::new();
    place.write("empty.csv", b"");
    place.write("binary.csv", &(0..4096u32).map(|at| (at * 197 % 251) as u8).collect::<Vec<_>>());
    place.write("far.csv", b"129000000000000000,t,0,Write,99999999488,512,0\n");
    let broken = trace(400) + &trace(2).replace("Write,", "Wriet,");
    place.write("broken.csv", broken.as_bytes());
    std::fs::create_dir(place.path("folder")).unwrap();
    let on = |trace: &str| format!("run --device tiny --trace {trace} -o result");
    let with = |rest: &str| format!("{RUN} -o result {rest}");
    fails(&place, &on("missing.csv"), &["missing.csv", "No such file", "remedy"]);
    fails(&place, &on("folder"), &["folder: there is no trace in it", "remedy"]);
    fails(&place, &on("empty.csv"), &["empty.csv", "remedy"]);
    fails(&place, &on("binary.csv"), &["binary.csv", "remedy"]);
    fails(&place, &on("far.csv"), &["outside the device", "fold"]);
    fails(&place, &on("broken.csv"), &["line 402", "Wriet", "^"]);
    fails(&place, "run --device tinny --trace trace.csv", &["tinny", "tiny", "tlc-512g"]);
    fails(&place, "run --device no/such.toml --trace trace.csv", &["no/such.toml", "remedy"]);
    fails(&place, &with("--set ftl.gc.victim=gredy"), &["gredy", "greedy"]);
    fails(&place, &with("--set ftl.gc.victmi=greedy"), &["ftl.gc.victmi", "ftl.gc.victim"]);
    fails(&place, &with("--set nand.timing.erase=3"), &["unit", "3"]);
    fails(&place, &with("--set nonsense"), &["nonsense", "remedy"]);
    fails(&place, &with("--workload randread-4k"), &["--workload", "--trace"]);
    fails(&place, "run --device tiny", &["--trace", "--workload"]);
    fails(&place, "run --device tiny --workload randred-4k", &["did you mean randread-4k"]);
    fails(&place, "run --device tiny --workload no/such.toml", &["no/such.toml", "remedy"]);
    fails(&place, &with("--precondition nothing"), &["nothing", "built in"]);
    fails(&place, &with("--replay closed"), &["--queue-depth"]);
    fails(&place, &with("--replay asap --queue-depth 4000000000"), &["--queue-depth", "1048576"]);
    fails(&place, &with("--queue-depth 4 --speed 2"), &["--speed"]);
    fails(&place, &with("--speed fast"), &["fast", "factor"]);
    fails(&place, &with("--format msrr"), &["msrr", "did you mean"]);
    fails(&place, &with("--address scaled"), &["scaled", "compact"]);
    fails(&place, &with("--requests 0"), &["--requests"]);
    fails(&place, &with("--seed -1"), &["--seed", "can't be negative"]);
    fails(&place, &with("--seed 1.5"), &["--seed", "whole number"]);
    let msr = "this is a trace (format msr), not a";
    fails(
        &place,
        "run --device tiny --workload trace.csv",
        &[msr, "workload", "--trace trace.csv"],
    );
    fails(&place, "run --device trace.csv --workload fill", &[msr, "device", "--trace trace.csv"]);
    place.write("wrong.toml", "[[[\n".repeat(40).as_bytes());
    for line in ["--device wrong.toml --workload fill", "--device tiny --workload wrong.toml"] {
        fails(&place, &format!("run {line}"), &["wrong.toml:1:", "more syntax errors follow"]);
        assert_eq!(place.run(&format!("run {line}")).err.matches("error:").count(), 10);
    }
    fails(&place, "run --device tiny --workload randread-4k --address fold", &["--address"]);
    let generated = "run --device tiny --workload randread-4k";
    for flag in [
        "--format msr",
        "--time-unit us",
        "--address-unit sector",
        "--size-unit byte",
        "--invert-ops",
        "--blkparse-event issue",
        "--skip-malformed",
        "--accept-implausible",
        "--order-window 10",
        "--late clamp",
    ] {
        let name = flag.split(' ').next().unwrap();
        fails(&place, &format!("{generated} {flag}"), &[name, "is for reading traces", "remedy"]);
    }
    fails(&place, &format!("{generated} --format msr --late clamp"), &["--format, --late are"]);
    fails(&place, &format!("{generated} --speed 2"), &["--speed", "completions"]);
    fails(&place, "run --device tiny --trace - --address scale", &["standard input", "scale:SIZE"]);
    fails(&place, &with("--no-output"), &["--no-output", "--output"]);
}

/// Neither the result's folder nor the folder of all results is left.
#[test]
fn a_run_that_fails_leaves_no_empty_folders() {
    let place = Place::new();
    place.write("far.csv", b"129000000000000000,t,0,Write,99999999488,512,0\n");
    let far = "--trace far.csv";
    fails(&place, &format!("run --device tiny {far}"), &["outside the device"]);
    fails(&place, &format!("run --device tiny {far} -o a/b/c"), &["outside the device"]);
    let compare = format!("compare tiny --vary ftl.gc.start=2,3 --seeds 1 {far}");
    fails(&place, &compare, &["outside the device"]);
    std::fs::create_dir(place.path("mine")).unwrap();
    fails(&place, &format!("run --device tiny {far} -o mine/c"), &["outside the device"]);
    assert!(place.path("mine").is_dir(), "what was there before stays");
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_for_which_there_is_no_memory_is_refused() {
    let place = Place::new();
    let ftlab = env!("CARGO_BIN_EXE_ftlab");
    let rest = "run --device qlc-2t --workload randread-4k --requests 10 --no-output";
    let limited = format!("ulimit -v 1000000; exec {ftlab} {rest}");
    let output = std::process::Command::new("sh").args(["-c", &limited]).output().unwrap();
    let done = super::common::Done::from(output);
    assert_eq!(done.code, 2, "{}", done.err);
    for expected in
        ["not enough memory for the tables of qlc-2t", "GB", "remedy", "blocks_per_plane"]
    {
        assert!(done.err.contains(expected), "no {expected} in {}", done.err);
    }
    assert_eq!(place.entries(), ["trace.csv"]);
}

#[test]
fn a_truncated_archive_fails_and_leaves_no_result() {
    let place = Place::new();
    let done = place.run("trace convert trace.csv trace.csv.gz --to msr");
    assert_eq!(done.code, 0, "{}", done.err);
    let whole = place.read("trace.csv.gz");
    place.write("cut.csv.gz", &whole[..whole.len() / 2]);
    fails(&place, "run --device tiny --trace cut.csv.gz -o result", &["cut.csv.gz", "remedy"]);
}

#[test]
fn a_finished_result_is_replaced_only_by_force_and_anything_else_never() {
    let place = Place::new();
    assert_eq!(place.run(&format!("{RUN} -o result --quiet")).code, 0);
    let line = format!("{RUN} -o result --seed 2");
    fails(&place, &line, &["result", "--force"]);
    assert_eq!(place.json("result/result.json")["seed"], 1);
    assert_eq!(place.run(&format!("{line} --force --quiet")).code, 0);
    assert_eq!(place.json("result/result.json")["seed"], 2);
    assert_eq!(place.entries(), ["result", "trace.csv"], "nothing temporary is left");

    std::fs::create_dir(place.path("precious")).unwrap();
    place.write("precious/thesis.txt", b"years of work");
    fails(&place, &format!("{RUN} -o precious --force"), &["precious", "not a result"]);
    assert_eq!(place.read("precious/thesis.txt"), b"years of work");
    std::fs::create_dir(place.path("made")).unwrap();
    assert_eq!(place.run(&format!("{RUN} -o made --quiet")).code, 0, "an empty folder will do");
}

#[cfg(target_os = "linux")]
#[test]
fn what_killed_runs_left_is_mentioned() {
    let place = Place::new();
    // No process has an id this high.
    let (gone, alive) =
        (".ftlab-unfinished-4294967295-x", format!(".ftlab-unfinished-{}-x", std::process::id()));
    for folder in [gone, &alive] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    let done = place.run(&format!("{RUN} -o result"));
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains(gone) && !done.err.contains(&alive), "{}", done.err);
    assert_eq!(place.entries().len(), 4, "nothing is removed: {:?}", place.entries());
}

#[cfg(target_os = "linux")]
#[test]
fn a_place_that_cannot_be_written_is_found_before_the_run() {
    let place = Place::new();
    // Not even root can create a folder there.
    fails(&place, &format!("{RUN} -o /proc/ftlab/result"), &["/proc/ftlab", "remedy"]);
}

/// Failed allocations are reported and do not abort.
#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_is_told() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_ftlab");
    for (kib, line) in [
        (400_000, "run --device tlc-512g --workload randread-4k --requests 10 --no-output"),
        // The tables alone would fit.
        (1_200_000, "run --device tlc-512g --workload randread-4k --requests 10 --no-output"),
        (400_000, "device save --device tlc-512g -o a.ftlab"),
    ] {
        let limited = format!("ulimit -v {kib} && exec {program} {line}");
        let mut shell = std::process::Command::new("sh");
        let output = shell.args(["-c", &limited]).current_dir(place.path("")).output();
        let output = output.expect("there is a shell");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{kib}: {told}");
        assert!(
            told.contains("not enough memory for the tables") && told.contains("remedy"),
            "{told}"
        );
    }
}
