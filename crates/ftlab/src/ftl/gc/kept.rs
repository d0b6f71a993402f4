//! Blocks that the streams policy keeps from the victim policy, because it collects them itself: they are no candidates
//! of the victim policy until they belong to another stream.

use crate::ftl::gc::{VictimPolicy, VictimView};
use crate::ftl::streams::{Next, StreamsPolicy};
use crate::ftl::{BlockState, Ftl};
use crate::units::{BlockId, PlaneId};

/// Whether the streams policy keeps a block.
pub(in crate::ftl) fn is_kept(block: BlockId, ftl: &Ftl) -> bool {
    ftl.policies.streams.keeps(ftl.blocks.stream(block))
}

/// A closed block becomes a candidate, unless it is kept.
pub(in crate::ftl) fn offer(block: BlockId, ftl: &mut Ftl) {
    if !is_kept(block, ftl) {
        let plane = ftl.geometry.plane_of(block);
        ftl.policies.victim.closed(&VictimView { plane, blocks: &ftl.blocks }, block);
    }
}

/// A closed block is a candidate no longer.
pub(in crate::ftl) fn withdraw(block: BlockId, ftl: &mut Ftl) {
    if !is_kept(block, ftl) {
        let plane = ftl.geometry.plane_of(block);
        ftl.policies.victim.withdrawn(&VictimView { plane, blocks: &ftl.blocks }, block);
    }
}

/// The candidates of a plane in the order of the victim policy, then the closed blocks that are kept.
pub(in crate::ftl) fn candidates_and_kept(plane: PlaneId, ftl: &Ftl) -> Vec<BlockId> {
    let mut all = ftl.policies.victim.candidates(plane);
    if ftl.policies.streams.keeps_blocks() {
        let blocks = 0..ftl.geometry.shape().blocks_per_plane;
        let blocks = blocks.map(|index| ftl.geometry.block_in(plane, index));
        all.extend(
            blocks.filter(|&block| {
                ftl.blocks.state(block) == BlockState::Closed && is_kept(block, ftl)
            }),
        );
    }
    all
}

/// The victim of a plane, as the streams policy or the victim policy has it.
#[cold]
pub(in crate::ftl) fn choose(plane: PlaneId, ftl: &mut Ftl) -> Option<BlockId> {
    loop {
        match ftl.policies.streams.next_victim(plane, &ftl.blocks) {
            Next::Collect(block) => return Some(block),
            Next::Regroup(block, stream) => {
                ftl.blocks.set_stream(block, stream);
                offer(block, ftl);
            }
            Next::Choose => {
                let view = VictimView { plane, blocks: &ftl.blocks };
                let chosen = ftl.policies.victim.choose(&view);
                if chosen.is_some() || !ftl.policies.streams.finds_no_victim() {
                    return chosen;
                }
            }
        }
    }
}
