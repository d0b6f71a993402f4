//! The page map of a device that reconstructs pages: partial pages of two logical pages share a physical
//! one, and the table RMAP says where the rest of each lies.
//!
//! Source: Zeng, Deng, PRLRU: a write buffer for SSDs that reconstructs pages (in Chinese). A logical page
//! lies at one place, or in two *fragments*, the newer of which goes first. Which sectors each holds stands
//! in the spare area; the newer owns all that it was programmed with, the older what is left of its own. The
//! paper leaves open what becomes of a page that is reconstructed again and again; here a third fragment
//! is never made: such a page is gathered first.
//!
//! An entry of the table is a place or, with a mark, the number of a pair of places. Physical pages are
//! numbered below the mark, which the configuration checks.

use super::{MappingFacts, MappingPolicy};
use crate::engine::prefetch;
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::{Lpn, Ppn, Ratio};

options! {
    /// The page map with RMAP.
    pub struct ReconstructionOptions at "ftl.mapping" {
        /// Entries of RMAP, the table of second fragments, for each logical page. When it is full, or second
        /// fragments take half of the spare capacity, only pages are packed that get no further
        /// fragment.
        entries: Ratio = "15%", in "0%"..="100%",
            source "PRLRU paper, section 3.3: at most 15% over the page map";
    }
}

/// Marks an entry of a page in two fragments: the rest of it is the number of a pair.
const APART: u32 = 1 << 31;

/// Where a logical page lies, its newer fragment first.
pub type Places = [Option<Ppn>; 2];

/// How much is in pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    /// Logical pages in two fragments.
    pub fragmented: u32,
    /// Physical pages in which two logical pages have current sectors.
    pub shared: u32,
}

/// The table and RMAP.
#[derive(Clone, Debug)]
pub struct Reconstruction {
    table: Vec<u32>,
    /// The newer place and the older one of each page in two fragments.
    pairs: Vec<[Ppn; 2]>,
    /// The most pairs that there may be.
    entries: u32,
    /// Pairs that no page has.
    free: Vec<u32>,
    /// Physical pages in which two logical pages live.
    shared: u32,
    /// The most of each at any time, on their own.
    most: Pieces,
    /// Packs that became current.
    packs: u64,
}

impl Policy for Reconstruction {
    const NAME: &'static str = "reconstruction";
    const SUMMARY: &'static str =
        "page mapping in which partial pages of two logical pages may share a physical one (RMAP)";
    const SOURCE: &'static str = "PRLRU: page reconstruction and RMAP (in Chinese)";
    type Options = ReconstructionOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        let entries = options.entries.of(u64::from(parts.logical_pages));
        Reconstruction::new(parts.logical_pages, u32::try_from(entries).unwrap_or(u32::MAX))
    }

    // The pieces follow from what lies on flash, too; what is measured counts from the load on.
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
    /// A map of `logical_pages`, none of them written, of which so many may be in two fragments.
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

    /// Where a page lies.
    #[inline]
    #[must_use]
    pub fn places(&self, page: Lpn) -> Places {
        match self.pair_of(page) {
            Some(pair) => self.pairs[pair].map(Some),
            None => [Ppn::from_raw(self.table[page.at()]), None],
        }
    }

    /// How many pages may be in two fragments.
    #[must_use]
    pub fn entries(&self) -> u32 {
        self.entries
    }

    /// How much is in pieces at present.
    #[must_use]
    pub fn pieces(&self) -> Pieces {
        let fragmented = (self.pairs.len() - self.free.len()) as u32;
        Pieces { fragmented, shared: self.shared }
    }

    /// The most that was in pieces since the device was switched on, each count for itself.
    #[must_use]
    pub fn most(&self) -> Pieces {
        self.most
    }

    /// Logical pages that lie anywhere.
    #[must_use]
    pub(in crate::ftl) fn mapped(&self) -> u64 {
        self.table.iter().filter(|&&entry| entry != 0).count() as u64
    }

    /// The page lies at `newer` from now on and, if there is one, at `older`.
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

    /// Packs that became current: programs that wrote parts of two logical pages.
    #[must_use]
    pub fn packs(&self) -> u64 {
        self.packs
    }

    /// A pack became current.
    pub(in crate::ftl) fn packed(&mut self) {
        self.packs += 1;
    }

    /// A second logical page came to live in a physical one.
    pub(in crate::ftl) fn joined(&mut self) {
        self.shared += 1;
        self.most.shared = self.most.shared.max(self.shared);
    }

    /// One of the two logical pages that lived in a physical one has left it.
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
