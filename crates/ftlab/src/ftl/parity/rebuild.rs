//! Rebuilding after a death. Stripes that were begun before a die of theirs died lack a page: a second death loses data.
//! They are *exposed* until their data has moved, because stripes that are begun now do without the dead die.
//!
//! Which superblocks are exposed follows from their stripes, and is found again after each death and each load. With
//! `ftl.parity.rebuild` the collector empties them as it refreshes old data ([`refresh`](crate::ftl::wear)): one superblock of a plane at a
//! time, in the order of their numbers, and alternating with collection for space if blocks are scarce. One that is open
//! is closed early, if there are blocks to spare. One whose data has no room stays exposed, and is tried again after the
//! next collection of its plane: rebuilding never takes the room that collection needs.
//!
//! A group with a single live die has no parity, so nothing of it is rebuilt.

use std::collections::BTreeSet;

use super::{Missing, ParityCounts, Stripes, members};
use crate::ftl::gc::{Purpose, Wanted};
use crate::ftl::superblock::Members;
use crate::ftl::wear::life;
use crate::ftl::{BlockState, FlashContents, Ftl, Kernel};
use crate::nand::Stripe;
use crate::scheduler::Probe;
use crate::units::{BlockId, DieId, Nanos, PlaneId, SimTime};
use crate::verify::Canary;

/// The superblocks that deaths have left without protection.
#[derive(Clone, Debug, Default)]
pub(super) struct Exposed {
    /// Those that can be restored.
    blocks: BTreeSet<BlockId>,
    /// Since when there are any, or a group without parity; none if all stripes are whole.
    since: Option<SimTime>,
    /// Whether they are rebuilt.
    rebuilds: bool,
}

impl Stripes {
    /// The same stripes, rebuilt after a death or not.
    #[must_use]
    pub fn rebuilt(mut self, rebuilds: bool) -> Stripes {
        self.exposed.rebuilds = rebuilds;
        self
    }

    /// Costs and benefits of parity, until now.
    #[must_use]
    pub fn counts_until(&self, now: SimTime) -> ParityCounts {
        let mut counts = self.counts;
        counts.exposed += self.exposed.since.map_or(Nanos::ZERO, |since| now - since);
        counts
    }

    /// Whether a death has taken a page of a stripe that has begun, and that others are computed from.
    fn is_exposed(&self, stripe: Stripe, known: &Members) -> bool {
        let lost_since = known.dead_set(stripe.block) & !self.lost_at_begin(stripe, known);
        let counts = |member| self.why_missing(stripe, member) != Some(Missing::LeftOut);
        members(lost_since).any(counts)
    }

    /// Whether any stripe of a superblock with programs in flight is exposed, with data or about to get some.
    fn is_any_exposed(&self, block: BlockId, known: &Members) -> bool {
        let begun = self.narrow.get(&block).map_or(self.stripes_in_block(), |narrow| narrow.begun);
        (0..begun).any(|number| self.is_exposed(Stripe { block, number }, known))
    }

    /// A superblock is empty. Returns whether it had been exposed.
    fn is_restored(&mut self, block: BlockId, flash_pages: u32) -> bool {
        let was_exposed = self.exposed.blocks.remove(&block);
        if was_exposed {
            self.counts.restored += 1;
            self.counts.restored_pages += u64::from(flash_pages);
        }
        was_exposed
    }

    /// Notes whether any stripe is exposed now.
    fn watch(&mut self, is_exposed: bool, now: SimTime) {
        let since = &mut self.exposed.since;
        match (*since, is_exposed) {
            (None, true) => *since = Some(now),
            (Some(before), false) => {
                self.counts.exposed += now - before;
                *since = None;
            }
            _ => {}
        }
    }
}

impl Ftl {
    /// Pages (mapping units) of the host that are lost if one more die dies, because a die of their stripes is dead.
    #[must_use]
    pub fn unprotected_pages(&self) -> u64 {
        let (Some(stripes), Some(known)) = (&self.features.stripes, self.features.members()) else {
            return 0;
        };
        if !known.any_dead() {
            return 0;
        }
        let in_use = self.blocks_in_use();
        let valid = in_use.flat_map(|block| self.blocks.valid_pages(&self.geometry, block));
        let is_exposed = |at| {
            let (stripe, _) = stripes.layout.stripe_of(at);
            stripes.parity_of(stripe, known).is_none() || stripes.is_exposed(stripe, known)
        };
        valid.filter(|&at| self.is_of_host(at) && is_exposed(at)).count() as u64
    }

    fn blocks_in_use(&self) -> impl Iterator<Item = BlockId> + '_ {
        let all = (0..self.geometry.blocks()).map(BlockId::new);
        all.filter(|&block| self.is_in_use(block))
    }
}

/// Whether the stripes of a group have parity.
fn has_parity(group: DieId, known: &Members) -> bool {
    known.alive(group) > 1
}

/// Whether a superblock of a group with parity holds data that is exposed.
fn holds_exposed(block: BlockId, ftl: &Ftl) -> bool {
    let (Some(stripes), Some(known)) = (&ftl.features.stripes, ftl.features.members()) else {
        return false;
    };
    let is_exposed = |at| stripes.is_exposed(stripes.layout.stripe_of(at).0, known);
    has_parity(stripes.layout.group_of_block(block), known)
        && ftl.blocks.valid_pages(&ftl.geometry, block).any(is_exposed)
}

/// Whether a superblock of a group with parity is about to get data that is exposed, by programs in flight.
fn awaits_exposed(block: BlockId, ftl: &Ftl) -> bool {
    let (Some(stripes), Some(known)) = (&ftl.features.stripes, ftl.features.members()) else {
        return false;
    };
    matches!(ftl.blocks.state(block), BlockState::Open | BlockState::Failing)
        && has_parity(stripes.layout.group_of_block(block), known)
        && stripes.is_any_exposed(block, known)
}

/// Finds the superblocks that are exposed, after a death or a load.
pub(in crate::ftl) fn find_exposed(ftl: &mut Ftl) {
    if !ftl.features.members().is_some_and(Members::any_dead) {
        return;
    }
    let is_exposed = |&block: &BlockId| holds_exposed(block, ftl) || awaits_exposed(block, ftl);
    let mut exposed: BTreeSet<BlockId> = ftl.blocks_in_use().filter(is_exposed).collect();
    if ftl.plant.is(Canary::ParityNotRebuilt) {
        exposed.pop_last();
    }
    if let Some(stripes) = &mut ftl.features.stripes {
        stripes.exposed.blocks = exposed;
    }
}

/// Whether any data is exposed.
fn is_any_exposed(ftl: &Ftl) -> bool {
    let (Some(stripes), Some(known)) = (&ftl.features.stripes, ftl.features.members()) else {
        return false;
    };
    let mut groups = (0..ftl.geometry.dies()).map(DieId::new);
    !stripes.exposed.blocks.is_empty() || groups.any(|group| known.alive(group) == 1)
}

/// The exposed superblocks of a plane, in order.
pub(in crate::ftl) fn exposed_on(plane: PlaneId, ftl: &Ftl) -> impl Iterator<Item = BlockId> + '_ {
    let last = ftl.geometry.shape().blocks_per_plane - 1;
    let all = ftl.geometry.block_in(plane, 0)..=ftl.geometry.block_in(plane, last);
    let stripes = ftl.features.stripes.iter();
    stripes.flat_map(move |stripes| stripes.exposed.blocks.range(all.clone()).copied())
}

/// Whether superblocks that a death left without protection are rebuilt.
pub(in crate::ftl) fn rebuilds(ftl: &Ftl) -> bool {
    ftl.features.stripes.as_ref().is_some_and(|stripes| stripes.exposed.rebuilds)
}

/// The superblock of a plane that is rebuilt next. One of an SLC cache is folded.
pub(in crate::ftl) fn next(plane: PlaneId, ftl: &Ftl) -> Option<Wanted> {
    let ready = |block: &BlockId| {
        ftl.blocks.state(*block) == BlockState::Closed
            && life::can_empty_beside_collection(plane, *block, ftl)
    };
    let block = exposed_on(plane, ftl).find(ready)?;
    let purpose = if ftl.blocks.is_slc(block) { Purpose::Fold } else { Purpose::Refresh };
    Some(Wanted { block, purpose })
}

/// A superblock was closed. If it waits to be rebuilt, its plane looks for work.
pub(in crate::ftl) fn closes(block: BlockId, ftl: &mut Ftl) {
    let stripes = ftl.features.stripes.as_ref().filter(|_| rebuilds(ftl));
    let waits = stripes.is_some_and(|stripes| stripes.exposed.blocks.contains(&block));
    let plane = ftl.geometry.plane_of(block);
    if waits && !ftl.space.fed.contains(&plane) {
        ftl.space.fed.push(plane);
    }
}

/// Checks that every superblock that holds exposed data is known.
pub(in crate::ftl) fn audit(ftl: &Ftl) -> Result<(), String> {
    let Some(stripes) = ftl.features.stripes.as_ref() else { return Ok(()) };
    if !ftl.features.members().is_some_and(Members::any_dead) {
        return Ok(());
    }
    let is_forgotten =
        |&block: &BlockId| !stripes.exposed.blocks.contains(&block) && holds_exposed(block, ftl);
    match ftl.blocks_in_use().find(is_forgotten) {
        Some(block) => Err(format!("{block:?} has lost its protection, but counts as whole")),
        None => Ok(()),
    }
}

impl<P: Probe, C: FlashContents> Kernel<P, C> {
    /// Notes since when, or until when, data is exposed.
    pub(crate) fn watch_exposed(&mut self) {
        let is_exposed = is_any_exposed(&self.ftl);
        if let Some(stripes) = &mut self.ftl.features.stripes {
            stripes.watch(is_exposed, self.now);
        }
    }

    /// The superblock that a plane collects is empty. If it was exposed, its data is protected again.
    #[cold]
    pub(in crate::ftl) fn is_emptied(&mut self, plane: PlaneId) {
        let Some(run) = &self.ftl.space.planes[plane.at()].collection else { return };
        let (victim, copied) = (run.victim(), run.copied());
        let Some(stripes) = &mut self.ftl.features.stripes else { return };
        if stripes.is_restored(victim, copied) {
            self.watch_exposed();
        }
    }
}
