//! Dynamic placement: a flash page goes to the die with the least to do, so that a burst of writes
//! keeps every die busy wherever its addresses point. Among equals it goes round, over channels
//! first; a die's planes take turns.
//!
//! Source: Tavakkol et al., "Performance Evaluation of Dynamic Page Allocation Strategies in SSDs",
//! ACM TOMPECS 2016.

use super::PlacementView;
use crate::nand::Geometry;
use crate::policy::{NoOptions, Parts, Policy};
use crate::units::{DieId, Lpn, PlaneId};

/// Least load first.
#[derive(Clone, Debug)]
pub struct Dynamic {
    last: Option<DieId>,
    /// By die: the plane whose turn it is.
    plane_turn: Vec<u32>,
    planes_per_die: u32,
}

impl Policy for Dynamic {
    const NAME: &'static str = "dynamic";
    const SUMMARY: &'static str = "the die with the least to do, channels taking turns";
    const SOURCE: &'static str = "Tavakkol et al., ACM TOMPECS 2016";
    type Options = NoOptions;

    fn build(_options: &Self::Options, parts: &Parts<'_>) -> Self {
        Dynamic::new(parts.geometry)
    }
}

impl Dynamic {
    /// Nobody's turn yet.
    #[must_use]
    pub fn new(geometry: &Geometry) -> Dynamic {
        Dynamic {
            last: None,
            plane_turn: vec![0; geometry.dies() as usize],
            planes_per_die: geometry.shape().planes_per_die,
        }
    }

    /// The plane of `die` whose turn it is, or the next one that can be written.
    #[inline]
    fn plane_on(&self, die: DieId, view: &PlacementView<'_>) -> Option<PlaneId> {
        let first = die.get() * self.planes_per_die;
        if self.planes_per_die == 1 {
            return Some(PlaneId::new(first)).filter(|_| view.writable[first as usize]);
        }
        let turn = self.plane_turn[die.at()];
        (turn..self.planes_per_die)
            .chain(0..turn)
            .map(|plane| PlaneId::new(first + plane))
            .find(|plane| view.writable[plane.at()])
    }

    #[inline]
    pub(super) fn choose(&mut self, _page: Lpn, view: &PlacementView<'_>) -> Option<PlaneId> {
        let pick = |die| self.plane_on(die, view).map(|plane| (die, plane));
        let (die, plane) = view.load.least_after(self.last, pick)?;
        self.last = Some(die);
        let next = plane.get() + 1 - die.get() * self.planes_per_die;
        self.plane_turn[die.at()] = if next == self.planes_per_die { 0 } else { next };
        Some(plane)
    }

    pub(super) fn group(&self, _page: Lpn) -> Option<Lpn> {
        None
    }
}
