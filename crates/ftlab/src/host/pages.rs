//! Splits a request into logical pages and their sectors.

use crate::units::{Lba, Lpn, PageSpan, SectorMask};

/// The pages of a range of sectors, in ascending order.
#[derive(Clone, Debug)]
pub struct Pages {
    next: u64,
    end: u64,
    shift: u32,
}

impl Pages {
    /// Splits the range; `sectors_per_page` must be a power of two.
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
