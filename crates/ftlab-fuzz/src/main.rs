//! Runs the targets for as long as you like: `./x fuzz --minutes 60 --seed 7`.
//!
//! Each target runs in a process of its own, so stack overflows, aborts on failed allocation and hangs are
//! found as well as panics. The process notes each round before it tries the input; if it dies, the parent
//! makes that round's input again, keeps it in `fuzz/corpus` and prints the command that replays it.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use ftlab_fuzz::{LONGEST_TIME, Spent, TARGETS, Target, clock, mutate, target};

/// The exit code when an input takes too long.
const HUNG: i32 = 3;
/// The exit code when an input breaks a promise.
const BROKEN: i32 = 4;
/// A target is abandoned after this many failures.
const MOST_FAILURES: u32 = 20;

/// Run every parser of ftlab on mutated files, within bounds of time and memory.
#[derive(Debug, Parser)]
struct Args {
    /// Total time in minutes, shared by all targets.
    #[arg(long, default_value_t = 10.0, value_name = "M")]
    minutes: f64,
    /// Seed of the mutations.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..1 << 23))]
    seed: u64,
    /// Run only this target; may be repeated.
    #[arg(long = "target", value_name = "NAME", value_parser = known)]
    targets: Vec<String>,
    /// Replay this input on the target named by --target, or else by the file's folder.
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Note each round in this file; marks a worker process.
    #[arg(long, hide = true)]
    notes: Option<PathBuf>,
    /// Start at this round.
    #[arg(long, default_value_t = 0, hide = true)]
    from: u64,
}

fn known(name: &str) -> Result<String, String> {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    match names.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(format!("there are {}", names.join(", "))),
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match (&args.input, &args.notes) {
        (Some(input), _) => replay(&args, input),
        (None, Some(notes)) => work(&args, notes),
        (None, None) => lead(&args),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    })
}

/// Returns the selected targets.
fn chosen(args: &Args) -> Vec<&'static Target> {
    let asked = |target: &&Target| {
        args.targets.is_empty() || args.targets.iter().any(|name| name == target.name)
    };
    TARGETS.iter().filter(asked).collect()
}

fn replay(args: &Args, path: &Path) -> io::Result<ExitCode> {
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let name = args.targets.first().map(String::as_str).or(folder).unwrap_or_default();
    let target =
        target(name).ok_or_else(|| io::Error::other("which target? Name it with --target"))?;
    match target.attempt(&fs::read(path)?) {
        Ok(spent) => {
            println!("{}: {}", target.name, told(spent));
            Ok(ExitCode::SUCCESS)
        }
        Err(why) => {
            println!("{}: {why}", target.name);
            Ok(ExitCode::from(1))
        }
    }
}

fn told(spent: Spent) -> String {
    let mib = spent.peak_bytes as f64 / f64::from(1 << 20);
    format!("{:.3} s, {mib:.1} MiB", spent.time.as_secs_f64())
}

/// A worker's progress, as stored in its notes file.
#[derive(Clone, Copy, Debug, Default)]
struct Notes {
    /// The current round.
    round: u64,
    /// The maxima so far.
    spent: Spent,
}

impl Notes {
    const LENGTH: usize = 24;

    fn write(&self, to: &mut File) -> io::Result<()> {
        let time = self.spent.time.as_nanos() as u64;
        let all = [self.round, time, self.spent.peak_bytes].map(u64::to_le_bytes).concat();
        to.rewind()?;
        to.write_all(&all)
    }

    fn read(path: &Path) -> io::Result<Notes> {
        let mut bytes = [0; Notes::LENGTH];
        File::open(path)?.read_exact(&mut bytes)?;
        let number = |at: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(number)
        };
        let time = Duration::from_nanos(number(8));
        Ok(Notes { round: number(0), spent: Spent { time, peak_bytes: number(16) } })
    }
}

/// Tries inputs until the time is up or one breaks a promise.
fn work(args: &Args, notes: &Path) -> io::Result<ExitCode> {
    let target = chosen(args)[0];
    let mut file = File::create(notes)?;
    let seeds = target.seeds();
    let (begun, until) = (Instant::now(), Duration::from_secs_f64(args.minutes * 60.0));
    let mut now = Notes { round: args.from, spent: Spent::default() };
    watch_for_hangs();
    while begun.elapsed() < until {
        now.write(&mut file)?;
        AT.fetch_add(1, Ordering::Relaxed);
        let input = mutate::input(&seeds, target.name, args.seed, now.round);
        match target.attempt(&input) {
            Ok(spent) => now.spent = now.spent.max(spent),
            Err(why) => {
                eprintln!("{}: {why}", target.name);
                std::process::exit(BROKEN);
            }
        }
        now.round += 1;
    }
    now.write(&mut file)?;
    Ok(ExitCode::SUCCESS)
}

/// The number of inputs started.
static AT: AtomicU64 = AtomicU64::new(0);

/// How often an input is looked at.
const LOOKS_EVERY: Duration = Duration::from_secs(1);
/// The most looks at one input. Only one that waits for something has more; a clock would also count the time for which
/// the machine stands still.
const MOST_LOOKS: u32 = 600;

/// Ends the process if all threads together take far too long for an input, or if it waits without end.
fn watch_for_hangs() {
    std::thread::spawn(|| {
        let (mut seen, mut begun, mut looks) = (0, Duration::ZERO, 0);
        loop {
            std::thread::sleep(LOOKS_EVERY);
            let (at, spent) = (AT.load(Ordering::Relaxed), clock::of_process());
            if seen != at {
                (seen, begun, looks) = (at, spent, 0);
            }
            looks += 1;
            if spent - begun > LONGEST_TIME * 2 || looks > MOST_LOOKS {
                eprintln!("an input takes longer than {} s", LONGEST_TIME.as_secs());
                std::process::exit(HUNG);
            }
        }
    });
}

/// Runs the targets one after another and prints a summary of each.
fn lead(args: &Args) -> io::Result<ExitCode> {
    let targets = chosen(args);
    let share = Duration::from_secs_f64(args.minutes * 60.0 / targets.len() as f64);
    let mut failures = 0;
    println!(
        "{:<12} {:>12} {:>10} {:>10} {:>9}",
        "target", "inputs", "longest", "most MiB", "failures"
    );
    for target in targets {
        let Tally { rounds, spent, failures: more } = run(args, target, share)?;
        let mib = spent.peak_bytes as f64 / f64::from(1 << 20);
        let longest = format!("{:.3} s", spent.time.as_secs_f64());
        println!("{:<12} {rounds:>12} {longest:>10} {mib:>10.1} {more:>9}", target.name);
        failures += more;
    }
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// A target's results.
#[derive(Default)]
struct Tally {
    rounds: u64,
    spent: Spent,
    failures: u32,
}

fn run(args: &Args, target: &Target, share: Duration) -> io::Result<Tally> {
    let folder = tempfile::tempdir()?;
    let notes = folder.path().join("notes");
    let (begun, mut tally) = (Instant::now(), Tally::default());
    while tally.failures < MOST_FAILURES {
        let left = share.saturating_sub(begun.elapsed());
        if left.is_zero() {
            break;
        }
        // The same seeds that the worker starts with.
        let seeds = target.seeds();
        let status = Command::new(std::env::current_exe()?)
            .args(["--target", target.name, "--seed", &args.seed.to_string()])
            .args(["--minutes", &(left.as_secs_f64() / 60.0).to_string()])
            .args(["--from", &tally.rounds.to_string()])
            .arg("--notes")
            .arg(&notes)
            .stdin(std::process::Stdio::null())
            .status()?;
        let Notes { round, spent } = Notes::read(&notes)?;
        tally.spent = tally.spent.max(spent);
        tally.rounds = round;
        if status.success() {
            break;
        }
        let input = mutate::input(&seeds, target.name, args.seed, round);
        let kept = keep(target, &input)?;
        eprintln!("{}, round {round}: {status}", target.name);
        eprintln!("replay: ./x fuzz --input {}", kept.display());
        tally.rounds += 1;
        tally.failures += 1;
    }
    Ok(tally)
}

/// Keeps a failing input as a seed for later tests.
fn keep(target: &Target, input: &[u8]) -> io::Result<PathBuf> {
    let name = format!("found-{}.bin", &blake3::hash(input).to_hex()[..12]);
    let path = mutate::corpora().canonicalize()?.join("corpus").join(target.name).join(name);
    fs::write(&path, input)?;
    Ok(path)
}
