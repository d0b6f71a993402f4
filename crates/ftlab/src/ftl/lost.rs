//! Data that is lost: pages that no effort reads any more, those that only a translation page named which none reads,
//! and what was programmed from them. A drive marks such pages,
//! so that nobody takes what lies there for data; the marks move with copies, and go with the block's erase or when
//! the host writes the page again.

use std::collections::BTreeSet;

use super::{Fragments, Ftl};
use crate::device::Contents;
use crate::host::SectorMask;
use crate::image::{Damage, Reader, Writer};
use crate::units::{Lpn, Ppn};

/// Physical pages whose data is lost.
#[derive(Clone, Debug, Default)]
pub(super) struct Lost {
    places: BTreeSet<u32>,
}

impl Lost {
    pub(super) fn save(&self, out: &mut Writer) {
        let Lost { places } = self;
        out.list(places.iter().copied());
    }

    /// Takes up what [`save`](Self::save) wrote.
    pub(super) fn load(&mut self, from: &mut Reader<'_>, pages: u32) -> Result<(), Damage> {
        self.places = from.list(pages, "a page whose data is lost")?.into_iter().collect();
        Ok(())
    }
}

impl Ftl {
    /// Whether the data of a physical page is lost.
    #[inline]
    #[must_use]
    pub fn is_lost(&self, at: Ppn) -> bool {
        !self.lost.places.is_empty() && self.lost.places.contains(&at.get())
    }

    /// Nothing reads the flash page of a page any more.
    pub(crate) fn lose_flash_page(&mut self, at: Ppn) {
        let units = self.geometry.units_per_page();
        let first = at.get() - at.get() % units;
        self.lost.places.extend(first..first + units);
    }

    /// Nobody knows any more where a page of the host lies.
    pub(crate) fn lose_page(&mut self, page: Lpn) {
        let at = self.mapping.look_up(page);
        self.lost.places.extend(at.map(Ppn::get));
    }

    /// The data of a page is copied.
    #[inline]
    pub(crate) fn carry(&mut self, from: Ppn, to: Ppn, contents: &mut impl Contents) {
        contents.copy(from, to);
        if self.is_lost(from) {
            self.lost.places.insert(to.get());
        }
    }

    /// New sectors of a page are programmed at `to`, and beside them what they leave of older parts.
    pub(crate) fn complete_from(&mut self, base: Fragments, sectors: SectorMask, to: Ppn) {
        let left = |part: &super::Fragment| !part.sectors.without(sectors).is_empty();
        if base.iter().flatten().any(|part| self.is_lost(part.at) && left(part)) {
            self.lost.places.insert(to.get());
        }
    }

    /// A block was erased: `units` pages from `first` on.
    pub(crate) fn clear(&mut self, first: Ppn, units: u32, contents: &mut impl Contents) {
        contents.erase(first, units);
        if let Some(record) = &mut self.record {
            record.void(first, units);
        }
        let of_block = self.lost.places.range(first.get()..first.get() + units);
        for at in of_block.copied().collect::<Vec<_>>() {
            self.lost.places.remove(&at);
        }
    }
}
