//! The read cache: recently read flash pages, kept apart from the write buffer.
//!
//! Source: Lu, Fan and Jiang, "Improved Flash Translation Layer Algorithm Based on OpenSSD", Computer Systems &
//! Applications 27(5), 2018, sections 4.2 and 4.3. A page can be in the cache, in the write buffer and on flash, and
//! these copies never disagree: a write removes its page from the read cache at once, a page in the write buffer
//! never enters it, and a page enters it only while the mapping names that copy. The copy on flash stays, so nothing
//! here is ever written back.
//!
//! [`ReadCache`] owns the pages; the policy ([`ReadOrder`], a seam) only chooses the next flash page to evict. A
//! flash page comes in whole, with every logical page that is current on it, because the read already costs the whole
//! flash page.

mod lru;
mod none;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

pub use lru::{LruReads, LruReadsOptions};
pub use none::NoReads;

use crate::counters::counters;
use crate::engine::{Handle, NumberHasher, Slab};
use crate::policy::{contract, seam};
use crate::units::Lpn;

seam! {
    /// Chooses the flash page of the read cache to evict next.
    pub enum ReadOrder ("cache.read.policy" = "none") as ReadCacheChoice, with read_policy, or ExternalReadOrder {
        None(NoReads),
        Lru(LruReads),
    }
}

contract! {
    /// The decisions of a policy of the read cache. It knows every flash page in it.
    pub trait ReadOrderPolicy for ReadOrder, by read_policy, or ExternalReadOrder {
        /// Called when a flash page comes in.
        fn inserted(&mut self, frame: FrameId);

        /// Called when the host reads any of it.
        fn used(&mut self, frame: FrameId);

        /// Called when a flash page has left: it made room, or all of its pages are out of date.
        fn removed(&mut self, frame: FrameId);

        /// The flash page to evict next, or `None` if the cache is empty. Its removal is reported like any other.
        #[must_use]
        fn choose(&self) -> Option<FrameId>;
    }
}

contract! {
    /// What is known of a policy of the read cache before it is built.
    pub trait ReadCacheFacts of ReadCacheChoice, by read_policy {
        /// The options, if the cache holds anything.
        fn holds(_options: &Self::Options) -> Option<&LruReadsOptions> {
            None
        }
    }
}

/// A flash page in the cache.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Logical pages that it still holds.
    pages: u32,
}

/// A handle to a flash page in the cache.
pub type FrameId = Handle<Frame>;

/// The place of a logical page in the cache, unique among the pages in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachePlace(u32);

impl CachePlace {
    /// Its number.
    #[must_use]
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// The setup of a read cache.
#[derive(Clone, Debug)]
pub struct ReadCacheSetup {
    /// The policy, with its initial state.
    pub policy: ReadOrder,
    /// Capacity in flash pages; zero if nothing is kept.
    pub capacity: u32,
    /// How many of the next logical pages are read ahead.
    pub ahead: u32,
    /// Logical pages on a flash page.
    pub units_per_page: u32,
}

impl ReadCacheSetup {
    /// No cache.
    #[must_use]
    pub fn none() -> ReadCacheSetup {
        let policy = ReadOrder::None(NoReads);
        ReadCacheSetup { policy, capacity: 0, ahead: 0, units_per_page: 1 }
    }
}

counters! {
    /// What the read cache did, in pages (mapping units) unless noted otherwise.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ReadCacheCounts {
        /// Pages that a host read found in the cache. Pages found in the write buffer are not looked up.
        hits: u64, unit "pages", at "read_cache/hit_pages";
        /// Pages that a host read did not find.
        misses: u64, unit "pages", at "read_cache/missed_pages";
        /// Those among the misses that were already being read ahead. The host waited for them.
        joined: u64, unit "pages", at "read_cache/joined_pages";
        /// Pages that came in, including those that the host did not ask for.
        brought: u64, unit "pages", at "read_cache/brought_pages";
        /// Flash pages that were read ahead.
        read_ahead: u64, unit "flash pages", at "read_cache/read_ahead_flash_pages",
            label "flash pages read ahead", compared lower "read cache, read ahead";
        /// Pages that left because the host wrote or deallocated them.
        outdated: u64, unit "pages", at "read_cache/outdated_pages";
        /// Flash pages that made room.
        evicted: u64, unit "flash pages", at "read_cache/evicted_flash_pages";
    }
}

/// The read cache.
#[derive(Clone, Debug)]
pub struct ReadCache {
    setup: ReadCacheSetup,
    frames: Slab<Frame>,
    index: HashMap<Lpn, CachePlace, BuildHasherDefault<NumberHasher>>,
    /// By place: the page there.
    members: Vec<Option<Lpn>>,
    counts: ReadCacheCounts,
}

impl ReadCache {
    /// Returns an empty cache.
    #[must_use]
    pub fn new(setup: ReadCacheSetup) -> ReadCache {
        ReadCache {
            setup,
            frames: Slab::default(),
            index: HashMap::default(),
            members: Vec::new(),
            counts: ReadCacheCounts::default(),
        }
    }

    /// Whether anything is ever kept.
    #[inline]
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.setup.capacity > 0
    }

    /// Whether no page is in the cache.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// How many of the next logical pages are read ahead.
    #[must_use]
    pub fn ahead(&self) -> u32 {
        self.setup.ahead
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> &ReadCacheCounts {
        &self.counts
    }

    /// The place of a page, if it is in the cache.
    #[inline]
    #[must_use]
    pub fn find(&self, page: Lpn) -> Option<CachePlace> {
        self.index.get(&page).copied()
    }

    /// Looks up a page for a host read, counts the hit or miss, and tells the policy about a hit.
    pub fn read(&mut self, page: Lpn) -> Option<CachePlace> {
        let found = self.find(page);
        match found {
            Some(place) => {
                self.counts.hits += 1;
                let frame = self.frame_of(place);
                self.setup.policy.used(frame);
            }
            None => self.counts.misses += 1,
        }
        found
    }

    /// Counts a host read that waits for a page being read ahead.
    pub fn note_joined(&mut self) {
        self.counts.joined += 1;
    }

    /// Counts a flash page that is read ahead.
    pub fn note_read_ahead(&mut self) {
        self.counts.read_ahead += 1;
    }

    /// Adds a flash page, none of whose pages are in the cache yet. Evicts another one if there is no room, and hands
    /// its places to `forget`.
    pub fn bring(&mut self, mut forget: impl FnMut(CachePlace)) -> FrameId {
        while self.frames.in_use() >= self.setup.capacity as usize {
            let next = self.setup.policy.choose();
            let next = next.expect("a policy knows every flash page that is in the cache");
            self.counts.evicted += 1;
            self.drop_frame(next, &mut forget);
        }
        let frame = self.frames.insert(Frame { pages: 0 });
        let places = (frame.at() + 1) * self.setup.units_per_page as usize;
        if self.members.len() < places {
            self.members.resize(places, None);
        }
        self.setup.policy.inserted(frame);
        frame
    }

    /// Adds a logical page of a flash page that was just added.
    pub fn put(&mut self, frame: FrameId, unit: u32, page: Lpn) -> CachePlace {
        let place = CachePlace(frame.get() * self.setup.units_per_page + unit);
        let before = self.index.insert(page, place);
        debug_assert!(before.is_none(), "{page:?} is in the cache twice");
        self.members[place.at()] = Some(page);
        self.frames[frame].pages += 1;
        self.counts.brought += 1;
        place
    }

    /// Removes a page because it is written or deallocated. Returns its place.
    #[inline]
    pub fn outdate(&mut self, page: Lpn) -> Option<CachePlace> {
        if self.index.is_empty() {
            return None;
        }
        let place = self.index.remove(&page)?;
        self.members[place.at()] = None;
        self.counts.outdated += 1;
        let frame = self.frame_of(place);
        self.frames[frame].pages -= 1;
        if self.frames[frame].pages == 0 {
            self.release(frame);
        }
        Some(place)
    }

    /// Empties the cache because the device comes to rest.
    pub fn clear(&mut self, mut forget: impl FnMut(CachePlace)) {
        while let Some(next) = self.setup.policy.choose() {
            self.drop_frame(next, &mut forget);
        }
        (self.frames, self.members) = (Slab::default(), Vec::new());
    }

    fn frame_of(&self, place: CachePlace) -> FrameId {
        FrameId::new(place.0 / self.setup.units_per_page)
    }

    fn drop_frame(&mut self, frame: FrameId, forget: &mut impl FnMut(CachePlace)) {
        let first = frame.get() * self.setup.units_per_page;
        for place in (first..first + self.setup.units_per_page).map(CachePlace) {
            if let Some(page) = self.members[place.at()].take() {
                self.index.remove(&page);
                forget(place);
            }
        }
        self.release(frame);
    }

    fn release(&mut self, frame: FrameId) {
        self.setup.policy.removed(frame);
        self.frames.release(frame);
    }

    /// Checks that the index agrees with the pages in place and that the capacity is kept.
    ///
    /// # Errors
    /// The first inconsistency, in words.
    pub fn audit(&self) -> Result<(), String> {
        let there = self.members.iter().flatten().count();
        let strays = self.index.iter().filter(|&(page, place)| {
            self.members.get(place.at()).copied().flatten() != Some(*page)
        });
        let strays = strays.count();
        let frames = self.frames.in_use();
        if there != self.index.len() || strays > 0 || frames > self.setup.capacity as usize {
            return Err(format!(
                "the read cache holds {there} pages on {frames} flash pages, finds {}, {strays} of them \
                 elsewhere, and has room for {}",
                self.index.len(),
                self.setup.capacity
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CAPACITY: u32 = 4;
    const UNITS: u32 = 2;

    proptest! {
        /// Compares with a list of flash pages, the most recently used one last.
        #[test]
        fn the_flash_page_used_longest_ago_goes(steps in proptest::collection::vec((0u32..8, 0u32..16), 1..300)) {
            let policy = ReadOrder::Lru(LruReads::default());
            let setup = ReadCacheSetup { policy, capacity: CAPACITY, ahead: 0, units_per_page: UNITS };
            let mut cache = ReadCache::new(setup);
            let mut naive: Vec<Vec<u32>> = Vec::new();
            for (what, number) in steps {
                let page = Lpn::new(number);
                let at = naive.iter().position(|pages| pages.contains(&number));
                match what {
                    0..5 => {
                        prop_assert_eq!(cache.read(page).is_some(), at.is_some());
                        match at {
                            Some(at) => {
                                let used = naive.remove(at);
                                naive.push(used);
                            }
                            None => {
                                let pair = [number & !1, number | 1];
                                let there = |page: &u32| !naive.iter().flatten().any(|known| known == page);
                                let comes: Vec<u32> = pair.into_iter().filter(there).collect();
                                let frame = cache.bring(|_| {});
                                for &page in &comes {
                                    cache.put(frame, page & 1, Lpn::new(page));
                                }
                                naive.push(comes);
                                if naive.len() > CAPACITY as usize {
                                    naive.remove(0);
                                }
                            }
                        }
                    }
                    _ => {
                        prop_assert_eq!(cache.outdate(page).is_some(), at.is_some());
                        naive.iter_mut().for_each(|pages| pages.retain(|&known| known != number));
                        naive.retain(|pages| !pages.is_empty());
                    }
                }
                prop_assert_eq!(cache.audit(), Ok(()));
                for page in 0..16 {
                    let there = naive.iter().flatten().any(|&known| known == page);
                    prop_assert_eq!(cache.find(Lpn::new(page)).is_some(), there);
                }
            }
        }
    }
}
