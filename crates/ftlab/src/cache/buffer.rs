//! The pages in the controller's DRAM and their state: which sectors are newer than flash, which are on their way,
//! and which requests wait for that.
//!
//! A page has at most one write-back under way. Data that arrives meanwhile stays in the buffer as dirty and is
//! written back afterwards, so copies of a page reach flash in the order of the writes. A buffer that absorbs nothing
//! ([`Gating`](super::Gating)) keeps each version of a page in a slot of its own; the oldest goes first.
//!
//! [`Buffer`] consists of parts that own their state: the [`Pages`], those of them that are evictable ([`Listed`]),
//! the [`EntryQueue`], the [`Waiters`] for flash, and what is [`UnderWay`]. This file has the operations that concern
//! several of them.

mod audit;
mod kept;
mod listed;
mod pages;
mod setup;
mod versions;
mod waiting;
mod write_back;

pub use self::pages::Space;
pub use self::setup::{BufferCounts, BufferSetup, Entering, Gate};
pub use self::waiting::WaitingPage;

use self::listed::Listed;
use self::pages::Pages;
use self::setup::BufferRules;
use self::waiting::{EntryQueue, Waiters};
use self::write_back::UnderWay;
use super::WriteBufferPolicy;
use super::page::{Page, SlotId, Waiter, WaiterId};
use super::view::{Leaves, OnFlash};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::units::{Lpn, PageSpan, RequestId};

/// The write buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Fixed rules that follow from the setup.
    pub(crate) rules: BufferRules,
    /// All pages in the buffer.
    pub(crate) pages: Pages,
    /// The evictable ones.
    listed: Listed,
    /// Writes that wait to come in.
    pub(crate) queue: EntryQueue,
    /// Requests that wait for pages to be on flash.
    waiters: Waiters,
    /// Write-backs under way.
    pub(crate) under_way: UnderWay,
    counts: BufferCounts,
}

impl Buffer {
    /// Returns an empty buffer.
    #[must_use]
    pub fn new(setup: BufferSetup) -> Buffer {
        Buffer {
            rules: BufferRules::of(&setup),
            pages: Pages::new(&setup),
            queue: EntryQueue::new(setup.space),
            listed: Listed::new(setup),
            waiters: Waiters::default(),
            under_way: UnderWay::default(),
            counts: BufferCounts::default(),
        }
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> &BufferCounts {
        &self.counts
    }

    /// Whether a write is acknowledged when it is in the buffer.
    #[inline]
    #[must_use]
    pub fn acknowledges_early(&self) -> bool {
        self.listed.policy.acknowledges_early()
    }

    /// Whether the pages in the buffer were acknowledged when they came in.
    #[inline]
    #[must_use]
    pub fn has_acknowledged(&self) -> bool {
        self.acknowledges_early() && !self.pages.passing
    }

    /// Whether requests are taken in as a whole, when all their pages fit, and each page in a slot of its own even if
    /// an older version is in the buffer.
    #[inline]
    #[must_use]
    pub fn keeps_versions(&self) -> bool {
        self.listed.policy.keeps_versions()
    }

    /// Pages in the buffer, each version counted.
    #[inline]
    #[must_use]
    pub fn pages_held(&self) -> usize {
        self.pages.len()
    }

    /// Capacity in whole pages.
    #[must_use]
    pub fn capacity_pages(&self) -> u32 {
        self.pages.shape.capacity
    }

    /// Pages in the buffer that are not clean.
    #[must_use]
    pub fn pages_left(&self) -> usize {
        self.pages_held() - self.listed.clean as usize
    }

    /// The page in a slot.
    #[inline]
    #[must_use]
    pub fn page(&self, slot: SlotId) -> &Page {
        &self.pages[slot]
    }

    /// The slot of the newest version of a logical page.
    #[inline]
    #[must_use]
    pub fn find(&self, page: Lpn) -> Option<SlotId> {
        self.pages.find(page)
    }

    /// Resets slot numbers, so that new pages are numbered from zero again: the order of a host flush depends on
    /// them. The buffer must be empty.
    pub fn rest(&mut self) {
        let Buffer { rules: _, pages, listed, queue, waiters, under_way, counts: _ } = self;
        pages.rest();
        listed.rest();
        queue.rest();
        waiters.rest();
        under_way.rest();
    }

    /// Saves the policy's state. Nothing else of a buffer at rest is saved.
    pub fn save(&self, out: &mut ImageWriter) {
        self.listed.policy.save(out);
    }

    /// Loads the policy's state.
    ///
    /// # Errors
    /// The damage, if the state is not valid.
    pub fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.listed.policy.load(from)
    }

    /// Room taken, including holes.
    #[inline]
    pub(super) fn held(&self) -> u32 {
        self.pages.held + self.listed.policy.holes()
    }

    /// Room left.
    #[inline]
    pub(super) fn free(&self) -> u32 {
        self.rules.capacity.map_or(0, |capacity| capacity.saturating_sub(self.held()))
    }

    /// Whether there is room for `more` now. A new write queues behind those that wait already.
    #[inline]
    pub(super) fn has_room(&self, more: u32, turn: Entering) -> bool {
        let Some(capacity) = self.rules.capacity else { return true };
        let passes = turn == Entering::Waited || self.queue.is_empty();
        self.held() + more <= capacity && (passes || more == 0)
    }

    /// Takes in a page of a write, or returns `None` if it has to wait.
    #[inline]
    pub fn write(
        &mut self,
        span: PageSpan,
        tag: u8,
        turn: Entering,
        flash: &dyn OnFlash,
    ) -> Option<SlotId> {
        if self.keeps_versions() {
            return Some(self.write_version(span, tag, flash));
        }
        match self.find(span.page) {
            Some(_) if !self.acknowledges_early() => None,
            Some(slot) => self.write_again(slot, span, tag, turn, flash),
            None => {
                let more = self.pages.space.of(span.sectors);
                self.has_room(more, turn).then(|| self.insert(span, tag, flash))
            }
        }
    }

    /// Writes a page that is in the buffer already.
    #[inline]
    fn write_again(
        &mut self,
        slot: SlotId,
        span: PageSpan,
        tag: u8,
        turn: Entering,
        flash: &dyn OnFlash,
    ) -> Option<SlotId> {
        let space = self.pages.space;
        let listed = self.pages.is_listed(slot);
        let page = &mut self.pages[slot];
        let (before, held) = ((page.dirty, page.clean), space.of_page(page));
        page.dirty = page.dirty.and_also(span.sectors);
        page.clean = page.clean.without(span.sectors);
        let more = space.of_page(page) - held;
        // A policy that appends leaves a hole.
        let moves = self.listed.policy.appends() && listed;
        let hole = u32::from(moves && !self.listed.keeps_place(&self.pages[slot]));
        if more + hole > 0 && !self.has_room(more + hole, turn) {
            (self.pages[slot].dirty, self.pages[slot].clean) = before;
            return None;
        }
        self.pages.held += more;
        let page = &mut self.pages[slot];
        page.tag = tag;
        // For a page that is only padding for a block, the buffer had no data.
        let was_here = !page.padding || !before.0.is_empty();
        self.counts.write_hits += u64::from(was_here);
        self.counts.write_misses += u64::from(!was_here);
        if listed {
            self.listed.written(slot, before.0, &self.pages, flash);
        } else if self.pages[slot].writing_back.is_empty() {
            self.listed.enter(slot, &self.pages, flash);
        }
        // A page under way becomes evictable again when its write-back ends.
        Some(slot)
    }

    /// Takes in a page as a version of its own, even if there is an older one. [`Self::let_in`] has made sure that
    /// there is room.
    #[cold]
    fn write_version(&mut self, span: PageSpan, tag: u8, flash: &dyn OnFlash) -> SlotId {
        let older = self.find(span.page);
        let slot = self.insert(span, tag, flash);
        self.pages.chain(slot, older);
        slot
    }

    #[inline(always)]
    fn insert(&mut self, span: PageSpan, tag: u8, flash: &dyn OnFlash) -> SlotId {
        self.counts.write_misses += 1;
        let slot = self.pages.insert(Page { dirty: span.sectors, tag, ..Page::of(span.page) });
        self.listed.enter(slot, &self.pages, flash);
        slot
    }

    /// Whether a request of this many pages may come in as a whole now. A request larger than the buffer comes in
    /// when the buffer is empty.
    pub fn let_in(&mut self, pages: u32) -> bool {
        self.rules.capacity.is_none_or(|capacity| self.pages.let_in(pages, capacity))
    }

    /// Counts a read of a page, and tells the policy if the page is evictable.
    #[inline]
    pub fn note_read(&mut self, hit: Option<SlotId>, flash: &dyn OnFlash) {
        match hit {
            Some(slot) => {
                self.counts.read_hits += 1;
                if self.pages.is_listed(slot) {
                    self.listed.read(slot, &self.pages, flash);
                }
            }
            None => self.counts.read_misses += 1,
        }
    }

    /// Makes every page due from now on.
    pub fn write_back_all(&mut self) {
        self.rules.write_back_above = 0;
    }

    /// Deallocates a page, or a version of it. Dirty sectors are dropped, and a write-back under way will be
    /// discarded. Hands requests that waited for the dropped data to `wake`.
    pub fn trim(&mut self, slot: SlotId, flash: &dyn OnFlash, wake: impl FnMut(RequestId)) {
        if self.pages.is_listed(slot) {
            self.listed.leave(slot, &self.pages, flash, Leaves::Deallocated);
        }
        let forgotten = self.waiters.take_dirty(&mut self.pages[slot]);
        self.pages.change(slot, |page| (page.dirty, page.clean) = Default::default());
        if self.pages[slot].writing_back.is_empty() {
            self.pages.remove(slot);
        } else {
            self.pages[slot].discard = true;
        }
        self.waiters.wake_all(forgotten, wake);
    }
}
