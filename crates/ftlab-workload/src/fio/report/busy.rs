//! The time that a device was busy, from requests in the order of completion.

use std::collections::VecDeque;

/// How many busy spells are kept separately. A request that began before that many pauses closes
/// only those that are kept.
const SPELLS: usize = 4096;

/// The time covered by at least one request.
#[derive(Clone, Debug, Default)]
pub struct Busy {
    /// Busy spells that do not touch, in order: start and end.
    spells: VecDeque<(u64, u64)>,
    /// The total length of earlier spells, and the end of the last of them.
    before: u64,
    settled: u64,
}

impl Busy {
    /// Adds a request from one time to another; ends must not decrease.
    pub fn cover(&mut self, from: u64, to: u64) {
        let mut from = from.max(self.settled);
        while let Some(&last) = self.spells.back()
            && last.1 >= from
        {
            from = from.min(last.0);
            self.spells.pop_back();
        }
        self.spells.push_back((from, to.max(from)));
        if self.spells.len() > SPELLS
            && let Some((from, to)) = self.spells.pop_front()
        {
            self.before += to - from;
            self.settled = to;
        }
    }

    pub fn total(&self) -> u64 {
        self.before + self.spells.iter().map(|spell| spell.1 - spell.0).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_join_and_pauses_do_not_count() {
        let mut busy = Busy::default();
        busy.cover(0, 10);
        busy.cover(20, 30);
        assert_eq!(busy.total(), 20);
        busy.cover(5, 40);
        assert_eq!(busy.total(), 40);
        busy.cover(50, 60);
        busy.cover(50, 60);
        assert_eq!(busy.total(), 50);
    }

    #[test]
    fn many_spells_are_summed() {
        let mut busy = Busy::default();
        let count = 3 * SPELLS as u64;
        (0..count).for_each(|at| busy.cover(10 * at, 10 * at + 4));
        assert_eq!((busy.total(), busy.spells.len()), (4 * count, SPELLS));
    }
}
