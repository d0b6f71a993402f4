//! A set of small numbers that finds the next member in a few steps: words of bits, and above them words
//! that say which words below are not empty. Four levels hold 16 million numbers.

const BITS: u32 = u64::BITS;

#[derive(Clone, Debug)]
pub(super) struct BitTree {
    /// Members first; the last level is one word.
    levels: Vec<Vec<u64>>,
}

impl BitTree {
    /// Returns an empty set for numbers below `size`.
    pub(super) fn new(size: u32) -> BitTree {
        let mut levels = Vec::new();
        let mut words = size.div_ceil(BITS).max(1);
        loop {
            levels.push(vec![0; words as usize]);
            if words == 1 {
                return BitTree { levels };
            }
            words = words.div_ceil(BITS);
        }
    }

    pub(super) fn insert(&mut self, number: u32) {
        let mut at = number;
        for level in &mut self.levels {
            let word = &mut level[(at / BITS) as usize];
            let empty = *word == 0;
            *word |= 1 << (at % BITS);
            if !empty {
                return;
            }
            at /= BITS;
        }
    }

    pub(super) fn remove(&mut self, number: u32) {
        let mut at = number;
        for level in &mut self.levels {
            let word = &mut level[(at / BITS) as usize];
            *word &= !(1 << (at % BITS));
            if *word != 0 {
                return;
            }
            at /= BITS;
        }
    }

    /// The smallest member.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        self.from(0)
    }

    /// The smallest member that is at least `number`.
    pub(super) fn from(&self, number: u32) -> Option<u32> {
        let mut at = number;
        for (height, level) in self.levels.iter().enumerate() {
            let word = *level.get((at / BITS) as usize)? & (u64::MAX << (at % BITS));
            if word != 0 {
                let found = at / BITS * BITS + word.trailing_zeros();
                return Some(self.descend(height, found, u64::trailing_zeros));
            }
            at = at / BITS + 1;
        }
        None
    }

    /// The largest member below `number`.
    pub(super) fn below(&self, number: u32) -> Option<u32> {
        // On the lowest level the last bit counts itself; on higher levels its word has already been
        // searched.
        let mut at = number.checked_sub(1)?;
        let mut bits = u64::MAX >> (BITS - 1 - at % BITS);
        for (height, level) in self.levels.iter().enumerate() {
            let word = level[(at / BITS) as usize] & bits;
            if word != 0 {
                let found = at / BITS * BITS + word.ilog2();
                return Some(self.descend(height, found, |word| word.ilog2()));
            }
            at /= BITS;
            bits = (1 << (at % BITS)) - 1;
        }
        None
    }

    /// Goes down from a bit at some height to a member; `pick` chooses the bit in each word.
    fn descend(&self, height: usize, bit: u32, pick: impl Fn(u64) -> u32) -> u32 {
        let below = self.levels[..height].iter().rev();
        below.fold(bit, |at, level| at * BITS + pick(level[at as usize]))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_set_of_numbers(
            size in prop_oneof![1u32..200, 1u32..300_000],
            steps in prop::collection::vec((any::<bool>(), any::<u32>()), 1..200),
        ) {
            let mut tree = BitTree::new(size);
            let mut naive = BTreeSet::new();
            for (adds, number) in steps {
                let number = number % size;
                match adds {
                    true => { tree.insert(number); naive.insert(number); }
                    false => { tree.remove(number); naive.remove(&number); }
                }
                for near in [0, number.saturating_sub(1), number, number + 1, size / 2] {
                    prop_assert_eq!(tree.from(near), naive.range(near..).next().copied());
                    prop_assert_eq!(tree.below(near), naive.range(..near).next_back().copied());
                }
                prop_assert_eq!(tree.first(), naive.first().copied());
            }
        }
    }
}
