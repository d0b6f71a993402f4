//! The same where logical pages lie in fragments, and two may share a physical page: sector by sector the highest
//! version counts, down to the last that stands for all of its page.

use super::super::Ftl;
use crate::ftl::fragments;
use crate::ftl::recovery::rebuild;
use crate::image::Damage;
use crate::units::{Lpn, Ppn, SectorMask};
use crate::verify::Canary;

/// A part of a logical page as it was found.
#[derive(Clone, Copy, Debug)]
struct Piece {
    page: Lpn,
    version: u64,
    /// Nothing older of the page counts.
    alone: bool,
    at: Ppn,
    sectors: SectorMask,
}

/// Maps every page to the fragments that count.
pub(in crate::ftl) fn recover_fragments(ftl: &mut Ftl) -> Result<(), Damage> {
    let mut pieces = pieces(ftl);
    // The newest first; of copies of one version the one that was found first.
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
            _ => return Err(Damage(format!("{page:?} is found in {counting:?}"))),
        }
    }
    validate_fragments(ftl);
    Ok(())
}

/// All that is found, by the order in which blocks were opened.
fn pieces(ftl: &Ftl) -> Vec<Piece> {
    let record = ftl.features.record.as_deref().expect("what recovers has a record");
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

/// A physical page is valid if anybody lives in it; those that two live in are counted.
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

/// Where the parts lie that count, the newest first.
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
