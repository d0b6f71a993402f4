//! Hot and cold by counters: a write raises the counters that several hash functions of its page name;
//! a page is hot if all of its counters stand high. Every so many writes all counters are halved, so
//! that what was hot once cools down.
//!
//! Source: Hsieh, Chang and Kuo, "Efficient On-line Identification of Hot Data for Flash-Memory
//! Management", SAC 2005; Hsieh, Kuo and Chang, ACM Transactions on Storage 2006. As in the latter's
//! second scheme, a write raises only the lowest of its counters, which errs less where pages share
//! counters.

use super::{CopyOptions, StreamCounts, StreamsFacts, StreamsPolicy, WriteStream, hash};
use crate::image::{Damage, Reader, Writer};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Lpn;

/// Hash functions of a page.
const HASHES: u32 = 2;
/// A counter has four bits.
const MOST: u8 = 15;
/// The stream of hot pages.
const HOT: WriteStream = WriteStream::new(1);
/// The stream of all others.
const COLD: WriteStream = WriteStream::new(0);

options! {
    /// Counters of writes.
    pub struct MultiHashOptions at "ftl.streams" with { copies: CopyOptions } {
        /// Counters, shared by all pages. With far fewer than there are hot pages, everything looks hot.
        counters: u32 = "4096", in "16"..="1073741824", unit "counters",
            source "the size that Hsieh et al. study; for devices beyond a few GB take more";
        /// Page writes after which all counters are halved.
        decay_writes: u32 = "5117", in "16"..="4294967295", unit "page writes",
            source "a quarter more than counters, after Hsieh et al.";
        /// A page is hot when all of its counters stand at this or higher.
        hot_count: u32 = "4", in "1"..="15", unit "writes",
            source "the two upper bits of four, after Hsieh et al.";
    }
}

/// Counters by hash.
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

    fn save(&self, out: &mut Writer) {
        let MultiHash { counts: _, counters, decay_writes: _, hot_count: _, writes } = self;
        out.raw(counters);
        out.number(*writes);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damage> {
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
    /// Everything is cold.
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

    /// The lowest of a page's counters.
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
