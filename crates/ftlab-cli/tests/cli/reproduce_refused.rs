//! What `ftlab reproduce` refuses before it runs anything: claims that say nothing, files from
//! elsewhere, and mistakes that would otherwise show only after much work.

use std::fs;

use super::common::fails;
use super::common::{Place, entries};
use super::reproduce::{experiment, reads};

/// Claims that hold whatever is measured, or that say nothing, are refused.
#[test]
fn claims_that_can_not_fail_are_refused() {
    let place = Place::new();
    let change = "as = \"change\"\npaper = 0\ntolerance = \"1 point\"";
    let differs = |paper: &str, instead: &str| {
        reads(&format!("{paper}\ndiffers = {{ {instead}, reason = \"It is wrong.\" }}"))
    };
    let of_policies = |rest: &str| {
        reads(&format!("each = \"policy\"\ntolerance = \"5%\"\n{rest}"))
            .replace("policy = \"fifo\", ", "")
    };
    let (range, both) =
        ("the range excludes a number", "what is expected may be what the paper prints");
    for (claim, expected) in [
        (reads(&format!("against = {{ policy = \"fifo\" }}\n{change}")), "compared with itself"),
        (
            of_policies(
                "against = { policy = \"fifo\" }\nas = \"ratio\"\npaper = { fifo = 1, read-first = 2 }",
            ),
            "compared with itself",
        ),
        (reads("paper = 7\ntolerance = \"100%\""), "below 100%"),
        (reads("paper = 7\ntolerance = \"8 to 100000\""), range),
        (differs("paper = 7\ntolerance = \"5%\"", "expected = 70, tolerance = \"1 to 9\""), range),
        (differs("paper = 7\ntolerance = \"5%\"", "expected = \"> 0\""), both),
        (differs("paper = 7\ntolerance = \"90%\"", "expected = 9, tolerance = \"5%\""), both),
        (differs("paper = 7\ntolerance = \"5%\"", "expected = 9, tolerance = \"90%\""), both),
        (differs("paper = \"< 7\"", "expected = \"< 9\""), both),
        (differs("paper = 7", "expected = \"> 9\""), "the number in `paper` has no tolerance"),
        (of_policies("paper = {}"), "there is no number"),
        (
            of_policies(
                "paper = { fifo = 1 }\ndiffers = { expected = { fifo = 3, read-first = 4 }, tolerance = \"5%\", \
                 reason = \"r\" }",
            ),
            "it names a value for which `paper` has no number",
        ),
    ] {
        experiment(&place, "e", &claim);
        fails(&place, "reproduce e --seeds 1", &[expected, "e/experiment.toml:", "remedy"]);
    }
}

/// An experiment can be passed on as a folder, and it can't make us show files outside it.
#[test]
fn what_runs_are_made_of_lies_in_the_folder() {
    let place = Place::new();
    let secret = "secret = 'line'\n";
    for name in ["outside.toml", "outside.fio"] {
        place.write(name, secret.as_bytes());
    }
    let absolute = place.path("outside.toml");
    let absolute = absolute.to_str().unwrap();
    let all = [
        ("workload = \"own.toml\"", "workload = \"../outside.toml\""),
        ("workload = \"own.toml\"", &format!("workload = '{absolute}'")),
        ("workload = \"own.toml\"", "fio = \"x/../../outside.fio\""),
        ("device = \"tiny\"", "device = \"../outside.toml\""),
        ("precondition = \"fill\"", "precondition = \"fill,../outside.toml\""),
    ];
    for (from, to) in all {
        experiment(&place, "e", &reads("paper = \"> 0\""));
        let text = String::from_utf8(place.read("e/experiment.toml")).unwrap();
        assert!(text.contains(from), "{from}");
        place.write("e/experiment.toml", text.replace(from, to).as_bytes());
        fails(&place, "reproduce e", &["outside the experiment's folder", "experiment.toml:"]);
        assert!(!place.run("reproduce e").err.contains("secret"));
    }
    // A file of the same name elsewhere is not used, either.
    experiment(&place, "e", &reads("paper = \"> 0\""));
    let text = String::from_utf8(place.read("e/experiment.toml")).unwrap();
    let text = text.replace("workload = \"own.toml\"", "workload = \"outside.toml\"");
    place.write("e/experiment.toml", text.as_bytes());
    fails(&place, "reproduce e", &["e/outside.toml"]);
    // Traces may be elsewhere.
    let text = text.replace("workload = \"outside.toml\"", "trace = \"../trace.csv\"");
    place.write("e/experiment.toml", text.as_bytes());
    let done = place.run("reproduce e --seeds 1 --no-output");
    assert_ne!(done.code, 2, "{}", done.err);
}

#[test]
fn texts_hold_nothing_that_moves_a_terminals_cursor() {
    let place = Place::new();
    for (from, to) in [
        ("Reads go first", r"\u001b[2J"),
        ("Nobody: Nothing", r"\u0007"),
        ("\"/report/host/write", r#""\u009b31m/report"#),
        ("seeds = 3", "seeds = 3\n\"\\u001bx\" = 1"),
    ] {
        experiment(&place, "e", &reads("paper = \"> 0\""));
        let text = String::from_utf8(place.read("e/experiment.toml")).unwrap();
        assert!(text.contains(from), "{from}");
        place.write("e/experiment.toml", text.replacen(from, to, 1).as_bytes());
        fails(
            &place,
            "reproduce e",
            &["a control character, U+00", "e/experiment.toml:", "remedy"],
        );
        let err = place.run("reproduce e").err;
        assert!(!err.chars().any(|c| c.is_control() && c != '\n'), "{err:?}");
    }
}

#[test]
fn there_are_no_seeds_beyond_the_last() {
    let place = Place::new();
    experiment(&place, "e", &reads("paper = \"> 0\""));
    let last = "--seed 18446744073709551615";
    for line in [
        format!("reproduce e {last} --seeds 3"),
        format!(
            "compare tiny --vary ftl.gc.start=2,3 --workload randread-4k --requests 10 {last} --seeds 3"
        ),
    ] {
        fails(&place, &line, &["there are no 3 seeds from 18446744073709551615 on", "remedy"]);
    }
    assert_eq!(place.run(&format!("reproduce e {last} --seeds 1 --no-output")).code, 0);
}

/// Mistakes in a later experiment are reported before an earlier one runs.
#[test]
fn several_experiments_are_checked_before_the_first_is_run() {
    let place = Place::new();
    experiment(&place, "a", &reads("paper = \"> 0\""));
    experiment(&place, "b", &reads("paper = \"> 0\""));
    fs::create_dir_all(place.path("out/b")).unwrap();
    place.write("out/b/mine.txt", b"precious");
    fails(&place, "reproduce a b -o out", &["out/b"]);
    assert_eq!(entries(&place.path("out")), ["b"], "nothing of the first is left");
    let text = String::from_utf8(place.read("b/experiment.toml")).unwrap();
    place.write("b/experiment.toml", text.replace("read/latency_ns", "read/latncy").as_bytes());
    let done = place.run("reproduce a b -o other");
    assert_eq!((done.code, done.out.as_str()), (2, ""));
    assert!(done.err.contains("/report/host/read/latncy"), "{}", done.err);
    assert_eq!(place.entries(), ["a", "b", "out", "trace.csv"], "nor a folder around it");
}
