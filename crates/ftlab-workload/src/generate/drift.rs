//! A popularity that drifts over its region, so that hot places cool down and cold ones become hot.
//!
//! The order of places rotates: at each step the least popular places move to the top, and all
//! others lose as many ranks. A rotation is an addition, so it needs no memory, however large the
//! region.

use ftlab::units::{Amount, SECTOR_BYTES};

use super::workload::Drift;

/// The rotation of a popularity as requests pass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rotation {
    /// The number of places.
    ranks: u64,
    /// The number of requests between steps, and until the next step.
    every: u64,
    left: u64,
    /// The number of places of a step.
    step: u64,
    /// The current rotation, below `ranks`.
    turned: u64,
}

impl Rotation {
    /// Creates the rotation of a popularity over `ranks` places of `align` sectors; `None` unless a
    /// step is at least one place and less than all.
    pub fn new(drift: &Drift, ranks: u64, align: u64) -> Option<Rotation> {
        let step = match drift.by {
            Amount::Share(share) => share.of(ranks),
            Amount::Bytes(bytes) => bytes.0 / SECTOR_BYTES / align,
        };
        let fits = (1..ranks).contains(&step);
        fits.then_some(Rotation { ranks, every: drift.every, left: drift.every, step, turned: 0 })
    }

    /// Counts a request.
    #[inline]
    pub fn pass(&mut self) {
        if self.left == 0 {
            self.left = self.every;
            let turned = self.turned + self.step;
            self.turned = if turned < self.ranks { turned } else { turned - self.ranks };
        }
        self.left -= 1;
    }

    /// Returns the place, in the initial order, that currently has this rank.
    #[inline]
    pub fn place(&self, rank: u64) -> u64 {
        if rank >= self.turned { rank - self.turned } else { rank + (self.ranks - self.turned) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab::units::{Bytes, Ratio};

    fn turn(every: u64, by: Amount, ranks: u64) -> Option<Rotation> {
        Rotation::new(&Drift { every, by }, ranks, 8)
    }

    /// Ten places, three at each step of two requests: the last three move to the top.
    #[test]
    fn the_least_popular_come_to_the_top() {
        let mut turn = turn(2, Amount::Bytes(Bytes::from_kib(12)), 10).unwrap();
        let order = |turn: &Rotation| (0..10).map(|rank| turn.place(rank)).collect::<Vec<_>>();
        let mut orders = Vec::new();
        for _ in 0..8 {
            turn.pass();
            orders.push(order(&turn));
        }
        assert_eq!(orders[0], (0..10).collect::<Vec<_>>());
        assert_eq!(orders[1], orders[0]);
        assert_eq!(orders[2], [7, 8, 9, 0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(orders[4], [4, 5, 6, 7, 8, 9, 0, 1, 2, 3]);
        assert_eq!(orders[6], [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
    }

    #[test]
    fn a_step_is_a_place_at_least_and_not_all() {
        let share = |ppm| Amount::Share(Ratio { ppm });
        assert!(turn(1, share(10_000), 99).is_none(), "1% of 99 places");
        assert!(turn(1, share(10_000), 100).is_some());
        assert!(turn(1, Amount::Bytes(Bytes::from_kib(400)), 100).is_none(), "all of them");
    }
}
