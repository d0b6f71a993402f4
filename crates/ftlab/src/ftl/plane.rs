//! A plane's blocks from the FTL's side: which are free, which are being filled, which is collected.

use std::collections::VecDeque;

use super::gc::{Collection, Wanted};
use crate::units::BlockId;

/// Data that is kept in blocks of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteStream {
    /// What the host wrote.
    Host,
    /// What collection copied: it has lived longer, and tends to live on.
    Gc,
}

/// A block that is being filled.
#[derive(Clone, Copy, Debug)]
struct OpenBlock {
    block: BlockId,
    next_unit: u32,
}

/// One plane.
#[derive(Clone, Debug)]
pub struct Plane {
    open: [Option<OpenBlock>; 2],
    /// Blocks from this one on were never used.
    unused_from: u32,
    blocks: u32,
    /// Erased blocks, longest erased first.
    erased: VecDeque<BlockId>,
    pub(super) collection: Option<Collection>,
    /// Blocks that are to be collected, in the order of asking.
    pub(super) wanted: VecDeque<Wanted>,
    /// Flash pages that the host may still take while the plane collects.
    pub(super) host_credit: u32,
}

impl Plane {
    /// A plane of so many erased blocks.
    #[must_use]
    pub fn new(blocks: u32) -> Plane {
        Plane {
            open: [None; 2],
            unused_from: 0,
            blocks,
            erased: VecDeque::new(),
            collection: None,
            wanted: VecDeque::new(),
            host_credit: 0,
        }
    }

    /// Blocks that are erased and not in use.
    #[inline]
    #[must_use]
    pub fn free_blocks(&self) -> u32 {
        self.blocks - self.unused_from + self.erased.len() as u32
    }

    /// The block that is being collected.
    #[must_use]
    pub fn collecting(&self) -> Option<BlockId> {
        self.collection.as_ref().map(Collection::victim)
    }

    /// Blocks that were never used come first, then those that were erased, in turn: the oldest
    /// free block is taken, which spreads wear evenly over the free ones.
    pub(super) fn take_free(&mut self, block_at: impl Fn(u32) -> BlockId) -> Option<BlockId> {
        if self.unused_from < self.blocks {
            self.unused_from += 1;
            return Some(block_at(self.unused_from - 1));
        }
        self.erased.pop_front()
    }

    pub(super) fn give_back(&mut self, block: BlockId) {
        self.erased.push_back(block);
    }

    pub(super) fn open(&mut self, stream: WriteStream, block: BlockId) {
        self.open[stream as usize] = Some(OpenBlock { block, next_unit: 0 });
    }

    /// Whether the open block of a stream has a flash page left.
    #[inline]
    pub(super) fn has_room(&self, stream: WriteStream, units_per_block: u32) -> bool {
        self.open[stream as usize].is_some_and(|open| open.next_unit < units_per_block)
    }

    /// Takes the next flash page of a stream's open block, if it has one left.
    #[inline]
    pub(super) fn next_page(
        &mut self,
        stream: WriteStream,
        units_per_page: u32,
        units_per_block: u32,
    ) -> Option<(BlockId, u32)> {
        let open = self.open[stream as usize].as_mut()?;
        if open.next_unit >= units_per_block {
            return None;
        }
        let place = (open.block, open.next_unit);
        open.next_unit += units_per_page;
        Some(place)
    }
}
