//! What of stripes outlives rest: which have their parity in DRAM, and which pages hold nothing of use. A drive
//! that is switched off keeps that parity in a place of its own, whose programs are not modelled.

use super::super::{BlockState, Blocks};
use super::{Running, Stripes};
use crate::image::{Damage, Reader, Writer};
use crate::nand::Stripe;
use crate::units::BlockId;

impl Stripes {
    pub(in crate::ftl) fn save(&self, out: &mut Writer) {
        let Stripes {
            // Follows from the configuration.
            superblocks: _,
            // Nothing is under way at rest.
            load: _,
            under_way: _,
            erases: _,
            rebuilding: _,
            running,
            failed,
            // What is measured counts from the load on.
            counts: _,
        } = self;
        out.number(running.len() as u64);
        for (stripe, running) in running {
            out.number(stripe.block.get());
            out.number(stripe.row);
            out.number(running.covered);
        }
        out.number(failed.len() as u64);
        for (stripe, member) in failed {
            out.number(stripe.block.get());
            out.number(stripe.row);
            out.number(*member);
        }
    }

    /// Takes up what [`save`](Self::save) wrote, for blocks that were loaded.
    pub(in crate::ftl) fn load(
        &mut self,
        blocks: &Blocks,
        from: &mut Reader<'_>,
    ) -> Result<(), Damage> {
        let (volume, width) = (self.superblocks.volume(), self.superblocks.width());
        let rows = u64::from(self.superblocks.flash().shape().pages_per_block);
        let most = u64::from(volume.blocks()) * rows;
        let stripe = |from: &mut Reader<'_>| {
            let block = BlockId::new(from.below(volume.blocks().into(), "the block of a stripe")?);
            let row = from.below(rows, "the number of a stripe")?;
            match blocks.state(block) {
                BlockState::Free => Err(Damage(format!("{block:?} is free and has a stripe"))),
                _ => Ok(Stripe { block, row }),
            }
        };
        for _ in 0..from.below(most + 1, "the number of stripes with parity in DRAM")? {
            let stripe = stripe(from)?;
            let covered = from.number()?;
            let parity = 1 << self.superblocks.parity_of(stripe);
            if covered & parity != 0 || covered.checked_shr(width).unwrap_or(0) != 0 {
                return Err(Damage(format!("{stripe:?} can't cover the members {covered:#b}")));
            }
            let running = Running { covered, programmed: covered, leaves: false };
            self.running.insert(stripe, running);
        }
        for _ in 0..from.below(most * u64::from(width) + 1, "the number of failed pages")? {
            let stripe = stripe(from)?;
            self.failed.insert((stripe, from.below(width.into(), "a member of a stripe")?));
        }
        self.check_open(blocks)
    }

    /// A stripe that is filled in part has its parity in DRAM.
    fn check_open(&self, blocks: &Blocks) -> Result<(), Damage> {
        let volume = self.superblocks.volume();
        for block in (0..volume.blocks()).map(BlockId::new) {
            let pages = blocks.programmed(block) / volume.units_per_page();
            let (row, begun) =
                (pages / (self.superblocks.width() - 1), pages % (self.superblocks.width() - 1));
            if begun > 0 && !self.running.contains_key(&Stripe { block, row }) {
                return Err(Damage(format!("the parity of stripe {row} of {block:?} is missing")));
            }
        }
        Ok(())
    }
}
