//! The pages that are followed: all of them while they are few, and then a sample by address.
//!
//! C. A. Waldspurger, N. Park, A. Garthwaite and I. Ahmad, "Efficient MRC Construction with SHARDS",
//! FAST 2015: a page is followed if a hash of its address lies below a threshold, so all of its uses
//! are seen or none. An access that is seen stands for as many as the inverse of the share followed
//! at that time, which is what their rescaling of past counts comes to. Departs in one place: when
//! the pages become too many, the threshold falls by half, and not page by page, which needs no
//! queue by hash; between 16384 and 32768 pages are then followed.
//!
//! Where a few pages have a large part of all accesses, it is chance whether they are followed. The
//! misses of caches and the shares of the hottest pages allow for that; lifetimes and the exponent
//! of skew do not.

use super::order::UseOrder;
use crate::trace::keys::{KeyTable, is_followed, mixed};

/// The most pages that are followed: 128 MiB of 4 KiB pages are exact. About 4 MiB of memory.
pub(super) const MOST_PAGES: usize = 1 << 15;
/// Places of the order for each page: more make closing gaps rarer.
const PLACES: usize = 4;

/// A page that is followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct FollowedPage {
    place: u32,
    /// The hour of its last use.
    pub hour: u32,
    /// How often it was used.
    pub uses: u64,
    /// The sectors written before its last write, and the time of that.
    pub written: Option<(u64, u64)>,
}

/// A use of a page that is followed.
pub(super) struct Touch<'a> {
    /// The page, with its last use.
    pub page: &'a mut FollowedPage,
    /// The estimated number of other pages used since; nothing if this is its first use.
    pub distance: Option<u64>,
    /// How many accesses this one stands for.
    pub weight: f64,
}

/// Follows pages.
#[derive(Clone, Debug)]
pub(super) struct PageSample {
    // Iterated only to be sorted or to be sifted, so the order of the hash table has no effect.
    pages: KeyTable<u64, FollowedPage>,
    order: UseOrder,
    /// How often the threshold has been halved.
    halvings: u32,
    most: usize,
}

impl PageSample {
    /// Follows at most this many pages, a multiple of 64.
    pub fn new(most: usize) -> PageSample {
        let order = UseOrder::new(most * PLACES);
        PageSample { pages: KeyTable::default(), order, halvings: 0, most }
    }

    /// Returns how many pages a followed one stands for.
    pub fn weight(&self) -> f64 {
        libm::exp2(f64::from(self.halvings))
    }

    /// Returns the pages that are followed, in no order.
    pub fn pages(&self) -> impl Iterator<Item = &FollowedPage> {
        self.pages.values()
    }

    /// Notes a use of the page with this key, if it is followed.
    #[inline]
    pub fn touch(&mut self, key: u64, with: impl FnOnce(Touch<'_>)) {
        if is_followed(key, self.halvings) {
            self.touch_followed(key, with);
        }
    }

    fn touch_followed(&mut self, key: u64, with: impl FnOnce(Touch<'_>)) {
        if self.order.is_full() {
            self.close_gaps();
        }
        let weight = self.weight();
        if let Some(page) = self.pages.get_mut(&key) {
            let behind = self.order.free(page.place);
            page.place = self.order.take();
            let distance = Some((f64::from(behind) * weight) as u64);
            page.uses += 1;
            return with(Touch { page, distance, weight });
        }
        if self.pages.len() == self.most {
            self.halve();
            if !is_followed(key, self.halvings) {
                return;
            }
        }
        let place = self.order.take();
        let new = FollowedPage { place, hour: 0, uses: 1, written: None };
        let page = self.pages.entry(key).or_insert(new);
        with(Touch { page, distance: None, weight: libm::exp2(f64::from(self.halvings)) });
    }

    #[cold]
    fn halve(&mut self) {
        while self.pages.len() == self.most {
            self.halvings += 1;
            self.pages.retain(|key, _| is_followed(*key, self.halvings));
        }
        self.close_gaps();
    }

    #[cold]
    fn close_gaps(&mut self) {
        let mut pages: Vec<&mut FollowedPage> = self.pages.values_mut().collect();
        pages.sort_unstable_by_key(|page| page.place);
        self.order.clear();
        pages.into_iter().for_each(|page| page.place = self.order.take());
    }
}

/// Returns the key of a page: no two pages of a stream have the same.
#[inline]
pub(super) fn key_of(stream_key: u64, page: u64) -> u64 {
    mixed(page ^ stream_key)
}
