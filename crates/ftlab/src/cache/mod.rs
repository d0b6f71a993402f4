//! The controller's DRAM: every write passes through it, and reads may stay in a cache of their own ([`read`]).
//!
//! [`Buffer`] owns the pages and what is known of them; the policy ([`WriteBuffer`], a seam) only says
//! which page goes to flash next, and the core writes it back. Without a write buffer a page is staged
//! here just until it is programmed, and the host is told then.

mod ad_lru;
mod aged;
mod append;
mod bit_tree;
mod block_options;
mod blocks;
mod bplru;
mod buffer;
mod cflru;
mod dram_options;
mod ex_lru;
mod fab;
mod fifo;
mod gating;
mod ghosts;
mod line;
mod lookup;
mod lru;
mod lru_wsr;
mod marks;
mod none;
mod order;
mod page;
mod prlru;
mod prlru_adaptive;
mod queues;
mod read;
mod shadows;
#[cfg(test)]
mod tests;
mod two_q;
mod two_qw_clock;
mod view;
pub use ad_lru::AdLru;
pub use append::{Append, AppendOptions};
pub use block_options::BlockOptions;
pub use bplru::Bplru;
pub use buffer::{Buffer, BufferCounts, BufferSetup, Gate, Space, Turn, Waiting};
pub use cflru::Cflru;
pub use dram_options::{BufferOptions, DramOptions};
pub use ex_lru::ExLru;
pub use fab::Fab;
pub use fifo::Fifo;
pub use gating::{Gating, GatingOptions, USUAL_CAPACITY};
pub use lru::Lru;
pub use lru_wsr::LruWsr;
pub use none::WriteThrough;
pub use page::{Page, SlotId};
pub use prlru::{Pack, Prlru, PrlruOptions, Rules};
pub use prlru_adaptive::{AdaptiveRules, PrlruAdaptive, PrlruAdaptiveOptions};
pub use read::{
    CachePlace, LruReads, LruReadsOptions, NoReads, ReadCache, ReadCacheChoice, ReadCacheCounts,
    ReadCacheSetup, ReadOrder,
};
pub use two_q::TwoQ;
pub use two_qw_clock::{ClockShape, TwoQwClock};
pub use view::{BufferView, Eviction, Leaves, OnFlash, Shape};

use crate::options::Switch;
use crate::policy::seam;
use crate::units::Ratio;

seam! {
    /// Says which page of the buffer is written back next.
    pub enum WriteBuffer ("cache.policy" = "none") as WriteBufferChoice of OfBuffer, with buffer_policy {
        None(WriteThrough),
        Lru(Lru),
        Gating(Gating),
        Fifo(Fifo),
        Cflru(Cflru),
        LruWsr(LruWsr),
        Fab(Fab),
        Bplru(Bplru),
        AdLru(AdLru),
        TwoQ(TwoQ),
        TwoQwClock(TwoQwClock),
        ExLru(ExLru),
        Prlru(Prlru),
        PrlruAdaptive(PrlruAdaptive),
        Append(Append),
    }
}

/// What is programmed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Pages on one flash page.
    OnFlashPage,
    /// Flash pages on the planes of a die.
    InRow,
}

/// The DRAM of a write buffer, and when it is written back.
#[derive(Clone, Copy, Debug)]
pub struct Dram<'a> {
    /// Its size.
    pub options: &'a DramOptions,
    /// What the size counts.
    pub space: Space,
    /// Whether pages that were read from flash stay.
    pub keeps_reads: bool,
    /// The share of it above which what is dirty is written back.
    pub write_back_start: Ratio,
    /// Programs under way at once, as a mean over the dies; none if it is one for each plane.
    pub programs_per_die: Option<u32>,
    /// Flash pages that go together, the next ones when all of these have arrived; none if each goes by itself.
    pub flush_pages: Option<u32>,
}

impl Dram<'_> {
    /// Flash pages on their way to flash at once, at the most, on so many dies and planes, in rows of so
    /// many. A flush may be smaller than a row, but a row has to be allowed on its way.
    #[must_use]
    pub fn programs_in_flight(&self, dies: u64, planes: u64, row: u64) -> u64 {
        match (self.flush_pages, self.programs_per_die) {
            (Some(pages), _) => u64::from(pages).max(row),
            (None, Some(each)) => dies * u64::from(each) * row,
            (None, None) => planes,
        }
    }
}

/// What the options of a policy say of the buffer that it orders.
pub trait OfBuffer {
    /// The DRAM of the buffer, if the policy has one.
    fn dram(&self) -> Option<Dram<'_>>;

    /// How write-backs begin, if they do so by planes.
    fn gate(&self) -> Option<Gate> {
        None
    }

    /// Whether it ever packs two pages into one, which takes a mapping that knows of fragments.
    fn packs(&self) -> bool {
        false
    }
}

impl OfBuffer for BufferOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        Some(Dram {
            options: &self.dram,
            space: self.space,
            keeps_reads: self.keep_reads == Switch::On,
            write_back_start: self.write_back_start,
            programs_per_die: Some(self.programs_per_die),
            flush_pages: Some(self.write_back_together).filter(|&pages| pages > 1),
        })
    }
}

impl WriteBufferChoice {
    /// The DRAM of the buffer, if the policy has one.
    #[must_use]
    pub fn dram(&self) -> Option<Dram<'_>> {
        self.options().dram()
    }

    /// How write-backs begin, if they do so by planes.
    #[must_use]
    pub fn gate(&self) -> Option<Gate> {
        self.options().gate()
    }

    /// Whether it packs two pages into one.
    #[must_use]
    pub fn packs(&self) -> bool {
        self.options().packs()
    }
}

impl WriteBuffer {
    /// Whether a write is acknowledged when it is in the buffer, rather than when it is on flash.
    #[must_use]
    pub fn acknowledges_early(&self) -> bool {
        !matches!(self, WriteBuffer::None(_))
    }

    /// Whether each write of a page is a version of its own, and requests come in as a whole.
    #[inline]
    #[must_use]
    pub fn gathers(&self) -> bool {
        matches!(self, WriteBuffer::Gating(_))
    }

    /// Whether what is written again takes another place, and leaves a hole in its own.
    #[inline]
    #[must_use]
    pub fn appends(&self) -> bool {
        matches!(self, WriteBuffer::Append(_))
    }

    /// Places of the buffer that are holes.
    #[inline]
    #[must_use]
    pub fn holes(&self) -> u32 {
        if let WriteBuffer::Append(policy) = self { policy.holes() } else { 0 }
    }

    /// A flush of so many flash pages begins.
    pub fn begin_flush(&mut self, pages: u32) {
        if let WriteBuffer::Append(policy) = self {
            policy.begin_flush(pages);
        }
    }

    /// Whether what is evicted next must not share a flash page with what was before.
    #[inline]
    #[must_use]
    pub fn begins_page(&self) -> bool {
        if let WriteBuffer::Append(policy) = self { policy.begins_page() } else { false }
    }

    /// Whether what is evicted next begins another block.
    #[inline]
    #[must_use]
    pub fn begins_block(&self) -> bool {
        self.evicts_blocks() && !self.unfinished()
    }

    /// A page may be evicted from now on: it came in, has new data after a write-back, or was read and
    /// stays.
    #[inline]
    pub fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>) {
        buffer_policy!(self, policy => policy.inserted(slot, view));
    }

    /// A page that may be evicted was written: again, or for the first time since it was read.
    #[inline]
    pub fn written(&mut self, slot: SlotId, view: &BufferView<'_>) {
        buffer_policy!(self, policy => policy.written(slot, view));
    }

    /// A page that may be evicted was read.
    #[inline]
    pub fn read(&mut self, slot: SlotId, view: &BufferView<'_>) {
        buffer_policy!(self, policy => policy.read(slot, view));
    }

    /// A page may no longer be evicted. What is known of it is still as it was.
    #[inline]
    pub fn removed(&mut self, slot: SlotId, view: &BufferView<'_>, why: Leaves) {
        buffer_policy!(self, policy => policy.removed(slot, view, why));
    }

    /// What is evicted next. It is, unless it is used or leaves in another way before: then the policy is asked
    /// again, and what it did for the choice stays done.
    #[inline]
    #[must_use]
    pub fn choose(&mut self, view: &BufferView<'_>) -> Option<Eviction> {
        buffer_policy!(self, policy => policy.choose(view))
    }

    /// The device came to rest, and may be switched off: what is not saved is forgotten.
    pub fn rest(&mut self) {
        if let WriteBuffer::PrlruAdaptive(policy) = self {
            policy.rest();
        }
    }

    /// Whether what is evicted is a block of pages at a time.
    #[inline]
    #[must_use]
    pub fn evicts_blocks(&self) -> bool {
        matches!(self, WriteBuffer::Fab(_) | WriteBuffer::Bplru(_))
    }

    /// Whether an eviction that was begun consists of more: it goes on though there be room.
    #[inline]
    #[must_use]
    pub fn unfinished(&self) -> bool {
        buffer_policy!(self, policy => policy.unfinished())
    }

    /// The first of all pages that may be evicted, about in the order in which they would be.
    #[inline]
    #[must_use]
    pub fn first(&self) -> Option<SlotId> {
        buffer_policy!(self, policy => policy.first())
    }

    /// The page after `slot` in that order.
    #[inline]
    #[must_use]
    pub fn after(&self, slot: SlotId) -> Option<SlotId> {
        buffer_policy!(self, policy => policy.after(slot))
    }
}
