//! The shape of the device, and the only place that converts between its address spaces.
//!
//! Numbers run from large to small parts (channel, chip, die, plane, block, page), so the blocks of
//! a plane and the pages of a block are adjacent in every table.

use super::interleave::{Adjacent, FlashPage, Interleave, Numbering};
use crate::engine::Divisor;
use crate::units::{BlockId, Bytes, ChannelId, DieId, PlaneId, Ppn};

/// The counts that define a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Channels of the device.
    pub channels: u32,
    /// Chips (packages, ways) on a channel.
    pub chips_per_channel: u32,
    /// Dies in a chip.
    pub dies_per_chip: u32,
    /// Planes in a die.
    pub planes_per_die: u32,
    /// Blocks in a plane.
    pub blocks_per_plane: u32,
    /// Flash pages in a block.
    pub pages_per_block: u32,
    /// Size of a flash page, without its spare area.
    pub page_size: Bytes,
    /// Size of a page, the mapping unit: a flash page or a part of it.
    pub mapping_unit: Bytes,
}

impl Shape {
    /// Flash pages of the device.
    #[must_use]
    pub fn pages(&self) -> u64 {
        let dies = u64::from(self.channels * self.chips_per_channel * self.dies_per_chip);
        let blocks = dies * u64::from(self.planes_per_die) * u64::from(self.blocks_per_plane);
        blocks * u64::from(self.pages_per_block)
    }
}

/// The shape with the derived numbers that hot paths need. Pages of a block are adjacent, except on a
/// [flash](super::FlashGeometry) with superblocks.
#[derive(Clone, Debug)]
pub struct Geometry<N = Adjacent> {
    shape: Shape,
    /// Mapping units in a flash page.
    units_per_page: Divisor,
    /// Mapping units in a block.
    units_per_block: Divisor,
    blocks_per_plane: Divisor,
    planes_per_die: Divisor,
    dies_per_channel: Divisor,
    channels: Divisor,
    units_per_die: Divisor,
    pub(super) numbering: N,
}

impl Geometry {
    /// Derives everything from a checked shape.
    ///
    /// # Panics
    /// If the shape does not fit the 32-bit page numbers; the configuration is checked for that.
    #[must_use]
    pub fn new(shape: Shape) -> Geometry {
        Geometry::numbered(shape, Adjacent)
    }
}

impl<N: Numbering> Geometry<N> {
    /// Derives everything from a checked shape and a numbering of it.
    pub(super) fn numbered(shape: Shape, numbering: N) -> Geometry<N> {
        let units_per_page = u32::try_from(shape.page_size.0 / shape.mapping_unit.0)
            .expect("a flash page holds fewer than 2^32 units");
        let pages = shape.pages() * u64::from(units_per_page);
        assert!(pages < 1 << 31, "{pages} physical pages do not fit the page tables");
        Geometry {
            shape,
            units_per_page: Divisor::new(units_per_page),
            units_per_block: Divisor::new(units_per_page * shape.pages_per_block),
            blocks_per_plane: Divisor::new(shape.blocks_per_plane),
            planes_per_die: Divisor::new(shape.planes_per_die),
            dies_per_channel: Divisor::new(shape.chips_per_channel * shape.dies_per_chip),
            channels: Divisor::new(shape.channels),
            units_per_die: Divisor::new(
                shape.planes_per_die
                    * shape.blocks_per_plane
                    * shape.pages_per_block
                    * units_per_page,
            ),
            numbering,
        }
    }

    /// What few devices do stays out of the way of the others.
    #[cold]
    #[inline(never)]
    fn place_by_superblock(&self, interleave: &Interleave, page: Ppn) -> (BlockId, u32) {
        let (flash_page, unit) = self.units_per_page.split(page.get());
        let FlashPage { plane, index, row } = interleave.place_of(flash_page);
        (self.block_in(plane, index), row * self.units_per_page() + unit)
    }

    #[cold]
    #[inline(never)]
    fn page_by_superblock(&self, interleave: &Interleave, block: BlockId, unit: u32) -> Ppn {
        let (plane, index) = self.blocks_per_plane.split(block.get());
        let (row, unit) = self.units_per_page.split(unit);
        let at = FlashPage { plane: PlaneId::new(plane), index, row };
        Ppn::new(interleave.number_of(at) * self.units_per_page() + unit)
    }

    #[cold]
    #[inline(never)]
    fn plane_by_superblock(&self, interleave: &Interleave, page: Ppn) -> PlaneId {
        interleave.plane_of(self.flash_page_of(page))
    }

    /// The counts that define the device.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Channels of the device.
    #[must_use]
    pub fn channels(&self) -> u32 {
        self.shape.channels
    }

    /// Dies of the device.
    #[must_use]
    pub fn dies(&self) -> u32 {
        self.shape.channels * self.dies_per_channel()
    }

    /// Dies that share a channel.
    #[must_use]
    pub fn dies_per_channel(&self) -> u32 {
        self.dies_per_channel.get()
    }

    /// Planes of a die.
    #[inline]
    #[must_use]
    pub fn planes_per_die(&self) -> u32 {
        self.planes_per_die.get()
    }

    /// Planes of the device.
    #[must_use]
    pub fn planes(&self) -> u32 {
        self.dies() * self.shape.planes_per_die
    }

    /// Blocks of the device.
    #[must_use]
    pub fn blocks(&self) -> u32 {
        self.planes() * self.shape.blocks_per_plane
    }

    /// Physical pages (mapping units) of the device.
    #[must_use]
    pub fn physical_pages(&self) -> u32 {
        self.blocks() * self.units_per_block()
    }

    /// Mapping units in a flash page.
    #[inline]
    #[must_use]
    pub fn units_per_page(&self) -> u32 {
        self.units_per_page.get()
    }

    /// Mapping units in a block.
    #[inline]
    #[must_use]
    pub fn units_per_block(&self) -> u32 {
        self.units_per_block.get()
    }

    /// Sectors in a mapping unit.
    #[inline]
    #[must_use]
    pub fn sectors_per_unit(&self) -> u32 {
        self.shape.mapping_unit.sectors() as u32
    }

    /// The block that contains a page.
    #[inline]
    #[must_use]
    pub fn block_of(&self, page: Ppn) -> BlockId {
        if let Some(interleave) = self.numbering.interleave() {
            return self.place_by_superblock(interleave, page).0;
        }
        BlockId::new(self.units_per_block.of(page.get()))
    }

    /// The block of a page, and the page's place in it in mapping units.
    #[inline]
    #[must_use]
    pub fn place_of(&self, page: Ppn) -> (BlockId, u32) {
        if let Some(interleave) = self.numbering.interleave() {
            return self.place_by_superblock(interleave, page);
        }
        let (block, unit) = self.units_per_block.split(page.get());
        (BlockId::new(block), unit)
    }

    /// The page at place `unit` of `block`.
    #[inline]
    #[must_use]
    pub fn page_at(&self, block: BlockId, unit: u32) -> Ppn {
        if let Some(interleave) = self.numbering.interleave() {
            return self.page_by_superblock(interleave, block, unit);
        }
        Ppn::new(block.get() * self.units_per_block.get() + unit)
    }

    /// The die of a page.
    #[inline]
    #[must_use]
    pub fn die_of_page(&self, page: Ppn) -> DieId {
        if let Some(interleave) = self.numbering.interleave() {
            return self.die_of(self.plane_by_superblock(interleave, page));
        }
        DieId::new(self.units_per_die.of(page.get()))
    }

    /// The number, within its block, of the flash page that contains a page.
    #[inline]
    #[must_use]
    pub fn flash_page_in_block(&self, page: Ppn) -> u32 {
        self.flash_page_at(self.place_of(page).1)
    }

    /// The number, within its block, of the flash page at place `unit` of the block.
    #[inline]
    #[must_use]
    pub fn flash_page_at(&self, unit: u32) -> u32 {
        self.units_per_page.of(unit)
    }

    /// The plane of a page.
    #[inline]
    #[must_use]
    pub fn plane_of_page(&self, page: Ppn) -> PlaneId {
        if let Some(interleave) = self.numbering.interleave() {
            return self.plane_by_superblock(interleave, page);
        }
        self.plane_of(self.block_of(page))
    }

    /// The number, over the whole device, of the flash page that contains a page.
    #[inline]
    #[must_use]
    pub fn flash_page_of(&self, page: Ppn) -> u32 {
        self.units_per_page.of(page.get())
    }

    /// The plane of a block.
    #[inline]
    #[must_use]
    pub fn plane_of(&self, block: BlockId) -> PlaneId {
        PlaneId::new(self.blocks_per_plane.of(block.get()))
    }

    /// Block number `index` of a plane.
    #[inline]
    #[must_use]
    pub fn block_in(&self, plane: PlaneId, index: u32) -> BlockId {
        BlockId::new(plane.get() * self.shape.blocks_per_plane + index)
    }

    /// The number of a block within its plane.
    #[inline]
    #[must_use]
    pub fn index_in_plane(&self, block: BlockId) -> u32 {
        self.blocks_per_plane.split(block.get()).1
    }

    /// The die of a plane.
    #[inline]
    #[must_use]
    pub fn die_of(&self, plane: PlaneId) -> DieId {
        DieId::new(self.planes_per_die.of(plane.get()))
    }

    /// The number of a plane in its die.
    #[inline]
    #[must_use]
    pub fn plane_in_die(&self, plane: PlaneId) -> u32 {
        self.planes_per_die.split(plane.get()).1
    }

    /// Plane number `index` of a die.
    #[inline]
    #[must_use]
    pub fn plane_in(&self, die: DieId, index: u32) -> PlaneId {
        PlaneId::new(die.get() * self.shape.planes_per_die + index)
    }

    /// The dies of the chip that contains a die.
    pub fn dies_of_chip(&self, die: DieId) -> impl Iterator<Item = DieId> + use<N> {
        let dies = self.shape.dies_per_chip;
        let first = die.get() - die.get() % dies;
        (first..first + dies).map(DieId::new)
    }

    /// The channel of a die, and the die's place on it.
    #[inline]
    #[must_use]
    pub fn channel_of(&self, die: DieId) -> (ChannelId, u32) {
        let (channel, place) = self.dies_per_channel.split(die.get());
        (ChannelId::new(channel), place)
    }

    /// The turn of a die in the order that moves on by one channel each time.
    #[inline]
    #[must_use]
    pub fn turn_of(&self, die: DieId) -> u32 {
        let (channel, place) = self.channel_of(die);
        place * self.shape.channels + channel.get()
    }

    /// The die at a turn.
    #[inline]
    #[must_use]
    pub fn die_at_turn(&self, turn: u32) -> DieId {
        let (place, channel) = self.channels.split(turn);
        self.die_on(ChannelId::new(channel), place)
    }

    /// Die number `place` of a channel.
    #[inline]
    #[must_use]
    pub fn die_on(&self, channel: ChannelId, place: u32) -> DieId {
        DieId::new(channel.get() * self.dies_per_channel.get() + place)
    }
}
