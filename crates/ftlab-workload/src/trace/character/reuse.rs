//! How soon pages are used again and overwritten.
//!
//! A reuse distance is the number of other pages used between two uses of a page (R. L. Mattson et
//! al., "Evaluation Techniques for Storage Hierarchies", IBM Systems Journal 9(2), 1970): an LRU
//! cache of more pages than that hits. An overwrite distance is what was written from one write of a
//! page to the next: the lifetime of its data, as in J. Wang et al., "Separating Data via Block
//! Invalidation Time Inference for Write Amplification Reduction in Log-Structured Storage" (SepBIT),
//! FAST 2022.

use ftlab::units::SECTOR_BYTES;
use serde::Serialize;

use super::distribution::{Distribution, Weights};
use super::sample::Touch;

/// A cache must hold so many pages that are followed for its misses to be told: with fewer, the distances of a sample are
/// too coarse.
const LEAST_FOLLOWED: f64 = 16.0;

/// Distances in bytes and in time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReuseCharacter {
    /// Uses of pages of 4 KiB; a request of three pages is three. Exact. Of a request, the first
    /// 64 MiB count.
    pub accesses: u64,
    /// The other pages used between two uses of a page.
    pub reuse_pages: Distribution,
    /// The miss ratio of LRU caches whose sizes are powers of two, up to the first that holds all. If pages are sampled,
    /// caches that hold fewer than 16 of those followed are left out: of them nothing is known.
    pub lru: Vec<LruMisses>,
    /// The bytes written from a write of a page to the next write of that page.
    pub overwrite_bytes: Distribution,
    /// The time between these, in nanoseconds.
    pub overwrite_ns: Distribution,
}

/// How often an LRU cache of pages of 4 KiB misses. It caches reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LruMisses {
    /// The pages of the cache.
    pub cache_pages: u64,
    /// Accesses that miss, first ones included, over all accesses.
    pub miss_ratio: f64,
}

/// Collects distances.
#[derive(Clone, Debug, Default)]
pub(super) struct ReuseTally {
    pub accesses: u64,
    seen: f64,
    reuse: Weights,
    overwrite_sectors: Weights,
    overwrite_ns: Weights,
}

impl ReuseTally {
    /// Adds a use. If it is a write, `clock` has the sectors written before it, and the time.
    pub fn add(&mut self, touch: &mut Touch<'_>, clock: Option<(u64, u64)>) {
        let weight = touch.weight;
        self.seen += weight;
        if let Some(distance) = touch.distance {
            self.reuse.add(distance, weight);
        }
        let Some((sectors, ns)) = clock else { return };
        if let Some((then_sectors, then_ns)) = touch.page.written.replace((sectors, ns)) {
            self.overwrite_sectors.add(sectors - then_sectors, weight);
            self.overwrite_ns.add(ns.saturating_sub(then_ns), weight);
        }
    }

    /// Returns the distances of pages of which a followed one stands for `weight`.
    pub fn report(&self, weight: f64) -> ReuseCharacter {
        let reuse_pages = self.reuse.distribution(1);
        ReuseCharacter {
            accesses: self.accesses,
            lru: self.lru(&reuse_pages, weight),
            reuse_pages,
            overwrite_bytes: self.overwrite_sectors.distribution(SECTOR_BYTES),
            overwrite_ns: self.overwrite_ns.distribution(1),
        }
    }

    /// As in SHARDS-adj, the accesses that the sample has too few or too many of are taken as the
    /// nearest ones: they are those of a few pages in constant use.
    fn lru(&self, reuse: &Distribution, weight: f64) -> Vec<LruMisses> {
        let (all, amiss) = (self.accesses as f64, self.accesses as f64 - self.seen);
        let of = |power: u32| {
            let cache_pages = 1 << power;
            let hits = (reuse.below(cache_pages) + amiss).clamp(0.0, all);
            LruMisses { cache_pages, miss_ratio: 1.0 - hits / all }
        };
        let last = reuse.max.map_or(0, |most| u64::BITS - most.leading_zeros());
        let is_known =
            |power: &u32| weight <= 1.0 || libm::exp2(f64::from(*power)) >= LEAST_FOLLOWED * weight;
        match self.accesses {
            0 => Vec::new(),
            _ => (0..=last.min(63)).filter(is_known).map(of).collect(),
        }
    }
}
