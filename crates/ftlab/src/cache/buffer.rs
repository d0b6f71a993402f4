//! The pages in the controller's DRAM, and what is known of each: which sectors are newer than flash,
//! which are on their way to it, and which requests wait for that.
//!
//! A page has at most one write-back under way. New data that arrives meanwhile stays behind as dirty
//! and is written back afterwards, so that copies of a page reach flash in the order of the writes. A buffer
//! that absorbs nothing ([`Gating`](super::Gating)) keeps each version of a page in a slot of its own;
//! the oldest goes first.
//!
//! [`Buffer`] is made of parts that own their state: the [`Pages`] that are in, those that are [`Listed`] with the
//! policy, the [`EntryQueue`], the [`Waiters`] for flash, what is [`UnderWay`]. What comes in, leaves or is counted
//! concerns several of them, and is done here.

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

/// The buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// What follows from the setup.
    pub(crate) rules: BufferRules,
    /// What is in.
    pub(crate) pages: Pages,
    /// What of it may be evicted.
    listed: Listed,
    /// Who waits to come in.
    pub(crate) queue: EntryQueue,
    /// Who waits for pages to be on flash.
    waiters: Waiters,
    /// What is on its way there.
    pub(crate) under_way: UnderWay,
    /// What was done so far.
    counts: BufferCounts,
}

impl Buffer {
    /// An empty buffer.
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

    /// What it did so far.
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

    /// Whether what is in the buffer at present was acknowledged when it came in.
    #[inline]
    #[must_use]
    pub fn has_acknowledged(&self) -> bool {
        self.acknowledges_early() && !self.pages.passing
    }

    /// Whether requests come in as a whole, when all their pages fit, and each page by itself, though
    /// there is an older version.
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

    /// Whole pages that fit.
    #[must_use]
    pub fn capacity_pages(&self) -> u32 {
        self.pages.shape.capacity
    }

    /// Pages in the buffer that are not on flash as they are.
    #[must_use]
    pub fn pages_left(&self) -> usize {
        self.pages_held() - self.listed.clean as usize
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
        self.pages.find(page)
    }

    /// Forgets the places of pages that have left, so that those to come are numbered from the first on:
    /// a host flush goes by their numbers. For a buffer that holds nothing.
    pub fn rest(&mut self) {
        let Buffer { rules: _, pages, listed, queue, waiters, under_way, counts: _ } = self;
        pages.rest();
        listed.rest();
        queue.rest();
        waiters.rest();
        under_way.rest();
    }

    /// Writes what the policy remembers; of a buffer at rest, nothing else outlives.
    pub fn save(&self, out: &mut ImageWriter) {
        self.listed.policy.save(out);
    }

    /// Takes up what the policy remembered.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        self.listed.policy.load(from)
    }

    /// What is held, holes included.
    #[inline]
    pub(super) fn held(&self) -> u32 {
        self.pages.held + self.listed.policy.holes()
    }

    /// What fits beside what is held.
    #[inline]
    pub(super) fn free(&self) -> u32 {
        self.rules.capacity.map_or(0, |capacity| capacity.saturating_sub(self.held()))
    }

    /// Whether so much more comes in now. What comes anew stays behind writes that wait already.
    #[inline]
    pub(super) fn has_room(&self, more: u32, turn: Entering) -> bool {
        let Some(capacity) = self.rules.capacity else { return true };
        let passes = turn == Entering::Waited || self.queue.is_empty();
        self.held() + more <= capacity && (passes || more == 0)
    }

    /// Takes a page of a write in, or returns none if it has to wait.
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

    /// A write of a page that is there.
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
        // What is appended leaves a hole.
        let moves = self.listed.policy.appends() && listed;
        let hole = u32::from(moves && !self.listed.keeps_place(&self.pages[slot]));
        if more + hole > 0 && !self.has_room(more + hole, turn) {
            (self.pages[slot].dirty, self.pages[slot].clean) = before;
            return None;
        }
        self.pages.held += more;
        let page = &mut self.pages[slot];
        page.tag = tag;
        // Of a page that only passes through, to fill up a block, nothing was here.
        let was_here = !page.padding || !before.0.is_empty();
        self.counts.write_hits += u64::from(was_here);
        self.counts.write_misses += u64::from(!was_here);
        if listed {
            self.listed.written(slot, before.0, &self.pages, flash);
        } else if self.pages[slot].writing_back.is_empty() {
            self.listed.enter(slot, &self.pages, flash);
        }
        // A page on its way is listed again when its write-back is done.
        Some(slot)
    }

    /// A page comes in by itself, even if there is an older version; there is [room](Self::let_in) for it.
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

    /// Whether a request of so many pages comes in as a whole now. One that is larger than the buffer comes
    /// in when nothing else is there.
    pub fn let_in(&mut self, pages: u32) -> bool {
        self.rules.capacity.is_none_or(|capacity| self.pages.let_in(pages, capacity))
    }

    /// Counts a read of a page, and tells the policy if the page was there.
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

    /// From now on every page is due.
    pub fn write_back_all(&mut self) {
        self.rules.write_back_above = 0;
    }

    /// Deallocates a page, or a version of it: what is dirty is forgotten, what is on its way will be discarded. Requests
    /// that waited for the forgotten data are handed to `wake`.
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
