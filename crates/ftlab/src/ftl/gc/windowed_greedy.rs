//! Windowed greedy: of the w blocks that were filled longest ago, the one with the fewest valid
//! pages. Between FIFO (w = 1) and greedy (w = all).
//!
//! The blocks of the window are in lists by number of valid pages. The others wait in the order in
//! which they were filled, and move up when the window has room. If no block of the window frees
//! anything, the oldest block outside that does is chosen.
//!
//! Source: Hu, Eleftheriou, Haas, Iliadis and Pletka, "Write Amplification Analysis in Flash-Based Solid
//! State Drives", SYSTOR 2009. Their choice among equals is the oldest; here it is the block that has
//! had so few valid pages for longest, as in `greedy`.

use super::by_valid::ByValid;
use super::lists::Lists;
use super::{VictimPolicy, VictimView};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

options! {
    /// The window of windowed greedy.
    pub struct WindowOptions at "ftl.gc" {
        /// The number of blocks of a plane, those filled longest ago, from which the victim is chosen.
        window: u32 = "32", in "1"..="1000000", unit "blocks",
            source "assumed; Hu et al. (SYSTOR 2009) study windows of all sizes";
    }
}

/// The window, and the blocks that wait to enter it.
#[derive(Clone, Debug)]
pub struct WindowedGreedy {
    window: u32,
    inside: ByValid,
    /// By plane: the size of the window.
    sizes: Vec<u32>,
    /// By block: whether it is in the window.
    is_inside: Vec<bool>,
    /// By plane: the other blocks, in the order in which they were filled.
    waiting: Lists,
    most_valid: u32,
}

impl Policy for WindowedGreedy {
    const NAME: &'static str = "windowed-greedy";
    const SUMMARY: &'static str =
        "of the w blocks filled longest ago, the one with the fewest valid pages";
    const SOURCE: &'static str = "Hu et al., SYSTOR 2009";
    type Options = WindowOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        WindowedGreedy::new(parts.geometry, options.window)
    }

    keeps_nothing!(WindowedGreedy { window, inside, sizes, is_inside, waiting, most_valid });
}

impl WindowedGreedy {
    /// No candidates yet; `window` is the size of the window in blocks.
    #[must_use]
    pub fn new(geometry: &Geometry, window: u32) -> WindowedGreedy {
        let planes = geometry.planes() as usize;
        WindowedGreedy {
            window,
            inside: ByValid::new(geometry),
            sizes: vec![0; planes],
            is_inside: vec![false; geometry.blocks() as usize],
            waiting: Lists::new(planes, geometry.blocks()),
            most_valid: super::most_valid(geometry),
        }
    }

    fn take_out(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.inside.remove(plane, block, valid);
        self.is_inside[block.at()] = false;
        self.sizes[plane.at()] -= 1;
    }

    /// Fills the window with the blocks that have waited longest.
    fn fill(&mut self, view: &VictimView<'_>) {
        let plane = view.plane;
        while self.sizes[plane.at()] < self.window {
            let Some(block) = self.waiting.head(plane.at()) else { return };
            self.waiting.unlink(plane.at(), block);
            self.inside.add(plane, block, view.blocks.valid(block));
            self.is_inside[block.at()] = true;
            self.sizes[plane.at()] += 1;
        }
    }
}

impl VictimPolicy for WindowedGreedy {
    fn closed(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.waiting.append(view.plane.at(), block);
        self.fill(view);
    }

    #[inline]
    fn lost_page(&mut self, view: &VictimView<'_>, block: BlockId) {
        if self.is_inside[block.at()] {
            self.inside.lost_page(view.plane, block, view.blocks.valid(block));
        }
    }

    fn withdrawn(&mut self, view: &VictimView<'_>, block: BlockId) {
        if self.is_inside[block.at()] {
            self.take_out(view.plane, block, view.blocks.valid(block));
            self.fill(view);
        } else {
            self.waiting.unlink(view.plane.at(), block);
        }
    }

    fn candidates(&self, plane: PlaneId) -> Vec<BlockId> {
        // The blocks of the window enter it again before the others.
        self.inside.all(plane).chain(self.waiting.all(plane.at())).collect()
    }

    fn choose(&mut self, view: &VictimView<'_>) -> Option<BlockId> {
        let plane = view.plane;
        if let Some((valid, block)) = self.inside.least(plane)
            && valid <= self.most_valid
        {
            self.take_out(plane, block, valid);
            self.fill(view);
            return Some(block);
        }
        let worth = |block: &BlockId| view.blocks.valid(*block) <= self.most_valid;
        let block = self.waiting.all(plane.at()).find(worth)?;
        self.waiting.unlink(plane.at(), block);
        Some(block)
    }
}
