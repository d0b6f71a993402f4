//! A list of numbers that finds the last one below a limit without a walk: in constant time if there is
//! none, otherwise in O(log n). Any number may be removed at any time.
//!
//! It is a ring of places with a tree of minima above it.

/// The place of a number: how many were added before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingPlace(u64);

/// The value of an empty place, below no limit.
const NOTHING: i64 = i64::MAX;
/// Number of places when the ring is first used.
const FEWEST: usize = 8;

/// The numbers, each with a mark that says what it belongs to.
#[derive(Clone, Debug, Default)]
pub struct LastBelow {
    /// The minima: the root at 1, the children of `n` at `2n` and `2n + 1`, the places of the ring last.
    least: Vec<i64>,
    marks: Vec<u64>,
    /// The first place that may hold a number.
    head: u64,
    /// The place after the last one.
    tail: u64,
}

impl LastBelow {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// Appends a number.
    pub fn push(&mut self, mark: u64, number: i64) -> RingPlace {
        if self.tail - self.head == self.marks.len() as u64 {
            self.grow();
        }
        let place = RingPlace(self.tail);
        self.tail += 1;
        let slot = self.slot(place.0);
        self.marks[slot] = mark;
        self.put(slot, number);
        place
    }

    /// Removes a number.
    pub fn remove(&mut self, place: RingPlace) {
        let slot = self.slot(place.0);
        debug_assert!(self.least[self.marks.len() + slot] != NOTHING, "{place:?} is empty");
        self.put(slot, NOTHING);
        while self.head < self.tail && self.at(self.head) == NOTHING {
            self.head += 1;
        }
    }

    /// Decreases every number that was added with a smaller mark. Marks must be ascending. Takes time in
    /// proportion to the numbers.
    pub fn lower_before(&mut self, mark: u64, by: i64) {
        for place in self.head..self.tail {
            let slot = self.slot(place);
            let number = self.at(place);
            if number != NOTHING {
                if self.marks[slot] >= mark {
                    return;
                }
                self.put(slot, number - by);
            }
        }
    }

    /// The mark of the last number below `limit`.
    #[inline]
    pub fn last_below(&self, limit: i64) -> Option<u64> {
        match self.least.get(1) {
            Some(&least) if least < limit => self.search(limit),
            _ => None,
        }
    }

    /// If the ring wraps, the numbers at its beginning are the latest.
    fn search(&self, limit: i64) -> Option<u64> {
        let places = self.marks.len();
        // The nodes to the left of the path to the root cover the latest numbers; the rest come earlier.
        let mut node = places + self.slot(self.tail);
        while node > 1 {
            if node % 2 == 1 && self.least[node - 1] < limit {
                return Some(self.descend(node - 1, limit));
            }
            node /= 2;
        }
        Some(self.descend(1, limit))
    }

    /// The mark of the last number below `limit` under a node that has one.
    fn descend(&self, mut node: usize, limit: i64) -> u64 {
        let places = self.marks.len();
        while node < places {
            node = 2 * node + usize::from(self.least[2 * node + 1] < limit);
        }
        self.marks[node - places]
    }

    fn slot(&self, place: u64) -> usize {
        place as usize & (self.marks.len() - 1)
    }

    fn at(&self, place: u64) -> i64 {
        self.least[self.marks.len() + self.slot(place)]
    }

    fn put(&mut self, slot: usize, number: i64) {
        let mut node = self.marks.len() + slot;
        self.least[node] = number;
        while node > 1 {
            node /= 2;
            let least = self.least[2 * node].min(self.least[2 * node + 1]);
            if self.least[node] == least {
                return;
            }
            self.least[node] = least;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let old = std::mem::take(self);
        let places = (2 * old.marks.len()).max(FEWEST);
        *self = LastBelow {
            least: vec![NOTHING; 2 * places],
            marks: vec![0; places],
            head: old.head,
            tail: old.tail,
        };
        for place in old.head..old.tail {
            let slot = self.slot(place);
            self.marks[slot] = old.marks[old.slot(place)];
            self.put(slot, old.at(place));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// Compares with a walk from the end.
        #[test]
        fn it_finds_what_a_walk_finds(steps in proptest::collection::vec((0u8..6, 0i64..50, 0usize..40), 1..400)) {
            let mut tested = LastBelow::default();
            let mut naive: Vec<(u64, i64, RingPlace)> = Vec::new();
            for (number, (step, value, which)) in (0u64..).zip(steps) {
                match step {
                    0 | 1 => naive.push((number, value, tested.push(number, value))),
                    2 | 3 if !naive.is_empty() => {
                        // Mostly from the front, as commands leave.
                        let at = if step == 2 { 0 } else { which % naive.len() };
                        tested.remove(naive.remove(at).2);
                    }
                    4 if !naive.is_empty() => {
                        let before = naive[which % naive.len()].0;
                        tested.lower_before(before, value);
                        let earlier = naive.iter_mut().filter(|(mark, ..)| *mark < before);
                        earlier.for_each(|(_, held, _)| *held -= value);
                    }
                    _ => {}
                }
                let expected = naive.iter().rev().find(|(_, held, _)| *held < value);
                proptest::prop_assert_eq!(tested.last_below(value), expected.map(|(mark, ..)| *mark));
            }
        }
    }
}
