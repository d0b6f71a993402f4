//! Recording, committing and invalidating: a page is recorded when it is placed, committed when it
//! is programmed, and invalidated when a newer copy is committed or when it is deallocated.

use crate::engine::skills;
use crate::engine::skills::{RARE, SLC, Skills, any};
use crate::ftl::gc::{VictimPolicy, VictimView, kept};
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::merge::fold;
use crate::ftl::parity::rebuild;
use crate::ftl::slc::Count;
use crate::ftl::streams::StreamsPolicy;
use crate::ftl::superblock::deaths;
use crate::ftl::wear::{dies, failing, refresh};
use crate::ftl::{BlockState, Blocks, Features, Ftl, fragments, groups, slc};
use crate::units::{BlockId, Lpn, Ppn, SectorMask};
use crate::verify::Canary;

impl Ftl {
    /// Records the contents of a placed page of the host.
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

    /// The flash page at `first` is programmed with `units` pages of the host.
    pub fn programmed_for_host<const S: Skills>(&mut self, first: Ppn, units: u32) {
        self.counts.host_pages += u64::from(units);
        slc::cache::count_slc::<S>(first, u64::from(units), Count::Written, self);
        self.programmed::<S>(first, units);
    }

    /// The flash page at `first` is programmed with `units` pages.
    #[inline]
    pub(in crate::ftl) fn programmed<const S: Skills>(&mut self, first: Ppn, units: u32) {
        let units_per_page = skills::units_of_page(S, self.geometry.units_per_page());
        let units = skills::units_of_page(S, units);
        if any(S, RARE) {
            if self.map.mapping.has_log() {
                return fold::programmed_in_log(first, self);
            }
            if let Some(record) = &mut self.features.record {
                record.landed(first, units_per_page);
            }
            if let Some(log) = self.policies.streams.log_mut() {
                log.life.programmed += u64::from(units_per_page);
            }
        }
        self.counts.padding += u64::from(units_per_page - units);
        let block = self.geometry.block_of(first);
        let programmed = self.blocks.add_programmed(block, units_per_page);
        if any(S, RARE) && self.blocks.state(block) == BlockState::Failing {
            failing::settle_failing(block, self);
        } else if programmed == units_of::<S>(block, &self.blocks) {
            // A cycle of writes counts as a whole, also what it programmed on a die that has died meanwhile.
            if !(any(S, RARE) && self.blocks.state(block) == BlockState::Dead) {
                self.close(block);
            }
        } else if any(S, RARE) && self.features.refresh.is_some() {
            refresh::settle_sealing(block, self);
        }
    }

    /// Closes a full block: it may be collected from now on.
    #[cold]
    pub(in crate::ftl) fn close(&mut self, block: BlockId) {
        self.blocks.close(block);
        if let (Some(stripes), Some(state)) =
            (&mut self.features.stripes, &self.features.superblock)
        {
            stripes.closes(block, &state.members);
            self.features.record.iter_mut().for_each(|record| record.touch_block(block));
        }
        let plane = self.geometry.plane_of(block);
        if self.health.dead.is_some() {
            dies::check_room_beside_dead(plane, self);
        }
        if self.blocks.is_slc(block) {
            return slc::cache::slc_closed(block, self);
        }
        if self.features.superblock.is_some() {
            deaths::check_room_of_groups(self);
        }
        let never = self.plant.is(Canary::NeverACandidate);
        if !(never && self.collecting(plane).is_some()) {
            kept::offer(block, self);
        }
        self.space.feed(plane);
        rebuild::closes(block, self);
    }

    /// The copy of `page` at `at` is programmed and becomes current. Call this before
    /// [`programmed_for_host`](Self::programmed_for_host), which closes the block.
    #[inline]
    pub fn commit<const S: Skills>(&mut self, page: Lpn, at: Ppn) {
        if any(S, RARE) && self.map.mapping.packs() {
            return fragments::commit_gathered(page, at, self);
        }
        let old = self.map.mapping.commit(page, at);
        if any(S, RARE) {
            self.features.note_change(page);
        }
        let (block, unit) = self.geometry.place_of(at);
        self.blocks.set_valid(block, unit);
        groups::came_to::<S>(block, 1, self);
        if let Some(old) = old
            && !self.plant.is(Canary::OldCopyStays)
        {
            self.invalidate::<S>(old);
        }
    }

    /// Deallocates a page. Returns the place of the page, or of its newest fragment.
    pub fn trim(&mut self, page: Lpn) -> Option<Ppn> {
        self.features.note_change(page);
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
        self.invalidate::<{ skills::ALL }>(old);
        Some(old)
    }

    #[inline]
    pub(in crate::ftl) fn invalidate<const S: Skills>(&mut self, at: Ppn) {
        let (block, unit) = self.geometry.place_of(at);
        if !self.plant.is(Canary::ValidBitStays) {
            self.blocks.clear_valid(block, unit);
            groups::left::<S>(block, self);
        }
        if self.blocks.state(block) == BlockState::Closed
            && !(any(S, SLC) && self.blocks.is_slc(block))
            && !(any(S, RARE) && self.map.mapping.has_log())
        {
            let plane = self.geometry.plane_of(block);
            let view = VictimView { plane, blocks: &self.blocks };
            if !(any(S, RARE) && self.policies.streams.keeps(self.blocks.stream(block))) {
                self.policies.victim.lost_page(&view, block);
            }
            self.space.feed(plane);
        }
    }
}

/// Mapping units that a block holds in its current mode.
#[inline(always)]
fn units_of<const S: Skills>(block: BlockId, blocks: &Blocks) -> u32 {
    match any(S, SLC) {
        true => blocks.units_of(block),
        false => blocks.units_per_block(),
    }
}

impl Features {
    /// The map entry of a page changes: the next checkpoint has to include it.
    #[inline]
    pub(in crate::ftl) fn note_change(&mut self, page: Lpn) {
        if let Some(record) = &mut self.record
            && let Some(snapshot) = &mut record.snapshot
        {
            snapshot.changes(page);
        }
    }
}
