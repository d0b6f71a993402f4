//! Pages of results in a real browser.

use std::path::{Path, PathBuf};

use super::common::Place;

#[path = "../../../../tests/browser/open.rs"]
mod open;

pub use open::Browser;

/// Opens a page with a script from the browser tests' folder, which prints the number of checks
/// passed.
fn opened(script: &str, folder_of: impl FnOnce(&Place) -> PathBuf, checks: u32) {
    let Some(browser) = Browser::find() else { return };
    let place = Place::new();
    browser.open(script, folder_of(&place), checks);
}

#[test]
#[ignore = "long: ./x test --all"]
fn the_page_works_in_a_browser() {
    let compared = |place: &Place| {
        let line = "compare tiny --vary scheduler.policy=fifo,read-first --vary ftl.gc.start=2,4 \
                    --set ftl.gc.stop=5 --workload mixed-70-30-zipf --requests 30000 --precondition fill \
                    --seeds 3 -o compared --quiet";
        let done = place.run(line);
        assert_eq!(done.code, 0, "{}", done.err);
        place.path("compared")
    };
    opened("page.mjs", compared, 14);
}

#[test]
#[ignore = "long: ./x test --all"]
fn the_page_of_a_reproduction_works_in_a_browser() {
    let reproduced = |place: &Place| {
        super::reproduce::write_example(place, "e");
        assert_eq!(place.run("reproduce e -o out --quiet").code, 1);
        place.path("out")
    };
    opened("reproduction.mjs", reproduced, 10);
}

#[test]
#[ignore = "long: ./x test --all"]
fn the_page_of_a_sweep_works_in_a_browser() {
    let swept = |place: &Place| {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sweep");
        let file = example.join("spare-and-victim.toml");
        let done = place.run(&format!("sweep {} -o out --quiet", file.display()));
        assert_eq!(done.code, 0, "{}", done.err);
        place.path("out")
    };
    opened("sweep.mjs", swept, 11);
}

/// Four streams in turn, whose clock begins anew in the middle.
fn restarted() -> String {
    let line = |number: u64| {
        let at = 129_000_000_000_000_000 + number % 1_500 * 20_000_000 + number % 7 * 3_000;
        let op = ["Read", "Write", "Write"][number as usize % 3];
        let (offset, size) = (number * number % 977 * 4_096, 4_096 << (number % 4));
        format!("{at},h,{},{op},{offset},{size},0\n", number % 4)
    };
    (0..3_000).map(line).collect()
}

/// Writes the page of traces and what their commands print as JSON.
fn trace_page(place: &Place, traces: &[&str]) -> PathBuf {
    let names: Vec<String> = (0..traces.len()).map(|at| format!("trace-{at}.json")).collect();
    for (name, trace) in names.iter().zip(traces) {
        let done = place.run(&format!("trace inspect {trace} --json"));
        assert_eq!(done.code, 0, "{}", done.err);
        place.write(name, done.out.as_bytes());
    }
    place.write("traces.json", format!("{names:?}").as_bytes());
    let command = if traces.len() > 1 { "compare" } else { "inspect" };
    let files = traces.join(" ");
    let done = place.run(&format!("trace {command} {files} --page report.html --json"));
    assert_eq!(done.code, 0, "{}", done.err);
    place.write("compared.json", done.out.as_bytes());
    place.path("")
}

#[test]
#[ignore = "long: ./x test --all"]
fn the_pages_of_traces_work_in_a_browser() {
    let office = "../../examples/traces/office-20k.csv.gz";
    let office = Path::new(env!("CARGO_MANIFEST_DIR")).join(office).display().to_string();
    let write = |place: &Place| place.write("restarted.csv", restarted().as_bytes());
    let long = "restarted-which-has-a-name-so-long-that-no-column-of-a-table-has-room-for-it-in-one-line.csv";
    opened(
        "trace.mjs",
        |place| {
            write(place);
            trace_page(place, &["restarted.csv"])
        },
        11,
    );
    opened(
        "trace.mjs",
        |place| {
            place.write(long, restarted().as_bytes());
            trace_page(place, &[&office, long])
        },
        11,
    );
}

/// Runs a small device with a time line.
fn with_time_line(place: &Place, when: &str) {
    let line = format!(
        "run --device tiny --workload mixed-70-30-zipf --requests 6000 --precondition fill,age -o out --quiet \
         --timeline {when}"
    );
    let done = place.run(&line);
    assert_eq!(done.code, 0, "{}", done.err);
}

#[test]
#[ignore = "long: ./x test --all"]
fn a_time_line_works_in_a_browser() {
    let reported = |place: &Place| {
        with_time_line(place, "slowest:5ms");
        assert_eq!(place.run("report out -o report.html --quiet").code, 0);
        place.path("")
    };
    opened("timeline.mjs", reported, 7);
}

#[test]
#[ignore = "long: ./x test --all"]
fn the_time_lines_of_slow_requests_work_in_a_browser() {
    let told = |place: &Place| {
        with_time_line(place, "slowest:read:1");
        assert_eq!(place.run("why out --op read --page report.html --quiet").code, 0);
        place.path("")
    };
    opened("timeline.mjs", told, 7);
}

#[test]
#[ignore = "long: ./x test --all"]
fn the_page_of_one_result_works_in_a_browser() {
    let reported = |place: &Place| {
        let line = "run --device tiny --set host.queues=2 --workload noisy-neighbour --requests 6000 -o out --quiet";
        let done = place.run(line);
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(place.run("report out -o report.html --quiet").code, 0);
        place.path("")
    };
    opened("report.mjs", reported, 8);
}

/// Many variants, and many points: the pages stay in shape.
#[test]
#[ignore = "long: ./x test --all"]
fn huge_pages_work_in_a_browser() {
    let compared = |place: &Place| {
        let line = "compare tiny --vary cache.policy=none,fifo,lru,cflru --vary ftl.gc.victim=greedy,fifo,random,cost-benefit \
                    --workload mixed-70-30-zipf --requests 3000 --seeds 2 -o out --quiet";
        let done = place.run(line);
        assert_eq!(done.code, 0, "{}", done.err);
        place.path("out")
    };
    opened("huge.mjs", compared, 4);
    let swept = |place: &Place| {
        let axis =
            |option: &str, values: &str| format!("[[axis]]\noption = '{option}'\n{values}\n");
        let file = [
            "name = 'huge'\ntitle = 'huge'\n[run]\ndevice = 'tiny'\nworkload = 'randwrite-4k'\nrequests = 300\n".to_owned(),
            axis("ftl.over_provisioning", "values = '20%..60%'\nsteps = 10"),
            axis("ftl.gc.victim", "values = ['greedy', 'fifo', 'random']"),
            axis("cache.capacity", "values = ['64KiB', '128KiB', '256KiB', '512KiB', '1MiB']"),
            axis("cache.policy", "values = ['fifo', 'lru']"),
        ]
        .concat();
        place.write("huge.toml", file.as_bytes());
        let done = place.run("sweep huge.toml -o out --quiet");
        assert_eq!(done.code, 0, "{}", done.err);
        place.path("out")
    };
    opened("huge.mjs", swept, 4);
}
