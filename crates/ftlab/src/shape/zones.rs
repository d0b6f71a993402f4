//! How large zones are, and how many there are.

use std::ops::Range;

use crate::units::{Lpn, SECTOR_BYTES};

/// The zones of a device, as its FTL sees them: without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneShape {
    /// Mapping units of a zone.
    pub pages: u32,
    /// The zones.
    pub count: u32,
    /// How many of them, the first ones, are conventional.
    pub conventional: u32,
    /// Groups of planes to which zones belong in turn.
    pub groups: u32,
    /// Bytes of a mapping unit.
    pub unit: u64,
    /// The distance of zones in the address space of the host, in bytes.
    pub size: u64,
}

impl ZoneShape {
    /// The zone of a page.
    #[inline]
    #[must_use]
    pub fn zone_of(&self, page: Lpn) -> u32 {
        page.get() / self.pages
    }

    /// The first page of a zone.
    #[must_use]
    pub fn first_page(&self, zone: u32) -> Lpn {
        Lpn::new(zone * self.pages)
    }

    /// The pages of a zone.
    #[must_use]
    pub fn pages_of(&self, zone: u32) -> Range<Lpn> {
        self.first_page(zone)..self.first_page(zone + 1)
    }

    /// The zones of a group that are not conventional.
    pub fn sequential_of(&self, group: u32) -> impl DoubleEndedIterator<Item = u32> + use<> {
        let groups = self.groups;
        (self.conventional..self.count).filter(move |zone| zone % groups == group)
    }

    /// Sectors that a zone holds.
    #[must_use]
    pub fn capacity_sectors(&self) -> u64 {
        u64::from(self.pages) * self.unit / SECTOR_BYTES
    }

    /// The distance of zones in the address space of the host, in sectors.
    #[must_use]
    pub fn size_sectors(&self) -> u64 {
        self.size / SECTOR_BYTES
    }

    /// Sectors of zones before an address of the host: the address without the gaps.
    #[must_use]
    pub fn sectors_before(&self, sector: u64) -> u64 {
        let (size, capacity) = (self.size_sectors(), self.capacity_sectors());
        sector / size * capacity + (sector % size).min(capacity)
    }
}
