//! The controller's DRAM: the write buffer, which every write passes through, and an optional read cache ([`read`]).
//!
//! [`Buffer`] owns the pages and their state. The policy ([`WriteBuffer`], a seam) only chooses the next page to
//! evict; the core writes it back. Without a write buffer, a page is staged here until it is programmed, and only
//! then is the write acknowledged.

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
    /// Chooses the next page of the buffer to write back.
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

/// How pages are programmed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// As pages on one flash page.
    OnFlashPage,
    /// As flash pages on the planes of a die.
    InRow,
}

/// The DRAM of a write buffer, and the rules of its write-back.
#[derive(Clone, Copy, Debug)]
pub struct Dram<'a> {
    /// The options that set its size.
    pub options: &'a DramOptions,
    /// What the size counts.
    pub space: Space,
    /// Whether pages that are read from flash stay.
    pub keeps_reads: bool,
    /// Share of the buffer above which dirty pages are written back.
    pub write_back_start: Ratio,
    /// Programs under way at once, as a mean over the dies, or `None` for one per plane.
    pub programs_per_die: Option<u32>,
    /// Number of flash pages that are written back together; the next batch starts when all of them are on flash.
    /// `None` if each is written back by itself.
    pub write_back_together: Option<u32>,
}

impl Dram<'_> {
    /// Returns the maximum number of flash pages under way at once, for this many dies and planes and rows of `row`
    /// flash pages. A batch may be smaller than a row, but there must be room for a whole row.
    #[must_use]
    pub fn programs_in_flight(&self, dies: u64, planes: u64, row: u64) -> u64 {
        match (self.write_back_together, self.programs_per_die) {
            (Some(pages), _) => u64::from(pages).max(row),
            (None, Some(each)) => dies * u64::from(each) * row,
            (None, None) => planes,
        }
    }
}

/// What the options of a policy say about the buffer.
pub trait OfBuffer {
    /// The DRAM of the buffer, or `None` if the policy has none.
    fn dram(&self) -> Option<Dram<'_>>;

    /// The rule by which write-backs start, if they start per plane.
    fn gate(&self) -> Option<Gate> {
        None
    }

    /// Whether two pages are ever packed into one. This needs a mapping with fragments.
    fn packs(&self) -> bool {
        false
    }

    /// The path of the option that turns packing on.
    fn pack_path(&self) -> &'static str {
        "cache.pack"
    }

    /// The configured capacity and the policy's own default for it, if it has one.
    fn usual_capacity(&mut self) -> Option<UsualCapacity<'_>> {
        None
    }
}

/// The capacity of a buffer whose policy has its own default for it.
#[derive(Debug)]
pub struct UsualCapacity<'a> {
    /// The configured capacity.
    pub capacity: &'a mut Bytes,
    /// The default.
    pub usual: Bytes,
    /// The reason for the default, in a few words.
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
    /// The DRAM of the buffer, or `None` if the policy has none.
    #[must_use]
    pub fn dram(&self) -> Option<Dram<'_>> {
        self.options().dram()
    }

    /// The rule by which write-backs start, if they start per plane.
    #[must_use]
    pub fn gate(&self) -> Option<Gate> {
        self.options().gate()
    }

    /// Whether two pages are ever packed into one.
    #[must_use]
    pub fn packs(&self) -> bool {
        self.options().packs()
    }

    /// The path of the option that turns packing on.
    #[must_use]
    pub fn pack_path(&self) -> &'static str {
        self.options().pack_path()
    }

    /// The configured capacity and the policy's own default for it, if it has one.
    pub fn usual_capacity(&mut self) -> Option<UsualCapacity<'_>> {
        self.options_mut().usual_capacity()
    }
}

contract! {
    /// The decisions of a write buffer's policy. It orders slots; it holds no data and starts no write-back itself.
    /// Each call gets a read-only view of the buffer.
    pub trait WriteBufferPolicy for WriteBuffer, by buffer_policy, or ExternalWriteBuffer {
        /// Whether a write is acknowledged when it is in the buffer rather than when it is on flash.
        #[must_use]
        fn acknowledges_early(&self) -> bool {
            true
        }

        /// Whether a page that fills a flash page may go straight to flash while the buffer is empty, without any
        /// call to the policy.
        #[must_use]
        #[inline]
        fn lets_pass(&self) -> bool {
            false
        }

        /// Whether pages that are written once leave in the order in which they came in, and leave no trace in the
        /// policy.
        #[must_use]
        fn passes_in_order(&self) -> bool {
            false
        }

        /// Whether each write of a page is a version of its own, and requests are taken in as a whole.
        #[must_use]
        #[inline]
        fn keeps_versions(&self) -> bool {
            false
        }

        /// Whether a page that is written again takes a new place and leaves a hole in its old one.
        #[must_use]
        #[inline]
        fn appends(&self) -> bool {
            false
        }

        /// Number of places in the buffer that are holes.
        #[must_use]
        #[inline]
        fn holes(&self) -> u32 {
            0
        }

        /// Called when a batch of up to `pages` flash pages starts.
        fn begin_write_backs(&mut self, _pages: u32) {}

        /// Whether the next eviction must not share a flash page with the one before.
        #[must_use]
        #[inline]
        fn begins_page(&self) -> bool {
            false
        }

        /// Whether evictions take a whole block of pages.
        #[must_use]
        #[inline]
        fn evicts_blocks(&self) -> bool {
            false
        }

        /// Called when a page becomes evictable: it came in, has new data after a write-back, or was read and stays.
        fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>);

        /// Called when an evictable page is written: again, or for the first time since it was read.
        fn written(&mut self, slot: SlotId, view: &BufferView<'_>);

        /// Called when an evictable page is read.
        fn read(&mut self, slot: SlotId, view: &BufferView<'_>);

        /// Called when a page is no longer evictable. Its state is still unchanged.
        fn removed(&mut self, slot: SlotId, view: &BufferView<'_>, why: Leaves);

        /// Chooses the next eviction. It takes place unless the page is used or leaves in another way first. In that
        /// case the policy is asked again, and any changes that it made for the choice remain.
        #[must_use]
        fn choose(&mut self, view: &BufferView<'_>) -> Option<Eviction>;

        /// Called when the device comes to rest and may be switched off. Drops all state that is not saved.
        fn rest(&mut self) {}

        /// Whether the eviction under way has more pages to evict. It then continues even if there is room.
        #[must_use]
        #[inline]
        fn unfinished(&self) -> bool {
            false
        }

        /// The first evictable page, approximately in eviction order.
        #[must_use]
        fn first(&self) -> Option<SlotId>;

        /// The page after `slot` in that order.
        #[must_use]
        fn after(&self, slot: SlotId) -> Option<SlotId>;
    }
}

contract! {
    /// What is known of a write buffer's policy before it is built. ([`OfBuffer`] covers what depends on options.)
    pub trait WriteBufferFacts of WriteBufferChoice, by buffer_policy {
        /// Whether the order of evictions is fixed when pages come in or are used, rather than decided at each
        /// eviction.
        fn keeps_order(_options: &Self::Options) -> bool {
            false
        }

        /// Whether a page that is written again takes a new place ([`WriteBufferPolicy::appends`]).
        fn appends(_options: &Self::Options) -> bool {
            false
        }

        /// Whether it writes pages that the host did not write, to fill blocks.
        fn pads(_options: &Self::Options) -> bool {
            false
        }
    }
}

impl WriteBuffer {
    /// Whether the next eviction starts another block.
    #[inline]
    #[must_use]
    pub fn begins_block(&self) -> bool {
        self.evicts_blocks() && !self.unfinished()
    }
}
