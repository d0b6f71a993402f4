//! Requests to empty blocks.

use crate::ftl::gc::{Purpose, kept};
use crate::ftl::{BlockState, Ftl, slc};
use crate::units::{BlockId, PlaneId};

/// A request to empty a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The block.
    pub block: BlockId,
    /// Its purpose.
    pub purpose: Purpose,
}

/// Requests that a block is emptied. If the block already waits, its purpose changes, unless it is to be retired.
/// Returns false if the block cannot be emptied: it is free, bad, open, or being collected.
pub(in crate::ftl) fn want(wanted: Wanted, ftl: &mut Ftl) -> bool {
    let plane = ftl.geometry.plane_of(wanted.block);
    let queue = &mut ftl.space.planes[plane.at()].wanted;
    if let Some(waiting) = queue.iter_mut().find(|waiting| waiting.block == wanted.block) {
        if waiting.purpose.frees_block() {
            *waiting = wanted;
        }
        return true;
    }
    if ftl.blocks.state(wanted.block) != BlockState::Closed {
        return false;
    }
    queue.push_back(wanted);
    if ftl.blocks.is_slc(wanted.block) {
        slc::cache::slc_withdrawn(wanted.block, ftl);
    } else {
        kept::withdraw(wanted.block, ftl);
    }
    ftl.blocks.set_state(wanted.block, BlockState::Collecting);
    true
}

pub(in crate::ftl) fn has_wanted(plane: PlaneId, ftl: &Ftl) -> bool {
    !ftl.space.planes[plane.at()].wanted.is_empty()
}
