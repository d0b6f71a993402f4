//! What a page is to cost when it is programmed, where the timing of the cells leaves a choice: a dear program makes
//! reads cheap, and the other way round. A policy decides by what a page has been through; the FTL remembers that.
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
    /// Decides at which cost a page is programmed, and with that what reads of it cost. All but the first need
    /// a timing that knows costs (`nand.timing.policy`).
    pub enum Regulator ("ftl.cost.policy" = "traditional") as RegulatorChoice, with regulator_policy, or ExternalRegulator {
        Traditional(Traditional),
        HighWrite(HighWrite),
        LowWrite(LowWrite),
        QueueDriven(QueueDriven),
        Agcr(Agcr),
    }
}

contract! {
    /// What a regulator decides.
    pub trait RegulatorPolicy for Regulator, by regulator_policy, or ExternalRegulator {
        /// The cost of a page that the host writes.
        #[must_use]
        fn write(&self, past: Past) -> ProgramCost;

        /// The cost of a copy of a page that is of class `as_was`, and stays so if the answer is none.
        #[must_use]
        fn copy(&self, past: Past, as_was: CostClass) -> Option<ProgramCost>;

        /// Whether a page of a class that is read now should be programmed again while its die is idle.
        #[must_use]
        fn wants_rewrite(&self, _past: Past, _class: CostClass) -> bool {
            false
        }

        /// How accesses of a page are remembered; nothing if nobody asks.
        #[must_use]
        fn remembers(&self) -> Option<HistoryRule> {
            None
        }
    }
}

contract! {
    /// What is known of a regulator before it is built.
    pub trait RegulatorFacts of RegulatorChoice, by regulator_policy {
        /// The class that data from before has unless the configuration says otherwise: what the policy would have
        /// written it at, or, for one that looks at the queue, what nobody has regulated.
        fn prior(_options: &Self::Options) -> CostClass {
            CostClass::Medium
        }

        /// The lowest class at which the policy may have a page programmed.
        fn lowest(_options: &Self::Options) -> CostClass {
            CostClass::Low
        }

        /// Whether it ever asks for another cost than one that knows of none.
        fn regulates(_options: &Self::Options) -> bool {
            true
        }

        /// Whether it looks at what waits at a moment, so that everything has to end first that ends then.
        fn looks_at_queues(_options: &Self::Options) -> bool {
            false
        }

        /// What AGCR is told, if that is the policy.
        fn agcr(_options: &Self::Options) -> Option<&AgcrOptions> {
            None
        }
    }
}
