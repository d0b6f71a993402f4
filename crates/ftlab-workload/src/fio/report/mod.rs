//! The results of jobs in fio's terms: the document of `fio --output-format=json`, so that tools
//! for that format can read ours.
//!
//! [`FioTally`] receives every measured request, and [`FioTally::document`] returns the document. Jobs
//! report as in fio 3.33: a clone by itself, or with `group_reporting` together with the entry
//! above it in its group. Figures without an equivalent on a simulated device are 0: processor
//! time, faults, context switches, calendar times.

mod bins;
mod busy;
pub mod document;
mod moments;
mod rates;
mod sum;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use ftlab::host::{Completion, Op, Outcome};
use ftlab::units::{SECTOR_BYTES, SimTime};

use self::bins::Bins;
use self::busy::Busy;
use self::moments::Moments;
use self::rates::Sampler;
use super::job::{Job, READ, Reporting, TRIM, WRITE};

/// Counts of a clone's requests by the number outstanding at their submission, in powers of two.
pub(super) type Depths = Rc<Cell<[u64; DEPTHS.len()]>>;

/// The state of a clone with `sync`, whose writes complete with the next flush.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::fio) struct Synced {
    /// The number of writes so far.
    pub written: u64,
    /// The outstanding flush covers the writes before this one; none if it covers no writes.
    pub until: Option<u64>,
}

/// What a clone records while it runs.
#[derive(Clone, Debug, Default)]
pub(in crate::fio) struct Notes {
    pub depths: Depths,
    pub synced: Rc<Cell<Synced>>,
}

/// Their names in fio.
const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
/// The limits of latency classes, for ns, us and ms each.
const STEPS: [u64; 11] = [0, 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
/// The error code of failed requests: an input/output error.
const EIO: u32 = 5;

/// Counts a request at a depth.
pub(super) fn note_depth(depths: &Depths, outstanding: u32) {
    let mut counts = depths.get();
    let at = outstanding.max(1).ilog2() as usize;
    counts[at.min(DEPTHS.len() - 1)] += 1;
    depths.set(counts);
}

/// All measurements so far.
#[derive(Debug, Default)]
pub struct FioTally {
    entries: Vec<ReportEntry>,
    clones: Vec<CloneTally>,
    global: Vec<(String, String)>,
    /// How many streams each clone has.
    rounds: usize,
    /// Reads and writes of the whole device.
    disk: [Moments; 2],
    busy: Busy,
    span: Option<(SimTime, SimTime)>,
}

/// An entry of the document.
#[derive(Debug)]
struct ReportEntry {
    name: String,
    group: u32,
    want: Reporting,
    refused: bool,
    ways: [OpMeasures; 3],
    flushes: OpMeasures,
    /// Requests by latency: below a microsecond, below a millisecond, above.
    spread: [[u64; STEPS.len()]; 3],
    over: u64,
}

/// Counts of reads, writes, trims or flushes.
#[derive(Debug, Default)]
struct OpMeasures {
    bytes: u64,
    latencies: Moments,
    bins: Bins,
}

impl OpMeasures {
    fn record(&mut self, ns: u64, bytes: u64) {
        self.bytes += bytes;
        self.latencies.record(ns);
        self.bins.record(ns);
    }
}

/// Measurements of a single clone.
#[derive(Debug)]
struct CloneTally {
    entry: usize,
    notes: Notes,
    /// Whether its writes complete only with a flush, and the writes waiting for one.
    synced: bool,
    unsynced: VecDeque<Written>,
    /// From the arrival of its first request to the end of its last.
    span: Option<(SimTime, SimTime)>,
    /// Whether it read, wrote, trimmed.
    moved: [bool; 3],
    sampler: Sampler,
}

/// A write that waits for its flush.
#[derive(Debug)]
struct Written {
    number: u64,
    bytes: u64,
    arrived: SimTime,
}

impl FioTally {
    /// For clones with a stream in each of so many rounds.
    pub(super) fn new(global: &[(String, String)], rounds: usize) -> FioTally {
        FioTally { global: global.to_vec(), rounds, ..FioTally::default() }
    }

    /// Adds the next clone, and returns where it records its notes.
    pub(super) fn add(&mut self, job: &Job, first_of_job: bool) -> Notes {
        let group = match self.entries.last() {
            Some(last) => last.group + u32::from(first_of_job && job.report.begins_group),
            None => 0,
        };
        match self.entries.last_mut() {
            // As in fio: it joins the entry above it, whatever that requested, and replaces its
            // options.
            Some(last) if job.report.grouped && last.group == group => {
                last.want = job.report.clone();
            }
            _ => self.entries.push(ReportEntry {
                name: job.name.clone(),
                group,
                want: job.report.clone(),
                refused: false,
                ways: Default::default(),
                flushes: OpMeasures::default(),
                spread: [[0; STEPS.len()]; 3],
                over: 0,
            }),
        }
        let notes = Notes::default();
        self.clones.push(CloneTally {
            entry: self.entries.len() - 1,
            notes: notes.clone(),
            synced: job.flush.each_write,
            unsynced: VecDeque::new(),
            span: None,
            moved: [false; 3],
            sampler: Sampler::default(),
        });
        notes
    }

    /// Records a completed request. Requests must come in the order of completion. `arrived` is
    /// before the submission if the request waited for a place in the queue.
    pub fn record(&mut self, completion: &Completion, arrived: SimTime) {
        let (request, finished) = (completion.request, completion.finished);
        let (stream, clones) = (request.stream as usize, self.clones.len());
        // Streams come in rounds of all clones.
        if stream >= clones * self.rounds {
            return;
        }
        let clone = &mut self.clones[stream % clones];
        let entry = &mut self.entries[clone.entry];
        let flushed = if request.op == Op::Flush { clone.flushed() } else { None };
        if completion.outcome != Outcome::Done {
            entry.refused = true;
            return;
        }
        widen(&mut clone.span, arrived, finished);
        widen(&mut self.span, arrived, finished);
        self.busy.cover(arrived.0, finished.0);
        let ns = (finished - arrived).0;
        let way = match request.op {
            Op::Read => READ,
            Op::Write | Op::Append => WRITE,
            Op::Trim => TRIM,
            Op::Flush => {
                // As in fio, the flush after an O_SYNC write is part of that write.
                let Some(writes) = flushed else { return entry.flushes.record(ns, 0) };
                return writes
                    .into_iter()
                    .for_each(|write| entry.done(clone, WRITE, &write, finished));
            }
            // As in fio, the management of zones is not part of a job's requests.
            _ => return,
        };
        if let Some(disk) = self.disk.get_mut(way) {
            disk.record(ns);
        }
        let bytes = u64::from(request.sectors) * SECTOR_BYTES;
        let number = clone.notes.synced.get().written;
        let done = Written { number, bytes, arrived };
        match clone.synced && way == WRITE {
            true => clone.unsynced.push_back(done),
            false => entry.done(clone, way, &done, finished),
        }
    }
}

impl CloneTally {
    /// Returns the writes that the completed flush covered; `None` if it covered none.
    fn flushed(&mut self) -> Option<VecDeque<Written>> {
        let until = self.notes.synced.get().until?;
        let rest = self.unsynced.partition_point(|write| write.number < until);
        let rest = self.unsynced.split_off(rest);
        Some(std::mem::replace(&mut self.unsynced, rest))
    }
}

impl ReportEntry {
    /// Records a completed request of a clone.
    fn done(&mut self, clone: &mut CloneTally, way: usize, request: &Written, finished: SimTime) {
        let ns = (finished - request.arrived).0;
        self.ways[way].record(ns, request.bytes);
        self.note_latency(ns);
        clone.moved[way] = true;
        clone.sampler.record(way, request.bytes, request.arrived, finished);
    }

    fn note_latency(&mut self, ns: u64) {
        let (scale, value) = match ns {
            0..1_000 => (0, ns),
            1_000..1_000_000 => (1, ns / 1_000),
            _ => (2, ns / 1_000_000),
        };
        let step = STEPS.iter().rposition(|from| value >= *from).unwrap_or(0);
        match scale == 2 && value >= 2 * STEPS[STEPS.len() - 1] {
            true => self.over += 1,
            false => self.spread[scale][step] += 1,
        }
    }
}

fn widen(span: &mut Option<(SimTime, SimTime)>, from: SimTime, to: SimTime) {
    *span = Some(span.map_or((from, to), |known| (known.0.min(from), known.1.max(to))));
}
