//! Super data blocks over independent channels: when one plane merges a data block, all others
//! merge their data block of the same number, whether or not the log holds pages of it. They erase
//! no log block.
//!
//! Source: Huang, "On Channel Management in Advanced Solid-State Disk Architecture", NCTU 2010, section 3.2.2.

use super::{PlannerFacts, PlannerPolicy};
use crate::ftl::mapping::hybrid::{LogView, Spot};
use crate::ftl::merge::MergeJob;
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};
use crate::units::PlaneId;

/// The data blocks of the same number.
#[derive(Clone, Debug, Default)]
pub struct SuperDataBlock;

impl Policy for SuperDataBlock {
    const NAME: &'static str = "super-data-block";
    const SUMMARY: &'static str = "all planes merge their data blocks of the same numbers";
    const SOURCE: &'static str = "Huang, channel management thesis, NCTU 2010, section 3.2.2";
    type Options = NoOptions;

    fn build(_options: &NoOptions, _parts: &Parts<'_>) -> Self {
        SuperDataBlock
    }

    keeps_nothing!(SuperDataBlock {});
}

impl PlannerPolicy for SuperDataBlock {
    fn along(&self, view: &LogView<'_>, triggered: &MergeJob, plane: PlaneId) -> MergeJob {
        let mut job = MergeJob::default();
        for &data in &triggered.merges {
            let data = view.tables.beside(data, plane);
            // Otherwise no page of it was ever written.
            if view.cost(data).copies > 0 {
                job.add(view, Spot { data, offset: 0 }, u32::MAX, None);
            }
        }
        job
    }
}

impl PlannerFacts for SuperDataBlock {}
