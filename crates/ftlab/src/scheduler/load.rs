//! The load of each die: its commands that wait or run. The least loaded die is found without a
//! search, because there is a bit set of dies for each number of commands. Dies with 63 commands or
//! more share one set, as a few more make no difference behind so many.
//!
//! In the sets, dies are in the order in which ties are broken: one channel further each time.

use crate::engine::skills::{PLAIN, RARE_ON_FLASH, Skills, any};
use crate::shape::{FlashGeometry, Geometry, Numbering};
use crate::units::DieId;

/// A set of dies.
#[derive(Clone, Debug)]
pub struct DieSet {
    /// A bit for each die, in the order of turns.
    words: Vec<u64>,
}

impl DieSet {
    /// Returns the set of all dies of a device.
    #[must_use]
    pub fn all(geometry: &Geometry<impl Numbering>) -> DieSet {
        let mut set = DieSet { words: vec![0; words_for(geometry)] };
        (0..geometry.dies()).for_each(|turn| set.put(turn, true));
        set
    }

    /// Whether it has no die.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Adds the die of a turn to the set, or removes it.
    #[inline]
    pub fn put(&mut self, turn: u32, into: bool) {
        let word = &mut self.words[(turn / u64::BITS) as usize];
        *word = *word & !(1 << (turn % u64::BITS)) | u64::from(into) << (turn % u64::BITS);
    }
}

fn words_for(geometry: &Geometry<impl Numbering>) -> usize {
    geometry.dies().div_ceil(u64::BITS) as usize
}

/// Number of sets: one for each load, the last one for all higher loads.
const LEVELS: usize = u64::BITS as usize;

/// The load of all dies.
#[derive(Clone, Debug)]
pub struct Load {
    commands: Vec<Commands>,
    /// The sets: all words of load 0, then of load 1, and so on.
    sets: Vec<u64>,
    words_per_set: usize,
    /// A bit for each set that is not empty.
    levels: u64,
    /// The load of the dies of the volume, if pages are numbered by superblocks.
    groups: Option<Box<Groups>>,
}

/// The load of groups of dies.
#[derive(Clone, Debug)]
struct Groups {
    /// By die: its group.
    of: Vec<DieId>,
    load: Load,
}

/// The commands of a die, and its turn.
#[derive(Clone, Copy, Debug)]
struct Commands {
    count: u32,
    turn: u32,
}

impl Load {
    /// Returns the load of idle dies.
    #[must_use]
    pub fn new(geometry: &Geometry<impl Numbering>) -> Load {
        let turn_of = |die| Commands { count: 0, turn: geometry.turn_of(DieId::new(die)) };
        let idle = DieSet::all(geometry).words;
        let mut sets = vec![0; LEVELS * idle.len()];
        sets[..idle.len()].copy_from_slice(&idle);
        Load {
            commands: (0..geometry.dies()).map(turn_of).collect(),
            sets,
            words_per_set: idle.len(),
            levels: 1,
            groups: None,
        }
    }

    /// Returns the load of the idle dies of a flash.
    #[must_use]
    pub(crate) fn of_flash(geometry: &FlashGeometry) -> Load {
        let groups = geometry.superblocks().map(|_| Box::new(Groups::new(geometry)));
        Load { groups, ..Load::new(geometry) }
    }

    /// The load of the dies of the volume: the dies themselves, or groups of them.
    #[inline]
    #[must_use]
    pub fn of_volume(&self) -> &Load {
        self.groups.as_ref().map_or(self, |groups| &groups.load)
    }

    /// Number of commands of a die that wait or run.
    #[inline]
    #[must_use]
    pub fn of(&self, die: DieId) -> u32 {
        self.commands[die.at()].count
    }

    /// Whether any die has nothing to do.
    #[must_use]
    pub fn any_idle(&self) -> bool {
        self.levels & 1 == 1
    }

    /// Adds a command of a flash with these skills at most.
    #[inline(always)]
    pub(crate) fn add<const S: Skills>(&mut self, die: DieId) {
        let Commands { count, turn } = &mut self.commands[die.at()];
        *count += 1;
        let (count, turn) = (*count as usize, *turn);
        if count < LEVELS {
            self.shift(turn, count - 1, count);
        }
        if any(S, RARE_ON_FLASH)
            && let Some(groups) = &mut self.groups
        {
            groups.add(die);
        }
    }

    /// Removes a command of a flash with these skills at most.
    #[inline(always)]
    pub(crate) fn remove<const S: Skills>(&mut self, die: DieId) {
        let Commands { count, turn } = &mut self.commands[die.at()];
        *count -= 1;
        let (count, turn) = (*count as usize, *turn);
        if count + 1 < LEVELS {
            self.shift(turn, count + 1, count);
        }
        if any(S, RARE_ON_FLASH)
            && let Some(groups) = &mut self.groups
        {
            groups.remove(die);
        }
    }

    #[inline(always)]
    fn shift(&mut self, turn: u32, from: usize, to: usize) {
        // Usually a set is one word.
        let Ok(sets) = <&mut [u64; LEVELS]>::try_from(self.sets.as_mut_slice()) else {
            return self.shift_far(turn, from, to);
        };
        let bit = 1u64 << (turn % u64::BITS);
        let left = sets[from % LEVELS] & !bit;
        sets[from % LEVELS] = left;
        sets[to % LEVELS] |= bit;
        self.levels = self.levels & !(u64::from(left == 0) << from) | 1 << to;
    }

    #[inline(never)]
    fn shift_far(&mut self, turn: u32, from: usize, to: usize) {
        let (word, bit) = ((turn / u64::BITS) as usize, 1 << (turn % u64::BITS));
        let left = &mut self.sets[from * self.words_per_set + word];
        *left &= !bit;
        if *left == 0 && self.is_empty(from) {
            self.levels &= !(1 << from);
        }
        self.sets[to * self.words_per_set + word] |= bit;
        self.levels |= 1 << to;
    }

    #[inline]
    fn is_empty(&self, level: usize) -> bool {
        // Usually a set is one word, which the caller has already looked at.
        let words = self.words_per_set;
        words == 1 || self.sets[level * words..][..words].iter().all(|&word| word == 0)
    }

    /// The turn of the least loaded die among those given. Ties go to the first turn at or after
    /// `start`, cyclically.
    #[inline]
    #[must_use]
    pub fn least_loaded(&self, among: &DieSet, start: u32) -> Option<u32> {
        let members = &among.words[..];
        let mut levels = self.levels;
        if let (Ok(sets), &[members]) = (<&[u64; LEVELS]>::try_from(&self.sets[..]), members) {
            while levels != 0 {
                let set = sets[levels.trailing_zeros() as usize % LEVELS] & members;
                if set != 0 {
                    let ahead = set.rotate_right(start).trailing_zeros();
                    return Some((start + ahead) % u64::BITS);
                }
                levels &= levels - 1;
            }
            return None;
        }
        while levels != 0 {
            let first = levels.trailing_zeros() as usize * self.words_per_set;
            let set = &self.sets[first..][..self.words_per_set];
            if set.iter().zip(members).any(|(word, members)| word & members != 0) {
                return first_from(set, members, start);
            }
            levels &= levels - 1;
        }
        None
    }
}

impl Groups {
    fn new(geometry: &FlashGeometry) -> Groups {
        let dies = (0..geometry.dies()).map(DieId::new);
        Groups {
            of: dies.map(|die| geometry.die_of_volume(die)).collect(),
            load: Load::new(&geometry.volume()),
        }
    }

    #[inline(never)]
    fn add(&mut self, die: DieId) {
        self.load.add::<PLAIN>(self.of[die.at()]);
    }

    #[inline(never)]
    fn remove(&mut self, die: DieId) {
        self.load.remove::<PLAIN>(self.of[die.at()]);
    }
}

/// The first bit that is in both sets, from `start` on, cyclically.
#[inline]
fn first_from(set: &[u64], members: &[u64], start: u32) -> Option<u32> {
    let at = |word: usize, mask: u64| {
        let found = set[word] & members[word] & mask;
        (found != 0).then(|| word as u32 * u64::BITS + found.trailing_zeros())
    };
    // The word with `start` is visited twice: its later bits first, its earlier bits last.
    let (first, bit) = ((start / u64::BITS) as usize, start % u64::BITS);
    let later = u64::MAX << bit;
    at(first, later)
        .or_else(|| (first + 1..set.len()).find_map(|word| at(word, u64::MAX)))
        .or_else(|| (0..first).find_map(|word| at(word, u64::MAX)))
        .or_else(|| at(first, !later))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
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
        /// Compares with a search of all dies in turn.
        #[test]
        fn it_finds_what_a_search_finds(
            channels in 1u32..12,
            chips in 1u32..14,
            steps in proptest::collection::vec((0u32..1000, 0u32..5), 1..400),
        ) {
            let geometry = geometry(channels, chips);
            let dies = geometry.dies();
            let mut load = Load::new(&geometry);
            let mut among = DieSet::all(&geometry);
            let mut member = vec![true; dies as usize];
            for (number, step) in steps {
                let die = DieId::new(number % dies);
                match step {
                    0 if load.of(die) > 0 => load.remove::<PLAIN>(die),
                    0 | 1 => load.add::<PLAIN>(die),
                    2 | 3 => {
                        among.put(geometry.turn_of(die), step == 2);
                        member[die.at()] = step == 2;
                    }
                    _ => {
                        let start = number % dies;
                        let expected = (0..dies)
                            .map(|ahead| (start + ahead) % dies)
                            .filter(|&turn| member[geometry.die_at_turn(turn).at()])
                            .min_by_key(|&turn| load.of(geometry.die_at_turn(turn)).min(63));
                        proptest::prop_assert_eq!(load.least_loaded(&among, start), expected);
                        let idle = (0..dies).any(|die| load.of(DieId::new(die)) == 0);
                        proptest::prop_assert_eq!(load.any_idle(), idle);
                    }
                }
            }
        }
    }
}
