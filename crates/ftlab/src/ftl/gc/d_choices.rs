//! d choices: of d blocks drawn at random, the one with the fewest valid pages; among equals the
//! first drawn. It needs no order of all blocks, and comes close to greedy at d = 10.
//!
//! The blocks are drawn with replacement from all closed blocks of the plane, as in the paper.
//! Where the paper would collect a block that frees nothing, one that does is drawn instead.
//!
//! Source: Van Houdt, "A Mean Field Model for a Class of Garbage Collection Algorithms in Flash-based
//! Solid State Drives", SIGMETRICS 2013.

use super::pool::Pool;
use super::{VictimPolicy, VictimView};
use crate::engine::Stream;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

options! {
    /// How many blocks a policy draws.
    pub struct DrawOptions at "ftl.gc" {
        /// Blocks drawn for each choice of a victim.
        draws: u32 = "10", in "1"..="1000", unit "blocks",
            source "at 10, write amplification is close to that of greedy (Van Houdt 2013)";
    }
}

/// Candidates to draw from.
#[derive(Clone, Debug)]
pub struct DChoices {
    candidates: Pool,
    draws: u32,
    stream: Stream,
}

impl Policy for DChoices {
    const NAME: &'static str = "d-choices";
    const SUMMARY: &'static str =
        "of d blocks drawn with replacement, the one with the fewest valid pages";
    const SOURCE: &'static str = "Van Houdt, SIGMETRICS 2013";
    type Options = DrawOptions;

    fn build(options: &Self::Options, parts: &Parts<'_>) -> Self {
        DChoices::new(parts.geometry, options.draws, parts.seed)
    }

    fn save(&self, out: &mut ImageWriter) {
        let DChoices { candidates: _, draws: _, stream } = self;
        stream.save(out);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.stream.load(from)
    }
}

impl DChoices {
    /// No candidates yet; `draws` blocks are drawn for each choice.
    #[must_use]
    pub fn new(geometry: &Geometry, draws: u32, seed: u64) -> DChoices {
        let stream = Stream::new(seed, "ftl.gc.victim d-choices");
        DChoices { candidates: Pool::new(geometry), draws, stream }
    }
}

impl VictimPolicy for DChoices {
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
        let draws =
            (0..self.draws).filter_map(|_| self.candidates.any(view.plane, &mut self.stream));
        let picked = draws.min_by_key(|&block| view.blocks.valid(block))?;
        self.candidates.take_worth(view.plane, picked, &mut self.stream)
    }
}
