//! Buffers that hold nothing but page numbers: what would have been hit with another search region.
//!
//! Each sees the same writes and reads as the real buffer, has room for as many pages, and evicts by its own
//! region. Of a large buffer only some of the pages are followed, chosen by their numbers, in shadows that
//! are smaller by as much: that tells about the same (Waldspurger et al., FAST 2015, on sampling by
//! address) and bounds time and memory.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::SlotId;
use super::aged::AgedLine;
use crate::engine::{Handle, NumberHasher, Slab};
use crate::units::{Lpn, Ratio};

/// Search regions that are compared, the smallest first: none at all is LRU.
pub(super) const REGIONS: [Ratio; 4] =
    [Ratio::percent(0), Ratio::percent(30), Ratio::percent(60), Ratio::percent(90)];
/// What a buffer begins with: what the paper found best.
const FIRST: usize = REGIONS.len() - 1;

/// Pages that a shadow follows at the most.
const MOST_PAGES: u32 = 1024;

/// Each time that as many uses have passed as a shadow has pages, hits before lose this part of their weight.
const FORGOTTEN: u64 = 5;

/// A hit's weight; the scale leaves forgetting its fractions.
const HIT: u64 = 1 << 10;

/// A page in a shadow; its handle stands for a slot.
#[derive(Clone, Debug)]
struct Followed {
    page: Lpn,
}

/// A buffer with a region of its own.
#[derive(Clone, Debug)]
struct Shadow {
    region: Ratio,
    aged: AgedLine,
    pages: Slab<Followed>,
    index: HashMap<Lpn, Handle<Followed>, BuildHasherDefault<NumberHasher>>,
    /// Writes that hit, the older ones with less weight.
    score: u64,
}

/// The slot by which a line knows a page of a shadow.
fn slot(entry: Handle<Followed>) -> SlotId {
    SlotId::new(entry.get())
}

impl Shadow {
    fn new(region: Ratio, cooling: u32) -> Shadow {
        let aged = AgedLine::new(cooling, 1);
        Shadow { region, aged, pages: Slab::default(), index: HashMap::default(), score: 0 }
    }

    fn used(&mut self, page: Lpn, written: bool, capacity: u32) {
        if let Some(&entry) = self.index.get(&page) {
            self.aged.hit(slot(entry), None);
            self.score += HIT * u64::from(written);
        } else if written {
            let entry = self.pages.insert(Followed { page });
            self.index.insert(page, entry);
            self.aged.enter(slot(entry), None);
            while self.aged.line().pages() > capacity {
                self.evict();
            }
        }
    }

    fn evict(&mut self) {
        self.aged.pass_time();
        let colder = self.aged.take_colder(self.region);
        let Some(out) = colder.or_else(|| self.aged.line().tail()) else { return };
        self.drop(Handle::new(out.get()));
    }

    fn drop(&mut self, entry: Handle<Followed>) {
        self.aged.leave(slot(entry));
        self.index.remove(&self.pages[entry].page);
        self.pages.release(entry);
    }

    fn forget(&mut self, page: Lpn) {
        if let Some(&entry) = self.index.get(&page) {
            self.drop(entry);
        }
    }
}

/// The shadows of a buffer, and which region has done best.
#[derive(Clone, Debug)]
pub(super) struct Shadows {
    shadows: [Shadow; REGIONS.len()],
    best: usize,
    /// One page in so many is followed: two to this power.
    sampling: u32,
    cooling: u32,
    /// Uses since old hits last lost weight.
    uses: u32,
}

impl Shadows {
    /// Of a buffer of so many pages, in which pages cool likewise.
    pub(super) fn new(capacity: u32, cooling: u32) -> Shadows {
        Shadows {
            shadows: REGIONS.map(|region| Shadow::new(region, cooling)),
            best: FIRST,
            sampling: capacity.div_ceil(MOST_PAGES).next_power_of_two().ilog2(),
            cooling,
            uses: 0,
        }
    }

    /// Which region has done best, of [`REGIONS`].
    pub(super) fn best(&self) -> usize {
        self.best
    }

    /// As if this one had.
    pub(super) fn set_best(&mut self, best: usize) {
        self.best = best;
    }

    /// Forgets all pages and hits: only what was found best stays.
    pub(super) fn rest(&mut self) {
        self.shadows = REGIONS.map(|region| Shadow::new(region, self.cooling));
        self.uses = 0;
    }

    /// A page was written or read in the buffer, which holds so many.
    pub(super) fn used(&mut self, page: Lpn, written: bool, pages: u32) {
        if !self.follows(page) {
            return;
        }
        let capacity = (pages >> self.sampling).max(1);
        self.shadows.iter_mut().for_each(|shadow| shadow.used(page, written, capacity));
        self.uses += 1;
        if self.uses >= capacity {
            self.uses = 0;
            self.judge();
        }
    }

    /// A page was deallocated.
    pub(super) fn forget(&mut self, page: Lpn) {
        if self.follows(page) {
            self.shadows.iter_mut().for_each(|shadow| shadow.forget(page));
        }
    }

    fn follows(&self, page: Lpn) -> bool {
        // Fibonacci hashing: the upper bits carry the whole number.
        let hash = page.get().wrapping_mul(0x9E37_79B9);
        hash.leading_zeros() >= self.sampling
    }

    /// Another region is chosen if it did better than the present one; of equals the smallest.
    fn judge(&mut self) {
        let scores = self.shadows.iter().map(|shadow| shadow.score).enumerate();
        let best = scores.rev().max_by_key(|&(_, score)| score);
        if let Some((best, _)) = best.filter(|&(_, score)| score > self.shadows[self.best].score) {
            self.best = best;
        }
        self.shadows.iter_mut().for_each(|shadow| shadow.score -= shadow.score / FORGOTTEN);
    }
}
