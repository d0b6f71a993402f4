//! Static wear levelling. Cold data occupies little worn blocks and keeps them out of use, so that
//! the other blocks wear out early. The policy sees every erase and chooses a block whose data
//! moves. The collector empties that block
//! ([`Purpose::WearLevel`](super::super::gc::Purpose::WearLevel)). Its copies go to the most worn
//! free block of the plane, once the open block of other copies is full. So cold data is mixed with
//! the copies of garbage collection, which adds write amplification beyond the moves themselves.
//!
//! Planes are levelled separately, because copies never leave their plane. The SLC cache is not
//! levelled: its data moves on anyway, and its own blocks wear separately.

use super::super::gc::Purpose;
use super::super::{BlockState, Blocks, Ftl};
use super::{Bet, NoLevelling, Threshold};
use crate::ftl::slc;
use crate::ftl::wear::life;
use crate::policy::{contract, seam};
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

seam! {
    /// Moves static data off little worn blocks, so that these come into use (static wear
    /// levelling).
    pub enum Levelling ("ftl.wear.policy" = "none") as LevellingChoice, with levelling_policy, or ExternalLevelling {
        None(NoLevelling),
        Threshold(Threshold),
        Bet(Bet),
    }
}

/// The state that a policy decides by.
#[derive(Clone, Copy, Debug)]
pub struct WearView<'a> {
    /// The plane to level.
    pub plane: PlaneId,
    /// The number of blocks to level, from the first of the plane. The other blocks belong to the
    /// SLC cache.
    pub levelled: u32,
    /// The present state of all blocks.
    pub blocks: &'a Blocks,
    /// The shape of the device.
    pub geometry: &'a Geometry,
}

impl WearView<'_> {
    /// Returns the block with this index in the plane.
    #[must_use]
    pub fn block(&self, index: u32) -> BlockId {
        self.geometry.block_in(self.plane, index)
    }

    /// Whether the data of a block can move: the block is closed and not in SLC mode.
    #[must_use]
    pub fn is_closed(&self, block: BlockId) -> bool {
        self.blocks.state(block) == BlockState::Closed && !self.blocks.is_slc(block)
    }
}

contract! {
    /// The decisions of a static wear levelling policy.
    pub trait LevellingPolicy for Levelling, by levelling_policy, or ExternalLevelling {
        /// Records the erase of a block of the plane, and the purpose of its collection.
        fn erased(&mut self, view: &WearView<'_>, block: BlockId, purpose: Purpose);

        /// Returns a closed block of the plane whose data should move, if any. Called after an
        /// erase, unless such a block is waiting already.
        #[must_use]
        fn choose(&mut self, view: &WearView<'_>) -> Option<BlockId>;

        /// Whether the policy never chooses a block.
        #[must_use]
        fn is_off(&self) -> bool {
            false
        }
    }
}

/// Records an erase. Returns the block whose data should move next, if the plane has room for it
/// and no other such block is waiting.
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
