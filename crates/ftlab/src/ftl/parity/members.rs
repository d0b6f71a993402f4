//! Stripes of superblocks that lack blocks. Pages that were programmed before a die died are computed from the rest.
//! Stripes that begin later are narrower, and if it is the turn of a die that is dead, or of a bad block, to hold the
//! parity, the next die takes it.
//!
//! A stripe that was being filled is closed over what it holds. If the dead die was to hold its parity, it gets none.

use crate::ftl::parity::{Missing, Narrow, Stripes};
use crate::ftl::superblock::Members;
use crate::ftl::{FlashChange, FlashContents, ParityChange};
use crate::nand::Stripe;
use crate::shape::Geometry;
use crate::units::{BlockId, Ppn};

impl Stripes {
    /// A bit for each member of a stripe that holds no page if the stripe is begun now.
    fn lost_now(&self, stripe: Stripe, known: &Members) -> u64 {
        if !known.any_lost() {
            return 0;
        }
        known.dead_set(stripe.block) | self.bad_of(stripe, known)
    }

    fn bad_of(&self, stripe: Stripe, known: &Members) -> u64 {
        known.bad_set(stripe.block, stripe.number % self.layout.planes())
    }

    /// Whether a member of a stripe is on a die that is known to be dead.
    pub(super) fn is_on_dead_die(&self, stripe: Stripe, member: u32, known: &Members) -> bool {
        known.any_dead()
            && known.is_dead(self.layout.die_of(self.layout.group_of_block(stripe.block), member))
    }

    /// A bit for each member that held no page when the stripe was begun; if it has not begun, as of now.
    pub(super) fn lost_at_begin(&self, stripe: Stripe, known: &Members) -> u64 {
        if !known.any_lost() {
            return 0;
        }
        let dead = match self.narrow.get(&stripe.block) {
            None => 0,
            Some(narrow) if stripe.number >= narrow.begun => known.dead_set(stripe.block),
            Some(narrow) => {
                let before = narrow.dead.iter().rev().find(|&&(from, _)| from <= stripe.number);
                before.map_or(0, |&(_, dead)| dead)
            }
        };
        dead | self.bad_of(stripe, known)
    }

    /// The member that holds the parity of a stripe; none if only one was left when it was begun.
    pub(super) fn parity_of(&self, stripe: Stripe, known: &Members) -> Option<u32> {
        let (lost, width) = (self.lost_at_begin(stripe, known), self.layout.width());
        let first = self.layout.parity_of(stripe);
        let mut live = (0..width).map(|turn| (first + turn) % width);
        let lives = |member: &u32| lost >> member & 1 == 0;
        (width - lost.count_ones() > 1).then(|| live.find(lives)).flatten()
    }

    /// Whether a place of a stripe is to hold a page, as of now.
    pub(super) fn is_page(&self, stripe: Stripe, place: u32, known: &Members) -> bool {
        if !known.any_lost() {
            return true;
        }
        let member = self.layout.member_at(stripe, place);
        self.lost_now(stripe, known) >> member & 1 == 0
            && self.parity_of(stripe, known) != Some(member)
    }

    pub(super) fn why_missing(&self, stripe: Stripe, member: u32) -> Option<Missing> {
        self.missing.get(&(stripe, member)).copied()
    }

    /// A die of the group of an open superblock dies, of which so many units are taken.
    pub(in crate::ftl) fn note_open(&mut self, block: BlockId, taken: u32) {
        let (planes, in_row) =
            (self.layout.planes(), self.layout.planes() * (self.layout.width() - 1));
        let pages = taken / self.layout.volume().units_per_page();
        // The stripes of a row count as begun together.
        let begun = pages.div_ceil(in_row) * planes;
        self.narrow.entry(block).or_insert(Narrow { begun, dead: Vec::new() });
    }

    /// The places of a superblock before `next` are taken.
    pub(in crate::ftl) fn note_place(
        &mut self,
        known: &Members,
        geometry: &Geometry,
        block: BlockId,
        next: u32,
    ) {
        let dead = known.dead_set(block);
        if dead == 0 {
            return;
        }
        let Some(last) = next.checked_sub(geometry.units_per_page()) else {
            self.narrow.insert(block, Narrow::default());
            return;
        };
        let (stripe, _) = self.layout.stripe_of(geometry.page_at(block, last));
        let narrow = self.narrow.entry(block).or_default();
        let planes = self.layout.planes();
        let row = stripe.number / planes * planes;
        if row >= narrow.begun {
            narrow.begun = row + planes;
            if narrow.dead.last().is_none_or(|&(_, before)| before != dead) {
                narrow.dead.push((row, dead));
            }
        }
    }

    /// Whether a place holds a page if it is taken now. If not, it is skipped: if its member was to be part of the stripe,
    /// the parity does without it.
    pub(in crate::ftl) fn takes_page(&mut self, page: Ppn, known: &Members) -> bool {
        let (stripe, place) = self.layout.stripe_of(page);
        if self.is_page(stripe, place, known) {
            return true;
        }
        let member = self.layout.member_at(stripe, place);
        let counted = self.lost_at_begin(stripe, known) >> member & 1 == 0;
        if counted && self.parity_of(stripe, known) != Some(member) {
            self.missing.insert((stripe, member), Missing::LeftOut);
        }
        false
    }

    /// The parity of a stripe can't be programmed because its die is dead.
    pub(super) fn do_without_parity(
        &mut self,
        stripe: Stripe,
        known: &Members,
        contents: &mut impl FlashContents,
    ) {
        self.running.remove(&stripe);
        contents.change(FlashChange::Parity(ParityChange::Forgotten(stripe)));
        if let Some(parity) = self.parity_of(stripe, known) {
            self.missing.insert((stripe, parity), Missing::Parity);
        }
    }

    /// Finds the stripes of a superblock in rows before that of `stripe` whose parity is not programmed, though they get
    /// no more pages.
    pub(super) fn close_before(&mut self, stripe: Stripe) {
        let planes = self.layout.planes();
        let row = Stripe { number: stripe.number / planes * planes, ..stripe };
        let first = Stripe { number: 0, ..stripe };
        let open = self.running.range(first..row).filter(|(_, running)| running.waits());
        self.due.extend(open.map(|(&stripe, _)| stripe));
    }

    /// A superblock is not filled further. Its last stripe may not be full, if its data was too old to add to.
    pub(in crate::ftl) fn closes(&mut self, block: BlockId, known: &Members) {
        let all = Stripe { block, number: 0 }..=Stripe { block, number: u32::MAX };
        let open = self.running.range(all).filter(|(_, running)| running.waits());
        let open: Vec<(Stripe, u64)> = open.map(|(&at, running)| (at, running.covered)).collect();
        for (stripe, covered) in open {
            let parity = self.parity_of(stripe, known);
            let is_left = |member: &u32| covered >> member & 1 == 0 && Some(*member) != parity;
            for member in (0..self.layout.width()).filter(is_left) {
                self.missing.entry((stripe, member)).or_insert(Missing::LeftOut);
            }
            self.due.push(stripe);
        }
    }

    /// Finds all stripes that get no more pages.
    pub(super) fn close(&mut self, known: &Members) {
        let data = self.layout.width() - 1;
        let is_full = |stripe: Stripe, covered: u64| {
            let waits = |place: &u32| {
                let member = self.layout.member_at(stripe, *place);
                let is_there = covered >> member & 1 == 1;
                !is_there && self.why_missing(stripe, member).is_none()
            };
            !(0..data).filter(waits).any(|place| self.is_page(stripe, place, known))
        };
        let open = self.running.iter().filter(|(_, running)| running.waits());
        let full = open.filter(|(stripe, running)| is_full(**stripe, running.covered));
        self.due = full.map(|(&stripe, _)| stripe).collect();
    }
}
