//! SepBIT: pages are kept together by the time at which they are likely to be overwritten, inferred
//! from what is known. A page of the host whose last version lived for a short time will probably live
//! for a short time again; a page that collection copies has shown how long it has lived, and the
//! longer, the longer it will live on. "Short" is the mean lifespan of the blocks of short-lived pages
//! that were collected last.
//!
//! Source: Wang et al., "Separating Data via Block Invalidation Time Inference for Write Amplification
//! Reduction in Log-Structured Storage", FAST 2022. Six classes as there: two for the host, one for
//! copies of short-lived pages, three for other copies by age. Here the last write of a page is known
//! to a sixty-fourth of the logical capacity and no further back than three times that capacity: a
//! byte a page instead of the paper's queue of recent addresses and its eight bytes a page on flash.
//! Where a flash page holds several pages, the first one decides for its companions in a copy.

use super::ages::Ages;
use super::{Copied, StreamCounts, WriteStream};
use crate::image::{Damage, Reader, Writer};
use crate::policy::{NoOptions, Parts, Policy};
use crate::units::{BlockId, Lpn};

/// Collected blocks over which the lifespan is averaged.
const AVERAGED: u32 = 16;
/// Classes of copies by age, in mean lifespans of short-lived blocks.
const MIDDLE_AGE: u64 = 4;
const OLD_AGE: u64 = 16;

/// Short-lived and other pages of the host.
const SHORT: u8 = 0;
const LONG: u8 = 1;
/// Copies: of short-lived pages, young, of middle age, old.
const OF_SHORT: u8 = 2;
const YOUNG: u8 = 3;
const MIDDLE: u8 = 4;
const OLD: u8 = 5;

/// Lifespans, in page writes of the host.
#[derive(Clone, Debug)]
pub struct SepBit {
    ages: Ages,
    /// Page writes so far.
    now: u64,
    /// By block: when it was opened, in page writes, if for short-lived pages. Thirty-two bits are
    /// enough to subtract.
    opened_at: Vec<u32>,
    /// The mean lifespan of short-lived blocks; none yet at the start, when all pages count as such.
    short: Option<u64>,
    /// Of the blocks collected since it was last computed.
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

    fn save(&self, out: &mut Writer) {
        let SepBit { ages, now, opened_at, short, sum, collected } = self;
        ages.save(out);
        out.number(*now);
        opened_at.iter().for_each(|&at| out.number(at));
        out.flag(short.is_some());
        out.number(short.unwrap_or_default());
        out.number(*sum);
        out.number(*collected);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damage> {
        /// More page writes than any run has, and few enough to add and multiply.
        const MOST: u64 = 1 << 48;
        let count = |from: &mut Reader<'_>, what| match from.number()? {
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

impl SepBit {
    /// Two streams for the host and four for copies.
    pub const COUNTS: StreamCounts =
        StreamCounts { host: 2, copies: 4, copied: Copied::ByGeneration };

    /// Nothing is known yet.
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

    #[inline]
    pub(super) fn counts(&self) -> StreamCounts {
        Self::COUNTS
    }

    #[inline]
    pub(super) fn host_stream(&self, page: Lpn, _tag: u8) -> u8 {
        match (self.ages.of(page), self.short) {
            (_, None) => SHORT,
            (Some(lifespan), Some(short)) if lifespan < short => SHORT,
            _ => LONG,
        }
    }

    #[inline]
    pub(super) fn wrote(&mut self, page: Lpn) {
        self.ages.wrote(page);
        self.now += 1;
    }

    #[inline]
    pub(super) fn copy_stream(&self, page: Lpn, source: WriteStream) -> u8 {
        if source.at() == usize::from(SHORT) {
            return OF_SHORT;
        }
        let Some(short) = self.short else { return YOUNG };
        match self.ages.of(page) {
            Some(age) if age < MIDDLE_AGE * short => YOUNG,
            Some(age) if age < OLD_AGE * short => MIDDLE,
            _ => OLD,
        }
    }

    pub(super) fn opened(&mut self, block: BlockId, stream: WriteStream) {
        if stream.at() == usize::from(SHORT) {
            self.opened_at[block.at()] = self.now as u32;
        }
    }

    pub(super) fn collects(&mut self, block: BlockId, stream: WriteStream) {
        if stream.at() != usize::from(SHORT) {
            return;
        }
        let lifespan = (self.now as u32).wrapping_sub(self.opened_at[block.at()]);
        self.sum += u64::from(lifespan);
        self.collected += 1;
        if self.collected == AVERAGED {
            self.short = Some(self.sum / u64::from(AVERAGED));
            (self.sum, self.collected) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_lifespans_and_ages() {
        let mut policy = SepBit::new(6_400, 64);
        let hot = Lpn::new(1);
        assert_eq!(policy.host_stream(hot, 0), SHORT, "at first everything is");
        // Blocks of short-lived pages live for 500 writes; an epoch has 100.
        for block in (0..AVERAGED).map(BlockId::new) {
            policy.opened(block, WriteStream::new(SHORT));
            (0..500).for_each(|page| policy.wrote(Lpn::new(page)));
            policy.collects(block, WriteStream::new(SHORT));
        }
        assert_eq!(policy.short, Some(500));
        let page = Lpn::new(5_000);
        assert_eq!(policy.host_stream(page, 0), LONG, "never written");
        policy.wrote(page);
        assert_eq!(policy.host_stream(page, 0), SHORT);
        let (short, long) = (WriteStream::new(SHORT), WriteStream::new(LONG));
        assert_eq!(policy.copy_stream(page, short), OF_SHORT);
        assert_eq!(policy.copy_stream(page, long), YOUNG);
        (0..2_500).for_each(|page| policy.wrote(Lpn::new(page)));
        assert_eq!(policy.host_stream(page, 0), LONG);
        assert_eq!(policy.copy_stream(page, long), MIDDLE);
        (0..7_500).for_each(|page| policy.wrote(Lpn::new(page % 4_000)));
        assert_eq!(policy.copy_stream(page, long), OLD);
        assert_eq!(policy.copy_stream(Lpn::new(6_000), long), OLD, "never written");
    }
}
