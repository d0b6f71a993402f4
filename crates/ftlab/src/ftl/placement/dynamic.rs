//! Dynamic placement: a flash page goes to the least loaded die, so that a burst of writes keeps
//! every die busy, whatever its addresses. Among equals, dies take turns, over channels first. The
//! planes of a die are kept level for the sake of multi-plane programs.
//!
//! Source: Tavakkol et al., "Performance Evaluation of Dynamic Page Allocation Strategies in SSDs",
//! ACM TOMPECS 2016. Their dynamic strategy only knows which dies are idle; this one also knows how
//! many commands wait for the busy ones.

use super::rows::Rows;
use super::{PlacementFacts, PlacementPolicy, PlacementView, Writable};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::nand::Row;
use crate::policy::{NoOptions, Parts, Policy};
use crate::shape::Geometry;
use crate::units::{Lpn, PlaneId};

/// Least-loaded placement.
#[derive(Clone, Debug)]
pub struct Dynamic {
    geometry: Geometry,
    /// The turn after that of the last chosen die.
    next_turn: u32,
    rows: Rows,
}

impl Policy for Dynamic {
    const NAME: &'static str = "dynamic";
    const SUMMARY: &'static str = "the die with the least to do, channels taking turns";
    const SOURCE: &'static str = "Tavakkol et al., ACM TOMPECS 2016";
    type Options = NoOptions;

    fn build(_options: &Self::Options, parts: &Parts<'_>) -> Self {
        Dynamic::new(parts.geometry)
    }

    fn save(&self, out: &mut ImageWriter) {
        let Dynamic { geometry: _, next_turn, rows } = self;
        out.number(*next_turn);
        rows.save(out);
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.next_turn = from.below(u64::from(self.geometry.dies()), "the turn of a die")?;
        self.rows.load(from)
    }
}

impl PlacementFacts for Dynamic {
    fn is_free(_options: &NoOptions) -> bool {
        true
    }
}

impl Dynamic {
    /// Starts with the first turn.
    #[must_use]
    pub fn new(geometry: &Geometry) -> Dynamic {
        Dynamic { geometry: geometry.clone(), next_turn: 0, rows: Rows::new(geometry) }
    }
}

impl PlacementPolicy for Dynamic {
    #[inline]
    fn choose(&mut self, _page: Lpn, view: &PlacementView<'_>) -> Option<PlaneId> {
        let turn = view.load.least_loaded(&view.writable.dies, self.next_turn)?;
        let die = self.geometry.die_at_turn(turn);
        let plane = self.rows.choose(die, 0..self.geometry.planes_per_die(), view.writable)?;
        self.next_turn = if turn + 1 == self.geometry.dies() { 0 } else { turn + 1 };
        Some(plane)
    }

    fn choose_beside(&mut self, _page: Lpn, row: &Row, writable: &Writable) -> Option<PlaneId> {
        self.rows.choose_beside(row, 0..self.geometry.planes_per_die(), writable)
    }

    fn is_periodic(&self) -> bool {
        true
    }

    fn advance(&mut self, units: u32) {
        self.rows.advance(units);
    }
}
