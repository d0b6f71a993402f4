//! The page map: one 32-bit entry for each logical page, all in the controller's memory.
//!
//! Zero means "not mapped". The operating system provides the table as zeroed memory, which takes
//! up space only once it is touched, so a device of many terabytes starts at once.

use super::{MappingFacts, MappingPolicy};
use crate::engine::prefetch;
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};
use crate::units::{Lpn, Ppn};

/// How many entries ahead of an update their memory is prefetched.
const PREFETCH_DISTANCE: usize = 24;

/// A flat table of physical pages, by logical page.
#[derive(Clone, Debug)]
pub struct PageMap {
    table: Vec<u32>,
}

impl Policy for PageMap {
    const NAME: &'static str = "page";
    const SUMMARY: &'static str = "page mapping, the whole table in the controller's memory";
    const SOURCE: &'static str = "textbook";
    type Options = NoOptions;

    fn build(_options: &Self::Options, parts: &Parts<'_>) -> Self {
        PageMap::new(parts.logical_pages)
    }

    keeps_nothing!(PageMap { table });
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
        PageMap { table: vec![0; logical_pages as usize] }
    }
}

impl MappingPolicy for PageMap {
    fn is_plain(&self) -> bool {
        true
    }

    #[inline]
    fn look_up(&self, page: Lpn) -> Option<Ppn> {
        Ppn::from_raw(self.table[page.at()])
    }

    #[inline]
    fn commit(&mut self, page: Lpn, at: Ppn) -> Option<Ppn> {
        Ppn::from_raw(std::mem::replace(&mut self.table[page.at()], at.to_raw()))
    }

    #[inline]
    fn relocate(&mut self, page: Lpn, from: Ppn, to: Ppn) -> bool {
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
