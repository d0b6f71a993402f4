//! The spare area of the flash pages: which logical page each physical page holds, and which of its
//! sectors were ever written. It is what a real device finds on flash after a power cut, and what
//! collection needs to know.

use crate::engine::prefetch;
use crate::host::SectorMask;
use crate::units::{Lpn, Ppn};

/// Marks an owner whose page holds only some sectors; their mask is then kept beside.
const PARTIAL: u32 = 1 << 31;

/// How many owners ahead of collection their memory is asked for: a few cache lines.
const PREFETCH_DISTANCE: usize = 48;

/// Owners and sector masks by physical page.
///
/// Owners take four bytes a page. Masks take a bit a sector, but only where a page is partial: the
/// table is zeroed memory that nobody touches otherwise.
#[derive(Clone, Debug)]
pub struct Spare {
    owners: Vec<u32>,
    masks: Vec<u8>,
    mask_bytes: usize,
    full: SectorMask,
}

impl Spare {
    /// The spare area of `physical_pages` erased pages of `sectors` each.
    #[must_use]
    pub fn new(physical_pages: u32, sectors: u32) -> Spare {
        let mask_bytes = sectors.div_ceil(u8::BITS) as usize;
        Spare {
            owners: vec![0; physical_pages as usize],
            masks: vec![0; physical_pages as usize * mask_bytes],
            mask_bytes,
            full: SectorMask::range(0, sectors),
        }
    }

    /// The mask of a whole page.
    #[inline]
    #[must_use]
    pub fn full(&self) -> SectorMask {
        self.full
    }

    /// Records what a page is programmed with.
    #[inline]
    pub fn record(&mut self, at: Ppn, page: Lpn, sectors: SectorMask) {
        if sectors == self.full {
            self.owners[at.at()] = page.to_raw();
            return;
        }
        self.owners[at.at()] = page.to_raw() | PARTIAL;
        let start = at.at() * self.mask_bytes;
        let bytes = sectors.0.to_le_bytes();
        self.masks[start..start + self.mask_bytes].copy_from_slice(&bytes[..self.mask_bytes]);
    }

    /// The logical page that was last programmed there.
    #[inline]
    #[must_use]
    pub fn owner(&self, at: Ppn) -> Option<Lpn> {
        Lpn::from_raw(self.owners[at.at()] & !PARTIAL)
    }

    /// The sectors that a programmed page holds.
    #[inline]
    #[must_use]
    pub fn sectors(&self, at: Ppn) -> SectorMask {
        if self.owners[at.at()] & PARTIAL == 0 {
            return self.full;
        }
        let start = at.at() * self.mask_bytes;
        let mut bytes = [0; size_of::<u128>()];
        bytes[..self.mask_bytes].copy_from_slice(&self.masks[start..start + self.mask_bytes]);
        SectorMask(u128::from_le_bytes(bytes))
    }

    /// Brings the owners a little behind a page closer to the processor: collection comes to them next.
    #[inline]
    pub fn prefetch_after(&self, at: Ppn) {
        prefetch(&self.owners, at.at() + PREFETCH_DISTANCE);
    }
}
