//! The layout of stripes: the flash pages of one number on the dies of a superblock, one plane of each. One page of a
//! stripe holds the parity of the others, on a different die in each row.
//!
//! Pages are numbered by superblocks ([`FlashGeometry`]), so a page of data has one number for whoever fills superblocks
//! and for the flash. Pages of parity are numbered behind all of them.

use crate::engine::Divisor;
use crate::shape::{FlashGeometry, Geometry, SuperblockSpan};
use crate::units::{BlockId, DieId, Ppn};

/// A stripe of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stripe {
    /// The superblock, a block of the volume.
    pub block: BlockId,
    /// Its number in the superblock: the number of the flash page in each block, times the planes, plus the plane.
    pub number: u32,
}

/// The layout of stripes on flash. A *member* is a die of a superblock, and a *place* is one for data in a stripe.
#[derive(Clone, Debug)]
pub struct StripeLayout {
    flash: FlashGeometry,
    volume: Geometry,
    span: SuperblockSpan,
    /// Planes of a die that belong to a superblock.
    planes: Divisor,
    /// Flash pages of data in a row of stripes.
    in_row: Divisor,
}

impl StripeLayout {
    /// The layout on a flash; none if its superblocks have no parity.
    #[must_use]
    pub fn of(flash: &FlashGeometry) -> Option<StripeLayout> {
        let span = flash.superblocks().filter(|span| span.has_parity)?;
        Some(StripeLayout {
            flash: flash.clone(),
            volume: flash.volume(),
            span,
            planes: Divisor::new(span.planes),
            in_row: Divisor::new(span.pages_in_row()),
        })
    }

    /// The physical flash.
    #[must_use]
    pub fn flash(&self) -> &FlashGeometry {
        &self.flash
    }

    /// The volume of superblocks.
    #[must_use]
    pub fn volume(&self) -> &Geometry {
        &self.volume
    }

    /// Dies of a stripe.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.span.dies
    }

    /// Planes of each of these dies, so many stripes have pages of one number.
    #[must_use]
    pub fn planes(&self) -> u32 {
        self.span.planes
    }

    /// The stripe of a page of data, and the place of its flash page there.
    #[inline]
    #[must_use]
    pub fn stripe_of(&self, page: Ppn) -> (Stripe, u32) {
        let block = self.volume.block_of(page);
        let (row, in_row) = self.in_row.split(self.volume.flash_page_in_block(page));
        let (place, plane) = self.planes.split(in_row);
        (Stripe { block, number: row * self.span.planes + plane }, place)
    }

    /// The flash page at a place of a stripe, as its first page.
    #[must_use]
    pub fn page_at(&self, stripe: Stripe, place: u32) -> Ppn {
        let (row, plane) = self.planes.split(stripe.number);
        let flash_page = row * self.in_row.get() + place * self.span.planes + plane;
        self.volume.page_at(stripe.block, flash_page * self.volume.units_per_page())
    }

    /// The row of a stripe: the number of its flash page in each block.
    #[must_use]
    pub fn row_of(&self, stripe: Stripe) -> u32 {
        self.planes.split(stripe.number).0
    }

    /// The member of the superblock that holds the parity of a stripe.
    #[must_use]
    pub fn parity_of(&self, stripe: Stripe) -> u32 {
        self.span.parity_die(self.volume.index_in_plane(stripe.block), self.row_of(stripe))
    }

    /// The member that holds the flash page at a place of a stripe.
    #[inline]
    #[must_use]
    pub fn member_at(&self, stripe: Stripe, place: u32) -> u32 {
        (self.parity_of(stripe) + 1 + place) % self.span.dies
    }

    /// The place of a member in a stripe, or `None` if it holds the parity.
    #[must_use]
    pub fn place_of(&self, stripe: Stripe, member: u32) -> Option<u32> {
        let place = (member + self.span.dies - self.parity_of(stripe)) % self.span.dies;
        place.checked_sub(1)
    }

    /// The block of a member of a stripe.
    #[must_use]
    pub fn block_of(&self, stripe: Stripe, member: u32) -> BlockId {
        let plane = self.planes.split(stripe.number).1;
        self.flash.member(stripe.block, member * self.span.planes + plane)
    }

    /// The flash page of a member of a stripe, as its first page.
    #[must_use]
    pub fn on_flash(&self, stripe: Stripe, member: u32) -> Ppn {
        let unit = self.row_of(stripe) * self.flash.units_per_page();
        self.flash.page_at(self.block_of(stripe, member), unit)
    }

    /// The stripe of any flash page, and the member that holds it.
    #[must_use]
    pub fn stripe_on_flash(&self, page: Ppn) -> (Stripe, u32) {
        let (of, unit) = self.flash.place_of(page);
        let (block, number) = self.flash.superblock_of(of);
        let (member, plane) = self.planes.split(number);
        let row = self.flash.flash_page_at(unit);
        (Stripe { block, number: row * self.span.planes + plane }, member)
    }

    /// The die of a member of a group. A group is a die of the volume.
    #[must_use]
    pub fn die_of(&self, group: DieId, member: u32) -> DieId {
        self.flash.die_in_group(group, member)
    }

    /// The group of a die, and its index in the group.
    #[must_use]
    pub fn group_of(&self, die: DieId) -> (DieId, u32) {
        let turn = self.flash.turn_of(die);
        (DieId::new(turn / self.span.dies), turn % self.span.dies)
    }

    /// The group of a superblock.
    #[inline]
    #[must_use]
    pub fn group_of_block(&self, block: BlockId) -> DieId {
        self.volume.die_of(self.volume.plane_of(block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use crate::units::Bytes;
    use std::collections::BTreeSet;

    proptest::proptest! {
        /// Every flash page is either one of the volume or the parity of one stripe, and a stripe has one on each die
        /// of its group.
        #[test]
        fn a_volume_and_its_parity_are_the_flash(
            channels in 1u32..5, chips in 1u32..4, parts in 1u32..3, high in 1u32..3, width in 2u32..7,
            blocks in 4u32..7, pages in 4u32..6, units in 1u32..3,
        ) {
            let shape = Shape {
                channels,
                chips_per_channel: chips * width,
                dies_per_chip: 1,
                planes_per_die: parts * high,
                blocks_per_plane: blocks,
                pages_per_block: pages,
                page_size: Bytes::from_kib(4 * u64::from(units)),
                mapping_unit: Bytes::from_kib(4),
            };
            let span = SuperblockSpan { dies: width, planes: high, has_parity: true };
            let flash = FlashGeometry::of_flash(shape, Some(span));
            let layout = StripeLayout::of(&flash).expect("there is parity");
            let volume = layout.volume();
            let mut seen = BTreeSet::new();
            for block in (0..volume.blocks()).map(BlockId::new) {
                for number in 0..pages * high {
                    let stripe = Stripe { block, number };
                    let group = layout.group_of_block(block);
                    let mut dies = BTreeSet::new();
                    for member in 0..width {
                        let at = layout.on_flash(stripe, member);
                        let die = flash.die_of_page(at);
                        proptest::prop_assert_eq!(layout.group_of(die), (group, member));
                        proptest::prop_assert_eq!(layout.die_of(group, member), die);
                        proptest::prop_assert!(dies.insert(die) && seen.insert(at));
                        proptest::prop_assert_eq!(layout.stripe_on_flash(at), (stripe, member));
                        let Some(place) = layout.place_of(stripe, member) else {
                            proptest::prop_assert_eq!(layout.parity_of(stripe), member);
                            proptest::prop_assert!(at.get() >= volume.physical_pages());
                            continue;
                        };
                        proptest::prop_assert_eq!(layout.page_at(stripe, place), at);
                        proptest::prop_assert_eq!(layout.stripe_of(at), (stripe, place));
                        proptest::prop_assert_eq!(layout.member_at(stripe, place), member);
                    }
                }
            }
            proptest::prop_assert_eq!(seen.len() as u32, flash.physical_pages() / units);
        }
    }
}
