//! The options of what programs cost, where the timing of the cells leaves a choice.

use super::options::Options;
use crate::ftl::cost::RegulatorChoice;
use crate::nand::{CostClass, Prior};
use crate::options::declare::{choices, options};

options! {
    /// What programs cost, and reads after them, where the timing of the cells leaves a choice
    /// (`nand.timing.policy`).
    pub struct CostOptions at "ftl.cost" with { policy: RegulatorChoice } {
        /// The class of data that was there before the measured part of a run: how it was programmed. In traces most
        /// reads are of such data, so this decides much of what a regulator seems to gain.
        prior: PriorClass = "by-policy",
            source "AGCR, section 4.2, reads pages without a history at low cost; others say nothing",
            applies_with "nand.timing.policy" is "by-cost" or "nand.timing.policy" is "ispp";
    }
}

choices! {
    /// How data from before was programmed.
    pub enum PriorClass {
        /// As the policy would have: medium cost for traditional and queue-driven, high cost for high-write and agcr,
        /// low cost for low-write.
        ByPolicy = "by-policy",
        /// As the policy did in preparation, which it remembers.
        AsWritten = "as-written",
        /// At low cost: reads are dear.
        Low = "low",
        /// At medium cost.
        Medium = "medium",
        /// At high cost: reads are cheap.
        High = "high",
    }
}

impl CostOptions {
    /// What data from before is taken for. What was never programmed, and is there all the same, is taken for what
    /// the policy would have written.
    #[must_use]
    pub fn prior(&self) -> Prior {
        let class = match self.prior {
            PriorClass::ByPolicy | PriorClass::AsWritten => self.policy.prior(),
            PriorClass::Low => CostClass::Low,
            PriorClass::Medium => CostClass::Medium,
            PriorClass::High => CostClass::High,
        };
        Prior { class, as_written: self.prior == PriorClass::AsWritten }
    }
}

impl Options {
    /// Flash pages of a die that may wait to be programmed again at another cost; nothing if none is. Where there is a
    /// log, or no translation, no page can be placed freely.
    #[must_use]
    pub fn rewrites(&self) -> Option<u32> {
        let mapping = &self.ftl.mapping.policy;
        let free = mapping.log().is_none() && mapping.translates();
        let agcr = self.ftl.cost.policy.agcr()?;
        let on = agcr.rewrite.is_on() && self.nand.timing.policy.knows_costs() && free;
        on.then_some(agcr.rewrite_queue)
    }
}
