//! Deferred changes of the page map by collection, for times when nobody reads the map.
//!
//! Collection copies pages in the order of flash, but their map entries are scattered: each change misses every cache
//! and the TLB. Deferring the changes until many of one part of the map have come together costs a third of that.
//! Meanwhile the places of valid pages are in the spare area, which is all that collection needs. Readers of the map
//! have to [settle](settle_page) the page first.

use super::Ftl;
use crate::ftl::mapping::MappingPolicy;
use crate::units::{Lpn, Ppn};

/// The most parts of the map: as many as can have their write position cached.
const MOST_PARTS: u32 = 512;
/// The size of the smallest part, in entries, as a power of two.
const LEAST_BITS: u32 = 16;
/// Entries of a part that are applied together.
const TOGETHER: usize = 512;
/// Mark words of a part. A mark says that the part has a change for one of the pages that share the mark.
const MARK_WORDS: usize = 128;

/// Changes that the map does not contain yet.
#[derive(Clone, Debug)]
pub(crate) struct Relocations {
    /// The size of a part in pages, as a power of two.
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
    /// No changes, for a map of this many pages.
    pub fn new(pages: u32) -> Relocations {
        let mut bits = LEAST_BITS;
        while pages >> bits >= MOST_PARTS {
            bits += 1;
        }
        let part = Part { moved: Vec::new(), marks: [0; MARK_WORDS], is_full: false };
        Relocations { bits, parts: vec![part; (pages >> bits) as usize + 1] }
    }

    /// A page has moved to `at`.
    #[inline]
    pub fn put(&mut self, page: Lpn, at: Ppn) {
        let part = &mut self.parts[(page.get() >> self.bits) as usize];
        let (word, bit) = mark(page);
        part.marks[word] |= bit;
        part.moved.push((page, at));
        part.is_full |= part.moved.len() >= TOGETHER;
    }
}

/// The position of a page's mark.
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

/// Makes the map entry of a page current.
#[inline]
pub(crate) fn settle_page(page: Lpn, later: &mut Relocations, ftl: &mut Ftl) {
    let part = &mut later.parts[(page.get() >> later.bits) as usize];
    let (word, bit) = mark(page);
    if part.marks[word] & bit != 0 || part.is_full {
        part.settle(ftl);
    }
}

/// Makes the whole map current.
pub(crate) fn settle_all(later: &mut Relocations, ftl: &mut Ftl) {
    later.parts.iter_mut().for_each(|part| part.settle(ftl));
}
