//! Splits a request into pages: which logical page, and which of its sectors.

use crate::units::{Lba, Lpn};

/// The sectors of one page, a bit for each; pages have up to 64 KiB, so up to 128 sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectorMask(pub u128);

impl SectorMask {
    /// The sectors that a page can have.
    pub const MOST_SECTORS: u32 = u128::BITS;

    /// No sector.
    pub const EMPTY: SectorMask = SectorMask(0);

    /// The `count` sectors that begin at `first`.
    #[inline]
    #[must_use]
    pub fn range(first: u32, count: u32) -> SectorMask {
        debug_assert!(count > 0 && first + count <= 128);
        SectorMask((u128::MAX >> (128 - count)) << first)
    }

    /// Whether it holds no sector.
    #[inline]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many sectors it holds.
    #[inline]
    #[must_use]
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether it holds every sector of `other`.
    #[inline]
    #[must_use]
    pub fn covers(self, other: SectorMask) -> bool {
        other.0 & !self.0 == 0
    }

    /// The first and the last sector it holds.
    #[inline]
    #[must_use]
    pub fn ends(self) -> Option<(u32, u32)> {
        (!self.is_empty()).then(|| (self.0.trailing_zeros(), 127 - self.0.leading_zeros()))
    }

    /// The sectors of either.
    #[inline]
    #[must_use]
    pub fn and_also(self, other: SectorMask) -> SectorMask {
        SectorMask(self.0 | other.0)
    }

    /// The sectors that are not in `other`.
    #[inline]
    #[must_use]
    pub fn without(self, other: SectorMask) -> SectorMask {
        SectorMask(self.0 & !other.0)
    }

    /// The sectors that are in both.
    #[inline]
    #[must_use]
    pub fn within(self, other: SectorMask) -> SectorMask {
        SectorMask(self.0 & other.0)
    }

    /// The sectors, ascending.
    pub fn sectors(self) -> impl Iterator<Item = u32> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let first = (left != 0).then(|| left.trailing_zeros());
            left &= left.wrapping_sub(1);
            first
        })
    }
}

/// One page of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSpan {
    /// The logical page.
    pub page: Lpn,
    /// Its sectors that the request covers.
    pub sectors: SectorMask,
}

/// The pages of a range of sectors, in ascending order.
#[derive(Clone, Debug)]
pub struct Pages {
    next: u64,
    end: u64,
    shift: u32,
}

impl Pages {
    /// Splits the range; `sectors_per_page` is a power of two.
    #[inline]
    #[must_use]
    pub fn new(lba: Lba, sectors: u32, sectors_per_page: u32) -> Pages {
        debug_assert!(sectors_per_page.is_power_of_two());
        let end = lba.0 + u64::from(sectors);
        Pages { next: lba.0, end, shift: sectors_per_page.trailing_zeros() }
    }
}

impl Iterator for Pages {
    type Item = PageSpan;

    #[inline]
    fn next(&mut self) -> Option<PageSpan> {
        if self.next >= self.end {
            return None;
        }
        let page = self.next >> self.shift;
        let until = ((page + 1) << self.shift).min(self.end);
        let first = (self.next - (page << self.shift)) as u32;
        let sectors = SectorMask::range(first, (until - self.next) as u32);
        self.next = until;
        Some(PageSpan { page: Lpn::new(page as u32), sectors })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn pages_cover_the_range_exactly(lba in 0u64..10_000, sectors in 1u32..2_000, shift in 2u32..8) {
            let per_page = 1 << shift;
            let covered: Vec<u64> = Pages::new(Lba(lba), sectors, per_page)
                .flat_map(|span| {
                    let start = u64::from(span.page.get()) * u64::from(per_page);
                    span.sectors.sectors().map(move |sector| start + u64::from(sector))
                })
                .collect();
            proptest::prop_assert_eq!(covered, (lba..lba + u64::from(sectors)).collect::<Vec<_>>());
        }
    }
}
