//! The most requests in a second that slides over the trace, by steps of a millisecond.

/// A step.
const STEP_NS: u64 = 1_000_000;
/// The steps of a second.
const STEPS: u64 = 1_000;

/// Counts the requests of the last second.
#[derive(Clone, Debug)]
pub(super) struct SlidingSecond {
    /// The requests of each of the last steps; that of a time is its number modulo the steps of a second.
    counts: [u64; STEPS as usize],
    step: u64,
    /// The sum of all counts.
    sum: u64,
    most: u64,
}

impl Default for SlidingSecond {
    fn default() -> SlidingSecond {
        SlidingSecond { counts: [0; STEPS as usize], step: 0, sum: 0, most: 0 }
    }
}

impl SlidingSecond {
    /// Adds the next request, in order of time.
    pub fn add(&mut self, at_ns: u64) {
        let step = at_ns / STEP_NS;
        if step > self.step {
            self.advance(step);
        }
        self.counts[place(step)] += 1;
        self.sum += 1;
        self.most = self.most.max(self.sum);
    }

    /// Forgets the steps that are a second ago.
    fn advance(&mut self, step: u64) {
        if step - self.step >= STEPS {
            (self.counts, self.sum) = ([0; STEPS as usize], 0);
        } else {
            for number in self.step + 1..=step {
                self.sum -= std::mem::take(&mut self.counts[place(number)]);
            }
        }
        self.step = step;
    }

    /// The most requests in a second that begins with a step.
    pub fn most(&self) -> u64 {
        self.most
    }
}

fn place(step: u64) -> usize {
    (step % STEPS) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn most(times: &[u64]) -> u64 {
        let mut second = SlidingSecond::default();
        times.iter().for_each(|at| second.add(*at));
        second.most()
    }

    #[test]
    fn a_burst_over_a_full_second_counts_as_one() {
        let burst: Vec<u64> = (0..100).map(|at| 900_000_000 + at * 2_000_000).collect();
        assert_eq!(most(&burst), 100);
        // A second later there are as many again, which is not the same second.
        let later = burst.iter().map(|at| at + 1_000_000_000);
        assert_eq!(most(&burst.iter().copied().chain(later).collect::<Vec<_>>()), 100);
    }

    proptest! {
        #[test]
        fn it_is_the_most_of_all_seconds(gaps in prop::collection::vec(prop_oneof![
            0..3_000_000_u64, 0..400_000_000_u64, 0..3_000_000_000_u64], 1..200)
        ) {
            let times: Vec<u64> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
            let within = |from: u64| {
                times.iter().filter(|at| (from..from + STEPS).contains(&(**at / STEP_NS))).count()
            };
            let known = times.iter().map(|at| within(at / STEP_NS)).max();
            prop_assert_eq!(most(&times), known.unwrap_or(0) as u64);
        }
    }
}
