//! What is kept of the stripes of each superblock outside of the device, for a front end that stores it: the same as in
//! images, one superblock at a time.

use super::{Missing, OnFlash, Stripes};
use crate::ftl::BlockState;
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::nand::Stripe;
use crate::units::BlockId;

/// A stripe with parity in DRAM, as it is kept: the members on flash that it covers, and where its parity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::ftl) struct KeptStripe {
    pub stripe: Stripe,
    covered: u64,
    on_flash: OnFlash,
}

fn all_of(block: BlockId) -> std::ops::RangeInclusive<Stripe> {
    Stripe { block, number: 0 }..=Stripe { block, number: u32::MAX }
}

impl Stripes {
    /// The stripes with parity in DRAM, in order.
    pub(in crate::ftl) fn kept(&self) -> impl Iterator<Item = KeptStripe> + '_ {
        self.running.iter().map(|(&stripe, running)| {
            let covered = running.covered & running.programmed;
            KeptStripe { stripe, covered, on_flash: running.on_flash }
        })
    }

    fn missing_of(&self, block: BlockId) -> impl Iterator<Item = (Stripe, u32, Missing)> + '_ {
        let (first, last) = all_of(block).into_inner();
        let missing = self.missing.range((first, 0)..=(last, u32::MAX));
        missing.map(|(&(stripe, member), &why)| (stripe, member, why))
    }

    /// Whether anything is known of a superblock that has to be kept.
    pub(in crate::ftl) fn knows(&self, block: BlockId) -> bool {
        self.narrow.contains_key(&block) || self.has_stripes(block)
    }

    /// Saves what is known of a superblock.
    pub(in crate::ftl) fn save_of(&self, block: BlockId, out: &mut ImageWriter) {
        let running = || self.running.range(all_of(block));
        out.number(running().count() as u64);
        for (stripe, running) in running() {
            out.number(stripe.number);
            running.save(out);
        }
        out.number(self.missing_of(block).count() as u64);
        for (stripe, member, why) in self.missing_of(block) {
            out.number(stripe.number);
            out.number(member);
            why.save(out);
        }
        let narrow = self.narrow.get(&block);
        out.flag(narrow.is_some());
        narrow.into_iter().for_each(|narrow| narrow.save(out));
    }

    /// Loads what [`save_of`](Self::save_of) wrote, for a superblock in this state.
    ///
    /// # Errors
    /// It is damaged, or of another device.
    pub(in crate::ftl) fn load_of(
        &mut self,
        (block, state): (BlockId, BlockState),
        from: &mut ImageReader<'_>,
    ) -> Result<(), Damage> {
        let (rows, width) = (u64::from(self.stripes_in_block()), u64::from(self.layout.width()));
        let number = |from: &mut ImageReader<'_>| from.below(rows, "the number of a stripe");
        for _ in 0..from.below(rows + 1, "the number of stripes with parity in DRAM")? {
            let stripe = Stripe { block, number: number(from)? };
            let running = self.load_running(from)?;
            self.running.insert(stripe, running);
        }
        for _ in 0..from.below(rows * width + 1, "the number of pages that are missing")? {
            let stripe = Stripe { block, number: number(from)? };
            let member = from.below(width, "a member of a stripe")?;
            self.missing.insert((stripe, member), Missing::load(from)?);
        }
        if from.flag("whether a superblock is narrow")? {
            let narrow = self.load_narrow(from)?;
            self.narrow.insert(block, narrow);
        }
        match state == BlockState::Free && self.has_stripes(block) {
            true => Err(Damage(format!("{block:?} is free and has a stripe"))),
            false => Ok(()),
        }
    }

    fn has_stripes(&self, block: BlockId) -> bool {
        self.running.range(all_of(block)).next().is_some()
            || self.missing_of(block).next().is_some()
    }
}
