//! Translation pages of a map on flash, from the FTL's side: placed and committed like other pages,
//! but counted separately.

use super::Ftl;
use super::mapping::{Dftl, MappingPolicy};
use super::streams::WriteStream;
use super::wear::dies;
use crate::engine::skills;
use crate::scheduler::Load;
use crate::units::{PlaneId, Ppn, Tpn};
use crate::verify::Canary;

impl Ftl {
    /// The map, if it is on flash.
    #[inline]
    #[must_use]
    pub fn map_on_flash(&self) -> Option<&Dftl> {
        self.map.mapping.dftl()
    }
}

/// Like [`map_on_flash`](Ftl::map_on_flash), for changes by the core.
#[inline]
pub(crate) fn map_on_flash_mut(ftl: &mut Ftl) -> Option<&mut Dftl> {
    ftl.map.mapping.dftl_mut()
}

#[inline]
pub(in crate::ftl) fn has_map_on_flash(ftl: &Ftl) -> bool {
    ftl.map.mapping.dftl().is_some()
}

/// Chooses the place of a translation page and records it in the spare area. Returns none if no usable page is free.
pub(crate) fn place_translation(of: Tpn, load: &Load, ftl: &mut Ftl) -> Option<Ppn> {
    let pages = ftl.map.mapping.dftl()?.pages_of(of);
    let page = pages.clone().next()?;
    // One whose dies are all dead goes anywhere: entries of pages on other dies depend on it.
    let first = match ftl.is_homeless(page) {
        true => dies::place_homeless(WriteStream::MAP, ftl)?,
        false => crate::ftl::room::place_map_page(page, load, ftl)?,
    };
    let whole = ftl.map.spare.full();
    for (page, at) in pages.zip(first.get()..) {
        ftl.map.spare.record(Ppn::new(at), page, whole);
        if let Some(record) = &mut ftl.features.record {
            record.wrote(Ppn::new(at));
        }
    }
    Some(first)
}

/// The translation page at `first` is programmed and becomes current.
pub(crate) fn commit_translation(of: Tpn, first: Ppn, ftl: &mut Ftl) {
    let Some(pages) = ftl.map.mapping.dftl().map(|map| map.pages_of(of)) else { return };
    for (page, at) in pages.zip(first.get()..) {
        ftl.commit::<{ skills::ALL }>(page, Ppn::new(at));
    }
    if let Some(map) = map_on_flash_mut(ftl) {
        map.update_ended(of);
    }
    ftl.programmed::<{ skills::ALL }>(first, ftl.geometry.units_per_page());
}

/// Sets how many translation pages wait for a place.
pub(crate) fn set_map_stalled(stalled: u32, ftl: &mut Ftl) {
    ftl.space.map_stalled = stalled;
}

/// Whether a translation page was ever written.
pub(crate) fn has_translation(of: Tpn, ftl: &Ftl) -> bool {
    let first = ftl.map.mapping.dftl().and_then(|map| map.pages_of(of).next());
    first.is_some_and(|page| ftl.map.mapping.look_up(page).is_some())
}

/// Collection made a copy at `to`: notes that the map has to be updated.
pub(in crate::ftl) fn note_copy(to: Ppn, current: bool, ftl: &mut Ftl) {
    let forgets = ftl.plant.is(Canary::CopyNotInMap);
    let Some(page) = ftl.map.spare.owner(to).filter(|_| !forgets) else { return };
    let plane = ftl.geometry.plane_of(ftl.geometry.block_of(to));
    if let Some(map) = ftl.map.mapping.dftl_mut() {
        map.copied(plane, page, current);
    }
}

/// Counts the collection of a block of translation pages.
pub(in crate::ftl) fn note_map_block(ftl: &mut Ftl) {
    if let Some(map) = ftl.map.mapping.dftl_mut() {
        map.counts_mut().blocks += 1;
    }
}

/// Counts a block of translation pages that went bad.
#[cold]
pub(in crate::ftl) fn note_lost_map_block(ftl: &mut Ftl) {
    if let Some(map) = ftl.map.mapping.dftl_mut() {
        map.counts_mut().lost_blocks += 1;
    }
}

/// Whether collection of a plane has moved pages whose new places are not yet in the map on flash,
/// nor among the entries in memory.
#[inline]
pub(in crate::ftl) fn map_is_behind(plane: PlaneId, ftl: &Ftl) -> bool {
    ftl.map.mapping.dftl().is_some_and(|map| map.has_touched(plane))
}

/// Schedules the updates of these translation pages.
pub(in crate::ftl) fn update_map_of(plane: PlaneId, ftl: &mut Ftl) {
    if let Some(map) = ftl.map.mapping.dftl_mut() {
        map.collected(plane);
    }
}
