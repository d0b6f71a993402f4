//! What a workload is: plain data, checked when it is read, resolved against a device's capacity
//! only by the generator.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use ftlab::config::{Problem, Problems, SourcePlace};
use ftlab::units::{Amount, Bytes, Nanos, Ratio, RequestRate};
use serde::Serialize;

use super::validate;

/// A workload: phases played one after the other.
#[derive(Clone, Debug, Serialize)]
pub struct Workload {
    /// Its name, as results print it.
    pub name: String,
    /// Where its figures come from.
    pub source: Option<String>,
    /// The phases; at least one.
    pub phases: Vec<Phase>,
    /// The text that it was read from, so that problems with a capacity can point into it.
    #[serde(skip)]
    pub(super) origin: Option<WorkloadText>,
}

/// The text of a workload, and where its keys stand in it.
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
    /// Results count only so many of its requests, the first: those that follow keep the device busy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure_first: Option<u64>,
    /// Whether it plays at the same time as the phase before it, as a tenant of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub with_previous: bool,
    /// The number of its first stream; without it, those of tenants follow one another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_stream: Option<u32>,
    /// Shares of operations.
    pub mix: Mix,
    /// Of the writes, the share that is told only when its data is on flash (force unit access).
    #[serde(skip_serializing_if = "is_zero")]
    pub fua: Ratio,
    /// Sizes of requests.
    pub size: Sizes,
    /// Sizes of writes and trims, where they differ from those of reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_size: Option<Sizes>,
    /// Of the requests with a place, the share that starts at any sector of it.
    #[serde(skip_serializing_if = "is_zero")]
    pub unaligned: Ratio,
    /// Of the requests smaller than `align`, the share that starts at any sector of its place at which it
    /// still ends within it.
    #[serde(skip_serializing_if = "is_zero")]
    pub inside: Ratio,
    /// Of the reads, the share that starts where the one before it ended.
    #[serde(skip_serializing_if = "is_zero")]
    pub sequential_reads: Ratio,
    /// Likewise of the writes and trims.
    #[serde(skip_serializing_if = "is_zero")]
    pub sequential_writes: Ratio,
    /// Every request starts at a multiple of this from the start of the region.
    pub align: Bytes,
    /// The part of the device that is used.
    pub region: Region,
    /// How many streams take turns.
    pub streams: u32,
    /// Of the places that reads can reach, the share that writes can reach too.
    pub overlap: Ratio,
    /// How popular each address is.
    pub address: Addresses,
    /// How popular each is for reads, where that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_address: Option<Addresses>,
    /// When requests arrive.
    pub arrivals: Arrivals,
    /// When the phase ends.
    pub duration: Duration,
}

fn is_zero(share: &Ratio) -> bool {
    share.ppm == 0
}

impl Phase {
    /// The largest request that occurs.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        let writes = self.write_size.as_ref().map_or(Bytes(0), Sizes::largest);
        self.size.largest().max(writes)
    }
}

/// Shares of operations; they sum to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mix {
    /// Share of reads.
    pub reads: Ratio,
    /// Share of writes.
    pub writes: Ratio,
    /// Share of trims.
    pub trims: Ratio,
    /// Share of flushes.
    pub flushes: Ratio,
}

/// A part of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Region {
    /// Where it starts.
    pub offset: Amount,
    /// How long it is; nothing means up to the end of the device.
    pub size: Option<Amount>,
}

/// Sizes of requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sizes {
    /// Always the same.
    Fixed(Bytes),
    /// Several, with weights.
    List(Vec<(Bytes, u64)>),
    /// `from`, `from + step`, ... up to `to`, all equally likely.
    Range {
        /// The smallest.
        from: Bytes,
        /// The largest.
        to: Bytes,
        /// Between neighbours.
        step: Bytes,
    },
}

impl Sizes {
    /// The smallest size that occurs.
    #[must_use]
    pub fn smallest(&self) -> Bytes {
        match self {
            Sizes::Fixed(size) => *size,
            Sizes::List(list) => list.iter().map(|entry| entry.0).min().unwrap_or_default(),
            Sizes::Range { from, .. } => *from,
        }
    }

    /// The largest size that occurs.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        match self {
            Sizes::Fixed(size) => *size,
            Sizes::List(list) => list.iter().map(|entry| entry.0).max().unwrap_or_default(),
            Sizes::Range { from, to, step } => Bytes(from.0 + (to.0 - from.0) / step.0 * step.0),
        }
    }
}

/// How popular each address is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Addresses {
    /// All alike.
    Uniform,
    /// One after the other, for each stream and for reads, writes and trims on their own.
    Sequential,
    /// Likewise, with a fixed distance between starts.
    Strided {
        /// From start to start.
        stride: Bytes,
    },
    /// The k-th most popular place in proportion to `1 / k^theta`.
    Zipf {
        /// The exponent.
        theta: f64,
        /// Whether popular places are spread over the region.
        scatter: bool,
        /// How the order moves; none if it stays.
        #[serde(skip_serializing_if = "Option::is_none")]
        drift: Option<Drift>,
    },
    /// A part of the region takes most accesses.
    HotCold {
        /// The hot share of the region.
        space: Ratio,
        /// Its share of the accesses.
        accesses: Ratio,
        /// Whether hot places are spread over the region.
        scatter: bool,
        /// How the order moves; none if it stays.
        #[serde(skip_serializing_if = "Option::is_none")]
        drift: Option<Drift>,
    },
    /// A measured curve.
    Histogram {
        /// Parts of the region, in order.
        buckets: Vec<Bucket>,
        /// Whether the places of a part are spread over the region.
        scatter: bool,
        /// How the order moves; none if it stays.
        #[serde(skip_serializing_if = "Option::is_none")]
        drift: Option<Drift>,
    },
}

/// How a popularity moves over its places as requests pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// After so many requests of the phase that have an address.
    pub every: u64,
    /// By so many places: those that are least popular come to the top, all others lose as many ranks.
    pub by: Amount,
}

impl Addresses {
    /// How the order of popularity moves; none if it stays, or if there is none.
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
    /// How much of the region it covers.
    pub space: u64,
    /// How many accesses it takes.
    pub accesses: u64,
}

/// When requests arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Arrivals {
    /// A fixed number of requests is kept outstanding.
    Closed {
        /// How many.
        queue_depth: u32,
        /// From a completion to the request that replaces it.
        think_time: Nanos,
    },
    /// Independent of each other, at a mean rate.
    Poisson {
        /// The mean rate.
        rate: RequestRate,
    },
    /// Independent of each other, in clusters: gaps are short or long, of an exponential law each.
    Clustered {
        /// The mean rate.
        rate: RequestRate,
        /// The squared coefficient of variation of gaps: 100% is Poisson.
        variation: Ratio,
    },
    /// Evenly, at a rate that need not be a whole number of nanoseconds.
    ConstantRate {
        /// The rate.
        rate: RequestRate,
    },
    /// Evenly.
    ConstantPeriod {
        /// From one to the next.
        period: Nanos,
    },
    /// Evenly, and bursts on top.
    Bursts {
        /// From one single request to the next.
        period: Nanos,
        /// Requests in a burst.
        burst_size: u32,
        /// From one burst to the next.
        burst_period: Nanos,
        /// When the first burst comes.
        burst_offset: Nanos,
    },
}

/// When a phase ends: at the first of these; at least one is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Duration {
    /// After so many requests.
    pub requests: Option<u64>,
    /// After so much was read, written and trimmed; a share is one of the region.
    pub bytes: Option<Amount>,
    /// After so much simulated time.
    pub time: Option<Nanos>,
}

/// How many requests phases make together, where each has that limit and no other.
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
    /// A workload that was not read from a file, checked like one that was.
    pub fn new(name: &str, source: Option<&str>, phases: Vec<Phase>) -> Result<Workload, Problems> {
        let source = source.map(str::to_owned);
        let workload = Workload { name: name.to_owned(), source, phases, origin: None };
        let problems = validate::problems(&workload);
        if problems.is_empty() { Ok(workload) } else { Err(Problems { problems }) }
    }

    /// The phases that play at the same time, group after group: most have one.
    pub fn groups(&self) -> impl Iterator<Item = &[Phase]> {
        self.phases.chunk_by(|_, next| next.with_previous)
    }

    /// The names of the groups, as results print them.
    #[must_use]
    pub fn group_names(&self) -> Vec<String> {
        let name = |group: &[Phase]| {
            let names: Vec<&str> = group.iter().map(|phase| phase.name.as_str()).collect();
            names.join(" + ")
        };
        self.groups().map(name).collect()
    }

    /// How many requests all phases make together, where each has that limit and no other.
    #[must_use]
    pub fn total_requests(&self) -> Option<u64> {
        total_requests(&self.phases)
    }

    /// The names of the groups before the first one that is measured: mostly a fill, which a device
    /// that was prepared otherwise does not need. Empty if nothing is measured.
    #[must_use]
    pub fn unmeasured_lead(&self) -> Vec<String> {
        let measured = |group: &[Phase]| group.iter().any(|phase| phase.measure);
        match self.groups().position(measured) {
            Some(lead) => self.group_names().drain(..lead).collect(),
            None => Vec::new(),
        }
    }

    /// A problem with `key` of the phase at `index`, which points at the key or at its phase.
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
