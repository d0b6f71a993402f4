//! What is always true of fragments, checked from end to end.

use super::super::Ftl;
use super::{Fragment, is_pack};
use crate::ftl::mapping::MappingPolicy;
use crate::units::{BlockId, Lpn, Ppn};

impl Ftl {
    /// Fragments and owners agree. Returns how many physical pages anybody lives in.
    pub(in crate::ftl) fn audit_fragments(&self) -> Result<u64, String> {
        let (mut all, mut fragmented) = (0, 0);
        let mut extra = vec![0; self.pack_room.extra.len()];
        for page in (0..self.logical_pages).map(Lpn::new) {
            let parts = self.fragments(page);
            parts.iter().flatten().try_for_each(|part| self.audit_fragment(page, part))?;
            let [newer, older] = parts.map(|part| part.map(|part| part.at));
            if older.is_some() && (newer.is_none() || newer == older) {
                return Err(format!("{page:?} lies at {newer:?} and at {older:?}"));
            }
            self.extra_places(page, [newer, older]).for_each(|pool| extra[pool] += 1);
            all += u64::from(newer.is_some()) + u64::from(older.is_some());
            fragmented += u32::from(older.is_some());
        }
        if extra != self.pack_room.extra {
            let counted = &self.pack_room.extra;
            return Err(format!("pools hold {extra:?} pages beyond theirs, and count {counted:?}"));
        }
        let blocks = (0..self.geometry.blocks()).map(BlockId::new);
        let valid = blocks.flat_map(|block| self.blocks.valid_pages(&self.geometry, block));
        let shared = valid.map(|at| self.audit_owners(at)).sum::<Result<u32, String>>()?;
        let counted = self.mapping.rmap().map(|map| map.pieces()).unwrap_or_default();
        if (counted.fragmented, counted.shared) != (fragmented, shared) {
            return Err(format!(
                "{fragmented} pages are in two parts and {shared} shared, but counted are {counted:?}"
            ));
        }
        Ok(all - u64::from(shared))
    }

    /// A fragment owns sectors, and lies in a valid page that knows it.
    fn audit_fragment(&self, page: Lpn, part: &Fragment) -> Result<(), String> {
        let (block, unit) = self.geometry.place_of(part.at);
        let owners = self.spare.parts(part.at);
        let known = owners.iter().flatten().any(|&(owner, _)| owner == page);
        if !self.blocks.is_valid(block, unit) || !known {
            return Err(format!("{page:?} is mapped to {:?}, which holds {owners:?}", part.at));
        }
        match part.sectors.is_empty() {
            true => Err(format!("{page:?} owns nothing at {:?}, where it lies", part.at)),
            false => Ok(()),
        }
    }

    /// Somebody lives in a valid page, and two only if they fit. Returns whether it is shared.
    fn audit_owners(&self, at: Ppn) -> Result<u32, String> {
        match self.living(at) {
            [None, None] => Err(format!("{at:?} is valid, and nobody lives there")),
            [Some(first), Some(second)] => match is_pack([first, second], self.full_page()) {
                true => Ok(1),
                false => Err(format!("{at:?} can't hold {first:?} and {second:?}")),
            },
            _ => Ok(0),
        }
    }
}
