//! The numbering of pages by superblocks: the flash pages of one number in all blocks of a superblock are adjacent, in
//! the order in which a controller fills them. So the pages of a superblock are a run of numbers, as those of a block
//! are otherwise, and whoever fills superblocks sees a flash of fewer, larger blocks ([`volume`](SuperblockSpan::volume)),
//! without any translation.

use super::Shape;
use crate::engine::Divisor;
use crate::units::PlaneId;

/// The blocks of a superblock: those at one place of `dies` dies, on `planes` planes of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuperblockSpan {
    /// Dies of a superblock.
    pub dies: u32,
    /// Planes of each of these dies.
    pub planes: u32,
}

impl SuperblockSpan {
    /// Blocks of a superblock.
    #[must_use]
    pub fn blocks(self) -> u32 {
        self.dies * self.planes
    }

    /// The shape that who fills superblocks sees: a block is a superblock, a die a group of dies. Groups share a single
    /// channel.
    #[must_use]
    pub fn volume(self, flash: &Shape) -> Shape {
        let dies = flash.channels * flash.chips_per_channel * flash.dies_per_chip;
        Shape {
            channels: 1,
            chips_per_channel: dies / self.dies,
            dies_per_chip: 1,
            planes_per_die: flash.planes_per_die / self.planes,
            pages_per_block: flash.pages_per_block * self.blocks(),
            ..*flash
        }
    }
}

/// How pages are numbered.
pub trait Numbering: Clone {
    /// The numbering by superblocks, or none if the pages of a block are adjacent.
    fn interleave(&self) -> Option<&Interleave>;
}

/// The pages of a block are adjacent.
#[derive(Clone, Copy, Debug)]
pub struct Adjacent;

/// The pages of a superblock are adjacent, or those of a block if there are no superblocks.
#[derive(Clone, Debug)]
pub struct BySuperblocks(Option<Box<Interleave>>);

impl BySuperblocks {
    pub(super) fn new(shape: &Shape, span: Option<SuperblockSpan>) -> BySuperblocks {
        BySuperblocks(span.map(|span| Box::new(Interleave::new(shape, span))))
    }
}

impl Numbering for Adjacent {
    #[inline(always)]
    fn interleave(&self) -> Option<&Interleave> {
        None
    }
}

impl Numbering for BySuperblocks {
    #[inline(always)]
    fn interleave(&self) -> Option<&Interleave> {
        self.0.as_deref()
    }
}

/// The numbering by superblocks.
#[derive(Clone, Debug)]
pub struct Interleave {
    span: SuperblockSpan,
    /// Blocks of a superblock.
    width: Divisor,
    /// Flash pages of a block.
    rows: Divisor,
    /// Flash pages of a group of planes that form superblocks.
    pages_per_group: Divisor,
    blocks_per_plane: Divisor,
    /// By group and member: the plane.
    planes: Vec<PlaneId>,
    /// By plane: the group and the member.
    members: Vec<(u32, u32)>,
}

/// Where a flash page is.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlashPage {
    pub plane: PlaneId,
    /// The number of its block in the plane.
    pub index: u32,
    /// Its number in the block.
    pub row: u32,
}

impl Interleave {
    /// The numbering of a flash. Consecutive members are the planes of a die, then those of a die on the next channel.
    ///
    /// # Panics
    /// If dies or planes do not form whole groups; the configuration is checked for that.
    pub(super) fn new(shape: &Shape, span: SuperblockSpan) -> Interleave {
        let dies_per_channel = shape.chips_per_channel * shape.dies_per_chip;
        let dies = shape.channels * dies_per_channel;
        let SuperblockSpan { dies: wide, planes: high } = span;
        let whole = dies.is_multiple_of(wide) && shape.planes_per_die.is_multiple_of(high);
        assert!(whole, "{dies} dies of {} planes in groups of {span:?}", shape.planes_per_die);
        let parts_of_die = shape.planes_per_die / high;
        let width = span.blocks();
        let plane_of = |group: u32, member: u32| {
            let turn = group / parts_of_die * wide + member / high;
            let die = turn % shape.channels * dies_per_channel + turn / shape.channels;
            let index = group % parts_of_die * high + member % high;
            PlaneId::new(die * shape.planes_per_die + index)
        };
        let groups = dies / wide * parts_of_die;
        let places = (0..groups).flat_map(|group| (0..width).map(move |member| (group, member)));
        let planes: Vec<PlaneId> =
            places.clone().map(|(group, member)| plane_of(group, member)).collect();
        let mut members = vec![(0, 0); planes.len()];
        for (plane, place) in planes.iter().zip(places) {
            members[plane.at()] = place;
        }
        Interleave {
            span,
            width: Divisor::new(width),
            rows: Divisor::new(shape.pages_per_block),
            pages_per_group: Divisor::new(shape.blocks_per_plane * shape.pages_per_block * width),
            blocks_per_plane: Divisor::new(shape.blocks_per_plane),
            planes,
            members,
        }
    }

    pub(super) fn span(&self) -> SuperblockSpan {
        self.span
    }

    /// The plane of a flash page.
    #[inline]
    pub(super) fn plane_of(&self, flash_page: u32) -> PlaneId {
        let (group, in_group) = self.pages_per_group.split(flash_page);
        let member = self.width.split(in_group).1;
        self.planes[(group * self.width.get() + member) as usize]
    }

    /// Where a flash page is.
    #[inline]
    pub(super) fn place_of(&self, flash_page: u32) -> FlashPage {
        let (stripe, member) = self.width.split(flash_page);
        let (superblock, row) = self.rows.split(stripe);
        let (group, index) = self.blocks_per_plane.split(superblock);
        let plane = self.planes[(group * self.width.get() + member) as usize];
        FlashPage { plane, index, row }
    }

    /// The number of a flash page.
    #[inline]
    pub(super) fn number_of(&self, at: FlashPage) -> u32 {
        let FlashPage { plane, index, row } = at;
        let (group, member) = self.members[plane.at()];
        let superblock = group * self.blocks_per_plane.get() + index;
        (superblock * self.rows.get() + row) * self.width.get() + member
    }

    /// A plane of a group.
    pub(super) fn member(&self, group: u32, number: u32) -> PlaneId {
        self.planes[(group * self.width.get() + number) as usize]
    }
}
