//! The speed of devices as users configure them, and of those that use code paths of their own (`scenarios/`).
//!
//! `cargo bench -p ftlab --bench presets [-- SCENARIO...] [--requests N] [--whole]` prints requests a second of CPU,
//! the time of a request, write amplification, and a hash of all submissions and completions for each: two builds
//! with the same hash did the same. `--whole` keeps large presets at their full size, which takes minutes and
//! gigabytes.

mod common;
mod scenarios;

use common::cpu_time;
use scenarios::{Aged, SCENARIOS, Scenario, Size};

fn measure(scenario: &Scenario, size: Size, requests: u64) {
    let mut aged = Aged::new(scenario, size);
    let started = cpu_time();
    let measured = aged.play(requests);
    let seconds = (cpu_time() - started).as_secs_f64();
    let amplification = measured
        .amplification
        .map_or("-".to_owned(), |amplification| format!("{amplification:.3}"));
    println!(
        "{:<13} {:>6.3} M requests/s of CPU  {:>6.0} ns each  WA {amplification:>6}  {:>10.0} IOPS  hash {:016x}",
        scenario.name,
        requests as f64 / seconds / 1e6,
        seconds * 1e9 / requests as f64,
        requests as f64 / measured.seconds,
        measured.hash,
    );
}

/// Runs the scenarios named on the command line, or all. `cargo test` also runs benches, with `--test`: then small ones,
/// to show that they work.
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let (size, usual) = match (has("--whole"), cfg!(debug_assertions) || has("--test")) {
        (true, _) => (Size::Whole, 2_000_000),
        (_, true) => (Size::Small, 20_000),
        _ => (Size::Cut, 2_000_000),
    };
    let asked = arguments.iter().skip_while(|argument| *argument != "--requests").nth(1);
    let requests = asked.map_or(usual, |text| text.parse().expect("--requests takes a number"));
    let named: Vec<&String> = arguments
        .iter()
        .filter(|argument| !argument.starts_with("--") && Some(*argument) != asked)
        .collect();
    for scenario in &SCENARIOS {
        if named.is_empty() || named.iter().any(|name| **name == scenario.name) {
            measure(scenario, size, requests);
        }
    }
}
