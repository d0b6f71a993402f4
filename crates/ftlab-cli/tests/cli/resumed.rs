//! Commands that are killed at any moment and started again: finished work is not repeated,
//! unfinished work never counts as finished, and the result equals that of an undisturbed command.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::common::{Place, fails, trace};
use super::reproduce;

const COMPARE: &str =
    "compare tiny --vary scheduler.policy=fifo,read-first --workload w.toml --seeds 3";
/// A few tenths of a second for each run.
const WORK: &[u8] = b"name = 'w'\n[[phase]]\nreads = '50%'\nwrites = '50%'\nsize = '4KiB'\n\
    arrivals = { kind = 'closed', queue_depth = 4 }\nrequests = 60000\n";

/// Returns a folder's files by name, except those that differ from run to run.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    collect(folder, "", &mut all);
    assert!(!all.is_empty(), "{folder:?} holds nothing");
    all
}

fn collect(folder: &Path, within: &str, all: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let name = format!("{within}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), all);
        } else if !name.ends_with("run.json") && !name.ends_with("report.html") {
            // The page names the command.
            all.insert(name, fs::read(entry.path()).expect("readable"));
        }
    }
}

/// Starts a command and kills it after a while. Returns whether it had already ended.
#[cfg(unix)]
fn killed(place: &Place, line: &str, after: Duration) -> bool {
    use std::process::Stdio;
    let args: Vec<&str> = line.split_whitespace().collect();
    let mut command = place.command(&args);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    std::thread::sleep(after);
    child.kill().expect("SIGKILL");
    child.wait().expect("it ended").success()
}

/// Returns the number of runs that a command says it reuses.
fn taken_up(told: &str) -> usize {
    let line = told.lines().find(|line| line.contains("had finished before"));
    line.map_or(0, |line| line.split(' ').next().unwrap().parse().expect("a number"))
}

/// Counts the finished runs in folders of killed commands.
fn lying_about(place: &Place) -> usize {
    let left = place.entries().into_iter().filter(|name| name.starts_with(".ftlab-unfinished-"));
    let marks = left.map(|name| {
        let mut all = BTreeMap::new();
        collect(&place.path(&name), "", &mut all);
        all.keys().filter(|name| name.ends_with("result.json")).count()
    });
    // Each command takes over the runs of the one before.
    marks.max().unwrap_or(0)
}

#[cfg(unix)]
#[test]
fn a_killed_comparison_goes_on_where_it_stood() {
    let place = Place::new();
    place.write("w.toml", WORK);
    assert_eq!(place.run(&format!("{COMPARE} -j 2 -o whole --quiet")).code, 0);
    let line = format!("{COMPARE} -j 2 -o out");
    for ms in [40, 300, 500, 700, 900] {
        if killed(&place, &line, Duration::from_millis(ms)) {
            break;
        }
        // It may be killed when it has given the name and has not ended yet.
        let is_whole = place.path("out/compare.json").is_file();
        assert_eq!(place.path("out").exists(), is_whole, "half a comparison has its name");
    }
    if !place.path("out").exists() {
        let finished = lying_about(&place);
        let done = place.run(&line);
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(taken_up(&done.err), finished, "{}", done.err);
    }
    assert_eq!(files(&place.path("out")), files(&place.path("whole")));
    // It is complete: the same command does nothing, and a different one is refused.
    let before = fs::metadata(place.path("out/compare.json")).unwrap().modified().unwrap();
    let again = place.run(&format!("{line} --json"));
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(again.err.contains("already complete"), "{}", again.err);
    assert_eq!(again.out.as_bytes(), place.read("out/compare.json"));
    assert_eq!(fs::metadata(place.path("out/compare.json")).unwrap().modified().unwrap(), before);
    fails(&place, &format!("{line} --seed 2"), &["--force"]);
    assert_eq!(place.run(&format!("{line} --force --quiet")).code, 0);
    assert_eq!(files(&place.path("out")), files(&place.path("whole")));
}

/// An interrupted command's folder replaces the previous one and includes its runs.
#[cfg(unix)]
#[test]
fn an_interruption_loses_nothing_that_had_finished() {
    let place = Place::new();
    place.write("w.toml", WORK);
    let of = |seeds: &str| format!("{} {seeds} -j 1", COMPARE.replace("--seeds 3", ""));
    assert_eq!(place.run(&format!("{} -o whole --quiet", of("--seed 997 --seeds 3"))).code, 0);
    fs::rename(place.path("whole"), place.path("out.partial")).unwrap();
    // Those seeds would come last.
    let line = format!("{} -o out", of("--seed 0 --seeds 1000"));
    let done = super::common::interrupted(&place, &line, std::process::Stdio::null());
    assert_eq!((done.code, taken_up(&done.err)), (130, 6), "{}", done.err);
    let runs = super::common::entries(&place.path("out.partial/runs/1-fifo"));
    for seed in ["seed-0", "seed-997", "seed-998", "seed-999"] {
        assert!(runs.iter().any(|run| run == seed), "{runs:?}");
    }
}

/// Runs that are damaged, unfinished, or of another seed or load are repeated.
#[test]
fn only_what_is_whole_and_the_same_is_taken_up() {
    let place = Place::new();
    place.write("w.toml", WORK);
    let small = COMPARE.replace("--seeds 3", "--seeds 1 --requests 300");
    assert_eq!(place.run(&format!("{small} -o whole --quiet")).code, 0);
    // As an interrupted comparison leaves it.
    fs::rename(place.path("whole"), place.path("out.partial")).unwrap();
    let told = |line: &str| {
        let done = place.run(&format!("{line} -o out --force"));
        assert_eq!(done.code, 0, "{}", done.err);
        taken_up(&done.err)
    };
    assert_eq!(told(&small), 2);
    assert_eq!(told(&small.replace("300", "299")), 0, "another load");
    assert_eq!(told(&format!("{small} --seed 9")), 0, "another seed");
    assert_eq!(told(&format!("{small} --set ftl.gc.stop=6")), 0, "another device");
    let run = "out.partial/runs/1-fifo/seed-1";
    let result = place.read(&format!("{run}/result.json"));
    place.write(&format!("{run}/result.json"), &result[..result.len() / 2]);
    assert_eq!(told(&small), 1, "one is cut");
    let stopped = String::from_utf8(result.clone()).unwrap();
    let stopped = stopped.replacen("\"complete\": true", "\"complete\": false", 1);
    place.write(&format!("{run}/result.json"), stopped.as_bytes());
    assert_eq!(told(&small), 1, "one did not come to its end");
    place.write(&format!("{run}/result.json"), &result);
    assert_eq!(told(&small), 2);
    fs::remove_file(place.path(&format!("{run}/run.json"))).unwrap();
    assert_eq!(told(&small), 1, "of one it is not known what it is");
    // The same command means another load once the file has changed.
    let other = String::from_utf8(WORK.to_vec()).unwrap().replace("50%", "60%");
    place.write("w.toml", other.replacen("60%", "40%", 1).as_bytes());
    assert_eq!(told(&small), 0, "another content");
}

#[test]
fn a_run_that_is_complete_is_not_done_again() {
    let place = Place::new();
    let line = "run --device tiny --trace trace.csv -o out";
    let first = place.run(line);
    assert_eq!(first.code, 0, "{}", first.err);
    let again = place.run(&format!("{line} --json"));
    assert_eq!(again.code, 0, "{}", again.err);
    assert!(again.err.contains("already complete"), "{}", again.err);
    assert_eq!(again.out.as_bytes(), place.read("out/result.json"));
    // With another file to write, the result is not complete.
    fails(&place, &format!("{line} --records"), &["--force"]);
    fails(&place, &format!("{line} --seed 2"), &["--force"]);
    place.write("trace.csv", super::common::trace(1_999).as_bytes());
    fails(&place, line, &["--force"]);
}

#[cfg(unix)]
#[test]
fn a_killed_reproduction_goes_on_where_it_stood() {
    let place = Place::new();
    let more = |text: String| text.replace("requests = 400", "requests = 20000");
    for name in ["a", "b"] {
        reproduce::experiment(&place, name, &reproduce::reads("paper = \"> 0\""));
        let file = format!("{name}/experiment.toml");
        let text = String::from_utf8(place.read(&file)).unwrap();
        place.write(&file, more(text).as_bytes());
        let own = String::from_utf8(place.read(&format!("{name}/own.toml"))).unwrap();
        place.write(&format!("{name}/own.toml"), own.replace("1000", "20000").as_bytes());
    }
    assert_eq!(place.run("reproduce a b -o whole --quiet -j 2").code, 0);
    let line = "reproduce a b -o out -j 2";
    for ms in [50, 300, 600, 900] {
        killed(&place, line, Duration::from_millis(ms));
    }
    let done = place.run(line);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(taken_up(&done.err) > 0 || done.err.contains("already complete"), "{}", done.err);
    assert_eq!(files(&place.path("out/a")), files(&place.path("whole/a")));
    assert_eq!(files(&place.path("out/b")), files(&place.path("whole/b")));
    assert_eq!(
        super::common::entries(&place.path("out/a")),
        ["report.html", "result.json", "run.json"]
    );
    let again = place.run(line);
    assert_eq!(again.code, 0, "{}", again.err);
    assert_eq!(again.err.matches("already complete").count(), 2, "{}", again.err);
    assert!(again.out.contains("Of 1 number 1 reproduced"), "{}", again.out);
}

/// The number of parallel runs does not show in the results.
#[test]
fn threads_do_not_show() {
    let place = Place::new();
    place.write("w.toml", WORK);
    reproduce::experiment(&place, "e", &reproduce::reads("paper = \"> 0\""));
    for jobs in [1, 2] {
        let small = format!("{COMPARE} --requests 500 -o compare-{jobs} -j {jobs} --quiet");
        assert_eq!(place.run(&small).code, 0);
        let line = format!("reproduce e -o reproduce-{jobs} -j {jobs} --quiet");
        assert_eq!(place.run(&line).code, 0);
    }
    for name in ["compare", "reproduce"] {
        let [one, two] = [1, 2].map(|jobs| files(&place.path(&format!("{name}-{jobs}"))));
        assert!(one == two, "{name}: files differ");
    }
}

/// Standard input is unknown until it is read, so it is always played.
#[test]
fn standard_input_is_played_again() {
    let place = Place::new();
    let run = |requests: u64| {
        let args = "run --device tiny --address fold --trace - -o out";
        let args: Vec<&str> = args.split_whitespace().collect();
        place.write("trace.csv", trace(requests).as_bytes());
        let input = fs::File::open(place.path("trace.csv")).unwrap();
        let done = place.command(&args).stdin(input).output().unwrap();
        String::from_utf8(done.stderr).unwrap()
    };
    let (first, second) = (run(100), run(50));
    assert!(first.contains("100 requests"), "{first}");
    // There is a result already, and it differs.
    assert!(second.contains("--force"), "{second}");
}
