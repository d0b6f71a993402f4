//! Static placement: the logical address alone decides the plane. Consecutive flash pages go round
//! the planes in a fixed order, for example over channels first.
//!
//! Source: Hu et al., "Performance Impact and Interplay of SSD Parallelism through Advanced Commands,
//! Allocation Strategy and Data Granularity", ICS 2011 (orders of allocation).

use super::{Mate, PlacementFacts, PlacementPolicy, PlacementView, PlaneStride, Writable};
use crate::engine::Divisor;
use crate::image::keeps_nothing;
use crate::nand::Row;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::shape::{Geometry, Level, StripeOrder};
use crate::units::{DieId, Lpn, PlaneId};

options! {
    /// How logical pages are striped.
    pub struct StripeOptions at "ftl.placement" {
        /// In which order consecutive flash pages' worth of logical pages spread over the device. The
        /// level named first changes fastest.
        order: StripeOrder = "channel-chip-die-plane",
            source "channels first, chips next: CWDP in MQSim, which calls chips ways";
    }
}

/// A fixed stripe over all planes.
#[derive(Clone, Debug)]
pub struct StaticStripe {
    /// The plane of each position in the stripe.
    stripe: Vec<PlaneId>,
    places: Divisor,
    units_per_page: Divisor,
    planes: PlaneStride,
}

impl Policy for StaticStripe {
    const NAME: &'static str = "static";
    const SUMMARY: &'static str = "the logical address decides, striped over the planes";
    const SOURCE: &'static str = "Hu et al., ICS 2011";
    type Options = StripeOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        StaticStripe::new(parts.geometry, options.order.levels())
    }

    keeps_nothing!(StaticStripe { stripe, places, units_per_page, planes });
}

impl PlacementFacts for StaticStripe {
    fn stripe(options: &Self::Options) -> Option<&StripeOptions> {
        Some(options)
    }
}

impl StaticStripe {
    /// The stripe over the levels in this order, the first one fastest.
    #[must_use]
    pub fn new(geometry: &Geometry, order: [Level; 4]) -> StaticStripe {
        let shape = *geometry.shape();
        let plane_of = |place: u32| {
            let mut left = place;
            let mut index = [0; Level::ALL.len()];
            for level in order {
                let count = level.count(geometry);
                index[level as usize] = left % count;
                left /= count;
            }
            let [channel, chip, die, plane] = index;
            let chip = channel * shape.chips_per_channel + chip;
            geometry.plane_in(DieId::new(chip * shape.dies_per_chip + die), plane)
        };
        let one = PlaneStride { planes: 1, between: 1 };
        StaticStripe {
            planes: PlaneStride::new(geometry, &order).unwrap_or(one),
            stripe: (0..geometry.planes()).map(plane_of).collect(),
            places: Divisor::new(geometry.planes()),
            units_per_page: Divisor::new(geometry.units_per_page()),
        }
    }

    /// The plane at a position of the stripe.
    #[inline]
    pub(super) fn at(&self, position: u32) -> PlaneId {
        self.stripe[position as usize]
    }

    /// The plane to which a logical page belongs.
    #[inline]
    #[must_use]
    pub fn plane_of(&self, page: Lpn) -> PlaneId {
        let (_, place) = self.places.split(self.units_per_page.of(page.get()));
        self.stripe[place as usize]
    }
}

impl PlacementPolicy for StaticStripe {
    #[inline]
    fn choose(&mut self, page: Lpn, view: &PlacementView<'_>) -> Option<PlaneId> {
        Some(self.plane_of(page)).filter(|plane| view.writable.planes[plane.at()])
    }

    #[inline]
    fn group(&self, page: Lpn) -> Option<Lpn> {
        let units = self.units_per_page.get();
        Some(Lpn::new(self.units_per_page.of(page.get()) * units))
    }

    /// The address decides whether a page fits into the row.
    fn choose_beside(&mut self, page: Lpn, row: &Row, writable: &Writable) -> Option<PlaneId> {
        let plane = self.plane_of(page);
        let planes = self.planes.planes;
        let (die, index) = (plane.get() / planes, plane.get() % planes);
        let at = plane.at();
        let suits = row.die.get() == die
            && writable.planes[at]
            && row.admits(index, writable.next_unit[at]);
        suits.then_some(plane)
    }

    /// The pages of the same round of the stripe on the other planes of the die.
    fn mate(&self, page: Lpn, number: u32) -> Mate {
        let flash_page = self.units_per_page.of(page.get());
        Mate::flash_page(self.planes.other(flash_page, number), self.units_per_page.get())
    }

    fn pool(&self, page: Lpn) -> u32 {
        self.plane_of(page).get()
    }

    fn pool_of(&self, plane: PlaneId) -> u32 {
        plane.get()
    }

    fn pools(&self) -> u32 {
        self.places.get()
    }

    fn is_periodic(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use crate::units::Bytes;

    /// The further pages of a row lie on the other planes of the first page's die, one on each, and
    /// all pages agree on the row.
    #[test]
    fn mates_are_on_the_other_planes_of_a_die() {
        let geometry = geometry();
        for order in orders() {
            let stripe = StaticStripe::new(&geometry, order);
            for page in (0..500).map(Lpn::new) {
                let first = stripe.group(page).expect("a flash page's worth stays together");
                let mates = (1..5).map(|number| match stripe.mate(page, number) {
                    Mate::Group(mate) => mate,
                    other => panic!("{other:?} in a row"),
                });
                let row: Vec<Lpn> = std::iter::once(first).chain(mates).collect();
                let planes: Vec<PlaneId> = row.iter().map(|&page| stripe.plane_of(page)).collect();
                let die = planes[0].get() / 5;
                let mut indices: Vec<u32> = planes.iter().map(|plane| plane.get() % 5).collect();
                indices.sort_unstable();
                assert_eq!(indices, [0, 1, 2, 3, 4], "{order:?}");
                assert!(planes.iter().all(|plane| plane.get() / 5 == die), "{order:?}");
                let Mate::Group(back) = stripe.mate(row[1], 4) else { panic!("no way back") };
                assert_eq!(back, first, "{order:?}");
            }
        }
    }

    /// The counts differ in every level, so that no two orders agree by chance.
    fn geometry() -> Geometry {
        Geometry::new(Shape {
            channels: 2,
            chips_per_channel: 3,
            dies_per_chip: 4,
            planes_per_die: 5,
            blocks_per_plane: 2,
            pages_per_block: 2,
            page_size: Bytes::from_kib(8),
            mapping_unit: Bytes::from_kib(4),
        })
    }

    /// All orders of the four levels.
    fn orders() -> Vec<[Level; 4]> {
        let mut orders = Vec::new();
        for a in Level::ALL {
            for b in Level::ALL {
                for c in Level::ALL {
                    for d in Level::ALL {
                        let order = [a, b, c, d];
                        if Level::ALL.iter().all(|level| order.contains(level)) {
                            orders.push(order);
                        }
                    }
                }
            }
        }
        orders
    }

    /// The position of a plane by level, from its number and the counts alone.
    fn coordinates(plane: PlaneId) -> [u32; 4] {
        let number = plane.get();
        [number / 60, number / 20 % 3, number / 5 % 4, number % 5]
    }

    /// Each step advances the first level; a level that wraps around advances the next one, like
    /// the digits of a counter.
    #[test]
    fn all_orders_count_like_the_digits_of_a_number() {
        let geometry = geometry();
        let orders = orders();
        assert_eq!(orders.len(), 24);
        let mut walks = std::collections::BTreeSet::new();
        for order in orders {
            let stripe = StaticStripe::new(&geometry, order);
            let mut expected = [0; 4];
            let mut walk = Vec::new();
            for flash_page in 0..2 * geometry.planes() {
                let units = [2 * flash_page, 2 * flash_page + 1].map(Lpn::new);
                let [first, second] = units.map(|page| stripe.plane_of(page));
                assert_eq!(first, second, "a flash page's worth stays together");
                assert_eq!(coordinates(first), expected, "page {flash_page} in order {order:?}");
                walk.push(first);
                for level in order {
                    let digit = &mut expected[level as usize];
                    *digit = (*digit + 1) % level.count(&geometry);
                    if *digit > 0 {
                        break;
                    }
                }
            }
            walks.insert(walk);
        }
        assert_eq!(walks.len(), 24, "no two orders agree");
    }
}
