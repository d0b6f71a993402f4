//! Synchronised channels: all channels work as one. Its pages and blocks are larger by the number
//! of channels, with the times of a single page and block. Page i of all channels is one page, and
//! block i is one block. Writing a part of such a page is a read-modify-write of the whole.
//!
//! The resolution of the configuration combines the channels, so the device has one channel. Its
//! remaining planes do not cooperate.
//!
//! Source: Huang, "On Channel Management in Advanced Solid-State Disk Architecture", NCTU 2010, section 3.2.1.

use super::{Alone, PlannerFacts, PlannerPolicy};
use crate::ftl::mapping::hybrid::LogView;
use crate::ftl::merge::MergeJob;
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};
use crate::units::PlaneId;

/// All channels as one.
#[derive(Clone, Debug, Default)]
pub struct Synchronised;

impl Policy for Synchronised {
    const NAME: &'static str = "synchronised";
    const SUMMARY: &'static str =
        "all channels work as one, with pages and blocks that span all channels";
    const SOURCE: &'static str = "Huang, channel management thesis, NCTU 2010, section 3.2.1";
    type Options = NoOptions;

    fn build(_options: &NoOptions, _parts: &Parts<'_>) -> Self {
        Synchronised
    }

    keeps_nothing!(Synchronised {});
}

impl PlannerPolicy for Synchronised {
    fn along(&self, view: &LogView<'_>, triggered: &MergeJob, plane: PlaneId) -> MergeJob {
        Alone.along(view, triggered, plane)
    }
}

impl PlannerFacts for Synchronised {
    fn gangs_channels(_options: &NoOptions) -> bool {
        true
    }
}
