//! Sets of sectors of a page: what the host wrote, what flash holds, what crosses a bus.

use super::Lpn;

/// The sectors of a page, a bit for each. Pages have up to 64 KiB, so up to 128 sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectorMask(pub u128);

impl SectorMask {
    /// Maximum number of sectors of a page.
    pub const MOST_SECTORS: u32 = u128::BITS;

    /// No sectors.
    pub const EMPTY: SectorMask = SectorMask(0);

    /// Returns the `count` sectors from `first` on.
    #[inline]
    #[must_use]
    pub fn range(first: u32, count: u32) -> SectorMask {
        debug_assert!(count > 0 && first + count <= 128);
        SectorMask((u128::MAX >> (128 - count)) << first)
    }

    /// Whether the set is empty.
    #[inline]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Number of sectors in the set.
    #[inline]
    #[must_use]
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether it contains every sector of `other`.
    #[inline]
    #[must_use]
    pub fn covers(self, other: SectorMask) -> bool {
        other.0 & !self.0 == 0
    }

    /// The first and the last sector in the set.
    #[inline]
    #[must_use]
    pub fn ends(self) -> Option<(u32, u32)> {
        (!self.is_empty()).then(|| (self.0.trailing_zeros(), 127 - self.0.leading_zeros()))
    }

    /// The union of two sets.
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

    /// The intersection of two sets.
    #[inline]
    #[must_use]
    pub fn within(self, other: SectorMask) -> SectorMask {
        SectorMask(self.0 & other.0)
    }

    /// The sectors in ascending order.
    pub fn sectors(self) -> impl Iterator<Item = u32> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let first = (left != 0).then(|| left.trailing_zeros());
            left &= left.wrapping_sub(1);
            first
        })
    }
}

/// A page of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSpan {
    /// The logical page.
    pub page: Lpn,
    /// The sectors of it that the request covers.
    pub sectors: SectorMask,
}
