//! Recovery of a map whose logical pages lie in fragments, and whose physical pages may be shared
//! by two logical pages. For each sector the highest version counts. Versions older than the newest
//! one that replaced its whole page do not count.

use super::super::Ftl;
use crate::ftl::fragments;
use crate::ftl::recovery::rebuild;
use crate::image::Damage;
use crate::units::{Lpn, Ppn, SectorMask};
use crate::verify::Canary;

/// A part of a logical page that was found on flash.
#[derive(Clone, Copy, Debug)]
struct Piece {
    page: Lpn,
    version: u64,
    /// Whether no older version of the page counts.
    alone: bool,
    at: Ppn,
    sectors: SectorMask,
}

/// Maps every page to its current fragments.
pub(in crate::ftl) fn recover_fragments(ftl: &mut Ftl) -> Result<(), Damage> {
    let mut pieces = pieces(ftl);
    // The newest first. Of several copies of a version, the one found first is first.
    pieces.sort_by_key(|piece| (piece.page, u64::MAX - piece.version));
    let forgets = ftl.plant.is(Canary::FragmentNotRecovered);
    for of_page in pieces.chunk_by(|one, other| one.page == other.page) {
        let page = of_page[0].page;
        let counting = counting(of_page, ftl.full_page());
        match counting[..] {
            [] => {}
            [newer] => fragments::put(page, newer, None, ftl),
            [newer, _] if forgets => fragments::put(page, newer, None, ftl),
            [newer, older] => fragments::put(page, newer, Some(older), ftl),
            _ => return Err(Damage(format!("{page:?} has too many fragments: {counting:?}"))),
        }
    }
    validate_fragments(ftl);
    Ok(())
}

/// Returns all parts found on flash, in the order in which their blocks were opened.
fn pieces(ftl: &Ftl) -> Vec<Piece> {
    let record = ftl.features.record.as_deref().expect("a device that recovers has a record");
    let mut pieces = Vec::new();
    for at in
        rebuild::scanned_blocks(ftl).into_iter().flat_map(|block| rebuild::pages_of(block, ftl))
    {
        for (second, part) in [false, true].into_iter().zip(ftl.map.spare.parts(at)) {
            let Some(((page, sectors), (version, alone))) = part.zip(record.version(at, second))
            else {
                continue;
            };
            if !rebuild::is_deallocated(page, version, ftl) {
                pieces.push(Piece { page, version, alone, at, sectors });
            }
        }
    }
    pieces
}

/// Marks physical pages valid that hold current data, and counts those with current data of two
/// logical pages.
fn validate_fragments(ftl: &mut Ftl) {
    for page in (0..ftl.logical_pages).map(Lpn::new) {
        for at in fragments::rmap_mut(ftl).places(page).into_iter().flatten() {
            let (block, unit) = ftl.geometry.place_of(at);
            match ftl.blocks.is_valid(block, unit) {
                true => fragments::rmap_mut(ftl).joined(),
                false => ftl.blocks.set_valid(block, unit),
            }
        }
    }
}

/// Returns the places of the current fragments of a page, the newest first.
fn counting(of_page: &[Piece], full: SectorMask) -> Vec<Ppn> {
    let mut covered = SectorMask::EMPTY;
    let mut places: Vec<Ppn> = Vec::new();
    let mut last = None;
    for piece in of_page {
        let copy = last == Some(piece.version);
        if copy {
            continue;
        }
        if !piece.sectors.without(covered).is_empty() || places.is_empty() && piece.alone {
            places.push(piece.at);
        }
        covered = covered.and_also(piece.sectors);
        last = Some(piece.version);
        if piece.alone || covered == full {
            break;
        }
    }
    places
}
