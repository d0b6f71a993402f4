//! Partly dynamic placement: the logical address decides some levels, the load decides the others.
//! For example, with the channel fixed, a page stays on its channel and goes to the least loaded
//! die there.
//!
//! Source: Tavakkol et al., "Performance Evaluation of Dynamic Page Allocation Strategies in SSDs",
//! ACM TOMPECS 2016, which names a strategy after its dynamic levels. The address stripes over the
//! fixed levels in the order in which they are named, as static placement does.

use super::rows::Rows;
use super::static_stripe::StripeOptions;
use super::{Mate, PlacementFacts, PlacementPolicy, PlacementView, PlaneStride, Writable};
use crate::engine::Divisor;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::nand::Row;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::scheduler::Load;
use crate::shape::{Geometry, Level};
use crate::units::{DieId, Lpn, PlaneId};

options! {
    /// Which levels the logical address decides.
    pub struct PartlyDynamicOptions at "ftl.placement" with { stripe: StripeOptions } {
        /// How many levels the address decides: the first ones that `order` names. The load decides
        /// the others.
        fixed_levels: u32 = "1", in "1"..="3", unit "levels",
            source "assumed: the channel by address, chip, die and plane by load";
    }
}

/// A pool of planes for each position of the stripe over the fixed levels.
#[derive(Clone, Debug)]
pub struct PartlyDynamic {
    pools: Vec<PlanePool>,
    places: Divisor,
    units_per_page: Divisor,
    /// By plane: its pool.
    pool_of: Vec<u32>,
    /// Set if the address decides the plane.
    planes: Option<PlaneStride>,
    rows: Rows,
}

/// The planes that a page may use: those with these indices on these dies.
#[derive(Clone, Debug)]
struct PlanePool {
    /// In the order of turns.
    dies: Vec<DieId>,
    first_plane: u32,
    planes: u32,
    next_turn: usize,
}

impl Policy for PartlyDynamic {
    const NAME: &'static str = "partly-dynamic";
    const SUMMARY: &'static str = "the address decides some levels, the load the others";
    const SOURCE: &'static str = "Tavakkol et al., ACM TOMPECS 2016";
    type Options = PartlyDynamicOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        let levels = options.stripe.order.levels();
        PartlyDynamic::new(parts.geometry, &levels[..options.fixed_levels as usize])
    }

    fn save(&self, out: &mut ImageWriter) {
        let PartlyDynamic { pools, places: _, units_per_page: _, pool_of: _, planes: _, rows } =
            self;
        pools.iter().for_each(|pool| out.number(pool.next_turn as u64));
        rows.save(out);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        for pool in &mut self.pools {
            pool.next_turn = from.below(pool.dies.len() as u64, "the turn of a die")? as usize;
        }
        self.rows.load(from)
    }
}

impl PlacementFacts for PartlyDynamic {}

impl PartlyDynamic {
    /// The address decides the levels `fixed`, of which the first changes fastest.
    #[must_use]
    pub fn new(geometry: &Geometry, fixed: &[Level]) -> PartlyDynamic {
        let places: u32 = fixed.iter().map(|level| level.count(geometry)).product();
        let planes = geometry.planes_per_die();
        let plane_is_fixed = fixed.contains(&Level::Plane);
        let empty = PlanePool {
            dies: Vec::new(),
            first_plane: 0,
            planes: if plane_is_fixed { 1 } else { planes },
            next_turn: 0,
        };
        let mut pools = vec![empty; places as usize];
        let mut pool_of = vec![0; geometry.planes() as usize];
        for turn in 0..geometry.dies() {
            let die = geometry.die_at_turn(turn);
            for index in 0..planes {
                let plane = geometry.plane_in(die, index);
                let place = place_of(geometry, fixed, die, index);
                let pool = &mut pools[place as usize];
                pool_of[plane.at()] = place;
                if pool.dies.last() != Some(&die) {
                    pool.dies.push(die);
                }
                if plane_is_fixed {
                    pool.first_plane = index;
                }
            }
        }
        PartlyDynamic {
            pools,
            places: Divisor::new(places),
            units_per_page: Divisor::new(geometry.units_per_page()),
            pool_of,
            planes: PlaneStride::new(geometry, fixed),
            rows: Rows::new(geometry),
        }
    }
}

impl PlacementPolicy for PartlyDynamic {
    #[inline]
    fn choose(&mut self, page: Lpn, view: &PlacementView<'_>) -> Option<PlaneId> {
        let place = self.pool(page) as usize;
        let pool = &mut self.pools[place];
        let turn = pool.least_loaded(view.load, view.writable, &self.rows)?;
        pool.next_turn = if turn + 1 == pool.dies.len() { 0 } else { turn + 1 };
        self.rows.choose(pool.dies[turn], pool.indices(), view.writable)
    }

    #[inline]
    fn group(&self, page: Lpn) -> Option<Lpn> {
        let units = self.units_per_page.get();
        Some(Lpn::new(self.units_per_page.of(page.get()) * units))
    }

    fn choose_beside(&mut self, page: Lpn, row: &Row, writable: &Writable) -> Option<PlaneId> {
        let place = self.pool(page);
        let pool = &self.pools[place as usize];
        let mut planes = pool.indices().map(|index| self.rows.plane(row.die, index));
        // The address may demand another die, or another part of it.
        if !planes.any(|plane| self.pool_of(plane) == place) {
            return None;
        }
        self.rows.choose_beside(row, pool.indices(), writable)
    }

    /// The pages of the same round on other planes; if the load decides the plane, the next ones of
    /// the same pool.
    fn mate(&self, page: Lpn, number: u32) -> Mate {
        let flash_page = self.units_per_page.of(page.get());
        let mate = match self.planes {
            Some(planes) => planes.other(flash_page, number),
            None => flash_page.checked_add(number * self.places.get()),
        };
        Mate::flash_page(mate, self.units_per_page.get())
    }

    #[inline]
    fn pool(&self, page: Lpn) -> u32 {
        self.places.split(self.units_per_page.of(page.get())).1
    }

    fn pool_of(&self, plane: PlaneId) -> u32 {
        self.pool_of[plane.at()]
    }

    fn pools(&self) -> u32 {
        self.places.get()
    }

    fn is_periodic(&self) -> bool {
        true
    }

    fn advance(&mut self, units: u32) {
        self.rows.advance(units);
    }
}

impl PlanePool {
    fn indices(&self) -> std::ops::Range<u32> {
        self.first_plane..self.first_plane + self.planes
    }

    /// The turn of the least loaded writable die; among equals, the next one in turn.
    fn least_loaded(&self, load: &Load, writable: &Writable, rows: &Rows) -> Option<usize> {
        let turns = (self.next_turn..self.dies.len()).chain(0..self.next_turn);
        turns
            .filter(|&turn| rows.any_writable(self.dies[turn], self.indices(), writable))
            .min_by_key(|&turn| load.of(self.dies[turn]))
    }
}

/// The position of a plane in the stripe over the fixed levels.
fn place_of(geometry: &Geometry, fixed: &[Level], die: DieId, plane: u32) -> u32 {
    let shape = geometry.shape();
    let (channel, on_channel) = geometry.channel_of(die);
    let (mut place, mut stride) = (0, 1);
    for &level in fixed {
        let index = match level {
            Level::Channel => channel.get(),
            Level::Chip => on_channel / shape.dies_per_chip,
            Level::Die => on_channel % shape.dies_per_chip,
            Level::Plane => plane,
        };
        place += stride * index;
        stride *= level.count(geometry);
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::placement::StaticStripe;
    use crate::shape::Shape;
    use crate::units::Bytes;

    /// One of the planes of a page's pool is that of static placement in the same order, and all
    /// agree with it in the fixed levels.
    #[test]
    fn a_pool_is_what_the_address_leaves_open() {
        let geometry = Geometry::new(Shape {
            channels: 2,
            chips_per_channel: 3,
            dies_per_chip: 2,
            planes_per_die: 2,
            blocks_per_plane: 2,
            pages_per_block: 2,
            page_size: Bytes::from_kib(8),
            mapping_unit: Bytes::from_kib(4),
        });
        let orders = [
            [Level::Channel, Level::Chip, Level::Die, Level::Plane],
            [Level::Plane, Level::Channel, Level::Die, Level::Chip],
            [Level::Die, Level::Plane, Level::Chip, Level::Channel],
        ];
        for order in orders {
            for fixed in 1..=3 {
                let partly = PartlyDynamic::new(&geometry, &order[..fixed]);
                let stripe = StaticStripe::new(&geometry, order);
                let per_pool = geometry.planes() / partly.pools();
                for page in (0..200).map(Lpn::new) {
                    let pool = partly.pool(page);
                    assert_eq!(partly.pool_of(stripe.plane_of(page)), pool);
                    let planes = (0..geometry.planes()).map(PlaneId::new);
                    let members = planes.filter(|&plane| partly.pool_of(plane) == pool).count();
                    assert_eq!(members, per_pool as usize, "{order:?}, {fixed} fixed");
                }
            }
        }
    }
}
