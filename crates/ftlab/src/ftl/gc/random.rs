//! Random: any block. The baseline for policies that examine blocks. If the block that is drawn
//! frees nothing, one that does is drawn instead.
//!
//! Source: textbook; Van Houdt, SIGMETRICS 2013, with one choice.

use super::pool::Pool;
use super::{VictimPolicy, VictimView};
use crate::engine::Stream;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::policy::{NoOptions, Parts, Policy};
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

/// Candidates to draw from.
#[derive(Clone, Debug)]
pub struct Random {
    candidates: Pool,
    stream: Stream,
}

impl Policy for Random {
    const NAME: &'static str = "random";
    const SUMMARY: &'static str = "any block that frees a flash page";
    const SOURCE: &'static str = "textbook; one choice in Van Houdt, SIGMETRICS 2013";
    type Options = NoOptions;

    fn build(_options: &Self::Options, parts: &Parts<'_>) -> Self {
        Random::new(parts.geometry, parts.seed)
    }

    fn save(&self, out: &mut ImageWriter) {
        let Random { candidates: _, stream } = self;
        stream.save(out);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.stream.load(from)
    }
}

impl Random {
    /// No candidates yet.
    #[must_use]
    pub fn new(geometry: &Geometry, seed: u64) -> Random {
        let stream = Stream::new(seed, "ftl.gc.victim random");
        Random { candidates: Pool::new(geometry), stream }
    }
}

impl VictimPolicy for Random {
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
        let picked = self.candidates.any(view.plane, &mut self.stream)?;
        self.candidates.take_worth(view.plane, picked, &mut self.stream)
    }
}
