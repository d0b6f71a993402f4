//! Stripes of a group with dead dies. Pages that were programmed before are computed from the rest. Nothing more is
//! placed on a dead die: stripes that begin later are narrower, and if it is the dead die's turn to hold the parity,
//! the next die takes it. So the blocks of the group hold less, and fewer of them are worth collecting. A device whose
//! groups have no room for their valid pages any more takes no more writes.
//!
//! A stripe that was being filled is closed over what it holds. If the dead die was to hold its parity, it gets none. A
//! group whose dies are all dead is a dead die of the volume ([`wear`](super::super::wear)).

use crate::engine::skills;
use crate::ftl::parity::{Missing, Narrow, Stripes, members};
use crate::ftl::wear::life::{Demand, EndReason};
use crate::ftl::wear::{dies, life};
use crate::ftl::{BlockState, FlashChange, FlashContents, Ftl, Kernel, ParityChange, parity};
use crate::nand::Stripe;
use crate::scheduler::Probe;
use crate::units::{BlockId, DieId, PlaneId, Ppn};

impl Stripes {
    /// The dies that are known to be dead.
    pub(in crate::ftl) fn dead_dies(&self) -> impl Iterator<Item = DieId> {
        let groups = (0..).map(DieId::new).zip(&self.dead);
        groups.flat_map(move |(group, &dead)| {
            members(dead).map(move |member| self.superblocks.die_of(group, member))
        })
    }

    /// Whether a die is known to be dead.
    pub(super) fn is_known_dead(&self, die: DieId) -> bool {
        let (group, member) = self.superblocks.group_of(die);
        self.dead[group.at()] >> member & 1 == 1
    }

    /// Whether the die of a member of a superblock is known to be dead.
    pub(super) fn is_dead(&self, block: BlockId, member: u32) -> bool {
        self.any_dead && self.dead_now(block) >> member & 1 == 1
    }

    /// Whether all dies of a superblock are known to be dead.
    pub(super) fn is_gone(&self, block: BlockId) -> bool {
        self.any_dead && self.dead_now(block).count_ones() == self.superblocks.width()
    }

    pub(super) fn dead_now(&self, block: BlockId) -> u64 {
        self.dead[self.superblocks.group_of_block(block).at()]
    }

    /// The dies that were dead when a stripe was begun; if it has not begun, those that are dead now.
    pub(super) fn dead_at_begin(&self, stripe: Stripe) -> u64 {
        if !self.any_dead {
            return 0;
        }
        match self.narrow.get(&stripe.block) {
            None => 0,
            Some(narrow) if stripe.row >= narrow.begun => self.dead_now(stripe.block),
            Some(narrow) => {
                let before = narrow.dead.iter().rev().find(|&&(row, _)| row <= stripe.row);
                before.map_or(0, |&(_, dead)| dead)
            }
        }
    }

    /// The member that holds the parity of a stripe; none if only one die was alive when it was begun.
    pub(super) fn parity_of(&self, stripe: Stripe) -> Option<u32> {
        let (dead, width) = (self.dead_at_begin(stripe), self.superblocks.width());
        let first = self.superblocks.parity_of(stripe);
        let mut live = (0..width).map(|turn| (first + turn) % width);
        let lives = |member: &u32| dead >> member & 1 == 0;
        (width - dead.count_ones() > 1).then(|| live.find(lives)).flatten()
    }

    /// Whether blocks skip pages because a die is the last one of its group.
    pub(crate) fn leaves_pages_out(&self) -> bool {
        let alone = |dead: &u64| dead.count_ones() + 1 == self.superblocks.width();
        self.any_dead && self.dead.iter().any(alone)
    }

    /// Whether a place of a stripe is to hold a page, as of now.
    pub(super) fn is_page(&self, stripe: Stripe, place: u32) -> bool {
        if !self.any_dead {
            return true;
        }
        let member = self.superblocks.member_at(stripe, place);
        !self.is_dead(stripe.block, member) && self.parity_of(stripe) != Some(member)
    }

    pub(super) fn why_missing(&self, stripe: Stripe, member: u32) -> Option<Missing> {
        self.missing.get(&(stripe, member)).copied()
    }

    /// A place of a stripe was taken.
    pub(super) fn note_begun(&mut self, page: Ppn) {
        let (stripe, _) = self.superblocks.stripe_of(page);
        let dead = self.dead_now(stripe.block);
        if dead == 0 {
            return;
        }
        let narrow = self.narrow.entry(stripe.block).or_default();
        if stripe.row >= narrow.begun {
            narrow.begun = stripe.row + 1;
            if narrow.dead.last().is_none_or(|&(_, before)| before != dead) {
                narrow.dead.push((stripe.row, dead));
            }
        }
    }

    /// Skips a place. If its member was to be part of the stripe, the parity does without it.
    pub(super) fn leave_out(&mut self, stripe: Stripe, place: u32) {
        let member = self.superblocks.member_at(stripe, place);
        let counted = self.dead_at_begin(stripe) >> member & 1 == 0;
        if counted && self.parity_of(stripe) != Some(member) {
            self.missing.insert((stripe, member), Missing::LeftOut);
        }
    }

    /// The parity of a stripe can't be programmed because its die is dead.
    pub(super) fn do_without_parity(&mut self, stripe: Stripe, contents: &mut impl FlashContents) {
        self.running.remove(&stripe);
        contents.change(FlashChange::Parity(ParityChange::Forgotten(stripe)));
        if let Some(parity) = self.parity_of(stripe) {
            self.missing.insert((stripe, parity), Missing::Parity);
        }
    }

    /// Programs the parity of earlier stripes of the superblock, which get no more pages.
    pub(super) fn close_before<P: Probe, C: FlashContents>(
        &mut self,
        stripe: Stripe,
        on: &mut Kernel<P, C>,
    ) {
        let first = Stripe { block: stripe.block, row: 0 };
        let open = self.running.range(first..stripe).filter(|(_, running)| running.waits());
        for earlier in open.map(|(&stripe, _)| stripe).collect::<Vec<_>>() {
            self.program_parity(earlier, on);
        }
    }

    /// The least number of data pages in a superblock of a group, if it is opened now.
    pub(super) fn pages_of(&self, group: DieId) -> u32 {
        let (width, rows) =
            (self.superblocks.width(), self.superblocks.flash().shape().pages_per_block);
        match width - self.dead[group.at()].count_ones() {
            0 => 0,
            // The last die holds data only where it would not have held the parity.
            1 => rows - rows.div_ceil(width),
            live => (live - 1) * rows,
        }
    }

    /// Programs the parity of all stripes that get no more pages.
    pub(in crate::ftl) fn close<P: Probe, C: FlashContents>(&mut self, on: &mut Kernel<P, C>) {
        let data = self.superblocks.width() - 1;
        let is_full = |stripe: Stripe, covered: u64| {
            let waits = |place: &u32| {
                let member = self.superblocks.member_at(stripe, *place);
                let is_there = covered >> member & 1 == 1;
                !is_there && self.why_missing(stripe, member).is_none()
            };
            !(0..data).filter(waits).any(|place| self.is_page(stripe, place))
        };
        let open = self.running.iter().filter(|(_, running)| running.waits());
        let full: Vec<Stripe> = open
            .filter(|(stripe, running)| is_full(**stripe, running.covered))
            .map(|(&stripe, _)| stripe)
            .collect();
        for stripe in full {
            self.program_parity(stripe, on);
        }
    }
}

impl Ftl {
    /// The dies of the flash that are known to be dead.
    #[must_use]
    pub fn dead_dies_on_flash(&self) -> Vec<DieId> {
        match &self.features.stripes {
            None => self.dead_dies().to_vec(),
            Some(stripes) => stripes.dead_dies().collect(),
        }
    }
}

/// A die of a group has died: open blocks continue without it.
pub(in crate::ftl) fn member_died(die: DieId, ftl: &mut Ftl) {
    let Some(stripes) = &ftl.features.stripes else { return };
    if stripes.is_known_dead(die) {
        return;
    }
    let (group, member) = stripes.superblocks.group_of(die);
    let planes: Vec<PlaneId> = dies::planes_of(group, ftl).collect();
    let Some(stripes) = &mut ftl.features.stripes else { return };
    let data = stripes.superblocks.width() - 1;
    let page = ftl.geometry.units_per_page();
    for &plane in &planes {
        for (_, block, taken) in ftl.space.planes[plane.at()].open_blocks() {
            let begun = (taken / page).div_ceil(data);
            stripes.narrow.entry(block).or_insert(Narrow { begun, dead: Vec::new() });
        }
    }
    stripes.dead[group.at()] |= 1 << member;
    (stripes.any_dead, ftl.health.death_is_news) = (true, true);
    if stripes.pages_of(group) == 0 {
        return dies::filled_die_died(group, ftl);
    }
    planes.into_iter().for_each(|plane| narrow_plane(plane, ftl));
    dies::keep_more_back(ftl);
    (0..ftl.geometry.planes())
        .map(PlaneId::new)
        .for_each(|at| crate::ftl::room::refresh_writable::<{ skills::ALL }>(at, ftl));
    check_room_of_groups(ftl);
}

/// A die of a plane has died: its open blocks continue without it, and it checks again what is worth collecting.
fn narrow_plane(plane: PlaneId, ftl: &mut Ftl) {
    let whole = ftl.geometry.units_per_block();
    let open: Vec<_> = ftl.space.planes[plane.at()].open_blocks().collect();
    for (stream, block, taken) in open.into_iter().filter(|&(_, _, taken)| taken < whole) {
        let left_out = parity::room::leave_places_out(plane, stream, block, taken, ftl);
        let next = taken + left_out;
        if let Some(writable) = crate::ftl::room::writable_mut(stream, ftl) {
            writable.next_unit[plane.at()] = if next == whole { 0 } else { next };
        }
        let done = ftl.blocks.programmed(block) == whole;
        if done && ftl.blocks.state(block) == BlockState::Open {
            ftl.close(block);
        }
    }
    ftl.space.feed(plane);
}

/// The program of a page failed because its die is dead: its place counts as filled, with nothing.
pub(in crate::ftl) fn leave_out(first: Ppn, ftl: &mut Ftl) -> bool {
    let on_dead_die = ftl.features.stripes.as_ref().is_some_and(|stripes| {
        let (stripe, member) = stripes.member_of(first);
        stripes.is_dead(stripe.block, member)
    });
    if on_dead_die {
        ftl.programmed::<{ skills::ALL }>(first, ftl.geometry.units_per_page());
    }
    on_dead_die
}

/// If the valid pages exceed what all groups can hold, some of which have lost dies, the device takes no more writes.
pub(in crate::ftl) fn check_room_of_groups(ftl: &mut Ftl) {
    let (Some(stripes), Some(life)) = (&ftl.features.stripes, &ftl.health.life) else { return };
    if !stripes.any_dead {
        return;
    }
    let demand = Demand { logical_pages: 0, ..life::demand(ftl) };
    let planes = || (0..ftl.geometry.planes()).map(PlaneId::new);
    let alive = || planes().filter(|&plane| !dies::is_dead_plane(plane, ftl));
    let room = alive().map(|plane| {
        let units = parity::room::pages_to_fill(plane, ftl) * ftl.geometry.units_per_page();
        u64::from(demand.units_sure(life.good(plane), units))
    });
    let valid = alive().map(|plane| dies::valid_on(plane, ftl));
    if valid.sum::<u64>() > room.sum::<u64>() {
        life::note_end(EndReason::DiesDied, ftl);
    }
}

/// A die was found dead.
#[cold]
pub(crate) fn die_died(die: DieId, ftl: &mut Ftl) {
    life::begin_after_death(ftl);
    match ftl.features.stripes {
        None => dies::filled_die_died(die, ftl),
        Some(_) => member_died(die, ftl),
    }
}
