//! How many pages may be in pieces. A pack keeps older copies alive beside itself, so flash that is packed
//! without bound holds more valid pages than there are logical ones, until nothing is left to collect.
//!
//! Packing may take half of what over-provisioning leaves over; the other half is for collection. What counts is
//! what a page holds beyond the one place that it needs at home, in the *pool* to which placement sends it:
//! a fragment elsewhere, or a second one at home. Whatever the host writes in whole pages from now on, a
//! pool then holds its logical pages and that much more at most. Packs on their way count as packs: the write
//! buffer sees to that.

use crate::ftl::wear::life;
use super::super::{BlockState, Ftl};
use crate::ftl::mapping::Places;
use crate::ftl::placement::PlacementPolicy;
use crate::units::{Lpn, PlaneId};

/// The part of the spare capacity that packing may take: one in so many.
const PART_OF_SPARE: u32 = 2;

/// Room for packs, by pool.
#[derive(Clone, Debug, Default)]
pub(in crate::ftl) struct PackRoom {
    /// What lies there beyond one place a logical page.
    pub extra: Vec<u32>,
    /// The most of that.
    most: Vec<u32>,
}

impl PackRoom {
    /// Nothing is packed yet.
    pub fn new(pools: u32) -> PackRoom {
        let none = vec![0; pools as usize];
        PackRoom { extra: none.clone(), most: none }
    }
}

impl Ftl {
    /// How many places more than one a page any pool may take.
    pub(super) fn room_for_pieces(&self) -> u32 {
        let PackRoom { extra, most, .. } = &self.pack_room;
        let rooms = extra.iter().zip(most).map(|(extra, most)| most.saturating_sub(*extra));
        rooms.min().unwrap_or(0)
    }

    /// The page lies at these places from now on, and no longer at those.
    pub(super) fn count_places(&mut self, page: Lpn, before: Places, after: Places) {
        for pool in self.extra_places(page, before) {
            self.pack_room.extra[pool] -= 1;
        }
        for pool in self.extra_places(page, after) {
            self.pack_room.extra[pool] += 1;
        }
    }

    /// The pools in which a page has places beyond the one that it needs at home.
    pub(super) fn extra_places(
        &self,
        page: Lpn,
        places: Places,
    ) -> impl Iterator<Item = usize> + use<> {
        let home = self.placement.pool(page);
        let pools = places.map(|at| {
            let plane = at.map(|at| self.geometry.plane_of(self.geometry.block_of(at)));
            plane.map(|plane| self.placement.pool_of(plane))
        });
        let mut at_home = false;
        let beyond = pools.map(|pool| {
            pool.filter(|&pool| {
                let first_at_home = pool == home && !at_home;
                at_home |= pool == home;
                !first_at_home
            })
        });
        beyond.into_iter().flatten().map(|pool| pool as usize)
    }

    /// Notes how much packing may take, after blocks were lost.
    pub(in crate::ftl) fn refresh_pack_room(&mut self) {
        if !self.packs() {
            return;
        }
        let mut spare = vec![0; self.pack_room.most.len()];
        for plane in (0..self.geometry.planes()).map(PlaneId::new) {
            let blocks = (0..self.native_blocks()).map(|at| self.geometry.block_in(plane, at));
            let out =
                |block| matches!(self.blocks.state(block), BlockState::Bad | BlockState::Dead);
            let good = blocks.filter(|&block| !out(block));
            let good = good.count() as u32;
            spare[self.placement.pool_of(plane) as usize] += life::spare_units(good, self);
        }
        self.pack_room.most = spare.into_iter().map(|spare| spare / PART_OF_SPARE).collect();
    }
}
