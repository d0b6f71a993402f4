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
mod listed;
mod pages;
mod versions;
mod waiting;
mod write_back;

pub use self::pages::Space;
pub use self::waiting::Waiting;

use self::listed::Listed;
use self::pages::Pages;
use self::waiting::{EntryQueue, Waiters};
use self::write_back::UnderWay;
use super::page::{Page, SlotId, Waiter, WaiterId};
use super::view::{Leaves, OnFlash, Shape};
use super::{WriteBuffer, WriteBufferPolicy};
use crate::image::{Damage, Reader, Writer};
use crate::units::{Lpn, Nanos, RequestId};

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

/// What follows from the setup of a buffer and holds all along.
#[derive(Clone, Debug)]
pub struct BufferRules {
    /// What fits; none if pages are only staged.
    pub capacity: Option<u32>,
    /// Whether pages that were read from flash stay as clean ones.
    pub keeps_reads: bool,
    /// Write-back begins when more than this is dirty.
    pub write_back_above: u32,
    /// Flash pages on their way to flash at once, at the most.
    pub programs_in_flight: Option<u32>,
    /// Flash pages that are written back together, where so many are dirty.
    pub row: u32,
    /// Flash pages that go together, the next ones when all of these have arrived.
    pub flush_pages: Option<u32>,
    /// How write-backs begin, if they do so by planes.
    pub gate: Option<Gate>,
    /// Moving a request's data to or from DRAM.
    pub latency: Nanos,
}

impl BufferRules {
    fn of(setup: &BufferSetup) -> BufferRules {
        BufferRules {
            capacity: setup.capacity,
            keeps_reads: setup.keeps_reads,
            write_back_above: setup.write_back_above,
            programs_in_flight: setup.programs_in_flight,
            row: setup.row,
            flush_pages: setup.flush_pages,
            gate: setup.gate,
            latency: setup.latency,
        }
    }
}

/// The buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// What holds all along.
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
    /// there be an older version.
    #[inline]
    #[must_use]
    pub fn gathers(&self) -> bool {
        self.listed.policy.gathers()
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
    pub fn save(&self, out: &mut Writer) {
        self.listed.policy.save(out);
    }

    /// Takes up what the policy remembered.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damage> {
        self.listed.policy.load(from)
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
        if self.pages[slot].flushing.is_empty() {
            self.pages.remove(slot);
        } else {
            self.pages[slot].discard = true;
        }
        self.waiters.wake_all(forgotten, wake);
    }
}
