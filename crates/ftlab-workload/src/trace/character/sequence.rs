//! Sequentiality: requests that start where an earlier one ended.
//!
//! I. Ahmad, "Easy and Efficient Disk I/O Workload Characterization in VMware ESX Server", IISWC
//! 2007, compares a request with the last sixteen too, so that interleaved sequential streams show.
//! It takes the least distance; here only a distance of nothing counts. Like Ahmad, who looks at one virtual disk, each stream has its
//! own last sixteen, so that many streams at once do not hide what each of them does.

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
    /// The share of requests that start where any of the last 16 requests of their stream ended.
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

/// The last requests of a stream, and the run that the last one belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StreamRun {
    end: u64,
    requests: u64,
    /// Where the last ones ended, in a ring, and how many there were.
    ends: [u64; WINDOW],
    seen: usize,
}

impl StreamRun {
    /// Whether one of the last requests ended here.
    fn has_end(&self, at: u64) -> bool {
        self.ends[..self.seen.min(WINDOW)].contains(&at)
    }
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
        if run.has_end(start) {
            self.near.add(record);
        }
        (run.end, run.requests) = (record.end(), run.requests + 1);
        run.ends[run.seen % WINDOW] = run.end;
        run.seen += 1;
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
