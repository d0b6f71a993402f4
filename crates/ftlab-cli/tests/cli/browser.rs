//! Pages in a real browser: Chromium, driven by playwright-core.
//!
//! If node, the browser or playwright-core is missing, the test says that it is skipped and passes,
//! unless `FTLAB_BROWSER_TESTS` is set to `required`, as in CI.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::common::Place;

/// Set to `required` to fail instead of skipping.
const DEMAND: &str = "FTLAB_BROWSER_TESTS";
/// Set to a folder to keep screenshots there.
const PICTURES: &str = "FTLAB_BROWSER_PICTURES";
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// Returns the script's folder and the browser, or what is missing.
fn tools() -> Result<(PathBuf, PathBuf), &'static str> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/browser");
    found("node").ok_or("node is not installed")?;
    let browser = BROWSERS.iter().find_map(|name| found(name)).ok_or("there is no Chromium")?;
    if !folder.join("node_modules/playwright-core").is_dir() {
        return Err("playwright-core is not installed: run npm ci in tests/browser");
    }
    Ok((folder, browser))
}

/// Opens a page with a script from the browser tests' folder, which prints the number of checks
/// passed. If a tool is missing, says that the test is skipped.
fn opened(script: &str, folder_of: impl FnOnce(&Place) -> PathBuf, checks: u32) {
    let (folder, browser) = match tools() {
        Ok(tools) => tools,
        Err(missing) => {
            let demanded = std::env::var(DEMAND).is_ok_and(|value| value == "required");
            assert!(!demanded, "{missing}, and {DEMAND} is set to required");
            eprintln!("SKIPPED: the page was not opened in a browser: {missing}");
            return;
        }
    };
    let place = Place::new();
    let result = folder_of(&place);
    let mut node = Command::new("node");
    node.arg(script).arg(browser).arg(result).current_dir(folder);
    node.args(std::env::var_os(PICTURES));
    let output = node.output().expect("node can be started");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    assert!(said.contains(&format!("{checks} checks of the page passed")), "{said}");
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
