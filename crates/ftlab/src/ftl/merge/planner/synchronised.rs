//! Synchronised channels: the channels work as one whose pages and blocks are as many times larger, with the times of
//! one. Page i of all channels is one page, block i one block; a part of such a page is read, changed and
//! written as a whole.
//!
//! The gang is made where the configuration is resolved, so the device has one channel; what else there is of planes
//! does not cooperate.
//!
//! Source: Huang, "On Channel Management in Advanced Solid-State Disk Architecture", NCTU 2010, section 3.2.1.

use super::{Alone, PlannerFacts, PlannerPolicy};
use crate::ftl::mapping::hybrid::LogView;
use crate::ftl::merge::Job;
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};
use crate::units::PlaneId;

/// The channels as one.
#[derive(Clone, Debug, Default)]
pub struct Synchronised;

impl Policy for Synchronised {
    const NAME: &'static str = "synchronised";
    const SUMMARY: &'static str =
        "the channels work as one, with pages and blocks as many times larger";
    const SOURCE: &'static str = "Huang, channel management thesis, NCTU 2010, section 3.2.1";
    type Options = NoOptions;

    fn build(_options: &NoOptions, _parts: &Parts<'_>) -> Self {
        Synchronised
    }

    keeps_nothing!(Synchronised {});
}

impl PlannerPolicy for Synchronised {
    fn along(&self, view: &LogView<'_>, triggered: &Job, plane: PlaneId) -> Job {
        Alone.along(view, triggered, plane)
    }
}

impl PlannerFacts for Synchronised {
    fn gangs_channels(_options: &NoOptions) -> bool {
        true
    }
}
