//! Cost-benefit: the block with the largest age * (1 - u) / 2u, where u is its share of valid pages.
//!
//! Reading and programming the valid pages costs 2u. It frees 1 - u, which is worth more the longer it stays free. The
//! age of the block's last change predicts this: an old block is likely to keep its remaining pages. The age is counted
//! from the last page that the block lost (or from when it was filled), as Kawaguchi et al. do, but in pages lost by
//! all blocks instead of time: a device does not age while it stands still.
//!
//! The choice is exact without searching all blocks: among blocks with equally many valid pages the
//! oldest wins, which is the head of their list. So only one head per number of valid pages is
//! examined, and only of blocks that free something.
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

/// The clock never gets this far: an image that claims it is damaged.
const LONGEST: u64 = 1 << 62;

/// Candidates by number of valid pages, and the time of each one's last change.
#[derive(Clone, Debug)]
pub struct CostBenefit {
    candidates: ByValid,
    /// The number of blocks that were filled plus the pages that they lost.
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
        // Integers for benefit and cost; that the cost is doubled for all blocks makes no difference.
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
