//! The page map: one 32-bit entry for each logical page, all in the controller's memory.
//!
//! Zero means "not mapped". The operating system provides the table as zeroed memory, which takes
//! up space only once it is touched, so a device of many terabytes starts at once. For the same reason, what comes from an
//! image stays packed until it is changed, and entries that are zero are looked up there.

use super::{MappingFacts, MappingPolicy};
use crate::engine::prefetch;
use crate::image::{ChunkedTable, Chunking, PackedTable, keeps_nothing};
use crate::policy::{NoOptions, Parts, Policy};
use crate::units::{Lpn, Ppn};

/// How many entries ahead of an update their memory is prefetched.
const PREFETCH_DISTANCE: usize = 24;

/// A flat table of physical pages, by logical page.
#[derive(Clone, Debug)]
pub struct PageMap {
    table: Vec<u32>,
    /// What was loaded and is still packed.
    packed: Option<Box<PackedTable>>,
}

impl Policy for PageMap {
    const NAME: &'static str = "page";
    const SUMMARY: &'static str = "page mapping, the whole table in the controller's memory";
    const SOURCE: &'static str = "textbook";
    type Options = NoOptions;

    fn build(_options: &Self::Options, parts: &Parts<'_>) -> Self {
        PageMap::new(parts.logical_pages)
    }

    keeps_nothing!(PageMap { table, packed });
}

impl MappingFacts for PageMap {
    fn fills_stripes(_options: &Self::Options) -> bool {
        true
    }

    fn fits_checkpoints(_options: &Self::Options) -> bool {
        true
    }
}

impl PageMap {
    /// Creates a map of `logical_pages`, none of them written.
    #[must_use]
    pub fn new(logical_pages: u32) -> PageMap {
        PageMap { table: vec![0; logical_pages as usize], packed: None }
    }

    /// Saves the map in chunks.
    pub(crate) fn save_chunks(&self, out: &mut Chunking<'_>) {
        let pages = self.table.len() as u32;
        let in_chunk = out.map_words();
        for first in (0..pages).step_by(in_chunk as usize) {
            let places = first..pages.min(first + in_chunk);
            let words = places.map(|page| self.look_up(Lpn::new(page)).map_or(0, Ppn::to_raw));
            out.put(ChunkedTable::Map, first / in_chunk, words);
        }
    }

    /// Takes over the map of an image. Nothing is mapped so far.
    pub(crate) fn take_packed(&mut self, packed: PackedTable) {
        self.packed = Some(Box::new(packed));
    }

    /// Unpacks the entry of a page.
    #[cold]
    fn unpack(&mut self, page: Lpn) {
        if let Some(packed) = &mut self.packed {
            packed.unpack(page.at(), &mut self.table);
        }
    }
}

impl MappingPolicy for PageMap {
    fn is_plain(&self) -> bool {
        true
    }

    #[inline]
    fn look_up(&self, page: Lpn) -> Option<Ppn> {
        match (self.table[page.at()], &self.packed) {
            (0, Some(packed)) => Ppn::from_raw(packed.word(page.at())),
            (word, _) => Ppn::from_raw(word),
        }
    }

    #[inline]
    fn commit(&mut self, page: Lpn, at: Ppn) -> Option<Ppn> {
        if self.table[page.at()] == 0 && self.packed.is_some() {
            self.unpack(page);
        }
        Ppn::from_raw(std::mem::replace(&mut self.table[page.at()], at.to_raw()))
    }

    #[inline]
    fn relocate(&mut self, page: Lpn, from: Ppn, to: Ppn) -> bool {
        if self.table[page.at()] == 0 && self.packed.is_some() {
            self.unpack(page);
        }
        let entry = &mut self.table[page.at()];
        let current = *entry == from.to_raw();
        if current {
            *entry = to.to_raw();
        }
        current
    }

    #[inline]
    fn trim(&mut self, page: Lpn) -> Option<Ppn> {
        // Reading first avoids touching memory that is still zero.
        let found = self.look_up(page);
        if found.is_some() {
            if self.packed.is_some() {
                self.unpack(page);
            }
            self.table[page.at()] = 0;
        }
        found
    }

    #[inline]
    fn put_row(&mut self, first: Lpn, at: Ppn, count: u32) {
        let row = &mut self.table[first.at()..first.at() + count as usize];
        row.iter_mut().zip(at.to_raw()..).for_each(|(entry, raw)| *entry = raw);
    }

    fn put_all(&mut self, moved: &[(Lpn, Ppn)]) {
        for (number, &(page, at)) in moved.iter().enumerate() {
            if let Some((later, _)) = moved.get(number + PREFETCH_DISTANCE) {
                prefetch(&self.table, later.at());
            }
            self.table[page.at()] = at.to_raw();
        }
    }

    #[inline]
    fn prefetch(&self, page: Lpn) {
        prefetch(&self.table, page.at());
    }
}
