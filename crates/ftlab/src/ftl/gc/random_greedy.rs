//! Random greedy: of d different blocks drawn at random, the one with the fewest valid pages.
//!
//! Unlike in `d-choices`, no block is drawn twice: with d equal to the number of blocks it is
//! greedy, and with few blocks it beats `d-choices` with the same d. With many blocks the two are
//! the same. If the block that is picked frees nothing, one that does is drawn instead.
//!
//! Source: Li, Lee and Lui, "Stochastic Modeling of Large-Scale Solid-State Storage Systems: Analysis,
//! Design Tradeoffs and Optimization", SIGMETRICS 2013 (randomized greedy). Different blocks are drawn
//! as in Bentley and Floyd, "A Sample of Brilliance", CACM 1987.

use super::d_choices::DrawOptions;
use super::pool::Pool;
use super::{VictimPolicy, VictimView};
use crate::engine::Stream;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::policy::{Parts, Policy};
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

/// Candidates to draw from.
#[derive(Clone, Debug)]
pub struct RandomGreedy {
    candidates: Pool,
    draws: u32,
    stream: Stream,
    /// The positions that are drawn: reusable memory.
    drawn: Vec<u32>,
}

impl Policy for RandomGreedy {
    const NAME: &'static str = "random-greedy";
    const SUMMARY: &'static str =
        "of d different blocks drawn at random, the one with the fewest valid pages";
    const SOURCE: &'static str = "Li, Lee and Lui, SIGMETRICS 2013";
    type Options = DrawOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        RandomGreedy::new(parts.geometry, options.draws, parts.seed)
    }

    fn save(&self, out: &mut ImageWriter) {
        let RandomGreedy { candidates: _, draws: _, stream, drawn: _ } = self;
        stream.save(out);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.stream.load(from)
    }
}

impl RandomGreedy {
    /// No candidates yet; `draws` blocks are drawn for each choice.
    #[must_use]
    pub fn new(geometry: &Geometry, draws: u32, seed: u64) -> RandomGreedy {
        let stream = Stream::new(seed, "ftl.gc.victim random-greedy");
        RandomGreedy { candidates: Pool::new(geometry), draws, stream, drawn: Vec::new() }
    }
}

impl VictimPolicy for RandomGreedy {
    fn closed(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.candidates.closed(view.plane, block, view.blocks.valid(block));
    }

    #[inline]
    fn lost_page(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.candidates.lost_page(view.plane, block, view.blocks.valid(block));
    }

    fn withdrawn(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.candidates.remove(view.plane, block);
    }

    fn candidates(&self, plane: PlaneId) -> Vec<BlockId> {
        self.candidates.all(plane)
    }

    fn choose(&mut self, view: &VictimView<'_>) -> Option<BlockId> {
        let count = self.candidates.count(view.plane);
        self.drawn.clear();
        for last in count.saturating_sub(self.draws)..count {
            let place = self.stream.below(u64::from(last) + 1) as u32;
            self.drawn.push(if self.drawn.contains(&place) { last } else { place });
        }
        let blocks = self.drawn.iter().map(|&place| self.candidates.get(view.plane, place));
        let picked = blocks.min_by_key(|&block| view.blocks.valid(block))?;
        self.candidates.take_worth(view.plane, picked, &mut self.stream)
    }
}
