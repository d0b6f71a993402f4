//! What each stream asks for. The first 1024 streams are told apart; later ones count together.

use std::collections::HashMap;

use ftlab::host::Op;
use ftlab::units::SECTOR_BYTES;
use serde::Serialize;

use super::sequence::StreamRun;
use crate::trace::record::Record;

/// The most streams that are told apart.
pub(in crate::trace) const MOST_STREAMS: usize = 1024;

/// The requests of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StreamUse {
    /// Its number in the trace; null for all streams after the first 1024 together.
    pub stream: Option<u32>,
    /// All requests.
    pub requests: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// The time of the first request; null if the load has no times.
    pub first_ns: Option<u64>,
    /// The time of the last request; null if the load has no times.
    pub last_ns: Option<u64>,
}

/// Counts by stream.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamTally {
    // Only looked up, never iterated, so the order of the hash table has no effect.
    places: HashMap<u32, usize>,
    last: Option<(u32, usize)>,
    uses: Vec<(StreamUse, StreamRun)>,
}

impl StreamTally {
    /// Counts a request, and returns the run of its stream.
    pub fn add(&mut self, record: &Record) -> &mut StreamRun {
        let place = match self.last {
            Some((stream, place)) if stream == record.stream => place,
            _ => self.place(record),
        };
        self.last = Some((record.stream, place));
        let (of, run) = &mut self.uses[place];
        of.requests += 1;
        of.last_ns = Some(record.at.0);
        let bytes = u64::from(record.sectors) * SECTOR_BYTES;
        match record.op {
            Op::Read => of.read_bytes = of.read_bytes.saturating_add(bytes),
            Op::Write | Op::Append => of.write_bytes = of.write_bytes.saturating_add(bytes),
            _ => {}
        }
        run
    }

    fn place(&mut self, record: &Record) -> usize {
        if let Some(place) = self.places.get(&record.stream) {
            return *place;
        }
        let place = self.places.len().min(MOST_STREAMS);
        let stream = (place < MOST_STREAMS).then_some(record.stream);
        if stream.is_some() {
            self.places.insert(record.stream, place);
        }
        if place == self.uses.len() {
            let at = Some(record.at.0);
            let none = StreamUse {
                stream,
                requests: 0,
                read_bytes: 0,
                write_bytes: 0,
                first_ns: at,
                last_ns: at,
            };
            self.uses.push((none, StreamRun::default()));
        }
        place
    }

    pub fn runs(&self) -> impl Iterator<Item = &StreamRun> {
        self.uses.iter().map(|(_, run)| run)
    }

    /// Returns the streams, without times if the load is `timeless`.
    pub fn report(&self, timeless: bool) -> Vec<StreamUse> {
        let times = |at: Option<u64>| at.filter(|_| !timeless);
        let told = |(of, _): &(StreamUse, StreamRun)| StreamUse {
            first_ns: times(of.first_ns),
            last_ns: times(of.last_ns),
            ..*of
        };
        self.uses.iter().map(told).collect()
    }
}
