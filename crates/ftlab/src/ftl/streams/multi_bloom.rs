//! Separates hot and cold pages by several bloom filters, one for each recent interval of writes. A
//! page that is written again within an interval is added to the filter of the interval before, and
//! so on. So the filters record how often and how recently a page was written. Newer filters have a
//! higher weight. A page is hot if the weights of the filters that contain it reach a threshold.
//! For each new interval, the oldest filter is cleared and used again.
//!
//! Source: Park and Du, "Hot Data Identification for Flash-based Storage Systems Using Multiple
//! Bloom Filters", MSST 2011: four filters, two hash functions, weights that decrease in equal
//! steps.

use super::{CopyOptions, StreamCounts, StreamsFacts, StreamsPolicy, WriteStream, hash};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Lpn;

/// Number of bloom filters.
const FILTERS: usize = 4;
/// Number of hash functions.
const HASHES: u32 = 2;
/// The stream of hot pages.
const HOT: WriteStream = WriteStream::new(1);
/// The stream of all other pages.
const COLD: WriteStream = WriteStream::new(0);

options! {
    /// Bloom filters over recent writes.
    pub struct MultiBloomOptions at "ftl.streams" with { copies: CopyOptions } {
        /// Bits of each of the four filters.
        filter_bits: u32 = "2048", in "64"..="1073741824", unit "bits",
            source "Park and Du (MSST 2011); for devices beyond a few GB take more";
        /// Page writes in the interval of a filter. A quarter of the filter's bits keeps most
        /// answers right.
        filter_writes: u32 = "512", in "16"..="1073741824", unit "page writes",
            source "Park and Du (MSST 2011)";
        /// A page is hot if the weights of the filters that contain it add up to at least this
        /// value. The weights are 4, 3, 2 and 1 from the newest to the oldest filter.
        hot_weight: u32 = "6", in "1"..="10", unit "weight",
            source "assumed: all filters except the newest, which is empty at first, are enough";
    }
}

/// Bloom filters, used in a ring.
#[derive(Clone, Debug)]
pub struct MultiBloom {
    counts: StreamCounts,
    /// One bit of each filter in each byte, so that a look-up of a page reads one byte for each
    /// hash function.
    bits: Vec<u8>,
    filter_writes: u32,
    hot_weight: u32,
    newest: usize,
    writes: u32,
}

impl Policy for MultiBloom {
    const NAME: &'static str = "multi-bloom";
    const SUMMARY: &'static str = "hot and cold by bloom filters of recent stretches of writes";
    const SOURCE: &'static str = "Park and Du, MSST 2011";
    type Options = MultiBloomOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        MultiBloom::new(options)
    }

    fn save(&self, out: &mut ImageWriter) {
        let MultiBloom { counts: _, bits, filter_writes: _, hot_weight: _, newest, writes } = self;
        out.raw(bits);
        out.number(*newest as u64);
        out.number(*writes);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let bits = from.raw(self.bits.len())?;
        self.bits.copy_from_slice(bits);
        self.newest = from.below(FILTERS as u64, "the newest filter")? as usize;
        self.writes = from.below(self.filter_writes.into(), "the writes of a filter")?;
        Ok(())
    }
}

impl StreamsFacts for MultiBloom {
    fn counts(options: &Self::Options) -> StreamCounts {
        StreamCounts::new(2, options.copies.copy_streams as u8)
    }
}

impl MultiBloom {
    /// Creates the policy. All pages are cold at first.
    #[must_use]
    pub fn new(options: &MultiBloomOptions) -> MultiBloom {
        MultiBloom {
            counts: StreamCounts::new(2, options.copies.copy_streams as u8),
            bits: vec![0; options.filter_bits as usize],
            filter_writes: options.filter_writes,
            hot_weight: options.hot_weight,
            newest: 0,
            writes: 0,
        }
    }

    #[inline]
    fn at(&self, page: Lpn, which: u32) -> usize {
        (hash(page, which) % self.bits.len() as u64) as usize
    }

    /// Returns a bit for each filter, set if the filter contains the page.
    #[inline]
    fn holding(&self, page: Lpn) -> u8 {
        (0..HASHES).fold(u8::MAX, |all, which| all & self.bits[self.at(page, which)])
    }

    /// Returns the filters from the newest to the oldest.
    fn by_age(&self) -> impl Iterator<Item = usize> + use<> {
        let newest = self.newest;
        (0..FILTERS).map(move |age| (newest + FILTERS - age) % FILTERS)
    }
}

impl StreamsPolicy for MultiBloom {
    #[inline]
    fn counts(&self) -> StreamCounts {
        self.counts
    }

    #[inline]
    fn host_stream(&self, page: Lpn, _tag: u8) -> WriteStream {
        let holding = self.holding(page);
        let weights = self
            .by_age()
            .enumerate()
            .map(|(age, filter)| u32::from(holding >> filter & 1) * (FILTERS - age) as u32);
        if weights.sum::<u32>() >= self.hot_weight { HOT } else { COLD }
    }

    #[inline]
    fn wrote(&mut self, page: Lpn) {
        let holding = self.holding(page);
        if let Some(filter) = self.by_age().find(|filter| holding >> filter & 1 == 0) {
            for which in 0..HASHES {
                let at = self.at(page, which);
                self.bits[at] |= 1 << filter;
            }
        }
        self.writes += 1;
        if self.writes == self.filter_writes {
            self.writes = 0;
            self.newest = (self.newest + 1) % FILTERS;
            let keep = !(1u8 << self.newest);
            self.bits.iter_mut().for_each(|bits| *bits &= keep);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_often_and_lately_is_hot() {
        let mut policy = MultiBloom::new(&MultiBloomOptions {
            copies: CopyOptions { copy_streams: 1 },
            filter_bits: 2048,
            filter_writes: 200,
            hot_weight: 6,
        });
        let (hot, once) = (Lpn::new(7), Lpn::new(8));
        for turn in 0..200 {
            policy.wrote(hot);
            (0..9).for_each(|page| policy.wrote(Lpn::new(1_000 + 9 * turn + page)));
        }
        policy.wrote(once);
        assert_eq!(policy.host_stream(hot, 0), HOT);
        assert_eq!(policy.host_stream(once, 0), COLD);
        let strangers = (50_000..60_000).map(Lpn::new);
        let wrong = strangers.filter(|&page| policy.host_stream(page, 0) == HOT).count();
        assert!(wrong < 500, "{wrong} of 10,000 strangers look hot");
        (0..800).for_each(|page| policy.wrote(Lpn::new(100_000 + page)));
        assert_eq!(policy.host_stream(hot, 0), COLD, "four stretches later");
    }
}
