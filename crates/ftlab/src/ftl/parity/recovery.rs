//! Stripes and power cuts. The parity of a stripe that was not full, or not on flash as a whole, was in DRAM and is gone.
//! At power-up the pages of such a stripe are read, and its parity is computed again. It stays in DRAM until the
//! superblock is erased, which is not filled further.
//!
//! Pages that are missing in stripes, and the dies that were dead when they were begun, are in the lists of the device.

use super::{OnFlash, ParityCounts, Running, Stripes, members};
use crate::ftl::{BlockState, Ftl};
use crate::nand::{CellMode, Stripe};
use crate::scheduler::Origin;
use crate::units::{BlockId, Ppn};
use crate::verify::Canary;

/// A stripe whose parity is computed again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recomputed {
    /// The stripe.
    pub stripe: Stripe,
    /// The first pages of the flash pages that it covers from now on.
    pub pages: Vec<Ppn>,
    /// The mode of their cells.
    pub mode: CellMode,
    /// The page of its parity, if it was programmed and is of no use.
    pub useless: Option<Ppn>,
}

impl Stripes {
    /// What is left of the stripes without power.
    pub(in crate::ftl) fn without_power(mut self) -> Stripes {
        self.under_way.fill(0);
        self.erases.clear();
        self.rebuilding.clear();
        self.due.clear();
        self.counts = ParityCounts::default();
        self
    }
}

/// Finds, after a power cut, the stripes whose parity has to be computed again. Those of half erased superblocks are
/// forgotten.
pub(in crate::ftl) fn come_up(half_erased: &[BlockId], ftl: &mut Ftl) -> Vec<Recomputed> {
    let (Some(stripes), Some(known)) = (&mut ftl.features.stripes, &ftl.features.superblock) else {
        return Vec::new();
    };
    let known = &known.members;
    half_erased.iter().for_each(|&block| stripes.forget(block));
    let mut found = Vec::new();
    for (stripe, running) in std::mem::take(&mut stripes.running) {
        let on_dead_dies = known.dead_set(stripe.block);
        let forgotten = ftl.plant.is(Canary::StripeNotRecomputed);
        let covered = match forgotten {
            true => 0,
            false => running.covered & running.programmed & !on_dead_dies,
        };
        let was_programmed = matches!(running.on_flash, OnFlash::Leaves | OnFlash::Yes);
        let parity = stripes.parity_of(stripe, known).filter(|_| was_programmed);
        let layout = &stripes.layout;
        found.push(Recomputed {
            stripe,
            pages: members(covered).map(|member| layout.on_flash(stripe, member)).collect(),
            mode: if ftl.blocks.is_slc(stripe.block) { CellMode::Slc } else { CellMode::Native },
            useless: parity.map(|member| layout.on_flash(stripe, member)),
        });
        // Nothing of a stripe came to flash whose superblock is free.
        if ftl.blocks.state(stripe.block) == BlockState::Free {
            continue;
        }
        let again = Running {
            covered,
            programmed: covered,
            origin: Some(Origin::Host),
            on_flash: OnFlash::Useless,
        };
        stripes.running.insert(stripe, again);
    }
    found
}
