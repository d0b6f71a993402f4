//! The state of the blocks: which pages are valid, how far each block is programmed, and how often
//! it was erased. Policies read it; only the core of the FTL changes it.

use std::ops::Range;

use super::streams::frontier::{MOST_STREAMS, WriteStream};
use crate::engine::prefetch;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::nand::CellMode;
use crate::shape::Geometry;
use crate::units::{BlockId, Ppn};

/// The state of a block in its life cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum BlockState {
    /// Erased and not in use.
    #[default]
    Free,
    /// Being filled.
    Open,
    /// A candidate for collection: full and programmed to the last page, or too old to be filled further.
    Closed,
    /// Being collected, or waiting for it.
    Collecting,
    /// A program failed: the block is not filled any further, and waits to be emptied.
    Failing,
    /// Retired.
    Bad,
    /// On a dead die, whatever it held.
    Dead,
}

impl BlockState {
    /// All states, ordered by number.
    pub const ALL: [BlockState; 7] = [
        BlockState::Free,
        BlockState::Open,
        BlockState::Closed,
        BlockState::Collecting,
        BlockState::Failing,
        BlockState::Bad,
        BlockState::Dead,
    ];
}

/// What is known of a block besides its pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockWear {
    /// How often it was erased.
    pub erases: u32,
    /// Mapping units that are programmed.
    pub programmed: u32,
    /// Its state.
    pub state: BlockState,
    /// The stream that it was opened for.
    pub stream: u8,
}

/// The record of a block. It is all zero for an erased block that was never used, so the table
/// comes zeroed from the operating system and takes memory only where it was touched.
type BlockRecord = [u32; 4];
/// Valid pages (mapping units).
const VALID: usize = 0;
/// Mapping units programmed, padding included.
const PROGRAMMED: usize = 1;
/// Number of erases.
const ERASES: usize = 2;
/// The state, and in the higher bits the stream that the block was opened for.
const STATE: usize = 3;
/// Number of bits of the state in its word.
const STATE_BITS: u32 = 8;
const STATE_MASK: u32 = (1 << STATE_BITS) - 1;

/// No block lasts this long: an image that claims it is damaged.
const MOST_ERASES: u64 = 1 << 31;

/// The records of all blocks.
#[derive(Clone, Debug)]
pub struct Blocks {
    records: Vec<BlockRecord>,
    /// One bit per page: whether it is the current copy of its logical page.
    valid: Vec<u64>,
    words_per_block: usize,
    /// By block: the value of `closed` when it last closed.
    closings: Vec<u64>,
    /// How often a block has closed.
    closed: u64,
    /// By block: how often collection chose it. A statistic that no image keeps.
    collections: Vec<u32>,
    units_per_block: u32,
    /// Mapping units in a block in SLC mode.
    slc_units: u32,
}

impl Blocks {
    /// A table of erased blocks.
    #[must_use]
    pub fn new(geometry: &Geometry) -> Blocks {
        let words_per_block = geometry.units_per_block().div_ceil(u64::BITS) as usize;
        Blocks {
            records: vec![BlockRecord::default(); geometry.blocks() as usize],
            valid: vec![0; geometry.blocks() as usize * words_per_block],
            words_per_block,
            closings: vec![0; geometry.blocks() as usize],
            closed: 0,
            collections: vec![0; geometry.blocks() as usize],
            units_per_block: geometry.units_per_block(),
            slc_units: geometry.units_per_block(),
        }
    }

    /// The same with blocks that hold this many mapping units in SLC mode.
    #[must_use]
    pub(super) fn with_slc_units(self, slc_units: u32) -> Blocks {
        Blocks { slc_units, ..self }
    }

    /// Mapping units in a block of full density.
    #[must_use]
    pub fn units_per_block(&self) -> u32 {
        self.units_per_block
    }

    /// Mapping units in a block in SLC mode.
    #[inline]
    #[must_use]
    pub fn slc_units(&self) -> u32 {
        self.slc_units
    }

    /// Whether a block is in use in SLC mode.
    #[inline]
    #[must_use]
    pub fn is_slc(&self, block: BlockId) -> bool {
        self.stream(block) == WriteStream::SLC
    }

    /// The mode of a block's cells.
    #[must_use]
    pub fn mode(&self, block: BlockId) -> CellMode {
        if self.is_slc(block) { CellMode::Slc } else { CellMode::Native }
    }

    /// Mapping units that a block holds in its current mode.
    #[inline]
    #[must_use]
    pub fn units_of(&self, block: BlockId) -> u32 {
        self.units_in(self.stream(block))
    }

    /// Mapping units that a block of a stream holds.
    #[inline]
    #[must_use]
    pub fn units_in(&self, stream: WriteStream) -> u32 {
        if stream == WriteStream::SLC { self.slc_units } else { self.units_per_block }
    }

    /// Number of valid pages (mapping units) of a block.
    #[inline]
    #[must_use]
    pub fn valid(&self, block: BlockId) -> u32 {
        self.records[block.at()][VALID]
    }

    /// Mapping units of a block that are programmed, padding included.
    #[inline]
    #[must_use]
    pub fn programmed(&self, block: BlockId) -> u32 {
        self.records[block.at()][PROGRAMMED]
    }

    /// How often a block was erased.
    #[inline]
    #[must_use]
    pub fn erases(&self, block: BlockId) -> u32 {
        self.records[block.at()][ERASES]
    }

    /// The state of a block.
    #[inline]
    #[must_use]
    pub fn state(&self, block: BlockId) -> BlockState {
        BlockState::ALL[(self.records[block.at()][STATE] & STATE_MASK) as usize]
    }

    /// The stream that a block was opened for, if it is not free.
    #[inline]
    #[must_use]
    pub fn stream(&self, block: BlockId) -> WriteStream {
        WriteStream::new((self.records[block.at()][STATE] >> STATE_BITS) as u8)
    }

    #[inline]
    pub(super) fn set_state(&mut self, block: BlockId, state: BlockState) {
        let word = &mut self.records[block.at()][STATE];
        *word = *word >> STATE_BITS << STATE_BITS | state as u32;
    }

    pub(super) fn set_stream(&mut self, block: BlockId, stream: WriteStream) {
        let state = self.state(block);
        self.records[block.at()][STATE] = (stream.at() as u32) << STATE_BITS | state as u32;
    }

    /// Opens a free block for a stream.
    pub(super) fn open(&mut self, block: BlockId, stream: WriteStream) {
        self.records[block.at()][STATE] =
            (stream.at() as u32) << STATE_BITS | BlockState::Open as u32;
    }

    /// Closes a full block, which becomes a candidate for collection.
    #[inline]
    pub(super) fn close(&mut self, block: BlockId) {
        self.set_state(block, BlockState::Closed);
        self.closed += 1;
        self.closings[block.at()] = self.closed;
    }

    /// The closed blocks in the order of closing.
    #[must_use]
    pub fn by_closing(&self) -> Vec<BlockId> {
        let all = (0u32..).map(BlockId::new).take(self.records.len());
        let mut closed: Vec<_> =
            all.filter(|&block| self.state(block) == BlockState::Closed).collect();
        closed.sort_unstable_by_key(|block| self.closings[block.at()]);
        closed
    }

    /// The number of a closed block in the order of closing.
    #[must_use]
    pub fn closing(&self, block: BlockId) -> u64 {
        self.closings[block.at()]
    }

    /// Counts `units` more as programmed. Returns the new number.
    #[inline]
    pub(super) fn add_programmed(&mut self, block: BlockId, units: u32) -> u32 {
        let programmed = &mut self.records[block.at()][PROGRAMMED];
        *programmed += units;
        *programmed
    }

    /// A block was erased: it is free and empty.
    pub(super) fn reset(&mut self, block: BlockId) {
        let record = &mut self.records[block.at()];
        assert_eq!(record[VALID], 0, "{block:?} is erased with valid pages on it");
        *record = [0, 0, record[ERASES] + 1, BlockState::Free as u32];
    }

    /// Retires an empty block.
    pub(super) fn retire(&mut self, block: BlockId) {
        assert_eq!(self.valid(block), 0, "{block:?} is retired with valid pages on it");
        self.records[block.at()][STATE] = BlockState::Bad as u32;
    }

    /// How often collection chose a block.
    #[must_use]
    pub fn collections(&self, block: BlockId) -> u32 {
        self.collections[block.at()]
    }

    pub(super) fn count_collection(&mut self, block: BlockId) {
        self.collections[block.at()] += 1;
    }

    /// How often collection chose each block, ordered by block number.
    pub fn all_collections(&self) -> impl Iterator<Item = u32> {
        self.collections.iter().copied()
    }

    /// How often each block was erased, ordered by block number.
    pub fn all_erases(&self) -> impl Iterator<Item = u32> {
        self.records.iter().map(|record| record[ERASES])
    }

    #[inline]
    fn bit(&self, block: BlockId, unit: u32) -> (usize, u64) {
        let word = block.at() * self.words_per_block + (unit / u64::BITS) as usize;
        (word, 1 << (unit % u64::BITS))
    }

    /// Whether the page at `unit` of `block` is valid.
    #[inline]
    #[must_use]
    pub fn is_valid(&self, block: BlockId, unit: u32) -> bool {
        let (word, bit) = self.bit(block, unit);
        self.valid[word] & bit != 0
    }

    /// The first valid page of `block` at or after `from`.
    #[inline]
    #[must_use]
    pub fn next_valid(&self, block: BlockId, from: u32) -> Option<u32> {
        let start = block.at() * self.words_per_block;
        let words = &self.valid[start..start + self.words_per_block];
        let mut at = (from / u64::BITS) as usize;
        let mut word = *words.get(at)? & (u64::MAX << (from % u64::BITS));
        while word == 0 {
            at += 1;
            word = *words.get(at)?;
        }
        Some(at as u32 * u64::BITS + word.trailing_zeros())
    }

    /// The valid pages of a block.
    pub fn valid_pages<'a>(
        &'a self,
        geometry: &'a Geometry,
        block: BlockId,
    ) -> impl Iterator<Item = Ppn> + Clone + 'a {
        // Skipping empty blocks leaves untouched memory alone.
        let first = (self.valid(block) > 0).then(|| self.next_valid(block, 0)).flatten();
        let units = std::iter::successors(first, move |unit| self.next_valid(block, unit + 1));
        units.map(move |unit| geometry.page_at(block, unit))
    }

    #[inline]
    pub(super) fn set_valid(&mut self, block: BlockId, unit: u32) {
        let (word, bit) = self.bit(block, unit);
        debug_assert_eq!(self.valid[word] & bit, 0, "{block:?} page {unit} is already valid");
        self.valid[word] |= bit;
        self.records[block.at()][VALID] += 1;
    }

    /// Sets the valid pages of a block, as words of bits.
    #[inline]
    pub(super) fn put_valid(&mut self, block: BlockId, words: impl Iterator<Item = u64>) {
        let first = block.at() * self.words_per_block;
        let mut valid = 0;
        for (to, word) in self.valid[first..first + self.words_per_block].iter_mut().zip(words) {
            *to = word;
            valid += word.count_ones();
        }
        self.records[block.at()][VALID] = valid;
    }

    #[inline]
    pub(super) fn clear_valid(&mut self, block: BlockId, unit: u32) {
        let (word, bit) = self.bit(block, unit);
        assert!(self.valid[word] & bit != 0, "{block:?} page {unit} is already invalid");
        self.valid[word] &= !bit;
        self.records[block.at()][VALID] -= 1;
    }

    /// Invalidates the valid pages among these places of a block, and calls `name` for each.
    /// Returns how many there were.
    #[inline]
    pub(super) fn take_valid(
        &mut self,
        block: BlockId,
        places: Range<u32>,
        mut name: impl FnMut(u32),
    ) -> u32 {
        let first = block.at() * self.words_per_block;
        let mut taken = 0;
        for at in places.start / u64::BITS..places.end.div_ceil(u64::BITS) {
            let begin = at * u64::BITS;
            let from = places.start.saturating_sub(begin);
            let past = (begin + u64::BITS).saturating_sub(places.end);
            let word = &mut self.valid[first + at as usize];
            let mut left = *word & (u64::MAX << from) & (u64::MAX >> past);
            *word ^= left;
            while left != 0 {
                name(begin + left.trailing_zeros());
                left &= left - 1;
                taken += 1;
            }
        }
        self.records[block.at()][VALID] -= taken;
        taken
    }

    /// Marks `count` adjacent pages as valid, none of which was.
    #[inline]
    pub(super) fn set_valid_row(&mut self, block: BlockId, unit: u32, count: u32) {
        let (word, bit) = self.bit(block, unit);
        if unit % u64::BITS + count <= u64::BITS {
            let row = (u64::MAX >> (u64::BITS - count)) * bit;
            debug_assert_eq!(self.valid[word] & row, 0, "{block:?} page {unit} is already valid");
            self.valid[word] |= row;
            self.records[block.at()][VALID] += count;
        } else {
            (unit..unit + count).for_each(|unit| self.set_valid(block, unit));
        }
    }

    /// Like [`set_valid_row`](Self::set_valid_row), for any number of pages.
    pub(super) fn set_valid_run(&mut self, block: BlockId, unit: u32, count: u32) {
        let (mut at, end) = (unit, unit + count);
        while at < end {
            let in_word = (u64::BITS - at % u64::BITS).min(end - at);
            self.set_valid_row(block, at, in_word);
            at += in_word;
        }
    }

    /// Resets a block as if it had never been used.
    pub(super) fn forget(&mut self, block: BlockId) {
        self.put_valid(block, std::iter::repeat(0));
        self.records[block.at()] = BlockRecord::default();
        self.closings[block.at()] = 0;
    }

    /// After a power cut: restores a block in this state, with its old erase count. A closed block is full.
    pub(super) fn take_up(&mut self, before: &Blocks, block: BlockId, state: BlockState) {
        let [_, _, erases, word] = before.records[block.at()];
        let stream = if state == BlockState::Closed { word >> STATE_BITS << STATE_BITS } else { 0 };
        self.records[block.at()] = [0, 0, erases, stream | state as u32];
        if state == BlockState::Closed {
            self.records[block.at()][PROGRAMMED] = self.units_of(block);
        }
    }

    /// Puts in what was kept of a block.
    pub(super) fn put_kept(&mut self, block: BlockId, kept: BlockWear) {
        let BlockWear { erases, programmed, state, stream } = kept;
        let word = u32::from(stream) << STATE_BITS | state as u32;
        self.records[block.at()] = [0, programmed, erases, word];
    }

    /// After a power cut: erases a block that holds nothing valid.
    pub(super) fn reset_after_cut(&mut self, block: BlockId) {
        self.records[block.at()][PROGRAMMED] = 0;
        self.reset(block);
    }

    /// Whether a block was ever used.
    pub(super) fn is_used(&self, block: BlockId) -> bool {
        self.records[block.at()] != BlockRecord::default()
    }

    /// Saves every block that was ever used; `pages` saves the contents of one.
    pub(super) fn save(
        &self,
        geometry: &Geometry,
        out: &mut ImageWriter,
        mut pages: impl FnMut(BlockId, &mut ImageWriter),
    ) {
        // The order of closing is saved separately, as a list of blocks.
        let Blocks {
            records,
            valid,
            words_per_block,
            closings: _,
            closed: _,
            collections: _,
            units_per_block: _,
            slc_units: _,
        } = self;
        let used = (0..records.len() as u32).map(BlockId::new).filter(|&block| self.is_used(block));
        out.number(used.clone().count() as u64);
        let mut before = 0;
        for block in used {
            let [_, programmed, erases, _] = records[block.at()];
            out.difference(before, block.get());
            before = block.get();
            out.number(self.state(block) as u32);
            out.number(self.stream(block).at() as u64);
            out.number(programmed / geometry.units_per_page());
            out.number(erases);
            let first = block.at() * words_per_block;
            let words = programmed.div_ceil(u64::BITS) as usize;
            valid[first..first + words].iter().for_each(|word| out.raw(&word.to_le_bytes()));
            pages(block, out);
        }
    }

    /// Loads what [`save`](Self::save) wrote; `page` loads the contents of a block.
    pub(super) fn load(
        &mut self,
        geometry: &Geometry,
        from: &mut ImageReader<'_>,
        mut pages: impl FnMut(&Blocks, BlockId, &mut ImageReader<'_>) -> Result<(), Damage>,
    ) -> Result<(), Damage> {
        let used = from.below(u64::from(geometry.blocks()) + 1, "the number of blocks")?;
        let mut next = 0;
        for at in 0..used {
            let block = from.difference(if at == 0 { 0 } else { next - 1 }, "a block")?;
            if block < next || block >= geometry.blocks() {
                return Err(Damage(format!("block {block} is out of order, or not on the device")));
            }
            next = block + 1;
            let block = BlockId::new(block);
            let programmed = self.load_record(block, geometry, from)?;
            self.load_valid(block, programmed, from)?;
            pages(self, block, from)?;
        }
        Ok(())
    }

    /// Loads the record of a block, except for its valid pages. Returns how much is programmed.
    fn load_record(
        &mut self,
        block: BlockId,
        geometry: &Geometry,
        from: &mut ImageReader<'_>,
    ) -> Result<u32, Damage> {
        let state = from.below(BlockState::ALL.len() as u64, "the state of a block")?;
        let state = BlockState::ALL[state as usize];
        let stream = from.below(MOST_STREAMS as u64, "the stream of a block")?;
        let pages = u64::from(geometry.shape().pages_per_block);
        let programmed = from.below(pages + 1, "a block's number of programmed pages")?;
        let erases = from.below(MOST_ERASES, "a block's number of erases")?;
        let programmed = programmed * geometry.units_per_page();
        let whole = self.units_in(WriteStream::new(stream as u8));
        let is_slc = stream as usize == WriteStream::SLC.at();
        let fits = match state {
            BlockState::Free => programmed == 0,
            BlockState::Open => programmed < whole,
            // At rest nothing is collected, but a block may wait for it. A block that became too
            // old to be filled further is not full.
            BlockState::Closed | BlockState::Collecting => {
                programmed == whole || programmed > 0 && !is_slc
            }
            BlockState::Failing | BlockState::Bad | BlockState::Dead => true,
        };
        if !fits {
            return Err(Damage(format!(
                "{block:?} can't be {state:?} with {programmed} units programmed"
            )));
        }
        if is_slc && matches!(state, BlockState::Free | BlockState::Bad) {
            return Err(Damage(format!("{block:?} can't be {state:?} and in SLC mode")));
        }
        self.records[block.at()] = [0, programmed, erases, stream << STATE_BITS | state as u32];
        if !self.is_used(block) {
            return Err(Damage(format!("{block:?} is listed, though it was never used")));
        }
        Ok(programmed)
    }

    fn load_valid(
        &mut self,
        block: BlockId,
        programmed: u32,
        from: &mut ImageReader<'_>,
    ) -> Result<(), Damage> {
        let first = block.at() * self.words_per_block;
        for at in 0..programmed.div_ceil(u64::BITS) {
            let mut bytes = [0; size_of::<u64>()];
            bytes.copy_from_slice(from.raw(size_of::<u64>())?);
            let word = u64::from_le_bytes(bytes);
            let units = programmed - at * u64::BITS;
            if units < u64::BITS && word >> units != 0 {
                return Err(Damage(format!("{block:?} has valid pages that are not programmed")));
            }
            self.valid[first + at as usize] = word;
            self.records[block.at()][VALID] += word.count_ones();
        }
        if self.state(block) == BlockState::Bad && self.valid(block) > 0 {
            return Err(Damage(format!("{block:?} is bad and holds valid pages")));
        }
        Ok(())
    }

    /// Loads the order in which the closed blocks closed. Each must be listed once.
    pub(super) fn load_closing(&mut self, order: &[BlockId]) -> Result<(), Damage> {
        for &block in order {
            if self.state(block) != BlockState::Closed || self.closings[block.at()] != 0 {
                return Err(Damage(format!("{block:?} is not closed, or listed twice")));
            }
            self.closed += 1;
            self.closings[block.at()] = self.closed;
        }
        let closed = self
            .records
            .iter()
            .filter(|record| record[STATE] & STATE_MASK == BlockState::Closed as u32);
        match closed.count() == order.len() {
            true => Ok(()),
            false => Err(Damage::new("a closed block is missing in the order of closing")),
        }
    }

    /// Prefetches what invalidating `page` uses.
    #[inline]
    pub fn prefetch(&self, geometry: &Geometry, page: Ppn) {
        let (block, unit) = geometry.place_of(page);
        prefetch(&self.valid, self.bit(block, unit).0);
        prefetch(&self.records, block.at());
    }
}
