//! The exact set of 4 KiB pages that a trace touches, of every stream on its own.
//!
//! One entry stands for 64 pages (256 KiB), so that dense traces take about two bits a page and
//! scattered ones some thirty bytes.

use std::collections::HashMap;

/// Sectors in a page of 4 KiB.
const SECTORS_PER_PAGE: u64 = 8;

/// A set of pages.
#[derive(Default)]
pub(crate) struct Pages {
    // Only counted, never walked: the order of the hash is never seen.
    words: HashMap<(u32, u64), u64>,
    count: u64,
}

impl Pages {
    /// Adds the pages that the sectors from `lba` to `end` touch.
    pub fn touch(&mut self, stream: u32, lba: u64, end: u64) {
        let (first, last) = (lba / SECTORS_PER_PAGE, end.div_ceil(SECTORS_PER_PAGE));
        for word in first / 64..last.div_ceil(64) {
            let from = first.max(word * 64) % 64;
            let pages = last.min(word * 64 + 64) - first.max(word * 64);
            let mask = (u64::MAX >> (64 - pages)) << from;
            let known = self.words.entry((stream, word)).or_insert(0);
            self.count += u64::from((mask & !*known).count_ones());
            *known |= mask;
        }
    }

    /// How many pages there are.
    pub fn len(&self) -> u64 {
        self.count
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
        let (mut pages, mut plain) = (Pages::default(), BTreeSet::new());
        for _ in 0..2_000 {
            let (stream, lba) = (random.below(2) as u32, random.below(40_000));
            let end = lba + 1 + random.below(3_000) * random.below(2);
            pages.touch(stream, lba, end);
            plain.extend((lba / 8..end.div_ceil(8)).map(|page| (stream, page)));
        }
        assert_eq!(pages.len(), plain.len() as u64);
    }
}
