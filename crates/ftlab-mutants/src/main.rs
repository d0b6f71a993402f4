//! Plants faults and reports those that no test catches: `./x mutants --faults 100 --seed 7`.
//!
//! The share of caught faults shows how much the tests really check, which line coverage does not.
//! The draw (`draw.rs`) picks places (`places.rs`), a copy of the project gets all faults at once
//! behind a switch (`copy.rs`), and each fault is tried with the tests that reach it (`trial.rs`).

mod copy;
mod draw;
mod places;
mod trial;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use copy::Copy;
use draw::{DrawnFault, SourceFile};
use trial::FaultOutcome;

/// Plant faults in the simulator and the workload crate, and report those that no test catches.
#[derive(Debug, Parser)]
#[command(name = "./x mutants")]
struct Args {
    /// Number of faults.
    #[arg(long, default_value_t = 100, value_name = "N")]
    faults: usize,
    /// Seed of the draw.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Stop starting tests after this many minutes of trials; building is not counted.
    #[arg(long, value_name = "M", value_parser = minutes)]
    minutes: Option<Duration>,
    /// Only files whose path starts with this; with `:LINE`, only that line.
    #[arg(long, value_name = "PATH[:LINE]")]
    only: Option<String>,
    /// Run only tests whose name contains this.
    #[arg(long, default_value = "", value_name = "NAME")]
    tests: String,
    /// Fail if a smaller share of the faults with a known outcome is caught.
    #[arg(long, default_value = "95%", value_name = "SHARE", value_parser = share)]
    at_least: f64,
    /// Number of tests run in parallel; by default the number of cores.
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Only list the places that are drawn; some of them may not compile.
    #[arg(long)]
    list: bool,
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse().ok();
    number.filter(|share| (0.0..=100.0).contains(share)).ok_or("a share is 0% to 100%".to_owned())
}

fn minutes(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok();
    let time = number.and_then(|minutes| Duration::try_from_secs_f64(minutes * 60.0).ok());
    time.ok_or("a number of minutes is 0 or more, such as 30 or 0.5".to_owned())
}

fn main() -> ExitCode {
    lead(&Args::parse()).unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    })
}

fn lead(args: &Args) -> io::Result<ExitCode> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let files = copy::files(&root)?;
    let mut sources = copy::sources(&root, &files)?;
    if let Some(only) = &args.only {
        restrict(&mut sources, only);
    }
    let drawn = draw::draw(&sources, args.seed);
    if drawn.is_empty() {
        return Err(io::Error::other("there is no place for a fault: see --only"));
    }
    if args.list {
        for drawn in drawn.iter().take(args.faults) {
            println!("{}", place(&sources, *drawn));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let jobs = match args.jobs {
        Some(jobs) => jobs.max(1),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    run(args, jobs, &root, &files, &sources, &drawn)
}

/// Keeps only the places asked for. The sources stay: the copy needs them.
fn restrict(sources: &mut [SourceFile], only: &str) {
    let (path, line) = match only.rsplit_once(':') {
        Some((path, line)) => (path, line.parse::<usize>().ok()),
        None => (only, None),
    };
    for source in sources {
        let here = source.path.starts_with(path);
        source.places.retain(|place| here && line.is_none_or(|line| place.line == line));
    }
}

fn place(sources: &[SourceFile], drawn: DrawnFault) -> String {
    let source = &sources[drawn.source];
    let place = &source.places[drawn.place];
    format!("{}:{}: `{}` becomes `{}`", source.path, place.line, place.was, place.becomes)
}

fn run(
    args: &Args,
    jobs: usize,
    root: &Path,
    files: &[String],
    sources: &[SourceFile],
    drawn: &[DrawnFault],
) -> io::Result<ExitCode> {
    let (faults, binaries) = Copy::new(root, files, sources).build(drawn, args.faults)?;
    let tests = trial::list(&binaries, &args.tests)?;
    eprintln!("{} tests without a fault, {jobs} at a time", tests.len());
    let (tests, failing) = trial::learn(tests, jobs, &root.join("target/mutants/reached"))?;
    let whole: Duration = tests.iter().map(|test| test.took).sum();
    eprintln!("{} tests pass, taking {:.0} s in total", tests.len(), whole.as_secs_f64());
    for name in &failing {
        eprintln!("skipped, fails without a fault: {name}");
    }
    // A deadline beyond the clock's range means no deadline.
    let until = args.minutes.and_then(|minutes| Instant::now().checked_add(minutes));
    let numbers: Vec<usize> = faults.iter().map(|(number, _)| *number).collect();
    let outcomes = trial::attempt(&numbers, &tests, jobs, until)?;
    let told: Vec<(String, FaultOutcome)> =
        faults.iter().map(|&(_, drawn)| place(sources, drawn)).zip(outcomes).collect();
    Ok(report(args, &told))
}

/// Number of faults for each outcome.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    failed: usize,
    /// A test did not finish.
    hung: usize,
    /// All tests that reach the fault passed.
    survived: usize,
    /// No test reaches the fault.
    unreached: usize,
    /// Time ran out before all tests that reach the fault were tried; those that were tried passed.
    undecided: usize,
    /// Time ran out before the first test.
    untried: usize,
}

impl Tally {
    fn of<'a>(outcomes: impl Iterator<Item = &'a FaultOutcome>) -> Tally {
        let mut tally = Tally::default();
        for outcome in outcomes {
            *match outcome {
                FaultOutcome::Caught(_) => &mut tally.failed,
                FaultOutcome::Hung(_) => &mut tally.hung,
                FaultOutcome::Survived { left: 0, .. } => &mut tally.survived,
                FaultOutcome::Survived { .. } => &mut tally.undecided,
                FaultOutcome::NeverReached => &mut tally.unreached,
                FaultOutcome::NotTried => &mut tally.untried,
            } += 1;
        }
        tally
    }

    fn caught(&self) -> usize {
        self.failed + self.hung
    }

    /// Returns the number of faults known to be caught or missed.
    fn decided(&self) -> usize {
        self.caught() + self.survived + self.unreached
    }

    /// Returns the percentage of decided faults that were caught; zero if there are none.
    fn share(&self) -> f64 {
        100.0 * self.caught() as f64 / self.decided().max(1) as f64
    }
}

/// Prints the faults that were not caught, and the totals.
fn report(args: &Args, told: &[(String, FaultOutcome)]) -> ExitCode {
    for (place, outcome) in told {
        if matches!(outcome, FaultOutcome::Survived { .. } | FaultOutcome::NeverReached) {
            println!("{place}: {}", outcome.told());
        }
    }
    let tally = Tally::of(told.iter().map(|(_, outcome)| outcome));
    println!(
        "{} faults of seed {}: {} caught ({} by a test that does not end), {} survived, {} never reached: \
         {:.1} % caught",
        tally.decided(),
        args.seed,
        tally.caught(),
        tally.hung,
        tally.survived,
        tally.unreached,
        tally.share()
    );
    if tally.undecided + tally.untried > 0 {
        println!(
            "time ran out: {} more survived so far, with tests left, and {} were not tried",
            tally.undecided, tally.untried
        );
    }
    if tally.share() < args.at_least { ExitCode::from(1) } else { ExitCode::SUCCESS }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> Vec<SourceFile> {
        let text = "fn f() -> Thing { a == b }\nfn g() -> Thing { c && d }\n";
        let source = |path: &str| SourceFile {
            path: path.to_owned(),
            text: text.to_owned(),
            places: places::find(text).expect("Rust").places,
        };
        ["x/a.rs", "y/b.rs"].map(source).into()
    }

    fn drawn(only: &str) -> Vec<String> {
        let mut sources = sources();
        restrict(&mut sources, only);
        draw::draw(&sources, 1).iter().map(|&drawn| place(&sources, drawn)).collect()
    }

    #[test]
    fn a_path_or_a_line_restricts_the_draw() {
        assert_eq!(drawn("y/").len(), 2);
        assert_eq!(drawn("x/a.rs:2"), ["x/a.rs:2: `c && d` becomes `(c) || (d)`"]);
        assert_eq!(drawn("z"), Vec::<String>::new());
    }

    #[test]
    fn a_share_too_small_fails() {
        let args = Args::parse_from(["mutants", "--at-least", "60%"]);
        let caught = ("a".to_owned(), FaultOutcome::Caught("t".to_owned()));
        let survived = ("b".to_owned(), FaultOutcome::Survived { passed: 2, left: 0 });
        let untried = ("c".to_owned(), FaultOutcome::NotTried);
        let told = [caught.clone(), caught, survived.clone(), untried];
        assert_eq!(report(&args, &told), ExitCode::SUCCESS);
        assert_eq!(report(&args, &[told[0].clone(), survived]), ExitCode::from(1));
        assert!(Args::try_parse_from(["mutants", "--at-least", "101%"]).is_err());
    }

    #[test]
    fn undecided_faults_do_not_count() {
        let args = Args::parse_from(["mutants", "--at-least", "100%"]);
        let caught = FaultOutcome::Caught("t".to_owned());
        let open = FaultOutcome::Survived { passed: 12, left: 3 };
        let outcomes = [caught, open.clone(), FaultOutcome::NotTried];
        let told = outcomes.map(|outcome| ("a".to_owned(), outcome));
        assert_eq!(report(&args, &told), ExitCode::SUCCESS);
        let tally = Tally::of(told.iter().map(|(_, outcome)| outcome));
        assert_eq!(tally, Tally { failed: 1, undecided: 1, untried: 1, ..Tally::default() });
        assert_eq!((tally.decided(), tally.share()), (1, 100.0));
        // With no decided fault the share is zero, which is too little.
        assert_eq!(report(&args, &told[1..]), ExitCode::from(1));
        // Faults that survive all tests, or that no test reaches, are decided.
        let lost = [FaultOutcome::Survived { passed: 12, left: 0 }, FaultOutcome::NeverReached];
        assert_eq!(Tally::of(lost.iter().chain([&open])).share(), 0.0);
    }

    #[test]
    fn minutes_may_have_fractions_but_not_be_negative() {
        let parse = |text: &str| Args::try_parse_from(["mutants", &format!("--minutes={text}")]);
        let minutes = |text: &str| parse(text).map(|args| args.minutes);
        assert_eq!(minutes("0.5").unwrap(), Some(Duration::from_secs(30)));
        assert_eq!(minutes("0").unwrap(), Some(Duration::ZERO));
        for text in ["-1", "nan", "inf", "1e30", "soon"] {
            let told = minutes(text).unwrap_err().to_string();
            assert!(told.contains("a number of minutes is 0 or more"), "{text}: {told}");
        }
    }
}
