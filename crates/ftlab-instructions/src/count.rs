//! Counts instructions: the program runs itself under valgrind, once per scenario with the measured
//! requests and once without.
//!
//! cachegrind without cache simulation is the cheapest counting tool of valgrind: it is about 20
//! times slower than a native run. callgrind is 50 times slower, even while collection is off.

use std::num::NonZero;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::scenarios::{Aged, SCENARIOS, Scenario, Size};

/// The argument that makes this program play a scenario.
pub const PLAY: &str = "--play";
/// Number of counted requests.
const REQUESTS: u64 = 10_000;
const TOOL: [&str; 2] = ["--tool=cachegrind", "--cache-sim=no"];

/// The instructions per request of a scenario.
pub struct Counted {
    pub name: &'static str,
    pub each: u64,
}

pub fn is_valgrind_there() -> bool {
    let mut valgrind = Command::new("valgrind");
    let asked = valgrind.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

/// Returns the compiler found now, assuming that it built this program.
pub fn compiler() -> Result<String, String> {
    let asked = Command::new("rustc").arg("--version").output();
    let output = asked.map_err(|error| format!("rustc --version: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Plays a scenario, as the program being counted.
pub fn play(name: &str, requests: &str) -> Result<(), String> {
    let requests = requests.parse().map_err(|error| format!("{requests}: {error}"))?;
    let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name);
    let scenario = scenario.ok_or_else(|| format!("there is no scenario {name}"))?;
    Aged::new(scenario, Size::Small).play(requests);
    Ok(())
}

/// Counts all scenarios in parallel.
pub fn all() -> Result<Vec<Counted>, String> {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let turn = AtomicUsize::new(0);
    let mut counted = thread::scope(|scope| {
        let work = || -> Result<Vec<(usize, Counted)>, String> {
            let mut mine = Vec::new();
            while let at = turn.fetch_add(1, Ordering::Relaxed)
                && let Some(scenario) = SCENARIOS.get(at)
            {
                mine.push((at, one(scenario)?));
            }
            Ok(mine)
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(|worker| worker.join().expect("a worker ends"));
        joined.collect::<Result<Vec<_>, _>>()
    })?
    .into_iter()
    .flatten()
    .collect::<Vec<_>>();
    counted.sort_by_key(|&(at, _)| at);
    Ok(counted.into_iter().map(|(_, counted)| counted).collect())
}

fn one(scenario: &Scenario) -> Result<Counted, String> {
    let name = scenario.name;
    let (with, without) = (run(name, REQUESTS)?, run(name, 0)?);
    let these = with.checked_sub(without).ok_or(format!("{name}: fewer with requests"))?;
    Ok(Counted { name, each: these / REQUESTS })
}

/// Returns the instructions of a whole run.
fn run(name: &str, requests: u64) -> Result<u64, String> {
    let output = Command::new("valgrind")
        .args(TOOL)
        .arg("--cachegrind-out-file=/dev/null")
        .arg(this_program()?)
        .args([PLAY, name, &requests.to_string()])
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{name}, under valgrind: {}\n{told}", output.status));
    }
    total(&told).ok_or_else(|| format!("{name}: no total in what valgrind says:\n{told}"))
}

/// Parses valgrind's line "==4711== I   refs:      6,479,477,798".
fn total(told: &str) -> Option<u64> {
    let line = told.lines().find(|line| line.contains(" I ") && line.contains("refs:"))?;
    let digits: String =
        line.rsplit("refs:").next()?.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn this_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("this program: {error}"))
}

/// Returns a command that shows which functions take the instructions.
pub fn profile_command() -> Result<String, String> {
    let program = this_program()?;
    let tool = TOOL.join(" ");
    Ok(format!(
        "valgrind {tool} --cachegrind-out-file=instructions.out {} {PLAY} SCENARIO {REQUESTS} && cg_annotate instructions.out",
        program.display(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_found() {
        let told = "==8009== Cachegrind\n==8009== \n==8009== I   refs:      6,479,477,798\n";
        assert_eq!(total(told), Some(6_479_477_798));
        assert_eq!(total("==8009== nothing"), None);
    }

    #[test]
    fn a_scenario_plays() {
        assert_eq!(play("tlc-512g", "100"), Ok(()));
        assert!(play("no-such", "100").is_err());
    }
}
