//! AGCR, access-characteristic guided cost regulation: pages that are only written are written at low cost, pages
//! that are only read are to lie at high cost, and others at medium cost. By what a page has been through before:
//! nothing, the first write is at high cost; a write, low; a read, medium. A read of a page that was read before and
//! lies at low cost asks for it to be programmed again, at high cost, while its die is idle.
//!
//! Source: AGCR (a Chinese rendering of a FAST 2016 paper), section 3. Where it is silent or where this departs:
//!
//! - The tag in the paper's mapping entry has one bit, for low cost; here the flash knows the class of each flash page.
//! - Copies of collection are "processed at the regulated cost" (section 4.1): of a page that was written last at low
//!   cost, of one that was read last at high cost, of one that nobody touched as it was.
//! - Section 3.3 inserts a rewrite "if the page was not written at high cost before", section 3.4 one for a page with the
//!   tag of low cost. The tag has one bit, so the latter is taken: pages at medium cost stay there.
//! - The paper has one rewrite queue; here each die has its own, since each is idle at its own times.
//! - Longer windows than two are not kept by the device: their states need more than two bits. `hysteresis` is what
//!   two bits can hold beyond the last access.
//! - A flash page of several logical pages is programmed at the highest cost that one of them asks for, since reads
//!   are what others wait for. The paper's flash pages hold one.
//! - Where a mapping can't place a page freely (a log), nothing is rewritten while idle; merges copy by the rule above.

use super::{HistoryRule, Past, RegulatorFacts, RegulatorPolicy};
use crate::image::keeps_nothing;
use crate::nand::{CostClass, ProgramCost};
use crate::options::Switch;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};

/// Cost by what a page has been through.
#[derive(Clone, Copy, Debug)]
pub struct Agcr {
    history: HistoryRule,
    rewrites: bool,
}

options! {
    /// Cost by what a page has been through.
    pub struct AgcrOptions at "ftl.cost" {
        /// What is remembered of the accesses of a page.
        history: HistoryRule = "last-access",
            source "AGCR, section 4.1: the most recent request and the one that comes";
        /// Whether pages that are only read and lie at low cost are programmed again while their die is idle.
        rewrite: Switch = "on", source "AGCR, section 3.3";
        /// Flash pages that may wait for that on each die. What finds no room is not rewritten.
        rewrite_queue: u32 = "256", in "1"..="65536", unit "flash pages",
            source "assumed: the paper has a queue and does not say how long",
            applies_with "ftl.cost.rewrite" is "on";
    }
}

impl Policy for Agcr {
    const NAME: &'static str = "agcr";
    const SUMMARY: &'static str =
        "low cost for pages that are written again and again, high cost for those that are read";
    const SOURCE: &'static str = "AGCR (FAST 2016, Chinese rendering), section 3";
    type Options = AgcrOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Agcr::new(options)
    }

    keeps_nothing!(Agcr { history, rewrites });
}

impl RegulatorFacts for Agcr {
    fn prior(_options: &Self::Options) -> CostClass {
        CostClass::High
    }

    fn agcr(options: &Self::Options) -> Option<&AgcrOptions> {
        Some(options)
    }
}

impl Agcr {
    /// With these options.
    #[must_use]
    pub fn new(options: &AgcrOptions) -> Agcr {
        Agcr { history: options.history, rewrites: options.rewrite.is_on() }
    }
}

impl RegulatorPolicy for Agcr {
    fn write(&self, past: Past) -> ProgramCost {
        ProgramCost::Of(match past {
            Past::None => CostClass::High,
            Past::Written => CostClass::Low,
            Past::Read | Past::Interleaved => CostClass::Medium,
        })
    }

    fn copy(&self, past: Past, _as_was: CostClass) -> Option<ProgramCost> {
        let class = match past {
            Past::None => return None,
            Past::Written => CostClass::Low,
            Past::Interleaved => CostClass::Medium,
            Past::Read => CostClass::High,
        };
        Some(ProgramCost::Of(class))
    }

    fn wants_rewrite(&self, past: Past, class: CostClass) -> bool {
        self.rewrites && past == Past::Read && class == CostClass::Low
    }

    fn remembers(&self) -> Option<HistoryRule> {
        Some(self.history)
    }
}
