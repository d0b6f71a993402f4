//! Every program at low cost, so that every read is expensive.
//!
//! Source: AGCR (a Chinese rendering of a FAST 2016 paper), section 2.3 (LCW/HCR).

use super::{Past, RegulatorFacts, RegulatorPolicy};
use crate::image::keeps_nothing;
use crate::nand::{CostClass, ProgramCost};
use crate::policy::{NoOptions, Parts, Policy};

/// All programs at low cost.
#[derive(Clone, Copy, Debug)]
pub struct LowWrite;

impl Policy for LowWrite {
    const NAME: &'static str = "low-write";
    const SUMMARY: &'static str = "every program at low cost: reads are expensive";
    const SOURCE: &'static str = "AGCR (FAST 2016, Chinese rendering), section 2.3: LCW/HCR";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        LowWrite
    }

    keeps_nothing!(LowWrite {});
}

impl RegulatorFacts for LowWrite {
    fn prior(_options: &Self::Options) -> CostClass {
        CostClass::Low
    }
}

impl RegulatorPolicy for LowWrite {
    fn write(&self, _past: Past) -> ProgramCost {
        ProgramCost::Of(CostClass::Low)
    }

    fn copy(&self, past: Past, _as_was: CostClass) -> Option<ProgramCost> {
        Some(self.write(past))
    }
}
