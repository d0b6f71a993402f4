//! A plane's collection from the FTL's side: when there should be one, of which block, and what its end
//! is worth. The [`Collector`](super::Collector) does the work.

use super::super::streams::{StreamsPolicy, WriteStream};
use super::super::{BlockState, Ftl};
use super::{Background, Purpose, VictimPolicy, VictimView};
use crate::engine::skills::{self, RARE, Skills, any};
use crate::ftl::fragments;
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::parity::loss;
use crate::ftl::slc;
use crate::ftl::wear::levelling;
use crate::ftl::wear::life;
use crate::ftl::wear::refresh;
use crate::units::SectorMask;
use crate::units::{BlockId, PlaneId, Ppn};
use crate::verify::Canary;

/// When a plane collects, in free blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// It starts at so many, or fewer.
    pub start: u32,
    /// It goes on until so many are free.
    pub stop: u32,
    /// The last ones, which only collection may take.
    pub reserve: u32,
    /// Flash pages being copied at once.
    pub copies_in_flight: u32,
    /// While a plane collects, the host may take so many flash pages more than collection has made
    /// free since it started.
    pub host_lead: u32,
}

impl Thresholds {
    /// All of them higher by so many blocks.
    #[must_use]
    pub const fn raised_by(self, blocks: u32) -> Thresholds {
        let Thresholds { start, stop, reserve, .. } = self;
        Thresholds { start: start + blocks, stop: stop + blocks, reserve: reserve + blocks, ..self }
    }
}

/// Owners that are asked for when a collection begins: a cache line, more or less.
const OWNERS_AT_ONCE: u32 = 16;

/// A collection that runs on a plane.
#[derive(Clone, Debug)]
pub struct Collection {
    pub(super) victim: BlockId,
    pub(super) purpose: Purpose,
    /// Whether the victim joins the free blocks of its plane.
    pub(super) returns_block: bool,
    /// The next page of the victim to look at.
    pub(super) next_unit: u32,
    /// Flash pages being copied.
    pub(super) in_flight: u32,
    /// There was no room for a copy: no more are begun.
    pub(super) stranded: bool,
    /// Nothing is left to copy: the victim is on its way out.
    pub(super) erasing: bool,
    /// A program of its parity failed meanwhile: it is given up when it is erased.
    pub(super) gives_up: bool,
    /// The flash says that its erase failed.
    pub(super) erase_failed: bool,
    /// Flash pages that the collection will make free, net of its copies, and how many copies that
    /// takes, as it looked when it began.
    pub(super) gain: u32,
    pub(super) copies: u32,
    /// What of the gain is earned and not yet a whole page, in parts of a copy.
    pub(super) earned: u32,
    /// Copies that were made, and flash pages that were handed out for them.
    pub(super) copied: u32,
    pub(super) handed_out: u32,
}

impl Collection {
    /// The block that is being collected.
    #[must_use]
    pub fn victim(&self) -> BlockId {
        self.victim
    }

    /// What it is being collected for.
    #[must_use]
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Whether the victim joins the free blocks of its plane.
    #[must_use]
    pub fn returns_block(&self) -> bool {
        self.returns_block
    }

    /// The victim is not to be filled again.
    pub(in crate::ftl) fn give_up(&mut self) {
        self.gives_up = self.purpose.frees_block();
    }

    /// A copy is done: the flash pages that the host may take for it.
    pub(super) fn earn(&mut self) -> u32 {
        self.copied += 1;
        self.earned += self.gain;
        // A copy earns a page or two, or a part of one: a division would cost more.
        let mut pages = 0;
        while self.earned >= self.copies {
            self.earned -= self.copies;
            pages += 1;
        }
        self.handed_out += pages;
        pages
    }

    /// The victim is erased: what is left of its gain. Pages that were overwritten while the collection
    /// ran have saved copies.
    pub(super) fn earn_rest(&self, pages_per_block: u32) -> u32 {
        pages_per_block.saturating_sub(self.copied + self.handed_out)
    }
}

/// A block that somebody wants emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The block.
    pub block: BlockId,
    /// What for.
    pub purpose: Purpose,
}

impl Ftl {
    /// Records on flash what a placed copy of the page at `from` is programmed with.
    #[inline]
    pub(in crate::ftl) fn record_collected<const S: Skills>(&mut self, from: Ppn, to: Ppn) {
        if any(S, RARE) && self.packs() {
            return self.record_copy_of_parts(from, to);
        }
        let page = self.spare.owner(from).expect("a page that was valid has an owner");
        let sectors = match self.plant.is(Canary::SectorsForgotten) {
            true => SectorMask::EMPTY,
            false => self.spare.sectors(from),
        };
        self.spare.record(to, page, sectors);
        let forgets = self.plant.is(Canary::CopyWithoutVersion);
        if any(S, RARE)
            && let Some(record) = self.record.as_deref_mut().filter(|_| !forgets)
        {
            record.copied(from, to);
        }
    }

    /// The copy of the page at `from` is programmed at `to`: it is the current one from now on, unless the
    /// page lies elsewhere by now.
    #[inline]
    pub(super) fn copied_page<const S: Skills>(&mut self, from: Ppn, to: Ppn) {
        let forgotten = self.plant.is(Canary::CopyNotMapped);
        let current = forgotten || self.relocate::<S>(from, to);
        if any(S, RARE) && self.has_map_on_flash() {
            self.note_copy(to, current);
        }
        if current {
            let (block, place) = self.geometry.place_of(to);
            self.blocks.set_valid(block, place);
            let (block, place) = self.geometry.place_of(from);
            self.blocks.clear_valid(block, place);
        } else {
            self.counts.gc_stale += 1;
        }
    }

    /// False if the page at `from` lies neither there nor, from now on, at `to`.
    #[inline]
    pub(in crate::ftl) fn relocate<const S: Skills>(&mut self, from: Ppn, to: Ppn) -> bool {
        if any(S, RARE) && self.packs() {
            return self.relocate_parts(from, to);
        }
        let page = self.spare.owner(to).expect("a copy has an owner");
        if any(S, RARE) {
            self.note_change(page);
        }
        self.mapping.relocate(page, from, to)
    }

    /// Notes that a block is being collected, and what that will yield.
    pub(super) fn begin_collection(&mut self, plane: PlaneId, wanted: Wanted) {
        let Wanted { block: victim, purpose } = wanted;
        let returns_block = slc::cache::returns_block(&wanted, self);
        let valid = self.blocks.valid(victim);
        self.spare.prefetch_row(self.geometry.page_at(victim, 0), OWNERS_AT_ONCE);
        let copies = valid.div_ceil(self.geometry.units_per_page());
        let gain = match returns_block {
            true => loss::pages_to_fill(plane, self).saturating_sub(copies),
            false => 0,
        };
        self.blocks.set_state(victim, BlockState::Collecting);
        self.blocks.count_collection(victim);
        match self.blocks.is_slc(victim) {
            true => slc::cache::slc_withdrawn(victim, self),
            false if self.blocks.stream(victim).is_of_map() => self.note_map_block(),
            false if self.blocks.stream(victim) == WriteStream::REWRITES => {}
            false => self.streams.collects(victim, self.blocks.stream(victim)),
        }
        self.counts.gc_runs += 1;
        self.counts.gc_victim_valid += u64::from(valid);
        self.counts.by_purpose[purpose as usize].runs += 1;
        let state = &mut self.planes[plane.at()];
        state.copy_credit = self.triggers.copies_per_write.unwrap_or(0);
        state.collection = Some(Collection {
            victim,
            purpose,
            returns_block,
            next_unit: 0,
            in_flight: 0,
            stranded: false,
            erasing: false,
            gives_up: false,
            erase_failed: false,
            gain,
            copies,
            earned: 0,
            copied: 0,
            handed_out: 0,
        });
        self.refresh_writable::<{ skills::ALL }>(plane);
    }

    /// Takes note that a block is to be emptied for a purpose. One that waits for that already takes
    /// the new purpose, unless it is to be given up. False if there is nothing to collect: the block is free, bad, being filled,
    /// or being collected at this moment.
    pub(in crate::ftl) fn want(&mut self, wanted: Wanted) -> bool {
        let plane = self.geometry.plane_of(wanted.block);
        let queue = &mut self.planes[plane.at()].wanted;
        if let Some(waiting) = queue.iter_mut().find(|waiting| waiting.block == wanted.block) {
            if waiting.purpose.frees_block() {
                *waiting = wanted;
            }
            return true;
        }
        if self.blocks.state(wanted.block) != BlockState::Closed {
            return false;
        }
        queue.push_back(wanted);
        if self.blocks.is_slc(wanted.block) {
            slc::cache::slc_withdrawn(wanted.block, self);
        } else {
            let view = VictimView { plane, blocks: &self.blocks };
            self.victim.withdrawn(&view, wanted.block);
        }
        self.blocks.set_state(wanted.block, BlockState::Collecting);
        true
    }

    pub(super) fn has_wanted(&self, plane: PlaneId) -> bool {
        !self.planes[plane.at()].wanted.is_empty()
    }

    /// The block that a plane empties next. What others asked for goes first. A block that is given up
    /// waits while only the reserve is left: it returns none for the one that its pages may fill.
    pub(super) fn next_to_collect(&mut self, plane: PlaneId) -> Option<Wanted> {
        if self.read_only {
            return None;
        }
        let state = &self.planes[plane.at()];
        if let Some(at) = state.wanted.iter().position(|wanted| self.may_go(plane, wanted)) {
            return self.planes[plane.at()].wanted.remove(at);
        }
        if let Some(block) = slc::cache::oldest_borrowed(plane, self) {
            return Some(Wanted { block, purpose: Purpose::Fold });
        }
        self.choose_victim(plane, Purpose::Space).or_else(|| refresh::refresh_instead(plane, self))
    }

    /// Whether a block that somebody asked for may be emptied now.
    fn may_go(&self, plane: PlaneId, wanted: &Wanted) -> bool {
        let to_spare = self.free_blocks(plane) > self.thresholds.reserve;
        (to_spare || slc::cache::returns_block(wanted, self)) && self.can_empty(plane, wanted.block)
    }

    /// Whether a plane that collects nothing could: something was asked for, or a closed block would free
    /// a flash page.
    pub(in crate::ftl) fn has_something_to_collect(&self, plane: PlaneId) -> bool {
        let state = &self.planes[plane.at()];
        if self.read_only || state.collection.is_some() {
            return false;
        }
        let worth = |&block: &BlockId| {
            loss::is_worth_collecting(plane, block, self) && self.can_empty(plane, block)
        };
        let blocks = self.geometry.shape().blocks_per_plane;
        state.wanted.iter().any(|wanted| self.may_go(plane, wanted))
            || slc::cache::oldest_borrowed(plane, self).is_some()
            || (0..blocks)
                .map(|index| self.geometry.block_in(plane, index))
                .filter(|&block| {
                    self.blocks.state(block) == BlockState::Closed && !self.blocks.is_slc(block)
                })
                .any(|block| worth(&block))
    }

    /// The victim of the policy, if the plane has room for its pages.
    fn choose_victim(&mut self, plane: PlaneId, purpose: Purpose) -> Option<Wanted> {
        let view = VictimView { plane, blocks: &self.blocks };
        let mut block = self.victim.choose(&view)?;
        if !loss::is_worth_collecting(plane, block, self) {
            block = loss::choose_narrow(plane, block, self)?;
        }
        if !self.can_empty(plane, block) {
            let view = VictimView { plane, blocks: &self.blocks };
            self.victim.closed(&view, block);
            life::note_no_room(self);
            return None;
        }
        Some(Wanted { block, purpose })
    }

    /// Whether a plane's collection neither yields to the host nor waits for it: blocks are at the hard
    /// limit, or the host finds no room on the plane, be it for one of its streams.
    pub(super) fn is_urgent(&self, plane: PlaneId) -> bool {
        let mut streams = self.streams.all_host_streams();
        self.free_blocks(plane) <= self.triggers.hard_limit
            || streams.any(|stream| !self.may_write(plane, stream))
            || self.map_stalled > 0 && !self.may_write_map(plane)
    }

    /// A block to collect while the host is idle, if a plane should.
    pub(super) fn next_in_background(&mut self, plane: PlaneId) -> Option<Wanted> {
        let Background { blocks, .. } = self.triggers.background?;
        if self.read_only || self.free_blocks(plane) >= blocks {
            return None;
        }
        self.choose_victim(plane, Purpose::Background)
    }

    /// Whether a plane's collection may make one more copy now, or erase; takes that from what it may
    /// do for the host's writes. `idle`: the host has nothing to do.
    #[inline]
    pub(super) fn may_go_on(&mut self, plane: PlaneId, copying: bool, idle: bool) -> bool {
        let triggers = &self.triggers;
        if triggers.background.is_none() && triggers.copies_per_write.is_none() {
            return true;
        }
        self.is_due(plane, copying, idle)
    }

    fn is_due(&mut self, plane: PlaneId, copying: bool, idle: bool) -> bool {
        let Some(run) = &self.planes[plane.at()].collection else { return false };
        let short = self.free_blocks(plane) <= self.thresholds.start;
        // What others want of the plane can't begin before this run is over.
        if run.purpose == Purpose::Background && !short {
            return idle || self.has_wanted(plane);
        }
        // The cache has rules of its own, and data that ages can't wait for the host.
        let ages = || self.planes[plane.at()].waits_for(Purpose::Refresh);
        if matches!(run.purpose, Purpose::Fold | Purpose::Refresh) || ages() {
            return true;
        }
        if self.triggers.copies_per_write.is_none() || idle || !copying || self.is_urgent(plane) {
            return true;
        }
        let credit = &mut self.planes[plane.at()].copy_credit;
        let left = credit.checked_sub(1);
        *credit = left.unwrap_or(0);
        left.is_some()
    }

    pub(super) fn erasing(&mut self, plane: PlaneId) {
        if let Some(run) = &mut self.planes[plane.at()].collection {
            run.erasing = true;
        }
    }

    /// The victim is empty: what becomes of it, and what its end is worth to the host.
    pub(super) fn end_collection(&mut self, plane: PlaneId, run: &Collection) {
        let erased =
            run.purpose.frees_block() && !life::erase_fails(run.victim, run.erase_failed, self);
        if self.blocks.is_slc(run.victim) {
            slc::cache::slc_emptied(run.victim, erased, self);
        }
        if erased {
            self.blocks.reset(run.victim);
        }
        if erased && !run.gives_up {
            if !run.returns_block {
                return;
            }
            let pages = loss::pages_to_fill(plane, self);
            let state = &mut self.planes[plane.at()];
            state.give_back(run.victim, self.blocks.erases(run.victim));
            if self.plant.is(Canary::BlockFreeTwice) {
                state.give_back(run.victim, self.blocks.erases(run.victim));
            }
            state.host_credit += run.earn_rest(pages);
            if let Some(block) = levelling::level(run.victim, run.purpose, self) {
                self.want(Wanted { block, purpose: Purpose::WearLevel });
            }
        } else {
            if self.blocks.stream(run.victim).is_of_map() {
                self.note_lost_map_block();
            }
            if erased {
                life::lose_block(plane, self);
            }
            self.blocks.retire(run.victim);
            self.stripes.iter_mut().for_each(|stripes| stripes.forget(run.victim));
            fragments::room::refresh_pack_room(self);
            self.refresh_writable::<{ skills::ALL }>(plane);
        }
    }
}
