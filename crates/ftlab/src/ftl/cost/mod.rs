//! What a page is to cost when it is programmed, where the timing of the cells leaves a choice: a dear program makes
//! reads cheap, and the other way round. A policy decides by what a page has been through; the FTL remembers that.
//!
//! Source: AGCR (a Chinese rendering of a FAST 2016 paper), which describes the seam as the cost regulator.

mod agcr;
mod high_write;
mod history;
mod low_write;
mod queue_driven;
mod regulation;
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
use crate::policy::{Policy, seam};

seam! {
    /// Decides at which cost a page is programmed, and with that what reads of it cost. All but the first need
    /// a timing that knows costs (`nand.timing.policy`).
    pub enum Regulator ("ftl.cost.policy" = "traditional") as RegulatorChoice, with regulator_policy {
        Traditional(Traditional),
        HighWrite(HighWrite),
        LowWrite(LowWrite),
        QueueDriven(QueueDriven),
        Agcr(Agcr),
    }
}

/// What a policy decides.
pub trait Regulate {
    /// The cost of a page that the host writes.
    fn write(&self, past: Past) -> ProgramCost;

    /// The cost of a copy of a page that is of class `as_was`, and stays so if the answer is none.
    fn copy(&self, past: Past, as_was: CostClass) -> Option<ProgramCost>;

    /// Whether a page of a class that is read now should be programmed again while its die is idle.
    fn wants_rewrite(&self, _past: Past, _class: CostClass) -> bool {
        false
    }

    /// How accesses of a page are remembered; nothing if nobody asks.
    fn remembers(&self) -> Option<HistoryRule> {
        None
    }
}

impl Regulator {
    /// The name of the policy.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Regulator::Traditional(_) => Traditional::NAME,
            Regulator::HighWrite(_) => HighWrite::NAME,
            Regulator::LowWrite(_) => LowWrite::NAME,
            Regulator::QueueDriven(_) => QueueDriven::NAME,
            Regulator::Agcr(_) => Agcr::NAME,
        }
    }

    /// The cost of a page that the host writes ([`Regulate::write`]).
    #[must_use]
    pub fn write(&self, past: Past) -> ProgramCost {
        regulator_policy!(self, policy => policy.write(past))
    }

    /// The cost of a copy ([`Regulate::copy`]).
    #[must_use]
    pub fn copy(&self, past: Past, as_was: CostClass) -> Option<ProgramCost> {
        regulator_policy!(self, policy => policy.copy(past, as_was))
    }

    /// Whether a page should be programmed again ([`Regulate::wants_rewrite`]).
    #[must_use]
    pub fn wants_rewrite(&self, past: Past, class: CostClass) -> bool {
        regulator_policy!(self, policy => policy.wants_rewrite(past, class))
    }

    /// How accesses are remembered ([`Regulate::remembers`]).
    #[must_use]
    pub fn remembers(&self) -> Option<HistoryRule> {
        regulator_policy!(self, policy => policy.remembers())
    }
}

impl RegulatorChoice {
    /// The class that data from before has unless the configuration says otherwise: what the policy would have
    /// written it at, or, for one that looks at the queue, what nobody has regulated.
    #[must_use]
    pub const fn prior(&self) -> CostClass {
        match self {
            RegulatorChoice::Traditional(_) | RegulatorChoice::QueueDriven(_) => CostClass::Medium,
            RegulatorChoice::HighWrite(_) | RegulatorChoice::Agcr(_) => CostClass::High,
            RegulatorChoice::LowWrite(_) => CostClass::Low,
        }
    }

    /// The lowest class at which the policy may have a page programmed.
    #[must_use]
    pub const fn lowest(&self) -> CostClass {
        match self {
            RegulatorChoice::Traditional(_) => CostClass::Medium,
            RegulatorChoice::HighWrite(_) => CostClass::High,
            RegulatorChoice::LowWrite(_)
            | RegulatorChoice::QueueDriven(_)
            | RegulatorChoice::Agcr(_) => CostClass::Low,
        }
    }

    /// What AGCR is told, if that is the policy.
    #[must_use]
    pub const fn agcr(&self) -> Option<&AgcrOptions> {
        match self {
            RegulatorChoice::Agcr(options) => Some(options),
            _ => None,
        }
    }
}
