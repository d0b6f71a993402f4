//! Bad blocks of superblocks. Chances, wear and schedules hit single blocks. What fails on one empties its superblock,
//! which is erased without it and goes on as a narrower one, or is retired ([`Members::is_usable`](super::Members)).

use crate::ftl::wear::life;
use crate::ftl::{BlockState, Ftl};
use crate::units::{BlockId, PlaneId, Ppn};

/// Whether programming the flash page at `first`, of data or parity, fails by chance.
pub(in crate::ftl) fn program_fails(first: Ppn, ftl: &Ftl) -> bool {
    let Some(life) = &ftl.health.life else { return false };
    match ftl.features.members() {
        None => {
            let (block, unit) = ftl.geometry.place_of(first);
            life.faults.program_fails(block, ftl.blocks.erases(block), unit)
        }
        Some(members) => {
            let (of_flash, unit) = members.flash().place_of(first);
            let block = members.flash().superblock_of(of_flash).0;
            life.faults.program_fails(of_flash, ftl.blocks.erases(block), unit)
        }
    }
}

/// A superblock was erased. Finds out which of its blocks are bad now, by what failed before, by chance, or by wear.
/// Returns whether it is used further.
pub(in crate::ftl) fn settle(block: BlockId, ftl: &mut Ftl) -> bool {
    let erases = ftl.blocks.erases(block);
    let Some(state) = &mut ftl.features.superblock else { return true };
    let members = &mut state.members;
    let before = members.take_failing(block);
    let Some(life) = &mut ftl.health.life else {
        // An image brought them, and nothing else fails here.
        if !before.is_empty() {
            before.into_iter().for_each(|member| members.turns_bad(block, member));
            members.look_at_groups();
        }
        return members.is_usable(block);
    };
    let live: Vec<u32> = members.live(block).collect();
    let mut narrows = false;
    for member in live {
        let at = members.flash().member(block, member);
        let failed = before.contains(&member);
        let fails_now = !failed && life.faults.erase_fails(at, erases);
        life.count_erase_failure(fails_now);
        if failed || fails_now {
            members.turns_bad(block, member);
            life.lose_member(block, &ftl.geometry);
            narrows = true;
        }
    }
    if narrows {
        members.look_at_groups();
    }
    let usable = members.is_usable(block) && members.live(block).next().is_some();
    if !usable {
        state.untold.retired += u64::from(members.span().blocks());
        life.lose_rest(block, members.bad_of(block).len() as u32, &ftl.geometry);
    }
    life.look_for_shortage(ftl.geometry.plane_of(block));
    usable
}

/// The erase of a superblock ended because all its dies are dead. It has failed.
pub(in crate::ftl) fn lost_with_dies(ftl: &mut Ftl) -> bool {
    if let Some(state) = &mut ftl.features.superblock {
        state.untold.retired += u64::from(state.members.span().blocks());
    }
    true
}

/// Takes blocks that are bad from the factory out of use.
pub(in crate::ftl) fn mark_factory_bad(ftl: &mut Ftl) {
    let (Some(state), Some(life)) = (&mut ftl.features.superblock, &mut ftl.health.life) else {
        return;
    };
    for block in (0..ftl.geometry.blocks()).map(BlockId::new) {
        let members = &mut state.members;
        for member in 0..members.span().blocks() {
            if is_factory_bad(block, member, members, life) {
                members.turns_bad(block, member);
                life.count_factory_bad(block, &ftl.geometry);
            }
        }
        if members.is_usable(block) {
            continue;
        }
        life.lose_rest(block, members.bad_of(block).len() as u32, &ftl.geometry);
        ftl.blocks.set_state(block, BlockState::Bad);
        let plane = ftl.geometry.plane_of(block);
        if life.is_native(block, &ftl.geometry) {
            ftl.space.planes[plane.at()].lose_unused();
        }
    }
    state.members.look_at_groups();
}

/// Whether a block of a superblock is bad from the factory. The first one of a plane of flash never is.
pub(in crate::ftl) fn is_factory_bad(
    block: BlockId,
    member: u32,
    members: &super::Members,
    life: &life::Life,
) -> bool {
    let at = members.flash().member(block, member);
    let first = members.flash().index_in_plane(at) == 0;
    life.faults.is_factory_bad(at, first)
}

/// The members of a superblock that are bad: from the factory, and since.
fn bad_members(block: BlockId, members: &super::Members, life: &life::Life) -> [Vec<u32>; 2] {
    let bad = members.bad_of(block).iter().copied();
    let (factory, grown): (Vec<u32>, Vec<u32>) =
        bad.partition(|&member| is_factory_bad(block, member, members, life));
    [factory, grown]
}

/// After a load, counts the lost blocks of a plane: first those that a new device lacks, then all others.
pub(in crate::ftl) fn recount_losses(plane: PlaneId, ftl: &mut Ftl) {
    let (Some(members), Some(life)) =
        (ftl.features.superblock.as_ref().map(|it| &it.members), &mut ftl.health.life)
    else {
        return;
    };
    let all = 0..ftl.geometry.shape().blocks_per_plane;
    let all = || all.clone().map(|at| ftl.geometry.block_in(plane, at));
    let is_retired = |block| ftl.blocks.state(block) == BlockState::Bad;
    for block in all() {
        let [factory, _] = bad_members(block, members, life);
        factory.iter().for_each(|_| life.count_factory_bad(block, &ftl.geometry));
        if is_retired(block) && !members.is_usable_without(&factory) {
            life.lose_rest(block, factory.len() as u32, &ftl.geometry);
        }
    }
    life.was_new(plane);
    for block in all() {
        let [factory, grown] = bad_members(block, members, life);
        grown.iter().for_each(|_| life.lose_member(block, &ftl.geometry));
        if is_retired(block) && members.is_usable_without(&factory) {
            life.lose_rest(block, members.bad_of(block).len() as u32, &ftl.geometry);
        }
    }
}
