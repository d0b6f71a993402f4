//! Failed programs and erases, the retirement of their blocks, and the end of a device's life.

use crate::engine::skills;
use crate::engine::skills::Skills;
use crate::ftl::streams::{ClosedBy, StreamsPolicy, WriteStream};
use crate::ftl::wear::life::{EndReason, Failing};
use crate::ftl::wear::{dies, refresh};
use crate::ftl::{
    BlockState, FlashChange, FlashContents, Ftl, SpoiledBy, gc::kept, slc, superblock,
};
use crate::units::{BlockId, PlaneId, Ppn};
use crate::verify::Canary;

/// Handles the finished program of the flash page that begins at `first`. Returns whether it
/// failed: by chance, or because the flash reports so (`failed`). After a failure its block is not
/// filled further, and is emptied once none of its programs is in flight.
#[inline]
pub(crate) fn program_fails<const S: Skills>(
    first: Ppn,
    failed: bool,
    contents: &mut impl FlashContents,
    ftl: &mut Ftl,
) -> bool {
    let fails = ftl.health.life.is_some() && check_program(first, failed, contents, ftl);
    if let Some(stripes) = ftl.features.stripes.as_mut().filter(|_| !fails) {
        stripes.is_programmed(first);
    }
    fails
}

pub(in crate::ftl) fn check_program(
    first: Ppn,
    failed: bool,
    contents: &mut impl FlashContents,
    ftl: &mut Ftl,
) -> bool {
    let block = ftl.geometry.block_of(first);
    let plane = ftl.geometry.plane_of(block);
    if !failed && !superblock::wear::program_fails(first, ftl) {
        return false;
    }
    let Some(life) = ftl.health.life.as_mut() else { return false };
    life.losses.program_failures += 1;
    if let Some(stripes) = &mut ftl.features.stripes {
        match (ftl.plant.is(Canary::FailedPageCounts), &ftl.features.superblock) {
            (false, Some(state)) => stripes.program_failed(first, &state.members, contents),
            _ => stripes.is_programmed(first),
        }
        ftl.features.record.iter_mut().for_each(|record| record.touch_block(block));
    }
    let units = ftl.geometry.units_per_page();
    contents.change(FlashChange::Spoiled { first, units, by: SpoiledBy::FailedProgram });
    if dies::is_dead_plane(plane, ftl) || superblock::deaths::leave_out(first, ftl) {
        return true;
    }
    if let Some(state) = &mut ftl.features.superblock {
        state.members.page_fails(first);
    }
    begin_to_fail(block, ftl);
    let programmed = ftl.blocks.add_programmed(block, units);
    if ftl.blocks.state(block) == BlockState::Open && programmed == ftl.blocks.units_of(block) {
        ftl.close(block);
    }
    settle_failing(block, ftl);
    refresh::settle_sealing(block, ftl);
    crate::ftl::room::refresh_writable::<{ skills::ALL }>(plane, ftl);
    true
}

/// Starts the retirement of a block after a failed program: it is not filled further, and retired
/// when it is empty.
pub(in crate::ftl) fn begin_to_fail(block: BlockId, ftl: &mut Ftl) {
    let plane = ftl.geometry.plane_of(block);
    // At the end of its life the device cannot afford to lose the rest of the block.
    let Some(life) = ftl.health.life.as_mut().filter(|_| !ftl.health.read_only) else { return };
    if ftl.blocks.state(block) == BlockState::Failing {
        return;
    }
    let whole = ftl.blocks.units_of(block);
    let state = &mut ftl.space.planes[plane.at()];
    let open = state.close(block, |stream| ftl.blocks.units_in(stream));
    let noted = open.and_then(|(of, _)| match of {
        WriteStream::MAP => ftl.space.map_writable.as_deref_mut(),
        WriteStream::SLC => ftl.features.slc.as_mut().map(|cache| &mut cache.writable),
        of => ftl.space.writable.get_mut(of.at()),
    });
    if let Some(noted) = noted {
        noted.next_unit[plane.at()] = 0;
    }
    // A block that refresh closes early is no longer among the open ones.
    let sealed = ftl.features.refresh.as_mut().and_then(|refresh| refresh.unseal(block));
    let taken = open.map(|(_, taken)| taken).or(sealed).unwrap_or(whole);
    life.failing.push(Failing { block, taken });
    ftl.blocks.set_state(block, BlockState::Failing);
    if let Some((stream, taken)) = open {
        let unwritten = ftl.blocks.units_in(stream) - taken;
        ftl.policies.streams.closed_early(stream, unwritten, ClosedBy::Device);
    }
    // A superblock goes on without the block that failed.
    if ftl.features.superblock.is_none() {
        life.lose(block, &ftl.geometry);
    }
}

/// Handles the failed program of a parity page, like any other failure. Its superblock may be closed or being collected
/// by now.
#[cold]
pub(in crate::ftl) fn parity_failed(page: Ppn, ftl: &mut Ftl) {
    let Some(state) = &mut ftl.features.superblock else { return };
    let flash = state.members.flash();
    let (block, is_dead) = (
        flash.superblock_of(flash.block_of(page)).0,
        state.members.is_dead(flash.die_of_page(page)),
    );
    let plane = ftl.geometry.plane_of(block);
    let Some(life) = ftl.health.life.as_mut() else { return };
    life.losses.program_failures += 1;
    if is_dead || ftl.health.read_only || ftl.blocks.state(block) == BlockState::Dead {
        return;
    }
    state.members.page_fails(page);
    match ftl.blocks.state(block) {
        BlockState::Open => {
            begin_to_fail(block, ftl);
            settle_failing(block, ftl);
            crate::ftl::room::refresh_writable::<{ skills::ALL }>(plane, ftl);
        }
        BlockState::Closed => {
            if ftl.blocks.is_slc(block) {
                slc::cache::slc_withdrawn(block, ftl);
            } else {
                kept::withdraw(block, ftl);
            }
            ftl.blocks.set_state(block, BlockState::Failing);
            ftl.health.failed.push(block);
        }
        // What collects it will find it out when it is erased.
        BlockState::Collecting => {}
        BlockState::Failing | BlockState::Free | BlockState::Bad | BlockState::Dead => {}
    }
}

/// Queues a failing block to be emptied, once none of its programs is in flight.
pub(in crate::ftl) fn settle_failing(block: BlockId, ftl: &mut Ftl) {
    let programmed = ftl.blocks.programmed(block);
    let Some(life) = ftl.health.life.as_mut() else { return };
    let ready = |failing: &Failing| failing.block == block && failing.taken == programmed;
    if let Some(at) = life.failing.iter().position(ready) {
        life.failing.remove(at);
        ftl.health.failed.push(block);
    }
}

/// Handles a finished erase of a block. Returns whether it failed: by chance, by wear, or because
/// the flash reports so (`failed`).
#[inline]
pub(in crate::ftl) fn erase_fails(block: BlockId, failed: bool, ftl: &mut Ftl) -> bool {
    let plane = ftl.geometry.plane_of(block);
    let is_dead = dies::is_dead_plane(plane, ftl);
    if ftl.features.superblock.is_some() {
        return match is_dead {
            true => superblock::wear::lost_with_dies(ftl),
            false => !superblock::wear::settle(block, ftl),
        };
    }
    let Some(life) = ftl.health.life.as_mut() else { return false };
    let fails = failed || life.faults.erase_fails(block, ftl.blocks.erases(block));
    if fails {
        life.losses.erase_failures += 1;
    }
    if fails && !is_dead {
        life.lose(block, &ftl.geometry);
    }
    fails
}

/// Ends the device's life: no collection begins any more, and the blocks kept in reserve may be
/// used.
pub(crate) fn end_life(reason: EndReason, ftl: &mut Ftl) {
    ftl.health.read_only = true;
    ftl.space.thresholds.reserve = 0;
    if let Some(life) = &mut ftl.health.life {
        life.drain_blocks = 0;
        life.end = life.end.or(Some(reason));
    }
    (0..ftl.geometry.planes())
        .map(PlaneId::new)
        .for_each(|plane| crate::ftl::room::refresh_writable::<{ skills::ALL }>(plane, ftl));
}

/// Places a page at the end of the device's life, wherever there is room. Planes take turns, and
/// any stream may be used.
pub(in crate::ftl) fn place_anywhere(stream: WriteStream, ftl: &mut Ftl) -> Option<Ppn> {
    let planes = ftl.geometry.planes();
    let start = (ftl.counts.host_pages % u64::from(planes)) as u32;
    let turns = || (start..planes).chain(0..start).map(PlaneId::new);
    let whole = ftl.geometry.units_per_block();
    let begun = turns().find_map(|plane| {
        let mut streams = ftl.policies.streams.all_host_streams();
        let open = streams.find(|&stream| ftl.space.planes[plane.at()].has_room(stream, whole))?;
        Some((plane, open))
    });
    let unused = || turns().find(|&plane| ftl.free_blocks(plane) > 0);
    let (plane, stream) = begun.or_else(|| Some((unused()?, stream)))?;
    crate::ftl::room::take_page::<{ skills::ALL }>(plane, stream, 0, ftl)
}
