//! Percentiles of the latencies within each window of the timeline: a coarse histogram for the
//! reads and one for the writes of each window.
//!
//! With sixteen buckets per power of two, a percentile is at most 6.3 % too large. The table comes
//! zeroed from the operating system and takes memory only where latencies fell.

use crate::host::Op;
use crate::units::Nanos;

/// Buckets per power of two, as a power of two.
const STEP_BITS: u32 = 4;
const STEPS: usize = 1 << STEP_BITS;
/// Longer latencies than 2^47 ns, a day and a half, count as 2^47 ns.
const MOST_BITS: u32 = 47;
/// Buckets of one histogram.
const BUCKETS: usize = STEPS * (MOST_BITS - STEP_BITS + 1) as usize;
/// The operations that have histograms.
const OPS: [Op; 2] = [Op::Read, Op::Write];

/// Histograms by window, then by operation.
#[derive(Clone, Debug)]
pub(super) struct WindowLatencies {
    counts: Vec<u32>,
}

fn bucket_of(latency: Nanos) -> usize {
    let ns = latency.0.min((1 << MOST_BITS) - 1);
    // Small numbers, below the first power of two with all its steps, each have their own bucket.
    let Some(shift) = (ns | 1).ilog2().checked_sub(STEP_BITS) else { return ns as usize };
    let step = (ns >> shift) as usize;
    shift as usize * STEPS + step
}

/// The longest latency of a bucket.
fn top_of(bucket: usize) -> Nanos {
    let shift = (bucket / STEPS).saturating_sub(1);
    let step = bucket - shift * STEPS;
    Nanos((((step + 1) as u64) << shift) - 1)
}

impl WindowLatencies {
    /// Empty histograms for this many windows.
    pub fn new(windows: usize) -> WindowLatencies {
        WindowLatencies { counts: vec![0; windows * OPS.len() * BUCKETS] }
    }

    fn row(window: usize, op: Op) -> Option<std::ops::Range<usize>> {
        let at = OPS.iter().position(|&known| known.row() == op.row())?;
        let start = (window * OPS.len() + at) * BUCKETS;
        Some(start..start + BUCKETS)
    }

    #[inline]
    pub fn record(&mut self, window: usize, op: Op, latency: Nanos) {
        if let Some(row) = WindowLatencies::row(window, op) {
            let count = &mut self.counts[row.start + bucket_of(latency)];
            *count = count.saturating_add(1);
        }
    }

    /// Combines pairs of windows, the first two into the first; `windows` are in use.
    pub fn merge_pairs(&mut self, windows: usize) {
        let row = OPS.len() * BUCKETS;
        for to in 0..windows.div_ceil(2) {
            let second = (2 * to + 1 < windows).then_some(2 * to + 1);
            for at in 0..row {
                let more = second.map_or(0, |second| self.counts[second * row + at]);
                self.counts[to * row + at] = self.counts[2 * to * row + at].saturating_add(more);
            }
        }
        self.counts[windows.div_ceil(2) * row..windows * row].fill(0);
    }

    /// Combines the window after `window`, which is the last in use, into it.
    pub fn merge_next(&mut self, window: usize) {
        let row = OPS.len() * BUCKETS;
        let (first, second) = self.counts[window * row..(window + 2) * row].split_at_mut(row);
        for (count, more) in first.iter_mut().zip(second) {
            *count = count.saturating_add(std::mem::take(more));
        }
    }

    /// The latency that a share `quantile` of a window's requests does not exceed, at most 6.3 %
    /// too large; none without requests. With few requests it is the longest.
    pub fn quantile(&self, window: usize, op: Op, quantile: f64) -> Option<Nanos> {
        let counts = &self.counts[WindowLatencies::row(window, op)?];
        let all: u64 = counts.iter().copied().map(u64::from).sum();
        let rank = (quantile * all as f64).ceil() as u64;
        let mut below = 0;
        let bucket = counts.iter().position(|&count| {
            below += u64::from(count);
            below >= rank.max(1)
        })?;
        Some(top_of(bucket))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_latency_lies_in_its_bucket_within_a_sixteenth() {
        let near = |power: u32| [-1i64, 0, 1].map(|by| (1u64 << power).wrapping_add_signed(by));
        let all = (0..100).chain((4..MOST_BITS).flat_map(near));
        let mut last = (0, 0);
        for ns in all.collect::<std::collections::BTreeSet<_>>() {
            let bucket = bucket_of(Nanos(ns));
            let top = top_of(bucket).0;
            assert!(top >= ns && (top - ns) as f64 <= ns as f64 / 16.0, "{ns}: {top}");
            assert!(bucket < BUCKETS && bucket >= last.0 && top >= last.1, "{ns}");
            last = (bucket, top);
        }
        assert_eq!(bucket_of(Nanos(u64::MAX)), BUCKETS - 1);
    }

    #[test]
    fn pairs_are_put_together() {
        let mut latencies = WindowLatencies::new(5);
        for window in 0..5u64 {
            for at in 0..100 {
                latencies.record(window as usize, Op::Read, Nanos(1_000 * window + at));
            }
        }
        latencies.record(1, Op::Write, Nanos(7));
        latencies.record(1, Op::Trim, Nanos(7));
        latencies.merge_pairs(5);
        let median = |window| latencies.quantile(window, Op::Read, 0.5).map(|found| found.0);
        assert_eq!(median(0), Some(99 - 99 % 4 + 3));
        assert!((2_099..2_240).contains(&median(1).unwrap()));
        assert!((4_050..4_400).contains(&median(2).unwrap()));
        assert_eq!((median(3), median(4)), (None, None));
        assert_eq!(latencies.quantile(0, Op::Write, 0.99), Some(Nanos(7)));
        assert_eq!(latencies.quantile(0, Op::Trim, 0.99), None);
    }
}
