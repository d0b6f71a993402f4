//! SFS groups pages by hotness: how often a page was written, divided by its age. The limits of the
//! groups follow from the pages themselves: iterative quantization assigns each to the group with the
//! nearest hotness, makes the mean of these the hotness of the group, and begins again until nothing
//! changes.
//!
//! Source: Min et al., "SFS: Random Write Considered Harmful in Solid State Drives", FAST 2012.
//! Departures: the paper quantizes the hotness of all segments; a streams policy does not see what lies
//! in blocks, so a sample of pages is quantized. Pages differ more than segments do, by powers of two,
//! so distances and means are those of logarithms. A page that the host writes again is judged by the
//! age of its previous version. Copies of a group have blocks of their own, since the FTL keeps them
//! apart from host writes. Counts of writes end at 65,535. The victim is that of `ftl.gc.victim`; the
//! paper divides by hotness in place of multiplying by age. The simulator of SepBIT's authors quantizes
//! all segments, in plain numbers, at every collection, and takes new pages for the hottest; here they
//! are cold. If a flash page holds several pages, the first one decides for all of them in a copy.

use super::ages::Ages;
use super::per_page::{PerPage, STEPS, log2};
use super::{StreamCounts, StreamsFacts, StreamsPolicy, WriteStream};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Lpn;

/// Pages in a sample, about.
const SAMPLE: u32 = 1_024;
/// Page writes between two quantizations, on devices that have at least as many pages.
const MOST_BETWEEN: u32 = 4_096;
/// Rounds of a quantization. Most end earlier.
const ROUNDS: u32 = 16;
/// The logarithm of a hotness of one write of age one: ages have 32 bits.
const OF_ONE: u32 = u32::BITS * STEPS;
/// No logarithm of a hotness is as large.
const LIMIT: u32 = OF_ONE + u16::BITS * STEPS;

options! {
    /// Groups by hotness.
    pub struct SfsOptions at "ftl.streams" {
        /// Number of groups. Each has an open block for host writes and one for copies.
        hotness_groups: u32 = "4", in "2"..="8", unit "groups",
            source "assumed: the two open blocks of a group cost space; range: what fits into sixteen streams";
    }
}

/// Writes and ages of pages, and groups of them. Groups are numbered from cold to hot.
#[derive(Clone, Debug)]
pub struct Sfs {
    counts: StreamCounts,
    ages: Ages,
    writes: PerPage<u16>,
    /// The logarithm of the hotness of each group. Equal at first, which makes all pages cold.
    groups: Vec<u32>,
    /// Page writes since the last quantization, and the first page of the next sample.
    since: u32,
    first: u32,
    logical_pages: u32,
}

impl Policy for Sfs {
    const NAME: &'static str = "sfs";
    const SUMMARY: &'static str = "groups by hotness, writes over age, quantized iteratively (SFS)";
    const SOURCE: &'static str = "Min et al., FAST 2012";
    type Options = SfsOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        Sfs::new(options, parts.logical_pages)
    }

    fn save(&self, out: &mut ImageWriter) {
        let Sfs { counts: _, ages, writes, groups, since, first, logical_pages: _ } = self;
        ages.save(out);
        writes.save(out);
        groups.iter().for_each(|&group| out.number(group));
        out.number(*since);
        out.number(*first);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.ages.load(from)?;
        self.writes.load(from, 1 << u16::BITS, "the writes of a page")?;
        for group in &mut self.groups {
            *group = from.below(LIMIT.into(), "the hotness of a group")?;
        }
        self.since = from.below(self.between().into(), "the writes since a quantization")?;
        self.first = from.below(self.stride().into(), "the first page of a sample")?;
        match self.groups.is_sorted() {
            true => Ok(()),
            false => Err(Damage::new("groups are not in the order of their hotness")),
        }
    }
}

impl StreamsFacts for Sfs {
    fn counts(options: &Self::Options) -> StreamCounts {
        StreamCounts::new(options.hotness_groups as u8, 0)
    }

    fn bytes_per_page(_options: &Self::Options) -> u64 {
        (size_of::<u32>() + size_of::<u16>()) as u64
    }
}

impl Sfs {
    /// Creates the policy. All pages are cold at first.
    #[must_use]
    pub fn new(options: &SfsOptions, logical_pages: u32) -> Sfs {
        Sfs {
            counts: <Sfs as StreamsFacts>::counts(options),
            ages: Ages::new(logical_pages),
            writes: PerPage::new(logical_pages),
            groups: vec![LIMIT - 1; options.hotness_groups as usize],
            since: 0,
            first: 0,
            logical_pages,
        }
    }

    /// Page writes between two quantizations.
    fn between(&self) -> u32 {
        self.logical_pages.min(MOST_BETWEEN)
    }

    /// The distance of two pages of a sample.
    fn stride(&self) -> u32 {
        self.logical_pages.div_ceil(SAMPLE)
    }

    /// The logarithm of the hotness of a page, if it was written.
    #[inline]
    fn hotness(&self, page: Lpn) -> Option<u32> {
        let age = self.ages.of(page)?;
        Some(OF_ONE + log2(self.writes.of(page).into()) - log2(age))
    }

    #[inline]
    fn group_of(&self, page: Lpn) -> u8 {
        self.hotness(page).map_or(0, |hotness| nearest(&self.groups, hotness) as u8)
    }

    #[cold]
    fn quantize_sample(&mut self) {
        let pages = (self.first..self.logical_pages).step_by(self.stride() as usize);
        let mut sample: Vec<u32> = pages.filter_map(|page| self.hotness(Lpn::new(page))).collect();
        self.first = (self.first + 1) % self.stride();
        self.since = 0;
        if sample.len() >= self.groups.len() {
            quantize(&mut self.groups, &mut sample);
        }
    }
}

/// The number of the nearest of the groups, which are in rising order; of two, the colder one.
#[inline]
fn nearest(groups: &[u32], hotness: u32) -> usize {
    groups.windows(2).filter(|pair| 2 * hotness > pair[0] + pair[1]).count()
}

/// Moves the groups to where the sample gathers. They begin at evenly spaced ranks.
fn quantize(groups: &mut [u32], sample: &mut [u32]) {
    sample.sort_unstable();
    let ranks = 2 * groups.len();
    for (number, group) in groups.iter_mut().enumerate() {
        *group = sample[(2 * number + 1) * sample.len() / ranks];
    }
    for _ in 0..ROUNDS {
        let before = groups.to_vec();
        let members = sample.chunk_by(|&a, &b| nearest(&before, a) == nearest(&before, b));
        for members in members {
            let sum: u64 = members.iter().map(|&hotness| u64::from(hotness)).sum();
            groups[nearest(&before, members[0])] = (sum / members.len() as u64) as u32;
        }
        if *groups == before[..] {
            break;
        }
    }
}

impl StreamsPolicy for Sfs {
    #[inline]
    fn counts(&self) -> StreamCounts {
        self.counts
    }

    #[inline]
    fn host_stream(&self, page: Lpn, _tag: u8) -> WriteStream {
        WriteStream::new(self.group_of(page))
    }

    #[inline]
    fn wrote(&mut self, page: Lpn) {
        self.writes.set(page, self.writes.of(page).saturating_add(1));
        self.ages.wrote(page);
        self.since += 1;
        if self.since == self.between() {
            self.quantize_sample();
        }
    }

    #[inline]
    fn copy_stream(&self, page: Lpn, _source: WriteStream) -> WriteStream {
        WriteStream::new(self.counts.host + self.group_of(page))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Stream;

    #[test]
    fn hotness_is_writes_over_age() {
        let mut policy = Sfs::new(&SfsOptions { hotness_groups: 4 }, 100_000);
        let page = Lpn::new(7);
        assert_eq!(policy.hotness(page), None);
        (0..4).for_each(|_| policy.wrote(page));
        assert_eq!(policy.hotness(page), Some(OF_ONE + 2 * STEPS), "4 / 1");
        (0..31).for_each(|other| policy.wrote(Lpn::new(100 + other)));
        assert_eq!(policy.hotness(page), Some(OF_ONE - 3 * STEPS), "4 / 32");
    }

    #[test]
    fn quantization_finds_where_pages_gather() {
        let mut groups = [0; 3];
        // Ranks alone would put two groups among the many cold ones.
        let mut sample: Vec<u32> = (0..90).map(|n| 100 + n % 3).collect();
        sample.extend((0..5).map(|n| 400 + n));
        sample.extend((0..5).map(|n| 600 + n));
        quantize(&mut groups[..2], &mut sample);
        assert_eq!(groups[..2], [101, 502]);
        let mut even: Vec<u32> = [[10; 30], [300; 30], [800; 30]].concat();
        quantize(&mut groups, &mut even);
        assert_eq!(groups, [10, 300, 800]);
        assert_eq!(
            [0, 155, 156, 550, 551].map(|hotness| nearest(&groups, hotness)),
            [0, 0, 1, 1, 2]
        );
    }

    /// Where a quantization ends, each group is the mean of those that are nearest to it.
    #[test]
    fn groups_are_the_means_of_their_pages() {
        let mut stream = Stream::new(3, "sfs");
        for case in 0..200 {
            let mut groups = vec![0; 2 + case % 7];
            let mut sample: Vec<u32> = (0..300)
                .map(|_| {
                    let spread = 1 + stream.below(300);
                    (stream.below(spread) + 200 * stream.below(2)) as u32
                })
                .collect();
            quantize(&mut groups, &mut sample);
            assert!(groups.is_sorted(), "{groups:?}");
            let settled = groups.clone();
            for (number, &group) in settled.iter().enumerate() {
                let closest = |hotness: u32| {
                    let distances = settled.iter().map(|&group| group.abs_diff(hotness));
                    distances.enumerate().min_by_key(|&(_, distance)| distance).unwrap().0
                };
                let own: Vec<u32> =
                    sample.iter().copied().filter(|&hotness| closest(hotness) == number).collect();
                let sum: u32 = own.iter().sum();
                let mean = sum.checked_div(own.len() as u32).unwrap_or(group);
                assert!(mean.abs_diff(group) <= 3, "{number} of {groups:?}: {mean}");
            }
        }
    }

    #[test]
    fn what_is_written_often_goes_to_hot_groups() {
        let mut policy = Sfs::new(&SfsOptions { hotness_groups: 3 }, 1_000);
        let mut stream = Stream::new(5, "pages");
        (0..1_000).for_each(|page| policy.wrote(Lpn::new(page)));
        for _ in 0..50_000 {
            let page = if stream.below(10) > 0 { stream.below(50) } else { 50 + stream.below(900) };
            policy.wrote(Lpn::new(page as u32));
        }
        let hot: usize = (0..50).map(|page| policy.host_stream(Lpn::new(page), 0).at()).sum();
        let cold: usize = (50..950).map(|page| policy.host_stream(Lpn::new(page), 0).at()).sum();
        assert!(hot > 60, "50 hot pages: {hot}");
        assert!(cold < 900, "900 cold ones: {cold}");
        assert_eq!(policy.copy_stream(Lpn::new(999), WriteStream::new(2)).at(), 3, "written once");
    }
}
