//! SepBIT groups pages by their inferred time of invalidation. A host write whose previous version
//! lived for a short time will probably live for a short time again. For a page that garbage
//! collection copies, the age so far indicates the remaining lifetime: the older, the longer.
//! "Short" means shorter than the mean lifespan of the most recently collected blocks of
//! short-lived pages.
//!
//! Source: Wang et al., "Separating Data via Block Invalidation Time Inference for Write Amplification
//! Reduction in Log-Structured Storage", FAST 2022, section 3.4 and algorithm 1; and the authors'
//! simulator. There are six classes, as in the paper: two for host writes, one for copies of
//! short-lived pages, three for other copies by age. The lifespan of a page that was never written is
//! infinite. So is the mean lifespan until sixteen blocks were collected: at first, overwritten pages
//! count as short-lived, and new pages do not. (In the simulator, lifespans longer than the number of
//! valid pages do not, either.) Departures: the last write of every page is known exactly, in four
//! bytes a page. The paper uses a queue of recent addresses, and eight bytes a page on flash. If a
//! flash page holds several pages, the first one decides for all of them in a copy.

use super::ages::Ages;
use super::{Copied, StreamCounts, StreamsFacts, StreamsPolicy, WriteStream};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::policy::{NoOptions, Parts, Policy};
use crate::units::{BlockId, Lpn};

/// Number of collected blocks over which the lifespan is averaged.
const AVERAGED: u32 = 16;
/// Age limits of the classes of copies, in mean lifespans of short-lived blocks.
const MIDDLE_AGE: u64 = 4;
const OLD_AGE: u64 = 16;

/// Host writes: short-lived pages, and all others.
const SHORT: WriteStream = WriteStream::new(0);
const LONG: WriteStream = WriteStream::new(1);
/// Copies: of short-lived pages, and of others that are young, middle-aged or old.
const OF_SHORT: WriteStream = WriteStream::new(2);
const YOUNG: WriteStream = WriteStream::new(3);
const MIDDLE: WriteStream = WriteStream::new(4);
const OLD: WriteStream = WriteStream::new(5);

/// The SepBIT policy. Lifespans are in host page writes.
#[derive(Clone, Debug)]
pub struct SepBit {
    ages: Ages,
    /// Page writes so far.
    now: u64,
    /// By block: when it was opened, in page writes, if it is for short-lived pages. Thirty-two
    /// bits are enough for differences.
    opened_at: Vec<u32>,
    /// The mean lifespan of short-lived blocks, multiplied by `AVERAGED`. `None` at the start, when
    /// it is infinite.
    short: Option<u64>,
    /// Sum of the lifespans of blocks collected since the mean was last computed.
    sum: u64,
    collected: u32,
}

impl Policy for SepBit {
    const NAME: &'static str = "sepbit";
    const SUMMARY: &'static str = "by inferred time of invalidation: lifespans and ages (SepBIT)";
    const SOURCE: &'static str = "Wang et al., FAST 2022";
    type Options = NoOptions;

    fn build(_options: &Self::Options, parts: &Parts<'_>) -> Self {
        SepBit::new(parts.logical_pages, parts.geometry.blocks())
    }

    fn save(&self, out: &mut ImageWriter) {
        let SepBit { ages, now, opened_at, short, sum, collected } = self;
        ages.save(out);
        out.number(*now);
        opened_at.iter().for_each(|&at| out.number(at));
        out.flag(short.is_some());
        out.number(short.unwrap_or_default());
        out.number(*sum);
        out.number(*collected);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        /// More page writes than any run has, and small enough for sums and products.
        const MOST: u64 = 1 << 48;
        let count = |from: &mut ImageReader<'_>, what| match from.number()? {
            number if number < MOST => Ok(number),
            number => Err(Damage(format!("{what} is {number}"))),
        };
        self.ages.load(from)?;
        self.now = count(from, "the number of page writes")?;
        for at in &mut self.opened_at {
            *at = from.below(1 << u32::BITS, "the opening of a block")?;
        }
        let is_known = from.flag("whether a mean lifespan is known")?;
        let short = count(from, "the mean lifespan")?;
        self.short = is_known.then_some(short);
        self.sum = count(from, "a sum of lifespans")?;
        self.collected = from.below(AVERAGED.into(), "the number of lifespans")?;
        Ok(())
    }
}

impl StreamsFacts for SepBit {
    fn counts(_options: &Self::Options) -> StreamCounts {
        SepBit::COUNTS
    }

    fn bytes_per_page(_options: &Self::Options) -> u64 {
        size_of::<u32>() as u64
    }
}

impl SepBit {
    /// Two streams for host writes and four for copies.
    pub const COUNTS: StreamCounts =
        StreamCounts { host: 2, copies: 4, copied: Copied::ByGeneration, groups: 1 };

    /// Creates the policy without any history.
    #[must_use]
    pub fn new(logical_pages: u32, blocks: u32) -> SepBit {
        SepBit {
            ages: Ages::new(logical_pages),
            now: 0,
            opened_at: vec![0; blocks as usize],
            short: None,
            sum: 0,
            collected: 0,
        }
    }

    /// Whether `time` is shorter than `lifespans` mean lifespans.
    #[inline]
    fn is_within(&self, time: u64, lifespans: u64) -> bool {
        self.short.is_none_or(|short| time * u64::from(AVERAGED) < lifespans * short)
    }
}

impl StreamsPolicy for SepBit {
    #[inline]
    fn counts(&self) -> StreamCounts {
        Self::COUNTS
    }

    #[inline]
    fn host_stream(&self, page: Lpn, _tag: u8) -> WriteStream {
        match self.ages.of(page) {
            Some(lifespan) if self.is_within(lifespan, 1) => SHORT,
            _ => LONG,
        }
    }

    #[inline]
    fn wrote(&mut self, page: Lpn) {
        self.ages.wrote(page);
        self.now += 1;
    }

    #[inline]
    fn copy_stream(&self, page: Lpn, source: WriteStream) -> WriteStream {
        if source == SHORT {
            return OF_SHORT;
        }
        match self.ages.of(page) {
            Some(age) if self.is_within(age, MIDDLE_AGE) => YOUNG,
            Some(age) if self.is_within(age, OLD_AGE) => MIDDLE,
            _ => OLD,
        }
    }

    fn opened(&mut self, block: BlockId, stream: WriteStream) {
        if stream == SHORT {
            self.opened_at[block.at()] = self.now as u32;
        }
    }

    fn collects(&mut self, block: BlockId, stream: WriteStream) {
        if stream != SHORT {
            return;
        }
        let lifespan = (self.now as u32).wrapping_sub(self.opened_at[block.at()]);
        self.sum += u64::from(lifespan);
        self.collected += 1;
        if self.collected == AVERAGED {
            self.short = Some(self.sum);
            (self.sum, self.collected) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Stream;

    #[test]
    fn classes_follow_lifespans_and_ages() {
        let mut policy = SepBit::new(6_400, 64);
        let hot = Lpn::new(1);
        assert_eq!(policy.host_stream(hot, 0), LONG, "never written");
        policy.wrote(hot);
        assert_eq!(policy.host_stream(hot, 0), SHORT, "at first everything that was written is");
        // Blocks of short-lived pages live for 500 writes.
        for block in (0..AVERAGED).map(BlockId::new) {
            policy.opened(block, SHORT);
            (0..500).for_each(|page| policy.wrote(Lpn::new(page)));
            policy.collects(block, SHORT);
        }
        assert_eq!(policy.short, Some(500 * u64::from(AVERAGED)));
        let page = Lpn::new(5_000);
        assert_eq!(policy.host_stream(page, 0), LONG, "never written");
        policy.wrote(page);
        let wait = |writes: u32, policy: &mut SepBit| {
            (0..writes).for_each(|other| policy.wrote(Lpn::new(other % 4_000)));
        };
        for (writes, host, copy) in
            [(498, SHORT, YOUNG), (1, LONG, YOUNG), (1_499, LONG, YOUNG), (1, LONG, MIDDLE)]
        {
            wait(writes, &mut policy);
            assert_eq!(policy.host_stream(page, 0), host, "{writes} later");
            assert_eq!(policy.copy_stream(page, LONG), copy, "{writes} later");
        }
        wait(5_999, &mut policy);
        assert_eq!(policy.copy_stream(page, LONG), MIDDLE);
        wait(1, &mut policy);
        assert_eq!(policy.copy_stream(page, LONG), OLD);
        assert_eq!(policy.copy_stream(page, SHORT), OF_SHORT);
    }

    /// Algorithm 1 of the paper, with plain numbers and classes from 1 to 6.
    struct Paper {
        time: u64,
        /// By page.
        written: Vec<Option<u64>>,
        /// By segment of class 1.
        created: Vec<u64>,
        mean: f64,
        total: f64,
        collected: u32,
    }

    impl Paper {
        fn class_of_write(&mut self, page: usize) -> u8 {
            let lifespan = self.written[page].map_or(f64::INFINITY, |at| (self.time - at) as f64);
            self.written[page] = Some(self.time);
            self.time += 1;
            if lifespan < self.mean { 1 } else { 2 }
        }

        fn class_of_copy(&self, page: usize, from: u8) -> u8 {
            let age = (self.time - self.written[page].expect("it was written")) as f64;
            match age / self.mean {
                _ if from == 1 => 3,
                lifespans if lifespans < 4.0 => 4,
                lifespans if lifespans < 16.0 => 5,
                _ => 6,
            }
        }

        fn collect(&mut self, segment: usize) {
            self.total += (self.time - self.created[segment]) as f64;
            self.collected += 1;
            if self.collected == 16 {
                self.mean = self.total / 16.0;
                (self.total, self.collected) = (0.0, 0);
            }
        }
    }

    #[test]
    fn classes_are_those_of_the_paper() {
        let (pages, blocks) = (500, 40);
        let mut policy = SepBit::new(pages, blocks);
        let mut paper = Paper {
            time: 0,
            written: vec![None; pages as usize],
            created: vec![0; blocks as usize],
            mean: f64::INFINITY,
            total: 0.0,
            collected: 0,
        };
        let mut stream = Stream::new(3, "sepbit");
        let mut seen = [0; 6];
        for _ in 0..60_000 {
            // A few pages get most of the writes.
            let spread = stream.below(pages.into()) + 1;
            let page = stream.below(spread);
            let lpn = Lpn::new(page as u32);
            let class = policy.host_stream(lpn, 0).at() as u8 + 1;
            assert_eq!(class, paper.class_of_write(page as usize), "write at {}", paper.time);
            policy.wrote(lpn);
            seen[usize::from(class) - 1] += 1;
            let aged = stream.below(pages.into()) as usize;
            if paper.written[aged].is_some() {
                let from = stream.below(6) as u8 + 1;
                let class = policy
                    .copy_stream(Lpn::new(aged as u32), WriteStream::new(from - 1))
                    .at() as u8
                    + 1;
                assert_eq!(class, paper.class_of_copy(aged, from), "copy at {}", paper.time);
                seen[usize::from(class) - 1] += 1;
            }
            let block = stream.below(blocks.into()) as u32;
            match stream.below(100) {
                0..10 => {
                    policy.opened(BlockId::new(block), SHORT);
                    paper.created[block as usize] = paper.time;
                }
                10 => {
                    policy.collects(BlockId::new(block), SHORT);
                    paper.collect(block as usize);
                }
                11 => policy.collects(BlockId::new(block), LONG),
                _ => {}
            }
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    }
}
