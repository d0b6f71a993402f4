//! The effect of dead dies on the room of a superblock: pages that it skips, and whether it is worth collecting.

use crate::ftl::Ftl;
use crate::ftl::gc::{VictimPolicy, VictimView};
use crate::ftl::parity::{Narrow, Running};
use crate::ftl::streams::WriteStream;
use crate::units::{BlockId, PlaneId};

/// Flash pages that a block of a plane holds if it is opened now.
pub(in crate::ftl) fn pages_to_fill(plane: PlaneId, ftl: &Ftl) -> u32 {
    match &ftl.features.stripes {
        None => ftl.geometry.shape().pages_per_block,
        Some(stripes) => stripes.pages_of(ftl.geometry.die_of(plane)),
    }
}

/// Whether collecting a block frees a flash page.
#[inline]
pub(in crate::ftl) fn is_worth_collecting(plane: PlaneId, block: BlockId, ftl: &Ftl) -> bool {
    let page = ftl.geometry.units_per_page();
    ftl.blocks.valid(block) + page <= pages_to_fill(plane, ftl) * page
}

/// The victim policy has chosen a block that was worth collecting only while all dies were alive.
/// Returns the block with the fewest valid pages instead, if collecting that is worth it.
#[cold]
pub(in crate::ftl) fn choose_narrow(
    plane: PlaneId,
    chosen: BlockId,
    ftl: &mut Ftl,
) -> Option<BlockId> {
    let view = VictimView { plane, blocks: &ftl.blocks };
    ftl.policies.victim.closed(&view, chosen);
    let candidates = ftl.policies.victim.candidates(plane);
    let least = candidates.into_iter().min_by_key(|&block| ftl.blocks.valid(block));
    let block = least.filter(|&block| is_worth_collecting(plane, block, ftl))?;
    let view = VictimView { plane, blocks: &ftl.blocks };
    ftl.policies.victim.withdrawn(&view, block);
    Some(block)
}

/// Skips the places of an open block from `next` on that hold no page. Returns how many units they are.
pub(in crate::ftl) fn leave_places_out(
    plane: PlaneId,
    stream: WriteStream,
    block: BlockId,
    next: u32,
    ftl: &mut Ftl,
) -> u32 {
    let (step, whole) = (ftl.geometry.units_per_page(), ftl.geometry.units_per_block());
    let Some(stripes) = ftl.features.stripes.as_mut() else { return 0 };
    if !stripes.any_dead {
        return 0;
    }
    if next > 0 {
        stripes.note_begun(ftl.geometry.page_at(block, next - step));
    } else if stripes.dead_now(block) != 0 {
        stripes.narrow.insert(block, Narrow::default());
    }
    let mut at = next;
    while at < whole {
        let (stripe, place) = stripes.superblocks.stripe_of(ftl.geometry.page_at(block, at));
        if stripes.is_page(stripe, place) {
            break;
        }
        stripes.leave_out(stripe, place);
        at += step;
    }
    ftl.space.planes[plane.at()].leave_out(stream, at - next);
    ftl.blocks.add_programmed(block, at - next);
    at - next
}

/// A place of an open block was taken, so its stripe has begun. Its parity is programmed in its
/// turn even if no page of the stripe reaches flash.
pub(in crate::ftl) fn begin_stripe(block: BlockId, unit: u32, ftl: &mut Ftl) {
    let Some(stripes) = &mut ftl.features.stripes else { return };
    let (stripe, _) = stripes.superblocks.stripe_of(ftl.geometry.page_at(block, unit));
    stripes.running.entry(stripe).or_insert(Running::new());
}

/// The physical blocks of a block, without those of dies that are known to be dead.
pub(crate) fn blocks_on_flash(block: BlockId, ftl: &Ftl) -> impl Iterator<Item = BlockId> {
    let superblock = ftl.features.superblock.iter();
    let blocks = superblock.flat_map(move |state| state.flash().blocks_of_superblock(block));
    let alone = ftl.features.stripes.is_none() && ftl.features.superblock.is_none();
    let own = alone.then_some(block);
    let members = ftl.features.stripes.iter().flat_map(move |stripes| stripes.on_flash(block, 0));
    own.into_iter().chain(blocks).chain(members.map(|(block, _)| block))
}
