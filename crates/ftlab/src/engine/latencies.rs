//! Latencies of one kind of request: exact mean and maximum, and percentiles within a tenth of a
//! per cent.

use hdrhistogram::Histogram;

use crate::units::Nanos;

/// The longest latency in percentiles: a day. Longer ones count as a day there.
const LONGEST_NS: u64 = 24 * 3600 * 1_000_000_000;
/// Significant decimal digits of percentiles.
const DIGITS: u8 = 3;
/// A percentile is stated only if at least this many samples lie beyond it: with fewer, it is a
/// guess.
const SAMPLES_BEYOND: f64 = 10.0;

/// A distribution of latencies.
#[derive(Clone, Debug)]
pub struct Latencies {
    histogram: Histogram<u64>,
    sum_ns: u128,
    max: Nanos,
}

impl Default for Latencies {
    fn default() -> Latencies {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
        let histogram = histogram.expect("the bounds are constants that the histogram accepts");
        Latencies { histogram, sum_ns: 0, max: Nanos::ZERO }
    }
}

impl Latencies {
    /// Adds a latency.
    #[inline]
    pub fn record(&mut self, latency: Nanos) {
        self.histogram.saturating_record(latency.0);
        self.sum_ns += u128::from(latency.0);
        self.max = self.max.max(latency);
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Latencies) {
        self.histogram.add(&other.histogram).expect("both have the same bounds");
        self.sum_ns += other.sum_ns;
        self.max = self.max.max(other.max);
    }

    /// Number of latencies.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The sum, in nanoseconds.
    #[must_use]
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The histogram: upper bounds in ascending order, at most 0.1 % above the actual latencies,
    /// each with the number of requests above the previous bound.
    pub fn counts(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        let buckets = self.histogram.iter_recorded();
        buckets.map(|at| (Nanos(at.value_iterated_to()).min(self.max), at.count_at_value()))
    }

    /// The exact mean in nanoseconds, or `None` if there is no latency.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// The longest latency, or `None` if there is none.
    #[must_use]
    pub fn max(&self) -> Option<Nanos> {
        (self.count() > 0).then_some(self.max)
    }

    /// The latency that a share `quantile` of all does not exceed, at most 0.1 % above the exact
    /// one, or `None` if fewer than ten samples lie beyond it.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Option<Nanos> {
        let beyond = (1.0 - quantile) * self.count() as f64;
        // (1 - 0.9) * 100 is slightly below ten in binary arithmetic.
        let enough = beyond + 1e-6 >= SAMPLES_BEYOND;
        enough.then(|| Nanos(self.histogram.value_at_quantile(quantile)).min(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Stream;

    fn naive_quantile(sorted: &[u64], quantile: f64) -> u64 {
        let rank = (quantile * sorted.len() as f64).ceil() as usize;
        sorted[rank.clamp(1, sorted.len()) - 1]
    }

    #[test]
    fn percentiles_agree_with_sorting_within_a_thousandth() {
        let mut random = Stream::new(7, "latencies");
        let mut latencies = Latencies::default();
        // Spread over six decades, like latencies behind collection.
        let mut all: Vec<u64> = (0..200_000)
            .map(|_| {
                let scale = 10u64.pow(2 + random.below(6) as u32);
                scale + random.below(9 * scale)
            })
            .collect();
        all.iter().for_each(|&ns| latencies.record(Nanos(ns)));
        all.sort_unstable();
        for quantile in [0.5, 0.9, 0.99, 0.999, 0.9999] {
            let exact = naive_quantile(&all, quantile) as f64;
            let stated = latencies.quantile(quantile).unwrap().0 as f64;
            assert!(
                (0.0..=0.001).contains(&((stated - exact) / exact)),
                "{quantile}: {stated} {exact}"
            );
        }
        let sum: u64 = all.iter().sum();
        assert_eq!(latencies.sum_ns(), u128::from(sum));
        assert_eq!(latencies.mean_ns(), Some(sum as f64 / 200_000.0));
        assert_eq!(latencies.max(), Some(Nanos(*all.last().unwrap())));
    }

    #[test]
    fn the_counts_are_all_that_was_recorded() {
        let mut latencies = Latencies::default();
        [3, 3, 70_001, 5_000_000].iter().for_each(|&ns| latencies.record(Nanos(ns)));
        let counts: Vec<(Nanos, u64)> = latencies.counts().collect();
        assert_eq!(counts.iter().map(|&(_, count)| count).collect::<Vec<_>>(), [2, 1, 1]);
        assert_eq!((counts[0].0, counts[2].0), (Nanos(3), Nanos(5_000_000)));
        assert!((70_001..=70_071).contains(&counts[1].0.0), "{:?}", counts[1]);
    }

    #[test]
    fn a_percentile_with_too_few_samples_beyond_it_is_not_stated() {
        let mut latencies = Latencies::default();
        assert_eq!((latencies.mean_ns(), latencies.max()), (None, None));
        (1..=99).for_each(|ns| latencies.record(Nanos(ns)));
        assert_eq!(latencies.quantile(0.9), None);
        latencies.record(Nanos(100));
        assert_eq!(latencies.quantile(0.9), Some(Nanos(90)));
        assert_eq!(latencies.quantile(0.99), None);
    }

    #[test]
    fn merging_is_recording_both() {
        let (mut first, mut second, mut both) =
            (Latencies::default(), Latencies::default(), Latencies::default());
        for ns in 1..=1000 {
            first.record(Nanos(ns));
            second.record(Nanos(ns * 7));
            both.record(Nanos(ns));
            both.record(Nanos(ns * 7));
        }
        first.merge(&second);
        assert_eq!(first.sum_ns(), both.sum_ns());
        assert_eq!(first.max(), both.max());
        for quantile in [0.5, 0.9, 0.99] {
            assert_eq!(first.quantile(quantile), both.quantile(quantile));
        }
    }

    #[test]
    fn a_latency_beyond_a_day_still_counts_in_mean_and_maximum() {
        let mut latencies = Latencies::default();
        latencies.record(Nanos(u64::MAX));
        assert_eq!(latencies.max(), Some(Nanos(u64::MAX)));
        assert_eq!(latencies.mean_ns(), Some(u64::MAX as f64));
    }
}
