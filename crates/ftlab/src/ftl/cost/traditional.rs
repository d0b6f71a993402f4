//! Every program at medium cost: nothing is regulated.
//!
//! Source: AGCR (a Chinese rendering of a FAST 2016 paper), section 2.3 (MCW/MCR).

use super::{Past, RegulatorFacts, RegulatorPolicy};
use crate::image::keeps_nothing;
use crate::nand::{CostClass, ProgramCost};
use crate::policy::{NoOptions, Parts, Policy};

/// All programs at medium cost.
#[derive(Clone, Copy, Debug)]
pub struct Traditional;

impl Policy for Traditional {
    const NAME: &'static str = "traditional";
    const SUMMARY: &'static str = "every program at medium cost";
    const SOURCE: &'static str = "AGCR (FAST 2016, Chinese rendering), section 2.3: MCW/MCR";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Traditional
    }

    keeps_nothing!(Traditional {});
}

impl RegulatorFacts for Traditional {
    fn lowest(_options: &Self::Options) -> CostClass {
        CostClass::Medium
    }

    fn regulates(_options: &Self::Options) -> bool {
        false
    }
}

impl RegulatorPolicy for Traditional {
    fn write(&self, _past: Past) -> ProgramCost {
        ProgramCost::Of(CostClass::Medium)
    }

    fn copy(&self, past: Past, _as_was: CostClass) -> Option<ProgramCost> {
        Some(self.write(past))
    }
}
