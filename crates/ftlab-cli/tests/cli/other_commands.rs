//! `ftlab trace`, `list`, `explain` and `config`.

use super::common::{Done, Place, fails, trace};
use serde_json::Value;

#[test]
fn inspecting_prints_a_page_or_json_with_the_promised_keys() {
    let place = Place::new();
    let page = place.run("trace inspect trace.csv");
    assert_eq!(page.code, 0, "{}", page.err);
    for expected in ["msr", "2,000", "Assumed", "4KiB"] {
        assert!(page.out.contains(expected), "{expected} is missing in\n{}", page.out);
    }
    let done = place.run("trace inspect --json trace.csv");
    let found: Value = serde_json::from_str(&done.out).expect("JSON");
    assert_eq!(found["format"], "msr");
    assert_eq!(found["requests"], 2_000);
    assert_eq!(found["reads"], 667);
    assert_eq!(found["writes"], 1_333);
    assert_eq!(found["read_bytes"], 667 * 4096);
    assert_eq!(found["write_bytes"], 1_333 * 4096);
    assert_eq!(found["span_bytes"], 2_000 * 4096);
    assert_eq!(found["touched_pages_4k"], 2_000);
    assert_eq!(found["duration_ns"], 1_999_000_000u64);
    assert_eq!(found["out_of_order"], 0);
    assert_eq!(found["unaligned_4k"], 0);
    assert_eq!(found["warnings"], Value::Array(Vec::new()));
}

#[test]
fn accesses_of_pages_are_told_when_asked_for() {
    let place = Place::new();
    let page = place.run("trace inspect --accesses trace.csv");
    assert_eq!(page.code, 0, "{}", page.err);
    for expected in ["pages only read", "interleaved", "100.0 % of pages not written before"] {
        assert!(page.out.contains(expected), "{expected} is missing in\n{}", page.out);
    }
    let done = place.run("trace inspect --accesses --json trace.csv");
    let found: Value = serde_json::from_str(&done.out).expect("JSON");
    let counts = |only_read, only_written| -> Value {
        serde_json::json!({"only_read": only_read, "only_written": only_written, "interleaved": 0})
    };
    assert_eq!(found["accesses"]["pages"], counts(667, 1_333));
    assert_eq!(found["accesses"]["only_read_reads_ratio"], 1.0);
    assert_eq!(found["accesses"]["identification"]["first_accesses"], 2_000);
    // What is played has the same figures if its pages are placed as in the trace.
    let run = "run --device tiny --trace trace.csv --no-output --json --accesses";
    let done = place.run(run);
    let played: Value = serde_json::from_str(&done.out).expect("JSON");
    assert_eq!(played["accesses"], found["accesses"]);
    let plain = place.run(&run.replace(" --accesses", ""));
    let plain: Value = serde_json::from_str(&plain.out).expect("JSON");
    assert_eq!((plain.get("accesses"), &plain["report"]), (None, &played["report"]));
}

#[test]
fn converting_keeps_the_records() {
    let place = Place::new();
    for (target, rest) in [("t.parquet", ""), ("t.csv.zst", "--to alibaba"), ("t.csv", "--to msr")]
    {
        let done = place.run(&format!("trace convert trace.csv {target} {rest}"));
        assert_eq!(done.code, 0, "{}", done.err);
        let again = place.run(&format!("trace convert trace.csv {target} {rest}"));
        assert_eq!(again.code, 2);
        assert!(again.err.contains("--force"), "{}", again.err);
    }
    let digest = |file: &str| -> String {
        let done = place.run(&format!("trace inspect --json {file}"));
        serde_json::from_str::<Value>(&done.out).unwrap()["digest"].to_string()
    };
    assert_eq!(digest("t.parquet"), digest("trace.csv"));
    assert_eq!(digest("t.csv.zst"), digest("trace.csv"));
    let done = place.run("trace convert trace.csv t.txt");
    assert_eq!(done.code, 2);
    assert!(done.err.contains("--to") && done.err.contains("mqsim"), "{}", done.err);
    assert!(!done.err.contains("xperf"), "only what is written: {}", done.err);
}

#[test]
fn converting_says_what_it_does_not_keep() {
    let place = Place::new();
    let done = place.run("trace convert trace.csv t.spc --to spc");
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.err.contains("not kept: host names; response times; when it began"),
        "{}",
        done.err
    );
    let read =
        "trace.csv was read so: format: msr, because the first lines fit it; times count 100 ns";
    assert!(done.err.contains(read), "{}", done.err);
    let done = place.run("trace compare trace.csv t.spc");
    assert!(done.err.contains(read) && done.err.contains("t.spc was read so: "), "{}", done.err);
    place.write("untimed.csv", b"R,0,4096\nW,8192,4096\n");
    let plan = "--columns op=1,offset=2,size=3";
    let done = place.run(&format!("trace convert untimed.csv u.txt --to msr {plan}"));
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("no times: those written are all 0"), "{}", done.err);
}

#[test]
fn converting_never_writes_over_what_it_reads() {
    let place = Place::new();
    std::fs::create_dir(place.path("days")).unwrap();
    place.write("days/one.csv", trace(10).as_bytes());
    #[cfg(unix)]
    std::os::unix::fs::symlink("trace.csv", place.path("link.csv")).unwrap();
    let before = (place.read("trace.csv"), place.read("days/one.csv"));
    let lost = "is the trace that is read";
    for (line, said) in [
        ("trace.csv trace.csv", lost),
        ("trace.csv ./days/../trace.csv", lost),
        ("trace.csv,days/one.csv days/one.csv", lost),
        #[cfg(unix)]
        ("link.csv trace.csv", lost),
        ("days days/one.csv", "lies in the folder that is read"),
        ("days days/new.csv", "lies in the folder that is read"),
    ] {
        let done = place.run(&format!("trace convert {line} --to msr --force"));
        assert_eq!(done.code, 2, "{line}: {}", done.err);
        assert!(done.err.contains(said) && done.err.contains("remedy"), "{line}: {}", done.err);
    }
    assert_eq!((place.read("trace.csv"), place.read("days/one.csv")), before);
}

#[test]
fn a_name_and_a_format_that_contradict_each_other_are_refused() {
    let place = Place::new();
    for (line, said) in [
        ("t.parquet --to msr", "says parquet, but --to says msr"),
        ("t.Parquet.gz --to msr", "says parquet, but --to says msr"),
        ("t.csv --to parquet", "says text, but --to says parquet"),
    ] {
        let done = place.run(&format!("trace convert trace.csv {line}"));
        assert_eq!(done.code, 2, "{line}: {}", done.err);
        assert!(done.err.contains(said), "{line}: {}", done.err);
    }
    assert_eq!(place.run("trace convert trace.csv t.PARQUET").code, 0);
}

#[cfg(unix)]
#[test]
fn converting_replaces_regular_files_only() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    symlink("/dev/null", place.path("link")).unwrap();
    std::fs::create_dir(place.path("folder")).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    let before = place.entries();
    for target in ["link", "folder", "socket"] {
        let done = place.run(&format!("trace convert trace.csv {target} --to msr --force"));
        assert_eq!(done.code, 2, "{target}: {}", done.err);
        assert!(done.err.contains("not a regular file"), "{target}: {}", done.err);
    }
    let done = place.run("trace convert trace.csv - --to msr");
    assert_eq!(done.code, 2);
    assert!(done.err.contains("standard output") && done.err.contains("name a file"));
    assert_eq!(place.entries(), before);
    drop(socket);
}

#[test]
fn fitting_and_converting_replace_files_of_their_kind_only() {
    let place = Place::new();
    place.write("thesis.txt", b"years of work");
    for line in ["trace fit trace.csv -o thesis.txt", "trace convert trace.csv thesis.txt --to msr"]
    {
        let done = place.run(&format!("{line} --force"));
        assert_eq!(done.code, 2, "{line}: {}", done.err);
        assert!(done.err.contains("thesis.txt exists and is no"), "{}", done.err);
    }
    assert_eq!(place.read("thesis.txt"), b"years of work");
    let done = place.run("trace fit trace.csv -o w.toml");
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("w.toml: a workload fitted to 2,000 requests"), "{}", done.err);
    assert_eq!(place.run("trace fit trace.csv -o w.toml").code, 2);
    assert_eq!(place.run("trace fit trace.csv -o w.toml --force").code, 0);
    assert_eq!(place.entries(), ["thesis.txt", "trace.csv", "w.toml"]);
}

#[test]
fn malformed_lines_are_refused_or_counted() {
    let place = Place::new();
    place.write("bad.csv", (trace(100) + "1,2,3\n").as_bytes());
    let refused = place.run("trace inspect bad.csv");
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("line 101") && refused.err.contains("--skip-malformed"));
    let counted = place.run("trace inspect --json --skip-malformed bad.csv");
    let found: Value = serde_json::from_str(&counted.out).unwrap();
    assert_eq!((&found["requests"], &found["skipped_lines"]), (&100.into(), &1.into()));
}

#[test]
fn everything_listed_can_be_named() {
    let place = Place::new();
    let list = |what: &str| {
        let done = place.run(&format!("list {what}"));
        assert_eq!(done.code, 0, "{}", done.err);
        assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
        let first =
            |line: &str| line.split(' ').next().map(str::to_owned).filter(|w| !w.is_empty());
        done.out.lines().filter_map(first).collect::<Vec<_>>()
    };
    for device in list("devices") {
        assert_eq!(place.run(&format!("config check {device}")).code, 0, "{device}");
    }
    assert!(list("formats").iter().any(|format| format == "systor"));
    assert!(list("workloads").iter().any(|workload| workload == "fill"));
    let options = list("options");
    assert!(options.len() > 20);
    for option in options {
        let done = place.run(&format!("explain {option}"));
        assert!(done.code == 0 && done.out.starts_with(&option), "{option}: {}", done.err);
    }
    assert!(place.run("list policies").out.contains("ftl.gc.victim"));
}

#[test]
fn lists_are_there_for_programs_too() {
    let place = Place::new();
    let list = |what: &str| -> Vec<Value> {
        let done = place.run(&format!("list {what} --json"));
        assert_eq!(done.code, 0, "{}", done.err);
        serde_json::from_str(&done.out).expect("a list in JSON")
    };
    let find = |what: &str, key: &str, name: &str| {
        let found = list(what).into_iter().find(|one| one[key] == name);
        found.unwrap_or_else(|| panic!("{name} is not among the {what}"))
    };
    assert_eq!(find("devices", "name", "tiny")["capacity_bytes"], 6_144 * 4_096);
    let start = find("options", "path", "ftl.gc.start");
    assert_eq!((&start["default"], &start["unit"]), (&"2".into(), &"blocks".into()));
    let switch = find("options", "path", "nand.multi_plane.read");
    assert_eq!(
        (&switch["kind"], &switch["choices"][0]["name"]),
        (&"on or off".into(), &"on".into())
    );
    assert_eq!(switch["only_with"], "nand.planes_per_die other than 1");
    let policies = find("policies", "option", "scheduler.policy")["policies"].clone();
    assert!(policies.as_array().unwrap().iter().any(|policy| policy["name"] == "read-first"));
    assert!(find("formats", "name", "msr")["columns"].as_str().unwrap().contains("offset"));
    assert!(!find("workloads", "name", "randread-4k")["doc"].as_str().unwrap().is_empty());
}

/// Booleans of other tools are `on` and `off` here.
#[test]
fn switches_and_counts_say_what_they_take() {
    let place = Place::new();
    let wrong = place.run("config check tiny --set nand.cache_ops.read=true --set nand.cell=3");
    for expected in
        ["expected on or off, found a boolean", "write \"on\" or \"off\"", "slc, mlc, tlc or qlc"]
    {
        assert!(wrong.out.contains(expected), "no {expected} in {}", wrong.out);
    }
    let switch = place.run("explain nand.cache_ops.read").out;
    assert!(switch.contains("on or off, written like \"off\""), "{switch}");
    let count = place.run("explain scheduler.suspend_limit").out;
    assert!(count.contains("4 times") && count.contains("1 to 1000 times"), "{count}");
    let slc = place.run("config check tiny --set nand.slc_mode.read=30us").out;
    assert!(slc.contains("does nothing") && slc.contains("ftl.slc_cache.policy"), "{slc}");
}

/// Columns stay aligned when a line wraps.
#[test]
fn what_is_explained_is_narrow_and_aligned() {
    let place = Place::new();
    let shown = place.run("explain ftl.wear.policy").out;
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    let column = |text: &str| shown.lines().find_map(|line| line.find(text)).expect(text);
    assert_eq!(column("static data stays in its"), column("the least worn block"));
    assert_eq!(column("static data stays in its"), column("Chang, Hsieh and Kuo"), "{shown}");
}

#[test]
fn a_conversion_that_fails_leaves_the_old_file() {
    let place = Place::new();
    assert_eq!(place.run("trace convert trace.csv t.csv --to msr").code, 0);
    let before = place.read("t.csv");
    place.write("bad.csv", (trace(100) + "1,2,3\n").as_bytes());
    let failed = place.run("trace convert bad.csv t.csv --to msr --force");
    assert_eq!(failed.code, 2, "{}", failed.err);
    assert_eq!(place.read("t.csv"), before);
    assert_eq!(place.entries(), ["bad.csv", "t.csv", "trace.csv"]);
}

#[test]
fn explaining_names_policies_and_what_was_meant() {
    let place = Place::new();
    let done = place.run("explain ftl.gc.victim");
    assert!(done.out.contains("greedy") && done.out.contains("default"), "{}", done.out);
    let unknown = place.run("explain ftl.gc.victims");
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("did you mean ftl.gc.victim?"), "{}", unknown.err);
    let policy = place.run("explain prlru");
    for part in
        ["cache.policy = \"prlru\"", "packs partial pages", "cache.search_region", "cache.capacity"]
    {
        assert!(policy.out.contains(part), "no {part} in {}", policy.out);
    }
    let several = place.run("explain fifo").out;
    for seam in ["scheduler.policy = ", "cache.policy = ", "ftl.gc.victim = "] {
        assert!(several.contains(&format!("{seam}\"fifo\"")), "{several}");
    }
    assert!(place.run("explain greedy").out.contains("It has no options."));
    let near = place.run("explain prlu").err;
    assert!(near.contains("did you mean the policy prlru?"), "{near}");
}

#[test]
fn a_check_reports_all_problems_at_once_with_line_and_caret() {
    let place = Place::new();
    place.write(
        "device.toml",
        b"base = \"tiny\"\n[ftl.gc]\nvictim = \"gredy\"\nstart = 1000000\n[nand.bus]\nrate = 400\n",
    );
    let done = place.run("config check device.toml");
    assert_eq!(done.code, 2, "{}{}", done.out, done.err);
    for expected in
        ["device.toml:3:", "device.toml:4:", "device.toml:6:", "^^^", "remedy", "3 problems"]
    {
        assert!(done.out.contains(expected), "{expected} is missing in\n{}", done.out);
    }
    let missing = place.run("config check missing.toml");
    assert_eq!((missing.code, missing.out.is_empty()), (2, true));
    let good = place.run("config check tiny --set ftl.gc.victim=greedy");
    assert_eq!((good.code, good.out.trim()), (0, "tiny: in order"));
}

#[test]
fn a_shown_configuration_can_be_read_back() {
    let place = Place::new();
    let shown = place.run("config show tlc-512g --set ftl.gc.stop=5");
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(shown.out.contains("--set 1"), "{}", shown.out);
    place.write("shown.toml", shown.out.as_bytes());
    let again = place.run("config show shown.toml");
    let values = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split("  # ").next().unwrap().trim_end().to_owned()).collect()
    };
    assert_eq!(values(&shown.out), values(&again.out));
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::Stdio;
    let place = Place::new();
    for args in
        [&["trace", "inspect", "trace.csv"][..], &["list", "options"], &["config", "show", "tiny"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = place.command(args);
        let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        drop(command);
        let output = child.wait_with_output().unwrap();
        let done = Done::from(output);
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{args:?}");
    }
}

#[test]
fn shells_complete_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = place.run(&format!("completions {shell}"));
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{shell}");
        for name in ["reproduce", "precondition", "torture"] {
            assert!(done.out.contains(name), "{shell} does not complete {name}");
        }
    }
    fails(&place, "completions tcsh", &["bash, elvish, fish, powershell, zsh"]);
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    let page = place.run("man");
    assert!(
        page.out.contains(".TH ftlab 1") && page.out.contains("ftlab\\-run(1)"),
        "{}",
        page.out
    );
    for (name, option) in [("run", "\\-\\-trace"), ("device save", "\\-\\-precondition")] {
        let page = place.run(&format!("man {name}"));
        assert!(page.out.contains(option), "{name}: {}", page.out);
    }
    fails(&place, "man device sav", &["ftlab device has no command sav", "save, show, load"]);
    fails(&place, "man run fast", &["ftlab run has no command fast", "remedy: ftlab man run"]);
}
