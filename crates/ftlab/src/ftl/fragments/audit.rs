//! Checks of the invariants of fragments.

use super::super::Ftl;
use super::{Fragment, is_pack};
use crate::ftl::fragments;
use crate::ftl::mapping::MappingPolicy;
use crate::units::{BlockId, Lpn, Ppn};

/// Checks that fragments and owners agree. Returns how many physical pages hold fragments.
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
        return Err(format!("pools hold {extra:?} extra pages, but count {counted:?}"));
    }
    let blocks = (0..ftl.geometry.blocks()).map(BlockId::new);
    let valid = blocks.flat_map(|block| ftl.blocks.valid_pages(&ftl.geometry, block));
    let shared = valid.map(|at| audit_owners(at, ftl)).sum::<Result<u32, String>>()?;
    let counted = ftl.map.mapping.rmap().map(|map| map.pieces()).unwrap_or_default();
    if (counted.fragmented, counted.shared) != (fragmented, shared) {
        return Err(format!(
            "{fragmented} pages have two fragments and {shared} are shared, but the counts are {counted:?}"
        ));
    }
    Ok(all - u64::from(shared))
}

/// Checks that a fragment owns sectors, and lies in a valid page that knows it.
fn audit_fragment(page: Lpn, part: &Fragment, ftl: &Ftl) -> Result<(), String> {
    let (block, unit) = ftl.geometry.place_of(part.at);
    let owners = ftl.map.spare.parts(part.at);
    let known = owners.iter().flatten().any(|&(owner, _)| owner == page);
    if !ftl.blocks.is_valid(block, unit) || !known {
        return Err(format!("{page:?} is mapped to {:?}, which holds {owners:?}", part.at));
    }
    match part.sectors.is_empty() {
        true => Err(format!("{page:?} owns no sectors at {:?}, where it lies", part.at)),
        false => Ok(()),
    }
}

/// Checks that a valid page holds a fragment, or two that fit. Returns whether it is shared.
fn audit_owners(at: Ppn, ftl: &Ftl) -> Result<u32, String> {
    match fragments::living(at, ftl) {
        [None, None] => Err(format!("{at:?} is valid, but holds no fragment")),
        [Some(first), Some(second)] => match is_pack([first, second], ftl.full_page()) {
            true => Ok(1),
            false => Err(format!("{at:?} can't hold {first:?} and {second:?}")),
        },
        _ => Ok(0),
    }
}
