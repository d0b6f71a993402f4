//! The exact set of 4 KiB pages that a trace touches, separately for each stream.
//!
//! A chunk of 16 MiB takes one bit per page, and hardly any memory once it is fully touched, so
//! neither scattered requests nor large trims need much memory.

use std::collections::HashMap;

/// Sectors in a page of 4 KiB.
pub(super) const SECTORS_PER_PAGE: u64 = 8;
/// Pages in a word of the bitmap.
const PAGES_PER_WORD: u64 = 64;
/// Words in the bitmap of a chunk.
const WORDS: usize = 64;
/// Pages in a chunk.
const PAGES_PER_CHUNK: u64 = PAGES_PER_WORD * WORDS as u64;

/// A set of pages.
#[derive(Default)]
pub(crate) struct PageSet {
    // Only looked up, never iterated, so the order of the hash table has no effect.
    chunks: HashMap<(u32, u64), Chunk>,
    count: u64,
}

/// The pages of one chunk.
enum Chunk {
    All,
    Some(Box<[u64; WORDS]>),
}

impl PageSet {
    /// Adds the pages that the sectors from `lba` to `end` touch.
    pub fn touch(&mut self, stream: u32, lba: u64, end: u64) {
        let (first, last) = (lba / SECTORS_PER_PAGE, end.div_ceil(SECTORS_PER_PAGE));
        for number in first / PAGES_PER_CHUNK..last.div_ceil(PAGES_PER_CHUNK) {
            let base = number * PAGES_PER_CHUNK;
            let (from, to) = (first.max(base) - base, (last - base).min(PAGES_PER_CHUNK));
            let chunk = self.chunks.entry((stream, number)).or_insert_with(Chunk::none);
            self.count += chunk.touch(from, to);
        }
    }

    /// Returns the number of pages.
    pub fn len(&self) -> u64 {
        self.count
    }
}

impl Chunk {
    fn none() -> Chunk {
        Chunk::Some(Box::new([0; WORDS]))
    }

    /// Adds the pages from `from` to `to`, and returns how many of them are new.
    fn touch(&mut self, from: u64, to: u64) -> u64 {
        let Chunk::Some(words) = self else { return 0 };
        if to - from == PAGES_PER_CHUNK {
            let known: u64 = words.iter().map(|word| u64::from(word.count_ones())).sum();
            *self = Chunk::All;
            return PAGES_PER_CHUNK - known;
        }
        let mut fresh = 0;
        for word in from / PAGES_PER_WORD..to.div_ceil(PAGES_PER_WORD) {
            let base = word * PAGES_PER_WORD;
            let start = from.max(base) - base;
            let pages = (to - base).min(PAGES_PER_WORD) - start;
            let mask = (u64::MAX >> (PAGES_PER_WORD - pages)) << start;
            let known = &mut words[word as usize];
            fresh += u64::from((mask & !*known).count_ones());
            *known |= mask;
        }
        fresh
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ftlab::engine::Stream;

    use super::*;

    #[test]
    fn counts_like_a_plain_set() {
        let mut random = Stream::new(3, "pages");
        let (mut pages, mut plain) = (PageSet::default(), BTreeSet::new());
        for _ in 0..2_000 {
            let (stream, lba) = (random.below(2) as u32, random.below(400_000));
            let large = random.below(100) / 98;
            let end = lba + 1 + random.below(60) + large * random.below(90_000);
            pages.touch(stream, lba, end);
            plain.extend((lba / 8..end.div_ceil(8)).map(|page| (stream, page)));
        }
        assert_eq!(pages.len(), plain.len() as u64);
        assert!(pages.chunks.values().any(|chunk| matches!(chunk, Chunk::All)));
    }
}
