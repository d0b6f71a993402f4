//! Limits the number of pages with two fragments. A pack keeps older copies valid besides itself, so without a limit
//! packed flash would hold more valid pages than there are logical pages, until nothing is left to collect.
//!
//! Packing may take half of the room that over-provisioning leaves; the other half is for collection. It is counted by
//! what a page holds beyond the one place that it needs in the *pool* to which placement sends it: a fragment
//! elsewhere, or a second one there. So whatever whole pages the host writes from now on, a pool holds at most its
//! logical pages and that much more. Packs in flight count as packs; the write buffer takes care of this.

use super::super::{BlockState, Ftl};
use crate::ftl::mapping::Places;
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::slc;
use crate::ftl::wear::life;
use crate::units::{Lpn, PlaneId};

/// Packing may take one part in this many of the spare capacity.
const PART_OF_SPARE: u32 = 2;

/// The room for packs, by pool.
#[derive(Clone, Debug, Default)]
pub(in crate::ftl) struct PackRoom {
    /// Places beyond one per logical page.
    pub extra: Vec<u32>,
    /// The limit of these.
    most: Vec<u32>,
}

impl PackRoom {
    /// Nothing is packed yet.
    pub fn new(pools: u32) -> PackRoom {
        let none = vec![0; pools as usize];
        PackRoom { extra: none.clone(), most: none }
    }
}

/// How many more extra places any pool may take.
pub(in crate::ftl) fn room_for_pieces(ftl: &Ftl) -> u32 {
    let PackRoom { extra, most, .. } = &ftl.map.pack_room;
    let rooms = extra.iter().zip(most).map(|(extra, most)| most.saturating_sub(*extra));
    rooms.min().unwrap_or(0)
}

/// Counts the extra places of a page that moves from the places `before` to `after`.
pub(in crate::ftl) fn count_places(page: Lpn, before: Places, after: Places, ftl: &mut Ftl) {
    for pool in extra_places(page, before, ftl) {
        ftl.map.pack_room.extra[pool] -= 1;
    }
    for pool in extra_places(page, after, ftl) {
        ftl.map.pack_room.extra[pool] += 1;
    }
}

/// The pools in which a page has extra places, beyond the one that it needs in its own pool.
pub(in crate::ftl) fn extra_places(
    page: Lpn,
    places: Places,
    ftl: &Ftl,
) -> impl Iterator<Item = usize> + use<> {
    let home = ftl.policies.placement.pool(page);
    let pools = places.map(|at| {
        let plane = at.map(|at| ftl.geometry.plane_of(ftl.geometry.block_of(at)));
        plane.map(|plane| ftl.policies.placement.pool_of(plane))
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

/// Updates the limits of packing after blocks were lost.
pub(in crate::ftl) fn refresh_pack_room(ftl: &mut Ftl) {
    if !ftl.packs() {
        return;
    }
    let mut spare = vec![0; ftl.map.pack_room.most.len()];
    for plane in (0..ftl.geometry.planes()).map(PlaneId::new) {
        let blocks = (0..slc::cache::native_blocks(ftl)).map(|at| ftl.geometry.block_in(plane, at));
        let out = |block| matches!(ftl.blocks.state(block), BlockState::Bad | BlockState::Dead);
        let good = blocks.filter(|&block| !out(block));
        let good = good.count() as u32;
        spare[ftl.policies.placement.pool_of(plane) as usize] += life::spare_units(good, ftl);
    }
    ftl.map.pack_room.most = spare.into_iter().map(|spare| spare / PART_OF_SPARE).collect();
}
