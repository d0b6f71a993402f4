//! Dead dies: the loss of their data, operation without them, and the end of the device when the
//! other dies have no room left.
//!
//! A die is known to be dead when the first command fails on it. From then on nothing is placed or
//! garbage-collected on it. Its pages stay mapped, so reads of them are attempted and fail; new
//! writes of them go to other dies. A page is homeless if all dies to which its placement may send
//! it ([`Placement::pool`](crate::ftl::placement::Placement::pool)) are dead. The device takes no
//! new writes of homeless pages, and places the acknowledged ones wherever there is room.
//!
//! A pool that has lost some of its dies takes writes as long as the valid pages on the others
//! leave blocks worth collecting. Lost pages do not count until they are written again. This is
//! checked whenever a block closes.

use crate::engine::skills;
use crate::ftl::gc::kept;
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::streams::WriteStream;
use crate::ftl::wear::life;
use crate::ftl::wear::life::EndReason;
use crate::ftl::{BlockState, Ftl, fragments, room, slc, superblock};
use crate::shape::Geometry;
use crate::units::{BlockId, DieId, Lpn, PlaneId, Ppn};

/// The dies that are known to be dead.
#[derive(Clone, Debug)]
pub(in crate::ftl) struct DeadDies {
    /// By die: whether it is dead.
    dead: Vec<bool>,
    /// The dead dies, in the order in which they were found.
    dies: Vec<DieId>,
    /// By pool of planes: whether all its planes are dead.
    homeless: Vec<bool>,
}

impl Ftl {
    /// Returns the dies that are known to be dead, in the order in which they were found.
    #[must_use]
    pub fn dead_dies(&self) -> &[DieId] {
        self.health.dead.as_ref().map_or(&[], |dead| &dead.dies)
    }

    /// Whether all dies to which placement may send a page are dead.
    #[inline]
    #[must_use]
    pub fn is_homeless(&self, page: Lpn) -> bool {
        self.health
            .dead
            .as_ref()
            .is_some_and(|dead| dead.homeless[self.policies.placement.pool(page) as usize])
    }

    /// Returns the number of host pages on dead dies. They are mapped and not readable.
    #[must_use]
    pub fn pages_on_dead_dies(&self) -> u64 {
        let planes = self.dead_dies().iter().flat_map(|&die| planes_of(die, &self.geometry));
        let blocks = planes.flat_map(|plane| blocks_of(plane, self));
        let valid = blocks.flat_map(|block| self.blocks.valid_pages(&self.geometry, block));
        let gone = valid.filter(|&at| self.is_of_host(at)).count() as u64;
        gone + superblock::deaths::pages_on_dead_members(self)
    }

    /// Whether a valid page is the host's, and no page of a map on flash.
    pub(in crate::ftl) fn is_of_host(&self, at: Ppn) -> bool {
        let Some(map) = self.map.mapping.dftl() else { return true };
        self.owner_of(at).is_some_and(|page| !map.is_of_map(page))
    }
}

/// Whether a die is known to be dead.
#[inline]
#[must_use]
pub(crate) fn is_dead(die: DieId, ftl: &Ftl) -> bool {
    ftl.health.dead.as_ref().is_some_and(|dead| dead.dead[die.at()])
}

/// Whether a plane belongs to a die that is known to be dead.
#[inline]
pub(in crate::ftl) fn is_dead_plane(plane: PlaneId, ftl: &Ftl) -> bool {
    ftl.health.dead.is_some() && is_dead(ftl.geometry.die_of(plane), ftl)
}

/// Returns the pools whose planes are all dead.
pub(crate) fn homeless_pools(ftl: &Ftl) -> impl Iterator<Item = u32> + use<> {
    let homeless = ftl.health.dead.as_ref().map(|dead| dead.homeless.clone()).unwrap_or_default();
    (0..).zip(homeless).filter(|&(_, homeless)| homeless).map(|(pool, _)| pool)
}

/// Returns whether a die was found dead since the last call.
#[inline]
pub(crate) fn has_news_of_death(ftl: &mut Ftl) -> bool {
    std::mem::take(&mut ftl.health.death_is_news)
}

/// Takes the dies of the flash that were found dead since the last call, in that order.
pub(crate) fn take_found_dead(ftl: &mut Ftl) -> Vec<DieId> {
    std::mem::take(&mut ftl.health.found_dead)
}

/// Handles the death of a die, as the FTL sees dies. With superblocks this is a group of dies,
/// which is dead when none of its dies is left.
pub(in crate::ftl) fn filled_die_died(die: DieId, ftl: &mut Ftl) {
    if is_dead(die, ftl) {
        return;
    }
    for plane in planes_of(die, &ftl.geometry) {
        give_plane_up(plane, ftl);
    }
    note_death(die, ftl);
    keep_more_back(ftl);
    fragments::room::refresh_pack_room(ftl);
    let alive = (0..ftl.geometry.planes()).map(PlaneId::new);
    alive.for_each(|plane| crate::ftl::room::refresh_writable::<{ skills::ALL }>(plane, ftl));
    (0..ftl.policies.placement.pools()).for_each(|pool| check_room_left(pool, ftl));
}

/// Restores the dead dies after a load, from the states of their blocks.
pub(in crate::ftl) fn recount_dead(ftl: &mut Ftl) {
    for die in (0..ftl.geometry.dies()).map(DieId::new) {
        let first = ftl.geometry.block_in(ftl.geometry.plane_in(die, 0), 0);
        if ftl.blocks.state(first) == BlockState::Dead {
            note_death(die, ftl);
        }
    }
    if !ftl.dead_dies_on_flash().is_empty() {
        keep_more_back(ftl);
    }
}

/// Whether any block is on a dead die, according to an image.
pub(in crate::ftl) fn blocks_died(ftl: &Ftl) -> bool {
    let all = (0..ftl.geometry.blocks()).map(BlockId::new);
    all.into_iter().any(|block| ftl.blocks.state(block) == BlockState::Dead)
}

pub(in crate::ftl) fn planes_of(
    die: DieId,
    geometry: &Geometry,
) -> impl Iterator<Item = PlaneId> + use<> {
    let first = geometry.plane_in(die, 0).get();
    (first..first + geometry.planes_per_die()).map(PlaneId::new)
}

fn blocks_of(plane: PlaneId, ftl: &Ftl) -> impl Iterator<Item = BlockId> + use<'_> {
    let blocks = 0..ftl.geometry.shape().blocks_per_plane;
    blocks.map(move |index| ftl.geometry.block_in(plane, index))
}

pub(in crate::ftl) fn valid_on(plane: PlaneId, ftl: &Ftl) -> u64 {
    blocks_of(plane, ftl).map(|block| u64::from(ftl.blocks.valid(block))).sum()
}

/// Stops placement and garbage collection on a plane.
fn give_plane_up(plane: PlaneId, ftl: &mut Ftl) {
    for index in 0..ftl.geometry.shape().blocks_per_plane {
        let block = ftl.geometry.block_in(plane, index);
        if ftl.blocks.state(block) == BlockState::Closed && !ftl.blocks.is_slc(block) {
            kept::withdraw(block, ftl);
        }
        ftl.blocks.set_state(block, BlockState::Dead);
    }
    ftl.space.planes[plane.at()].die();
    for writable in &mut ftl.space.writable {
        writable.next_unit[plane.at()] = 0;
    }
    if let Some(writable) = &mut ftl.space.map_writable {
        writable.next_unit[plane.at()] = 0;
    }
    // The entries of pages that its collection has moved are still to be written.
    if let Some(map) = ftl.map.mapping.dftl_mut() {
        map.collected(plane);
    }
    slc::cache::slc_died(plane, ftl);
    ftl.space.hungry[plane.at()] = false;
    ftl.space.fed.retain(|&fed| fed != plane);
    let geometry = &ftl.geometry;
    ftl.health.failed.retain(|&block| geometry.plane_of(block) != plane);
    if let Some(refresh) = &mut ftl.features.refresh {
        refresh.forget_plane(plane, geometry);
    }
    if let Some(life) = &mut ftl.health.life {
        life.forget_plane(plane, geometry);
    }
}

fn note_death(die: DieId, ftl: &mut Ftl) {
    let (dies, pools) = (ftl.geometry.dies() as usize, ftl.policies.placement.pools() as usize);
    let none =
        || DeadDies { dead: vec![false; dies], dies: Vec::new(), homeless: vec![false; pools] };
    let dead = ftl.health.dead.get_or_insert_with(|| Box::new(none()));
    dead.dead[die.at()] = true;
    dead.dies.push(die);
    ftl.health.death_is_news = true;
    dead.homeless.fill(true);
    for plane in (0..ftl.geometry.planes()).map(PlaneId::new) {
        if !dead.dead[ftl.geometry.die_of(plane).at()] {
            dead.homeless[ftl.policies.placement.pool_of(plane) as usize] = false;
        }
    }
}

/// Makes the remaining planes keep room for the pages that the write buffer may hold at the end of
/// life.
pub(in crate::ftl) fn keep_more_back(ftl: &mut Ftl) {
    let alive = ftl.geometry.dies() - ftl.dead_dies().len() as u32;
    let planes = alive * ftl.geometry.planes_per_die();
    let all = (0..ftl.geometry.planes()).map(PlaneId::new);
    let pages = all
        .filter(|&plane| !is_dead_plane(plane, ftl))
        .map(|at| superblock::room::least_pages_to_fill(at, ftl));
    let least = pages.filter(|&pages| pages > 0).min();
    let (Some(pages), Some(life)) = (least, &mut ftl.health.life) else { return };
    let more = life.drain_on(planes, pages);
    if !ftl.health.read_only {
        ftl.space.keep_back(more);
    }
}

/// Checks the room after a block of a plane closed on a device with dead dies.
pub(in crate::ftl) fn check_room_beside_dead(plane: PlaneId, ftl: &mut Ftl) {
    check_room_left(ftl.policies.placement.pool_of(plane), ftl);
}

/// Ends writing if the valid pages fill the remaining dies of a pool.
fn check_room_left(pool: u32, ftl: &mut Ftl) {
    let planes = (0..ftl.geometry.planes()).map(PlaneId::new);
    let alive: Vec<PlaneId> = planes
        .filter(|&plane| {
            ftl.policies.placement.pool_of(plane) == pool && !is_dead_plane(plane, ftl)
        })
        .collect();
    let Some(life) = &ftl.health.life else { return };
    let demand = life::demand(ftl).without_pages();
    let room = alive.iter().map(|&plane| u64::from(demand.spare_units(life.good(plane))));
    let valid = alive.iter().map(|&plane| valid_on(plane, ftl));
    let nothing_left = ftl.dead_dies().len() == ftl.geometry.dies() as usize;
    if nothing_left || !alive.is_empty() && valid.sum::<u64>() > room.sum::<u64>() {
        life::note_end(EndReason::DiesDied, ftl);
    }
}

/// Places an acknowledged homeless page, on the plane with the most free blocks that has room for the host. It goes past an
/// SLC cache, which it could wait for without end.
pub(in crate::ftl) fn place_homeless(stream: WriteStream, ftl: &mut Ftl) -> Option<Ppn> {
    let planes = (0..ftl.geometry.planes()).map(PlaneId::new);
    let may = planes.filter(|&plane| room::has_room_for_host(plane, stream, ftl));
    let plane = may.max_by_key(|&plane| (ftl.free_blocks(plane), std::cmp::Reverse(plane)))?;
    room::take_for_host::<{ skills::ALL }>(plane, stream, ftl)
}
