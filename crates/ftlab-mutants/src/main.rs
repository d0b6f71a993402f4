//! Plants faults and tells which of them no test catches: `./x mutants --faults 100 --seed 7`.
//!
//! A share of caught faults says how much the tests see, as no count of lines does. The draw
//! (`draw.rs`) picks places (`places.rs`), a copy of the project gets all faults at once behind a
//! switch (`copy.rs`), and each is tried with the tests that reach it (`trial.rs`).

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
use draw::{Drawn, Source};
use trial::Outcome;

/// Plants faults in the simulator and the workload crate, and tells which of them no test catches.
#[derive(Debug, Parser)]
#[command(name = "./x mutants")]
struct Args {
    /// How many faults.
    #[arg(long, default_value_t = 100, value_name = "N")]
    faults: usize,
    /// Another seed, other places; the same seed, the same places.
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Begin no test of a fault after so many minutes of trying; building comes before.
    #[arg(long, value_name = "M")]
    minutes: Option<f64>,
    /// Only in files whose path begins so; with `:LINE` only on that line.
    #[arg(long, value_name = "PATH[:LINE]")]
    only: Option<String>,
    /// Run only tests whose name holds this.
    #[arg(long, default_value = "", value_name = "NAME")]
    tests: String,
    /// Fail if a smaller share is caught.
    #[arg(long, default_value = "95%", value_name = "SHARE", value_parser = share)]
    at_least: f64,
    /// How many tests run at the same time; as many as there are cores unless said.
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

/// Keeps the places that are asked for. The sources stay: the copy needs them.
fn restrict(sources: &mut [Source], only: &str) {
    let (path, line) = match only.rsplit_once(':') {
        Some((path, line)) => (path, line.parse::<usize>().ok()),
        None => (only, None),
    };
    for source in sources {
        let here = source.path.starts_with(path);
        source.places.retain(|place| here && line.is_none_or(|line| place.line == line));
    }
}

fn place(sources: &[Source], drawn: Drawn) -> String {
    let source = &sources[drawn.source];
    let place = &source.places[drawn.place];
    format!("{}:{}: `{}` becomes `{}`", source.path, place.line, place.was, place.becomes)
}

fn run(
    args: &Args,
    jobs: usize,
    root: &Path,
    files: &[String],
    sources: &[Source],
    drawn: &[Drawn],
) -> io::Result<ExitCode> {
    let (faults, binaries) = Copy::new(root, files, sources).build(drawn, args.faults)?;
    let tests = trial::list(&binaries, &args.tests)?;
    eprintln!("{} tests without a fault, {jobs} at a time", tests.len());
    let (tests, failing) = trial::learn(tests, jobs, &root.join("target/mutants/reached"))?;
    let whole: Duration = tests.iter().map(|test| test.took).sum();
    eprintln!("{} tests pass, in {:.0} s of each one's time", tests.len(), whole.as_secs_f64());
    for name in &failing {
        eprintln!("left out, as it fails without a fault: {name}");
    }
    let until =
        args.minutes.map(|minutes| Instant::now() + Duration::from_secs_f64(minutes * 60.0));
    let numbers: Vec<usize> = faults.iter().map(|(number, _)| *number).collect();
    let outcomes = trial::attempt(&numbers, &tests, jobs, until)?;
    let told: Vec<(String, Outcome)> =
        faults.iter().map(|&(_, drawn)| place(sources, drawn)).zip(outcomes).collect();
    Ok(report(args, &told))
}

/// Prints what was not caught, and the totals.
fn report(args: &Args, told: &[(String, Outcome)]) -> ExitCode {
    let count = |is: fn(&Outcome) -> bool| told.iter().filter(|(_, outcome)| is(outcome)).count();
    let failed = count(|outcome| matches!(outcome, Outcome::Caught(_)));
    let hung = count(|outcome| matches!(outcome, Outcome::Hung(_)));
    let survived = count(|outcome| matches!(outcome, Outcome::Survived { .. }));
    let unreached = count(|outcome| *outcome == Outcome::NeverReached);
    let untried = count(|outcome| *outcome == Outcome::NotTried);
    for (place, outcome) in told {
        if matches!(outcome, Outcome::Survived { .. } | Outcome::NeverReached) {
            println!("{place}: {}", outcome.told());
        }
    }
    let tried = told.len() - untried;
    let share = 100.0 * (failed + hung) as f64 / tried.max(1) as f64;
    println!(
        "{tried} faults of seed {}: {} caught ({hung} by a test that does not end), {survived} survived, \
         {unreached} never reached: {share:.1} % caught",
        args.seed,
        failed + hung
    );
    if untried > 0 {
        println!("{untried} were not tried: the time was over");
    }
    if share < args.at_least { ExitCode::from(1) } else { ExitCode::SUCCESS }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> Vec<Source> {
        let text = "fn f() -> Thing { a == b }\nfn g() -> Thing { c && d }\n";
        let source = |path: &str| Source {
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
        let caught = ("a".to_owned(), Outcome::Caught("t".to_owned()));
        let survived = ("b".to_owned(), Outcome::Survived { passed: 2, left: 0 });
        let untried = ("c".to_owned(), Outcome::NotTried);
        let told = [caught.clone(), caught, survived.clone(), untried];
        assert_eq!(report(&args, &told), ExitCode::SUCCESS);
        assert_eq!(report(&args, &[told[0].clone(), survived]), ExitCode::from(1));
        assert!(Args::try_parse_from(["mutants", "--at-least", "101%"]).is_err());
    }
}
