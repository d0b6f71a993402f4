//! What parity across dies covers: one missing page per stripe, for whatever reason. This
//! determines on which devices nothing may ever be unreadable.

use std::collections::{BTreeMap, BTreeSet};

use ftlab::config::Config;
use ftlab::nand::{Fault, FaultOptions, FaultSpot, Stripe, StripeLayout};
use ftlab::units::{BlockId, DieId};

use crate::judge::reads_fail;

/// Whether data on flash may be lost: by age, or because more is unreadable than parity covers.
pub fn may_lose(config: &Config, layout: Option<&StripeLayout>) -> bool {
    let ages = config.options.nand.timing.policy.errors().is_some();
    let faults = &config.options.nand.faults;
    let dies = faults.schedule.iter().any(|scheduled| scheduled.fault.is_for_good());
    // A power cut takes the parity of stripes that are not full, and with it what lay on a dead die.
    let cut = dies && config.options.ftl.recovery.policy.survives();
    let covers = |layout| !cut && covers(layout, faults);
    ages || (reads_fail(config) && !layout.is_some_and(covers))
}

/// Whether at most one page of each stripe is missing, whenever the faults come. Random read
/// failures may hit two pages of a stripe. A page whose program failed is not needed by anything.
pub fn covers(layout: &StripeLayout, faults: &FaultOptions) -> bool {
    let mut missing = Missing::default();
    for scheduled in &faults.schedule {
        match scheduled.fault {
            Fault::DieDies(die) => missing.die(layout, die),
            Fault::Unreadable(spot) => missing.spot(layout, spot),
            Fault::ProgramFails(_) | Fault::EraseFails(_) => {}
        }
    }
    let by_chance = faults.read_failures > 0 || faults.disturb_limit.is_some();
    !by_chance && missing.is_one_of_each(layout)
}

/// The unreadable members of groups and of stripes.
#[derive(Default)]
struct Missing {
    dies: BTreeMap<DieId, BTreeSet<u32>>,
    pages: BTreeMap<Stripe, BTreeSet<u32>>,
}

impl Missing {
    fn die(&mut self, layout: &StripeLayout, die: u32) {
        let (group, member) = layout.group_of(DieId::new(die));
        self.dies.entry(group).or_default().insert(member);
    }

    fn spot(&mut self, layout: &StripeLayout, spot: FaultSpot) {
        let flash = layout.flash();
        let per_block = flash.shape().pages_per_block;
        let pages = match spot {
            FaultSpot::Page(page) => page..page + 1,
            FaultSpot::Block(block) => block * per_block..(block + 1) * per_block,
        };
        for page in pages {
            let (block, row) = (BlockId::new(page / per_block), page % per_block);
            let at = flash.page_at(block, row * flash.units_per_page());
            let (stripe, member) = layout.stripe_on_flash(at);
            self.pages.entry(stripe).or_default().insert(member);
        }
    }

    fn is_one_of_each(&self, layout: &StripeLayout) -> bool {
        let none = BTreeSet::new();
        let of_dies =
            |stripe: &Stripe| self.dies.get(&layout.group_of_block(stripe.block)).unwrap_or(&none);
        self.dies.values().all(|dies| dies.len() == 1)
            && self.pages.iter().all(|(stripe, pages)| pages.union(of_dies(stripe)).count() == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab::config::Layer;
    use ftlab::nand::{Area, Scheduled};
    use ftlab::shape::{FlashGeometry, SuperblockSpan};
    use ftlab::units::Nanos;

    /// Four dies of two planes with 32 blocks of 32 pages, in two groups.
    fn device() -> (Config, StripeLayout) {
        let layer = Layer::file("cover.toml", "base = \"tiny\"");
        let config = Config::load(&[layer]).expect("a preset");
        let span = SuperblockSpan { dies: 2, planes: 1, has_parity: true };
        let flash = FlashGeometry::of_flash(config.shape(), Some(span));
        let layout = StripeLayout::of(&flash).expect("there is parity");
        (config, layout)
    }

    #[test]
    fn one_page_of_each_stripe_may_be_missing() {
        let (config, layout) = device();
        let of_group = |group: u32, member| layout.die_of(DieId::new(group), member).get();
        let (one, other) = (of_group(0, 0), of_group(0, 1));
        let dies = |die| Fault::DieDies(die);
        let page = |die: u32, page| Fault::Unreadable(FaultSpot::Page(die * 64 * 32 + page));
        let block = |die: u32, block| Fault::Unreadable(FaultSpot::Block(die * 64 + block));
        let program = Fault::ProgramFails(Area::Block(0));
        let erase = Fault::EraseFails(Area::Block(0));
        for (faults, is_covered) in [
            (&[][..], true),
            (&[program], true),
            (&[dies(one), erase], true),
            (&[dies(one), program], true),
            (&[dies(one), dies(of_group(1, 1))], true),
            (&[dies(one), dies(other)], false),
            (&[dies(one), page(one, 77), block(one, 3)], true),
            (&[dies(one), page(other, 77)], false),
            (&[page(one, 77), page(other, 78)], true),
            (&[page(one, 77), page(other, 77)], false),
            (&[page(one, 77), page(other, 77 + 32 * 32)], true),
            (&[page(one, 77), block(other, 2)], false),
            (&[page(one, 77), block(other, 1)], true),
        ] {
            let mut options = config.options.nand.faults.clone();
            options.schedule =
                faults.iter().map(|&fault| Scheduled { at: Nanos::ZERO, fault }).collect();
            assert_eq!(covers(&layout, &options), is_covered, "{faults:?}");
        }
    }

    #[test]
    fn random_failures_may_exceed_parity() {
        let (config, layout) = device();
        let mut options = config.options.nand.faults.clone();
        options.read_failures = 1;
        assert!(!covers(&layout, &options));
    }
}
