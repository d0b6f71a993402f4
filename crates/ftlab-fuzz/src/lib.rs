//! Feeds mutated files to every parser of ftlab. A parser may refuse an input, but must not panic,
//! take longer than [`LONGEST_TIME`] or hold more memory than its target's [`Bound`].
//!
//! The targets are plain functions in the crates that own the parsers (`fuzz.rs`). Tests run each
//! for a few seconds; the program `ftlab-fuzz` (`./x fuzz`) runs as long as you like. Seeds are in
//! `fuzz/corpus/NAME/`, where failures are kept as well.

pub mod clock;
pub mod mutate;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

pub use targets::{Bound, TARGETS, Target};

/// The longest time for any input: processor time of the thread that parses it. Threads that a parser starts are not
/// counted: large traces are counted and members of archives are unpacked aside. The program `ftlab-fuzz` bounds
/// those with the whole process.
pub const LONGEST_TIME: Duration = Duration::from_secs(20);

/// The time and memory used by an input.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Processor time of the thread.
    pub time: Duration,
    /// The peak of allocated bytes. Memory of C libraries (zstd, xz, bzip2) is not counted; they
    /// have limits of their own.
    pub peak_bytes: u64,
}

impl Spent {
    /// Returns the maximum of each.
    #[must_use]
    pub fn max(self, other: Spent) -> Spent {
        Spent { time: self.time.max(other.time), peak_bytes: self.peak_bytes.max(other.peak_bytes) }
    }
}

impl Target {
    /// Runs the target on an input.
    ///
    /// # Errors
    /// Says which promise was broken. The message of a panic has been printed by then.
    pub fn attempt(&self, input: &[u8]) -> Result<Spent, String> {
        let started = clock::of_thread();
        let mut panicked = false;
        let allocated = allocation_counter::measure(|| {
            panicked = catch_unwind(AssertUnwindSafe(|| (self.run)(input))).is_err();
        });
        let time = clock::of_thread().saturating_sub(started);
        let spent = Spent { time, peak_bytes: allocated.bytes_max };
        let most = self.bound.of(input.len());
        if panicked {
            return Err("it panicked".to_owned());
        }
        if spent.time > LONGEST_TIME {
            return Err(format!("it took {:.1} s", spent.time.as_secs_f64()));
        }
        if spent.peak_bytes > most {
            let (length, peak) = (input.len(), spent.peak_bytes);
            return Err(format!(
                "it held {peak} bytes of memory for {length} of input; bound {most}"
            ));
        }
        Ok(spent)
    }

    /// Returns all seeds, including past failures.
    #[must_use]
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        mutate::seeds(self.folders)
    }

    /// Tries every seed and `rounds` mutations of them.
    ///
    /// # Panics
    /// An input breaks a promise.
    pub fn check(&self, rounds: u64) {
        let seeds = self.seeds();
        let told = |which: &str, input: &[u8]| {
            if let Err(why) = self.attempt(input) {
                panic!("target {}, {which}: {why}:\n{}", self.name, input.escape_ascii());
            }
        };
        seeds.iter().for_each(|seed| told("a seed", seed));
        for round in 0..rounds {
            let input = mutate::input(&seeds, self.name, 0, round);
            told(&format!("round {round}"), &input);
        }
    }
}

/// Returns the target of this name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
