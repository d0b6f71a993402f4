//! Reads, writes and trims over time. Intervals double until a fixed number covers the trace.

use ftlab::host::Op;
use ftlab::units::SECTOR_BYTES;
use serde::Serialize;

use crate::trace::record::Record;

/// The most intervals.
const MOST_INTERVALS: u64 = 256;
/// The shortest interval: a millisecond.
const SHORTEST_NS: u64 = 1_000_000;

/// What was asked for over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MixOverTime {
    /// The length of an interval: a millisecond, doubled until at most 256 cover the trace.
    pub interval_ns: u64,
    /// The intervals from the first request on.
    pub intervals: Vec<MixInterval>,
}

/// The requests of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MixInterval {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes trimmed.
    pub trim_bytes: u64,
}

impl MixInterval {
    fn add(&mut self, other: &MixInterval) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.trims += other.trims;
        self.read_bytes = self.read_bytes.saturating_add(other.read_bytes);
        self.write_bytes = self.write_bytes.saturating_add(other.write_bytes);
        self.trim_bytes = self.trim_bytes.saturating_add(other.trim_bytes);
    }
}

impl Default for MixOverTime {
    fn default() -> MixOverTime {
        MixOverTime { interval_ns: SHORTEST_NS, intervals: Vec::new() }
    }
}

impl MixOverTime {
    pub(super) fn add(&mut self, record: &Record) {
        let mut interval = record.at.0 / self.interval_ns;
        while interval >= MOST_INTERVALS {
            self.double();
            interval = record.at.0 / self.interval_ns;
        }
        let place = interval as usize;
        if place >= self.intervals.len() {
            self.intervals.resize(place + 1, MixInterval::default());
        }
        let of = &mut self.intervals[place];
        let bytes = u64::from(record.sectors) * SECTOR_BYTES;
        let (requests, moved) = match record.op {
            Op::Read => (&mut of.reads, &mut of.read_bytes),
            Op::Write | Op::Append => (&mut of.writes, &mut of.write_bytes),
            Op::Trim => (&mut of.trims, &mut of.trim_bytes),
            // They move no data.
            _ => return,
        };
        *requests += 1;
        *moved = moved.saturating_add(bytes);
    }

    fn double(&mut self) {
        let pairs = self.intervals.chunks(2).map(|pair| {
            let mut both = MixInterval::default();
            pair.iter().for_each(|one| both.add(one));
            both
        });
        self.intervals = pairs.collect();
        self.interval_ns *= 2;
    }
}
