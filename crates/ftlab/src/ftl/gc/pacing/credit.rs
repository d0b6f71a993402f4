//! Credit: the host takes what collection frees, and a few flash pages in advance.
//!
//! Each copy earns the host its part of the victim's gain, so that free space stays as it is: with v of b flash
//! pages valid, b - v pages for v copies. With two free blocks beyond the reserve the host needs no credit.

use super::{Earned, PacingPolicy, PacingView, Thresholds};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};

options! {
    /// How far the host runs ahead.
    pub struct CreditOptions at "ftl.gc" {
        /// While a plane collects, the host may take this many of its flash pages more than collection has freed since
        /// it started: host writes continue at the pace of collection instead of stopping until a block is erased. The
        /// largest value lets the host run ahead freely.
        host_lead: u32 = "16", in "1"..="4000000", unit "flash pages",
            source "assumed: as firmware paces host writes, small against a block";
    }
}

/// The host keeps pace with collection.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    lead: u32,
}

impl Policy for Credit {
    const NAME: &'static str = "credit";
    const SUMMARY: &'static str = "as many pages as collection frees, and a few in advance";
    const SOURCE: &'static str =
        "assumed: as firmware paces host writes; it keeps free space as it is";
    type Options = CreditOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        Credit { lead: options.host_lead.saturating_mul(parts.superblock) }
    }

    keeps_nothing!(Credit { lead });
}

impl PacingPolicy for Credit {
    #[inline]
    fn limits(&self, thresholds: &Thresholds, free_blocks: u32) -> bool {
        free_blocks <= thresholds.reserve + 1
    }

    #[inline]
    fn lead(&self) -> u32 {
        self.lead
    }

    #[inline]
    fn most(&self) -> u32 {
        u32::MAX
    }

    #[inline]
    fn share(&self, view: &PacingView<'_>) -> Earned {
        Earned { pages: 0, parts: view.run.gain(), of: view.run.copies() }
    }

    #[inline]
    fn erased(&self, rest: u32) -> u32 {
        rest
    }
}
