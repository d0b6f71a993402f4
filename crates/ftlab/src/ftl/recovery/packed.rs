//! The same where logical pages lie in fragments, and two may share a physical page: sector by sector the highest
//! version counts, down to the last that stands for all of its page.

use super::super::Ftl;
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

impl Ftl {
    /// Maps every page to the fragments that count.
    pub(super) fn recover_fragments(&mut self) -> Result<(), Damage> {
        let mut pieces = self.pieces();
        // The newest first; of copies of one version the one that was found first.
        pieces.sort_by_key(|piece| (piece.page, u64::MAX - piece.version));
        let forgets = self.plant.is(Canary::FragmentNotRecovered);
        for of_page in pieces.chunk_by(|one, other| one.page == other.page) {
            let page = of_page[0].page;
            let counting = counting(of_page, self.full_page());
            match counting[..] {
                [] => {}
                [newer] => self.put(page, newer, None),
                [newer, _] if forgets => self.put(page, newer, None),
                [newer, older] => self.put(page, newer, Some(older)),
                _ => return Err(Damage(format!("{page:?} is found in {counting:?}"))),
            }
        }
        self.validate_fragments();
        Ok(())
    }

    /// All that is found, by the order in which blocks were opened.
    fn pieces(&self) -> Vec<Piece> {
        let record = self.record.as_deref().expect("what recovers has a record");
        let mut pieces = Vec::new();
        for at in self.scanned_blocks().into_iter().flat_map(|block| self.pages_of(block)) {
            for (second, part) in [false, true].into_iter().zip(self.spare.parts(at)) {
                let Some(((page, sectors), (version, alone))) =
                    part.zip(record.version(at, second))
                else {
                    continue;
                };
                if !self.is_deallocated(page, version) {
                    pieces.push(Piece { page, version, alone, at, sectors });
                }
            }
        }
        pieces
    }

    /// A physical page is valid if anybody lives in it; those that two live in are counted.
    fn validate_fragments(&mut self) {
        for page in (0..self.logical_pages).map(Lpn::new) {
            for at in self.rmap_mut().places(page).into_iter().flatten() {
                let (block, unit) = self.geometry.place_of(at);
                match self.blocks.is_valid(block, unit) {
                    true => self.rmap_mut().joined(),
                    false => self.blocks.set_valid(block, unit),
                }
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
