//! The options for the cost of programs, if the timing of the cells offers a choice.

use super::options::Options;
use crate::ftl::cost::RegulatorChoice;
use crate::nand::{CostClass, Prior};
use crate::options::declare::{choices, options};

options! {
    /// The cost of programs and of later reads, if the timing of the cells offers a choice (`nand.timing.policy`).
    pub struct CostOptions at "ftl.cost" with { policy: RegulatorChoice } {
        /// The cost class of data that was there before the measured part of a run. In traces most
        /// reads are of such data, so this decides much of what a regulator seems to gain.
        prior: PriorClass = "by-policy",
            source "AGCR, section 4.2, reads pages without a history at low cost; others say nothing",
            applies_with "nand.timing.policy" is "by-cost" or "nand.timing.policy" is "ispp";
    }
}

choices! {
    /// How data from before was programmed.
    pub enum PriorClass {
        /// As the policy would have programmed it: medium cost for traditional and queue-driven,
        /// high cost for high-write and agcr, low cost for low-write.
        ByPolicy = "by-policy",
        /// As the policy programmed it in preparation, which is remembered.
        AsWritten = "as-written",
        /// At low cost: reads are expensive.
        Low = "low",
        /// At medium cost.
        Medium = "medium",
        /// At high cost: reads are cheap.
        High = "high",
    }
}

impl CostOptions {
    /// The class of data from before. Pages that hold data although nothing was programmed count as
    /// written by the policy.
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
    /// Flash pages of a die that may wait to be rewritten at another cost; none if nothing is
    /// rewritten. With a log, or without translation, no page can be placed freely.
    #[must_use]
    pub fn rewrites(&self) -> Option<u32> {
        let mapping = &self.ftl.mapping.policy;
        let free = mapping.log().is_none() && mapping.translates();
        let agcr = self.ftl.cost.policy.agcr()?;
        let on = agcr.rewrite.is_on() && self.nand.timing.policy.knows_costs() && free;
        on.then_some(agcr.rewrite_queue)
    }
}
