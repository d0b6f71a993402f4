//! The order in which places get faults; it depends only on the seed.
//!
//! Places are ordered by a hash of the seed and of their code, not by their line, so that after a
//! change elsewhere the same seed still draws mostly the same faults. One place of each file comes
//! first, then a second of each, and so on, so that small files count as much as large ones.

use std::collections::BTreeMap;

use crate::places::FaultPlace;

#[derive(Debug)]
pub struct SourceFile {
    /// Path relative to the project's root, with slashes.
    pub path: String,
    pub text: String,
    pub places: Vec<FaultPlace>,
}

/// A fault to plant: a place in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnFault {
    /// Index of the source.
    pub source: usize,
    /// Index of the place in the source.
    pub place: usize,
}

/// Returns all places in the order that the seed draws them; of overlapping places only the first.
pub fn draw(sources: &[SourceFile], seed: u64) -> Vec<DrawnFault> {
    let mut all = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        let file = hash(seed, &[&source.path]);
        for (round, place) in of_file(source, seed).into_iter().enumerate() {
            all.push(((round, file), DrawnFault { source: at, place }));
        }
    }
    all.sort_by_key(|(key, _)| *key);
    all.into_iter().map(|(_, drawn)| drawn).collect()
}

/// Returns the places of a file that do not overlap, in the order of their hashes.
fn of_file(source: &SourceFile, seed: u64) -> Vec<usize> {
    let mut seen = BTreeMap::new();
    let mut keyed = Vec::new();
    for (at, place) in source.places.iter().enumerate() {
        let same = seen.entry((&place.was, &place.becomes)).or_insert(0_u32);
        let which = same.to_string();
        *same += 1;
        keyed.push((hash(seed, &[&source.path, &place.was, &place.becomes, &which]), at));
    }
    keyed.sort_unstable();
    let mut taken: Vec<usize> = Vec::new();
    for (_, at) in keyed {
        if !taken.iter().any(|&other| overlap(&source.places[at], &source.places[other])) {
            taken.push(at);
        }
    }
    taken
}

fn overlap(a: &FaultPlace, b: &FaultPlace) -> bool {
    a.bytes == b.bytes || (a.bytes.start < b.bytes.end && b.bytes.start < a.bytes.end)
}

fn hash(seed: u64, parts: &[&str]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places;

    fn sources() -> Vec<SourceFile> {
        let text = "fn f() -> bool { a(b + 1, c < d); e.min(7) == g && !h }";
        let source = |path: &str| SourceFile {
            path: path.to_owned(),
            text: text.to_owned(),
            places: places::find(text).expect("Rust").places,
        };
        ["a.rs", "b.rs", "c.rs"].map(source).into()
    }

    #[test]
    fn the_same_seed_draws_the_same_and_another_draws_others() {
        let sources = sources();
        assert_eq!(draw(&sources, 7), draw(&sources, 7));
        assert_ne!(draw(&sources, 7), draw(&sources, 8));
    }

    #[test]
    fn one_of_each_file_comes_first() {
        let drawn = draw(&sources(), 1);
        for round in drawn.chunks(3).take(2) {
            let mut files: Vec<usize> = round.iter().map(|drawn| drawn.source).collect();
            files.sort_unstable();
            assert_eq!(files, [0, 1, 2]);
        }
    }

    #[test]
    fn no_two_faults_overlap() {
        let sources = sources();
        let drawn = draw(&sources, 3);
        for (at, a) in drawn.iter().enumerate() {
            for b in drawn[..at].iter().filter(|b| b.source == a.source) {
                let places = &sources[a.source].places;
                assert!(!overlap(&places[a.place], &places[b.place]), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn lines_above_change_nothing() {
        let mut moved = sources();
        let drawn = draw(&moved, 5);
        moved[1].text.insert_str(0, "// A line.\n\n");
        moved[1].places = places::find(&moved[1].text).expect("Rust").places;
        assert_eq!(draw(&moved, 5), drawn);
    }
}
