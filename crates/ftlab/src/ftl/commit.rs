//! What becomes current, and what stops counting: pages are recorded when they are placed, committed when they are
//! programmed, and invalidated when a newer copy is, or when they are deallocated.

use super::fragments;
use super::gc::{VictimPolicy, VictimView};
use super::mapping::MappingPolicy;
use super::merge::fold;
use super::parity::loss;
use super::slc::{self, Count};
use super::streams::StreamsPolicy;
use super::wear::{dies, refresh};
use super::{BlockState, Ftl};
use crate::engine::skills::{self, RARE, SLC, Skills, any};
use crate::ftl::wear::failing;
use crate::units::{BlockId, Lpn, Ppn, SectorMask};
use crate::verify::Canary;

impl Ftl {
    /// Records on flash what a placed page of the host is programmed with.
    #[inline]
    pub fn record<const S: Skills>(&mut self, at: Ppn, page: Lpn, sectors: SectorMask) {
        if any(S, RARE) && self.map.mapping.packs() {
            self.map.spare.release(at);
        }
        self.map.spare.record(at, page, sectors);
        self.policies.streams.wrote(page);
        if any(S, RARE)
            && let Some(record) = &mut self.features.record
        {
            record.wrote(at);
        }
    }

    /// A page of the host was programmed in place, without translation.
    #[inline]
    pub fn programmed_in_place(&mut self) {
        self.counts.host_pages += 1;
    }

    /// The flash page that begins at `first` is programmed, with `units` pages of the host on it.
    pub fn programmed_for_host<const S: Skills>(&mut self, first: Ppn, units: u32) {
        self.counts.host_pages += u64::from(units);
        slc::cache::count_slc::<S>(first, u64::from(units), Count::Written, self);
        programmed::<S>(first, units, self);
    }

    /// The copy of `page` at `at` is programmed: it is the current one from now on. Called before
    /// [`programmed_for_host`](Self::programmed_for_host), which closes the block.
    #[inline]
    pub fn commit<const S: Skills>(&mut self, page: Lpn, at: Ppn) {
        if any(S, RARE) && self.map.mapping.packs() {
            return fragments::commit_gathered(page, at, self);
        }
        let old = self.map.mapping.commit(page, at);
        if any(S, RARE) {
            note_change(page, self);
        }
        let (block, unit) = self.geometry.place_of(at);
        self.blocks.set_valid(block, unit);
        if let Some(old) = old
            && !self.plant.is(Canary::OldCopyStays)
        {
            invalidate::<S>(old, self);
        }
    }

    /// Deallocates a page. Returns where it, or its newest part, lay.
    pub fn trim(&mut self, page: Lpn) -> Option<Ppn> {
        note_change(page, self);
        if let Some(record) = &mut self.features.record {
            record.trimmed(page);
        }
        if let Some(regulation) = &mut self.features.regulation {
            regulation.trimmed(page);
        }
        if self.map.mapping.packs() {
            return fragments::trim_fragments(page, self);
        }
        let old = self.map.mapping.trim(page)?;
        self.counts.trimmed += 1;
        invalidate::<{ skills::ALL }>(old, self);
        Some(old)
    }
}

/// The flash page that begins at `first` is programmed, `units` of it with pages.
#[inline]
pub(in crate::ftl) fn programmed<const S: Skills>(first: Ppn, units: u32, ftl: &mut Ftl) {
    let units_per_page = ftl.geometry.units_per_page();
    if any(S, RARE) {
        if ftl.map.mapping.has_log() {
            return fold::programmed_in_log(first, ftl);
        }
        if let Some(record) = &mut ftl.features.record {
            record.landed(first, units_per_page);
        }
    }
    ftl.counts.padding += u64::from(units_per_page - units);
    let block = ftl.geometry.block_of(first);
    let programmed = ftl.blocks.add_programmed(block, units_per_page);
    if any(S, RARE) && ftl.blocks.state(block) == BlockState::Failing {
        failing::settle_failing(block, ftl);
    } else if programmed == units_of::<S>(block, ftl) {
        close(block, ftl);
    } else if any(S, RARE) && ftl.features.refresh.is_some() {
        refresh::settle_sealing(block, ftl);
    }
}

/// Mapping units that a block holds, as it is used at present.
#[inline(always)]
pub(in crate::ftl) fn units_of<const S: Skills>(block: BlockId, ftl: &Ftl) -> u32 {
    match any(S, SLC) {
        true => ftl.blocks.units_of(block),
        false => ftl.blocks.units_per_block(),
    }
}

/// A block is full: it may be collected from now on.
#[cold]
pub(in crate::ftl) fn close(block: BlockId, ftl: &mut Ftl) {
    ftl.blocks.close(block);
    if ftl.blocks.is_slc(block) {
        return slc::cache::slc_closed(block, ftl);
    }
    let plane = ftl.geometry.plane_of(block);
    if ftl.health.dead.is_some() {
        dies::check_room_beside_dead(plane, ftl);
    }
    if ftl.features.stripes.is_some() {
        loss::check_room_of_groups(ftl);
    }
    let view = VictimView { plane, blocks: &ftl.blocks };
    let never = ftl.plant.is(Canary::NeverACandidate);
    if !(never && ftl.collecting(plane).is_some()) {
        ftl.policies.victim.closed(&view, block);
    }
    ftl.space.feed(plane);
}

/// The map says something else of a page: the next checkpoint has to.
#[inline]
pub(in crate::ftl) fn note_change(page: Lpn, ftl: &mut Ftl) {
    if let Some(record) = &mut ftl.features.record
        && let Some(snapshot) = &mut record.snapshot
    {
        snapshot.changes(page);
    }
}

#[inline]
pub(in crate::ftl) fn invalidate<const S: Skills>(at: Ppn, ftl: &mut Ftl) {
    let (block, unit) = ftl.geometry.place_of(at);
    if !ftl.plant.is(Canary::ValidBitStays) {
        ftl.blocks.clear_valid(block, unit);
    }
    if ftl.blocks.state(block) == BlockState::Closed
        && !(any(S, SLC) && ftl.blocks.is_slc(block))
        && !(any(S, RARE) && ftl.map.mapping.has_log())
    {
        let plane = ftl.geometry.plane_of(block);
        let view = VictimView { plane, blocks: &ftl.blocks };
        ftl.policies.victim.lost_page(&view, block);
        ftl.space.feed(plane);
    }
}
