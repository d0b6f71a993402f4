//! The cost of programs, where the timing of the cells offers a choice: an expensive program makes
//! reads cheap, and vice versa. A policy decides by the history of a page, which the FTL keeps.
//!
//! Source: AGCR (a Chinese rendering of a FAST 2016 paper), which describes the seam as the cost regulator.

mod agcr;
mod high_write;
mod history;
mod low_write;
mod queue_driven;
pub(crate) mod regulation;
mod rewriter;
mod traditional;

pub use agcr::{Agcr, AgcrOptions};
pub use high_write::HighWrite;
pub use history::{History, HistoryRule, Past};
pub use low_write::LowWrite;
pub use queue_driven::{QueueDriven, QueueDrivenOptions};
pub use regulation::{CostSetup, Regulation};
pub use rewriter::{RewriteCounts, Rewriter};
pub use traditional::Traditional;

use crate::nand::{CostClass, ProgramCost};
use crate::policy::{contract, seam};

seam! {
    /// Decides the cost at which a page is programmed, and thus the cost of reading it. All but the
    /// first policy need a timing model with costs (`nand.timing.policy`).
    pub enum Regulator ("ftl.cost.policy" = "traditional") as RegulatorChoice, with regulator_policy, or ExternalRegulator {
        Traditional(Traditional),
        HighWrite(HighWrite),
        LowWrite(LowWrite),
        QueueDriven(QueueDriven),
        Agcr(Agcr),
    }
}

contract! {
    /// A cost regulator.
    pub trait RegulatorPolicy for Regulator, by regulator_policy, or ExternalRegulator {
        /// The cost of a page that the host writes.
        #[must_use]
        fn write(&self, past: Past) -> ProgramCost;

        /// The cost of a copy of a page of class `as_was`. None keeps the class.
        #[must_use]
        fn copy(&self, past: Past, as_was: CostClass) -> Option<ProgramCost>;

        /// Whether a page of a class, which is being read, should be rewritten while its die is idle.
        #[must_use]
        fn wants_rewrite(&self, _past: Past, _class: CostClass) -> bool {
            false
        }

        /// How accesses to a page are remembered; none if histories are not needed.
        #[must_use]
        fn remembers(&self) -> Option<HistoryRule> {
            None
        }
    }
}

contract! {
    /// Facts about a regulator that are known before it is built.
    pub trait RegulatorFacts of RegulatorChoice, by regulator_policy {
        /// The default class of data from before: the class at which the policy would have written
        /// it, or an unregulated one if the policy looks at queues.
        fn prior(_options: &Self::Options) -> CostClass {
            CostClass::Medium
        }

        /// The lowest class at which the policy may program a page.
        fn lowest(_options: &Self::Options) -> CostClass {
            CostClass::Low
        }

        /// Whether it ever asks for another cost than an unregulated device has.
        fn regulates(_options: &Self::Options) -> bool {
            true
        }

        /// Whether it looks at what waits at a moment, so that everything ending then has to end first.
        fn looks_at_queues(_options: &Self::Options) -> bool {
            false
        }

        /// The options of AGCR, if that is the policy.
        fn agcr(_options: &Self::Options) -> Option<&AgcrOptions> {
            None
        }
    }
}
