//! Mutates the seeds of a target. The same seeds, seed and round give the same input on every
//! machine.
//!
//! `cargo fuzz` searches deeper but needs nightly Rust; this runs in ordinary tests. It is a
//! hundred lines of our own rather than a fuzzing library because a failure must be reproducible
//! from its round alone.

use std::fs;
use std::path::{Path, PathBuf};

use ftlab::engine::Stream;

/// The usual limit on an input's length.
const LONGEST: usize = 8 << 10;
/// The limit for one in [`LONG_ONES`] inputs, so that work that is more than linear shows.
const LONGEST_EVER: usize = 256 << 10;
const LONG_ONES: u64 = 32;
/// The most changes made to one input.
const MOST_CHANGES: u64 = 6;
/// Replacements for numbers: limits of types and of what is plausible.
const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "-1",
    "255",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e9",
    "1e308",
    "0.0000000001",
    "99999999999999999999999",
];
/// Replacements for lengths and counts in binary files.
const WORDS: [u64; 8] =
    [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 40, i64::MAX as u64, u64::MAX];
/// Insertions: separators, ends, magic numbers, paths out of a folder.
const TOKENS: [&[u8]; 26] = [
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
    b"\x28\xb5\x2f\xfd",
    b"\xff\xfe",
    b"\"",
    b"'''",
    b"[",
    b"[[[[[[[[[[[[[[[[",
    b"{",
    b"=",
    b"%",
    b"../",
    b"/",
    b"null",
    b"-0.0",
    b"nan",
    b"\xf0\x9f\xa6\x80",
    b"\xe2\x80\xae",
];

/// Returns the contents of the files in these folders (relative to `fuzz/`).
///
/// # Panics
/// A folder can't be read or is empty.
#[must_use]
pub fn seeds(folders: &[&str]) -> Vec<Vec<u8>> {
    let of = |folder: &&str| {
        let folder = corpora().join(folder);
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable").path()).collect();
        paths.sort();
        assert!(!paths.is_empty(), "{folder:?} holds no seeds");
        paths.into_iter().map(|path| fs::read(path).expect("readable")).collect::<Vec<_>>()
    };
    folders.iter().flat_map(of).collect()
}

/// Returns the path of `fuzz/`.
#[must_use]
pub fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// Returns the input of a round.
#[must_use]
pub fn input(seeds: &[Vec<u8>], name: &str, seed: u64, round: u64) -> Vec<u8> {
    // Seeds are spaced far apart so that their rounds do not overlap.
    let mut random = Stream::new((seed << 40).wrapping_add(round), name);
    let longest = if random.below(LONG_ONES) == 0 { LONGEST_EVER } else { LONGEST };
    let mut input = seeds[pick(&mut random, seeds.len())].clone();
    for _ in 0..=random.below(MOST_CHANGES) {
        change(&mut input, seeds, longest, &mut random);
        input.truncate(longest);
    }
    input
}

fn pick(random: &mut Stream, length: usize) -> usize {
    random.below(length as u64) as usize
}

/// Returns a random range within `length`, more often short than long.
fn range(random: &mut Stream, length: usize) -> std::ops::Range<usize> {
    let start = pick(random, length + 1);
    let reach = length - start;
    let most = if random.below(4) == 0 { reach } else { reach.min(16) };
    start..start + pick(random, most + 1)
}

fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], longest: usize, random: &mut Stream) {
    let place = range(random, input.len());
    match random.below(10) {
        0 if !input.is_empty() => {
            let at = pick(random, input.len());
            input[at] ^= 1 << random.below(8);
        }
        1 if !input.is_empty() => {
            let at = pick(random, input.len());
            input[at] = random.below(256) as u8;
        }
        2 => drop(input.drain(place)),
        3 => repeat(input, place, longest, random),
        4 => {
            let token = TOKENS[pick(random, TOKENS.len())];
            input.splice(place.start..place.start, token.iter().copied());
        }
        5 | 6 => replace_number(input, place.start, random),
        7 => {
            let other = &seeds[pick(random, seeds.len())];
            let piece = other[range(random, other.len())].to_vec();
            input.splice(place, piece);
        }
        8 => replace_word(input, place.start, random),
        _ => input.truncate(place.start),
    }
}

/// Repeats a piece, usually once and sometimes until the input is full.
fn repeat(input: &mut Vec<u8>, place: std::ops::Range<usize>, longest: usize, random: &mut Stream) {
    let piece = input[place.clone()].to_vec();
    let room = longest.saturating_sub(input.len()) / piece.len().max(1);
    let times = if random.below(8) == 0 { room } else { 1 };
    input.splice(place.end..place.end, piece.repeat(times));
}

/// Replaces the first number after `from`.
fn replace_number(input: &mut Vec<u8>, from: usize, random: &mut Stream) {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = input[from..].iter().position(is_digit).map(|at| from + at) else { return };
    let length = input[start..].iter().position(|byte| !is_digit(byte));
    let end = length.map_or(input.len(), |length| start + length);
    let number = NUMBERS[pick(random, NUMBERS.len())];
    input.splice(start..end, number.bytes());
}

/// Overwrites 4 or 8 bytes with a limit, in either byte order.
fn replace_word(input: &mut [u8], from: usize, random: &mut Stream) {
    let word = WORDS[pick(random, WORDS.len())];
    let mut bytes = word.to_le_bytes();
    let width = if random.below(2) == 0 { 4 } else { 8 };
    if random.below(2) == 0 {
        bytes[..width].reverse();
    }
    if let Some(there) = input.get_mut(from..from + width) {
        there.copy_from_slice(&bytes[..width]);
    }
}
