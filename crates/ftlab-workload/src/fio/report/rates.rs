//! Rates over time, sampled as in fio: every half second for each clone.

use ftlab::units::{Nanos, SimTime};

use super::moments::Moments;

/// fio's default for `bwavgtime` and `iopsavgtime`.
const WINDOW: Nanos = Nanos(500_000_000);
const SECOND_NS: u128 = 1_000_000_000;

/// What one clone transferred since the last sample, and its samples. The time after the last whole
/// window is in no sample.
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    since: Option<SimTime>,
    moved: [(u64, u64); 3],
    ways: [Sampled; 3],
}

/// The samples of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sampled {
    /// KiB per second.
    pub bw: Moments,
    /// Requests per second.
    pub iops: Moments,
}

impl Sampler {
    pub fn record(&mut self, way: usize, bytes: u64, arrived: SimTime, finished: SimTime) {
        let since = *self.since.get_or_insert(arrived);
        self.moved[way].0 += bytes;
        self.moved[way].1 += 1;
        let passed = finished.saturating_since(since);
        if passed < WINDOW {
            return;
        }
        let a_second = |count: u64| {
            let rate = u128::from(count) * SECOND_NS / u128::from(passed.0);
            u64::try_from(rate).unwrap_or(u64::MAX)
        };
        for (way, (bytes, requests)) in self.ways.iter_mut().zip(std::mem::take(&mut self.moved)) {
            // As in fio, there is no sample if nothing was transferred.
            if requests > 0 {
                way.bw.record(a_second(bytes) >> 10);
                way.iops.record(a_second(requests));
            }
        }
        self.since = Some(finished);
    }

    pub fn way(&self, way: usize) -> &Sampled {
        &self.ways[way]
    }
}

/// Samples of several clones, combined.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    pub min: u64,
    pub max: u64,
    pub mean: f64,
    pub samples: u64,
    squares: f64,
}

impl Rate {
    /// Adds a clone. Rates of concurrent clones add up; as in fio, it does not matter whether their
    /// samples coincide.
    pub fn add(&mut self, clone: &Moments) {
        self.min += clone.min;
        self.max += clone.max;
        self.mean += clone.mean();
        self.samples += clone.count;
        let deviation = clone.deviation();
        self.squares += deviation * deviation * clone.count.saturating_sub(1) as f64;
    }

    pub fn deviation(&self) -> f64 {
        if self.samples < 2 { 0.0 } else { (self.squares / (self.samples - 1) as f64).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_half_a_second() {
        let mut sampler = Sampler::default();
        let ms = |ms: u64| SimTime(ms * 1_000_000);
        for at in 0..1_250u64 {
            sampler.record(0, 1 << 20, ms(at), ms(at + 1));
        }
        // 1000 MiB per second; the last quarter of a second is in no sample.
        let sampled = sampler.way(0);
        assert_eq!((sampled.bw.count, sampled.bw.min, sampled.bw.max), (2, 1_024_000, 1_024_000));
        assert_eq!((sampled.iops.min, sampled.iops.max), (1_000, 1_000));
        assert_eq!(sampler.way(1).bw.count, 0);
    }

    #[test]
    fn rates_that_go_at_once_add_up() {
        let clone = |list: [u64; 2]| {
            let mut clone = Moments::default();
            list.into_iter().for_each(|value| clone.record(value));
            clone
        };
        let mut both = Rate::default();
        both.add(&clone([10, 12]));
        both.add(&clone([100, 110]));
        assert_eq!((both.samples, both.min, both.max, both.mean), (4, 110, 122, 116.0));
        // Squares 2 and 50.
        assert!((both.deviation() - (52.0f64 / 3.0).sqrt()).abs() < 1e-9);
    }
}
