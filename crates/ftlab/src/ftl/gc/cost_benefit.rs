//! Cost-benefit: the block with the largest age * (1 - u) / 2u, where u is its share of valid pages.
//!
//! Reading and rewriting a block costs 2u; what it yields is free space 1 - u, worth the more the
//! longer it will stay free, for which the age of the block's last change stands: an old block is
//! likely to keep the pages that it still has. Age is counted from the last page that the block lost
//! (or from when it was filled), as Kawaguchi et al. do; in pages that the device's blocks have lost, not
//! in time: a device does not grow older while it stands still.
//!
//! Exact without a search of all blocks: among blocks with as many valid pages the oldest wins, and
//! that is the head of their list. So one head is looked at for each number of valid pages that
//! occurs. Blocks that gain nothing are not looked at.
//!
//! Sources: Rosenblum and Ousterhout, "The Design and Implementation of a Log-Structured File System",
//! SOSP 1991 (with 1 + u: cleaning reads the whole segment); Kawaguchi, Nishioka and Motoda, "A
//! Flash-Memory Based File System", USENIX 1995 (with 2u, as here: only valid pages are read).

use super::by_valid::ByValid;
use super::{VictimPolicy, VictimView};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::policy::{NoOptions, Parts, Policy};
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

/// No clock gets so far; an image that says so is damaged.
const LONGEST: u64 = 1 << 62;

/// Candidates by number of valid pages, and when each changed last.
#[derive(Clone, Debug)]
pub struct CostBenefit {
    candidates: ByValid,
    /// Blocks that were filled and pages that they lost, so far.
    clock: u64,
    /// By block: the clock at its last change.
    changed: Vec<u64>,
    units_per_block: u32,
    most_valid: u32,
}

impl Policy for CostBenefit {
    const NAME: &'static str = "cost-benefit";
    const SUMMARY: &'static str = "the block with the largest age * (1 - u) / 2u";
    const SOURCE: &'static str =
        "Kawaguchi et al., USENIX 1995; Rosenblum and Ousterhout, SOSP 1991";
    type Options = NoOptions;

    fn build(_options: &Self::Options, parts: &Parts<'_>) -> Self {
        CostBenefit::new(parts.geometry)
    }

    fn save(&self, out: &mut ImageWriter) {
        let CostBenefit { candidates: _, clock, changed, units_per_block: _, most_valid: _ } = self;
        out.number(*clock);
        changed.iter().for_each(|&changed| out.number(changed));
    }

    fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.clock = from.number()?;
        if self.clock > LONGEST {
            return Err(Damage::new("cost-benefit has counted more pages than any device writes"));
        }
        for changed in &mut self.changed {
            *changed = from.number()?;
            if *changed > self.clock {
                return Err(Damage::new("a block changed later than now"));
            }
        }
        Ok(())
    }
}

impl CostBenefit {
    /// No candidates yet.
    #[must_use]
    pub fn new(geometry: &Geometry) -> CostBenefit {
        CostBenefit {
            candidates: ByValid::new(geometry),
            clock: 0,
            changed: vec![0; geometry.blocks() as usize],
            units_per_block: geometry.units_per_block(),
            most_valid: super::most_valid(geometry),
        }
    }
}

impl VictimPolicy for CostBenefit {
    fn closed(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.clock += 1;
        self.changed[block.at()] = self.clock;
        self.candidates.add(view.plane, block, view.blocks.valid(block));
    }

    #[inline]
    fn lost_page(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.clock += 1;
        self.changed[block.at()] = self.clock;
        self.candidates.lost_page(view.plane, block, view.blocks.valid(block));
    }

    fn withdrawn(&mut self, view: &VictimView<'_>, block: BlockId) {
        self.candidates.remove(view.plane, block, view.blocks.valid(block));
    }

    fn candidates(&self, plane: PlaneId) -> Vec<BlockId> {
        self.candidates.all(plane).collect()
    }

    fn choose(&mut self, view: &VictimView<'_>) -> Option<BlockId> {
        let worth = self.candidates.heads(view.plane).take_while(|head| head.0 <= self.most_valid);
        // Benefit and cost as integers; twice the cost for all makes no difference.
        let scored = worth.map(|(valid, block)| {
            let age = u128::from(self.clock - self.changed[block.at()]);
            (age * u128::from(self.units_per_block - valid), u128::from(valid), (valid, block))
        });
        let better =
            |best: &(u128, u128, _), next: &(u128, u128, _)| next.0 * best.1 > best.0 * next.1;
        let best = scored.reduce(|best, next| if better(&best, &next) { next } else { best });
        let (.., (valid, block)) = best?;
        self.candidates.remove(view.plane, block, valid);
        Some(block)
    }
}
