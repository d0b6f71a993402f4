//! The geometry of flash, whose pages may be numbered by superblocks. The layers above have a plain [`Geometry`] of what
//! they fill ([`volume`](FlashGeometry::volume)), which does not even ask.

use super::interleave::{BySuperblocks, Numbering, SuperblockSpan};
use super::{Geometry, Shape};
use crate::units::{BlockId, DieId, Ppn};

/// The geometry of flash.
pub type FlashGeometry = Geometry<BySuperblocks>;

impl FlashGeometry {
    /// Derives everything from a checked shape, and from the superblocks by which pages are numbered, if there are any.
    ///
    /// # Panics
    /// If the shape does not fit the 32-bit page numbers; the configuration is checked for that.
    #[must_use]
    pub fn of_flash(shape: Shape, span: Option<SuperblockSpan>) -> FlashGeometry {
        Geometry::numbered(shape, BySuperblocks::new(&shape, span))
    }

    /// The blocks of a superblock, if pages are numbered by superblocks.
    #[must_use]
    pub fn superblocks(&self) -> Option<SuperblockSpan> {
        self.numbering.interleave().map(|interleave| interleave.span())
    }

    /// The same pages for who fills superblocks: blocks are superblocks, and dies are groups of dies. Without
    /// superblocks, the flash itself.
    #[must_use]
    pub fn volume(&self) -> Geometry {
        let flash = self.shape();
        Geometry::new(self.superblocks().map_or(*flash, |span| span.volume(flash)))
    }

    /// The die of the volume that a die belongs to.
    #[inline]
    #[must_use]
    pub fn die_of_volume(&self, die: DieId) -> DieId {
        self.superblocks().map_or(die, |span| DieId::new(self.turn_of(die) / span.dies))
    }

    /// A die of a die of the volume, by its number there; without superblocks the die itself.
    #[must_use]
    pub fn die_in_group(&self, group: DieId, number: u32) -> DieId {
        self.superblocks().map_or(group, |span| self.die_at_turn(group.get() * span.dies + number))
    }

    /// The volume's block to which a block belongs, and the number of its plane in the group; without superblocks the
    /// block itself.
    #[must_use]
    pub fn superblock_of(&self, block: BlockId) -> (BlockId, u32) {
        let Some(interleave) = self.numbering.interleave() else { return (block, 0) };
        let (group, member) = interleave.place_in_group(self.plane_of(block));
        let blocks = self.shape().blocks_per_plane;
        (BlockId::new(group * blocks + self.index_in_plane(block)), member)
    }

    /// A block of a block of the volume, by the number of its plane in the group.
    #[must_use]
    pub fn member(&self, block: BlockId, number: u32) -> BlockId {
        let Some(interleave) = self.numbering.interleave() else { return block };
        let (group, index) = (self.plane_of(block).get(), self.index_in_plane(block));
        self.block_in(interleave.member(group, number), index)
    }

    /// The numbers of the flash pages of a block.
    pub fn flash_pages_of(&self, block: BlockId) -> impl Iterator<Item = u32> + '_ {
        let rows = 0..self.shape().pages_per_block;
        let firsts = rows.map(move |row| self.page_at(block, row * self.units_per_page()));
        firsts.map(|page| self.flash_page_of(page))
    }

    /// The first page of each block of a block of the volume.
    pub fn first_pages(&self, block: BlockId) -> impl Iterator<Item = Ppn> + '_ {
        self.blocks_of_superblock(block).map(|block| self.page_at(block, 0))
    }

    /// The blocks of a block of the volume.
    pub fn blocks_of_superblock(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        let (group, index) = (self.plane_of(block).get(), self.index_in_plane(block));
        let own = self.superblocks().is_none().then_some(block);
        let members = self.numbering.interleave().into_iter().flat_map(move |interleave| {
            let planes =
                (0..interleave.span().blocks()).map(move |at| interleave.member(group, at));
            planes.map(move |plane| self.block_in(plane, index))
        });
        own.into_iter().chain(members)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::units::{Bytes, Ppn};

    proptest::proptest! {
        /// Numbered by superblocks, a flash has the same pages, each once, and those of a block of the volume are the
        /// pages of its blocks, row by row.
        #[test]
        fn superblocks_only_number_pages_differently(
            channels in 1u32..4, chips in 1u32..3, wide in 1u32..4, parts in 1u32..3, high in 1u32..3,
            blocks in 4u32..6, pages in 4u32..7, units in 1u32..3, parity: bool,
        ) {
            let wide = if parity { wide + 1 } else { wide };
            let shape = Shape {
                channels,
                chips_per_channel: chips * wide,
                dies_per_chip: 1,
                planes_per_die: parts * high,
                blocks_per_plane: blocks,
                pages_per_block: pages,
                page_size: Bytes::from_kib(4 * u64::from(units)),
                mapping_unit: Bytes::from_kib(4),
            };
            let span = SuperblockSpan { dies: wide, planes: high, has_parity: parity };
            let flash = FlashGeometry::of_flash(shape, Some(span));
            let volume = flash.volume();
            let parity_pages = flash.physical_pages() - volume.physical_pages();
            let share = if parity { flash.physical_pages() / wide } else { 0 };
            proptest::prop_assert_eq!(parity_pages, share);
            let mut seen = BTreeSet::new();
            for page in (0..flash.physical_pages()).map(Ppn::new) {
                let (block, unit) = flash.place_of(page);
                proptest::prop_assert!(seen.insert((block, unit)));
                proptest::prop_assert_eq!(flash.page_at(block, unit), page);
                proptest::prop_assert_eq!(flash.block_of(page), block);
                let plane = flash.plane_of(block);
                proptest::prop_assert_eq!(flash.plane_of_page(page), plane);
                proptest::prop_assert_eq!(flash.die_of_page(page), flash.die_of(plane));
                let (of, member) = flash.superblock_of(block);
                proptest::prop_assert_eq!(flash.member(of, member), block);
                proptest::prop_assert_eq!(flash.blocks_of_superblock(of).nth(member as usize), Some(block));
                if page.get() >= volume.physical_pages() {
                    continue;
                }
                let (large, in_large) = volume.place_of(page);
                proptest::prop_assert_eq!(large, of);
                let (row, place) = (in_large / units / span.pages_in_row(), in_large / units % span.pages_in_row());
                proptest::prop_assert_eq!(flash.flash_page_in_block(page), row);
                proptest::prop_assert_eq!(member % high, place % high);
                if !parity {
                    proptest::prop_assert_eq!(member, place);
                }
                proptest::prop_assert_eq!(flash.die_of_volume(flash.die_of(plane)), volume.die_of_page(page));
            }
        }
    }
}
