//! Lists of blocks, threaded through one table. A block is in at most one list. Joining, leaving
//! and finding the head take constant time.

use crate::units::BlockId;

/// The two neighbours of a block in its list, or the two ends of a list, as raw block numbers. Zero
/// means none, so the tables take memory only where they were touched.
type Pair = [u32; 2];
/// The neighbour towards the head; for a list, its head.
const HEADWARD: usize = 0;
/// The neighbour towards the tail; for a list, its tail.
const TAILWARD: usize = 1;

/// A fixed number of lists.
#[derive(Clone, Debug)]
pub struct Lists {
    links: Vec<Pair>,
    ends: Vec<Pair>,
}

impl Lists {
    /// Empty lists for this many blocks.
    pub fn new(lists: usize, blocks: u32) -> Lists {
        Lists { links: vec![Pair::default(); blocks as usize], ends: vec![Pair::default(); lists] }
    }

    /// The block that joined a list first.
    #[inline]
    pub fn head(&self, list: usize) -> Option<BlockId> {
        BlockId::from_raw(self.ends[list][HEADWARD])
    }

    /// The block that joined a list last.
    #[inline]
    pub fn tail(&self, list: usize) -> Option<BlockId> {
        BlockId::from_raw(self.ends[list][TAILWARD])
    }

    /// The blocks of a list, in the order in which they joined.
    pub fn all(&self, list: usize) -> impl Iterator<Item = BlockId> {
        std::iter::successors(self.head(list), |block| {
            BlockId::from_raw(self.links[block.at()][TAILWARD])
        })
    }

    /// Appends a block to a list. Returns whether the list was empty.
    #[inline]
    pub fn append(&mut self, list: usize, block: BlockId) -> bool {
        let raw = block.to_raw();
        let last = std::mem::replace(&mut self.ends[list][TAILWARD], raw);
        self.links[block.at()] = [last, 0];
        match BlockId::from_raw(last) {
            Some(last) => {
                self.links[last.at()][TAILWARD] = raw;
                false
            }
            None => {
                self.ends[list][HEADWARD] = raw;
                true
            }
        }
    }

    /// Removes a block from its list. Returns whether the list is empty now.
    #[inline]
    pub fn unlink(&mut self, list: usize, block: BlockId) -> bool {
        let [previous, next] = self.links[block.at()];
        match BlockId::from_raw(next) {
            Some(next) => self.links[next.at()][HEADWARD] = previous,
            None => self.ends[list][TAILWARD] = previous,
        }
        match BlockId::from_raw(previous) {
            Some(previous) => self.links[previous.at()][TAILWARD] = next,
            None => self.ends[list][HEADWARD] = next,
        }
        self.ends[list][HEADWARD] == 0
    }
}
