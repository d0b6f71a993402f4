//! One bit for each page of each data block. Each data block has its own words.

use super::spot::{DataBlock, Spot};
use crate::engine::prefetch;

/// The bits. All are zero at first. They take up memory only where a bit was set.
#[derive(Clone, Debug)]
pub(super) struct Bits {
    words: Vec<u64>,
    words_per_block: usize,
}

impl Bits {
    pub(super) fn new(data_blocks: u32, pages_per_block: u32) -> Bits {
        let words_per_block = pages_per_block.div_ceil(u64::BITS) as usize;
        Bits { words: vec![0; data_blocks as usize * words_per_block], words_per_block }
    }

    #[inline]
    fn bit(&self, spot: Spot) -> (usize, u64) {
        let word = spot.data.at() * self.words_per_block + (spot.offset / u64::BITS) as usize;
        (word, 1 << (spot.offset % u64::BITS))
    }

    #[inline]
    pub(super) fn has(&self, spot: Spot) -> bool {
        let (word, bit) = self.bit(spot);
        self.words[word] & bit != 0
    }

    /// Writes a word only if it changes, to avoid touching memory that is still zero.
    #[inline]
    pub(super) fn put(&mut self, spot: Spot, value: bool) {
        let (word, bit) = self.bit(spot);
        if (self.words[word] & bit != 0) != value {
            self.words[word] ^= bit;
        }
    }

    #[inline]
    pub(super) fn words(&self, data: DataBlock) -> &[u64] {
        let first = data.at() * self.words_per_block;
        &self.words[first..first + self.words_per_block]
    }

    /// Returns the offsets in a data block whose bits are set, in ascending order.
    #[inline]
    pub(super) fn all(&self, data: DataBlock) -> impl Iterator<Item = u32> + '_ {
        (0..).step_by(u64::BITS as usize).zip(self.words(data)).flat_map(|(first, &word)| {
            let left = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
            left.take_while(|&word| word != 0).map(move |word| first + word.trailing_zeros())
        })
    }

    #[inline]
    pub(super) fn count(&self, data: DataBlock) -> u32 {
        self.words(data).iter().map(|word| word.count_ones()).sum()
    }

    #[inline]
    pub(super) fn clear(&mut self, data: DataBlock) {
        let first = data.at() * self.words_per_block;
        self.words[first..first + self.words_per_block].fill(0);
    }

    pub(super) fn fill(&mut self, value: bool) {
        self.words.fill(if value { u64::MAX } else { 0 });
    }

    #[inline]
    pub(super) fn prefetch(&self, data: DataBlock) {
        prefetch(&self.words, data.at() * self.words_per_block);
    }
}
