//! Separates hot and cold pages by write counters. Several hash functions map a page to counters,
//! which its writes raise. A page is hot if all its counters are high. All counters are halved
//! periodically, so that pages that were hot cool down.
//!
//! Source: Hsieh, Chang and Kuo, "Efficient On-line Identification of Hot Data for Flash-Memory
//! Management", SAC 2005; Hsieh, Kuo and Chang, ACM Transactions on Storage 2006. As in the second
//! scheme of the latter, a write raises only the lowest of its counters, which causes fewer errors
//! when pages share counters.

use super::{CopyOptions, StreamCounts, StreamsFacts, StreamsPolicy, WriteStream, hash};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Lpn;

/// Number of hash functions.
const HASHES: u32 = 2;
/// Maximum of a counter, which has four bits.
const MOST: u8 = 15;
/// The stream of hot pages.
const HOT: WriteStream = WriteStream::new(1);
/// The stream of all other pages.
const COLD: WriteStream = WriteStream::new(0);

options! {
    /// Write counters.
    pub struct MultiHashOptions at "ftl.streams" with { copies: CopyOptions } {
        /// Number of counters, shared by all pages. With far fewer counters than hot pages, all
        /// pages look hot.
        counters: u32 = "4096", in "16"..="1073741824", unit "counters",
            source "the size that Hsieh et al. study; for devices beyond a few GB take more";
        /// Number of page writes after which all counters are halved.
        decay_writes: u32 = "5117", in "16"..="4294967295", unit "page writes",
            source "a quarter more than counters, after Hsieh et al.";
        /// A page is hot if all of its counters have at least this value.
        hot_count: u32 = "4", in "1"..="15", unit "writes",
            source "one of the two upper bits of a four-bit counter is set, after Hsieh et al.";
    }
}

/// Write counters, by hash.
#[derive(Clone, Debug)]
pub struct MultiHash {
    counts: StreamCounts,
    counters: Vec<u8>,
    decay_writes: u32,
    hot_count: u8,
    writes: u32,
}

impl Policy for MultiHash {
    const NAME: &'static str = "multi-hash";
    const SUMMARY: &'static str = "hot and cold by hashed counters of writes that decay";
    const SOURCE: &'static str = "Hsieh et al., SAC 2005 and ACM TOS 2006";
    type Options = MultiHashOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        MultiHash::new(options)
    }

    fn save(&self, out: &mut ImageWriter) {
        let MultiHash { counts: _, counters, decay_writes: _, hot_count: _, writes } = self;
        out.raw(counters);
        out.number(*writes);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let counters = from.raw(self.counters.len())?;
        if counters.iter().any(|&counter| counter > MOST) {
            return Err(Damage::new("a counter of writes has more than four bits"));
        }
        self.counters.copy_from_slice(counters);
        self.writes = from.below(self.decay_writes.into(), "the writes since the last decay")?;
        Ok(())
    }
}

impl StreamsFacts for MultiHash {
    fn counts(options: &Self::Options) -> StreamCounts {
        StreamCounts::new(2, options.copies.copy_streams as u8)
    }
}

impl MultiHash {
    /// Creates the policy. All pages are cold at first.
    #[must_use]
    pub fn new(options: &MultiHashOptions) -> MultiHash {
        MultiHash {
            counts: StreamCounts::new(2, options.copies.copy_streams as u8),
            counters: vec![0; options.counters as usize],
            decay_writes: options.decay_writes,
            hot_count: options.hot_count as u8,
            writes: 0,
        }
    }

    /// Returns the lowest counter of a page.
    #[inline]
    fn lowest(&self, page: Lpn) -> u8 {
        let counters = (0..HASHES).map(|which| self.counters[self.at(page, which)]);
        counters.min().unwrap_or_default()
    }

    #[inline]
    fn at(&self, page: Lpn, which: u32) -> usize {
        (hash(page, which) % self.counters.len() as u64) as usize
    }
}

impl StreamsPolicy for MultiHash {
    #[inline]
    fn counts(&self) -> StreamCounts {
        self.counts
    }

    #[inline]
    fn host_stream(&self, page: Lpn, _tag: u8) -> WriteStream {
        if self.lowest(page) >= self.hot_count { HOT } else { COLD }
    }

    #[inline]
    fn wrote(&mut self, page: Lpn) {
        let lowest = self.lowest(page);
        for which in 0..HASHES {
            let at = self.at(page, which);
            if self.counters[at] == lowest {
                self.counters[at] = (lowest + 1).min(MOST);
            }
        }
        self.writes += 1;
        if self.writes == self.decay_writes {
            self.writes = 0;
            self.counters.iter_mut().for_each(|counter| *counter /= 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_often_is_hot_until_it_is_left_alone() {
        let mut policy = MultiHash::new(&MultiHashOptions {
            copies: CopyOptions { copy_streams: 1 },
            counters: 1024,
            decay_writes: 100,
            hot_count: 4,
        });
        let hot = Lpn::new(7);
        for turn in 0..1_000 {
            policy.wrote(hot);
            (0..9).for_each(|page| policy.wrote(Lpn::new(1_000 + 9 * turn + page)));
        }
        assert_eq!(policy.host_stream(hot, 0), HOT);
        let strangers = (50_000..60_000).map(Lpn::new);
        let wrong = strangers.filter(|&page| policy.host_stream(page, 0) == HOT).count();
        assert!(wrong < 100, "{wrong} of 10,000 strangers look hot");
        (0..1_000).for_each(|page| policy.wrote(Lpn::new(100_000 + page)));
        assert_eq!(policy.host_stream(hot, 0), COLD, "ten halvings later");
    }
}
