//! The free blocks of a plane, and the order in which they are used: dynamic wear levelling.
//!
//! Blocks that were never used come first, in ascending order. They are not listed, so a new device
//! needs no memory for them. Erased blocks are in a queue, or in a set ordered by wear (logarithmic
//! time, once for each use of a block). Among equally worn blocks, the one that was erased longest
//! ago comes first.
//!
//! Source: Gal and Toledo, "Algorithms and Data Structures for Flash Memories", ACM Computing
//! Surveys 2005, section 2.2 (dynamic wear levelling: the least worn free block); Chang, "On
//! Efficient Wear Leveling for Large-Scale Flash-Memory Storage Systems", SAC 2007 (cold data rests
//! in worn blocks).

use std::collections::{BTreeSet, VecDeque};

use crate::options::declare::choices;
use crate::units::BlockId;

choices! {
    /// Which free block of a plane is used next.
    pub enum FreeBlockOrder {
        /// The one that was erased longest ago.
        Oldest = "oldest",
        /// The one with the fewest erases.
        LeastWorn = "least-worn",
        /// For host writes, the one with the fewest erases. For the copies of garbage collection,
        /// which tend to live on, the one with the most erases.
        ByHeat = "by-heat",
    }
}

/// Which free block is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The one that was erased longest ago.
    Oldest,
    /// The one with the fewest erases.
    LeastWorn,
    /// The one with the most erases.
    MostWorn,
}

impl FreeBlockOrder {
    /// Returns which block is taken for host data, or else for data that has lived longer.
    #[must_use]
    pub const fn pick(self, for_host: bool) -> Pick {
        match (self, for_host) {
            (FreeBlockOrder::Oldest, _) => Pick::Oldest,
            (FreeBlockOrder::LeastWorn, _) | (FreeBlockOrder::ByHeat, true) => Pick::LeastWorn,
            (FreeBlockOrder::ByHeat, false) => Pick::MostWorn,
        }
    }
}

/// An erased block: its number of erases, the turn of its last erase, and its number.
type Erased = (u32, u64, BlockId);

/// Erased blocks in the order in which they are taken.
#[derive(Clone, Debug)]
enum ErasedBlocks {
    /// In the order of their last erases.
    Queue(VecDeque<Erased>),
    /// The least worn first; among equals, in the order of their last erases.
    ByWear(BTreeSet<Erased>),
}

/// The free blocks of a plane.
#[derive(Clone, Debug)]
pub struct FreeBlocks {
    /// The blocks from this one up to `blocks` were never used.
    unused_from: u32,
    blocks: u32,
    /// Number of good blocks among them.
    unused: u32,
    erased: ErasedBlocks,
    /// Number of erases so far.
    turn: u64,
}

impl FreeBlocks {
    /// Creates a plane of `blocks` blocks that were never used.
    #[must_use]
    pub fn new(blocks: u32, order: FreeBlockOrder) -> FreeBlocks {
        let erased = match order {
            FreeBlockOrder::Oldest => ErasedBlocks::Queue(VecDeque::new()),
            FreeBlockOrder::LeastWorn | FreeBlockOrder::ByHeat => {
                ErasedBlocks::ByWear(BTreeSet::new())
            }
        };
        FreeBlocks { unused_from: 0, blocks, unused: blocks, erased, turn: 0 }
    }

    /// Returns the number of free blocks.
    #[inline]
    #[must_use]
    pub fn count(&self) -> u32 {
        let erased = match &self.erased {
            ErasedBlocks::Queue(queue) => queue.len(),
            ErasedBlocks::ByWear(set) => set.len(),
        };
        self.unused + erased as u32
    }

    /// Removes a bad block from those that were never used.
    pub fn lose_unused(&mut self) {
        self.unused -= 1;
    }

    /// Returns the number of blocks that were ever used, plus the bad blocks before the last of
    /// them.
    #[must_use]
    pub fn used(&self) -> u32 {
        self.unused_from
    }

    /// Returns the erased blocks, the one that was erased longest ago first.
    #[must_use]
    pub fn erased_by_age(&self) -> Vec<BlockId> {
        let mut erased: Vec<Erased> = match &self.erased {
            ErasedBlocks::Queue(queue) => queue.iter().copied().collect(),
            ErasedBlocks::ByWear(set) => set.iter().copied().collect(),
        };
        erased.sort_unstable_by_key(|&(_, turn, _)| turn);
        erased.into_iter().map(|(_, _, block)| block).collect()
    }

    /// Makes the first `used` blocks used and not free.
    pub fn restart(&mut self, used: u32) {
        self.unused_from = used;
        self.unused = self.blocks - used;
    }

    /// Removes all free blocks for good.
    pub fn lose_all(&mut self) {
        self.restart(self.blocks);
        match &mut self.erased {
            ErasedBlocks::Queue(queue) => queue.clear(),
            ErasedBlocks::ByWear(set) => set.clear(),
        }
    }

    /// Sets how many blocks that were never used are good.
    pub fn count_unused(&mut self, good: u32) {
        self.unused = good;
    }

    /// Adds a block that was erased for the `erases`th time.
    pub fn give_back(&mut self, block: BlockId, erases: u32) {
        let erased = (erases, self.turn, block);
        self.turn += 1;
        match &mut self.erased {
            ErasedBlocks::Queue(queue) => queue.push_back(erased),
            ErasedBlocks::ByWear(set) => {
                set.insert(erased);
            }
        }
    }

    /// Takes a block. `good_at` returns the block with an index in the plane, unless it is bad.
    pub fn take(
        &mut self,
        pick: Pick,
        good_at: impl Fn(u32) -> Option<BlockId>,
    ) -> Option<BlockId> {
        // Blocks that were never used are the least worn, and count as erased longest ago.
        if pick == Pick::MostWorn
            && let Some(block) = self.take_most_worn()
        {
            return Some(block);
        }
        while self.unused_from < self.blocks {
            self.unused_from += 1;
            if let Some(block) = good_at(self.unused_from - 1) {
                self.unused -= 1;
                return Some(block);
            }
        }
        let first = match &mut self.erased {
            ErasedBlocks::Queue(queue) => queue.pop_front(),
            ErasedBlocks::ByWear(set) => set.pop_first(),
        };
        first.map(|(_, _, block)| block)
    }

    /// Returns the erased block that is taken next in the order of erases, if all blocks have been
    /// used.
    #[must_use]
    pub fn next_erased(&self) -> Option<BlockId> {
        match &self.erased {
            ErasedBlocks::Queue(queue) if self.unused == 0 => queue.front().map(|next| next.2),
            _ => None,
        }
    }

    /// Takes the most worn erased block, and among equals the one that was erased longest ago.
    fn take_most_worn(&mut self) -> Option<BlockId> {
        match &mut self.erased {
            ErasedBlocks::Queue(queue) => {
                let most = queue.iter().map(|&(erases, ..)| erases).max()?;
                let at = queue.iter().position(|&(erases, ..)| erases == most)?;
                queue.remove(at).map(|(_, _, block)| block)
            }
            ErasedBlocks::ByWear(set) => {
                let &(most, ..) = set.last()?;
                let &first = set.range((most, 0, BlockId::new(0))..).next()?;
                set.remove(&first).then_some(first.2)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A free block in the naive list: the turn of its last erase (if any), its number of erases,
    /// and its number.
    type Known = (Option<u64>, u32, u32);

    /// Searches the whole list.
    fn search(list: &[Known], pick: Pick) -> Option<usize> {
        // Blocks that were never used come before erased ones: `None` is less than any turn.
        let age = |&(turn, _, number): &Known| (turn, if turn.is_none() { number } else { 0 });
        let candidates = list.iter().enumerate();
        let used = |&(_, known): &(usize, &Known)| known.0.is_some();
        match pick {
            Pick::Oldest => candidates.min_by_key(|(_, known)| age(known)),
            Pick::LeastWorn => candidates.min_by_key(|(_, known)| (known.1, age(known))),
            Pick::MostWorn if list.iter().any(|known| known.0.is_some()) => candidates
                .filter(used)
                .min_by_key(|(_, known)| (std::cmp::Reverse(known.1), age(known))),
            Pick::MostWorn => candidates.min_by_key(|(_, known)| age(known)),
        }
        .map(|(at, _)| at)
    }

    proptest::proptest! {
        /// Compares the free blocks with a list that is searched as a whole.
        #[test]
        fn it_takes_what_a_search_finds(
            order in proptest::sample::select(vec![
                FreeBlockOrder::Oldest, FreeBlockOrder::LeastWorn, FreeBlockOrder::ByHeat,
            ]),
            bad in proptest::collection::vec(0u32..24, 0..6),
            steps in proptest::collection::vec((0u32..4, 0u32..9), 1..300),
        ) {
            const BLOCKS: u32 = 24;
            let is_bad = |number: u32| bad.contains(&number);
            let mut free = FreeBlocks::new(BLOCKS, order);
            let mut list: Vec<Known> = Vec::new();
            for number in 0..BLOCKS {
                if is_bad(number) {
                    free.lose_unused();
                } else {
                    list.push((None, 0, number));
                }
            }
            let mut used: Vec<(u32, u32)> = Vec::new();
            for (turn, (step, choice)) in steps.into_iter().enumerate() {
                if step == 0 && !used.is_empty() {
                    let (number, erases) = used.remove(choice as usize % used.len());
                    free.give_back(BlockId::new(number), erases + 1);
                    list.push((Some(turn as u64), erases + 1, number));
                } else {
                    let forced = step == 3;
                    let pick = if forced { Pick::MostWorn } else { order.pick(choice % 2 == 0) };
                    let expected = search(&list, pick).map(|at| list.remove(at));
                    let good = |number| (!is_bad(number)).then(|| BlockId::new(number));
                    let taken = free.take(pick, good);
                    proptest::prop_assert_eq!(taken, expected.map(|known| BlockId::new(known.2)));
                    used.extend(expected.map(|(_, erases, number)| (number, erases)));
                }
                proptest::prop_assert_eq!(free.count() as usize, list.len());
            }
        }
    }
}
