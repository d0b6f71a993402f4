//! Mutates the seeds of a fuzz target and runs it on them, on stable Rust, the same way every time.
//!
//! `cargo fuzz` searches deeper and needs nightly Rust; this keeps every target honest in ordinary
//! tests. A hundred lines of our own and not a fuzzing library, because a test must do the same on
//! every machine and a failure must be found again from its round alone.
//!
//! To add a target: seeds in `fuzz/corpus/NAME/`, a file in `fuzz/fuzz_targets/` and a `[[bin]]` for
//! cargo-fuzz, and a test with `#[path = "../../../fuzz/mutate.rs"] mod mutate;` that calls
//! `mutate::run("NAME", &["corpus/NAME"], ROUNDS, function)`.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use ftlab::engine::Stream;

/// Inputs grow no longer than this.
const LONGEST: usize = 8 << 10;
/// Changes to one input, at most.
const MOST_CHANGES: u64 = 6;
/// What is put in the place of numbers: limits of types and of what is plausible.
const NUMBERS: [&str; 12] = [
    "0",
    "1",
    "-1",
    "255",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e9",
    "0.0000000001",
    "99999999999999999999999",
];
/// What is put anywhere: separators, ends, magic numbers.
const TOKENS: [&[u8]; 16] = [
    b"\n",
    b",",
    b" ",
    b"\t",
    b"\r\n",
    b"\0",
    b"#",
    b"PAR1",
    b"\x1f\x8b\x08",
    b"BZh9",
    b"\xff\xfe",
    b"\"",
    b"'''",
    b"[",
    b"=",
    b"%",
];

/// Runs `target` on every seed and on `rounds` mutations of them. The seeds are the files in
/// `folders`, which are named as seen from `fuzz/`.
pub fn run(name: &str, folders: &[&str], rounds: u64, target: impl Fn(&[u8])) {
    let seeds: Vec<_> = folders.iter().flat_map(|folder| seeds(folder)).collect();
    for seed in &seeds {
        attempt(name, "a seed", seed, &target);
    }
    for round in 0..rounds {
        let mut random = Stream::new(round, name);
        let input = mutated(&seeds, &mut random);
        attempt(name, &format!("round {round}"), &input, &target);
    }
}

fn seeds(folder: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz").join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folder:?} holds no seeds");
    paths.iter().map(|path| fs::read(path).expect("readable")).collect()
}

fn attempt(name: &str, which: &str, input: &[u8], target: impl Fn(&[u8])) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(input))) {
        eprintln!("fuzz target {name}, {which}, failed on:\n{}", input.escape_ascii());
        resume_unwind(panic);
    }
}

fn pick(random: &mut Stream, length: usize) -> usize {
    random.below(length as u64) as usize
}

/// A range within `length`, more often short than long.
fn range(random: &mut Stream, length: usize) -> std::ops::Range<usize> {
    let start = pick(random, length + 1);
    let reach = length - start;
    let most = if random.below(4) == 0 { reach } else { reach.min(16) };
    start..start + pick(random, most + 1)
}

fn mutated(seeds: &[Vec<u8>], random: &mut Stream) -> Vec<u8> {
    let mut input = seeds[pick(random, seeds.len())].clone();
    for _ in 0..=random.below(MOST_CHANGES) {
        change(&mut input, seeds, random);
        input.truncate(LONGEST);
    }
    input
}

fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Stream) {
    let place = range(random, input.len());
    match random.below(8) {
        0 if !input.is_empty() => {
            let at = pick(random, input.len());
            input[at] ^= 1 << random.below(8);
        }
        1 if !input.is_empty() => {
            let at = pick(random, input.len());
            input[at] = random.below(256) as u8;
        }
        2 => drop(input.drain(place)),
        3 => {
            let copy = input[place.clone()].to_vec();
            input.splice(place.end..place.end, copy);
        }
        4 => {
            let token = TOKENS[pick(random, TOKENS.len())];
            input.splice(place.start..place.start, token.iter().copied());
        }
        5 => replace_number(input, place.start, random),
        6 => {
            let other = &seeds[pick(random, seeds.len())];
            let piece = other[range(random, other.len())].to_vec();
            input.splice(place, piece);
        }
        _ => input.truncate(place.start),
    }
}

/// Puts another number in the place of the first one behind `from`.
fn replace_number(input: &mut Vec<u8>, from: usize, random: &mut Stream) {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = input[from..].iter().position(is_digit).map(|at| from + at) else { return };
    let length = input[start..].iter().position(|byte| !is_digit(byte));
    let end = length.map_or(input.len(), |length| start + length);
    let number = NUMBERS[pick(random, NUMBERS.len())];
    input.splice(start..end, number.bytes());
}
