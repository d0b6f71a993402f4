//! Runs the tests: first without a fault, to learn how long each takes and which faults it reaches,
//! then with one fault at a time, quickest tests first, until one fails.
//!
//! Each test gets a process of its own. This shows exactly what it reaches, a hang or an abort ends
//! nothing else, and of thousands of tests only those that can make a difference run.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::copy::Binary;

/// How much longer than without a fault a test may take: a factor plus a fixed time.
const LONGER: (u32, Duration) = (10, Duration::from_secs(20));
/// A test that takes longer than this without a fault counts as hung.
const LONGEST: Duration = Duration::from_secs(1800);
/// KiB of address space per test: a fault may allocate without end.
const MEMORY: u32 = 16 << 20;
/// How many tests each fault is tried with in each round, before any fault is tried with more. Most faults are caught
/// by a quick test; when time is short, it should not go to the few that need them all.
const ROUNDS: [usize; 3] = [12, 60, usize::MAX];
/// How often a running test is polled.
const LOOK: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// A test and what is known about it.
#[derive(Clone, Debug)]
pub struct Test {
    binary: Binary,
    /// Name within the binary.
    pub name: String,
    /// Run time without a fault.
    pub took: Duration,
    /// The faults whose places the test reaches.
    pub reaches: BTreeSet<usize>,
}

/// The outcome of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultOutcome {
    /// This test failed.
    Caught(String),
    /// This test did not finish.
    Hung(String),
    /// `passed` tests reach it and pass; there was no time for `left` others.
    Survived { passed: usize, left: usize },
    /// No test reaches its place.
    NeverReached,
    /// Time ran out before any test ran.
    NotTried,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Passed,
    Failed,
    Hung,
}

/// Lists the tests of these binaries whose names contain `filter`; times and reached faults are still unknown.
///
/// # Errors
/// A binary does not list its tests.
pub fn list(binaries: &[Binary], filter: &str) -> io::Result<Vec<Test>> {
    let mut tests = Vec::new();
    for binary in binaries {
        let listed = Command::new(&binary.path)
            .args(["--list", "--format", "terse"])
            .current_dir(&binary.folder)
            .output()?;
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
        tests.extend(names.filter(|name| name.contains(filter)).map(|name| Test {
            binary: binary.clone(),
            name: name.to_owned(),
            took: Duration::ZERO,
            reaches: BTreeSet::new(),
        }));
    }
    // Binaries are listed in the order they were built, which varies.
    tests.sort_by(|a, b| (&a.binary.path, &a.name).cmp(&(&b.binary.path, &b.name)));
    Ok(tests)
}

/// Runs all tests without a fault. Returns those that pass, quickest first, and the names of the others.
///
/// # Errors
/// A test can't be started, or the file of what it reached can't be read.
pub fn learn(tests: Vec<Test>, jobs: usize, notes: &Path) -> io::Result<(Vec<Test>, Vec<String>)> {
    fs::create_dir_all(notes)?;
    let learned = in_parallel(&tests, jobs, |at, test| {
        let reached = notes.join(format!("{at}.txt"));
        if reached.exists() {
            fs::remove_file(&reached)?;
        }
        let begun = Instant::now();
        let end = run(test, ("FTLAB_REACHED", reached.as_os_str()), LONGEST)?;
        let took = begun.elapsed();
        let text = if reached.exists() { fs::read_to_string(&reached)? } else { String::new() };
        let reaches = text.lines().filter_map(|line| line.parse().ok()).collect();
        Ok((end, Test { took, reaches, ..test.clone() }))
    })?;
    let (passed, others): (Vec<_>, Vec<_>) =
        learned.into_iter().partition(|(end, _)| *end == End::Passed);
    let mut passed: Vec<Test> = passed.into_iter().map(|(_, test)| test).collect();
    passed.sort_by(|a, b| a.took.cmp(&b.took).then_with(|| a.name.cmp(&b.name)));
    Ok((passed, others.into_iter().map(|(_, test)| test.name).collect()))
}

/// Tries these faults with the tests that reach them. No test starts after `until`.
///
/// # Errors
/// A test can't be started.
pub fn attempt(
    faults: &[usize],
    tests: &[Test],
    jobs: usize,
    until: Option<Instant>,
) -> io::Result<Vec<FaultOutcome>> {
    let attempts = faults.iter().map(|&fault| Attempt {
        fault,
        tests: tests.iter().filter(|test| test.reaches.contains(&fault)).collect(),
        passed: 0,
        caught: None,
    });
    let mut attempts: Vec<Attempt> = attempts.collect();
    for (round, most) in ROUNDS.into_iter().enumerate() {
        attempts = in_parallel(&attempts, jobs, |_, attempt| attempt.go_on(most, until))?;
        let open = attempts.iter().filter(|attempt| attempt.caught.is_none()).count();
        eprintln!("round {} of {}: {open} are not caught", round + 1, ROUNDS.len());
    }
    Ok(attempts.into_iter().map(Attempt::outcome).collect())
}

/// A fault and its progress.
#[derive(Clone)]
struct Attempt<'t> {
    fault: usize,
    /// The tests that reach it, quickest first.
    tests: Vec<&'t Test>,
    /// How many of them passed.
    passed: usize,
    caught: Option<FaultOutcome>,
}

impl Attempt<'_> {
    /// Continues until the fault is caught or `most` tests have passed.
    fn go_on(&self, most: usize, until: Option<Instant>) -> io::Result<Self> {
        let mut after = self.clone();
        for test in self.tests.iter().take(most).skip(self.passed) {
            if after.caught.is_some() || until.is_some_and(|until| Instant::now() > until) {
                break;
            }
            let longest = test.took * LONGER.0 + LONGER.1;
            match run(test, ("FTLAB_FAULT", self.fault.to_string().as_ref()), longest)? {
                End::Passed => after.passed += 1,
                End::Failed => after.caught = Some(FaultOutcome::Caught(test.name.clone())),
                End::Hung => after.caught = Some(FaultOutcome::Hung(test.name.clone())),
            }
        }
        Ok(after)
    }

    fn outcome(self) -> FaultOutcome {
        let left = self.tests.len() - self.passed;
        match (self.caught, self.passed) {
            (Some(caught), _) => caught,
            (None, 0) if left == 0 => FaultOutcome::NeverReached,
            (None, 0) => FaultOutcome::NotTried,
            (None, passed) => FaultOutcome::Survived { passed, left },
        }
    }
}

impl FaultOutcome {
    pub fn told(&self) -> String {
        match self {
            FaultOutcome::Caught(test) => format!("caught by {test}"),
            FaultOutcome::Hung(test) => format!("caught: {test} does not end"),
            FaultOutcome::Survived { passed, left: 0 } => {
                format!("survived all {passed} tests that reach it")
            }
            FaultOutcome::Survived { passed, left } => {
                format!("survived {passed} tests that reach it; for {left} there was no time")
            }
            FaultOutcome::NeverReached => "never reached".to_owned(),
            FaultOutcome::NotTried => "not tried".to_owned(),
        }
    }
}

/// Runs one test in a process of its own.
fn run(test: &Test, variable: (&str, &std::ffi::OsStr), longest: Duration) -> io::Result<End> {
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -v {MEMORY} 2>/dev/null; ulimit -c 0; exec \"$0\" \"$@\""))
        .arg(&test.binary.path)
        .args(["--exact", &test.name, "--test-threads=1"])
        .current_dir(&test.binary.folder)
        .env(variable.0, variable.1)
        .envs([("INSTA_UPDATE", "no"), ("RUST_BACKTRACE", "0")])
        .envs([("PROPTEST_RNG_SEED", "1"), ("PROPTEST_MAX_SHRINK_ITERS", "0")])
        .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    wait(&mut child, longest)
}

fn wait(child: &mut Child, longest: Duration) -> io::Result<End> {
    let (begun, mut pause) = (Instant::now(), LOOK.0);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() { End::Passed } else { End::Failed });
        }
        if begun.elapsed() > longest {
            child.kill()?;
            child.wait()?;
            return Ok(End::Hung);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LOOK.1);
    }
}

/// Calls `work` on each item, `jobs` at a time; returns results in the order of the items.
fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(usize, &T) -> io::Result<R> + Sync,
) -> io::Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, io::Result<R>)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let result = work(at, item);
                    results.lock().expect("no worker panics").push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no worker panics");
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A test that always passes.
    fn test(name: &str, took: u64, reaches: &[usize]) -> Test {
        let binary = Binary { path: "true".into(), folder: ".".into() };
        let took = Duration::from_millis(took);
        Test { binary, name: name.to_owned(), took, reaches: reaches.iter().copied().collect() }
    }

    #[test]
    fn a_fault_that_no_test_reaches_is_told_apart_from_a_survivor() {
        let mut failing = test("fails", 1, &[3]);
        failing.binary.path = "false".into();
        let tests = [test("passes", 1, &[1, 3]), failing];
        let outcomes = attempt(&[1, 2, 3], &tests, 2, None).expect("runs");
        let caught = FaultOutcome::Caught("fails".to_owned());
        let survived = FaultOutcome::Survived { passed: 1, left: 0 };
        assert_eq!(outcomes, [survived, FaultOutcome::NeverReached, caught]);
    }

    #[test]
    fn what_is_not_begun_in_time_is_not_tried() {
        let outcomes = attempt(&[1], &[test("passes", 1, &[1])], 1, Some(Instant::now()));
        assert_eq!(outcomes.expect("runs"), [FaultOutcome::NotTried]);
    }

    #[test]
    fn a_fault_that_needs_many_tests_gets_them_all() {
        let mut tests: Vec<Test> = (0..100).map(|_| test("passes", 1, &[1])).collect();
        tests.push(test("fails", 2, &[1]));
        tests[100].binary.path = "false".into();
        let outcomes = attempt(&[1], &tests, 1, None).expect("runs");
        assert_eq!(outcomes, [FaultOutcome::Caught("fails".to_owned())]);
    }

    #[test]
    fn a_process_that_does_not_end_is_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("starts");
        let end = wait(&mut child, Duration::from_millis(20)).expect("waits");
        assert_eq!(end, End::Hung);
    }
}
