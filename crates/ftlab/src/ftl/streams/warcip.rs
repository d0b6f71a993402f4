//! WARCIP clusters pages by their rewrite interval, so that the intervals in a block vary little. A
//! write goes to the cluster whose centroid is nearest to the interval since the page was last
//! written, and moves this centroid towards it: k-means, one page at a time.
//!
//! Source: Yang, Pei and Yang, "WARCIP: Write Amplification Reduction by Clustering I/O Pages", SYSTOR
//! 2019. Departures: the number of clusters is fixed; clusters are not split or merged, and collection
//! does not correct them. In the simulator of SepBIT's authors it does: the age of a page when it was
//! last copied is added to its next interval. Centroids begin at powers of two below the number of
//! logical pages, and are means in which a write counts a 256th. A page that was never written goes to
//! the cluster of the longest intervals. Intervals count page writes of the host. Copies have streams
//! of their own (`ftl.streams.copy_streams`).

use super::ages::Ages;
use super::{CopyOptions, StreamCounts, StreamsFacts, StreamsPolicy, WriteStream};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Lpn;

/// The weight of a write in a centroid is two to the power of minus this; centroids are stored with
/// as many binary places.
const PLACES: u32 = 8;

options! {
    /// Clusters of rewrite intervals.
    pub struct WarcipOptions at "ftl.streams" with { copies: CopyOptions } {
        /// Number of clusters.
        clusters: u32 = "5", in "2"..="8", unit "clusters",
            source "assumed: with one stream of copies as many streams as sepbit has";
    }
}

/// Clusters of rewrite intervals, from short to long.
#[derive(Clone, Debug)]
pub struct Warcip {
    counts: StreamCounts,
    ages: Ages,
    /// The mean interval of each cluster, with [`PLACES`]. In rising order: a centroid moves towards
    /// intervals that are nearer to it than to others, so none passes another.
    centroids: Vec<u64>,
}

impl Policy for Warcip {
    const NAME: &'static str = "warcip";
    const SUMMARY: &'static str = "clusters of rewrite intervals with moving centroids (WARCIP)";
    const SOURCE: &'static str = "Yang et al., SYSTOR 2019";
    type Options = WarcipOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        Warcip::new(options, parts.logical_pages)
    }

    fn save(&self, out: &mut ImageWriter) {
        let Warcip { counts: _, ages, centroids } = self;
        ages.save(out);
        centroids.iter().for_each(|&centroid| out.number(centroid));
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.ages.load(from)?;
        for centroid in &mut self.centroids {
            *centroid = from.number()?;
        }
        // Ages have 32 bits.
        let longest = u64::from(u32::MAX) << PLACES;
        match self.centroids.is_sorted() && self.centroids.iter().all(|&it| it <= longest) {
            true => Ok(()),
            false => Err(Damage::new("centroids are too large or not in order")),
        }
    }
}

impl StreamsFacts for Warcip {
    fn counts(options: &Self::Options) -> StreamCounts {
        StreamCounts::new(options.clusters as u8, options.copies.copy_streams as u8)
    }

    fn bytes_per_page(_options: &Self::Options) -> u64 {
        size_of::<u32>() as u64
    }
}

impl Warcip {
    /// Creates the policy.
    #[must_use]
    pub fn new(options: &WarcipOptions, logical_pages: u32) -> Warcip {
        let longest = u64::from(logical_pages) << PLACES;
        Warcip {
            counts: <Warcip as StreamsFacts>::counts(options),
            ages: Ages::new(logical_pages),
            centroids: (0..options.clusters).rev().map(|halvings| longest >> halvings).collect(),
        }
    }

    /// The cluster with the nearest centroid; of two, that of the shorter intervals.
    #[inline]
    fn nearest(&self, interval: u64) -> usize {
        let twice = interval << (PLACES + 1);
        self.centroids.windows(2).filter(|pair| twice > pair[0] + pair[1]).count()
    }
}

impl StreamsPolicy for Warcip {
    #[inline]
    fn counts(&self) -> StreamCounts {
        self.counts
    }

    #[inline]
    fn host_stream(&self, page: Lpn, _tag: u8) -> WriteStream {
        WriteStream::new(match self.ages.of(page) {
            Some(interval) => self.nearest(interval) as u8,
            None => self.counts.host - 1,
        })
    }

    #[inline]
    fn wrote(&mut self, page: Lpn) {
        if let Some(interval) = self.ages.of(page) {
            let nearest = self.nearest(interval);
            let centroid = &mut self.centroids[nearest];
            *centroid = *centroid + interval - (*centroid >> PLACES);
        }
        self.ages.wrote(page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Stream;

    fn policy(clusters: u32, pages: u32) -> Warcip {
        let copies = CopyOptions { copy_streams: 1 };
        Warcip::new(&WarcipOptions { copies, clusters }, pages)
    }

    #[test]
    fn a_write_moves_only_the_nearest_centroid() {
        let mut policy = policy(3, 1_024);
        assert_eq!(policy.centroids, [256, 512, 1_024].map(|centroid| centroid << PLACES));
        let page = Lpn::new(7);
        assert_eq!(policy.host_stream(page, 0).at(), 2, "never written");
        policy.wrote(page);
        (1..384).for_each(|other| policy.wrote(Lpn::new(100 + other)));
        assert_eq!(policy.host_stream(page, 0).at(), 0, "384 is as near to 256 as to 512");
        policy.wrote(page);
        assert_eq!(policy.centroids, [(256 << PLACES) + 384 - 256, 512 << PLACES, 1_024 << PLACES]);
        assert_eq!(policy.host_stream(page, 0).at(), 0, "an interval of one");
    }

    #[test]
    fn the_nearest_centroid_is_that_of_plain_search() {
        let mut policy = policy(5, 1_000);
        let mut stream = Stream::new(3, "warcip");
        let mut seen = [0; 5];
        for now in 0..50_000 {
            let spread = 1 + stream.below(1_000);
            let page = Lpn::new(stream.below(spread) as u32);
            if let Some(interval) = policy.ages.of(page) {
                let far = |cluster: &usize| policy.centroids[*cluster].abs_diff(interval << PLACES);
                let plain = (0..5).min_by_key(far).unwrap();
                assert_eq!(policy.host_stream(page, 0).at(), plain, "{interval} at {now}");
                seen[plain] += 1;
            }
            policy.wrote(page);
            assert!(policy.centroids.is_sorted(), "{:?}", policy.centroids);
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    }

    /// Pages written every 20 writes, and pages written every 4,000: two clusters find both.
    #[test]
    fn centroids_find_the_intervals_of_the_load() {
        let mut policy = policy(2, 5_000);
        for round in 0..20_000_u32 {
            (0..10).for_each(|page| policy.wrote(Lpn::new(page)));
            (0..10).for_each(|page| policy.wrote(Lpn::new(1_000 + 10 * (round % 200) + page)));
        }
        let found: Vec<u64> = policy.centroids.iter().map(|centroid| centroid >> PLACES).collect();
        assert!(found[0].abs_diff(20) < 2 && found[1].abs_diff(4_000) < 20, "{found:?}");
    }
}
