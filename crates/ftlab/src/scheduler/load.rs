//! How many commands each die has, waiting or running, kept so that the die with the least is found
//! without a search: a set of dies, as bits, for each number of commands.
//!
//! In the sets, dies stand in the order in which equals take turns: a channel further each time.

use crate::nand::Geometry;
use crate::units::DieId;

/// The load of all dies.
#[derive(Clone, Debug)]
pub struct Load {
    commands: Vec<u32>,
    /// The sets: all words of load 0, then of load 1, and so on.
    sets: Vec<u64>,
    words_per_set: usize,
    /// By die: its turn.
    turn_of: Vec<u32>,
    /// By turn: the die.
    die_at: Vec<DieId>,
}

impl Load {
    /// Idle dies.
    #[must_use]
    pub fn new(geometry: &Geometry) -> Load {
        let (channels, on_each) = (geometry.channels(), geometry.dies_per_channel());
        let die_at: Vec<DieId> = (0..geometry.dies())
            .map(|turn| DieId::new(turn % channels * on_each + turn / channels))
            .collect();
        let mut turn_of = vec![0; die_at.len()];
        (0..).zip(&die_at).for_each(|(turn, die)| turn_of[die.at()] = turn);
        let words_per_set = die_at.len().div_ceil(u64::BITS as usize);
        let mut load = Load {
            commands: vec![0; die_at.len()],
            sets: vec![0; words_per_set],
            words_per_set,
            turn_of,
            die_at,
        };
        (0..load.die_at.len()).for_each(|turn| load.sets[turn / 64] |= 1 << (turn % 64));
        load
    }

    /// Commands of a die, waiting or running.
    #[inline]
    #[must_use]
    pub fn of(&self, die: DieId) -> u32 {
        self.commands[die.at()]
    }

    /// A command more.
    #[inline]
    pub(super) fn add(&mut self, die: DieId) {
        let load = self.commands[die.at()];
        self.shift(die, load, load + 1);
    }

    /// A command less.
    #[inline]
    pub(super) fn remove(&mut self, die: DieId) {
        let load = self.commands[die.at()];
        self.shift(die, load, load - 1);
    }

    #[inline]
    fn shift(&mut self, die: DieId, from: u32, to: u32) {
        self.commands[die.at()] = to;
        let turn = self.turn_of[die.at()] as usize;
        let (word, bit) = (turn / u64::BITS as usize, 1 << (turn % u64::BITS as usize));
        self.sets[from as usize * self.words_per_set + word] &= !bit;
        let at = to as usize * self.words_per_set + word;
        if at >= self.sets.len() {
            self.sets.resize((to as usize + 1) * self.words_per_set, 0);
        }
        self.sets[at] |= bit;
    }

    /// What `pick` makes of the die with the least load for which it makes anything; among equals,
    /// of the one whose turn comes first after that of `last`.
    #[inline]
    pub fn least_after<T>(
        &self,
        last: Option<DieId>,
        mut pick: impl FnMut(DieId) -> Option<T>,
    ) -> Option<T> {
        let start = last.map_or(0, |die| self.turn_of[die.at()] as usize + 1);
        let (first_word, first_bit) = (start / u64::BITS as usize, start % u64::BITS as usize);
        let later = u64::MAX << first_bit;
        for set in self.sets.chunks_exact(self.words_per_set) {
            // The word with the start is visited twice: its later bits first, its earlier bits last.
            for step in 0..=self.words_per_set {
                let word = (first_word + step) % self.words_per_set;
                let mask = match step {
                    0 if first_word < self.words_per_set => later,
                    _ if step == self.words_per_set => !later,
                    _ => u64::MAX,
                };
                let mut left = set[word] & mask;
                while left != 0 {
                    let turn = word * u64::BITS as usize + left.trailing_zeros() as usize;
                    left &= left - 1;
                    if let Some(found) = pick(self.die_at[turn]) {
                        return Some(found);
                    }
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nand::Shape;
    use crate::units::Bytes;

    fn geometry(channels: u32, chips: u32) -> Geometry {
        Geometry::new(Shape {
            channels,
            chips_per_channel: chips,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 4,
            pages_per_block: 4,
            page_size: Bytes::from_kib(4),
            mapping_unit: Bytes::from_kib(4),
        })
    }

    proptest::proptest! {
        /// Against a search of all dies, in turn.
        #[test]
        fn it_finds_what_a_search_finds(
            channels in 1u32..12,
            chips in 1u32..14,
            steps in proptest::collection::vec((0u32..1000, 0u32..4), 1..200),
        ) {
            let geometry = geometry(channels, chips);
            let dies = geometry.dies();
            let mut load = Load::new(&geometry);
            let mut last = None;
            for (number, step) in steps {
                let die = DieId::new(number % dies);
                match step {
                    0 if load.of(die) > 0 => load.remove(die),
                    0 | 1 => load.add(die),
                    _ => {
                        let refused = (step == 3).then_some(die);
                        let pick = |die| Some(die).filter(|&die| Some(die) != refused);
                        let start = last.map_or(0, |die: DieId| load.turn_of[die.at()] + 1);
                        let expected = (0..dies)
                            .map(|ahead| load.die_at[((start + ahead) % dies) as usize])
                            .filter(|&die| Some(die) != refused)
                            .min_by_key(|&die| load.of(die));
                        let found = load.least_after(last, pick);
                        proptest::prop_assert_eq!(found, expected);
                        last = found;
                    }
                }
            }
        }
    }
}
