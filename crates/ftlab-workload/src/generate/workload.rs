//! A workload as plain data. It is checked when it is parsed; only the generator resolves it
//! against a device's capacity.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use ftlab::config::{Problem, Problems, SourcePlace};
use ftlab::units::{Amount, Bytes, Nanos, Ratio, RequestRate};
use serde::Serialize;

use super::loads::PhaseLoad;
use super::validate;

/// A workload: phases played one after another.
#[derive(Clone, Debug, Serialize)]
pub struct Workload {
    /// Its name in results.
    pub name: String,
    /// The source of its figures.
    pub source: Option<String>,
    /// The phases; at least one.
    pub phases: Vec<Phase>,
    /// The text it was parsed from, so that problems with a capacity can point into it.
    #[serde(skip)]
    pub(super) origin: Option<WorkloadText>,
}

/// The text of a workload, and the places of its keys.
#[derive(Clone, Debug)]
pub(super) struct WorkloadText {
    pub file: String,
    pub text: Arc<str>,
    pub spans: BTreeMap<String, Range<usize>>,
}

/// One phase.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// Whether results count it.
    pub measure: bool,
    /// Results count only this many of its requests, the first ones; later requests keep the device busy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure_first: Option<u64>,
    /// Whether it plays at the same time as the previous phase, as a separate tenant.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub with_previous: bool,
    /// The number of its first stream; without it, tenants have consecutive numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_stream: Option<u32>,
    /// The shares of operations.
    pub mix: Mix,
    /// The share of writes that complete only when their data is on flash (force unit access).
    #[serde(skip_serializing_if = "is_zero")]
    pub fua: Ratio,
    /// The sizes of requests.
    pub size: Sizes,
    /// The sizes of writes and trims, if they differ from those of reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_size: Option<Sizes>,
    /// The sizes of trims, if they differ from those of writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_size: Option<Sizes>,
    /// The share of requests that start at any sector of their place.
    #[serde(skip_serializing_if = "is_zero")]
    pub unaligned: Ratio,
    /// Of the requests smaller than `align`, the share that starts at any sector of its place from
    /// which it still ends within the place.
    #[serde(skip_serializing_if = "is_zero")]
    pub inside: Ratio,
    /// The share of reads that start where the previous read ended.
    #[serde(skip_serializing_if = "is_zero")]
    pub sequential_reads: Ratio,
    /// The same for writes and trims.
    #[serde(skip_serializing_if = "is_zero")]
    pub sequential_writes: Ratio,
    /// Every request starts at a multiple of this from the start of the region.
    pub align: Bytes,
    /// The part of the device that is used.
    pub region: Region,
    /// The number of streams, which take turns.
    pub streams: u32,
    /// Of the places that reads can reach, the share that writes can reach too.
    pub overlap: Ratio,
    /// The popularity of addresses.
    pub address: Addresses,
    /// The popularity for reads, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_address: Option<Addresses>,
    /// The application that makes the requests, if they are not independent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<PhaseLoad>,
    /// When requests arrive.
    pub arrivals: Arrivals,
    /// When the phase ends.
    pub duration: Duration,
}

fn is_zero(share: &Ratio) -> bool {
    share.ppm == 0
}

impl Phase {
    /// Returns the largest possible request.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        let others = [&self.write_size, &self.trim_size];
        let others = others.into_iter().flatten().map(Sizes::largest).max();
        self.size.largest().max(others.unwrap_or(Bytes(0)))
    }
}

/// The shares of operations, which sum to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mix {
    /// The share of reads.
    pub reads: Ratio,
    /// The share of writes.
    pub writes: Ratio,
    /// The share of trims.
    pub trims: Ratio,
    /// The share of flushes.
    pub flushes: Ratio,
}

/// A part of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Region {
    /// The start.
    pub offset: Amount,
    /// The length; `None` means up to the end of the device.
    pub size: Option<Amount>,
}

/// The sizes of requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sizes {
    /// A single size.
    Fixed(Bytes),
    /// Several sizes with weights.
    List(Vec<(Bytes, u64)>),
    /// `from`, `from + step`, ... up to `to`, all equally likely.
    Range {
        /// The smallest.
        from: Bytes,
        /// The largest.
        to: Bytes,
        /// The distance between sizes.
        step: Bytes,
    },
}

impl Sizes {
    /// Returns the smallest possible size.
    #[must_use]
    pub fn smallest(&self) -> Bytes {
        match self {
            Sizes::Fixed(size) => *size,
            Sizes::List(list) => list.iter().map(|entry| entry.0).min().unwrap_or_default(),
            Sizes::Range { from, .. } => *from,
        }
    }

    /// Returns the largest possible size.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        match self {
            Sizes::Fixed(size) => *size,
            Sizes::List(list) => list.iter().map(|entry| entry.0).max().unwrap_or_default(),
            Sizes::Range { from, to, step } => Bytes(from.0 + (to.0 - from.0) / step.0 * step.0),
        }
    }
}

/// The popularity of addresses.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Addresses {
    /// All addresses are equally likely.
    Uniform,
    /// Consecutive addresses, separately for each stream and for reads, writes and trims.
    Sequential,
    /// The same with a fixed distance between starts.
    Strided {
        /// The distance from start to start.
        stride: Bytes,
    },
    /// The k-th most popular place has a probability proportional to `1 / k^theta`.
    Zipf {
        /// The exponent.
        theta: f64,
        /// Whether popular places are spread over the region.
        scatter: bool,
        /// The drift of the order, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        drift: Option<Drift>,
    },
    /// A part of the region receives most accesses.
    HotCold {
        /// The hot share of the region.
        space: Ratio,
        /// Its share of the accesses.
        accesses: Ratio,
        /// Whether hot places are spread over the region.
        scatter: bool,
        /// The drift of the order, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        drift: Option<Drift>,
    },
    /// A measured curve.
    Histogram {
        /// Parts of the region, in order.
        buckets: Vec<Bucket>,
        /// Whether the places of a part are spread over the region.
        scatter: bool,
        /// The drift of the order, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        drift: Option<Drift>,
    },
}

/// How a popularity drifts over its places as requests pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// The number of requests with an address between two steps.
    pub every: u64,
    /// The places of a step: the least popular ones move to the top, and all others lose as many ranks.
    pub by: Amount,
}

impl Addresses {
    /// Returns the drift of the order of popularity, if any.
    #[must_use]
    pub fn drift(&self) -> Option<Drift> {
        match self {
            Addresses::Zipf { drift, .. }
            | Addresses::HotCold { drift, .. }
            | Addresses::Histogram { drift, .. } => *drift,
            Addresses::Uniform | Addresses::Sequential | Addresses::Strided { .. } => None,
        }
    }
}

/// A part of a histogram; both figures are relative to the other parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// The part of the region that it covers.
    pub space: u64,
    /// The accesses that it receives.
    pub accesses: u64,
}

/// When requests arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Arrivals {
    /// A fixed number of requests is kept outstanding.
    Closed {
        /// The number of outstanding requests.
        queue_depth: u32,
        /// The time from a completion to the request that replaces it.
        think_time: Nanos,
    },
    /// Independent arrivals at a mean rate.
    Poisson {
        /// The mean rate.
        rate: RequestRate,
    },
    /// Independent arrivals with a mean gap, which also says rates that are no whole number of requests in 1000 s.
    PoissonPeriod {
        /// The mean time from one request to the next.
        period: Nanos,
    },
    /// Independent arrivals in clusters: gaps are exponential, short or long.
    Clustered {
        /// The mean rate.
        rate: RequestRate,
        /// The squared coefficient of variation of gaps; 100% is Poisson.
        variation: Ratio,
    },
    /// Independent arrivals in clusters, with a mean gap.
    ClusteredPeriod {
        /// The mean time from one request to the next.
        period: Nanos,
        /// The squared coefficient of variation of gaps; 100% is Poisson.
        variation: Ratio,
    },
    /// Even arrivals, at a rate that need not be a whole number of nanoseconds.
    ConstantRate {
        /// The rate.
        rate: RequestRate,
    },
    /// Even arrivals.
    ConstantPeriod {
        /// The time from one request to the next.
        period: Nanos,
    },
    /// Even arrivals, and additional bursts.
    Bursts {
        /// The time from one single request to the next.
        period: Nanos,
        /// The number of requests in a burst.
        burst_size: u32,
        /// The time from one burst to the next.
        burst_period: Nanos,
        /// The time of the first burst.
        burst_offset: Nanos,
    },
}

/// When a phase ends: at the first of these limits; at least one is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Duration {
    /// The number of requests.
    pub requests: Option<u64>,
    /// The amount read, written and trimmed; a share is of the region.
    pub bytes: Option<Amount>,
    /// The simulated time.
    pub time: Option<Nanos>,
}

/// Returns the total number of requests, if every phase has a limit on requests and no other limit.
pub(super) fn total_requests(phases: &[Phase]) -> Option<u64> {
    phases.iter().try_fold(0u64, |sum, phase| match phase.duration {
        Duration { requests: Some(requests), bytes: None, time: None }
            if phase.measure_first.is_none() =>
        {
            sum.checked_add(requests)
        }
        _ => None,
    })
}

impl Workload {
    /// Creates a workload that was not parsed from a file, with the same checks.
    pub fn new(name: &str, source: Option<&str>, phases: Vec<Phase>) -> Result<Workload, Problems> {
        let source = source.map(str::to_owned);
        let workload = Workload { name: name.to_owned(), source, phases, origin: None };
        let problems = validate::problems(&workload);
        if problems.is_empty() { Ok(workload) } else { Err(Problems { problems }) }
    }

    /// Returns the workload with at least this many measured requests. Only one whose last phase alone is measured, and
    /// ends after a number of requests, can be continued; any other is returned as it is.
    #[must_use]
    pub fn continued_to(mut self, requests: u64) -> Workload {
        let mut measured = self.phases.iter().rev().map(|phase| phase.measure);
        let only_the_last = measured.next() == Some(true) && !measured.any(|measured| measured);
        let last = self.phases.last_mut().filter(|last| {
            let Duration { bytes, time, .. } = last.duration;
            let counted_alone = bytes.is_none() && time.is_none() && last.measure_first.is_none();
            only_the_last && counted_alone && !last.with_previous
        });
        if let Some(Phase { duration: Duration { requests: Some(own), .. }, .. }) = last {
            *own = requests.max(*own);
        }
        self
    }

    /// Returns the groups of phases that play at the same time; most groups have one phase.
    pub fn groups(&self) -> impl Iterator<Item = &[Phase]> {
        self.phases.chunk_by(|_, next| next.with_previous)
    }

    /// Returns the names of the groups in results.
    #[must_use]
    pub fn group_names(&self) -> Vec<String> {
        let name = |group: &[Phase]| {
            let names: Vec<&str> = group.iter().map(|phase| phase.name.as_str()).collect();
            names.join(" + ")
        };
        self.groups().map(name).collect()
    }

    /// Returns the total number of requests, if every phase has a limit on requests and no other limit.
    #[must_use]
    pub fn total_requests(&self) -> Option<u64> {
        total_requests(&self.phases)
    }

    /// Returns the names of the groups before the first measured one: usually a fill, which a
    /// prepared device does not need. Empty if nothing is measured.
    #[must_use]
    pub fn unmeasured_lead(&self) -> Vec<String> {
        let measured = |group: &[Phase]| group.iter().any(|phase| phase.measure);
        match self.groups().position(measured) {
            Some(lead) => self.group_names().drain(..lead).collect(),
            None => Vec::new(),
        }
    }

    /// Returns a problem with `key` of the phase at `index`, at the place of the key or of its phase.
    pub(super) fn problem(
        &self,
        index: usize,
        key: &str,
        message: String,
        remedy: String,
    ) -> Problem {
        let phase = format!("phase[{}]", index + 1);
        let path = format!("{phase}.{key}");
        let place = self.origin.as_ref().and_then(|origin| {
            let span = origin.spans.get(&path).or_else(|| origin.spans.get(&phase))?;
            Some(SourcePlace::new(&origin.file, &origin.text, span.clone()))
        });
        Problem { path, message, remedy, place }
    }
}
