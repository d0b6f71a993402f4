//! Sequentiality: requests that start where an earlier one ended.
//!
//! I. Ahmad, "Easy and Efficient Disk I/O Workload Characterization in VMware ESX Server", IISWC
//! 2007, compares a request with the last sixteen too, so that interleaved sequential streams show.
//! It takes the least distance; here only a distance of nothing counts.

use serde::Serialize;

use super::distribution::{Distribution, Weights};
use crate::trace::record::Record;

/// The requests that are looked back on.
const WINDOW: usize = 16;

/// How sequential a trace is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sequence {
    /// The share of requests with an address that start where the previous one of their stream
    /// ended; null without such requests.
    pub next_ratio: Option<f64>,
    /// The same share of bytes.
    pub next_bytes_ratio: Option<f64>,
    /// The share of requests that start where any of the last 16 requests ended.
    pub near_ratio: Option<f64>,
    /// The same share of bytes.
    pub near_bytes_ratio: Option<f64>,
    /// The requests of a run: a request and those that continue it directly.
    pub run_requests: Distribution,
}

/// Counts runs.
#[derive(Clone, Debug, Default)]
pub(super) struct SequenceTally {
    all: SequenceCount,
    next: SequenceCount,
    near: SequenceCount,
    recent: [Option<(u32, u64)>; WINDOW],
    /// The ends alone, which are compared first, because they seldom match.
    ends: [u64; WINDOW],
    place: usize,
    runs: Weights,
}

#[derive(Clone, Copy, Debug, Default)]
struct SequenceCount {
    requests: u64,
    sectors: u64,
}

impl SequenceCount {
    fn add(&mut self, record: &Record) {
        self.requests += 1;
        self.sectors += u64::from(record.sectors);
    }
}

/// The last request of a stream, and the run that it belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StreamRun {
    end: u64,
    requests: u64,
}

impl SequenceTally {
    /// Adds a request with an address, of the stream with this run.
    pub fn add(&mut self, record: &Record, run: &mut StreamRun) {
        let start = record.lba.0;
        self.all.add(record);
        let is_next = run.requests > 0 && run.end == start;
        if is_next {
            self.next.add(record);
        } else {
            self.end(run);
            run.requests = 0;
        }
        *run = StreamRun { end: record.end(), requests: run.requests + 1 };
        if self.ends.contains(&start) && self.recent.contains(&Some((record.stream, start))) {
            self.near.add(record);
        }
        self.recent[self.place] = Some((record.stream, record.end()));
        self.ends[self.place] = record.end();
        self.place = (self.place + 1) % WINDOW;
    }

    /// Counts a run that has ended.
    pub fn end(&mut self, run: &StreamRun) {
        if run.requests > 0 {
            self.runs.add(run.requests, 1.0);
        }
    }

    pub fn report(&self) -> Sequence {
        let ratio = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
        let (all, next, near) = (self.all, self.next, self.near);
        Sequence {
            next_ratio: ratio(next.requests, all.requests),
            next_bytes_ratio: ratio(next.sectors, all.sectors),
            near_ratio: ratio(near.requests, all.requests),
            near_bytes_ratio: ratio(near.sectors, all.sectors),
            run_requests: self.runs.distribution(1),
        }
    }
}
