//! A histogram of latencies with the resolution of fio's, so that percentiles are as exact as
//! fio's.
//!
//! Up to 128 ns every nanosecond has a bin; above that, every power of two has 64. A bin's value is
//! its middle. Observed in fio 3.33: 421 ns is printed as 422, 2083 ns as 2096, 10,155 ns as
//! 10,176.

/// The binary logarithm of the bins per power of two.
const BITS: u32 = 6;

/// Counts of latencies by bin.
#[derive(Clone, Debug, Default)]
pub struct Bins {
    /// Only as long as the largest latency needs.
    counts: Vec<u64>,
    all: u64,
}

impl Bins {
    pub fn record(&mut self, ns: u64) {
        let at = index(ns);
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
        self.all += 1;
    }

    /// Returns the latency of each percentile. `percents` must ascend.
    pub fn percentiles<'a>(&'a self, percents: &'a [f64]) -> impl Iterator<Item = u64> + 'a {
        let (mut at, mut below) = (0, 0);
        percents.iter().map(move |percent| {
            let wanted = percent / 100.0 * self.all as f64;
            while at + 1 < self.counts.len() && ((below + self.counts[at]) as f64) < wanted {
                below += self.counts[at];
                at += 1;
            }
            middle(at)
        })
    }
}

fn index(ns: u64) -> usize {
    let shift = (u64::BITS - ns.leading_zeros()).saturating_sub(BITS + 1);
    let within = (ns >> shift) as usize;
    ((shift as usize) << BITS) + within
}

fn middle(index: usize) -> u64 {
    let shift = (index >> BITS).saturating_sub(1);
    let within = (index - (shift << BITS)) as u64;
    (within << shift) + ((1 << shift) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_stand_for_what_fio_prints() {
        for (ns, printed) in
            [(0, 0), (127, 127), (141, 141), (421, 422), (2_083, 2_096), (10_155, 10_176)]
        {
            assert_eq!(middle(index(ns)), printed, "{ns}");
        }
    }

    #[test]
    fn bins_ascend_without_gaps_and_are_a_64th_wide() {
        let mut last = index(0);
        for ns in 1..100_000u64 {
            let at = index(ns);
            assert!(at == last || at == last + 1, "{ns}");
            assert!(middle(at).abs_diff(ns) as f64 <= ns as f64 / 128.0, "{ns}");
            last = at;
        }
        assert!(middle(index(u64::MAX)) > u64::MAX - (1 << 58));
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_list() {
        let mut bins = Bins::default();
        (1..=100).for_each(|ns| bins.record(ns));
        let percents = [1.0, 50.0, 99.0, 99.5, 100.0];
        assert_eq!(bins.percentiles(&percents).collect::<Vec<_>>(), [1, 50, 99, 100, 100]);
    }
}
