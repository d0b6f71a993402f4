//! The state of stripes that is saved at rest: which have their parity in DRAM, which pages hold
//! nothing useful, and which dies are dead. A drive that is switched off saves this parity in a
//! place of its own; these programs are not modelled.

use super::super::{BlockState, Blocks};
use super::{Missing, Narrow, OnFlash, Running, Stripes};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::nand::Stripe;
use crate::scheduler::Origin;
use crate::units::BlockId;

impl Stripes {
    pub(in crate::ftl) fn save(&self, out: &mut ImageWriter) {
        let Stripes {
            // Follows from the configuration.
            superblocks: _,
            // Nothing is in flight at rest.
            load: _,
            under_way: _,
            erases: _,
            erasing: _,
            rebuilding: _,
            running,
            missing,
            dead,
            // Follows from `dead`.
            any_dead: _,
            narrow,
            // Measurements start at the load.
            counts: _,
        } = self;
        out.number(running.len() as u64);
        for (stripe, running) in running {
            save_stripe(*stripe, out);
            out.number(running.covered);
            out.flag(running.on_flash == OnFlash::Useless);
        }
        out.number(missing.len() as u64);
        for ((stripe, member), why) in missing {
            save_stripe(*stripe, out);
            out.number(*member);
            out.flag(*why == Missing::Parity);
        }
        dead.iter().for_each(|&dead| out.number(dead));
        out.number(narrow.len() as u64);
        for (block, Narrow { begun, dead }) in narrow {
            out.number(block.get());
            out.number(*begun);
            out.number(dead.len() as u64);
            for &(row, dead) in dead {
                out.number(row);
                out.number(dead);
            }
        }
    }

    /// Loads what [`save`](Self::save) wrote, for blocks that were loaded. `may_fail` tells whether
    /// anything can fail on this device.
    pub(in crate::ftl) fn load(
        &mut self,
        blocks: &Blocks,
        may_fail: bool,
        from: &mut ImageReader<'_>,
    ) -> Result<(), Damage> {
        let most = self.superblocks.volume().blocks() * self.rows();
        for _ in 0..from.below(u64::from(most) + 1, "the number of stripes with parity in DRAM")? {
            let stripe = self.load_stripe(blocks, from)?;
            let covered = self.load_members("what parity covers", from)?;
            let on_flash = match from.flag("whether parity on flash is of no use")? {
                true => OnFlash::Useless,
                false => OnFlash::No,
            };
            // Nothing is held back at rest: the next program of a page sets the origin.
            let origin = Some(Origin::Host);
            let running = Running { covered, programmed: covered, origin, on_flash };
            self.running.insert(stripe, running);
        }
        let pages = u64::from(most) * u64::from(self.superblocks.width());
        for _ in 0..from.below(pages + 1, "the number of pages that are missing")? {
            let stripe = self.load_stripe(blocks, from)?;
            let member = from.below(self.superblocks.width().into(), "a member of a stripe")?;
            let is_parity = from.flag("whether a page is the parity of its stripe")?;
            let why = if is_parity { Missing::Parity } else { Missing::LeftOut };
            self.missing.insert((stripe, member), why);
        }
        for group in 0..self.dead.len() {
            self.dead[group] = self.load_members("the dead dies of a group", from)?;
        }
        self.any_dead = self.dead.iter().any(|&dead| dead != 0);
        if self.any_dead && !may_fail {
            return Err(Damage(
                "dies have died: a device without faults can't continue".to_owned(),
            ));
        }
        let all = u64::from(self.superblocks.volume().blocks());
        for _ in 0..from.below(all + 1, "the number of narrow superblocks")? {
            let block = BlockId::new(from.below(all, "a narrow superblock")?);
            let narrow = self.load_narrow(from)?;
            self.narrow.insert(block, narrow);
        }
        self.check_open(blocks)
    }

    fn rows(&self) -> u32 {
        self.superblocks.flash().shape().pages_per_block
    }

    fn load_stripe(&self, blocks: &Blocks, from: &mut ImageReader<'_>) -> Result<Stripe, Damage> {
        let all = self.superblocks.volume().blocks();
        let block = BlockId::new(from.below(all.into(), "the block of a stripe")?);
        let row = from.below(self.rows().into(), "the number of a stripe")?;
        match blocks.state(block) {
            BlockState::Free => Err(Damage(format!("{block:?} is free and has a stripe"))),
            _ => Ok(Stripe { block, row }),
        }
    }

    fn load_members(&self, what: &str, from: &mut ImageReader<'_>) -> Result<u64, Damage> {
        let set = from.number()?;
        match set.checked_shr(self.superblocks.width()).unwrap_or(0) {
            0 => Ok(set),
            _ => Err(Damage(format!("{what}: {set:#b} are not members of a stripe"))),
        }
    }

    fn load_narrow(&self, from: &mut ImageReader<'_>) -> Result<Narrow, Damage> {
        let rows = u64::from(self.rows());
        let begun = from.below(rows + 1, "how many stripes were begun")?;
        let mut dead = Vec::new();
        for _ in 0..from.below(rows + 1, "how often stripes became narrower")? {
            let row = from.below(rows, "the number of a stripe")?;
            dead.push((row, self.load_members("the dead dies of a stripe", from)?));
        }
        Ok(Narrow { begun, dead })
    }

    /// Checks that a partly filled stripe has its parity in DRAM, as long as all dies live.
    fn check_open(&self, blocks: &Blocks) -> Result<(), Damage> {
        let (volume, data) = (self.superblocks.volume(), self.superblocks.width() - 1);
        for block in (0..volume.blocks()).map(BlockId::new).filter(|_| !self.any_dead) {
            let pages = blocks.programmed(block) / volume.units_per_page();
            let stripe = Stripe { block, row: pages / data };
            let begun = !pages.is_multiple_of(data) && blocks.state(block) != BlockState::Bad;
            if begun && !self.running.contains_key(&stripe) {
                return Err(Damage(format!("the parity of {stripe:?} is missing")));
            }
        }
        Ok(())
    }
}

fn save_stripe(stripe: Stripe, out: &mut ImageWriter) {
    out.number(stripe.block.get());
    out.number(stripe.row);
}
