//! Static wear levelling: cold data rests on young blocks and keeps them out of use, so that the others
//! wear out early. A policy is told of every erase and names a block whose data is to move on; the
//! collector empties it ([`Purpose::WearLevel`](super::super::gc::Purpose::WearLevel)), and its copies go to
//! the most worn free block of the plane, once the open block of other copies is full. So cold data
//! mixes with what collection copies, which costs write amplification beyond the moves themselves.
//!
//! Planes are levelled one by one: data never leaves its plane by a copy. The SLC cache is left alone: what
//! lies in it moves on anyway, and its own blocks wear by themselves.

use super::super::gc::Purpose;
use super::super::{BlockState, Blocks, Ftl};
use super::{Bet, NoLevelling, Threshold};
use crate::ftl::slc;
use crate::ftl::wear::life;
use crate::policy::{contract, seam};
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

seam! {
    /// Moves data that lies still off young blocks, so that these come into use (static wear levelling).
    pub enum Levelling ("ftl.wear.policy" = "none") as LevellingChoice, with levelling_policy, or ExternalLevelling {
        None(NoLevelling),
        Threshold(Threshold),
        Bet(Bet),
    }
}

/// What a policy sees.
#[derive(Clone, Copy, Debug)]
pub struct WearView<'a> {
    /// The plane in question.
    pub plane: PlaneId,
    /// The blocks among which wear is levelled: so many of the plane, from its first. What follows are
    /// the SLC cache's own.
    pub levelled: u32,
    /// All blocks as they are at present.
    pub blocks: &'a Blocks,
    /// The shape of the device.
    pub geometry: &'a Geometry,
}

impl WearView<'_> {
    /// The block of a number in the plane.
    #[must_use]
    pub fn block(&self, index: u32) -> BlockId {
        self.geometry.block_in(self.plane, index)
    }

    /// Whether a block's data can move on: it is full, and not of the SLC cache.
    #[must_use]
    pub fn is_closed(&self, block: BlockId) -> bool {
        self.blocks.state(block) == BlockState::Closed && !self.blocks.is_slc(block)
    }
}

contract! {
    /// What a policy of static wear levelling decides.
    pub trait LevellingPolicy for Levelling, by levelling_policy, or ExternalLevelling {
        /// A block of the plane was erased, after it had been collected for a purpose.
        fn erased(&mut self, view: &WearView<'_>, block: BlockId, purpose: Purpose);

        /// A closed block of the plane whose data is to move on, if any. Asked after an erase, unless one
        /// waits already.
        #[must_use]
        fn choose(&mut self, view: &WearView<'_>) -> Option<BlockId>;

        /// Whether it never asks for anything.
        #[must_use]
        fn is_off(&self) -> bool {
            false
        }
    }
}

/// A block was erased. Returns the block whose data is to move on for that, one at a time on each
/// plane, if there is room for its data.
pub(in crate::ftl) fn level(block: BlockId, purpose: Purpose, ftl: &mut Ftl) -> Option<BlockId> {
    if ftl.policies.levelling.is_off() || ftl.health.read_only {
        return None;
    }
    let plane = ftl.geometry.plane_of(block);
    let levelled = slc::cache::native_blocks(ftl);
    let view = WearView { plane, levelled, blocks: &ftl.blocks, geometry: &ftl.geometry };
    ftl.policies.levelling.erased(&view, block, purpose);
    if ftl.space.planes[plane.at()].waits_for(Purpose::WearLevel) {
        return None;
    }
    let chosen = ftl.policies.levelling.choose(&view)?;
    life::can_empty(plane, chosen, ftl).then_some(chosen)
}
