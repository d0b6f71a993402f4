//! AGCR, access-characteristic guided cost regulation: pages that are only written are written at low cost, pages that
//! are only read should lie at high cost, and others at medium cost. The cost of a write depends on the history of the
//! page: high without any, low after a write, medium after a read. A read of a page that was already read last and lies
//! at low cost requests a rewrite at high cost while the die is idle.
//!
//! Source: AGCR (a Chinese rendering of a FAST 2016 paper), section 3. Where the paper is silent, and departures:
//!
//! - The tag in the paper's mapping entry has one bit, for low cost. Here the flash knows the class
//!   of each flash page.
//! - Copies of collection are "processed at the regulated cost" (section 4.1): low cost for a page
//!   that was last written, high cost for one that was last read, the present cost for one without
//!   history.
//! - Section 3.3 inserts a rewrite "if the page was not written at high cost before", section 3.4
//!   one for a page with the tag of low cost. The tag has one bit, so the latter is taken: pages at
//!   medium cost stay there.
//! - The paper has one rewrite queue. Here each die has its own, since each is idle at its own
//!   times.
//! - Windows longer than two accesses are not kept, because their states need more than two bits.
//!   `hysteresis` is what two bits can hold beyond the last access.
//! - A flash page of several logical pages is programmed at the highest cost that one of them
//!   needs, since others wait for reads. The paper's flash pages hold one logical page.
//! - If the mapping can't place a page freely (with a log), nothing is rewritten while idle. Merges
//!   copy by the rule above.

use super::{HistoryRule, Past, RegulatorFacts, RegulatorPolicy};
use crate::image::keeps_nothing;
use crate::nand::{CostClass, ProgramCost};
use crate::options::Switch;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};

/// Cost by the history of a page.
#[derive(Clone, Copy, Debug)]
pub struct Agcr {
    history: HistoryRule,
    rewrites: bool,
}

options! {
    /// Cost by the history of a page.
    pub struct AgcrOptions at "ftl.cost" {
        /// What is remembered of the accesses of a page.
        history: HistoryRule = "last-access",
            source "AGCR, section 4.1: the most recent request and the one that comes";
        /// Whether pages that are only read and lie at low cost are rewritten while their die is idle.
        rewrite: Switch = "on", source "AGCR, section 3.3";
        /// Flash pages that may wait for a rewrite on each die. Further ones are not rewritten.
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
