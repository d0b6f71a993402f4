//! Placement of zones: each zone has planes of its own, and its flash pages go round them in order.
//!
//! Zones are dealt out to groups of planes in turn: zone 5 of a device with four groups belongs to group 1. The width of a group
//! and the order of planes decide which zones disturb each other: narrow groups leave zones apart, but slow; with the dies of
//! a channel in one group, zones of other channels share neither dies nor a bus. The zones of a conventional drive are ranges of
//! addresses of the same size.
//!
//! Source: Western Digital's ZN540 stripes a zone over all dies, Samsung's PM1731a keeps one on few; ConfZNS (Song et al.,
//! SYSTOR 2023) compares such mappings. Departure: the group of a zone is fixed, where drives may choose one at each opening.

use super::{Mate, PlacementFacts, PlacementPolicy, PlacementView, StaticStripe, Writable};
use crate::engine::Divisor;
use crate::image::keeps_nothing;
use crate::nand::Row;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::shape::{Level, StripeOrder, ZoneShape};
use crate::units::{Bytes, Lpn, PlaneId};

options! {
    /// How zones lie on planes.
    pub struct ZonedOptions at "ftl.placement" {
        /// Dies of a zone, or "none" for all. They share a plane's worth of zones with no other dies.
        zone_dies: Option<u32> = "none", in "1"..="4096", unit "dies",
            source "default: Western Digital Ultrastar DC ZN540, whose zones reach the rate of the drive";
        /// Blocks of each of its planes that a zone fills.
        zone_blocks: u32 = "1", in "1"..="1000", unit "blocks",
            source "default: the least, so that a reset frees whole blocks";
        /// The order in which planes form groups, and in which the flash pages of a zone go round the planes of their group.
        zone_order: StripeOrder = "plane-channel-chip-die",
            source "default: zones of few dies spread over channels; plane-chip-die-channel keeps each on one channel";
    }
}

impl ZonedOptions {
    /// The planes of a zone, on a device with so many dies of so many planes. None if its dies form no whole groups.
    #[must_use]
    pub fn planes(&self, dies: u32, planes_per_die: u32) -> Option<u32> {
        let wide = self.zone_dies.unwrap_or(dies);
        let fits = wide <= dies && dies.is_multiple_of(wide);
        fits.then(|| wide * planes_per_die)
    }
}

/// Zones on planes of their own.
#[derive(Clone, Debug)]
pub struct Zoned {
    stripe: StaticStripe,
    /// Flash pages of a zone.
    zone: Divisor,
    /// Planes of a group.
    width: Divisor,
    groups: Divisor,
    units_per_page: Divisor,
    planes_per_die: u32,
    /// Whether the planes of a die follow each other.
    by_die: bool,
}

impl Policy for Zoned {
    const NAME: &'static str = "zoned";
    const SUMMARY: &'static str = "each zone on planes of its own, in turn";
    const SOURCE: &'static str = "zoned drives; Song et al., SYSTOR 2023";
    type Options = ZonedOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        let geometry = parts.geometry;
        let planes = geometry.planes_per_die();
        let width = options.planes(geometry.dies(), planes).unwrap_or(geometry.planes());
        let units = geometry.units_per_page();
        let pages = match parts.zones {
            Some(ZoneShape { pages, .. }) => pages / units,
            None => width * options.zone_blocks * geometry.shape().pages_per_block,
        };
        let order = options.zone_order.levels();
        Zoned {
            stripe: StaticStripe::new(geometry, order),
            zone: Divisor::new(pages.max(1)),
            width: Divisor::new(width),
            groups: Divisor::new(geometry.planes() / width),
            units_per_page: Divisor::new(units),
            planes_per_die: planes,
            by_die: order[0] == Level::Plane,
        }
    }

    keeps_nothing!(Zoned { stripe, zone, width, groups, units_per_page, planes_per_die, by_die });
}

impl PlacementFacts for Zoned {
    fn zoned(options: &Self::Options) -> Option<&ZonedOptions> {
        Some(options)
    }
}

impl Zoned {
    /// The position in the stripe of a flash page of the host.
    #[inline]
    fn position(&self, flash_page: u32) -> u32 {
        let (zone, within) = self.zone.split(flash_page);
        let (_, group) = self.groups.split(zone);
        let (_, place) = self.width.split(within);
        group * self.width.get() + place
    }

    #[inline]
    fn plane_of(&self, page: Lpn) -> PlaneId {
        self.stripe.at(self.position(self.units_per_page.of(page.get())))
    }
}

impl PlacementPolicy for Zoned {
    fn choose(&mut self, page: Lpn, view: &PlacementView<'_>) -> Option<PlaneId> {
        Some(self.plane_of(page)).filter(|plane| view.writable.planes[plane.at()])
    }

    fn group(&self, page: Lpn) -> Option<Lpn> {
        let units = self.units_per_page.get();
        Some(Lpn::new(self.units_per_page.of(page.get()) * units))
    }

    fn choose_beside(&mut self, page: Lpn, row: &Row, writable: &Writable) -> Option<PlaneId> {
        let plane = self.plane_of(page);
        let (die, index) = (plane.get() / self.planes_per_die, plane.get() % self.planes_per_die);
        let suits = row.die.get() == die
            && writable.planes[plane.at()]
            && row.admits(index, writable.next_unit[plane.at()]);
        suits.then_some(plane)
    }

    /// The pages of the same round on the other planes of the die.
    fn mate(&self, page: Lpn, number: u32) -> Mate {
        if !self.by_die {
            return Mate::Nothing;
        }
        let flash_page = self.units_per_page.of(page.get());
        let (zone, within) = self.zone.split(flash_page);
        let index = within % self.planes_per_die;
        let other = within - index + (index + number) % self.planes_per_die;
        // The last round of a zone may be short.
        let found = (other < self.zone.get()).then(|| zone * self.zone.get() + other);
        Mate::flash_page(found, self.units_per_page.get())
    }

    fn pool(&self, page: Lpn) -> u32 {
        self.plane_of(page).get()
    }

    fn pool_of(&self, plane: PlaneId) -> u32 {
        plane.get()
    }

    fn pools(&self) -> u32 {
        self.stripe.pools()
    }
}

impl ZonedOptions {
    /// The bytes that the blocks of a zone hold, on planes whose blocks hold `block`.
    #[must_use]
    pub fn capacity(&self, planes: u32, block: Bytes) -> Bytes {
        Bytes(u64::from(planes) * u64::from(self.zone_blocks) * block.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::value::Value;
    use crate::shape::{Cell, Geometry, Shape};
    use crate::units::Nanos;

    /// Two channels of two dies of two planes, with blocks of four flash pages of two units.
    fn policy(zone_dies: Option<u32>, order: StripeOrder) -> Zoned {
        let geometry = Geometry::new(Shape {
            channels: 2,
            chips_per_channel: 2,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_size: Bytes::from_kib(8),
            mapping_unit: Bytes::from_kib(4),
        });
        let parts = Parts {
            geometry: &geometry,
            cell: Cell::Slc,
            erase: Nanos(1),
            superblock: 1,
            logical_pages: 256,
            shares: None,
            stripe: None,
            zones: None,
            queues: 1,
            seed: 0,
        };
        Zoned::build(&ZonedOptions { zone_dies, zone_blocks: 1, zone_order: order }, &parts)
    }

    #[test]
    fn zones_take_turns_on_groups_and_fill_a_block_of_each_plane() {
        let order = Value::parse("plane-chip-die-channel").expect("an order");
        let policy = policy(Some(2), order);
        // A zone: four planes with a block of eight units each.
        let zone = 4 * 8;
        for number in 0..4 {
            let mut pages = [0; 8];
            for page in (number * zone..(number + 1) * zone).map(Lpn::new) {
                pages[policy.plane_of(page).at()] += 1;
            }
            let expected = match number % 2 {
                0 => [8, 8, 8, 8, 0, 0, 0, 0],
                _ => [0, 0, 0, 0, 8, 8, 8, 8],
            };
            assert_eq!(pages, expected, "zone {number}: both dies of a channel");
        }
    }
}
