//! Arrival times of requests, from the start of their phase.

use ftlab::engine::Stream;
use ftlab::units::{Nanos, Ratio, RequestRate};

use super::workload::Arrivals;

/// The nanoseconds of a thousand seconds, the time unit of a [`RequestRate`].
const KILOSECOND: u64 = 1_000_000_000_000;

/// The arrival times of a phase, in order.
#[derive(Clone, Debug)]
pub struct ArrivalTimes {
    shape: ArrivalShape,
    stream: Stream,
}

#[derive(Clone, Debug)]
enum ArrivalShape {
    /// Arrivals follow completions and have no times of their own.
    Closed,
    Poisson {
        mean: f64,
        now: u64,
        /// The rounding error of the last time, carried over so that the rate is exact.
        fraction: f64,
    },
    Clustered {
        /// The mean gaps: short and long.
        means: [f64; 2],
        /// The share of short gaps.
        short: f64,
        now: u64,
        fraction: f64,
    },
    /// A gap of `whole + rest / per` nanoseconds, summed without error.
    Even {
        whole: u64,
        rest: u64,
        per: u64,
        now: u64,
        carry: u64,
    },
    Bursts(Bursts),
}

#[derive(Clone, Debug)]
struct Bursts {
    period: u64,
    size: u32,
    burst_period: u64,
    next_single: u64,
    next_burst: u64,
    left_of_burst: u32,
}

/// The mean gap of a rate, in nanoseconds.
fn mean_gap(rate: RequestRate) -> f64 {
    KILOSECOND as f64 / rate.per_kilosecond as f64
}

impl ArrivalShape {
    fn poisson(mean: f64) -> ArrivalShape {
        ArrivalShape::Poisson { mean, now: 0, fraction: 0.0 }
    }

    fn clustered(mean: f64, variation: Ratio) -> ArrivalShape {
        let squared = f64::from(variation.ppm) / f64::from(Ratio::ONE.ppm);
        let short = 0.5 + 0.5 * libm::sqrt((squared - 1.0) / (squared + 1.0));
        let means = [mean / (2.0 * short), mean / (2.0 * (1.0 - short))];
        ArrivalShape::Clustered { means, short, now: 0, fraction: 0.0 }
    }
}

impl ArrivalTimes {
    /// Creates the times of `arrivals`; only Poisson and clustered arrivals draw from `stream`.
    #[must_use]
    pub fn new(arrivals: Arrivals, stream: Stream) -> ArrivalTimes {
        let shape = match arrivals {
            Arrivals::Closed { .. } => ArrivalShape::Closed,
            Arrivals::Poisson { rate } => ArrivalShape::poisson(mean_gap(rate)),
            Arrivals::PoissonPeriod { period } => ArrivalShape::poisson(period.0 as f64),
            Arrivals::Clustered { rate, variation } => {
                ArrivalShape::clustered(mean_gap(rate), variation)
            }
            Arrivals::ClusteredPeriod { period, variation } => {
                ArrivalShape::clustered(period.0 as f64, variation)
            }
            Arrivals::ConstantRate { rate: RequestRate { per_kilosecond: per } } => {
                ArrivalShape::Even {
                    whole: KILOSECOND / per,
                    rest: KILOSECOND % per,
                    per,
                    now: 0,
                    carry: 0,
                }
            }
            Arrivals::ConstantPeriod { period } => {
                ArrivalShape::Even { whole: period.0, rest: 0, per: 1, now: 0, carry: 0 }
            }
            Arrivals::Bursts { period, burst_size, burst_period, burst_offset } => {
                ArrivalShape::Bursts(Bursts {
                    period: period.0,
                    size: burst_size,
                    burst_period: burst_period.0,
                    next_single: 0,
                    next_burst: burst_offset.0,
                    left_of_burst: 0,
                })
            }
        };
        ArrivalTimes { shape, stream }
    }

    /// Returns the next arrival time; always zero if arrivals follow completions.
    #[inline]
    pub fn next_time(&mut self) -> Nanos {
        match &mut self.shape {
            ArrivalShape::Closed => Nanos::ZERO,
            ArrivalShape::Poisson { mean, now, fraction } => {
                let gap = -libm::log(1.0 - self.stream.unit()) * *mean + *fraction;
                let whole = gap.floor();
                *fraction = gap - whole;
                *now = now.saturating_add(whole as u64);
                Nanos(*now)
            }
            ArrivalShape::Clustered { means, short, now, fraction } => {
                let mean = if self.stream.unit() < *short { means[0] } else { means[1] };
                let gap = -libm::log(1.0 - self.stream.unit()) * mean + *fraction;
                let whole = gap.floor();
                *fraction = gap - whole;
                *now = now.saturating_add(whole as u64);
                Nanos(*now)
            }
            ArrivalShape::Even { whole, rest, per, now, carry } => {
                let time = *now;
                *now = now.saturating_add(*whole);
                *carry += *rest;
                if *carry >= *per {
                    *carry -= *per;
                    *now = now.saturating_add(1);
                }
                Nanos(time)
            }
            ArrivalShape::Bursts(bursts) => Nanos(bursts.next_time()),
        }
    }
}

impl Bursts {
    /// A single request precedes a burst at the same time.
    fn next_time(&mut self) -> u64 {
        if self.left_of_burst > 0 {
            self.left_of_burst -= 1;
            return self.next_burst - self.burst_period;
        }
        if self.next_single <= self.next_burst {
            let time = self.next_single;
            self.next_single = time.saturating_add(self.period);
            return time;
        }
        let time = self.next_burst;
        // At most twice a hundred years; the clock can hold 584.
        self.next_burst = time.saturating_add(self.burst_period);
        self.left_of_burst = self.size - 1;
        time
    }
}
