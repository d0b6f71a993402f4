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
    /// Every die, in the order in which equals are tried: a channel further each time.
    round: Vec<DieId>,
    /// The place in the round after the die that was chosen last.
    turn: usize,
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
    /// The round over the dies of a device.
    #[must_use]
    pub fn new(geometry: &Geometry) -> Dynamic {
        let (channels, on_each) = (geometry.channels(), geometry.dies_per_channel());
        let round = (0..geometry.dies())
            .map(|turn| DieId::new(turn % channels * on_each + turn / channels))
            .collect();
        Dynamic {
            round,
            turn: 0,
            plane_turn: vec![0; geometry.dies() as usize],
            planes_per_die: geometry.shape().planes_per_die,
        }
    }

    /// The plane of `die` whose turn it is, or the next one that can be written.
    fn plane_on(&self, die: DieId, view: &PlacementView<'_>) -> Option<PlaneId> {
        let first = die.get() * self.planes_per_die;
        (0..self.planes_per_die)
            .map(|ahead| (self.plane_turn[die.at()] + ahead) % self.planes_per_die)
            .map(|plane| PlaneId::new(first + plane))
            .find(|plane| view.writable[plane.at()])
    }

    pub(super) fn choose(&mut self, _page: Lpn, view: &PlacementView<'_>) -> Option<PlaneId> {
        let (before, after) = self.round.split_at(self.turn);
        let mut best: Option<(u32, DieId, PlaneId)> = None;
        for &die in after.iter().chain(before) {
            let load = view.load[die.at()];
            if best.is_some_and(|(least, ..)| load >= least) {
                continue;
            }
            if let Some(plane) = self.plane_on(die, view) {
                best = Some((load, die, plane));
                if load == 0 {
                    break;
                }
            }
        }
        let (_, die, plane) = best?;
        self.turn = self.round.iter().position(|&d| d == die)? + 1;
        self.plane_turn[die.at()] = (plane.get() % self.planes_per_die + 1) % self.planes_per_die;
        Some(plane)
    }

    pub(super) fn group(&self, _page: Lpn) -> Option<Lpn> {
        None
    }
}
