//! Recovery from spare areas alone. Only trims are written for it. Power-up reads the spare area of
//! every programmed flash page.
//!
//! Source: Gal and Toledo, "Algorithms and Data Structures for Flash Memories", ACM Computing Surveys 2005, section
//! 2.3: inverse maps beside the data, from which the direct map is rebuilt at initialisation.

use super::{RecoveryFacts, RecoveryPolicy, Upkeep};
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};

/// Scans all programmed pages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scan;

impl Policy for Scan {
    const NAME: &'static str = "scan";
    const SUMMARY: &'static str = "at power-up the spare area of every programmed page is read";
    const SOURCE: &'static str = "Gal and Toledo, ACM Computing Surveys 2005, section 2.3";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Scan
    }

    keeps_nothing!(Scan {});
}

impl RecoveryFacts for Scan {}

impl RecoveryPolicy for Scan {
    fn upkeep(&self) -> Option<Upkeep> {
        Some(Upkeep { checkpoint_every: None })
    }
}
