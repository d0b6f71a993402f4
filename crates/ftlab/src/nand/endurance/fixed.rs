//! Every block endures the same number of cycles. Differences in the lives of blocks then come from
//! the FTL alone.

use super::{EnduranceFacts, EndurancePolicy};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};

options! {
    /// The life of a block.
    pub struct FixedOptions at "nand.endurance" {
        /// Program/erase cycles that a block endures, or the mean over all blocks.
        cycles: u32 = "3000", in "1"..="10000000", unit "cycles",
            source "default: typical of MLC and TLC; SLC endures 100,000, QLC 1,000 or less";
    }
}

/// The same endurance for all blocks.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    /// Program/erase cycles of each block.
    pub cycles: u32,
}

impl Policy for Fixed {
    const NAME: &'static str = "fixed";
    const SUMMARY: &'static str = "every block endures the same number of cycles";
    const SOURCE: &'static str = "data sheets state one number for all blocks";
    type Options = FixedOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Fixed { cycles: options.cycles }
    }

    keeps_nothing!(Fixed { cycles });
}

impl EnduranceFacts for Fixed {}

impl EndurancePolicy for Fixed {
    fn cycles(&self) -> Option<u32> {
        Some(self.cycles)
    }
}
