//! What a load is like: mix over time, sizes, sequentiality, arrivals, working set, reuse, skew and
//! streams, in one pass over its requests.
//!
//! Each measure is a file. Their memory has a bound, however long the trace is and however
//! much it touches: times and sizes are in bins, and pages are sampled by address (`sample`) once
//! there are more than 32768.

mod arrivals;
mod compare;
mod distribution;
mod mix;
mod order;
mod reuse;
mod sample;
mod sequence;
mod skew;
mod streams;
#[cfg(test)]
mod tests;
mod working_set;

use ftlab::host::Op;
use ftlab::units::SECTOR_BYTES;
use serde::Serialize;

pub use self::arrivals::{ArrivalCharacter, Dispersion, IdleGaps};
pub use self::compare::{CharacterComparison, ComparedFigure, CurveDistance, compare};
pub use self::distribution::{Distribution, DistributionBin};
pub use self::mix::{MixInterval, MixOverTime};
pub use self::reuse::{LruMisses, ReuseCharacter};
pub use self::sequence::Sequence;
pub use self::skew::{SkewCharacter, TopShare};
pub(super) use self::streams::MOST_STREAMS;
pub use self::streams::StreamUse;
pub use self::working_set::HourUse;

use self::arrivals::ArrivalTally;
use self::distribution::Weights;
use self::reuse::ReuseTally;
use self::sample::{MOST_PAGES, PageSample};
use self::sequence::SequenceTally;
use self::streams::StreamTally;
use self::working_set::HourTally;
use super::keys::mixed;
use super::pages::SECTORS_PER_PAGE;
use super::record::Record;

/// The most pages of a request that are followed, 64 MiB: a damaged size must not take hours.
const MOST_PAGES_OF_REQUEST: u64 = 1 << 14;

/// What a load is like, with the names of its JSON keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Character {
    /// All requests.
    pub requests: u64,
    /// Whether all requests, of several, come at one time, as in a trace without times. Then nothing is said of time:
    /// `mix`, `arrivals`, `working_set` and `overwrite_ns` are empty.
    pub timeless: bool,
    /// Reads, writes and trims over time.
    pub mix: MixOverTime,
    /// The sizes of reads, in bytes.
    pub read_bytes: Distribution,
    /// The sizes of writes, in bytes.
    pub write_bytes: Distribution,
    /// Requests that follow each other.
    pub sequence: Sequence,
    /// Gaps, bursts and idle time.
    pub arrivals: ArrivalCharacter,
    /// The share of pages that is followed: 1 if all figures of pages are exact.
    pub followed_ratio: f64,
    /// Distinct pages of 4 KiB read or written, separately for each stream.
    pub pages: f64,
    /// The pages used by hour.
    pub working_set: Vec<HourUse>,
    /// How soon pages are used again and overwritten.
    pub reuse: ReuseCharacter,
    /// How unequally pages are used.
    pub skew: SkewCharacter,
    /// The requests of each stream.
    pub streams: Vec<StreamUse>,
}

/// Collects what a load is like. Reads and writes use pages; trims and flushes do not.
#[derive(Clone, Debug)]
pub struct CharacterTally {
    requests: u64,
    mix: MixOverTime,
    sizes: [Weights; 2],
    sequence: SequenceTally,
    arrivals: ArrivalTally,
    sample: PageSample,
    hours: HourTally,
    reuse: ReuseTally,
    streams: StreamTally,
    written_sectors: u64,
}

impl Default for CharacterTally {
    fn default() -> CharacterTally {
        CharacterTally::following(MOST_PAGES)
    }
}

impl CharacterTally {
    fn following(pages: usize) -> CharacterTally {
        CharacterTally {
            requests: 0,
            mix: MixOverTime::default(),
            sizes: <[Weights; 2]>::default(),
            sequence: SequenceTally::default(),
            arrivals: ArrivalTally::default(),
            sample: PageSample::new(pages),
            hours: HourTally::default(),
            reuse: ReuseTally::default(),
            streams: StreamTally::default(),
            written_sectors: 0,
        }
    }

    /// Adds the next request, in order of time.
    pub fn add(&mut self, record: &Record) {
        self.requests += 1;
        self.mix.add(record);
        self.arrivals.add(record.at.0);
        let run = self.streams.add(record);
        let is_write = match record.op {
            Op::Read => false,
            Op::Write | Op::Append => true,
            _ => return,
        };
        self.sizes[usize::from(is_write)].add(u64::from(record.sectors), 1.0);
        self.sequence.add(record, run);
        self.touch_pages(record, is_write);
        if is_write {
            self.written_sectors += u64::from(record.sectors);
        }
    }

    fn touch_pages(&mut self, record: &Record, is_write: bool) {
        let at = record.at.0;
        let clock = is_write.then_some((self.written_sectors, at));
        let first = record.lba.0 / SECTORS_PER_PAGE;
        let last = record.end().div_ceil(SECTORS_PER_PAGE).min(first + MOST_PAGES_OF_REQUEST);
        let stream_key = mixed(u64::from(record.stream));
        self.reuse.accesses += last.saturating_sub(first);
        for page in first..last {
            self.sample.touch(sample::key_of(stream_key, page), |mut touch| {
                self.reuse.add(&mut touch, clock);
                self.hours.add(&mut touch, at);
            });
        }
    }

    /// Returns what the load so far is like.
    #[must_use]
    pub fn report(&self) -> Character {
        let mut sequence = self.sequence.clone();
        self.streams.runs().for_each(|run| sequence.end(run));
        let uses: Vec<u64> = self.sample.pages().map(|page| page.uses).collect();
        let [reads, writes] = &self.sizes;
        let timeless = self.arrivals.is_at_once();
        let mut reuse = self.reuse.report(self.sample.weight());
        if timeless {
            reuse.overwrite_ns = Distribution::default();
        }
        Character {
            requests: self.requests,
            timeless,
            mix: if timeless { MixOverTime::default() } else { self.mix.clone() },
            read_bytes: reads.distribution(SECTOR_BYTES),
            write_bytes: writes.distribution(SECTOR_BYTES),
            sequence: sequence.report(),
            arrivals: if timeless { ArrivalCharacter::default() } else { self.arrivals.report() },
            followed_ratio: 1.0 / self.sample.weight(),
            pages: uses.len() as f64 * self.sample.weight(),
            working_set: if timeless { Vec::new() } else { self.hours.report() },
            reuse,
            skew: skew::of(uses, self.sample.weight(), self.reuse.accesses),
            streams: self.streams.report(timeless),
        }
    }
}
