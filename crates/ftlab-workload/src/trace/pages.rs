//! The 4 KiB pages that a trace touches, separately for each stream: counted exactly while they take little memory,
//! and then by a sample of places.
//!
//! A chunk of 16 MiB takes one bit per page, and hardly any memory once it is fully touched, so
//! neither scattered requests nor large trims need much memory. If more than 65536 chunks are touched, half of
//! them are forgotten, by a hash of their addresses, and each of the others stands for two; so again and again.

use std::hash::{Hash, Hasher};

use super::keys::{KeyTable, is_followed, mixed};

/// Sectors in a page of 4 KiB.
pub(super) const SECTORS_PER_PAGE: u64 = 8;
/// Pages in a word of the bitmap.
const PAGES_PER_WORD: u64 = 64;
/// Words in the bitmap of a chunk.
const WORDS: usize = 64;
/// Pages in a chunk.
const PAGES_PER_CHUNK: u64 = PAGES_PER_WORD * WORDS as u64;

/// The most chunks that are kept, with about 40 MiB.
const MOST_CHUNKS: usize = 1 << 16;
/// Touches that wait to be made together.
const MOST_PENDING: usize = 1 << 10;

/// A set of pages.
pub(crate) struct PageSet {
    // Iterated only to be sifted, so the order of the hash table has no effect.
    places: KeyTable<ChunkKey, u32>,
    chunks: Vec<Chunk>,
    /// The bits of a chunk are seldom in a cache. Touches that are made together wait for them together.
    pending: Vec<PendingTouch>,
    /// How often half of the chunks were forgotten.
    halvings: u32,
    most: usize,
}

/// Tells chunks apart. Those of one stream have different mixed numbers, because mixing can be undone.
#[derive(PartialEq, Eq)]
struct ChunkKey {
    mixed: u64,
    stream: u32,
}

impl Hash for ChunkKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.mixed);
    }
}

/// Pages of a chunk that were touched and are not marked yet.
struct PendingTouch {
    place: u32,
    from: u16,
    to: u16,
}

/// The pages of one chunk.
enum Chunk {
    All,
    Some(Box<[u64; WORDS]>),
}

impl Default for PageSet {
    fn default() -> PageSet {
        PageSet::keeping(MOST_CHUNKS)
    }
}

impl PageSet {
    /// Keeps at most this many chunks.
    fn keeping(most: usize) -> PageSet {
        let (places, chunks, pending) = (KeyTable::default(), Vec::new(), Vec::new());
        PageSet { places, chunks, pending, halvings: 0, most }
    }

    /// Adds the pages that the sectors from `lba` to `end` touch.
    pub fn touch(&mut self, stream: u32, lba: u64, end: u64) {
        let (first, last) = (lba / SECTORS_PER_PAGE, end.div_ceil(SECTORS_PER_PAGE));
        let stream_key = mixed(u64::from(stream));
        for number in first / PAGES_PER_CHUNK..last.div_ceil(PAGES_PER_CHUNK) {
            let key = ChunkKey { mixed: mixed(number ^ stream_key), stream };
            if !is_followed(key.mixed, self.halvings) {
                continue;
            }
            let base = number * PAGES_PER_CHUNK;
            let (from, to) = (first.max(base) - base, (last - base).min(PAGES_PER_CHUNK));
            let next = self.chunks.len() as u32;
            let place = *self.places.entry(key).or_insert(next);
            if place == next {
                self.chunks.push(Chunk::none());
            }
            self.pending.push(PendingTouch { place, from: from as u16, to: to as u16 });
            if self.pending.len() == MOST_PENDING || self.chunks.len() > self.most {
                self.settle();
            }
        }
    }

    /// Makes the touches that wait, and forgets chunks if there are too many.
    fn settle(&mut self) {
        for PendingTouch { place, from, to } in self.pending.drain(..) {
            self.chunks[place as usize].touch(from.into(), to.into());
        }
        while self.chunks.len() > self.most {
            self.halve();
        }
    }

    #[cold]
    fn halve(&mut self) {
        self.halvings += 1;
        let mut kept = Vec::new();
        self.places.retain(|key, place| {
            let is_kept = is_followed(key.mixed, self.halvings);
            if is_kept {
                kept.push(std::mem::replace(&mut self.chunks[*place as usize], Chunk::All));
                *place = kept.len() as u32 - 1;
            }
            is_kept
        });
        self.chunks = kept;
    }

    /// Returns the number of pages, an estimate if chunks were forgotten, and its relative standard error, zero if it is exact.
    /// Of a chunk that stands for w, the number of pages has the variance w (w - 1) times its square.
    pub fn estimate(&mut self) -> (u64, f64) {
        self.settle();
        let add = |(sum, squares), pages| (sum + pages, squares + pages * pages);
        let (sum, squares): (u64, u64) = self.chunks.iter().map(Chunk::pages).fold((0, 0), add);
        let pages = sum << self.halvings;
        if self.halvings == 0 {
            return (pages, 0.0);
        }
        let weight = libm::exp2(f64::from(self.halvings));
        (pages, (squares as f64 * weight * (weight - 1.0)).sqrt() / pages as f64)
    }
}

impl Chunk {
    fn none() -> Chunk {
        Chunk::Some(Box::new([0; WORDS]))
    }

    /// Adds the pages from `from` to `to`.
    fn touch(&mut self, from: u64, to: u64) {
        let Chunk::Some(words) = self else { return };
        if to - from == PAGES_PER_CHUNK {
            *self = Chunk::All;
            return;
        }
        for word in from / PAGES_PER_WORD..to.div_ceil(PAGES_PER_WORD) {
            let base = word * PAGES_PER_WORD;
            let start = from.max(base) - base;
            let pages = (to - base).min(PAGES_PER_WORD) - start;
            words[word as usize] |= (u64::MAX >> (PAGES_PER_WORD - pages)) << start;
        }
    }

    fn pages(&self) -> u64 {
        match self {
            Chunk::All => PAGES_PER_CHUNK,
            Chunk::Some(words) => words.iter().map(|word| u64::from(word.count_ones())).sum(),
        }
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
        assert_eq!(pages.estimate(), (plain.len() as u64, 0.0));
        assert!(pages.chunks.iter().any(|chunk| matches!(chunk, Chunk::All)));
    }

    #[test]
    fn a_sample_of_chunks_is_as_near_as_it_says() {
        let mut random = Stream::new(7, "chunks");
        let (mut exact, mut sampled) = (PageSet::default(), PageSet::keeping(512));
        for _ in 0..60_000 {
            // Some places are touched far more often than others.
            let range = 1 << 22 << random.below(8);
            let (stream, lba) = (random.below(2) as u32, random.below(range));
            let end = lba + 1 + random.below(600);
            exact.touch(stream, lba, end);
            sampled.touch(stream, lba, end);
            assert!(sampled.chunks.len() <= 512);
        }
        let ((pages, exactly), (estimated, error)) = (exact.estimate(), sampled.estimate());
        assert!(exactly == 0.0 && sampled.halvings >= 4);
        let apart = estimated.abs_diff(pages);
        // A few chunks have most of the pages, so the error is larger than one over the root of 512.
        assert!(0.04 < error && error < 0.2, "{error}");
        assert!((apart as f64) < 3.0 * error * pages as f64, "{apart} {error}");
    }
}
