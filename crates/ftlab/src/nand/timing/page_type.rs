//! Timing by page type: the bits of a multi-level cell (LSB, CSB, MSB, TSB) are read and programmed
//! at different speeds. Page i of a block holds bit i mod b of b-bit cells: the interleaved order of
//! Grupp et al., "Characterizing Flash Memory: Anomalies, Observations, and Applications", MICRO 2009,
//! simplified: real parts shift the order at a block's edges.

use crate::policy::Policy;
use crate::units::Nanos;

/// Times of one page type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageTimes {
    /// Sensing.
    pub read: Nanos,
    /// Programming.
    pub program: Nanos,
}

/// A read and a program time for each page type.
#[derive(Clone, Debug)]
pub struct PageType {
    /// One entry for each bit of the cell, fastest (LSB) first as the parts print them.
    pub types: Vec<PageTimes>,
    /// Erasing a block.
    pub erase: Nanos,
}

impl Policy for PageType {
    const NAME: &'static str = "page-type";
    const SUMMARY: &'static str = "read and program times by page type (LSB, CSB, MSB, TSB)";
    const SOURCE: &'static str = "Grupp et al., MICRO 2009, simplified to an interleaved order";
}

impl PageType {
    #[inline]
    fn times(&self, page: u32) -> PageTimes {
        self.types[page as usize % self.types.len()]
    }

    #[inline]
    pub(super) fn read(&self, page: u32) -> Nanos {
        self.times(page).read
    }

    #[inline]
    pub(super) fn program(&self, page: u32) -> Nanos {
        self.times(page).program
    }
}
