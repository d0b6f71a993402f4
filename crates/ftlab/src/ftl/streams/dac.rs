//! Dynamic data clustering (DAC): regions of blocks by heat. A page that is written again while it
//! is young moves up one region. A page that garbage collection copies although it is old moves down
//! one. All others stay in their region. So pages find their region step by step, and no region
//! stands for a fixed frequency of writes.
//!
//! Source: Chiang, Lee and Chang, "Using Data Clustering to Improve Cleaning Performance for Flash
//! Memory", Software: Practice and Experience 29(3), 1999. Departures: the FTL keeps copies and host
//! writes in blocks of their own, so each region has two open blocks in a plane, one for either.
//! "Young" means written again within a number of page writes, the same in all regions; in the
//! simulator of SepBIT's authors every write again moves a page up, and every copy down. New pages
//! begin in the lowest region. The victim is that of `ftl.gc.victim`; the paper's is `cost-age-times`.
//! If a flash page holds several pages, the first one decides where a copy of all of them goes, but
//! each moves up or down by its own age.

use super::ages::Ages;
use super::per_page::PerPage;
use super::{StreamCounts, StreamsFacts, StreamsPolicy, WriteStream};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Lpn;

options! {
    /// Regions by heat.
    pub struct DacOptions at "ftl.streams" {
        /// Number of regions. Each has an open block for host writes and one for copies.
        regions: u32 = "4", in "2"..="8", unit "regions",
            source "assumed: the two open blocks of a region cost space; range: what fits into sixteen streams";
        /// A page is young for this number of page writes of the host after its last write. "none"
        /// is the number of logical pages: the time in which an even load writes a page again.
        young_writes: Option<u32> = "none", in "1"..="4294967295", unit "page writes",
            source "assumed: hotter than an even load is hot";
    }
}

/// The region of each page. Regions are numbered from cold to hot.
#[derive(Clone, Debug)]
pub struct Dac {
    counts: StreamCounts,
    ages: Ages,
    regions: PerPage<u8>,
    young_writes: u64,
}

impl Policy for Dac {
    const NAME: &'static str = "dac";
    const SUMMARY: &'static str = "regions: up when written young, down when copied old (DAC)";
    const SOURCE: &'static str = "Chiang et al., SP&E 1999";
    type Options = DacOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        Dac::new(options, parts.logical_pages)
    }

    fn save(&self, out: &mut ImageWriter) {
        let Dac { counts: _, ages, regions, young_writes: _ } = self;
        ages.save(out);
        regions.save(out);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.ages.load(from)?;
        self.regions.load(from, self.counts.host.into(), "the region of a page")
    }
}

impl StreamsFacts for Dac {
    fn counts(options: &Self::Options) -> StreamCounts {
        StreamCounts::new(options.regions as u8, 0)
    }

    fn bytes_per_page(_options: &Self::Options) -> u64 {
        (size_of::<u32>() + size_of::<u8>()) as u64
    }
}

impl Dac {
    /// Creates the policy. All pages are cold at first.
    #[must_use]
    pub fn new(options: &DacOptions, logical_pages: u32) -> Dac {
        Dac {
            counts: <Dac as StreamsFacts>::counts(options),
            ages: Ages::new(logical_pages),
            regions: PerPage::new(logical_pages),
            young_writes: options.young_writes.unwrap_or(logical_pages).into(),
        }
    }

    #[inline]
    fn is_young(&self, page: Lpn) -> bool {
        self.ages.of(page).is_some_and(|age| age <= self.young_writes)
    }

    /// The region of a page once the host has written it again.
    #[inline]
    fn after_write(&self, page: Lpn) -> u8 {
        let region = self.regions.of(page);
        if self.is_young(page) { (region + 1).min(self.counts.host - 1) } else { region }
    }

    /// The region of a page once it has been copied.
    #[inline]
    fn after_copy(&self, page: Lpn) -> u8 {
        let region = self.regions.of(page);
        if self.is_young(page) { region } else { region.saturating_sub(1) }
    }
}

impl StreamsPolicy for Dac {
    #[inline]
    fn counts(&self) -> StreamCounts {
        self.counts
    }

    #[inline]
    fn host_stream(&self, page: Lpn, _tag: u8) -> WriteStream {
        WriteStream::new(self.after_write(page))
    }

    #[inline]
    fn wrote(&mut self, page: Lpn) {
        self.regions.set(page, self.after_write(page));
        self.ages.wrote(page);
    }

    #[inline]
    fn copy_stream(&self, page: Lpn, _source: WriteStream) -> WriteStream {
        WriteStream::new(self.counts.host + self.after_copy(page))
    }

    fn hears_of_copies(&self) -> bool {
        true
    }

    #[inline]
    fn copied(&mut self, page: Lpn) {
        self.regions.set(page, self.after_copy(page));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Stream;

    const REGIONS: u8 = 4;

    fn policy(young_writes: u32) -> Dac {
        let options = DacOptions { regions: REGIONS.into(), young_writes: Some(young_writes) };
        Dac::new(&options, 100)
    }

    #[test]
    fn pages_move_up_when_written_young_and_down_when_copied_old() {
        let mut policy = policy(10);
        let page = Lpn::new(7);
        let wait = |policy: &mut Dac| (0..10).for_each(|other| policy.wrote(Lpn::new(50 + other)));
        policy.wrote(page);
        assert_eq!(policy.host_stream(page, 0).at(), 1, "it would be young");
        wait(&mut policy);
        policy.wrote(page);
        assert_eq!(policy.host_stream(page, 0).at(), 1, "the second write was too late");
        for region in [1, 2, 3, 3] {
            policy.wrote(page);
            assert_eq!(policy.regions.of(page), region);
        }
        policy.copied(page);
        assert_eq!(policy.regions.of(page), 3, "copied young");
        wait(&mut policy);
        for region in [2, 1, 0, 0] {
            let stream = policy.copy_stream(page, WriteStream::new(3));
            assert_eq!(stream.at(), usize::from(REGIONS) + region, "by its age, not its source");
            policy.copied(page);
            assert_eq!(policy.regions.of(page) as usize, region);
        }
        assert_eq!(policy.host_stream(page, 0).at(), 0, "old");
    }

    #[test]
    fn regions_are_those_of_plain_counting() {
        let (pages, young) = (100, 40);
        let mut policy = policy(young);
        let mut plain: Vec<(i32, Option<u64>)> = vec![(0, None); pages];
        let mut stream = Stream::new(3, "dac");
        let mut seen = [0; REGIONS as usize];
        for now in 0..20_000_u64 {
            let page = stream.below(pages as u64) as usize;
            let writes = stream.below(pages as u64) >= page as u64;
            let (region, last) = &mut plain[page];
            let is_young = last.is_some_and(|last| now - last <= u64::from(young));
            let lpn = Lpn::new(page as u32);
            if !writes {
                *region = (*region - i32::from(!is_young)).max(0);
                assert_eq!(policy.copy_stream(lpn, WriteStream::new(0)).at(), 4 + *region as usize);
                policy.copied(lpn);
                // Keeps one write for each step, as for the plain one.
                policy.wrote(Lpn::new(0));
                let (region, last) = &mut plain[0];
                let is_young = last.is_some_and(|last| now - last <= u64::from(young));
                *region = (*region + i32::from(is_young)).min(3);
                *last = Some(now);
            } else {
                *region = (*region + i32::from(is_young)).min(3);
                *last = Some(now);
                assert_eq!(policy.host_stream(lpn, 0).at(), *region as usize, "{page} at {now}");
                policy.wrote(lpn);
            }
            seen[usize::from(policy.regions.of(lpn))] += 1;
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    }
}
