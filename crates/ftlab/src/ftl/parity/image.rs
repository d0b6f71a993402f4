//! The state of stripes that is saved at rest: which have their parity in DRAM, and which pages hold
//! nothing useful. A drive that is switched off saves this parity in a
//! place of its own; these programs are not modelled.

use super::super::superblock::Members;
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
            layout: _,
            // Nothing is in flight at rest.
            under_way: _,
            erases: _,
            rebuilding: _,
            due: _,
            // Found again from the stripes.
            exposed: _,
            running,
            missing,
            narrow,
            // Measurements start at the load.
            counts: _,
        } = self;
        out.number(running.len() as u64);
        for (stripe, running) in running {
            save_stripe(*stripe, out);
            running.save(out);
        }
        out.number(missing.len() as u64);
        for ((stripe, member), why) in missing {
            save_stripe(*stripe, out);
            out.number(*member);
            why.save(out);
        }
        out.number(narrow.len() as u64);
        for (block, narrow) in narrow {
            out.number(block.get());
            narrow.save(out);
        }
    }

    /// Loads what [`save`](Self::save) wrote, for blocks and members that were loaded.
    pub(in crate::ftl) fn load(
        &mut self,
        blocks: &Blocks,
        known: &Members,
        from: &mut ImageReader<'_>,
    ) -> Result<(), Damage> {
        let most = self.layout.volume().blocks() * self.stripes_in_block();
        for _ in 0..from.below(u64::from(most) + 1, "the number of stripes with parity in DRAM")? {
            let stripe = self.load_stripe(blocks, from)?;
            let running = self.load_running(from)?;
            self.running.insert(stripe, running);
        }
        let pages = u64::from(most) * u64::from(self.layout.width());
        for _ in 0..from.below(pages + 1, "the number of pages that are missing")? {
            let stripe = self.load_stripe(blocks, from)?;
            let member = from.below(self.layout.width().into(), "a member of a stripe")?;
            let why = Missing::load(from)?;
            self.missing.insert((stripe, member), why);
        }
        let all = u64::from(self.layout.volume().blocks());
        for _ in 0..from.below(all + 1, "the number of superblocks that lack dies")? {
            let block = BlockId::new(from.below(all, "a narrow superblock")?);
            let narrow = self.load_narrow(from)?;
            self.narrow.insert(block, narrow);
        }
        self.check_open(blocks, known, |_| true)
    }

    /// Superblocks that no stream continues were closed as they are: the parity of their last stripes stays in DRAM.
    pub(in crate::ftl) fn keep_of_closed(&mut self, blocks: &Blocks) {
        let closed = |stripe: &Stripe| blocks.state(stripe.block) != BlockState::Open;
        let all = self.running.iter_mut();
        let waiting = all.filter(|(stripe, running)| running.waits() && closed(stripe));
        waiting.for_each(|(_, running)| running.on_flash = OnFlash::Useless);
    }

    pub(super) fn stripes_in_block(&self) -> u32 {
        self.layout.flash().shape().pages_per_block * self.layout.planes()
    }

    fn load_stripe(&self, blocks: &Blocks, from: &mut ImageReader<'_>) -> Result<Stripe, Damage> {
        let all = self.layout.volume().blocks();
        let block = BlockId::new(from.below(all.into(), "the block of a stripe")?);
        let number = from.below(self.stripes_in_block().into(), "the number of a stripe")?;
        match blocks.state(block) {
            BlockState::Free => Err(Damage(format!("{block:?} is free and has a stripe"))),
            _ => Ok(Stripe { block, number }),
        }
    }

    fn load_members(&self, what: &str, from: &mut ImageReader<'_>) -> Result<u64, Damage> {
        let set = from.number()?;
        match set.checked_shr(self.layout.width()).unwrap_or(0) {
            0 => Ok(set),
            _ => Err(Damage(format!("{what}: {set:#b} are not members of a stripe"))),
        }
    }

    pub(super) fn load_running(&self, from: &mut ImageReader<'_>) -> Result<Running, Damage> {
        let covered = self.load_members("what parity covers", from)?;
        let on_flash = from.below(OnFlash::ALL.len() as u64, "where the parity is")?;
        let on_flash = OnFlash::ALL[on_flash as usize];
        // Nothing is held back at rest: the next program of a page sets the origin.
        Ok(Running { covered, programmed: covered, origin: Some(Origin::Host), on_flash })
    }

    pub(super) fn load_narrow(&self, from: &mut ImageReader<'_>) -> Result<Narrow, Damage> {
        let rows = u64::from(self.stripes_in_block());
        let begun = from.below(rows + 1, "how many stripes were begun")?;
        let mut dead = Vec::new();
        for _ in 0..from.below(rows + 1, "how often stripes became narrower")? {
            let number = from.below(rows, "the number of a stripe")?;
            dead.push((number, self.load_members("the dead dies of a stripe", from)?));
        }
        Ok(Narrow { begun, dead })
    }

    /// Checks that a partly filled stripe of an open superblock has its parity in DRAM, if all blocks of the superblock hold
    /// pages and it is filled `in_order`, up to some page. At rest an open superblock is. After a power cut it may have gaps,
    /// but is closed.
    pub(in crate::ftl) fn check_open(
        &self,
        blocks: &Blocks,
        known: &Members,
        in_order: impl Fn(BlockId) -> bool,
    ) -> Result<(), Damage> {
        let (volume, planes) = (self.layout.volume(), self.layout.planes());
        let in_row = known.span().pages_in_row();
        let is_whole = |block: &BlockId| {
            blocks.state(*block) == BlockState::Open
                && known.bad_of(*block).is_empty()
                && known.dead_set(*block) == 0
                && !self.narrow.contains_key(block)
        };
        for block in (0..volume.blocks()).map(BlockId::new).filter(is_whole) {
            let pages = blocks.programmed(block) / volume.units_per_page();
            // The stripe on the last plane of a row is the last one that is full.
            let stripe = Stripe { block, number: pages / in_row * planes + planes - 1 };
            let rest = pages % in_row;
            let is_closed =
                || self.missing.range((stripe, 0)..=(stripe, u32::MAX)).next().is_some();
            let lacks = rest >= planes && !self.running.contains_key(&stripe) && !is_closed();
            if lacks && in_order(block) {
                return Err(Damage(format!("the parity of {stripe:?} is missing")));
            }
        }
        Ok(())
    }
}

impl Running {
    pub(super) fn save(&self, out: &mut ImageWriter) {
        // The next program of a page sets the origin. Programs in flight are cut off before this is loaded.
        let &Running { covered, programmed, origin: _, on_flash } = self;
        out.number(covered & programmed);
        out.number(on_flash as u64);
    }
}

impl Missing {
    pub(super) fn save(self, out: &mut ImageWriter) {
        out.flag(self == Missing::Parity);
    }

    pub(super) fn load(from: &mut ImageReader<'_>) -> Result<Missing, Damage> {
        let is_parity = from.flag("whether a page is the parity of its stripe")?;
        Ok(if is_parity { Missing::Parity } else { Missing::LeftOut })
    }
}

impl Narrow {
    pub(super) fn save(&self, out: &mut ImageWriter) {
        let Narrow { begun, dead } = self;
        out.number(*begun);
        out.number(dead.len() as u64);
        for &(number, dead) in dead {
            out.number(number);
            out.number(dead);
        }
    }
}

fn save_stripe(stripe: Stripe, out: &mut ImageWriter) {
    out.number(stripe.block.get());
    out.number(stripe.number);
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, Layer};
    use crate::device::DeviceSetup;
    use crate::ftl::blocks::BlockWear;
    use crate::ftl::{BlockState, Ftl};
    use crate::units::{BlockId, Ppn};

    /// A device with parity, of which the first superblock has the first page of each plane, and no parity in DRAM.
    fn begun(state: BlockState) -> Ftl {
        let sets = ["ftl.parity.policy=dies", "ftl.placement.policy=dynamic"];
        let sets = (1..).zip(sets).map(|(number, set)| Layer::set(number, set));
        let layers: Vec<Layer> = std::iter::once(Layer::preset("tlc-512g")).chain(sets).collect();
        let config = Config::load(&layers).expect("it is sound");
        let mut ftl = Ftl::new(DeviceSetup::new(&config, 1).ftl);
        let planes = ftl.features.stripes.as_ref().expect("it has parity").layout.planes();
        let programmed = planes * ftl.geometry.units_per_page();
        let wear = BlockWear { erases: 1, programmed, state, stream: 0 };
        ftl.blocks.put_kept(BlockId::new(0), wear);
        ftl
    }

    fn check(ftl: &Ftl) -> Result<(), String> {
        let stripes = ftl.features.stripes.as_ref().expect("it has parity");
        let members = ftl.features.members().expect("stripes have members");
        stripes.check_open(&ftl.blocks, members, |_| true).map_err(|damage| damage.0)
    }

    #[test]
    fn an_open_superblock_has_the_parity_of_its_last_stripe() {
        let mut ftl = begun(BlockState::Open);
        assert!(check(&ftl).is_err_and(|said| said.contains("the parity of")));
        let all = ftl.geometry.page_at(BlockId::new(0), 0).get();
        let pages = (all..all + ftl.blocks.programmed(BlockId::new(0))).map(Ppn::new);
        pages.for_each(|page| ftl.features.stripes.as_mut().expect("it has parity").begins(page));
        assert_eq!(check(&ftl), Ok(()));
    }

    /// After a power cut a closed one may have gaps.
    #[test]
    fn a_closed_superblock_need_not() {
        assert_eq!(check(&begun(BlockState::Closed)), Ok(()));
    }
}
