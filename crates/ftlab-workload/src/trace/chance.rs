//! Tables of one's own that fit a known format by chance: what their first numbers say against it.
//!
//! Numbers between commas look alike: `time,op,address,size,latency` reads as Alibaba's `device,op,address,size,time`. A column of
//! streams whose values never come again, and rise as times do, is none.

use ftlab::units::{Nanos, SECTOR_BYTES};

use super::format::Format;
use super::options::Options;
use super::record::Record;
use super::seams::FileOrder;
use super::units::{SINCE_1970, SpaceUnit, TimeUnit, Units};

/// The least number of requests that tells if their times go back, too.
const FEW: usize = 3;
/// The least number of requests that tells something else.
const ENOUGH: usize = 8;
/// A mean gap that hardly any trace has.
const LONG_GAP: Nanos = Nanos(1_000_000_000_000);
/// A file of so many devices has several requests a second.
const MANY_STREAMS: usize = 16;
/// The least number of streams that tells of their order.
const FEW_STREAMS: usize = 4;
/// The sectors after which addresses in bytes and in sectors look alike.
const ALIKE: u32 = SECTOR_BYTES as u32;

/// The requests at the beginning of a file, as a format reads them.
#[derive(Clone, Debug, Default)]
pub(crate) struct FirstRequests {
    count: usize,
    streams: Vec<u32>,
    /// Whether each stream has a higher number than the one before.
    streams_rise: bool,
    earliest_ns: u64,
    latest_ns: u64,
    order: FileOrder,
    /// All bits of the addresses, and of the sizes, in sectors.
    address_bits: u64,
    size_bits: u32,
    /// The smallest size.
    smallest: u32,
    last_end: u64,
    /// Requests that begin where the one before ended.
    following: usize,
}

impl FirstRequests {
    /// Adds the next request of the file.
    pub fn add(&mut self, record: &Record) {
        let at = record.at.0;
        if self.count == 0 {
            (self.streams_rise, self.earliest_ns, self.smallest) = (true, at, u32::MAX);
        } else {
            self.following += usize::from(record.lba.0 == self.last_end);
        }
        self.streams_rise &= self.streams.last().is_none_or(|last| *last < record.stream);
        self.streams.push(record.stream);
        (self.earliest_ns, self.latest_ns) = (self.earliest_ns.min(at), self.latest_ns.max(at));
        self.order.pass(at);
        self.address_bits |= record.lba.0;
        self.size_bits |= record.sectors;
        (self.smallest, self.last_end) = (self.smallest.min(record.sectors), record.end());
        self.count += 1;
    }

    /// Why they can't be of this format, which has its streams in this column: they rise, and the times don't.
    pub fn contradiction(&self, stream: usize) -> Option<String> {
        let is_time = self.streams_rise && self.count >= FEW && self.order.backward > 0;
        is_time.then(|| {
            format!(
                "column {}, which would be its stream, rises with every line, as times do",
                stream + 1
            )
        })
    }

    /// What is odd about them, read as a format that has its streams and times in these columns.
    pub fn doubt(
        &self,
        format: &Format,
        options: &Options,
        [stream, time]: [usize; 2],
    ) -> Option<String> {
        let units = options.units(format);
        // Who said a unit looked at the numbers.
        let [time_unit, address_unit] =
            [options.time_unit.is_none(), options.address_unit.is_none()];
        let odd = [
            self.streams_as_times(stream),
            self.lone_streams(stream),
            self.standstill(format, time),
            self.disorder(time),
            self.long_gaps(&units).filter(|_| time_unit),
            self.sparse(format).filter(|_| time_unit),
            self.bytes(&units).filter(|_| address_unit),
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

    /// Streams that never fall, as times of a coarse clock do, or that are what clocks show since 1970.
    fn streams_as_times(&self, stream: usize) -> Option<String> {
        let column = stream + 1;
        let dates = SINCE_1970.iter().filter(|(unit, _)| *unit == TimeUnit::S);
        let is_date =
            |stream: &u32| dates.clone().any(|(_, dates)| dates.contains(&u64::from(*stream)));
        if self.count >= FEW && self.streams.iter().all(is_date) {
            return Some(format!("column {column}, read as the stream, holds seconds since 1970"));
        }
        let is_odd = self.count >= ENOUGH
            && self.streams.is_sorted()
            && self.different_streams() >= FEW_STREAMS
            && !self.streams_rise;
        is_odd.then(|| format!("column {column}, read as the stream, never falls, as times do"))
    }

    /// Nearly as many streams as requests.
    fn lone_streams(&self, stream: usize) -> Option<String> {
        let different = self.different_streams();
        let is_odd = self.count >= ENOUGH && different * 10 >= self.count * 9;
        is_odd.then(|| {
            format!(
                "column {}, read as the stream, has {different} values in the first {} requests",
                stream + 1,
                self.count
            )
        })
    }

    fn different_streams(&self) -> usize {
        let mut different = self.streams.clone();
        different.sort_unstable();
        different.dedup();
        different.len()
    }

    /// Many streams by a clock of seconds, which in such a file stands still for many requests.
    fn sparse(&self, format: &Format) -> Option<String> {
        let mean = self.mean_gap();
        let is_odd = format.tick >= Nanos(TimeUnit::S.ns())
            && mean >= format.tick
            && self.different_streams() > MANY_STREAMS;
        is_odd.then(|| {
            let streams = self.different_streams();
            format!(
                "its first {} requests are of {streams} streams, and yet {mean} apart",
                self.count
            )
        })
    }

    fn mean_gap(&self) -> Nanos {
        Nanos((self.latest_ns - self.earliest_ns) / self.count.max(1) as u64)
    }

    /// Times that are all 0, which is no error by a clock of seconds.
    fn standstill(&self, format: &Format, time: usize) -> Option<String> {
        let is_odd =
            format.tick >= Nanos(TimeUnit::S.ns()) && self.count > 1 && self.latest_ns == 0;
        is_odd.then(|| format!("column {}, read as the time, is 0 in all lines", time + 1))
    }

    /// Times that go back about as often as forward, as those of no clock do.
    fn disorder(&self, time: usize) -> Option<String> {
        let is_odd = self.order.is_shuffled() && !self.order.is_reversed();
        is_odd.then(|| {
            let (backward, column) = (self.order.backward, time + 1);
            let changes = backward + self.order.forward;
            format!("column {column}, read as the time, goes back {backward} of {changes} times")
        })
    }

    /// Requests so far apart that times seem to count a smaller unit.
    fn long_gaps(&self, units: &Units) -> Option<String> {
        let mean = self.mean_gap();
        let is_odd = units.time == TimeUnit::S && self.count >= ENOUGH && mean > LONG_GAP;
        is_odd.then(|| format!("in seconds, its requests are {mean} apart"))
    }

    /// Addresses that all are multiples of so many sectors as a sector has bytes. Large requests, and such that follow each other,
    /// have them in sectors, too.
    pub fn bytes(&self, units: &Units) -> Option<String> {
        let is_in_sectors = |unit: SpaceUnit| unit == SpaceUnit::Sector;
        let is_multiple = |bits: u64| bits.is_multiple_of(SECTOR_BYTES);
        let sizes_fit = match is_in_sectors(units.size) {
            true => is_multiple(u64::from(self.size_bits)),
            false => self.smallest < ALIKE,
        };
        let is_odd = self.count >= ENOUGH
            && self.following * 2 < self.count
            && is_in_sectors(units.address)
            && self.address_bits > 0
            && is_multiple(self.address_bits)
            && sizes_fit;
        is_odd.then(|| {
            "its addresses count sectors, but the first all are multiples of 512, as bytes are"
                .to_owned()
        })
    }
}
