//! Plain timing: one time for each kind of operation, like the typical values in data sheets.

use std::slice;

use super::{StatedTimes, TellsApart, TimingFacts, TimingPolicy};
use crate::image::keeps_nothing;
use crate::nand::{CostClass, ReadEffort};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::shape::{Cell, FlashGeometry};
use crate::units::{Nanos, Ppn};

/// One read time, one program time, one erase time.
#[derive(Clone, Debug)]
pub struct Plain {
    /// Time to sense a flash page (tR).
    pub read: Nanos,
    /// Time to program a flash page (tPROG).
    pub program: Nanos,
    /// Time to erase a block (tBERS).
    pub erase: Nanos,
}

options! {
    /// One time for each operation.
    pub struct PlainOptions at "nand.timing" {
        /// Time to sense a flash page (tR).
        read: Nanos = required, in "100ns"..="100ms", source "the part";
        /// Time to program a flash page (tPROG).
        program: Nanos = required, in "1us"..="1s", source "the part";
    }
}

impl Policy for Plain {
    const NAME: &'static str = "plain";
    const SUMMARY: &'static str = "one time for each kind of operation (tR, tPROG, tBERS)";
    const SOURCE: &'static str = "data sheets";
    type Options = PlainOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        Plain { read: options.read, program: options.program, erase: parts.erase }
    }

    keeps_nothing!(Plain { read, program, erase });
}

impl TimingFacts for Plain {
    fn paths(_options: &Self::Options) -> [&'static str; 2] {
        ["nand.timing.read", "nand.timing.program"]
    }

    fn times(options: &Self::Options, _cell: Cell) -> StatedTimes<'_> {
        StatedTimes {
            read: slice::from_ref(&options.read).into(),
            program: slice::from_ref(&options.program).into(),
        }
    }

    fn tells_apart(_options: &Self::Options) -> TellsApart {
        TellsApart::Nothing
    }
}

impl TimingPolicy for Plain {
    fn longest(&self) -> Nanos {
        self.read.max(self.program).max(self.erase)
    }

    fn is_flat(&self) -> bool {
        true
    }

    #[inline]
    fn read(&self, _geometry: &FlashGeometry, _page: Ppn, _effort: ReadEffort) -> Nanos {
        self.read
    }

    #[inline]
    fn program(&self, _geometry: &FlashGeometry, _page: Ppn, _class: CostClass) -> Nanos {
        self.program
    }

    #[inline]
    fn erase(&self) -> Nanos {
        self.erase
    }
}
