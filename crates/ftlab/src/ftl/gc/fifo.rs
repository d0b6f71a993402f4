//! First in, first out: the block that was filled longest ago. It is cheap and wears all blocks
//! evenly, but copies more than greedy.
//!
//! A block that frees nothing is skipped and keeps its place.
//!
//! Source: textbook (circular log cleaning); analysed by Menon, "A Performance Comparison of RAID-5 and
//! Log-Structured Arrays", HPDC 1995, and Robinson, Operating Systems Review 1996.

use super::lists::Lists;
use super::{VictimPolicy, VictimView};
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

/// Candidates in the order in which they were filled.
#[derive(Clone, Debug)]
pub struct Fifo {
    /// By plane.
    queues: Lists,
    most_valid: u32,
}

impl Policy for Fifo {
    const NAME: &'static str = "fifo";
    const SUMMARY: &'static str = "the block that was filled longest ago";
    const SOURCE: &'static str = "textbook (circular log cleaning)";
    type Options = NoOptions;

    fn build(_options: &Self::Options, parts: &Parts<'_>) -> Self {
        Fifo::new(parts.geometry)
    }

    keeps_nothing!(Fifo { queues, most_valid });
}

impl Fifo {
    /// No candidates yet.
    #[must_use]
    pub fn new(geometry: &Geometry) -> Fifo {
        let queues = Lists::new(geometry.planes() as usize, geometry.blocks());
        Fifo { queues, most_valid: super::most_valid(geometry) }
    }
}

impl VictimPolicy for Fifo {
    fn closed(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.queues.append(view.plane.at(), block);
    }

    fn lost_page(&mut self, _view: &VictimView<'_>, _block: BlockId) {}

    fn withdrawn(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.queues.unlink(view.plane.at(), block);
    }

    fn candidates(&self, plane: PlaneId) -> Vec<BlockId> {
        self.queues.all(plane.at()).collect()
    }

    fn choose(&mut self, view: &VictimView<'_>) -> Option<BlockId> {
        let worth = |block: &BlockId| view.blocks.valid(*block) <= self.most_valid;
        let block = self.queues.all(view.plane.at()).find(worth)?;
        self.queues.unlink(view.plane.at(), block);
        Some(block)
    }
}
