//! Multi-log: logs of pages with similar update frequencies. The frequency of a page is estimated
//! from the intervals between its writes. Each log holds pages that are up to twice as hot as those
//! of the log below it.
//!
//! Source: Stoica and Ailamaki, "Improving Flash Write Performance by Using Update Frequency", VLDB
//! 2013. Departures: the number of logs is fixed, and their limits are powers of two of the mean
//! frequency; the paper lets logs form and divides the spare space among them, which is here left to
//! `ftl.gc.victim`. The estimate is the geometric mean of the last interval and the estimate before it.
//! The simulator of SepBIT's authors estimates no interval: every copy moves a page to the next colder
//! log, and a write moves it back with a probability that is larger for shorter intervals. A copied
//! page counts as no hotter than its age allows. Each log has blocks of its own for copies, since the
//! FTL keeps these apart from host writes. If a flash page holds several pages, the first one decides
//! for all of them in a copy.

use super::ages::Ages;
use super::per_page::{PerPage, STEPS, log2};
use super::{StreamCounts, StreamsFacts, StreamsPolicy, WriteStream};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Lpn;

options! {
    /// Logs by update frequency.
    pub struct MultiLogOptions at "ftl.streams" {
        /// Number of logs. The coldest takes pages that are written less often than the mean, the
        /// hottest all that are hotter than the others take. Each has an open block for host writes
        /// and one for copies.
        logs: u32 = "6", in "2"..="8", unit "logs",
            source "assumed: a factor of 16 in frequency; range: what fits into sixteen streams";
    }
}

/// The estimated interval of each page. Logs are numbered from cold to hot.
#[derive(Clone, Debug)]
pub struct MultiLog {
    counts: StreamCounts,
    ages: Ages,
    /// The logarithm of the interval between writes. Zero if a page was not written twice.
    intervals: PerPage<u8>,
    /// The same of the mean interval: that of an even load.
    mean: u32,
}

impl Policy for MultiLog {
    const NAME: &'static str = "multi-log";
    const SUMMARY: &'static str =
        "logs by estimated update frequency, each up to twice as hot as the next";
    const SOURCE: &'static str = "Stoica and Ailamaki, VLDB 2013";
    type Options = MultiLogOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        MultiLog::new(options, parts.logical_pages)
    }

    fn save(&self, out: &mut ImageWriter) {
        let MultiLog { counts: _, ages, intervals, mean: _ } = self;
        ages.save(out);
        intervals.save(out);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.ages.load(from)?;
        self.intervals.load(from, 1 << u8::BITS, "the interval of a page")
    }
}

impl StreamsFacts for MultiLog {
    fn counts(options: &Self::Options) -> StreamCounts {
        StreamCounts::new(options.logs as u8, 0)
    }

    fn bytes_per_page(_options: &Self::Options) -> u64 {
        (size_of::<u32>() + size_of::<u8>()) as u64
    }
}

impl MultiLog {
    /// Creates the policy. All pages are cold at first.
    #[must_use]
    pub fn new(options: &MultiLogOptions, logical_pages: u32) -> MultiLog {
        MultiLog {
            counts: <MultiLog as StreamsFacts>::counts(options),
            ages: Ages::new(logical_pages),
            intervals: PerPage::new(logical_pages),
            mean: log2(logical_pages.into()),
        }
    }

    /// The estimated interval of a page once the host has written it again, as stored.
    #[inline]
    fn after_write(&self, page: Lpn) -> u8 {
        let Some(age) = self.ages.of(page) else { return 0 };
        // Ages have 32 bits, so eight steps for each doubling fit a byte.
        let last = (log2(age) as u8).max(1);
        match self.intervals.of(page) {
            0 => last,
            before => before.midpoint(last),
        }
    }

    /// The log of pages with this interval.
    #[inline]
    fn log_of(&self, interval: u8) -> u8 {
        match self.mean.checked_sub(interval.into()) {
            Some(shorter) if interval > 0 => {
                (shorter / STEPS + 1).min(u32::from(self.counts.host) - 1) as u8
            }
            _ => 0,
        }
    }
}

impl StreamsPolicy for MultiLog {
    #[inline]
    fn counts(&self) -> StreamCounts {
        self.counts
    }

    #[inline]
    fn host_stream(&self, page: Lpn, _tag: u8) -> WriteStream {
        WriteStream::new(self.log_of(self.after_write(page)))
    }

    #[inline]
    fn wrote(&mut self, page: Lpn) {
        self.intervals.set(page, self.after_write(page));
        self.ages.wrote(page);
    }

    #[inline]
    fn copy_stream(&self, page: Lpn, _source: WriteStream) -> WriteStream {
        let age = self.ages.of(page).map_or(u8::MAX, |age| log2(age) as u8);
        let log = match self.intervals.of(page) {
            0 => 0,
            interval => self.log_of(interval.max(age)),
        };
        WriteStream::new(self.counts.host + log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: u32 = 1_024;

    /// Writes a page, and others until as many writes have passed.
    fn write_every(policy: &mut MultiLog, page: Lpn, interval: u32) {
        policy.wrote(page);
        (1..interval).for_each(|other| policy.wrote(Lpn::new(500 + other % 400)));
    }

    #[test]
    fn each_log_is_twice_as_hot_as_the_one_below() {
        for (interval, log) in
            [(2_000, 0), (1_025, 1), (1_024, 1), (600, 1), (512, 2), (200, 3), (10, 5)]
        {
            let mut policy = MultiLog::new(&MultiLogOptions { logs: 6 }, PAGES);
            let page = Lpn::new(7);
            assert_eq!(policy.host_stream(page, 0).at(), 0, "never written");
            (0..9).for_each(|_| write_every(&mut policy, page, interval));
            assert_eq!(policy.host_stream(page, 0).at(), log, "every {interval} writes");
            assert_eq!(policy.copy_stream(page, WriteStream::new(0)).at(), 6 + log);
        }
    }

    #[test]
    fn estimates_follow_the_intervals_and_the_age() {
        let mut policy = MultiLog::new(&MultiLogOptions { logs: 8 }, PAGES);
        let page = Lpn::new(7);
        (0..9).for_each(|_| write_every(&mut policy, page, 16));
        assert_eq!(policy.intervals.of(page), 32);
        write_every(&mut policy, page, 256);
        policy.wrote(page);
        assert_eq!(policy.intervals.of(page), 48, "halfway between 2^4 and 2^8");
        (0..127).for_each(|other| policy.wrote(Lpn::new(500 + other)));
        assert_eq!(policy.copy_stream(page, WriteStream::new(0)).at(), 8 + 4, "127 writes of age");
        policy.wrote(page);
        assert_eq!(policy.copy_stream(page, WriteStream::new(0)).at(), 8 + 4);
    }
}
