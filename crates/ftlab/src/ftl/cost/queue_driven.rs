//! Cost by the queue: a program is cheap if other commands wait for it to end, and expensive if none does.
//!
//! Source: AGCR (a Chinese rendering of a FAST 2016 paper), section 2.2, on the scheme of Li et al. that it is compared
//! with. It does not say whether the queue of the die or of the device counts, so both are offered. The cost is decided
//! when a die takes the program up, before its data is transferred; this also holds for copies of collection. Only
//! flash commands that wait for a die count, not what waits for room, in a submission queue, or for an entry of the
//! map. A die that was idle knows everything that arrives at one moment; one that becomes free knows what is there.

use super::{Past, RegulatorFacts, RegulatorPolicy};
use crate::image::keeps_nothing;
use crate::nand::{CostClass, Crowd, ProgramCost};
use crate::options::declare::{choices, options};
use crate::policy::{Parts, Policy};

/// Low cost if commands wait, high cost if not.
#[derive(Clone, Copy, Debug)]
pub struct QueueDriven {
    /// Where commands have to wait.
    pub waits: Crowd,
}

choices! {
    /// Where commands have to wait.
    pub enum WaitsAt {
        /// At the die that programs.
        Die = "die",
        /// At any die.
        Device = "device",
    }
}

options! {
    /// Cost by the queue.
    pub struct QueueDrivenOptions at "ftl.cost" {
        /// Where other commands have to wait so that a program is cheap.
        waits: WaitsAt = "die", source "not said by the paper; at a die they wait for this program";
    }
}

impl Policy for QueueDriven {
    const NAME: &'static str = "queue-driven";
    const SUMMARY: &'static str = "low cost if commands wait, high cost if not";
    const SOURCE: &'static str =
        "Li et al., as AGCR (FAST 2016, Chinese rendering), section 2.2, describes them";
    type Options = QueueDrivenOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        let waits = match options.waits {
            WaitsAt::Die => Crowd::Die,
            WaitsAt::Device => Crowd::Device,
        };
        QueueDriven { waits }
    }

    keeps_nothing!(QueueDriven { waits });
}

impl RegulatorFacts for QueueDriven {
    fn looks_at_queues(_options: &Self::Options) -> bool {
        true
    }
}

impl RegulatorPolicy for QueueDriven {
    fn write(&self, _past: Past) -> ProgramCost {
        ProgramCost::ByCrowd(self.waits)
    }

    fn copy(&self, past: Past, _as_was: CostClass) -> Option<ProgramCost> {
        Some(self.write(past))
    }
}
