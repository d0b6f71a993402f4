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
        self.map.mapping.dftl()
    }
}

/// The same, to be changed by the core.
#[inline]
pub(crate) fn map_on_flash_mut(ftl: &mut Ftl) -> Option<&mut Dftl> {
    ftl.map.mapping.dftl_mut()
}

#[inline]
pub(in crate::ftl) fn has_map_on_flash(ftl: &Ftl) -> bool {
    ftl.map.mapping.dftl().is_some()
}

/// Finds a place for a translation page and notes on flash what it is. None if nothing that may be used
/// is free.
pub(crate) fn place_translation(of: Tpn, load: &Load, ftl: &mut Ftl) -> Option<Ppn> {
    let pages = ftl.map.mapping.dftl()?.pages_of(of);
    let first = crate::ftl::room::place_map_page(pages.clone().next()?, load, ftl)?;
    let whole = ftl.map.spare.full();
    for (page, at) in pages.zip(first.get()..) {
        ftl.map.spare.record(Ppn::new(at), page, whole);
        if let Some(record) = &mut ftl.features.record {
            record.wrote(Ppn::new(at));
        }
    }
    Some(first)
}

/// The translation page at `first` is programmed: it is the current one from now on.
pub(crate) fn commit_translation(of: Tpn, first: Ppn, ftl: &mut Ftl) {
    let Some(pages) = ftl.map.mapping.dftl().map(|map| map.pages_of(of)) else { return };
    for (page, at) in pages.zip(first.get()..) {
        ftl.commit::<{ skills::ALL }>(page, Ppn::new(at));
    }
    ftl.programmed::<{ skills::ALL }>(first, ftl.geometry.units_per_page());
}

/// So many translation pages wait for a place.
pub(crate) fn set_map_stalled(stalled: u32, ftl: &mut Ftl) {
    ftl.space.map_stalled = stalled;
}

/// Whether a translation page was ever written.
pub(crate) fn has_translation(of: Tpn, ftl: &Ftl) -> bool {
    let first = ftl.map.mapping.dftl().and_then(|map| map.pages_of(of).next());
    first.is_some_and(|page| ftl.map.mapping.look_up(page).is_some())
}

/// Collection made a copy at `to`: who may have to be told that pages lie elsewhere.
pub(in crate::ftl) fn note_copy(to: Ppn, current: bool, ftl: &mut Ftl) {
    let forgets = ftl.plant.is(Canary::CopyNotInMap);
    let Some(page) = ftl.map.spare.owner(to).filter(|_| !forgets) else { return };
    let plane = ftl.geometry.plane_of(ftl.geometry.block_of(to));
    if let Some(map) = ftl.map.mapping.dftl_mut() {
        map.copied(plane, page, current);
    }
}

/// A block of translation pages is collected.
pub(in crate::ftl) fn note_map_block(ftl: &mut Ftl) {
    if let Some(map) = ftl.map.mapping.dftl_mut() {
        map.counts_mut().blocks += 1;
    }
}

/// A block of translation pages went bad.
#[cold]
pub(in crate::ftl) fn note_lost_map_block(ftl: &mut Ftl) {
    if let Some(map) = ftl.map.mapping.dftl_mut() {
        map.counts_mut().lost_blocks += 1;
    }
}

/// Whether the collection of a plane has moved pages of which the translation pages on flash, and nothing
/// in memory, say where they were.
#[inline]
pub(in crate::ftl) fn map_is_behind(plane: PlaneId, ftl: &Ftl) -> bool {
    ftl.map.mapping.dftl().is_some_and(|map| map.has_touched(plane))
}

/// Those translation pages are to be updated.
pub(in crate::ftl) fn update_map_of(plane: PlaneId, ftl: &mut Ftl) {
    if let Some(map) = ftl.map.mapping.dftl_mut() {
        map.collected(plane);
    }
}
