//! The members of superblocks: which of their blocks hold pages. Those of dead dies hold none, and neither do bad ones.
//! A superblock goes on without them: their places are skipped when it is filled, so it holds less.
//!
//! A superblock with a bad block shrinks instead of borrowing a block of another one, so every block stays where its
//! number says. It is retired when fewer than half of its blocks are good, so that two superblocks always take what one
//! holds, or when one of its stripes would be a single page. What dead dies cost is not counted there, as it is the same
//! for all superblocks of a group.

use std::collections::BTreeMap;

use crate::image::{Damage, ImageReader, ImageWriter};
use crate::shape::{FlashGeometry, Geometry, SuperblockSpan};
use crate::units::{BlockId, DieId, Ppn};

/// Which blocks of superblocks hold pages. A *member* is a block, by the number of its plane in the group.
#[derive(Clone, Debug)]
pub struct Members {
    flash: FlashGeometry,
    volume: Geometry,
    span: SuperblockSpan,
    /// By die: whether it is known to be dead.
    dead: Vec<bool>,
    any_dead: bool,
    /// By group: what follows from dead dies and bad blocks.
    groups: Vec<DiesLeft>,
    /// By superblock: its bad blocks.
    bad: BTreeMap<BlockId, Vec<u32>>,
    /// By superblock: blocks on which an operation failed, and which are bad after the next erase.
    failing: BTreeMap<BlockId, Vec<u32>>,
}

/// What dead dies and bad blocks leave of a group.
#[derive(Clone, Copy, Debug, Default)]
struct DiesLeft {
    /// A bit for each dead die. Only stripes ask, and have no more dies than a word has bits.
    dead: u64,
    /// Flash pages of data of a superblock without bad blocks.
    pages: u32,
    /// Flash pages of data of the narrowest superblock that holds any and is worth keeping.
    least: u32,
}

impl Members {
    pub(super) fn new(flash: &FlashGeometry, span: SuperblockSpan) -> Members {
        let volume = flash.volume();
        let mut members = Members {
            flash: flash.clone(),
            span,
            dead: vec![false; flash.dies() as usize],
            any_dead: false,
            groups: vec![DiesLeft::default(); volume.dies() as usize],
            volume,
            bad: BTreeMap::new(),
            failing: BTreeMap::new(),
        };
        members.look_at_groups();
        members
    }

    /// Finds out what dead dies and bad blocks leave of each group.
    pub(in crate::ftl) fn look_at_groups(&mut self) {
        for group in (0..self.volume.dies()).map(DieId::new) {
            let dies = (0..self.span.dies).map(|number| self.flash.die_in_group(group, number));
            let dead = (0u32..).zip(dies).filter(|&(_, die)| self.is_dead(die));
            let dead = dead.fold(0, |set, (number, _)| set | 1u64.checked_shl(number).unwrap_or(0));
            let on_plane = self.pages_on_plane(self.alive(group));
            let pages = on_plane * self.span.planes;
            self.groups[group.at()] = DiesLeft { dead, pages, least: pages };
        }
        let bad: Vec<BlockId> = self.bad.keys().copied().collect();
        bad.into_iter().for_each(|block| self.note_narrow(block));
    }

    /// A superblock has bad blocks.
    fn note_narrow(&mut self, block: BlockId) {
        let (group, pages) = (self.group_of(block), self.pages_of_narrow(block));
        if pages > 0 && self.is_usable(block) {
            let least = &mut self.groups[group.at()].least;
            *least = pages.min(*least);
        }
    }

    /// The flash beneath.
    #[must_use]
    pub fn flash(&self) -> &FlashGeometry {
        &self.flash
    }

    /// The span of superblocks.
    #[must_use]
    pub fn span(&self) -> SuperblockSpan {
        self.span
    }

    /// Whether any superblock holds less than a whole one.
    #[inline]
    #[must_use]
    pub fn any_lost(&self) -> bool {
        self.any_dead || !self.bad.is_empty()
    }

    /// Whether any die is known to be dead.
    #[must_use]
    pub fn any_dead(&self) -> bool {
        self.any_dead
    }

    /// Whether any block is bad.
    #[must_use]
    pub fn any_bad(&self) -> bool {
        !self.bad.is_empty()
    }

    /// The dies that are known to be dead, by number.
    pub fn dead_dies(&self) -> impl Iterator<Item = DieId> + '_ {
        let dies = (0..).map(DieId::new).zip(&self.dead);
        dies.filter(|&(_, &dead)| dead).map(|(die, _)| die)
    }

    /// Whether a die is known to be dead.
    #[must_use]
    pub fn is_dead(&self, die: DieId) -> bool {
        self.dead[die.at()]
    }

    pub(super) fn die_dies(&mut self, die: DieId) {
        self.dead[die.at()] = true;
        self.any_dead = true;
        self.look_at_groups();
    }

    /// The group of dies of a superblock.
    fn group_of(&self, block: BlockId) -> DieId {
        self.volume.die_of(self.volume.plane_of(block))
    }

    /// Dies of a group that are not dead.
    pub(in crate::ftl) fn alive(&self, group: DieId) -> u32 {
        let dies = (0..self.span.dies).map(|number| self.flash.die_in_group(group, number));
        dies.filter(|&die| !self.is_dead(die)).count() as u32
    }

    fn die_of_member(&self, block: BlockId, member: u32) -> DieId {
        self.flash.die_of(self.flash.plane_of(self.flash.member(block, member)))
    }

    /// Whether a member is on a dead die.
    pub(in crate::ftl) fn is_on_dead_die(&self, block: BlockId, member: u32) -> bool {
        self.any_dead && self.is_dead(self.die_of_member(block, member))
    }

    /// Whether a member holds no pages.
    #[must_use]
    pub fn is_lost(&self, block: BlockId, member: u32) -> bool {
        (!self.bad.is_empty() && self.bad_of(block).contains(&member))
            || self.is_on_dead_die(block, member)
    }

    /// The bad members of a superblock.
    #[must_use]
    pub fn bad_of(&self, block: BlockId) -> &[u32] {
        self.bad.get(&block).map_or(&[], |bad| &bad[..])
    }

    /// All bad blocks.
    pub fn bad_blocks(&self) -> impl Iterator<Item = BlockId> + '_ {
        let all = self.bad.iter();
        let blocks = all.flat_map(|(&block, bad)| bad.iter().map(move |&member| (block, member)));
        blocks.map(|(block, member)| self.flash.member(block, member))
    }

    /// The members of a superblock that hold pages.
    pub fn live(&self, block: BlockId) -> impl Iterator<Item = u32> + '_ {
        (0..self.span.blocks()).filter(move |&member| !self.is_lost(block, member))
    }

    /// The blocks of a superblock that hold pages.
    pub fn live_blocks(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        self.live(block).map(move |member| self.flash.member(block, member))
    }

    /// Whether all dies of a superblock are known to be dead.
    pub(in crate::ftl) fn is_gone(&self, block: BlockId) -> bool {
        self.any_dead && self.alive(self.group_of(block)) == 0
    }

    /// A bit for each die of the group of a superblock that is dead, if it has stripes.
    #[inline]
    pub(in crate::ftl) fn dead_set(&self, block: BlockId) -> u64 {
        if self.any_dead { self.groups[self.group_of(block).at()].dead } else { 0 }
    }

    /// A bit for each die of a superblock whose block on a plane is bad.
    pub(in crate::ftl) fn bad_set(&self, block: BlockId, plane: u32) -> u64 {
        let on_plane =
            self.bad_of(block).iter().filter(|&&member| member % self.span.planes == plane);
        on_plane.fold(0, |set, &member| set | 1 << (member / self.span.planes))
    }

    /// Flash pages of data that a superblock holds if it is opened now; with parity no more than it will.
    #[inline]
    pub(in crate::ftl) fn pages_of(&self, block: BlockId) -> u32 {
        match self.bad.is_empty() || !self.bad.contains_key(&block) {
            true => self.groups[self.group_of(block).at()].pages,
            false => self.pages_of_narrow(block),
        }
    }

    fn pages_of_narrow(&self, block: BlockId) -> u32 {
        let span = self.span;
        let live_on = |plane: u32| {
            let members = (0..span.dies).map(|die| die * span.planes + plane);
            members.filter(|&member| !self.is_lost(block, member)).count() as u32
        };
        (0..span.planes).map(|plane| self.pages_on_plane(live_on(plane))).sum()
    }

    /// Flash pages of data on one plane of so many dies.
    fn pages_on_plane(&self, live: u32) -> u32 {
        let rows = self.flash.shape().pages_per_block;
        match (self.span.has_parity, live) {
            (false, live) => live * rows,
            (true, 0) => 0,
            // The last die holds data only where it would not have held the parity.
            (true, 1) => rows - rows.div_ceil(self.span.dies),
            (true, live) => (live - 1) * rows,
        }
    }

    /// Flash pages of data that any superblock of a group holds at least if it is opened now, and holds any.
    pub(in crate::ftl) fn least_pages(&self, group: DieId) -> u32 {
        self.groups[group.at()].least
    }

    /// Notes that a member is bad after the next erase of its superblock.
    pub(in crate::ftl) fn fails(&mut self, block: BlockId, member: u32) {
        let failing = self.failing.entry(block).or_default();
        if !failing.contains(&member) {
            failing.push(member);
        }
    }

    /// Notes that the member with this page is bad after the next erase of its superblock.
    pub(in crate::ftl) fn page_fails(&mut self, page: Ppn) {
        let (block, member) = self.flash.superblock_of(self.flash.block_of(page));
        self.fails(block, member);
    }

    /// Whether a member is bad after the next erase.
    pub(in crate::ftl) fn is_failing(&self, block: BlockId, member: u32) -> bool {
        self.failing.get(&block).is_some_and(|failing| failing.contains(&member))
    }

    /// A superblock is erased: what failed on it before is forgotten. Returns those members.
    pub(in crate::ftl) fn take_failing(&mut self, block: BlockId) -> Vec<u32> {
        self.failing.remove(&block).unwrap_or_default()
    }

    /// A member is bad. Once all that turn bad together are told, [`look_at_groups`](Self::look_at_groups) follows.
    pub(in crate::ftl) fn turns_bad(&mut self, block: BlockId, member: u32) {
        let bad = self.bad.entry(block).or_default();
        if let Err(at) = bad.binary_search(&member) {
            bad.insert(at, member);
        }
    }

    /// No block is bad.
    pub(in crate::ftl) fn forget_bad(&mut self) {
        self.bad.clear();
        self.look_at_groups();
    }

    /// Whether a superblock is worth keeping without its bad members.
    pub(in crate::ftl) fn is_usable(&self, block: BlockId) -> bool {
        self.is_usable_without(self.bad_of(block))
    }

    /// Whether a superblock is worth keeping without these members.
    pub(in crate::ftl) fn is_usable_without(&self, bad: &[u32]) -> bool {
        let stripe_is_left = |plane: u32| {
            let bad = bad.iter().filter(|&&member| member % self.span.planes == plane);
            self.span.dies - bad.count() as u32 > 1
        };
        2 * bad.len() as u32 <= self.span.blocks()
            && (!self.span.has_parity || (0..self.span.planes).all(stripe_is_left))
    }

    /// After a power cut: takes over which blocks are bad, from the lists of the device. Dead dies are found again.
    pub(in crate::ftl) fn come_up(&mut self, before: Members) {
        (self.bad, self.failing) = (before.bad, before.failing);
        self.look_at_groups();
    }

    pub(in crate::ftl) fn save(&self, out: &mut ImageWriter) {
        // Groups follow from the rest.
        let Members { flash: _, volume: _, span: _, dead, any_dead: _, groups: _, bad, failing } =
            self;
        dead.iter().for_each(|&dead| out.flag(dead));
        for lists in [bad, failing] {
            out.number(lists.len() as u64);
            for (block, members) in lists {
                out.number(block.get());
                out.list(members.iter().copied());
            }
        }
    }

    /// Loads what [`save`](Self::save) wrote. `may_fail` tells whether anything can fail on this device.
    pub(in crate::ftl) fn load(
        &mut self,
        may_fail: bool,
        from: &mut ImageReader<'_>,
    ) -> Result<(), Damage> {
        for dead in &mut self.dead {
            *dead = from.flag("whether a die is dead")?;
        }
        self.any_dead = self.dead.contains(&true);
        self.bad = self.load_lists("bad", from)?;
        self.failing = self.load_lists("failing", from)?;
        self.look_at_groups();
        match self.any_dead && !may_fail {
            true => Err(Damage::new(
                "dies have died: a device on which nothing fails can't go on without them; keep nand.faults as it is in \
                 the image",
            )),
            false => Ok(()),
        }
    }

    /// Whether anything is known of a superblock that has to be kept.
    pub(in crate::ftl) fn knows(&self, block: BlockId) -> bool {
        self.bad.contains_key(&block) || self.failing.contains_key(&block)
    }

    /// The members on which an operation failed, and which are bad after the next erase, by superblock.
    pub(in crate::ftl) fn failing(&self) -> impl Iterator<Item = (BlockId, u32)> + '_ {
        let all = self.failing.iter();
        all.flat_map(|(&block, failing)| failing.iter().map(move |&member| (block, member)))
    }

    /// Saves what is known of a superblock, without the dies that are dead.
    pub(in crate::ftl) fn save_of(&self, block: BlockId, out: &mut ImageWriter) {
        for lists in [&self.bad, &self.failing] {
            let members = lists.get(&block).map_or(&[][..], |members| members);
            out.list(members.iter().copied());
        }
    }

    /// Loads what [`save_of`](Self::save_of) wrote.
    pub(in crate::ftl) fn load_of(
        &mut self,
        block: BlockId,
        from: &mut ImageReader<'_>,
    ) -> Result<(), Damage> {
        for failing in [false, true] {
            let members = self.load_list(from)?;
            let lists = if failing { &mut self.failing } else { &mut self.bad };
            if !members.is_empty() {
                lists.insert(block, members);
            }
        }
        Ok(())
    }

    fn load_list(&self, from: &mut ImageReader<'_>) -> Result<Vec<u32>, Damage> {
        let mut members = from.list(self.span.blocks(), "a block of a superblock")?;
        members.sort_unstable();
        members.dedup();
        Ok(members)
    }

    fn load_lists(
        &self,
        what: &str,
        from: &mut ImageReader<'_>,
    ) -> Result<BTreeMap<BlockId, Vec<u32>>, Damage> {
        let all = u64::from(self.flash.volume().blocks());
        let mut lists = BTreeMap::new();
        for _ in 0..from.below(all + 1, "the number of superblocks with such blocks")? {
            let block = BlockId::new(from.below(all, "a superblock")?);
            let members = self.load_list(from)?;
            if members.is_empty() || lists.insert(block, members).is_some() {
                return Err(Damage(format!(
                    "{block:?} is listed twice as {what}, or with nothing"
                )));
            }
        }
        Ok(lists)
    }
}
