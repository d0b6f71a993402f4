//! The free blocks of a plane, and which of them is used next: dynamic wear levelling.
//!
//! Blocks that were never used come first, in the order of their numbers; they are not listed, so that
//! a new device takes no memory for them. Erased blocks stand in a queue, or in an ordered set by
//! wear (logarithmic time, once a block). Among equally worn ones, the one erased longest ago goes
//! first.
//!
//! Source: Gal and Toledo, "Algorithms and Data Structures for Flash Memories", ACM Computing Surveys
//! 2005, section 2.2 (dynamic wear levelling: the least worn free block); Chang, "On Efficient Wear
//! Leveling for Large-Scale Flash-Memory Storage Systems", SAC 2007 (cold data rests in worn blocks).

use std::collections::{BTreeSet, VecDeque};

use crate::options::declare::choices;
use crate::units::BlockId;

choices! {
    /// Which free block of a plane is used next.
    pub enum FreeBlockOrder {
        /// The one that was erased longest ago.
        Oldest = "oldest",
        /// The one that was erased least often.
        LeastWorn = "least-worn",
        /// For what the host writes the one erased least often; for what collection moves, which
        /// tends to live on, the one erased most often.
        ByHeat = "by-heat",
    }
}

/// Which of the free blocks is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The one that was erased longest ago.
    Oldest,
    /// The one that was erased least often.
    LeastWorn,
    /// The one that was erased most often.
    MostWorn,
}

impl FreeBlockOrder {
    /// The block for data of the host, or for data that has lived longer.
    #[must_use]
    pub const fn pick(self, for_host: bool) -> Pick {
        match (self, for_host) {
            (FreeBlockOrder::Oldest, _) => Pick::Oldest,
            (FreeBlockOrder::LeastWorn, _) | (FreeBlockOrder::ByHeat, true) => Pick::LeastWorn,
            (FreeBlockOrder::ByHeat, false) => Pick::MostWorn,
        }
    }
}

/// An erased block: how often it was erased, when, and which it is.
type Erased = (u32, u64, BlockId);

/// Erased blocks in the order in which they are taken.
#[derive(Clone, Debug)]
enum ErasedBlocks {
    /// Longest erased first.
    Queue(VecDeque<Erased>),
    /// Least worn first, among equals longest erased first.
    ByWear(BTreeSet<Erased>),
}

/// The free blocks of a plane.
#[derive(Clone, Debug)]
pub struct FreeBlocks {
    /// Blocks from this one on were never used, up to `blocks`.
    unused_from: u32,
    blocks: u32,
    /// How many of those are good.
    unused: u32,
    erased: ErasedBlocks,
    /// Counts the erases.
    turn: u64,
}

impl FreeBlocks {
    /// So many blocks that were never used.
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

    /// How many there are.
    #[inline]
    #[must_use]
    pub fn count(&self) -> u32 {
        let erased = match &self.erased {
            ErasedBlocks::Queue(queue) => queue.len(),
            ErasedBlocks::ByWear(set) => set.len(),
        };
        self.unused + erased as u32
    }

    /// One of the blocks that were never used is bad and never will be.
    pub fn lose_unused(&mut self) {
        self.unused -= 1;
    }

    /// Blocks that were used at some time, or are bad and stood before one that was.
    #[must_use]
    pub fn used(&self) -> u32 {
        self.unused_from
    }

    /// The erased blocks, the one erased longest ago first.
    #[must_use]
    pub fn erased_by_age(&self) -> Vec<BlockId> {
        let mut erased: Vec<Erased> = match &self.erased {
            ErasedBlocks::Queue(queue) => queue.iter().copied().collect(),
            ErasedBlocks::ByWear(set) => set.iter().copied().collect(),
        };
        erased.sort_unstable_by_key(|&(_, turn, _)| turn);
        erased.into_iter().map(|(_, _, block)| block).collect()
    }

    /// The first `used` blocks were used, and none of them is free yet.
    pub fn restart(&mut self, used: u32) {
        self.unused_from = used;
        self.unused = self.blocks - used;
    }

    /// None is free any more, and none will be.
    pub fn lose_all(&mut self) {
        self.restart(self.blocks);
        match &mut self.erased {
            ErasedBlocks::Queue(queue) => queue.clear(),
            ErasedBlocks::ByWear(set) => set.clear(),
        }
    }

    /// So many of the blocks that were never used are good.
    pub fn count_unused(&mut self, good: u32) {
        self.unused = good;
    }

    /// A block was erased, for the `erases`th time.
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

    /// Takes a block. `good_at` names the block of a number in the plane, unless it is bad.
    pub fn take(
        &mut self,
        pick: Pick,
        good_at: impl Fn(u32) -> Option<BlockId>,
    ) -> Option<BlockId> {
        // Never used is least worn and erased longest ago.
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

    /// The erased block that is taken next in the order of erases, if none is left that was never used.
    #[must_use]
    pub fn next_erased(&self) -> Option<BlockId> {
        match &self.erased {
            ErasedBlocks::Queue(queue) if self.unused == 0 => queue.front().map(|next| next.2),
            _ => None,
        }
    }

    /// The most worn of the erased blocks, among equals the one erased longest ago.
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

    /// A free block as a list knows it: when it was erased (never: its number), how often, which.
    type Known = (Option<u64>, u32, u32);

    /// The list searched from end to end.
    fn search(list: &[Known], pick: Pick) -> Option<usize> {
        // Never used comes before erased: `None` is less than any turn.
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
        /// Against a list that is searched from end to end.
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
