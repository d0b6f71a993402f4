//! Where logical pages lie. A mapping answers and records; flash work that it needs would be added to
//! a plan by the core (the page map needs none). One that does not translate only names the place.

mod page;
mod physical;

pub use page::PageMap;
pub use physical::Physical;

use crate::policy::seam;
use crate::units::{Lpn, Ppn};

seam! {
    /// The table from logical to physical pages.
    pub enum Mapping ("ftl.mapping.policy" = "page") as MappingChoice, with mapping_policy {
        Page(PageMap),
        Physical(Physical),
    }
}

impl Mapping {
    /// Whether logical pages have places of their own on flash. If not, nothing is placed, committed or
    /// collected: requests carry physical addresses.
    #[must_use]
    pub fn translates(&self) -> bool {
        !matches!(self, Mapping::Physical(_))
    }

    /// Where the current copy of a page lies, if it was ever written.
    #[inline]
    #[must_use]
    pub fn look_up(&self, page: Lpn) -> Option<Ppn> {
        mapping_policy!(self, map => map.look_up(page))
    }

    /// The page lies at `at` from now on. Returns where it lay before.
    #[inline]
    pub fn commit(&mut self, page: Lpn, at: Ppn) -> Option<Ppn> {
        mapping_policy!(self, map => map.commit(page, at))
    }

    /// The copy at `from` was moved to `to`. False if the page lies elsewhere by now: then nothing
    /// changes, and the copy at `to` is stale.
    #[inline]
    #[must_use]
    pub fn relocate(&mut self, page: Lpn, from: Ppn, to: Ppn) -> bool {
        mapping_policy!(self, map => map.relocate(page, from, to))
    }

    /// Forgets the page. Returns where it lay.
    #[inline]
    pub fn trim(&mut self, page: Lpn) -> Option<Ppn> {
        mapping_policy!(self, map => map.trim(page))
    }

    /// Brings the entry of a page closer to the processor.
    #[inline]
    pub fn prefetch(&self, page: Lpn) {
        mapping_policy!(self, map => map.prefetch(page));
    }
}
