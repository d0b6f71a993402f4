//! Arrivals: gaps between requests, how bursty they are, and how long a device could rest.
//!
//! The index of dispersion of counts is the variance of the requests in an interval over their
//! mean: one for Poisson arrivals at any interval, and growing with the interval for bursts of all
//! lengths (R. Gusella, "Characterizing the Variability of Arrival Processes with Indexes of
//! Dispersion", IEEE JSAC 9(2), 1991). A trace does not say when requests end, so gaps run from
//! arrival to arrival.

use serde::Serialize;

use super::distribution::{Distribution, Weights};

/// The intervals of counts: 1 ms, 100 ms, 1 s, 1 min.
const SCALES_NS: [u64; 4] = [1_000_000, 100_000_000, 1_000_000_000, 60_000_000_000];
/// Gaps that are idle: 10 ms, 100 ms, 1 s, 10 s, 1 min.
const IDLE_NS: [u64; 5] = [10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 60_000_000_000];

/// How requests arrive.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ArrivalCharacter {
    /// The gaps between requests, in nanoseconds.
    pub gap_ns: Distribution,
    /// Their standard deviation over their mean: 1 for Poisson arrivals; null without time.
    pub gap_variation: Option<f64>,
    /// How the requests in an interval vary.
    pub dispersion: Vec<Dispersion>,
    /// Gaps of at least a length.
    pub idle: Vec<IdleGaps>,
}

/// How the requests in intervals of one length vary. Only whole intervals count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Dispersion {
    /// The length.
    pub interval_ns: u64,
    /// The whole intervals.
    pub intervals: u64,
    /// Variance over mean of the requests in an interval; null with fewer than two intervals.
    pub index: Option<f64>,
    /// The most requests in an interval over the mean.
    pub peak_to_mean: Option<f64>,
}

/// Gaps of at least a length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct IdleGaps {
    /// The length.
    pub at_least_ns: u64,
    /// Their number.
    pub gaps: u64,
    /// Their share of the time; null without time.
    pub time_ratio: Option<f64>,
}

/// Collects arrivals.
#[derive(Clone, Debug, Default)]
pub(super) struct ArrivalTally {
    last: Option<u64>,
    gaps: Weights,
    squares: f64,
    windows: [CountWindow; SCALES_NS.len()],
    idle: [(u64, u64); IDLE_NS.len()],
}

/// The interval that a request is in, and sums over those before.
#[derive(Clone, Copy, Debug, Default)]
struct CountWindow {
    /// The end of the interval; zero before the first request.
    end: u64,
    count: u64,
    sum: u64,
    squares: u128,
    most: u64,
}

impl CountWindow {
    #[inline]
    fn add(&mut self, at: u64, length: u64) {
        if at >= self.end {
            self.sum += self.count;
            self.squares += u128::from(self.count) * u128::from(self.count);
            self.most = self.most.max(self.count);
            self.count = 0;
            self.end = (at / length + 1).saturating_mul(length);
        }
        self.count += 1;
    }

    fn report(&self, interval_ns: u64) -> Dispersion {
        let intervals = (self.end / interval_ns).saturating_sub(1);
        let mean = self.sum as f64 / intervals as f64;
        let variance = self.squares as f64 / intervals as f64 - mean * mean;
        let known = intervals >= 2 && self.sum > 0;
        Dispersion {
            interval_ns,
            intervals,
            index: known.then(|| variance / mean),
            peak_to_mean: known.then(|| self.most as f64 / mean),
        }
    }
}

impl ArrivalTally {
    pub fn add(&mut self, at: u64) {
        if let Some(last) = self.last {
            let gap = at.saturating_sub(last);
            self.gaps.add(gap, 1.0);
            self.squares += gap as f64 * gap as f64;
            let idle = IDLE_NS.iter().zip(&mut self.idle).take_while(|(least, _)| gap >= **least);
            idle.for_each(|(_, idle)| *idle = (idle.0 + 1, idle.1 + gap));
        }
        self.last = Some(at);
        for (window, length) in self.windows.iter_mut().zip(SCALES_NS) {
            window.add(at, length);
        }
    }

    /// Whether there are several requests, and all come at one time.
    pub fn is_at_once(&self) -> bool {
        self.gaps.max() == Some(0)
    }

    pub fn report(&self) -> ArrivalCharacter {
        let gap_ns = self.gaps.distribution(1);
        let mean = gap_ns.mean.filter(|mean| *mean > 0.0);
        let variance = |mean: f64| (self.squares / gap_ns.count - mean * mean).max(0.0);
        let duration = mean.map(|mean| mean * gap_ns.count);
        let dispersion = self.windows.iter().zip(SCALES_NS);
        let idle = IDLE_NS.into_iter().zip(self.idle).map(|(at_least_ns, (gaps, ns))| IdleGaps {
            at_least_ns,
            gaps,
            time_ratio: duration.map(|all| ns as f64 / all),
        });
        ArrivalCharacter {
            gap_variation: mean.map(|mean| variance(mean).sqrt() / mean),
            dispersion: dispersion.map(|(window, length)| window.report(length)).collect(),
            idle: idle.collect(),
            gap_ns,
        }
    }
}
