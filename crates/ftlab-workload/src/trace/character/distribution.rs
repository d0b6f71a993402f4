//! Counts and sums of values in bins of a sixteenth of an octave, so that any range takes sixteen kilobytes. A
//! quantile is the mean of its bin, which is exact where all values of the bin are the same.
//!
//! A count is a weight: a sampled access stands for several. hdrhistogram, which latencies use,
//! holds whole counts only.

use serde::Serialize;

/// Bins of an octave, as a power of two.
const PARTS_LOG2: u32 = 4;
/// Bins of an octave. Smaller values have bins of their own.
const PARTS: u64 = 1 << PARTS_LOG2;

/// Collects values.
#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    /// The count of each bin, and the sum of its values.
    bins: Vec<(f64, f64)>,
    count: f64,
    max: u64,
}

impl Weights {
    /// Adds a value that stands for `weight` of them.
    #[inline]
    pub fn add(&mut self, value: u64, weight: f64) {
        let bin = bin_of(value);
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, (0.0, 0.0));
        }
        let (count, sum) = &mut self.bins[bin];
        *count += weight;
        *sum += value as f64 * weight;
        self.count += weight;
        self.max = self.max.max(value);
    }

    /// Returns the largest value; nothing without values.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0.0).then_some(self.max)
    }

    /// Returns the distribution of the values times `unit`.
    pub fn distribution(&self, unit: u64) -> Distribution {
        let bins = self.bins.iter().enumerate().filter(|(_, (count, _))| *count > 0.0);
        let bins = bins.map(|(bin, &(count, sum))| DistributionBin {
            from: start_of(bin).saturating_mul(unit),
            count,
            mean: sum / count * unit as f64,
        });
        let sum: f64 = self.bins.iter().map(|(_, sum)| sum).sum();
        Distribution {
            count: self.count,
            mean: (self.count > 0.0).then(|| sum / self.count * unit as f64),
            max: self.max().map(|max| max.saturating_mul(unit)),
            bins: bins.collect(),
        }
    }
}

fn bin_of(value: u64) -> usize {
    if value < PARTS {
        return value as usize;
    }
    let shift = value.ilog2() - PARTS_LOG2;
    (u64::from(shift) * PARTS + (value >> shift)) as usize
}

fn start_of(bin: usize) -> u64 {
    let bin = bin as u64;
    if bin < PARTS {
        return bin;
    }
    let shift = bin / PARTS - 1;
    (PARTS + bin % PARTS) << shift
}

/// A distribution: how many values are in each bin. A bin is at most a sixteenth wide.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// The values; an estimate, and not whole, if they are sampled.
    pub count: f64,
    /// Their mean; null without values.
    pub mean: Option<f64>,
    /// The largest; null without values.
    pub max: Option<u64>,
    /// The bins with values, in ascending order.
    pub bins: Vec<DistributionBin>,
}

/// The values of a bin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DistributionBin {
    /// The least value of the bin. It ends before the next, or within a sixteenth.
    pub from: u64,
    /// The values.
    pub count: f64,
    /// Their mean.
    pub mean: f64,
}

impl Distribution {
    /// Returns the value which a share `quantile` does not exceed, as the mean of the values in its bin, which are
    /// within a sixteenth of each other; nothing without values.
    #[must_use]
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let mut left = quantile * self.count;
        let found = self.bins.iter().find(|bin| {
            left -= bin.count;
            left <= 0.0
        });
        found.or(self.bins.last()).map(|bin| bin.mean.round() as u64)
    }

    /// Returns the count of values below `limit`, which starts a bin.
    #[must_use]
    pub fn below(&self, limit: u64) -> f64 {
        self.bins.iter().take_while(|bin| bin.from < limit).map(|bin| bin.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_a_bin_of_a_sixteenth() {
        let values = (0..2_000).chain((0..64).map(|power| 1_u64 << power)).chain([u64::MAX]);
        for value in values {
            let start = start_of(bin_of(value));
            assert!(start <= value && value - start <= value / 16, "{value} {start}");
            assert_eq!(bin_of(start), bin_of(value));
            assert!(value == 0 || bin_of(start.saturating_sub(1)) <= bin_of(value));
        }
    }

    #[test]
    fn quantiles_are_those_of_sorted_values() {
        let mut weights = Weights::default();
        (1..=15).for_each(|value| weights.add(value, 1.0));
        let found = weights.distribution(512);
        assert_eq!((found.count, found.mean, found.max), (15.0, Some(8.0 * 512.0), Some(15 * 512)));
        assert_eq!(found.quantile(0.5), Some(8 * 512));
        assert_eq!(found.quantile(1.0), Some(15 * 512));
        assert_eq!(found.below(4 * 512), 3.0);
        assert_eq!(Distribution::default().quantile(0.5), None);
    }

    #[test]
    fn a_value_alone_in_its_bin_is_its_own_quantile() {
        for value in [4_096, 5_000, 1_000_000, 3_600_000_000_000] {
            let mut weights = Weights::default();
            (0..9).for_each(|_| weights.add(value, 2.0));
            assert_eq!(weights.distribution(1).quantile(0.5), Some(value));
            // Together with others of its bin, it is within a sixteenth.
            (0..9).for_each(|by| weights.add(value + by * value / 200, 2.0));
            let median = weights.distribution(1).quantile(0.5).unwrap();
            assert!(median >= value && median - value <= value / 16, "{value}: {median}");
        }
    }
}
