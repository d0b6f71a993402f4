//! Counts the instructions per request in each scenario of the `presets` bench: `./x instructions`.
//!
//! Times vary from run to run and with the load of the machine; counts do not, so a change of two
//! percent shows and can fail a test. valgrind's cachegrind counts small forms of the scenarios,
//! once with the measured requests and once without (`count.rs`); the difference leaves out
//! building, filling and ageing the device. The bounds are in `bounds.toml` (`bounds.rs`).

mod bounds;
mod count;
#[allow(
    dead_code,
    reason = "the bench plays larger forms, too, and prints more of what comes of them"
)]
#[path = "../../ftlab/benches/scenarios/mod.rs"]
mod scenarios;

use std::process::ExitCode;

use bounds::{BoundVerdict, Bounds};
use count::Counted;

const USAGE: &str = "usage: ./x instructions [--update]";
/// Set to `required`, this variable makes missing valgrind an error.
const REQUIRED: &str = "FTLAB_INSTRUCTIONS";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let led = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => check(),
        ["--update"] => update(),
        [count::PLAY, name, requests] => count::play(name, requests).map(|()| ExitCode::SUCCESS),
        _ => Err(USAGE.to_owned()),
    };
    led.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    })
}

/// Checks the counts against their bounds.
fn check() -> Result<ExitCode, String> {
    if !count::is_valgrind_there() {
        if std::env::var(REQUIRED).is_ok_and(|value| value == "required") {
            return Err(format!("valgrind is missing, and {REQUIRED} says that it is required"));
        }
        println!("instructions: skipped: valgrind is missing");
        return Ok(ExitCode::SUCCESS);
    }
    let bounds = Bounds::read()?;
    let margin = bounds.margin(&count::compiler()?);
    println!("{:<14} {:>10} {:>10}", "instructions", "a request", "bound");
    let (mut above, mut below) = (false, false);
    for Counted { name, each } in count::all()? {
        let bound = bounds.of(name);
        let verdict =
            bound.map_or(BoundVerdict::Unbounded, |bound| BoundVerdict::of(each, bound, margin));
        let bound = bound.map_or("-".to_owned(), |bound| bound.to_string());
        println!("{name:<14} {each:>10} {bound:>10}  {}", verdict.told());
        above |= matches!(verdict, BoundVerdict::Above { .. } | BoundVerdict::Unbounded);
        below |= matches!(verdict, BoundVerdict::Below { .. });
    }
    if below {
        println!("Fewer than before: update the bounds with ./x instructions --update.");
    }
    if !above {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!(
        "error: a request takes more instructions than its bound plus {:.0} % (or has none). See where they go:\n  {}\n\
         If this is intended, update the bounds with ./x instructions --update and say why in the commit.",
        margin * 100.0,
        count::profile_command()?,
    );
    Ok(ExitCode::FAILURE)
}

/// Makes the present counts the bounds.
fn update() -> Result<ExitCode, String> {
    let counted = count::all()?;
    Bounds::write(&count::compiler()?, &counted)?;
    counted.iter().for_each(|Counted { name, each }| println!("{name:<14} {each:>10}"));
    Ok(ExitCode::SUCCESS)
}
