//! Dies that died: what lay on them, what goes on without them, and when the rest has no room for it.
//!
//! A die is known to be dead when the first command fails on it. From then on nothing is placed or collected there.
//! What it holds stays mapped, so that reads of it are tried and fail; it is overwritten on other dies.
//! Pages whose place is on dead dies alone ([`Placement::pool`](crate::ftl::placement::Placement::pool)) are homeless:
//! the device takes no new writes of them, and puts what it had acknowledged wherever there is room.
//!
//! Pools that have lost some of their dies take writes for as long as what is valid on the others leaves
//! something that is worth collecting. What was lost counts as nothing until it is written again. The count is made
//! whenever a block closes.

use super::super::{BlockState, Ftl, VictimPolicy, VictimView};
use super::life::{Demand, EndReason};
use crate::engine::skills;
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::streams::WriteStream;
use crate::units::{BlockId, DieId, Lpn, PlaneId, Ppn};

/// The dies that are known to be dead.
#[derive(Clone, Debug)]
pub(in crate::ftl) struct DeadDies {
    /// By die.
    dead: Vec<bool>,
    /// In the order in which they were found.
    dies: Vec<DieId>,
    /// By pool of planes: whether none of them is left.
    homeless: Vec<bool>,
}

impl Ftl {
    /// The dies that are known to be dead, in the order in which they were found.
    #[must_use]
    pub fn dead_dies(&self) -> &[DieId] {
        self.dead.as_ref().map_or(&[], |dead| &dead.dies)
    }

    /// Whether a die is known to be dead.
    #[inline]
    #[must_use]
    pub fn is_dead(&self, die: DieId) -> bool {
        self.dead.as_ref().is_some_and(|dead| dead.dead[die.at()])
    }

    /// Whether a plane is of a die that is known to be dead.
    #[inline]
    pub(in crate::ftl) fn is_dead_plane(&self, plane: PlaneId) -> bool {
        self.dead.is_some() && self.is_dead(self.geometry.die_of(plane))
    }

    /// Whether all dies are dead to which placement may send a page.
    #[inline]
    #[must_use]
    pub fn is_homeless(&self, page: Lpn) -> bool {
        self.dead.as_ref().is_some_and(|dead| dead.homeless[self.placement.pool(page) as usize])
    }

    /// The pools of which no die is left.
    pub(crate) fn homeless_pools(&self) -> impl Iterator<Item = u32> + use<> {
        let homeless = self.dead.as_ref().map(|dead| dead.homeless.clone()).unwrap_or_default();
        (0..).zip(homeless).filter(|&(_, homeless)| homeless).map(|(pool, _)| pool)
    }

    /// Pages of the host that lie on dead dies: mapped, and not readable.
    #[must_use]
    pub fn pages_on_dead_dies(&self) -> u64 {
        let planes = self.dead_dies().iter().flat_map(|&die| self.planes_of(die));
        planes.map(|plane| self.valid_on(plane)).sum()
    }

    /// Whether a die was found dead since this was asked last.
    #[inline]
    pub(crate) fn has_news_of_death(&mut self) -> bool {
        std::mem::take(&mut self.death_is_news)
    }

    /// A die is found dead.
    #[cold]
    pub(crate) fn die_died(&mut self, die: DieId) {
        match self.stripes {
            None => self.filled_die_died(die),
            Some(_) => self.member_died(die),
        }
    }

    /// The same for a die of what is filled: where that are groups of dies, the last one of it.
    pub(in crate::ftl) fn filled_die_died(&mut self, die: DieId) {
        if self.is_dead(die) {
            return;
        }
        for plane in self.planes_of(die) {
            self.give_plane_up(plane);
        }
        self.note_death(die);
        self.keep_more_back();
        self.refresh_pack_room();
        let alive = (0..self.geometry.planes()).map(PlaneId::new);
        alive.for_each(|plane| self.refresh_writable::<{ skills::ALL }>(plane));
        (0..self.placement.pools()).for_each(|pool| self.check_room_left(pool));
    }

    /// After a load: which dies are dead follows from the states of their blocks.
    pub(in crate::ftl) fn recount_dead(&mut self) {
        for die in (0..self.geometry.dies()).map(DieId::new) {
            let first = self.geometry.block_in(self.geometry.plane_in(die, 0), 0);
            if self.blocks.state(first) == BlockState::Dead {
                self.note_death(die);
            }
        }
        if !self.dead_dies_on_flash().is_empty() {
            self.keep_more_back();
        }
    }

    /// Whether any block is on a die that died, as an image has it.
    pub(in crate::ftl) fn blocks_died(&self) -> bool {
        let all = (0..self.geometry.blocks()).map(BlockId::new);
        all.into_iter().any(|block| self.blocks.state(block) == BlockState::Dead)
    }

    pub(in crate::ftl) fn planes_of(&self, die: DieId) -> impl Iterator<Item = PlaneId> + use<> {
        let first = self.geometry.plane_in(die, 0).get();
        (first..first + self.geometry.planes_per_die()).map(PlaneId::new)
    }

    fn blocks_of(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + use<'_> {
        let blocks = 0..self.geometry.shape().blocks_per_plane;
        blocks.map(move |index| self.geometry.block_in(plane, index))
    }

    pub(in crate::ftl) fn valid_on(&self, plane: PlaneId) -> u64 {
        self.blocks_of(plane).map(|block| u64::from(self.blocks.valid(block))).sum()
    }

    /// Nothing is placed or collected on a plane any more.
    fn give_plane_up(&mut self, plane: PlaneId) {
        for index in 0..self.geometry.shape().blocks_per_plane {
            let block = self.geometry.block_in(plane, index);
            if self.blocks.state(block) == BlockState::Closed {
                let view = VictimView { plane, blocks: &self.blocks };
                self.victim.withdrawn(&view, block);
            }
            self.blocks.set_state(block, BlockState::Dead);
        }
        self.planes[plane.at()].die();
        for writable in &mut self.writable {
            writable.next_unit[plane.at()] = 0;
        }
        self.hungry[plane.at()] = false;
        self.fed.retain(|&fed| fed != plane);
        let geometry = &self.geometry;
        self.failed.retain(|&block| geometry.plane_of(block) != plane);
        if let Some(refresh) = &mut self.refresh {
            refresh.forget_plane(plane, geometry);
        }
        if let Some(life) = &mut self.life {
            life.forget_plane(plane, geometry);
        }
    }

    fn note_death(&mut self, die: DieId) {
        let (dies, pools) = (self.geometry.dies() as usize, self.placement.pools() as usize);
        let none =
            || DeadDies { dead: vec![false; dies], dies: Vec::new(), homeless: vec![false; pools] };
        let dead = self.dead.get_or_insert_with(|| Box::new(none()));
        dead.dead[die.at()] = true;
        dead.dies.push(die);
        self.death_is_news = true;
        dead.homeless.fill(true);
        for plane in (0..self.geometry.planes()).map(PlaneId::new) {
            if !dead.dead[self.geometry.die_of(plane).at()] {
                dead.homeless[self.placement.pool_of(plane) as usize] = false;
            }
        }
    }

    /// The planes that are left keep room for what the write buffer may hold when the end comes.
    pub(in crate::ftl) fn keep_more_back(&mut self) {
        let alive = self.geometry.dies() - self.dead_dies().len() as u32;
        let planes = alive * self.geometry.planes_per_die();
        let all = (0..self.geometry.planes()).map(PlaneId::new);
        let pages =
            all.filter(|&plane| !self.is_dead_plane(plane)).map(|at| self.pages_to_fill(at));
        let (Some(pages), Some(life)) = (pages.min(), &mut self.life) else { return };
        let more = life.drain_on(planes, pages);
        if !self.read_only {
            self.thresholds = self.thresholds.raised_by(more);
            self.triggers = self.triggers.raised_by(more);
        }
    }

    /// A block of a plane has closed on a device with dead dies.
    pub(in crate::ftl) fn check_room_beside_dead(&mut self, plane: PlaneId) {
        self.check_room_left(self.placement.pool_of(plane));
    }

    /// If what is valid on the dies of a pool that are left fills them, the device takes no more writes.
    fn check_room_left(&mut self, pool: u32) {
        let planes = (0..self.geometry.planes()).map(PlaneId::new);
        let alive: Vec<PlaneId> = planes
            .filter(|&plane| self.placement.pool_of(plane) == pool && !self.is_dead_plane(plane))
            .collect();
        let Some(life) = &self.life else { return };
        let demand = Demand { logical_pages: 0, map_pages: None, ..self.demand() };
        let room = alive.iter().map(|&plane| u64::from(demand.spare_units(life.good(plane))));
        let valid = alive.iter().map(|&plane| self.valid_on(plane));
        let nothing_left = self.dead_dies().len() == self.geometry.dies() as usize;
        if nothing_left || !alive.is_empty() && valid.sum::<u64>() > room.sum::<u64>() {
            self.note_end(EndReason::DiesDied);
        }
    }

    /// Where a homeless page is written that was acknowledged: to the plane with the most free blocks of those
    /// that may be written.
    pub(in crate::ftl) fn place_homeless(&mut self, stream: WriteStream) -> Option<Ppn> {
        let planes = (0..self.geometry.planes()).map(PlaneId::new);
        let may = planes.filter(|&plane| self.writable[stream.at()].planes[plane.at()]);
        let plane = may.max_by_key(|&plane| (self.free_blocks(plane), std::cmp::Reverse(plane)))?;
        self.take_for_host::<{ skills::ALL }>(plane, stream)
    }
}
