//! The blocks of a plane, as the FTL sees them: free, open, or being collected.

use std::collections::VecDeque;

use super::gc::{Collection, Purpose, Wanted};
use super::streams::{MOST_STREAMS, WriteStream};
use super::wear::{FreeBlockOrder, FreeBlocks, Pick};
use super::{BlockState, Ftl};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::units::{BlockId, PlaneId};

/// An open block.
#[derive(Clone, Copy, Debug)]
struct OpenBlock {
    block: BlockId,
    next_unit: u32,
}

/// A block as an image describes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded {
    pub block: BlockId,
    pub state: BlockState,
    pub programmed: u32,
    pub erases: u32,
}

/// The state of a plane.
#[derive(Clone, Debug)]
pub struct Plane {
    open: [Option<OpenBlock>; MOST_STREAMS],
    free: FreeBlocks,
    pub(super) collection: Option<Collection>,
    /// Blocks that are to be collected, in the order of the requests.
    pub(super) wanted: VecDeque<Wanted>,
    /// Flash pages that the host may still take while the plane collects.
    pub(super) host_credit: u32,
    /// Copies that collection may still make for what the host wrote, if they are limited.
    pub(super) copy_credit: u32,
}

impl Plane {
    /// A plane of `blocks` erased blocks.
    #[must_use]
    pub fn new(blocks: u32, order: FreeBlockOrder) -> Plane {
        Plane {
            open: [None; MOST_STREAMS],
            free: FreeBlocks::new(blocks, order),
            collection: None,
            wanted: VecDeque::new(),
            host_credit: 0,
            copy_credit: 0,
        }
    }

    /// The free block that is taken next, if that is known.
    pub(super) fn next_free(&self) -> Option<BlockId> {
        self.free.next_erased()
    }

    /// Starts again with the first `used` blocks in use.
    pub(super) fn restart(&mut self, used: u32) {
        self.free.restart(used);
    }

    /// The number of free blocks.
    #[inline]
    #[must_use]
    pub fn free_blocks(&self) -> u32 {
        self.free.count()
    }

    /// The block that is being collected.
    #[must_use]
    pub fn collecting(&self) -> Option<BlockId> {
        self.collection.as_ref().map(Collection::victim)
    }

    /// Takes a free block. `good_at` returns the block with this number in the plane, unless it is
    /// bad.
    pub(super) fn take_free(
        &mut self,
        pick: Pick,
        good_at: impl Fn(u32) -> Option<BlockId>,
    ) -> Option<BlockId> {
        self.free.take(pick, good_at)
    }

    /// A block was erased and is free; `erases` is its erase count.
    pub(super) fn give_back(&mut self, block: BlockId, erases: u32) {
        self.free.give_back(block, erases);
    }

    /// A block that was never used is bad.
    pub(super) fn lose_unused(&mut self) {
        self.free.lose_unused();
    }

    /// The plane's die has died: it has no open, free or collected blocks any more.
    pub(super) fn die(&mut self) {
        let Plane { open, free, collection, wanted, host_credit, copy_credit } = self;
        *open = [None; MOST_STREAMS];
        free.lose_all();
        *collection = None;
        wanted.clear();
        (*host_credit, *copy_credit) = (0, 0);
    }

    pub(super) fn open(&mut self, stream: WriteStream, block: BlockId) {
        self.open[stream.at()] = Some(OpenBlock { block, next_unit: 0 });
    }

    /// Saves which blocks are free and which open blocks have room.
    pub(super) fn save(&self, out: &mut ImageWriter, units_of: impl Fn(WriteStream) -> u32) {
        // At rest there is no collection, and so no pacing. How far an open block is filled is in
        // its record.
        let Plane { open, free, collection: _, wanted, host_credit: _, copy_credit: _ } = self;
        out.number(free.used());
        out.list(free.erased_by_age().iter().map(|block| block.get()));
        out.number(open.len() as u64);
        for (stream, open) in (0..).map(WriteStream::new).zip(open) {
            let open = open.filter(|open| open.next_unit < units_of(stream));
            out.number(open.map_or(0, |open| open.block.to_raw()));
        }
        out.number(wanted.len() as u64);
        for Wanted { block, purpose } in wanted {
            out.number(block.get());
            out.number(*purpose as u64);
        }
    }

    /// Loads what [`save`](Self::save) wrote. `check` returns the state of a block if it lies on
    /// this plane. Returns the open blocks that no stream of the device continues; `is_filled`
    /// tells which streams the device has.
    pub(super) fn load(
        &mut self,
        from: &mut ImageReader<'_>,
        is_filled: impl Fn(WriteStream) -> bool,
        blocks: u32,
        check: impl Fn(u32) -> Result<Loaded, Damage>,
    ) -> Result<Vec<BlockId>, Damage> {
        let used = from.below(u64::from(blocks) + 1, "the number of used blocks")?;
        self.free.restart(used);
        for block in from.list(BlockId::MAX_INDEX, "a free block")? {
            let Loaded { block, state, erases, .. } = check(block)?;
            if state != BlockState::Free {
                return Err(Damage(format!("{block:?} is {state:?}, but listed as free")));
            }
            self.free.give_back(block, erases);
        }
        let mut left_over = Vec::new();
        for stream in 0..from.below(MOST_STREAMS as u64 + 1, "the number of streams")? {
            let raw = from.below(u64::from(u32::MAX), "an open block")?;
            let Some(block) = raw.checked_sub(1) else { continue };
            let Loaded { block, state, programmed: next_unit, .. } = check(block)?;
            if state != BlockState::Open {
                return Err(Damage(format!("{block:?} is {state:?}, but listed as open")));
            }
            match is_filled(WriteStream::new(stream as u8)) {
                true => self.open[stream as usize] = Some(OpenBlock { block, next_unit }),
                false => left_over.push(block),
            }
        }
        for _ in 0..from.below(u64::from(blocks) + 1, "the number of wanted blocks")? {
            let wanted = check(from.below(u64::from(u32::MAX), "a wanted block")?)?;
            let Loaded { block, state, .. } = wanted;
            if !matches!(state, BlockState::Collecting | BlockState::Failing) {
                return Err(Damage(format!(
                    "{block:?} is {state:?}, but listed as waiting for collection"
                )));
            }
            let purpose = from.below(Purpose::ALL.len() as u64, "the purpose of a collection")?;
            self.wanted.push_back(Wanted { block, purpose: Purpose::ALL[purpose as usize] });
        }
        Ok(left_over)
    }

    /// The erased blocks, the open blocks, and those that wait to be collected, without blocks that
    /// were never used.
    pub(super) fn listed(&self) -> impl Iterator<Item = BlockId> {
        let open = self.open.iter().flatten().map(|open| open.block);
        let wanted = self.wanted.iter().map(|wanted| wanted.block);
        self.free.erased_by_age().into_iter().chain(open).chain(wanted)
    }

    /// Sets the number of never used blocks that are good, after a load.
    pub(super) fn count_unused(&mut self, good: u32) {
        self.free.count_unused(good);
    }

    /// Whether a block waits to be collected for this purpose.
    pub(super) fn waits_for(&self, purpose: Purpose) -> bool {
        self.wanted.iter().any(|wanted| wanted.purpose == purpose)
    }

    /// The blocks that wait to be retired.
    pub(super) fn giving_up(&self) -> impl Iterator<Item = BlockId> {
        let retired = self.wanted.iter().filter(|wanted| wanted.purpose == Purpose::Retire);
        retired.map(|wanted| wanted.block)
    }

    /// Closes a block if it is open. Returns its stream, and how many units of it were taken. A
    /// stream that has filled its block does not count: the block may belong to another stream by
    /// now.
    pub(super) fn close(
        &mut self,
        block: BlockId,
        units_of: impl Fn(WriteStream) -> u32,
    ) -> Option<(WriteStream, u32)> {
        let has_room = |of, taken| taken < units_of(of);
        let found =
            self.open_blocks().find(|&(of, open, taken)| open == block && has_room(of, taken));
        let (stream, _, taken) = found?;
        self.open[stream.at()] = None;
        Some((stream, taken))
    }

    /// Mapping units left in the open block of a stream.
    pub(super) fn units_left(&self, stream: WriteStream, units_per_block: u32) -> u32 {
        self.open[stream.at()].map_or(0, |open| units_per_block - open.next_unit)
    }

    /// The open blocks with their streams and their next units.
    pub(super) fn open_blocks(&self) -> impl Iterator<Item = (WriteStream, BlockId, u32)> {
        let open = self.open.iter().zip(0..);
        open.filter_map(|(open, at)| Some((WriteStream::new(at), (*open)?)))
            .map(|(stream, OpenBlock { block, next_unit })| (stream, block, next_unit))
    }

    /// The erased blocks, without blocks that were never used.
    pub(super) fn erased(&self) -> impl Iterator<Item = BlockId> {
        self.free.erased_by_age().into_iter()
    }

    /// The number of blocks that were ever used.
    pub(super) fn used(&self) -> u32 {
        self.free.used()
    }

    /// Whether the open block of a stream has a flash page left.
    #[inline]
    pub(super) fn has_room(&self, stream: WriteStream, units_per_block: u32) -> bool {
        self.open[stream.at()].is_some_and(|open| open.next_unit < units_per_block)
    }

    /// Skips the next units of the open block of a stream.
    pub(super) fn leave_out(&mut self, stream: WriteStream, units: u32) {
        if let Some(open) = &mut self.open[stream.at()] {
            open.next_unit += units;
        }
    }

    /// Takes the next flash page of a stream's open block, if one is left.
    #[inline]
    pub(super) fn next_page(
        &mut self,
        stream: WriteStream,
        units_per_page: u32,
        units_per_block: u32,
    ) -> Option<(BlockId, u32)> {
        let open = self.open[stream.at()].as_mut()?;
        if open.next_unit >= units_per_block {
            return None;
        }
        let place = (open.block, open.next_unit);
        open.next_unit += units_per_page;
        Some(place)
    }
}

/// Free blocks of the plane that has the fewest.
#[must_use]
pub fn fewest_free_blocks(ftl: &Ftl) -> u32 {
    let planes = (0..ftl.geometry().planes()).map(PlaneId::new);
    planes.map(|plane| ftl.free_blocks(plane)).min().unwrap_or(0)
}
