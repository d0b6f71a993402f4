//! Tables of one's own that fit a known format by chance: what their first numbers say against it.
//!
//! Numbers between commas look alike: `time,op,address,size,latency` reads as Alibaba's `device,op,address,size,time`. A column of
//! streams whose values never come again, and rise as times do, is none.

use ftlab::units::{Nanos, SECTOR_BYTES};

use super::format::Format;
use super::record::Record;
use super::units::{SpaceUnit, TimeUnit};

/// The least number of requests that tells if their times go back, too.
const FEW: usize = 3;
/// The least number of requests that tells without that.
const ENOUGH: usize = 8;
/// The least number of requests for a share of times that go back.
const ENOUGH_TIMES: usize = 16;
/// A mean gap that hardly any trace has.
const LONG_GAP: Nanos = Nanos(1_000_000_000_000);

/// The requests at the beginning of a file, as a format reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FirstRequests {
    count: usize,
    streams: Vec<u32>,
    /// Whether each stream has a higher number than the one before.
    streams_rise: bool,
    earliest_ns: u64,
    last_ns: u64,
    latest_ns: u64,
    /// Times that are earlier, and later, than the one before.
    backward: usize,
    forward: usize,
    /// All bits of the addresses, and of the sizes, in sectors.
    address_bits: u64,
    size_bits: u32,
}

impl FirstRequests {
    /// Adds the next request of the file.
    pub fn add(&mut self, record: &Record) {
        let at = record.at.0;
        if self.count == 0 {
            (self.streams_rise, self.earliest_ns) = (true, at);
        } else {
            self.backward += usize::from(at < self.last_ns);
            self.forward += usize::from(at > self.last_ns);
        }
        self.streams_rise &= self.streams.last().is_none_or(|last| *last < record.stream);
        self.streams.push(record.stream);
        (self.earliest_ns, self.latest_ns) = (self.earliest_ns.min(at), self.latest_ns.max(at));
        self.last_ns = at;
        self.address_bits |= record.lba.0;
        self.size_bits |= record.sectors;
        self.count += 1;
    }

    /// Why they can't be of this format, which has its streams in this column.
    pub fn contradiction(&self, stream: usize) -> Option<String> {
        let goes_back = self.count >= FEW && self.backward > 0;
        let is_time = self.streams_rise && (self.count >= ENOUGH || goes_back);
        is_time.then(|| {
            format!(
                "column {}, which would be its stream, rises with every line, as times do",
                stream + 1
            )
        })
    }

    /// What is odd about them, read as a format that has its streams and times in these columns.
    pub fn doubt(&self, format: &Format, stream: usize, time: usize) -> Option<String> {
        let odd = [
            self.lone_streams(stream),
            self.disorder(time),
            self.long_gaps(format),
            self.bytes(format),
        ];
        let odd: Vec<String> = odd.into_iter().flatten().collect();
        (!odd.is_empty()).then(|| {
            format!(
                "is this {} ({})? {}. If it is, `format` {} settles it; if not, say with `columns` which column is what",
                format.name,
                format.columns,
                odd.join("; "),
                format.name
            )
        })
    }

    /// Nearly as many streams as requests.
    fn lone_streams(&self, stream: usize) -> Option<String> {
        let mut different = self.streams.clone();
        different.sort_unstable();
        different.dedup();
        let is_odd = self.count >= ENOUGH && different.len() * 10 >= self.count * 9;
        is_odd.then(|| {
            format!(
                "column {}, read as the stream, has {} values in the first {} requests",
                stream + 1,
                different.len(),
                self.count
            )
        })
    }

    /// Times that go back about as often as forward, as those of no clock do.
    fn disorder(&self, time: usize) -> Option<String> {
        let is_odd = self.count >= ENOUGH_TIMES
            && self.backward * 3 >= self.backward + self.forward
            && self.forward > 0
            && self.backward > 0;
        is_odd.then(|| {
            let changes = self.backward + self.forward;
            let column = time + 1;
            format!(
                "column {column}, read as the time, goes back {} of {changes} times",
                self.backward
            )
        })
    }

    /// Requests so far apart that times seem to count a smaller unit.
    fn long_gaps(&self, format: &Format) -> Option<String> {
        let mean = Nanos((self.latest_ns - self.earliest_ns) / self.count.max(1) as u64);
        let is_odd = format.units.time == TimeUnit::S && self.count >= ENOUGH && mean > LONG_GAP;
        is_odd.then(|| format!("in seconds, its requests are {mean} apart"))
    }

    /// Addresses that all are multiples of so many sectors as a sector has bytes.
    fn bytes(&self, format: &Format) -> Option<String> {
        let is_in_sectors = |unit: SpaceUnit| unit == SpaceUnit::Sector;
        let is_multiple = |bits: u64| bits.is_multiple_of(SECTOR_BYTES);
        let sizes_fit = !is_in_sectors(format.units.size) || is_multiple(u64::from(self.size_bits));
        let is_odd = self.count >= ENOUGH
            && is_in_sectors(format.units.address)
            && self.address_bits > 0
            && is_multiple(self.address_bits)
            && sizes_fit;
        is_odd.then(|| {
            "its addresses count sectors, but the first all are multiples of 512, as bytes are"
                .to_owned()
        })
    }
}
