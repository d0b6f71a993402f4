//! The page map of a device that reconstructs pages: parts of two logical pages may share a
//! physical page, and the table RMAP locates the second part of each.
//!
//! Source: Zeng, Deng, PRLRU: a write buffer for SSDs that reconstructs pages (in Chinese). A
//! logical page lies in one place, or in two *fragments*, the newer first. The spare area records
//! which sectors each physical page was programmed with. The newer fragment owns all its sectors;
//! the older one owns its sectors that the newer one does not hold. The paper does not say what
//! happens to a page that is reconstructed repeatedly. Here a page never has a third fragment: its
//! fragments are gathered into one page first.
//!
//! An entry of the table is either a place or, with a mark bit, the index of a pair of places. The
//! configuration check ensures that physical page numbers stay below the mark bit.

use super::{MappingFacts, MappingPolicy};
use crate::engine::prefetch;
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::{Lpn, Ppn, Ratio};

options! {
    /// The page map with RMAP, for the reconstruction of pages.
    pub struct ReconstructionOptions at "ftl.mapping" {
        /// Size of RMAP, the table of second fragments, in entries per logical page. When the table
        /// is full, or second fragments take half of the spare capacity, a page is packed only if
        /// packing it adds no fragment.
        entries: Ratio = "15%", in "0%"..="100%",
            source "PRLRU paper, section 3.3: at most 15% over the page map";
    }
}

/// Marks the entry of a page in two fragments. The other bits are the index of its pair.
const APART: u32 = 1 << 31;

/// The places of a logical page, the newer fragment first.
pub type Places = [Option<Ppn>; 2];

/// The amount of fragmentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    /// Logical pages in two fragments.
    pub fragmented: u32,
    /// Physical pages in which two logical pages have current sectors.
    pub shared: u32,
}

/// The map: the table and RMAP.
#[derive(Clone, Debug)]
pub struct Reconstruction {
    table: Vec<u32>,
    /// The newer and the older place of each page in two fragments.
    pairs: Vec<[Ppn; 2]>,
    /// The maximum number of pairs.
    entries: u32,
    /// Unused elements of `pairs`.
    free: Vec<u32>,
    /// Physical pages that hold current sectors of two logical pages.
    shared: u32,
    /// The maximum of each count so far. The two maxima may come from different times.
    most: Pieces,
    /// Number of packs that became current.
    packs: u64,
}

impl Policy for Reconstruction {
    const NAME: &'static str = "reconstruction";
    const SUMMARY: &'static str =
        "page mapping in which partial pages of two logical pages may share a physical page (RMAP)";
    const SOURCE: &'static str = "PRLRU: page reconstruction and RMAP (in Chinese)";
    type Options = ReconstructionOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        let entries = options.entries.of(u64::from(parts.logical_pages));
        Reconstruction::new(parts.logical_pages, u32::try_from(entries).unwrap_or(u32::MAX))
    }

    // The fragments, too, follow from the contents of flash. Measurements start again at the load.
    keeps_nothing!(Reconstruction { table, pairs, entries, free, shared, most, packs });
}

impl MappingFacts for Reconstruction {
    fn packs(_options: &Self::Options) -> bool {
        true
    }

    fn fills_stripes(_options: &Self::Options) -> bool {
        true
    }
}

impl Reconstruction {
    /// Creates a map of `logical_pages`, none of them written. At most `entries` of them may be in
    /// two fragments.
    #[must_use]
    pub fn new(logical_pages: u32, entries: u32) -> Reconstruction {
        Reconstruction {
            table: vec![0; logical_pages as usize],
            pairs: Vec::new(),
            entries,
            free: Vec::new(),
            shared: 0,
            most: Pieces::default(),
            packs: 0,
        }
    }

    /// Returns the places of a page.
    #[inline]
    #[must_use]
    pub fn places(&self, page: Lpn) -> Places {
        match self.pair_of(page) {
            Some(pair) => self.pairs[pair].map(Some),
            None => [Ppn::from_raw(self.table[page.at()]), None],
        }
    }

    /// Returns how many pages may be in two fragments.
    #[must_use]
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// Returns the present amount of fragmentation.
    #[must_use]
    pub fn pieces(&self) -> Pieces {
        let fragmented = (self.pairs.len() - self.free.len()) as u32;
        Pieces { fragmented, shared: self.shared }
    }

    /// Returns the maximum of each count since the device was switched on. The two maxima may come
    /// from different times.
    #[must_use]
    pub fn most(&self) -> Pieces {
        self.most
    }

    /// Returns the number of mapped logical pages.
    #[must_use]
    pub(in crate::ftl) fn mapped(&self) -> u64 {
        self.table.iter().filter(|&&entry| entry != 0).count() as u64
    }

    /// Maps the page to `newer` and, if given, `older`.
    pub(in crate::ftl) fn put(&mut self, page: Lpn, newer: Ppn, older: Option<Ppn>) {
        let pair = self.pair_of(page);
        let entry = match (older, pair) {
            (Some(older), Some(pair)) => {
                self.pairs[pair] = [newer, older];
                return;
            }
            (Some(older), None) => APART | self.new_pair([newer, older]),
            (None, pair) => {
                self.free.extend(pair.map(|pair| pair as u32));
                newer.to_raw()
            }
        };
        self.table[page.at()] = entry;
        self.most.fragmented = self.most.fragmented.max(self.pieces().fragmented);
    }

    /// Returns the number of packs that became current. A pack is a program that wrote parts of two
    /// logical pages.
    #[must_use]
    pub fn packs(&self) -> u64 {
        self.packs
    }

    /// Counts a pack that became current.
    pub(in crate::ftl) fn packed(&mut self) {
        self.packs += 1;
    }

    /// Counts a physical page that now holds current sectors of two logical pages.
    pub(in crate::ftl) fn joined(&mut self) {
        self.shared += 1;
        self.most.shared = self.most.shared.max(self.shared);
    }

    /// Counts a physical page that no longer holds current sectors of two logical pages.
    pub(in crate::ftl) fn parted(&mut self) {
        self.shared -= 1;
    }

    #[inline]
    fn pair_of(&self, page: Lpn) -> Option<usize> {
        let entry = self.table[page.at()];
        (entry & APART != 0).then_some((entry & !APART) as usize)
    }

    fn new_pair(&mut self, places: [Ppn; 2]) -> u32 {
        if let Some(pair) = self.free.pop() {
            self.pairs[pair as usize] = places;
            return pair;
        }
        self.pairs.push(places);
        self.pairs.len() as u32 - 1
    }
}

impl MappingPolicy for Reconstruction {
    #[inline]
    fn look_up(&self, page: Lpn) -> Option<Ppn> {
        self.places(page)[0]
    }

    fn commit(&mut self, page: Lpn, at: Ppn) -> Option<Ppn> {
        let before = self.look_up(page);
        self.put(page, at, None);
        before
    }

    fn relocate(&mut self, page: Lpn, from: Ppn, to: Ppn) -> bool {
        match self.pair_of(page) {
            Some(pair) => match self.pairs[pair].iter_mut().find(|place| **place == from) {
                Some(place) => *place = to,
                None => return false,
            },
            None if self.table[page.at()] == from.to_raw() => self.table[page.at()] = to.to_raw(),
            None => return false,
        }
        true
    }

    fn trim(&mut self, page: Lpn) -> Option<Ppn> {
        let before = self.look_up(page);
        if before.is_some() {
            let pair = self.pair_of(page);
            self.free.extend(pair.map(|pair| pair as u32));
            self.table[page.at()] = 0;
        }
        before
    }

    #[inline]
    fn prefetch(&self, page: Lpn) {
        prefetch(&self.table, page.at());
    }

    #[inline]
    fn rmap(&self) -> Option<&Reconstruction> {
        Some(self)
    }

    #[inline]
    fn rmap_mut(&mut self) -> Option<&mut Reconstruction> {
        Some(self)
    }
}
