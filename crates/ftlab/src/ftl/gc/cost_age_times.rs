//! Cost-age-times: the block with the smallest u / (1 - u) * erases / age, where u is its share of
//! valid pages.
//!
//! Copying the valid pages costs u and frees 1 - u. A block that was filled lately will lose more
//! pages by itself, so it waits. One that was erased often waits, too, so blocks wear more evenly.
//!
//! The choice compares all candidates of the plane: among blocks with equally many valid pages,
//! neither the oldest nor the least worn need be the best. So it takes time in proportion to the
//! blocks of a plane, once for each block that is collected.
//!
//! Source: Chiang and Chang, "Cleaning Policies in Mobile Computers Using Flash Memory", Journal of
//! Systems and Software 48(3), 1999. Departures: the age is counted from when the block was filled,
//! in blocks filled and pages lost instead of time, since a device does not age while it stands
//! still; the paper maps ages to a few levels. Erases and ages count from one, so that new blocks
//! differ.

use super::pool::Pool;
use super::{VictimPolicy, VictimView};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::policy::{NoOptions, Parts, Policy};
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

/// More pages than any device writes, and small enough for products.
const LONGEST: u64 = 1 << 48;

/// Candidates, and when each was filled.
#[derive(Clone, Debug)]
pub struct CostAgeTimes {
    candidates: Pool,
    /// The number of blocks that were filled plus the pages that they lost.
    clock: u64,
    /// By block: the clock when it was filled.
    filled: Vec<u64>,
    units_per_block: u32,
    most_valid: u32,
}

impl Policy for CostAgeTimes {
    const NAME: &'static str = "cost-age-times";
    const SUMMARY: &'static str = "the block with the smallest u / (1 - u) * erases / age (CAT)";
    const SOURCE: &'static str = "Chiang and Chang, JSS 1999";
    type Options = NoOptions;

    fn build(_options: &Self::Options, parts: &Parts<'_>) -> Self {
        CostAgeTimes::new(parts.geometry)
    }

    fn save(&self, out: &mut ImageWriter) {
        let CostAgeTimes { candidates: _, clock, filled, units_per_block: _, most_valid: _ } = self;
        out.number(*clock);
        filled.iter().for_each(|&filled| out.number(filled));
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.clock = from.number()?;
        if self.clock > LONGEST {
            return Err(Damage::new(
                "cost-age-times has counted more pages than any device writes",
            ));
        }
        for filled in &mut self.filled {
            *filled = from.number()?;
            if *filled > self.clock {
                return Err(Damage::new("a block was filled later than now"));
            }
        }
        Ok(())
    }
}

impl CostAgeTimes {
    /// No candidates yet.
    #[must_use]
    pub fn new(geometry: &Geometry) -> CostAgeTimes {
        CostAgeTimes {
            candidates: Pool::new(geometry),
            clock: 0,
            filled: vec![0; geometry.blocks() as usize],
            units_per_block: geometry.units_per_block(),
            most_valid: super::most_valid(geometry),
        }
    }

    /// The block that is worth more than another one: the smaller score, then the older block.
    fn better(&self, one: BlockId, other: BlockId, view: &VictimView<'_>) -> BlockId {
        let parts = |block: BlockId| {
            let (valid, filled) = (view.blocks.valid(block), self.filled[block.at()]);
            let cost = u128::from(valid) * (u128::from(view.blocks.erases(block)) + 1);
            let age = u128::from(self.clock - filled) + 1;
            let worth = u128::from(self.units_per_block - valid) * age;
            (cost, worth, filled)
        };
        let (one_parts, other_parts) = (parts(one), parts(other));
        let products = (one_parts.0 * other_parts.1, other_parts.0 * one_parts.1);
        if (products.0, one_parts.2) <= (products.1, other_parts.2) { one } else { other }
    }
}

impl VictimPolicy for CostAgeTimes {
    fn closed(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.clock += 1;
        self.filled[block.at()] = self.clock;
        self.candidates.closed(view.plane, block, view.blocks.valid(block));
    }

    #[inline]
    fn lost_page(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.clock += 1;
        self.candidates.lost_page(view.plane, block, view.blocks.valid(block));
    }

    fn withdrawn(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.candidates.remove(view.plane, block);
    }

    fn candidates(&self, plane: PlaneId) -> Vec<BlockId> {
        self.candidates.all(plane)
    }

    fn choose(&mut self, view: &VictimView<'_>) -> Option<BlockId> {
        let all = 0..self.candidates.count(view.plane);
        let worth = all
            .map(|place| self.candidates.get(view.plane, place))
            .filter(|&block| view.blocks.valid(block) <= self.most_valid);
        let best = worth.reduce(|best, next| self.better(best, next, view))?;
        self.candidates.remove(view.plane, best);
        Some(best)
    }
}
