//! Dynamic placement: a flash page goes to the die with the least to do, so that a burst of writes
//! keeps every die busy wherever its addresses point. Among equals it goes round, over channels
//! first; a die's planes take turns.
//!
//! Source: Tavakkol et al., "Performance Evaluation of Dynamic Page Allocation Strategies in SSDs",
//! ACM TOMPECS 2016.

use super::PlacementView;
use crate::image::{Damage, Reader, Writer};
use crate::nand::Geometry;
use crate::policy::{NoOptions, Parts, Policy};
use crate::units::{DieId, Lpn, PlaneId};

/// Least load first.
#[derive(Clone, Debug)]
pub struct Dynamic {
    geometry: Geometry,
    /// The turn after that of the die which was chosen last.
    next_turn: u32,
    /// By die: the plane whose turn it is.
    plane_turn: Vec<u32>,
}

impl Policy for Dynamic {
    const NAME: &'static str = "dynamic";
    const SUMMARY: &'static str = "the die with the least to do, channels taking turns";
    const SOURCE: &'static str = "Tavakkol et al., ACM TOMPECS 2016";
    type Options = NoOptions;

    fn build(_options: &Self::Options, parts: &Parts<'_>) -> Self {
        Dynamic::new(parts.geometry)
    }

    fn save(&self, out: &mut Writer) {
        let Dynamic { geometry: _, next_turn, plane_turn } = self;
        out.number(*next_turn);
        plane_turn.iter().for_each(|&turn| out.number(turn));
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damage> {
        self.next_turn = from.below(u64::from(self.geometry.dies()), "the turn of a die")?;
        let planes = u64::from(self.geometry.planes_per_die());
        for turn in &mut self.plane_turn {
            *turn = from.below(planes, "the turn of a plane")?;
        }
        Ok(())
    }
}

impl Dynamic {
    /// Nobody's turn yet.
    #[must_use]
    pub fn new(geometry: &Geometry) -> Dynamic {
        let plane_turn = vec![0; geometry.dies() as usize];
        Dynamic { geometry: geometry.clone(), next_turn: 0, plane_turn }
    }

    /// The plane of `die` whose turn it is, or the next one that can be written.
    #[inline]
    fn plane_on(&self, die: DieId, view: &PlacementView<'_>) -> Option<u32> {
        let turn = self.plane_turn[die.at()];
        (turn..self.geometry.planes_per_die())
            .chain(0..turn)
            .find(|&index| view.writable.planes[self.geometry.plane_in(die, index).at()])
    }

    #[inline]
    pub(super) fn choose(&mut self, _page: Lpn, view: &PlacementView<'_>) -> Option<PlaneId> {
        let turn = view.load.least_loaded(&view.writable.dies, self.next_turn)?;
        let die = self.geometry.die_at_turn(turn);
        let index = self.plane_on(die, view)?;
        let wrap = |next, count| if next == count { 0 } else { next };
        self.next_turn = wrap(turn + 1, self.geometry.dies());
        self.plane_turn[die.at()] = wrap(index + 1, self.geometry.planes_per_die());
        Some(self.geometry.plane_in(die, index))
    }

    pub(super) fn group(&self, _page: Lpn) -> Option<Lpn> {
        None
    }

    pub(super) fn home(&self, _page: Lpn) -> Option<PlaneId> {
        None
    }
}
