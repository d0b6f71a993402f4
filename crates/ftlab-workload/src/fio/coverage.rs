//! Which blocks of a file a random pass has visited: a bit for each block, and above them a bit for
//! each full word, so that the next free block is found in a few steps.

const WORD: u64 = 64;

/// The map of visited blocks.
#[derive(Clone, Debug)]
pub(super) struct Coverage {
    /// The bits of blocks, then the bits of full words, up to a single word.
    levels: Vec<Vec<u64>>,
    len: u64,
}

fn at(index: u64) -> usize {
    usize::try_from(index).expect("the map is in memory")
}

impl Coverage {
    /// Creates a map of `len` free blocks, at least one.
    pub fn new(len: u64) -> Coverage {
        let mut levels = Vec::new();
        let mut bits = len;
        loop {
            let words = bits.div_ceil(WORD);
            let mut level = vec![0u64; at(words)];
            // Bits beyond the end count as taken.
            if !bits.is_multiple_of(WORD) {
                level[at(words - 1)] = u64::MAX << (bits % WORD);
            }
            levels.push(level);
            if words == 1 {
                return Coverage { levels, len };
            }
            bits = words;
        }
    }

    /// Takes up to `want` consecutive blocks, from the first free block at or after `from`, or else
    /// from the first free block of all. Returns the first block and the number of blocks, or
    /// `None` if that block is not before `end`.
    pub fn take(&mut self, from: u64, want: u64, end: u64) -> Option<(u64, u64)> {
        let first = self.next_free(from).or_else(|| self.next_free(0))?;
        let mut taken = 0;
        while taken < want && first + taken < end && !self.is_taken(first + taken) {
            self.mark(first + taken);
            taken += 1;
        }
        Some((first, taken)).filter(|_| taken > 0)
    }

    /// Frees all blocks.
    pub fn clear(&mut self) {
        *self = Coverage::new(self.len);
    }

    fn is_taken(&self, index: u64) -> bool {
        self.levels[0][at(index / WORD)] >> (index % WORD) & 1 == 1
    }

    fn mark(&mut self, index: u64) {
        let mut index = index;
        for level in &mut self.levels {
            let word = &mut level[at(index / WORD)];
            *word |= 1 << (index % WORD);
            if *word != u64::MAX {
                return;
            }
            index /= WORD;
        }
    }

    /// Finds the first free block at or after `from`: up until a word has room, then down to its
    /// first free block.
    fn next_free(&self, from: u64) -> Option<u64> {
        let mut index = from;
        for (height, level) in self.levels.iter().enumerate() {
            let word = index / WORD;
            let room = level.get(at(word)).map_or(0, |taken| !taken & (u64::MAX << (index % WORD)));
            if room != 0 {
                let mut found = word * WORD + u64::from(room.trailing_zeros());
                for level in self.levels[..height].iter().rev() {
                    found = found * WORD + u64::from((!level[at(found)]).trailing_zeros());
                }
                return Some(found);
            }
            index = word + 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use ftlab::engine::Stream;

    use super::*;

    /// Compares with a plain list of flags, for lengths around the sizes of words and levels.
    #[test]
    fn it_takes_what_a_list_of_flags_would() {
        let mut random = Stream::new(1, "coverage");
        for len in [1, 2, 63, 64, 65, 127, 128, 4095, 4096, 4097, 5000] {
            let mut map = Coverage::new(len);
            let mut flags = vec![false; at(len)];
            while flags.contains(&false) {
                let (from, want) = (random.below(len), 1 + random.below(9));
                let end = len - random.below(len.div_ceil(8));
                let free = |range: std::ops::Range<u64>| range.into_iter().find(|&i| !flags[at(i)]);
                let first = free(from..len).or_else(|| free(0..len)).expect("one is free");
                let run = (first..end).take_while(|&i| !flags[at(i)]).count() as u64;
                let taken = (first < end).then_some((first, run.min(want)));
                assert_eq!(map.take(from, want, end), taken, "{len}");
                (first..first + run.min(want)).for_each(|i| flags[at(i)] = true);
            }
            assert_eq!(map.take(0, 1, len), None);
        }
    }
}
