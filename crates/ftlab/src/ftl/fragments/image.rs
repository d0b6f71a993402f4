//! Fragments in an image: for each valid page, which fragments it holds, with which sectors, and
//! whether each is the older one of its logical page. The mapping follows from this.

use crate::ftl::fragments::{OwnerPart, is_pack};
use crate::ftl::{Ftl, Map, fragments};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::units::{BlockId, Lpn, Ppn, SectorMask};

/// A fragment that was found in the image.
#[derive(Clone, Copy, Debug)]
pub(in crate::ftl) struct FoundFragment {
    page: Lpn,
    at: Ppn,
    is_older: bool,
}

/// Saves the fragments in the valid pages of a block.
pub(in crate::ftl) fn save_fragments(block: BlockId, out: &mut ImageWriter, ftl: &Ftl) {
    let mut before = 0;
    for at in ftl.blocks.valid_pages(&ftl.geometry, block) {
        let living = fragments::living(at, ftl);
        out.flag(living.iter().flatten().count() > 1);
        for (page, sectors) in living.into_iter().flatten() {
            // Adjacent pages mostly have adjacent owners.
            out.difference(before + 1, page.to_raw());
            before = page.to_raw();
            out.flag(ftl.look_up(page) != Some(at));
            out.flag(sectors == ftl.full_page());
            if sectors != ftl.full_page() {
                out.raw(&sectors.0.to_le_bytes()[..mask_bytes(ftl)]);
            }
        }
    }
}

/// Loads what [`save_fragments`] wrote for all blocks.
pub(in crate::ftl) fn load_fragments(
    from: &mut ImageReader<'_>,
    ftl: &mut Ftl,
) -> Result<(), Damage> {
    let mut found = Vec::new();
    let (mask_bytes, logical_pages) = (mask_bytes(ftl), ftl.logical_pages);
    let Ftl { geometry, blocks, map: Map { spare, .. }, .. } = ftl;
    blocks.load(geometry, from, |blocks, block, from| {
        let mut before = 0;
        for at in blocks.valid_pages(geometry, block) {
            let is_pack = from.flag("whether a page is shared")?;
            let mut part = |from: &mut ImageReader<'_>| -> Result<OwnerPart, Damage> {
                let owner = from.difference(before + 1, "the owner of a page")?;
                before = owner;
                let page = Lpn::from_raw(owner).filter(|page| page.get() < logical_pages);
                let Some(page) = page else {
                    return Err(Damage(format!("{at:?} belongs to no page of the device")));
                };
                let is_older = from.flag("whether a part of a page is the older one")?;
                found.push(FoundFragment { page, at, is_older });
                let sectors = read_sectors(from, mask_bytes, spare.full())?;
                Ok((page, sectors))
            };
            match is_pack {
                true => spare.record_pack(at, [part(from)?, part(from)?]),
                false => {
                    let (page, sectors) = part(from)?;
                    spare.record(at, page, sectors);
                }
            }
        }
        Ok(())
    })?;
    map_fragments(&found, ftl)
}

fn mask_bytes(ftl: &Ftl) -> usize {
    ftl.full_page().count().div_ceil(u8::BITS) as usize
}

/// Passes every fragment to the mapping, the newer ones first.
fn map_fragments(found: &[FoundFragment], ftl: &mut Ftl) -> Result<(), Damage> {
    for &FoundFragment { page, at, .. } in found.iter().filter(|found| !found.is_older) {
        if let Some(other) = ftl.look_up(page) {
            return Err(Damage(format!("{page:?} lies at {other:?} and at {at:?}")));
        }
        fragments::put(page, at, None, ftl);
    }
    for &FoundFragment { page, at, .. } in found.iter().filter(|found| found.is_older) {
        match fragments::rmap_mut(ftl).places(page) {
            [Some(newer), None] => fragments::put(page, newer, Some(at), ftl),
            others => {
                let message = format!("{page:?} has an older part at {at:?}, beside {others:?}");
                return Err(Damage(message));
            }
        }
    }
    for &FoundFragment { page, at, is_older } in found {
        let part = ftl.fragments(page)[usize::from(is_older)];
        if part.is_none_or(|part| part.sectors.is_empty()) {
            return Err(Damage(format!("{page:?} lies at {at:?} with no sectors")));
        }
        check_pack(page, at, ftl)?;
    }
    Ok(())
}

/// Checks that the two parts of a pack fit into a page. Counts the pack at the first of them.
fn check_pack(page: Lpn, at: Ppn, ftl: &mut Ftl) -> Result<(), Damage> {
    let [Some(first), Some(second)] = ftl.map.spare.parts(at) else { return Ok(()) };
    if !is_pack([first, second], ftl.full_page()) {
        return Err(Damage(format!("{at:?} can't hold {first:?} and {second:?}")));
    }
    if first.0 == page {
        fragments::rmap_mut(ftl).joined();
    }
    Ok(())
}

fn read_sectors(
    from: &mut ImageReader<'_>,
    mask_bytes: usize,
    full: SectorMask,
) -> Result<SectorMask, Damage> {
    if from.flag("whether a page is whole")? {
        return Ok(full);
    }
    let mut bytes = [0; size_of::<u128>()];
    bytes[..mask_bytes].copy_from_slice(from.raw(mask_bytes)?);
    let sectors = SectorMask(u128::from_le_bytes(bytes));
    match sectors != full && full.covers(sectors) {
        true => Ok(sectors),
        false => Err(Damage(format!("{sectors:?} are not the sectors of a part"))),
    }
}
