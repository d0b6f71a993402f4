//! The numbering of pages by superblocks: the flash pages of one number in all blocks of a superblock are adjacent, in
//! the order in which a controller fills them. So the pages of a superblock are a run of numbers, as those of a block
//! are otherwise, and whoever fills superblocks sees a flash of fewer, larger blocks ([`volume`](SuperblockSpan::volume)),
//! without any translation.
//!
//! With parity, the pages of one die in each row hold the parity of the others, on a different die in each row. They
//! are numbered behind all pages of data, so whoever fills superblocks does not see them.

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
    /// Whether one die of each row holds parity.
    pub has_parity: bool,
}

impl SuperblockSpan {
    /// Blocks of a superblock.
    #[must_use]
    pub fn blocks(self) -> u32 {
        self.dies * self.planes
    }

    /// Dies of a row that hold data.
    #[must_use]
    pub fn data_dies(self) -> u32 {
        self.dies - u32::from(self.has_parity)
    }

    /// Flash pages of data in a row.
    #[must_use]
    pub fn pages_in_row(self) -> u32 {
        self.data_dies() * self.planes
    }

    /// The die, among those of a superblock, with which a row begins: behind the one with its parity, or the first.
    #[inline]
    fn first_die(self, index: u32, row: u32) -> u32 {
        if self.has_parity { (self.parity_die(index, row) + 1) % self.dies } else { 0 }
    }

    /// The die, among those of a superblock, that holds the parity of a row of the superblock at this place.
    #[inline]
    #[must_use]
    pub fn parity_die(self, index: u32, row: u32) -> u32 {
        (row + index) % self.dies
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
            pages_per_block: flash.pages_per_block * self.pages_in_row(),
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
    /// Flash pages of data in a row of a superblock.
    in_row: Divisor,
    planes_of_die: Divisor,
    /// Flash pages of data of a group of planes that form superblocks.
    pages_per_group: Divisor,
    /// Flash pages of a block.
    rows: Divisor,
    blocks_per_plane: Divisor,
    /// Flash pages of data, behind which those of parity are numbered.
    data: u32,
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
        let SuperblockSpan { dies: wide, planes: high, has_parity } = span;
        let whole = dies.is_multiple_of(wide) && shape.planes_per_die.is_multiple_of(high);
        assert!(whole, "{dies} dies of {} planes in groups of {span:?}", shape.planes_per_die);
        assert!(!has_parity || wide > 1, "parity of a single die");
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
        let rows = shape.blocks_per_plane * shape.pages_per_block;
        Interleave {
            span,
            in_row: Divisor::new(span.pages_in_row()),
            planes_of_die: Divisor::new(high),
            pages_per_group: Divisor::new(rows * span.pages_in_row()),
            rows: Divisor::new(shape.pages_per_block),
            blocks_per_plane: Divisor::new(shape.blocks_per_plane),
            data: groups * rows * span.pages_in_row(),
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
        if self.span.has_parity {
            return self.place_of(flash_page).plane;
        }
        let (group, in_group) = self.pages_per_group.split(flash_page);
        self.member(group, self.in_row.split(in_group).1)
    }

    /// Where a flash page is.
    #[inline]
    pub(super) fn place_of(&self, flash_page: u32) -> FlashPage {
        let span = self.span;
        let (row, place, is_parity) = match flash_page.checked_sub(self.data) {
            None => {
                let (row, place) = self.in_row.split(flash_page);
                (row, place, false)
            }
            Some(number) => {
                let (row, place) = self.planes_of_die.split(number);
                (row, place, true)
            }
        };
        let (superblock, row) = self.rows.split(row);
        let (group, index) = self.blocks_per_plane.split(superblock);
        let member = if !span.has_parity {
            place
        } else if is_parity {
            span.parity_die(index, row) * span.planes + place
        } else {
            let (turn, plane) = self.planes_of_die.split(place);
            (span.first_die(index, row) + turn) % span.dies * span.planes + plane
        };
        FlashPage { plane: self.member(group, member), index, row }
    }

    /// The number of a flash page.
    #[inline]
    pub(super) fn number_of(&self, at: FlashPage) -> u32 {
        let (span, FlashPage { plane, index, row }) = (self.span, at);
        let (group, member) = self.members[plane.at()];
        let superblock = group * self.blocks_per_plane.get() + index;
        let rows = superblock * self.rows.get() + row;
        let (die, plane) = self.planes_of_die.split(member);
        let turn = (die + span.dies - span.first_die(index, row)) % span.dies;
        match turn == span.data_dies() {
            true => self.data + rows * span.planes + plane,
            false => rows * self.in_row.get() + turn * span.planes + plane,
        }
    }

    /// A plane of a group.
    pub(super) fn member(&self, group: u32, number: u32) -> PlaneId {
        self.planes[(group * self.span.blocks() + number) as usize]
    }

    /// The group of a plane, and its number in it.
    pub(super) fn place_in_group(&self, plane: PlaneId) -> (u32, u32) {
        self.members[plane.at()]
    }
}
