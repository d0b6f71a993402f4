//! The steps of the clock that the times of a trace show, whatever its format says.

use super::record::Record;
use super::units::TimeUnit;

/// A finer clock is not coarse.
pub(crate) const COARSE_NS: u64 = TimeUnit::Ms.ns();

/// The times of the requests so far, in order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClockSteps {
    last_ns: u64,
    /// The largest step of which all times are multiples; zero if all are the same. Not kept exactly once it is no
    /// longer coarse.
    pub step_ns: u64,
    /// The changes of the time.
    pub changes: u64,
}

impl ClockSteps {
    /// Adds the next records in order of time.
    pub fn add(&mut self, records: &[Record]) {
        for record in records {
            let gap = record.at.0 - self.last_ns;
            if gap > 0 {
                self.last_ns = record.at.0;
                self.changes += 1;
                if self.step_ns == 0 || self.step_ns >= COARSE_NS {
                    self.step_ns = common_divisor(gap, self.step_ns);
                }
            }
        }
    }

    /// Whether the clock is coarse, and at least half of `records` requests have the time of another one.
    pub fn is_coarse(&self, records: u64) -> bool {
        self.step_ns >= COARSE_NS && (self.changes + 1).saturating_mul(2) <= records
    }
}

/// The greatest common divisor.
fn common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use ftlab::units::SimTime;

    use super::*;

    fn of(times: impl IntoIterator<Item = u64>) -> ClockSteps {
        let record = |at| Record { at: SimTime(at), ..Record::flush(SimTime(0), 0) };
        let mut steps = ClockSteps::default();
        for at in times {
            steps.add(&[record(at)]);
        }
        steps
    }

    #[test]
    fn the_step_of_a_clock_is_what_divides_all_times() {
        let second = 1_000_000_000;
        let coarse = of((0..500).map(|at| at / 10 * 3 * second + at / 200 * second));
        assert_eq!((coarse.step_ns, coarse.changes), (second, 49));
        assert!(coarse.is_coarse(500) && !coarse.is_coarse(99));
        // A single time that is no multiple shows that the clock is finer.
        let fine = of((0..500).map(|at| at / 10 * second).chain([500 * second + 1_234]));
        assert!(fine.step_ns < COARSE_NS && !fine.is_coarse(501));
        assert!(!of([0, 0, 0]).is_coarse(3), "no clock at all");
    }
}
