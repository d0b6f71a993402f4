//! A gating buffer: a small FIFO queue that gathers writes so that all planes have pages to program at the
//! same time. It does not absorb writes: a page that is written again is a new version, which goes to
//! flash by itself after the older one.
//!
//! Source: Huang, "On Channel Management in Advanced Solid-State Disk Architecture", National Chiao Tung
//! University 2010, section 3.3 (`cache.in_order`: chapter 5). There a write-back is one write cycle of all
//! channels, for which every request waits. Here this holds with `cache.in_order`, or if write cycles run
//! in lock-step; otherwise each plane takes its oldest page whenever it has none under way and a request
//! waits for room. The unit is the plane rather than the channel, which is the same with one plane per
//! channel. The thesis does not define what happens to a request larger than the buffer. Here it waits
//! until the buffer is empty, passes through as a whole, and is acknowledged when it is on flash.
//!
//! Only writes are kept in order. A trim takes effect at once, ahead of older writes in the buffer.
//!
//! `cache/buffer.rs` handles requests and versions for this policy, and `device/write/cycle.rs` decides which
//! pages go to flash together.

use super::order::Order;
use super::{
    BufferView, Dram, DramOptions, Eviction, Gate, Leaves, OfBuffer, SlotId, Space, UsualCapacity,
    WriteBufferFacts, WriteBufferPolicy,
};
use crate::image::keeps_nothing;
use crate::options::Switch;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::{Bytes, Ratio};

/// Default capacity: eight pages of the thesis's flash. The thesis finds little benefit beyond one page
/// per channel.
const USUAL_CAPACITY: Bytes = Bytes::from_kib(32);

options! {
    /// A gating buffer.
    pub struct GatingOptions at "cache" with { dram: DramOptions } {
        /// Whether pages reach flash in the order in which they were written. Each write cycle is then the
        /// longest run of the oldest pages without two on the same plane. Its pages become current
        /// together, and the next cycle starts when all of them are programmed. The data on flash is
        /// always the state of some earlier time.
        in_order: Switch = "off", source "thesis, chapter 5; off: section 3.3";
    }
}

/// Versions of pages, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Gating {
    order: Order,
}

impl Policy for Gating {
    const NAME: &'static str = "gating";
    const SUMMARY: &'static str = "small queue that gathers writes for all planes and absorbs none";
    const SOURCE: &'static str = "Huang, thesis, NCTU 2010, 3.3 and 5";
    type Options = GatingOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Gating::default()
    }

    keeps_nothing!(Gating { order });
}

impl WriteBufferFacts for Gating {
    fn keeps_order(_options: &Self::Options) -> bool {
        true
    }
}

impl OfBuffer for GatingOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        Some(Dram {
            options: &self.dram,
            space: Space::Pages,
            keeps_reads: false,
            write_back_start: Ratio::ONE,
            programs_per_die: None,
            write_back_together: None,
        })
    }

    fn gate(&self) -> Option<Gate> {
        let in_order = self.in_order.is_on();
        Some(Gate { barrier: in_order, prefix: in_order })
    }

    fn usual_capacity(&mut self) -> Option<UsualCapacity<'_>> {
        let capacity = &mut self.dram.capacity;
        Some(UsualCapacity { capacity, usual: USUAL_CAPACITY, why: "small, for a gating buffer" })
    }
}

impl WriteBufferPolicy for Gating {
    fn inserted(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.order.push_newest(slot);
    }

    /// Never called: a page that is written again becomes a new version.
    fn written(&mut self, _slot: SlotId, _view: &BufferView<'_>) {}

    fn read(&mut self, _slot: SlotId, _view: &BufferView<'_>) {}

    fn removed(&mut self, slot: SlotId, _view: &BufferView<'_>, _why: Leaves) {
        self.order.remove(slot);
    }

    fn choose(&mut self, _view: &BufferView<'_>) -> Option<Eviction> {
        self.order.oldest().map(Eviction::Page)
    }

    fn first(&self) -> Option<SlotId> {
        self.order.oldest()
    }

    fn after(&self, slot: SlotId) -> Option<SlotId> {
        self.order.after(slot)
    }

    #[inline]
    fn keeps_versions(&self) -> bool {
        true
    }
}
