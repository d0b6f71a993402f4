//! Full or closed standard output and standard error: no command panics, each ends with the right
//! exit code, and results are unaffected.

use std::fs::File;
use std::process::Stdio;

use super::common::{Done, Place, entries};
use super::reproduce;

/// Returns a stream on which every write fails for lack of space.
fn full() -> Stdio {
    File::options().write(true).open("/dev/full").expect("Linux has it").into()
}

/// Returns a stream whose reader is gone.
fn unread() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

fn run(place: &Place, line: &str, out: Stdio, err: Stdio) -> Done {
    let args: Vec<&str> = line.split_whitespace().collect();
    let child = place.command(&args).stdout(out).stderr(err).spawn().expect("it can be started");
    let done = Done::from(child.wait_with_output().expect("it ends"));
    assert!(!done.err.contains("panicked"), "{line}\n{}", done.err);
    done
}

#[test]
fn no_command_panics_for_want_of_somebody_who_listens() {
    let place = Place::new();
    // The exit code of each, and whether it prints to standard output.
    for (line, code, prints) in [
        ("--help", 0, true),
        ("--version", 0, true),
        ("nonsense", 2, false),
        ("list policies", 0, true),
        ("list devices --json", 0, true),
        ("explain ftl.gc.victim", 0, true),
        ("explain nothing", 2, false),
        ("config show tiny", 0, true),
        ("config show tiny --set ftl.gc.start=0", 2, false),
        ("config check tiny", 0, true),
        ("config check tiny --set ftl.gc.start=0", 2, true),
        ("trace inspect trace.csv", 0, true),
        ("trace inspect gone.csv", 2, false),
        ("trace convert trace.csv t.parquet --force", 0, false),
        ("reproduce list", 0, true),
        ("reproduce", 2, true),
        ("torture --cuts 5 --seed 1", 0, true),
        ("run --device tiny --trace trace.csv --no-output", 0, true),
        ("run --device tiny --trace trace.csv --no-output --json", 0, true),
        ("run --device tiny --trace gone.csv --no-output", 2, false),
        ("report gone", 2, false),
    ] {
        let unsaid = if prints && code == 0 { 2 } else { code };
        let done = run(&place, line, full(), Stdio::piped());
        assert_eq!(done.code, unsaid, "{line} > /dev/full\n{}", done.err);
        let told = done.err.contains("can't write to standard output");
        assert_eq!(told, prints, "{line} > /dev/full\n{}", done.err);
        assert_eq!(run(&place, line, Stdio::piped(), full()).code, code, "{line} 2> /dev/full");
        assert_eq!(run(&place, line, full(), full()).code, unsaid, "{line} > /dev/full 2>&1");
        assert_eq!(run(&place, line, unread(), Stdio::piped()).code, code, "{line} | true");
        assert_eq!(
            run(&place, line, Stdio::piped(), unread()).code,
            code,
            "{line} 2>&1 >&3 | true"
        );
        assert_eq!(run(&place, line, unread(), unread()).code, code, "{line} 2>&1 | true");
    }
}

/// Returns all files except those that contain the command, which differ.
fn contents(place: &Place, folder: &str) -> Vec<(String, Vec<u8>)> {
    let names = entries(&place.path(folder))
        .into_iter()
        .filter(|name| name != "run.json" && name != "report.html");
    let names = names.filter(|name| place.path(folder).join(name).is_file());
    names.map(|name| (name.clone(), place.read(&format!("{folder}/{name}")))).collect()
}

#[test]
fn results_are_whole_though_nobody_listens() {
    let place = Place::new();
    reproduce::experiment(&place, "e", &reproduce::reads("paper = \"> 0\""));
    for (number, line) in [
        "run --device tiny --trace trace.csv",
        "compare tiny --vary ftl.gc.stop=4,5 --workload randwrite-4k --requests 200 --seeds 2",
        "reproduce e --seeds 2",
    ]
    .into_iter()
    .enumerate()
    {
        let result = |name: &str| format!("{name}-{number}");
        let to = |name: &str| format!("{line} -o {}", result(name));
        assert_eq!(place.run(&to("whole")).code, 0);
        let whole = contents(&place, &result("whole"));
        assert!(!whole.is_empty());
        assert_eq!(run(&place, &to("full"), full(), full()).code, 2, "{line}");
        assert_eq!(run(&place, &to("unread"), unread(), unread()).code, 0, "{line}");
        for name in ["full", "unread"] {
            assert!(contents(&place, &result(name)) == whole, "{line}: {name}");
            let files = |folder: &str| entries(&place.path(folder));
            assert_eq!(files(&result(name)), files(&result("whole")), "{line}: {name}");
        }
    }
    let save = "device save --device tiny --precondition fill -o";
    assert_eq!(place.run(&format!("{save} whole.ftlab")).code, 0);
    assert_eq!(run(&place, &format!("{save} full.ftlab"), full(), full()).code, 2);
    assert!(place.read("full.ftlab") == place.read("whole.ftlab"));
}

/// Interrupted and failed commands keep their exit codes.
#[test]
fn a_failure_keeps_its_code_when_it_can_not_be_told() {
    let place = Place::new();
    reproduce::experiment(&place, "e", &reproduce::reads("paper = 1\ntolerance = \"1%\""));
    let line = "reproduce e --seeds 1 --no-output";
    assert_eq!(place.run(line).code, 1, "a number is out of tolerance");
    for (out, err) in [(full(), full()), (unread(), Stdio::piped()), (full(), Stdio::piped())] {
        assert_eq!(run(&place, line, out, err).code, 1);
    }
}
