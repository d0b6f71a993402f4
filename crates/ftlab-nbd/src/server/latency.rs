//! Latencies of requests: what the device took, and how late the answer left.

use std::time::Duration;

use ftlab::units::Nanos;
use hdrhistogram::Histogram;

use crate::control::{KindLatencies, Latencies, Quantiles};

/// Digits of the values that are kept apart.
const DIGITS: u8 = 2;
/// Longer times count as this.
const LONGEST: u64 = 3_600_000_000_000;

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A read.
    Read,
    /// A write, or one of zeroes.
    Write,
    /// A flush.
    Flush,
    /// A trim.
    Trim,
}

impl RequestKind {
    /// All kinds.
    pub const ALL: [RequestKind; 4] =
        [RequestKind::Read, RequestKind::Write, RequestKind::Flush, RequestKind::Trim];
}

/// Times, with their sum.
#[derive(Debug)]
struct Times {
    histogram: Histogram<u64>,
    sum: u64,
}

impl Times {
    fn new() -> Times {
        let histogram = Histogram::new_with_bounds(1, LONGEST, DIGITS);
        Times { histogram: histogram.expect("the bounds are valid"), sum: 0 }
    }

    fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns.max(1));
        self.sum = self.sum.saturating_add(ns);
    }

    fn quantiles(&self) -> Quantiles {
        let at = |share: f64| self.histogram.value_at_quantile(share);
        if self.histogram.is_empty() {
            return Quantiles::default();
        }
        Quantiles {
            count: self.histogram.len(),
            sum_ns: self.sum,
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: self.histogram.max(),
        }
    }

    fn clear(&mut self) {
        self.histogram.clear();
        self.sum = 0;
    }
}

/// The latencies of all kinds.
#[derive(Debug)]
pub struct LatencyBook {
    kinds: Vec<(Times, Times)>,
}

impl LatencyBook {
    /// An empty book.
    #[must_use]
    pub fn new() -> LatencyBook {
        LatencyBook {
            kinds: RequestKind::ALL.iter().map(|_| (Times::new(), Times::new())).collect(),
        }
    }

    /// Records a request.
    pub fn record(&mut self, kind: RequestKind, simulated: Nanos, late: Option<Duration>) {
        let (times, lates) = &mut self.kinds[kind as usize];
        times.record(simulated.0);
        if let Some(late) = late {
            lates.record(late.as_nanos() as u64);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        for (times, lates) in &mut self.kinds {
            times.clear();
            lates.clear();
        }
    }

    /// The quantiles.
    #[must_use]
    pub fn latencies(&self) -> Latencies {
        let of = |kind: RequestKind| {
            let (times, lates) = &self.kinds[kind as usize];
            KindLatencies { simulated: times.quantiles(), late: lates.quantiles() }
        };
        Latencies {
            read: of(RequestKind::Read),
            write: of(RequestKind::Write),
            flush: of(RequestKind::Flush),
            trim: of(RequestKind::Trim),
        }
    }
}
