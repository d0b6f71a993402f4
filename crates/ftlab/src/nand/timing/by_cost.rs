//! Timing by cost: a table of three program times and of the read times that follow from them.
//!
//! Source: AGCR (a Chinese rendering of a FAST 2016 paper), table 1. Its times include transfers, so the bus should
//! take no time.

use super::{StatedTimes, TellsApart, TimingFacts, TimingPolicy};
use crate::image::keeps_nothing;
use crate::nand::{CostClass, ReadEffort};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::shape::{Cell, FlashGeometry};
use crate::units::{Nanos, Ppn};

/// A read time and a program time for each class.
#[derive(Clone, Debug)]
pub struct ByCost {
    /// By effort, the least first.
    pub read: Vec<Nanos>,
    /// By class, the cheapest first.
    pub program: Vec<Nanos>,
    /// Time to erase a block.
    pub erase: Nanos,
}

options! {
    /// A time for each cost.
    pub struct ByCostOptions at "nand.timing" {
        /// Time to read a flash page, for each cost of the read: low (of a page programmed at high cost), medium,
        /// high.
        read_by_cost: Vec<Nanos> = "70us, 170us, 310us", in "100ns"..="100ms", source "AGCR, table 1";
        /// Time to program a flash page, for each cost: low, medium, high.
        program_by_cost: Vec<Nanos> = "450us, 600us, 800us", in "1us"..="1s", source "AGCR, table 1";
    }
}

impl Policy for ByCost {
    const NAME: &'static str = "by-cost";
    const SUMMARY: &'static str = "three program times, and the read times that follow from them";
    const SOURCE: &'static str = "AGCR (FAST 2016, Chinese rendering), table 1";
    type Options = ByCostOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        ByCost {
            read: options.read_by_cost.clone(),
            program: options.program_by_cost.clone(),
            erase: parts.erase,
        }
    }

    keeps_nothing!(ByCost { read, program, erase });
}

impl TimingFacts for ByCost {
    fn paths(_options: &Self::Options) -> [&'static str; 2] {
        ["nand.timing.read_by_cost", "nand.timing.program_by_cost"]
    }

    fn times(options: &Self::Options, _cell: Cell) -> StatedTimes<'_> {
        let ByCostOptions { read_by_cost, program_by_cost } = options;
        StatedTimes { read: read_by_cost.into(), program: program_by_cost.into() }
    }

    fn tells_apart(_options: &Self::Options) -> TellsApart {
        TellsApart::Costs
    }

    fn knows_costs(_options: &Self::Options) -> bool {
        true
    }
}

impl TimingPolicy for ByCost {
    #[inline]
    fn read(&self, _geometry: &FlashGeometry, _page: Ppn, effort: ReadEffort) -> Nanos {
        self.read[effort.at()]
    }

    #[inline]
    fn program(&self, _geometry: &FlashGeometry, _page: Ppn, class: CostClass) -> Nanos {
        self.program[class as usize]
    }

    fn longest(&self) -> Nanos {
        self.read.iter().chain(&self.program).copied().max().unwrap_or_default().max(self.erase)
    }

    #[inline]
    fn erase(&self) -> Nanos {
        self.erase
    }

    fn knows_costs(&self) -> bool {
        true
    }
}
