//! No cooperation: the other planes do nothing. This is the baseline that shows why a planner is
//! needed when the host waits for every plane.
//!
//! Source: Huang, "On Channel Management in Advanced Solid-State Disk Architecture", NCTU 2010, section 2.5.

use super::{PlannerFacts, PlannerPolicy};
use crate::ftl::mapping::hybrid::LogView;
use crate::ftl::merge::MergeJob;
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};
use crate::units::PlaneId;

/// Each plane merges independently.
#[derive(Clone, Debug, Default)]
pub struct Alone;

impl Policy for Alone {
    const NAME: &'static str = "none";
    const SUMMARY: &'static str = "each plane merges independently; the others do nothing";
    const SOURCE: &'static str = "Huang, channel management thesis, NCTU 2010, section 2.5";
    type Options = NoOptions;

    fn build(_options: &NoOptions, _parts: &Parts<'_>) -> Self {
        Alone
    }

    keeps_nothing!(Alone {});
}

impl PlannerPolicy for Alone {
    fn along(&self, _: &LogView<'_>, _triggered: &MergeJob, _plane: PlaneId) -> MergeJob {
        MergeJob::default()
    }
}

impl PlannerFacts for Alone {}
