//! Changes of the page map that collection owes it, where nobody looks at the map in between.
//!
//! Collection copies pages as they lie on flash, and their map entries lie anywhere: each is a miss of every cache, the
//! processor's table of memory pages included. Put off until many of one part of the map are together, they cost a
//! third of that. The places of valid pages stand in the spare area meanwhile, which is all that collection asks
//! for. Who asks the map has to [settle](settle_page) the page first.

use super::Ftl;
use crate::ftl::mapping::MappingPolicy;
use crate::units::{Lpn, Ppn};

/// Parts of the map, at the most: as many as keep a place to write to each of them near the processor.
const MOST_PARTS: u32 = 512;
/// Entries of the smallest part, as a power of two.
const LEAST_BITS: u32 = 16;
/// Entries of a part that are changed together.
const TOGETHER: usize = 512;
/// Marks of a part, 64 in a word: each says that a page of some of the numbers that share it is in the part.
const MARK_WORDS: usize = 128;

/// What the map does not say yet.
#[derive(Clone, Debug)]
pub(crate) struct Relocations {
    /// Pages of a part, as a power of two.
    bits: u32,
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Part {
    moved: Vec<(Lpn, Ppn)>,
    marks: [u64; MARK_WORDS],
    is_full: bool,
}

impl Relocations {
    /// Nothing, for a map of so many pages.
    pub fn new(pages: u32) -> Relocations {
        let mut bits = LEAST_BITS;
        while pages >> bits >= MOST_PARTS {
            bits += 1;
        }
        let part = Part { moved: Vec::new(), marks: [0; MARK_WORDS], is_full: false };
        Relocations { bits, parts: vec![part; (pages >> bits) as usize + 1] }
    }

    /// A page lies at `at` from now on.
    #[inline]
    pub fn put(&mut self, page: Lpn, at: Ppn) {
        let part = &mut self.parts[(page.get() >> self.bits) as usize];
        let (word, bit) = mark(page);
        part.marks[word] |= bit;
        part.moved.push((page, at));
        part.is_full |= part.moved.len() >= TOGETHER;
    }
}

/// Where the mark of a page stands.
#[inline]
fn mark(page: Lpn) -> (usize, u64) {
    let word = (page.get() / u64::BITS) as usize % MARK_WORDS;
    (word, 1 << (page.get() % u64::BITS))
}

impl Part {
    #[inline(never)]
    fn settle(&mut self, ftl: &mut Ftl) {
        ftl.map.mapping.put_all(&self.moved);
        self.moved.clear();
        self.marks = [0; MARK_WORDS];
        self.is_full = false;
    }
}

/// The map says of a page what it should.
#[inline]
pub(crate) fn settle_page(page: Lpn, later: &mut Relocations, ftl: &mut Ftl) {
    let part = &mut later.parts[(page.get() >> later.bits) as usize];
    let (word, bit) = mark(page);
    if part.marks[word] & bit != 0 || part.is_full {
        part.settle(ftl);
    }
}

/// The map says of all pages what it should.
pub(crate) fn settle_all(later: &mut Relocations, ftl: &mut Ftl) {
    later.parts.iter_mut().for_each(|part| part.settle(ftl));
}
