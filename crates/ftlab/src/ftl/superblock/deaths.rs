//! Superblocks with blocks on dead dies. Nothing more is placed on a dead die: open superblocks go on without it, and
//! those that are opened later hold less, so fewer of them are worth collecting. A device whose groups have no room for
//! their valid pages any more takes no more writes.
//!
//! A group whose dies are all dead is a dead die of the volume ([`wear`](super::super::wear)).

use super::{Members, room};
use crate::engine::skills;
use crate::ftl::parity::rebuild;
use crate::ftl::wear::life::EndReason;
use crate::ftl::wear::{dies, life};
use crate::ftl::{BlockState, Ftl};
use crate::units::{BlockId, DieId, PlaneId, Ppn};

impl Ftl {
    /// The dies of the flash that are known to be dead.
    #[must_use]
    pub fn dead_dies_on_flash(&self) -> Vec<DieId> {
        match self.features.members() {
            None => self.dead_dies().to_vec(),
            Some(members) => members.dead_dies().collect(),
        }
    }

    /// Whether a die of the flash is known to be dead.
    #[must_use]
    pub fn is_known_dead(&self, die: DieId) -> bool {
        match self.features.members() {
            None => dies::is_dead(die, self),
            Some(members) => members.is_dead(die),
        }
    }

    /// Whether blocks may skip pages, because stripes have lost all their dies but one, or all but bad blocks of one.
    pub(crate) fn leaves_pages_out(&self) -> bool {
        let Some(members) = self.features.members() else { return false };
        let groups = (0..self.geometry.dies()).map(DieId::new);
        let life = self.health.life.as_ref();
        let bad = members.any_bad() || life.is_some_and(|life| life.faults.turns_blocks_bad());
        let alone = |group| bad || members.alive(group) == 1;
        members.span().has_parity && members.any_dead() && groups.into_iter().any(alone)
    }

    /// The die of the volume to which a die of the flash belongs.
    #[must_use]
    pub fn die_filled(&self, die: DieId) -> DieId {
        self.features.members().map_or(die, |members| members.flash().die_of_volume(die))
    }

    /// Whether a block is used, or will be.
    pub(in crate::ftl) fn is_in_use(&self, block: BlockId) -> bool {
        !matches!(self.blocks.state(block), BlockState::Bad | BlockState::Dead)
    }
}

/// Valid pages of the host on dead dies of groups that go on, if no parity can compute them.
pub(in crate::ftl) fn pages_on_dead_members(ftl: &Ftl) -> u64 {
    let no_parity = |members: &&Members| members.any_dead() && !members.span().has_parity;
    let Some(members) = ftl.features.members().filter(no_parity) else { return 0 };
    let alive = (0..ftl.geometry.blocks()).map(BlockId::new).filter(|&block| ftl.is_in_use(block));
    let valid = alive.flat_map(|block| ftl.blocks.valid_pages(&ftl.geometry, block));
    let dead = valid.filter(|&at| members.is_dead(members.flash().die_of_page(at)));
    dead.filter(|&at| ftl.is_of_host(at)).count() as u64
}

/// A die was found dead.
#[cold]
pub(crate) fn die_died(die: DieId, ftl: &mut Ftl) {
    life::begin_after_death(ftl);
    if !ftl.is_known_dead(die) {
        ftl.health.found_dead.push(die);
    }
    match ftl.features.superblock {
        None => dies::filled_die_died(die, ftl),
        Some(_) => member_died(die, ftl),
    }
}

/// A die of a group has died: open blocks continue without it.
fn member_died(die: DieId, ftl: &mut Ftl) {
    let Some(state) = &mut ftl.features.superblock else { return };
    if state.members.is_dead(die) {
        return;
    }
    let group = state.members.flash().die_of_volume(die);
    let planes: Vec<PlaneId> = dies::planes_of(group, &ftl.geometry).collect();
    if let Some(stripes) = &mut ftl.features.stripes {
        for &plane in &planes {
            let open = ftl.space.planes[plane.at()].open_blocks();
            open.for_each(|(_, block, taken)| stripes.note_open(block, taken));
        }
    }
    state.members.die_dies(die);
    let is_gone = state.members.alive(group) == 0;
    ftl.health.death_is_news = true;
    if is_gone {
        dies::filled_die_died(group, ftl);
        return rebuild::find_exposed(ftl);
    }
    planes.into_iter().for_each(|plane| narrow_plane(plane, ftl));
    dies::keep_more_back(ftl);
    (0..ftl.geometry.planes())
        .map(PlaneId::new)
        .for_each(|at| crate::ftl::room::refresh_writable::<{ skills::ALL }>(at, ftl));
    check_room_of_groups(ftl);
    rebuild::find_exposed(ftl);
}

/// A die of a plane has died: its open blocks continue without it, and it checks again what is worth collecting.
fn narrow_plane(plane: PlaneId, ftl: &mut Ftl) {
    let open: Vec<_> = ftl.space.planes[plane.at()].open_blocks().collect();
    for (stream, block, taken) in open {
        let whole = ftl.blocks.units_in(stream);
        if taken >= whole {
            continue;
        }
        let left_out = room::leave_places_out(plane, stream, block, taken, ftl);
        room::note_next(plane, stream, taken + left_out, ftl);
        let done = ftl.blocks.programmed(block) == whole;
        if done && ftl.blocks.state(block) == BlockState::Open {
            ftl.close(block);
        }
    }
    ftl.space.feed(plane);
}

/// The program of a page failed because its die is dead: its place counts as filled, with nothing.
pub(in crate::ftl) fn leave_out(first: Ppn, ftl: &mut Ftl) -> bool {
    let on_dead_die = ftl.features.members().is_some_and(|members| {
        members.any_dead() && members.is_dead(members.flash().die_of_page(first))
    });
    if on_dead_die {
        ftl.programmed::<{ skills::ALL }>(first, ftl.geometry.units_per_page());
    }
    on_dead_die
}

/// If the valid pages exceed what all groups can hold, some of which have lost dies, the device takes no more writes.
pub(in crate::ftl) fn check_room_of_groups(ftl: &mut Ftl) {
    if ftl.health.life.is_none()
        || !ftl.features.members().is_some_and(|members| members.any_dead())
    {
        return;
    }
    let demand = life::demand(ftl).without_pages();
    let planes = || (0..ftl.geometry.planes()).map(PlaneId::new);
    let alive = || planes().filter(|&plane| !dies::is_dead_plane(plane, ftl));
    let room = alive().map(|plane| room_of(plane, demand.least_blocks(), ftl));
    let valid = alive().map(|plane| dies::valid_on(plane, ftl));
    if valid.sum::<u64>() > room.sum::<u64>() {
        life::note_end(EndReason::DiesDied, ftl);
    }
}

/// Units that a plane may hold and still be sure to have a block worth collecting, if the `without` largest of its blocks
/// hold nothing: each other one is worth it, unless its stale units are fewer than a flash page holds.
fn room_of(plane: PlaneId, without: u32, ftl: &Ftl) -> u64 {
    let page = ftl.geometry.units_per_page();
    let own = crate::ftl::slc::cache::native_blocks(ftl);
    let blocks = (0..own).map(|index| ftl.geometry.block_in(plane, index));
    let in_use = blocks
        .filter(|&block| ftl.is_in_use(block) && ftl.blocks.state(block) != BlockState::Failing);
    let mut room: Vec<u32> = in_use
        .map(|block| (room::pages_to_fill(block, ftl) * page + 1).saturating_sub(page))
        .collect();
    room.sort_unstable();
    let kept = room.len().saturating_sub(without as usize);
    room[..kept].iter().map(|&units| u64::from(units)).sum()
}
