//! Timing by page type: the bits of a multi-level cell (LSB, CSB, MSB, TSB) are read and programmed at
//! different speeds. Page i of a block holds bit i mod b of b-bit cells. This is the interleaved order of
//! Grupp et al., "Characterizing Flash Memory: Anomalies, Observations, and Applications", MICRO 2009,
//! simplified: real parts shift the order at a block's edges.

use super::{StatedTimes, TellsApart, TimingFacts, TimingPolicy};
use crate::image::keeps_nothing;
use crate::nand::{CostClass, ReadEffort};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::shape::{Cell, FlashGeometry};
use crate::units::{Nanos, Ppn};

/// Times of one page type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageTimes {
    /// Sensing.
    pub read: Nanos,
    /// Programming.
    pub program: Nanos,
}

/// A read time and a program time for each page type.
#[derive(Clone, Debug)]
pub struct PageType {
    /// One entry for each bit of the cell, LSB first.
    pub types: Vec<PageTimes>,
    /// Time to erase a block.
    pub erase: Nanos,
}

options! {
    /// A time for each type of page.
    pub struct PageTypeOptions at "nand.timing" {
        /// Time to sense a flash page (tR), for each type of page: LSB and MSB in MLC; LSB, CSB, MSB in
        /// TLC; TSB last in QLC.
        read_by_type: Vec<Nanos> = required, in "100ns"..="100ms", source "the part";
        /// Time to program a flash page (tPROG), for each type of page, in the same order. One time if a word line is
        /// programmed at once (`nand.program_unit`).
        program_by_type: Vec<Nanos> = required, in "1us"..="1s", source "the part";
    }
}

impl Policy for PageType {
    const NAME: &'static str = "page-type";
    const SUMMARY: &'static str = "read and program times by page type (LSB, CSB, MSB, TSB)";
    const SOURCE: &'static str = "Grupp et al., MICRO 2009, simplified to an interleaved order";
    type Options = PageTypeOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        // A word line that is programmed at once has one time for all types.
        let programs = options.program_by_type.iter().cycle();
        let pairs = options.read_by_type.iter().zip(programs);
        PageType {
            types: pairs.map(|(&read, &program)| PageTimes { read, program }).collect(),
            erase: parts.erase,
        }
    }

    keeps_nothing!(PageType { types, erase });
}

impl TimingFacts for PageType {
    fn paths(_options: &Self::Options) -> [&'static str; 2] {
        ["nand.timing.read_by_type", "nand.timing.program_by_type"]
    }

    fn times(options: &Self::Options, _cell: Cell) -> StatedTimes<'_> {
        let PageTypeOptions { read_by_type, program_by_type } = options;
        StatedTimes { read: read_by_type.into(), program: program_by_type.into() }
    }

    fn tells_apart(_options: &Self::Options) -> TellsApart {
        TellsApart::PageTypes
    }
}

impl PageType {
    #[inline]
    fn times(&self, geometry: &FlashGeometry, page: Ppn) -> PageTimes {
        self.types[geometry.flash_page_in_block(page) as usize % self.types.len()]
    }
}

impl TimingPolicy for PageType {
    #[inline]
    fn read(&self, geometry: &FlashGeometry, page: Ppn, _effort: ReadEffort) -> Nanos {
        self.times(geometry, page).read
    }

    fn read_bit(&self, _: &FlashGeometry, _: Ppn, _: ReadEffort, bit: u32) -> Nanos {
        self.types[bit as usize].read
    }

    #[inline]
    fn program(&self, geometry: &FlashGeometry, page: Ppn, _class: CostClass) -> Nanos {
        self.times(geometry, page).program
    }

    fn longest(&self) -> Nanos {
        let longest = self.types.iter().flat_map(|times| [times.read, times.program]).max();
        longest.unwrap_or_default().max(self.erase)
    }

    #[inline]
    fn erase(&self) -> Nanos {
        self.erase
    }
}
