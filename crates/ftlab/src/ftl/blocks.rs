//! The blocks: how many valid pages each holds and which, how far it is programmed, how often it was
//! erased. Policies read this; only the FTL's core changes it.

use crate::engine::prefetch;
use crate::nand::Geometry;
use crate::units::{BlockId, Ppn};

/// Where a block stands in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum BlockState {
    /// Erased and not in use.
    #[default]
    Free,
    /// Being filled.
    Open,
    /// Full and programmed to the last page: a candidate for collection.
    Closed,
    /// Being collected, or about to be.
    Collecting,
    /// Never used again.
    Bad,
}

impl BlockState {
    /// All states, in the order of their numbers.
    const ALL: [BlockState; 5] = [
        BlockState::Free,
        BlockState::Open,
        BlockState::Closed,
        BlockState::Collecting,
        BlockState::Bad,
    ];
}

/// One block's record. All zero for an erased block that was never used, so that a table of them
/// comes zeroed from the operating system and takes memory only where it was touched.
type Record = [u32; 4];
/// Valid pages (mapping units).
const VALID: usize = 0;
/// Mapping units programmed, padding included.
const PROGRAMMED: usize = 1;
/// Times erased.
const ERASES: usize = 2;
/// The state.
const STATE: usize = 3;

/// All blocks.
#[derive(Clone, Debug)]
pub struct Blocks {
    records: Vec<Record>,
    /// A bit for each page: whether it is the current copy of its logical page.
    valid: Vec<u64>,
    words_per_block: usize,
}

impl Blocks {
    /// Erased blocks.
    #[must_use]
    pub fn new(geometry: &Geometry) -> Blocks {
        let words_per_block = geometry.units_per_block().div_ceil(u64::BITS) as usize;
        Blocks {
            records: vec![Record::default(); geometry.blocks() as usize],
            valid: vec![0; geometry.blocks() as usize * words_per_block],
            words_per_block,
        }
    }

    /// Valid pages (mapping units) of a block.
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

    /// Where a block stands in its life.
    #[inline]
    #[must_use]
    pub fn state(&self, block: BlockId) -> BlockState {
        BlockState::ALL[self.records[block.at()][STATE] as usize]
    }

    #[inline]
    pub(super) fn set_state(&mut self, block: BlockId, state: BlockState) {
        self.records[block.at()][STATE] = state as u32;
    }

    /// Counts `units` more as programmed; returns how many are now.
    #[inline]
    pub(super) fn add_programmed(&mut self, block: BlockId, units: u32) -> u32 {
        let programmed = &mut self.records[block.at()][PROGRAMMED];
        *programmed += units;
        *programmed
    }

    /// The block was erased: free, with nothing on it.
    pub(super) fn reset(&mut self, block: BlockId) {
        let record = &mut self.records[block.at()];
        assert_eq!(record[VALID], 0, "{block:?} was erased with valid pages on it");
        *record = [0, 0, record[ERASES] + 1, BlockState::Free as u32];
    }

    /// The block is empty and goes out of use.
    pub(super) fn retire(&mut self, block: BlockId) {
        assert_eq!(self.valid(block), 0, "{block:?} was given up with valid pages on it");
        self.set_state(block, BlockState::Bad);
    }

    /// How often each block was erased, in the order of their numbers.
    pub fn all_erases(&self) -> impl Iterator<Item = u32> {
        self.records.iter().map(|record| record[ERASES])
    }

    #[inline]
    fn bit(&self, block: BlockId, unit: u32) -> (usize, u64) {
        let word = block.at() * self.words_per_block + (unit / u64::BITS) as usize;
        (word, 1 << (unit % u64::BITS))
    }

    /// Whether the page at place `unit` of `block` is valid.
    #[inline]
    #[must_use]
    pub fn is_valid(&self, block: BlockId, unit: u32) -> bool {
        let (word, bit) = self.bit(block, unit);
        self.valid[word] & bit != 0
    }

    /// The first valid page of `block` at or after place `from`.
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

    #[inline]
    pub(super) fn set_valid(&mut self, block: BlockId, unit: u32) {
        let (word, bit) = self.bit(block, unit);
        debug_assert_eq!(self.valid[word] & bit, 0, "{block:?} page {unit} is valid already");
        self.valid[word] |= bit;
        self.records[block.at()][VALID] += 1;
    }

    #[inline]
    pub(super) fn clear_valid(&mut self, block: BlockId, unit: u32) {
        let (word, bit) = self.bit(block, unit);
        assert!(self.valid[word] & bit != 0, "{block:?} page {unit} was invalid already");
        self.valid[word] &= !bit;
        self.records[block.at()][VALID] -= 1;
    }

    /// Brings what an invalidation of `page` will touch closer to the processor.
    #[inline]
    pub fn prefetch(&self, geometry: &Geometry, page: Ppn) {
        let (block, unit) = geometry.place_of(page);
        prefetch(&self.valid, self.bit(block, unit).0);
        prefetch(&self.records, block.at());
    }
}
