//! The room of superblocks that lack blocks: places that are skipped, and whether they are worth collecting.

use super::Members;
use crate::engine::skills;
use crate::ftl::gc::{VictimPolicy, kept};
use crate::ftl::streams::WriteStream;
use crate::ftl::{Ftl, room};
use crate::units::{BlockId, PlaneId, Ppn};
use crate::verify::Canary;

/// Flash pages that a block holds if it is opened now.
pub(in crate::ftl) fn pages_to_fill(block: BlockId, ftl: &Ftl) -> u32 {
    match ftl.features.members() {
        None => ftl.geometry.shape().pages_per_block,
        Some(members) => members.pages_of(block),
    }
}

/// Flash pages that any block of a plane holds at least if it is opened now.
pub(in crate::ftl) fn least_pages_to_fill(plane: PlaneId, ftl: &Ftl) -> u32 {
    let lacks = |members: &&Members| members.any_lost();
    match ftl.features.members().filter(lacks) {
        None => ftl.geometry.shape().pages_per_block,
        Some(members) => members.least_pages(ftl.geometry.die_of(plane)),
    }
}

/// Whether collecting a block frees a flash page.
#[inline]
pub(in crate::ftl) fn is_worth_collecting(block: BlockId, ftl: &Ftl) -> bool {
    let page = ftl.geometry.units_per_page();
    ftl.blocks.valid(block) + page <= pages_to_fill(block, ftl) * page
}

/// The victim policy has chosen a block that was worth collecting only while it had all its blocks. Returns the block with
/// the fewest valid pages that is worth it instead.
#[cold]
pub(in crate::ftl) fn choose_narrow(
    plane: PlaneId,
    chosen: BlockId,
    ftl: &mut Ftl,
) -> Option<BlockId> {
    kept::offer(chosen, ftl);
    let candidates = ftl.policies.victim.candidates(plane).into_iter();
    let worth = candidates.filter(|&block| is_worth_collecting(block, ftl));
    let block = worth.min_by_key(|&block| ftl.blocks.valid(block))?;
    kept::withdraw(block, ftl);
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
    let (step, whole) = (ftl.geometry.units_per_page(), ftl.blocks.units_in(stream));
    if ftl.plant.is(Canary::BadMemberFilled) {
        return 0;
    }
    let features = &mut ftl.features;
    let Some(state) = features.superblock.as_ref().filter(|state| state.members.any_lost()) else {
        return 0;
    };
    let members = &state.members;
    let in_row = members.span().pages_in_row();
    if let Some(stripes) = features.stripes.as_mut() {
        stripes.note_place(members, &ftl.geometry, block, next);
    }
    let mut at = next;
    while at < whole {
        let is_page = match features.stripes.as_mut() {
            None => !members.is_lost(block, at / step % in_row),
            Some(stripes) => stripes.takes_page(ftl.geometry.page_at(block, at), members),
        };
        if is_page {
            break;
        }
        at += step;
    }
    ftl.space.planes[plane.at()].leave_out(stream, at - next);
    ftl.blocks.add_programmed(block, at - next);
    at - next
}

/// A place of an open block was taken. Skips those behind it that hold no page, and returns where the block continues.
pub(in crate::ftl) fn after_place(
    plane: PlaneId,
    stream: WriteStream,
    (block, unit): (BlockId, u32),
    ftl: &mut Ftl,
) -> u32 {
    let next = unit + ftl.geometry.units_per_page();
    if let Some(stripes) = &mut ftl.features.stripes {
        stripes.begins(ftl.geometry.page_at(block, unit));
    }
    next + leave_places_out(plane, stream, block, next, ftl)
}

/// A block was opened. Skips its first places if they hold no page. If none does, it is closed again.
#[cold]
pub(in crate::ftl) fn holds_nothing(
    plane: PlaneId,
    stream: WriteStream,
    block: BlockId,
    ftl: &mut Ftl,
) -> bool {
    let left_out = leave_places_out(plane, stream, block, 0, ftl);
    let holds_nothing = left_out == ftl.blocks.units_in(stream);
    if holds_nothing {
        ftl.close(block);
        crate::ftl::room::refresh_writable::<{ skills::ALL }>(plane, ftl);
    }
    holds_nothing
}

/// Whether stripes of a plane have a single page, because one die of its group is left. A block in SLC mode might have no
/// place at all for data then, so there is no SLC cache any more.
pub(in crate::ftl) fn has_single_pages(plane: PlaneId, ftl: &Ftl) -> bool {
    let with_parity = |members: &&Members| members.span().has_parity && members.any_dead();
    let members = ftl.features.members().filter(with_parity);
    members.is_some_and(|members| members.alive(ftl.geometry.die_of(plane)) == 1)
}

/// The physical blocks of a block, without those that hold no pages.
pub(crate) fn blocks_on_flash(block: BlockId, ftl: &Ftl) -> impl Iterator<Item = BlockId> {
    let own = ftl.features.superblock.is_none().then_some(block);
    let members = ftl.features.members().into_iter();
    own.into_iter().chain(members.flat_map(move |members| members.live_blocks(block)))
}

/// Checks that no page lies on a bad block.
///
/// # Errors
/// One does.
pub(in crate::ftl) fn audit(ftl: &Ftl) -> Result<(), String> {
    let Some(members) = ftl.features.members().filter(|members| members.any_bad()) else {
        return Ok(());
    };
    let flash = members.flash();
    let blocks = (0..ftl.geometry.blocks()).map(BlockId::new);
    let narrow = blocks.filter(|&block| !members.bad_of(block).is_empty());
    let mut valid = narrow.flat_map(|block| ftl.blocks.valid_pages(&ftl.geometry, block));
    let is_on_bad = |&at: &Ppn| {
        let (block, member) = flash.superblock_of(flash.block_of(at));
        members.bad_of(block).contains(&member)
    };
    match valid.find(is_on_bad) {
        Some(at) => Err(format!("{at:?} lies on a block that was bad before")),
        None => Ok(()),
    }
}

/// Where a stream may write has changed on a plane, because its open block was skipped through to `next`.
pub(super) fn note_next(plane: PlaneId, stream: WriteStream, next: u32, ftl: &mut Ftl) {
    let whole = ftl.blocks.units_in(stream);
    let next = if next == whole { 0 } else { next };
    match stream == WriteStream::SLC {
        true => {
            if let Some(cache) = &mut ftl.features.slc {
                cache.writable.next_unit[plane.at()] = next;
            }
        }
        false => {
            if let Some(writable) = room::writable_mut(stream, ftl) {
                writable.next_unit[plane.at()] = next;
            }
        }
    }
}
