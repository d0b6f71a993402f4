//! Greedy: the block with the fewest valid pages; among equals, the one that has had so few for
//! longest.
//!
//! If that block frees nothing, none does. It takes constant time, whatever the number of blocks.
//!
//! Source: Rosenblum and Ousterhout, "The Design and Implementation of a Log-Structured File System",
//! SOSP 1991 (greedy); the lists are the usual firmware technique.

use super::by_valid::ByValid;
use super::{VictimPolicy, VictimView};
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

/// Candidates by number of valid pages.
#[derive(Clone, Debug)]
pub struct Greedy {
    candidates: ByValid,
    most_valid: u32,
}

impl Policy for Greedy {
    const NAME: &'static str = "greedy";
    const SUMMARY: &'static str = "the block with the fewest valid pages";
    const SOURCE: &'static str = "Rosenblum and Ousterhout, SOSP 1991";
    type Options = NoOptions;

    fn build(_options: &Self::Options, parts: &Parts<'_>) -> Self {
        Greedy::new(parts.geometry)
    }

    keeps_nothing!(Greedy { candidates, most_valid });
}

impl Greedy {
    /// No candidates yet.
    #[must_use]
    pub fn new(geometry: &Geometry) -> Greedy {
        Greedy { candidates: ByValid::new(geometry), most_valid: super::most_valid(geometry) }
    }
}

impl VictimPolicy for Greedy {
    fn closed(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.candidates.add(view.plane, block, view.blocks.valid(block));
    }

    #[inline]
    fn lost_page(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.candidates.lost_page(view.plane, block, view.blocks.valid(block));
    }

    fn withdrawn(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.candidates.remove(view.plane, block, view.blocks.valid(block));
    }

    fn candidates(&self, plane: PlaneId) -> Vec<BlockId> {
        self.candidates.all(plane).collect()
    }

    fn choose(&mut self, view: &VictimView<'_>) -> Option<BlockId> {
        let (valid, block) = self.candidates.least(view.plane)?;
        if valid > self.most_valid {
            return None;
        }
        self.candidates.remove(view.plane, block, valid);
        Some(block)
    }
}
