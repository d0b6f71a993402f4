//! Translation pages of a map that lies on flash, from the FTL's side: placed and committed as pages are,
//! counted apart.

use super::Ftl;
use super::mapping::{Dftl, MappingPolicy};
use crate::engine::skills;
use crate::scheduler::Load;
use crate::units::{PlaneId, Ppn, Tpn};
use crate::verify::Canary;

impl Ftl {
    /// The map, if it lies on flash.
    #[inline]
    #[must_use]
    pub fn map_on_flash(&self) -> Option<&Dftl> {
        self.mapping.dftl()
    }

    /// The same, to be changed by the core.
    #[inline]
    pub(crate) fn map_on_flash_mut(&mut self) -> Option<&mut Dftl> {
        self.mapping.dftl_mut()
    }

    #[inline]
    pub(super) fn has_map_on_flash(&self) -> bool {
        self.mapping.dftl().is_some()
    }

    /// Finds a place for a translation page and notes on flash what it is. None if nothing that may be used
    /// is free.
    pub(crate) fn place_translation(&mut self, of: Tpn, load: &Load) -> Option<Ppn> {
        let pages = self.mapping.dftl()?.pages_of(of);
        let first = self.place_map_page(pages.clone().next()?, load)?;
        let whole = self.spare.full();
        for (page, at) in pages.zip(first.get()..) {
            self.spare.record(Ppn::new(at), page, whole);
            if let Some(record) = &mut self.record {
                record.wrote(Ppn::new(at));
            }
        }
        Some(first)
    }

    /// The translation page at `first` is programmed: it is the current one from now on.
    pub(crate) fn commit_translation(&mut self, of: Tpn, first: Ppn) {
        let Some(pages) = self.mapping.dftl().map(|map| map.pages_of(of)) else { return };
        for (page, at) in pages.zip(first.get()..) {
            self.commit::<{ skills::ALL }>(page, Ppn::new(at));
        }
        self.programmed::<{ skills::ALL }>(first, self.geometry.units_per_page());
    }

    /// So many translation pages wait for a place.
    pub(crate) fn set_map_stalled(&mut self, stalled: u32) {
        self.map_stalled = stalled;
    }

    /// Whether a translation page was ever written.
    pub(crate) fn has_translation(&self, of: Tpn) -> bool {
        let first = self.mapping.dftl().and_then(|map| map.pages_of(of).next());
        first.is_some_and(|page| self.mapping.look_up(page).is_some())
    }

    /// Collection made a copy at `to`: who may have to be told that pages lie elsewhere.
    pub(super) fn note_copy(&mut self, to: Ppn, current: bool) {
        let forgets = self.plant.is(Canary::CopyNotInMap);
        let Some(page) = self.spare.owner(to).filter(|_| !forgets) else { return };
        let plane = self.geometry.plane_of(self.geometry.block_of(to));
        if let Some(map) = self.mapping.dftl_mut() {
            map.copied(plane, page, current);
        }
    }

    /// A block of translation pages is collected.
    pub(super) fn note_map_block(&mut self) {
        if let Some(map) = self.mapping.dftl_mut() {
            map.counts_mut().blocks += 1;
        }
    }

    /// A block of translation pages went bad.
    #[cold]
    pub(super) fn note_lost_map_block(&mut self) {
        if let Some(map) = self.mapping.dftl_mut() {
            map.counts_mut().lost_blocks += 1;
        }
    }

    /// Whether the collection of a plane has moved pages of which the translation pages on flash, and nothing
    /// in memory, say where they were.
    #[inline]
    pub(super) fn map_is_behind(&self, plane: PlaneId) -> bool {
        self.mapping.dftl().is_some_and(|map| map.has_touched(plane))
    }

    /// Those translation pages are to be rewritten.
    pub(super) fn rewrite_map_of(&mut self, plane: PlaneId) {
        if let Some(map) = self.mapping.dftl_mut() {
            map.collected(plane);
        }
    }
}
