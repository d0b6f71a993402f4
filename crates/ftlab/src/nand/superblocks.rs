//! Superblocks: blocks at the same place of several dies, used as one. The flash pages of the same
//! number in all of them form a *stripe*: data, and one page with the parity of the others, on a
//! different die in each stripe.
//!
//! Code that fills superblocks sees a *volume*: a flash with fewer dies, whose blocks hold the data
//! pages of several. Only this file knows where such a page is on flash.

use crate::engine::Divisor;
use crate::shape::{Geometry, Shape};
use crate::units::{BlockId, DieId, Ppn};

/// A stripe: the flash pages of one number in the blocks of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stripe {
    /// The superblock, a block of the volume.
    pub block: BlockId,
    /// The number of the flash page in each block on flash.
    pub row: u32,
}

/// The layout of a volume on flash.
#[derive(Clone, Debug)]
pub struct Superblocks {
    flash: Geometry,
    volume: Geometry,
    width: u32,
    /// Data flash pages in a stripe.
    data: Divisor,
}

impl Superblocks {
    /// Returns the layout of superblocks over `width` dies each. The dies of a superblock alternate
    /// between channels.
    ///
    /// # Panics
    /// If the dies do not form whole groups of two or more; the configuration is checked for that.
    #[must_use]
    pub fn new(flash: &Geometry, width: u32) -> Superblocks {
        let whole = width > 1 && flash.dies().is_multiple_of(width);
        assert!(whole, "{} dies in groups of {width}", flash.dies());
        let volume = Geometry::new(volume_of(flash.shape(), width));
        Superblocks { flash: flash.clone(), volume, width, data: Divisor::new(width - 1) }
    }

    /// The physical flash.
    #[must_use]
    pub fn flash(&self) -> &Geometry {
        &self.flash
    }

    /// The volume of superblocks.
    #[must_use]
    pub fn volume(&self) -> &Geometry {
        &self.volume
    }

    /// Dies of a superblock.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The stripe of a page of the volume, and the place of its flash page among the data pages.
    #[inline]
    #[must_use]
    pub fn stripe_of(&self, page: Ppn) -> (Stripe, u32) {
        let block = self.volume.block_of(page);
        let (row, place) = self.data.split(self.volume.flash_page_in_block(page));
        (Stripe { block, row }, place)
    }

    /// The flash page at a place of a stripe, as its first page in the volume.
    #[must_use]
    pub fn page_at(&self, stripe: Stripe, place: u32) -> Ppn {
        let flash_page = stripe.row * self.data.get() + place;
        self.volume.page_at(stripe.block, flash_page * self.volume.units_per_page())
    }

    /// The member of the superblock that holds the parity of a stripe.
    #[must_use]
    pub fn parity_of(&self, stripe: Stripe) -> u32 {
        (stripe.row + self.volume.index_in_plane(stripe.block)) % self.width
    }

    /// The member that holds the flash page at a place of a stripe.
    #[inline]
    #[must_use]
    pub fn member_at(&self, stripe: Stripe, place: u32) -> u32 {
        (self.parity_of(stripe) + 1 + place) % self.width
    }

    /// The place of a member in a stripe, or `None` if it holds the parity.
    #[must_use]
    pub fn place_of(&self, stripe: Stripe, member: u32) -> Option<u32> {
        let place = (member + self.width - self.parity_of(stripe)) % self.width;
        place.checked_sub(1)
    }

    /// The block of a member on flash.
    #[must_use]
    pub fn block_on_flash(&self, block: BlockId, member: u32) -> BlockId {
        let plane = self.volume.plane_of(block);
        let group = self.volume.die_of(plane);
        let plane_in_die = plane.get() - self.volume.plane_in(group, 0).get();
        let plane = self.flash.plane_in(self.die_of(group, member), plane_in_die);
        self.flash.block_in(plane, self.volume.index_in_plane(block))
    }

    /// The flash page of a member of a stripe, as its first page on flash.
    #[must_use]
    pub fn on_flash(&self, stripe: Stripe, member: u32) -> Ppn {
        let unit = stripe.row * self.flash.units_per_page();
        self.flash.page_at(self.block_on_flash(stripe.block, member), unit)
    }

    /// The die of a member of a group. A group is a die of the volume.
    #[must_use]
    pub fn die_of(&self, group: DieId, member: u32) -> DieId {
        self.flash.die_at_turn(group.get() * self.width + member)
    }

    /// The group of a die, and its index in the group.
    #[must_use]
    pub fn group_of(&self, die: DieId) -> (DieId, u32) {
        let turn = self.flash.turn_of(die);
        (DieId::new(turn / self.width), turn % self.width)
    }

    /// The group of a superblock.
    #[inline]
    #[must_use]
    pub fn group_of_block(&self, block: BlockId) -> DieId {
        self.volume.die_of(self.volume.plane_of(block))
    }
}

/// The shape of a volume over groups of `width` dies. Groups share a single virtual channel.
#[must_use]
pub fn volume_of(flash: &Shape, width: u32) -> Shape {
    let dies = flash.channels * flash.chips_per_channel * flash.dies_per_chip;
    Shape {
        channels: 1,
        chips_per_channel: dies / width,
        dies_per_chip: 1,
        pages_per_block: flash.pages_per_block * (width - 1),
        ..*flash
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Bytes, PlaneId};
    use std::collections::BTreeSet;

    proptest::proptest! {
        /// Every flash page of the device is either one flash page of the volume or the parity of one
        /// stripe, and a stripe has one on each die of its group.
        #[test]
        fn a_volume_and_its_parity_are_the_flash(
            channels in 1u32..5, chips in 1u32..4, planes in 1u32..3, width in 2u32..7,
            blocks in 4u32..7, pages in 4u32..6, units in 1u32..3,
        ) {
            let page_size = Bytes::from_kib(4 * u64::from(units));
            let flash = Geometry::new(Shape {
                channels,
                chips_per_channel: chips * width,
                dies_per_chip: 1,
                planes_per_die: planes,
                blocks_per_plane: blocks,
                pages_per_block: pages,
                page_size,
                mapping_unit: Bytes::from_kib(4),
            });
            let superblocks = Superblocks::new(&flash, width);
            let volume = superblocks.volume();
            let mut seen = BTreeSet::new();
            for block in (0..volume.blocks()).map(BlockId::new) {
                for row in 0..pages {
                    let stripe = Stripe { block, row };
                    let group = superblocks.group_of_block(block);
                    let mut dies = BTreeSet::new();
                    for member in 0..width {
                        let at = superblocks.on_flash(stripe, member);
                        let die = flash.die_of_page(at);
                        proptest::prop_assert_eq!(superblocks.group_of(die), (group, member));
                        proptest::prop_assert!(dies.insert(die) && seen.insert(at));
                        let plane: PlaneId = flash.plane_of_page(at);
                        proptest::prop_assert_eq!(
                            plane.get() % planes, volume.plane_of(block).get() % planes);
                        let Some(place) = superblocks.place_of(stripe, member) else {
                            proptest::prop_assert_eq!(superblocks.parity_of(stripe), member);
                            continue;
                        };
                        let page = superblocks.page_at(stripe, place);
                        proptest::prop_assert_eq!(superblocks.stripe_of(page), (stripe, place));
                        proptest::prop_assert_eq!(superblocks.member_at(stripe, place), member);
                    }
                }
            }
            proptest::prop_assert_eq!(seen.len() as u32, flash.physical_pages() / units);
        }
    }
}
