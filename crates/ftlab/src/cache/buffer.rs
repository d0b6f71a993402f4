//! The pages in the controller's DRAM, and what is known of each: which sectors are newer than flash,
//! which are on their way to it, and which requests wait for that.
//!
//! A page has at most one write-back under way. New data that arrives meanwhile stays behind as dirty
//! and is written back afterwards, so that copies of a page reach flash in the order of the writes. A buffer
//! that absorbs nothing ([`Gating`](super::Gating)) keeps each version of a page in a slot of its own;
//! the oldest goes first.

mod audit;
mod entry;
mod kept;
mod space;
mod versions;
mod waiting;
mod write_back;

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;

pub use self::space::Space;

use self::space::Fill;
use self::versions::Versions;
use super::order::Order;
use super::page::{Index, Page, SlotId, Waiter, WaiterId};
use super::view::{BufferView, Eviction, Leaves, OnFlash, Shape};
use super::{WriteBuffer, WriteBufferPolicy};
use crate::engine::{NumberHasher, Slab};
use crate::image::{Damage, Reader, Writer};
use crate::units::{Lpn, Nanos, PageSpan, RequestId, SectorMask};

/// What a buffer is made of.
#[derive(Clone, Debug)]
pub struct BufferSetup {
    /// What goes first.
    pub policy: WriteBuffer,
    /// What fits, in what `space` counts; none if pages are only staged.
    pub capacity: Option<u32>,
    /// What the capacity counts.
    pub space: Space,
    /// Sizes that policies go by.
    pub shape: Shape,
    /// Whether pages that were read from flash stay as clean ones.
    pub keeps_reads: bool,
    /// Write-back begins when more than this is dirty, counted likewise; otherwise only for room.
    pub write_back_above: u32,
    /// Flash pages on their way to flash at once, at the most; none if every page goes at once.
    pub programs_in_flight: Option<u32>,
    /// Flash pages that are written back together, where so many are dirty: as many as one program
    /// serves. A whole row has to be allowed on its way.
    pub row: u32,
    /// Flash pages that go together, the next ones when all of these have arrived; none if each goes by
    /// itself.
    pub flush_pages: Option<u32>,
    /// Write-backs begin by planes, at most one on each; none if they begin as they come.
    pub gate: Option<Gate>,
    /// Moving a request's data to or from DRAM.
    pub latency: Nanos,
}

/// How write-backs begin where each plane has at most one: see `device/cycle.rs`. For placement that
/// fixes the plane of a page, and mapping units of a flash page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// Write-backs form cycles: the next one begins when all of the last have ended.
    pub barrier: bool,
    /// A cycle is the longest run of pages, in the order of the policy, in which no plane comes twice,
    /// and its pages become current together. For cycles only.
    pub prefix: bool,
}

/// Whether a write has waited for its turn to come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It comes anew.
    New,
    /// It waited, and is the first to do so.
    Waited,
}

/// A page of a write that waits for room.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The write.
    pub request: RequestId,
    /// Its page.
    pub span: PageSpan,
    /// For how long write-backs had been stalled, over the whole run, when it began to wait.
    pub stall_mark: Nanos,
}

/// Counts of what the buffer did, in pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferCounts {
    /// Written pages that the buffer absorbed: they were in it already.
    pub write_hits: u64,
    /// Written pages that it did not.
    pub write_misses: u64,
    /// Read pages of which all wanted sectors were in the buffer.
    pub read_hits: u64,
    /// Read pages of which not all wanted sectors were in the buffer: they came from flash or a read cache, or were
    /// never written.
    pub read_misses: u64,
    /// Pages written back.
    pub written_back: u64,
    /// Programs that took two pages each onto one physical page: so many were saved.
    pub packs: u64,
    /// Pages read from flash and written again, to fill up a block.
    pub padded: u64,
    /// Clean pages that went without being written.
    pub dropped: u64,
    /// Written pages that had to wait for room.
    pub waited: u64,
    /// Cycles of write-backs.
    pub cycles: u64,
}

/// The buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    setup: BufferSetup,
    pages: Slab<Page>,
    /// The slot of each page, of its newest version.
    index: Index,
    waiters: Slab<Waiter>,
    versions: Versions,
    /// Writes that wait for room, in order.
    waiting: VecDeque<Waiting>,
    /// Where pages are only staged: writes to a page whose older version is still on its way, by
    /// page, in order. Each version is programmed; nothing is absorbed.
    behind: HashMap<Lpn, VecDeque<Waiting>, BuildHasherDefault<NumberHasher>>,
    /// Pages that a host flush wants written, whatever the policy says.
    drain: VecDeque<(SlotId, Lpn)>,
    fill: Fill,
    /// Pages with dirty sectors that may be written back now.
    dirty: u32,
    /// Pages that are clean, and may be dropped.
    clean: u32,
    /// The dirty ones among those that may be evicted, by how long they have been so; only where pages
    /// from reads stay.
    long_dirty: Order,
    /// What the policy has chosen, where it was asked before its turn.
    chosen: Option<Eviction>,
    /// A clean page was dropped, or a hole passed, for a write that waits.
    made_room: bool,
    /// Something that was read found no room.
    wants_room: bool,
    /// Pages whose dirty sectors somebody waits for.
    awaited: u32,
    /// A request is in that is larger than the buffer. Nothing else is, and it is not acknowledged
    /// before it is on flash.
    passing: bool,
    /// Pages on their way to flash.
    flushing: u32,
    /// Flash pages on their way.
    programs: u32,
    /// Flash pages that the flush under way may still begin.
    flush_left: u32,
    /// Packs of two pages on their way.
    packs: u32,
    counts: BufferCounts,
}

impl Buffer {
    /// An empty buffer.
    #[must_use]
    pub fn new(setup: BufferSetup) -> Buffer {
        Buffer {
            setup,
            pages: Slab::default(),
            index: Index::default(),
            waiters: Slab::default(),
            versions: Versions::default(),
            waiting: VecDeque::new(),
            behind: HashMap::default(),
            drain: VecDeque::new(),
            fill: Fill::default(),
            dirty: 0,
            clean: 0,
            long_dirty: Order::default(),
            chosen: None,
            made_room: false,
            wants_room: false,
            awaited: 0,
            passing: false,
            flushing: 0,
            programs: 0,
            flush_left: 0,
            packs: 0,
            counts: BufferCounts::default(),
        }
    }

    /// What it did so far.
    #[must_use]
    pub fn counts(&self) -> &BufferCounts {
        &self.counts
    }

    /// Moving a request's data to or from DRAM.
    #[inline]
    #[must_use]
    pub fn latency(&self) -> Nanos {
        self.setup.latency
    }

    /// Whether a write is acknowledged when it is in the buffer.
    #[inline]
    #[must_use]
    pub fn acknowledges_early(&self) -> bool {
        self.setup.policy.acknowledges_early()
    }

    /// Whether what is in the buffer at present was acknowledged when it came in.
    #[inline]
    #[must_use]
    pub fn has_acknowledged(&self) -> bool {
        self.acknowledges_early() && !self.passing
    }

    /// Whether requests come in as a whole, when all their pages fit, and each page by itself, though
    /// there be an older version.
    #[inline]
    #[must_use]
    pub fn gathers(&self) -> bool {
        self.setup.policy.gathers()
    }

    /// How write-backs begin, if they do so by planes.
    #[inline]
    #[must_use]
    pub fn gate(&self) -> Option<Gate> {
        self.setup.gate
    }

    /// Flash pages that are written back together, where so many are dirty.
    #[inline]
    #[must_use]
    pub fn row(&self) -> u32 {
        self.setup.row
    }

    /// Pages in the buffer, each version counted.
    #[inline]
    #[must_use]
    pub fn pages_held(&self) -> usize {
        self.pages.in_use()
    }

    /// Whole pages that fit.
    #[must_use]
    pub fn capacity_pages(&self) -> u32 {
        self.setup.shape.capacity
    }

    /// Pages in the buffer that are not on flash as they are.
    #[must_use]
    pub fn pages_left(&self) -> usize {
        self.pages_held() - self.clean as usize
    }

    /// A page in the buffer.
    #[inline]
    #[must_use]
    pub fn page(&self, slot: SlotId) -> &Page {
        &self.pages[slot]
    }

    /// The slot of a logical page, of its newest version.
    #[inline]
    #[must_use]
    pub fn find(&self, page: Lpn) -> Option<SlotId> {
        self.index.get(page)
    }

    /// The next older version of the same page.
    #[inline]
    #[must_use]
    pub fn older(&self, slot: SlotId) -> Option<SlotId> {
        self.versions.older(slot)
    }

    /// The slot of a page that may be written back now.
    #[inline]
    #[must_use]
    pub fn find_dirty(&self, page: Lpn) -> Option<SlotId> {
        self.find(page).filter(|&slot| self.may_write_back(slot))
    }

    fn may_write_back(&self, slot: SlotId) -> bool {
        let page = &self.pages[slot];
        !page.dirty.is_empty() && page.flushing.is_empty()
    }

    /// Whether the policy knows of a page: it may be evicted.
    fn is_listed(&self, slot: SlotId) -> bool {
        let page = &self.pages[slot];
        page.flushing.is_empty() && !(page.dirty.is_empty() && page.clean.is_empty())
    }

    /// Whether write-backs go in the policy's order alone.
    #[inline]
    fn keeps_order(&self) -> bool {
        self.setup.gate.is_some() || self.setup.policy.appends()
    }

    /// Whether a page stays where it is in the policy's order, though it is used: where write-backs go in that
    /// order alone, somebody who waits for it would wait for ever.
    #[inline]
    fn keeps_place(&self, slot: SlotId) -> bool {
        self.keeps_order() && self.pages[slot].dirty_waiters.is_some()
    }

    /// What is held, holes included.
    #[inline]
    fn held(&self) -> u32 {
        self.fill.held + self.setup.policy.holes()
    }

    /// What fits beside what is held.
    #[inline]
    fn free(&self) -> u32 {
        self.setup.capacity.map_or(0, |capacity| capacity.saturating_sub(self.held()))
    }

    /// Whether so much more comes in now. What comes anew stays behind writes that wait already.
    #[inline]
    fn has_room(&self, more: u32, turn: Turn) -> bool {
        let Some(capacity) = self.setup.capacity else { return true };
        let passes = turn == Turn::Waited || self.waiting.is_empty();
        self.held() + more <= capacity && (passes || more == 0)
    }

    /// Changes a page, and what is held with it.
    #[inline]
    fn change(&mut self, slot: SlotId, change: impl FnOnce(&mut Page)) {
        let page = &mut self.pages[slot];
        let before = self.setup.space.of_page(page);
        change(page);
        self.fill.held = self.fill.held - before + self.setup.space.of_page(page);
    }

    /// Forgets the places of pages that have left, so that those to come are numbered from the first on:
    /// a host flush goes by their numbers. For a buffer that holds nothing.
    pub fn rest(&mut self) {
        let Buffer {
            setup,
            pages,
            index,
            waiters,
            versions,
            waiting,
            behind,
            drain,
            fill,
            dirty,
            clean,
            long_dirty,
            chosen,
            made_room,
            wants_room,
            awaited,
            passing,
            flushing,
            programs,
            flush_left,
            packs,
            counts: _,
        } = self;
        let empty = index.is_empty() && waiting.is_empty() && behind.is_empty() && !*passing;
        let counted = *dirty + *clean + *awaited + *flushing + *programs + *packs;
        assert!(empty && counted == 0, "a buffer at rest holds nothing");
        (*fill, *chosen) = (Fill::default(), None);
        (*made_room, *wants_room, *flush_left) = (false, false, 0);
        (*pages, *waiters, *versions) = (Slab::default(), Slab::default(), Versions::default());
        *long_dirty = Order::default();
        drain.clear();
        setup.policy.rest();
    }

    /// Writes what the policy remembers; of a buffer at rest, nothing else outlives.
    pub fn save(&self, out: &mut Writer) {
        self.setup.policy.save(out);
    }

    /// Takes up what the policy remembered.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damage> {
        self.setup.policy.load(from)
    }

    /// Counts a read of a page, and tells the policy if the page was there.
    #[inline]
    pub fn note_read(&mut self, hit: Option<SlotId>, flash: &dyn OnFlash) {
        match hit {
            Some(slot) => {
                self.counts.read_hits += 1;
                if self.is_listed(slot) && !self.keeps_place(slot) {
                    self.unchoose(slot);
                    let Buffer { setup, pages, index, packs, .. } = self;
                    setup.policy.read(slot, &view(pages, index, setup.shape, *packs, flash));
                }
            }
            None => self.counts.read_misses += 1,
        }
    }

    fn make_candidate(&mut self, slot: SlotId, flash: &dyn OnFlash) {
        let Buffer { setup, pages, index, packs, fill, dirty, clean, long_dirty, .. } = self;
        match pages[slot].dirty {
            SectorMask::EMPTY => *clean += 1,
            sectors => {
                if setup.keeps_reads {
                    long_dirty.push_newest(slot);
                }
                *dirty += 1;
                fill.dirty += setup.space.of(sectors);
            }
        }
        setup.policy.inserted(slot, &view(pages, index, setup.shape, *packs, flash));
    }

    fn drop_candidate(&mut self, slot: SlotId, why: Leaves, flash: &dyn OnFlash) {
        self.unchoose(slot);
        let Buffer { setup, pages, index, packs, fill, dirty, clean, long_dirty, .. } = self;
        match pages[slot].dirty {
            SectorMask::EMPTY => *clean -= 1,
            sectors => {
                if setup.keeps_reads {
                    long_dirty.remove(slot);
                }
                *dirty -= 1;
                fill.dirty -= setup.space.of(sectors);
            }
        }
        setup.policy.removed(slot, &view(pages, index, setup.shape, *packs, flash), why);
    }

    /// What was chosen before its turn is not, if it was used since, or has left.
    #[inline]
    fn unchoose(&mut self, used: SlotId) {
        let stale = match self.chosen {
            None | Some(Eviction::Pad(_)) => false,
            Some(Eviction::Page(slot)) => slot == used,
            Some(Eviction::Pack { first, second }) => first == used || second == used,
        };
        if stale {
            self.chosen = None;
        }
    }

    /// Deallocates a page, or a version of it: what is dirty is forgotten, what is on its way will be discarded. Requests
    /// that waited for the forgotten data are handed to `wake`.
    pub fn trim(&mut self, slot: SlotId, flash: &dyn OnFlash, wake: impl FnMut(RequestId)) {
        if self.is_listed(slot) {
            self.drop_candidate(slot, Leaves::Deallocated, flash);
        }
        let forgotten = self.pages[slot].dirty_waiters.take();
        self.awaited -= u32::from(forgotten.is_some());
        self.change(slot, |page| (page.dirty, page.clean) = Default::default());
        if self.pages[slot].flushing.is_empty() {
            self.remove(slot);
        } else {
            self.pages[slot].discard = true;
        }
        self.wake_all(forgotten, wake);
    }
}

/// The view of a policy, taken apart from it.
#[inline]
fn view<'a>(
    pages: &'a Slab<Page>,
    index: &'a Index,
    shape: Shape,
    packs_under_way: u32,
    flash: &'a dyn OnFlash,
) -> BufferView<'a> {
    BufferView { pages, index, shape, packs_under_way, flash }
}
