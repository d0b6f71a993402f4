//! Shadow buffers, which hold only page numbers and show what would have been hit with another search region.
//!
//! Each sees the same writes and reads as the real buffer, has the same capacity, and evicts with its own
//! region. For a large buffer, only a sample of the pages is tracked, chosen by number, in proportionally
//! smaller shadows. The result is about the same (Waldspurger et al., FAST 2015, on sampling by address), and
//! time and memory are bounded.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::SlotId;
use super::aged::AgedLine;
use crate::engine::{Handle, NumberHasher, Slab};
use crate::units::{Lpn, Ratio};

/// Search regions that are compared, the smallest first. An empty region is LRU.
pub(super) const REGIONS: [Ratio; 4] =
    [Ratio::percent(0), Ratio::percent(30), Ratio::percent(60), Ratio::percent(90)];
/// The initial region: the best one in the paper.
const FIRST: usize = REGIONS.len() - 1;

/// Maximum number of pages in a shadow.
const MOST_PAGES: u32 = 1024;

/// Old hits lose this part of their weight (one in so many) each time that a shadow has seen as many uses as
/// it has pages.
const FORGOTTEN: u64 = 5;

/// The weight of a hit, large enough to lose fractions of it.
const HIT: u64 = 1 << 10;

/// A page in a shadow; its handle stands for a slot.
#[derive(Clone, Debug)]
struct Followed {
    page: Lpn,
}

/// A buffer with its own region.
#[derive(Clone, Debug)]
struct Shadow {
    region: Ratio,
    aged: AgedLine,
    pages: Slab<Followed>,
    index: HashMap<Lpn, Handle<Followed>, BuildHasherDefault<NumberHasher>>,
    /// Writes that hit, with less weight for older ones.
    score: u64,
}

/// The slot that stands for a page of a shadow in its line.
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
    /// Two to this power is the number of pages for each one that is tracked.
    sampling: u32,
    cooling: u32,
    /// Uses since old hits last lost weight.
    uses: u32,
}

impl Shadows {
    /// Returns the shadows of a buffer of `capacity` pages.
    pub(super) fn new(capacity: u32, cooling: u32) -> Shadows {
        Shadows {
            shadows: REGIONS.map(|region| Shadow::new(region, cooling)),
            best: FIRST,
            sampling: capacity.div_ceil(MOST_PAGES).next_power_of_two().ilog2(),
            cooling,
            uses: 0,
        }
    }

    /// Index in [`REGIONS`] of the one that has done best.
    pub(super) fn best(&self) -> usize {
        self.best
    }

    pub(super) fn set_best(&mut self, best: usize) {
        self.best = best;
    }

    /// Forgets all pages and hits, but not the best region.
    pub(super) fn rest(&mut self) {
        self.shadows = REGIONS.map(|region| Shadow::new(region, self.cooling));
        self.uses = 0;
    }

    /// Notes that a page was written or read in the buffer, which holds `pages` pages.
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

    /// Notes that a page was deallocated.
    pub(super) fn forget(&mut self, page: Lpn) {
        if self.follows(page) {
            self.shadows.iter_mut().for_each(|shadow| shadow.forget(page));
        }
    }

    fn follows(&self, page: Lpn) -> bool {
        // Fibonacci hashing: the upper bits depend on the whole number.
        let hash = page.get().wrapping_mul(0x9E37_79B9);
        hash.leading_zeros() >= self.sampling
    }

    /// Chooses another region if it did better than the current one; the smallest one in a tie.
    fn judge(&mut self) {
        let scores = self.shadows.iter().map(|shadow| shadow.score).enumerate();
        let best = scores.rev().max_by_key(|&(_, score)| score);
        if let Some((best, _)) = best.filter(|&(_, score)| score > self.shadows[self.best].score) {
            self.best = best;
        }
        self.shadows.iter_mut().for_each(|shadow| shadow.score -= shadow.score / FORGOTTEN);
    }
}
