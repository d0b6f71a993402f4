//! Every program at high cost, so that every read is cheap.
//!
//! Source: AGCR (a Chinese rendering of a FAST 2016 paper), section 2.3 (HCW/LCR).

use super::{Past, RegulatorFacts, RegulatorPolicy};
use crate::image::keeps_nothing;
use crate::nand::{CostClass, ProgramCost};
use crate::policy::{NoOptions, Parts, Policy};

/// All programs at high cost.
#[derive(Clone, Copy, Debug)]
pub struct HighWrite;

impl Policy for HighWrite {
    const NAME: &'static str = "high-write";
    const SUMMARY: &'static str = "every program at high cost: reads are cheap";
    const SOURCE: &'static str = "AGCR (FAST 2016, Chinese rendering), section 2.3: HCW/LCR";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        HighWrite
    }

    keeps_nothing!(HighWrite {});
}

impl RegulatorFacts for HighWrite {
    fn prior(_options: &Self::Options) -> CostClass {
        CostClass::High
    }

    fn lowest(_options: &Self::Options) -> CostClass {
        CostClass::High
    }
}

impl RegulatorPolicy for HighWrite {
    fn write(&self, _past: Past) -> ProgramCost {
        ProgramCost::Of(CostClass::High)
    }

    fn copy(&self, past: Past, _as_was: CostClass) -> Option<ProgramCost> {
        Some(self.write(past))
    }
}
