//! Cycle stealing: while one plane merges k data blocks, each other plane merges k of its own. It
//! chooses those of the oldest pages in its log, because they would have to be merged soonest. Then
//! it may erase a log block without valid pages. It never works longer than the plane that began.
//!
//! Source: Huang, "On Channel Management in Advanced Solid-State Disk Architecture", NCTU 2010,
//! section 3.2.3. If merges differ in cost (switch merges, data blocks that are not full), a plane
//! merges fewer than k data blocks, so that it does not work longer. With independent clocks, a
//! plane looks at its log when its own programs have ended, which may be after the other plane
//! began. It then still works no longer than that plane, but may finish later.

use super::{PlannerFacts, PlannerPolicy};
use crate::ftl::mapping::hybrid::LogView;
use crate::ftl::merge::MergeJob;
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};
use crate::scheduler::CellWork;
use crate::units::PlaneId;

/// The same number of merges on each other plane, of its own data blocks.
#[derive(Clone, Debug, Default)]
pub struct CycleStealing;

impl Policy for CycleStealing {
    const NAME: &'static str = "cycle-stealing";
    const SUMMARY: &'static str = "each other plane merges the same number of its own data blocks, starting with its oldest log pages";
    const SOURCE: &'static str = "Huang, channel management thesis, NCTU 2010, section 3.2.3";
    type Options = NoOptions;

    fn build(_options: &NoOptions, _parts: &Parts<'_>) -> Self {
        CycleStealing
    }

    keeps_nothing!(CycleStealing {});
}

impl PlannerPolicy for CycleStealing {
    fn along(&self, view: &LogView<'_>, triggered: &MergeJob, plane: PlaneId) -> MergeJob {
        let most = triggered.merges.len();
        let mut job = MergeJob::default();
        'merges: for log in view.tables.logs(plane) {
            for spot in view.pages_of(log) {
                if job.merges.len() == most {
                    break 'merges;
                }
                job.add(view, spot, most as u32, Some(triggered.cost));
            }
        }
        job.erases_empty = job.cost.and(CellWork::ERASE).fits(triggered.cost);
        job
    }
}

impl PlannerFacts for CycleStealing {}
