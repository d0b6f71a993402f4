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
pub use buffer::{Buffer, BufferCounts, BufferSetup, Entering, Gate, Space, WaitingPage};
pub use cflru::Cflru;
pub use dram_options::{BufferOptions, DramOptions};
pub use ex_lru::ExLru;
pub use fab::Fab;
pub use fifo::Fifo;
pub use gating::{Gating, GatingOptions};
pub use lru::Lru;
pub use lru_wsr::LruWsr;
pub use none::WriteThrough;
pub use page::{Page, SlotId};
pub use prlru::{Pack, Prlru, PrlruOptions, Rules};
pub use prlru_adaptive::{AdaptiveRules, PrlruAdaptive, PrlruAdaptiveOptions};
#[cfg(feature = "external-policies")]
pub use read::ExternalReadOrder;
pub use read::{
    CachePlace, FrameId, LruReads, LruReadsOptions, NoReads, ReadCache, ReadCacheChoice,
    ReadCacheCounts, ReadCacheFacts, ReadCacheSetup, ReadOrder, ReadOrderPolicy,
};
pub use two_q::TwoQ;
pub use two_qw_clock::{ClockShape, TwoQwClock};
pub use view::{BufferShape, BufferView, Eviction, Leaves, OnFlash};

use crate::options::Switch;
use crate::policy::{contract, seam};
use crate::units::{Bytes, Ratio};

seam! {
    /// Says which page of the buffer is written back next.
    pub enum WriteBuffer ("cache.policy" = "none") as WriteBufferChoice of OfBuffer, with buffer_policy, or ExternalWriteBuffer {
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
    pub write_back_together: Option<u32>,
}

impl Dram<'_> {
    /// Flash pages on their way to flash at once, at the most, on so many dies and planes, in rows of so
    /// many. They may be fewer than a row, but a row has to be allowed on its way.
    #[must_use]
    pub fn programs_in_flight(&self, dies: u64, planes: u64, row: u64) -> u64 {
        match (self.write_back_together, self.programs_per_die) {
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

    /// The path of the option that says whether it packs.
    fn pack_path(&self) -> &'static str {
        "cache.pack"
    }

    /// The size of the DRAM and what it usually is, if that is not what buffers have in general.
    fn usual_capacity(&mut self) -> Option<UsualCapacity<'_>> {
        None
    }
}

/// The size of a buffer that has one of its own if nobody sets it.
#[derive(Debug)]
pub struct UsualCapacity<'a> {
    /// What is configured.
    pub capacity: &'a mut Bytes,
    /// What it is unless it is set.
    pub usual: Bytes,
    /// Why, in a few words.
    pub why: &'static str,
}

impl OfBuffer for BufferOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        Some(Dram {
            options: &self.dram,
            space: self.space,
            keeps_reads: self.keep_reads == Switch::On,
            write_back_start: self.write_back_start,
            programs_per_die: Some(self.programs_per_die),
            write_back_together: Some(self.write_back_together).filter(|&pages| pages > 1),
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

    /// The path of the option that says so.
    #[must_use]
    pub fn pack_path(&self) -> &'static str {
        self.options().pack_path()
    }

    /// The size of the DRAM, if it has a usual one of its own.
    pub fn usual_capacity(&mut self) -> Option<UsualCapacity<'_>> {
        self.options_mut().usual_capacity()
    }
}

contract! {
    /// What a write buffer decides. It orders slots, holds no data and writes nothing back. It gets a read-only view each
    /// time.
    pub trait WriteBufferPolicy for WriteBuffer, by buffer_policy, or ExternalWriteBuffer {
        /// Whether a write is acknowledged when it is in the buffer, rather than when it is on flash.
        #[must_use]
        fn acknowledges_early(&self) -> bool {
            true
        }

        /// Whether a page that fills a flash page, while the buffer is empty, may go to flash without that the policy
        /// hears of it.
        #[must_use]
        #[inline]
        fn lets_pass(&self) -> bool {
            false
        }

        /// Whether pages that are written once each leave in the order in which they came, and nothing is remembered of
        /// those that have left.
        #[must_use]
        fn passes_in_order(&self) -> bool {
            false
        }

        /// Whether each write of a page is a version of its own, and requests come in as a whole.
        #[must_use]
        #[inline]
        fn keeps_versions(&self) -> bool {
            false
        }

        /// Whether what is written again takes another place, and leaves a hole in its own.
        #[must_use]
        #[inline]
        fn appends(&self) -> bool {
            false
        }

        /// Places of the buffer that are holes.
        #[must_use]
        #[inline]
        fn holes(&self) -> u32 {
            0
        }

        /// The write-back of so many flash pages begins.
        fn begin_write_backs(&mut self, _pages: u32) {}

        /// Whether what is evicted next must not share a flash page with what was before.
        #[must_use]
        #[inline]
        fn begins_page(&self) -> bool {
            false
        }

        /// Whether what is evicted is a block of pages at a time.
        #[must_use]
        #[inline]
        fn evicts_blocks(&self) -> bool {
            false
        }

        /// A page may be evicted from now on: it came in, has new data after a write-back, or was read and
        /// stays.
        fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>);

        /// A page that may be evicted was written: again, or for the first time since it was read.
        fn written(&mut self, slot: SlotId, view: &BufferView<'_>);

        /// A page that may be evicted was read.
        fn read(&mut self, slot: SlotId, view: &BufferView<'_>);

        /// A page may no longer be evicted. What is known of it is still as it was.
        fn removed(&mut self, slot: SlotId, view: &BufferView<'_>, why: Leaves);

        /// What is evicted next. It is, unless it is used or leaves in another way before: then the policy is asked
        /// again, and what it did for the choice stays done.
        #[must_use]
        fn choose(&mut self, view: &BufferView<'_>) -> Option<Eviction>;

        /// The device came to rest, and may be switched off: what is not saved is forgotten.
        fn rest(&mut self) {}

        /// Whether an eviction that was begun consists of more: it goes on even if there is room.
        #[must_use]
        #[inline]
        fn unfinished(&self) -> bool {
            false
        }

        /// The first of all pages that may be evicted, about in the order in which they would be.
        #[must_use]
        fn first(&self) -> Option<SlotId>;

        /// The page after `slot` in that order.
        #[must_use]
        fn after(&self, slot: SlotId) -> Option<SlotId>;
    }
}

contract! {
    /// What is known of a write buffer before it is built, whatever its options ([`OfBuffer`] has what those say).
    pub trait WriteBufferFacts of WriteBufferChoice, by buffer_policy {
        /// Whether pages leave in an order that is fixed when they come or are used, rather than decided anew for each.
        fn keeps_order(_options: &Self::Options) -> bool {
            false
        }

        /// Whether what is written again takes another place ([`WriteBufferPolicy::appends`]).
        fn appends(_options: &Self::Options) -> bool {
            false
        }
    }
}

impl WriteBuffer {
    /// Whether what is evicted next begins another block.
    #[inline]
    #[must_use]
    pub fn begins_block(&self) -> bool {
        self.evicts_blocks() && !self.unfinished()
    }
}
