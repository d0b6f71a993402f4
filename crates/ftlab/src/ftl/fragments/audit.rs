//! What is always true of fragments, checked from end to end.

use super::super::Ftl;
use super::{Fragment, is_pack};
use crate::ftl::fragments;
use crate::ftl::mapping::MappingPolicy;
use crate::units::{BlockId, Lpn, Ppn};

/// Fragments and owners agree. Returns how many physical pages anybody lives in.
pub(in crate::ftl) fn audit_fragments(ftl: &Ftl) -> Result<u64, String> {
    let (mut all, mut fragmented) = (0, 0);
    let mut extra = vec![0; ftl.map.pack_room.extra.len()];
    for page in (0..ftl.logical_pages).map(Lpn::new) {
        let parts = ftl.fragments(page);
        parts.iter().flatten().try_for_each(|part| audit_fragment(page, part, ftl))?;
        let [newer, older] = parts.map(|part| part.map(|part| part.at));
        if older.is_some() && (newer.is_none() || newer == older) {
            return Err(format!("{page:?} lies at {newer:?} and at {older:?}"));
        }
        fragments::room::extra_places(page, [newer, older], ftl).for_each(|pool| extra[pool] += 1);
        all += u64::from(newer.is_some()) + u64::from(older.is_some());
        fragmented += u32::from(older.is_some());
    }
    if extra != ftl.map.pack_room.extra {
        let counted = &ftl.map.pack_room.extra;
        return Err(format!("pools hold {extra:?} pages beyond theirs, and count {counted:?}"));
    }
    let blocks = (0..ftl.geometry.blocks()).map(BlockId::new);
    let valid = blocks.flat_map(|block| ftl.blocks.valid_pages(&ftl.geometry, block));
    let shared = valid.map(|at| audit_owners(at, ftl)).sum::<Result<u32, String>>()?;
    let counted = ftl.map.mapping.rmap().map(|map| map.pieces()).unwrap_or_default();
    if (counted.fragmented, counted.shared) != (fragmented, shared) {
        return Err(format!(
            "{fragmented} pages are in two parts and {shared} shared, but counted are {counted:?}"
        ));
    }
    Ok(all - u64::from(shared))
}

/// A fragment owns sectors, and lies in a valid page that knows it.
fn audit_fragment(page: Lpn, part: &Fragment, ftl: &Ftl) -> Result<(), String> {
    let (block, unit) = ftl.geometry.place_of(part.at);
    let owners = ftl.map.spare.parts(part.at);
    let known = owners.iter().flatten().any(|&(owner, _)| owner == page);
    if !ftl.blocks.is_valid(block, unit) || !known {
        return Err(format!("{page:?} is mapped to {:?}, which holds {owners:?}", part.at));
    }
    match part.sectors.is_empty() {
        true => Err(format!("{page:?} owns nothing at {:?}, where it lies", part.at)),
        false => Ok(()),
    }
}

/// Somebody lives in a valid page, and two only if they fit. Returns whether it is shared.
fn audit_owners(at: Ppn, ftl: &Ftl) -> Result<u32, String> {
    match fragments::living(at, ftl) {
        [None, None] => Err(format!("{at:?} is valid, and nobody lives there")),
        [Some(first), Some(second)] => match is_pack([first, second], ftl.full_page()) {
            true => Ok(1),
            false => Err(format!("{at:?} can't hold {first:?} and {second:?}")),
        },
        _ => Ok(0),
    }
}
