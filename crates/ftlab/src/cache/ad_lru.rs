//! AD-LRU: two LRU lists, one of cold pages (used once) and one of hot pages (used again while in the
//! buffer). Cold pages are evicted first as long as they exceed a minimum share of the buffer, so the split
//! between the lists adapts to the load. Within a list, the least recently used clean page goes first. If
//! there is none, dirty pages get a second chance: one that was used since its last turn moves to the end of
//! the list instead.
//!
//! Source: Jin, Ou, Härder, Li, "AD-LRU: an efficient buffer replacement algorithm for flash-based
//! databases", Data & Knowledge Engineering 72, 2012, from memory. The minimum is a share of the evictable
//! pages, where the paper's `min_lc` is a share of all frames; both are the same in a full buffer. That
//! coming in counts as a use, and so earns a second chance, is assumed.
//!
//! Clean pages have lists of their own in the same order. Each move in `choose` is paid for by an earlier
//! use, so every operation takes amortised constant time.

use super::marks::Marks;
use super::queues::Queues;
use super::{
    BufferOptions, BufferView, Dram, Eviction, Leaves, OfBuffer, Page, SlotId, WriteBufferFacts,
    WriteBufferPolicy,
};
use crate::image::keeps_nothing;
use crate::options::declare::options;
use crate::policy::{Parts, Policy};
use crate::units::Ratio;

options! {
    /// Cold pages first, and clean ones among them before dirty ones.
    pub struct AdLruOptions at "cache" with { buffer: BufferOptions } {
        /// Minimum share of cold pages: pages used once are evicted first only while they exceed it.
        min_cold: Ratio = "10%", in "0%"..="100%",
            source "min_lc of Jin et al. 2012; the value is assumed";
    }
}

impl OfBuffer for AdLruOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        self.buffer.dram()
    }
}

/// The lists: pages used once, and those used again.
const COLD: usize = 0;
const HOT: usize = 1;
/// Eviction order.
const ORDER: [usize; 2] = [COLD, HOT];

/// Cold and hot pages by last use or second chance, and the clean ones among them.
#[derive(Clone, Debug)]
pub struct AdLru {
    min_cold: Ratio,
    pages: Queues<Page>,
    /// Clean pages, in the same lists and order. A page becomes clean only by coming in, and a clean page
    /// gets no second chance.
    clean: Queues<Page>,
    /// Whether a page was used since its last turn.
    used: Marks<bool>,
}

impl Policy for AdLru {
    const NAME: &'static str = "ad-lru";
    const SUMMARY: &'static str = "cold pages before hot ones, clean before dirty, second chance";
    const SOURCE: &'static str = "Jin et al., AD-LRU, Data & Knowledge Engineering 2012";
    type Options = AdLruOptions;

    fn build(options: &Self::Options, _parts: &Parts<'_>) -> Self {
        AdLru::new(options.min_cold)
    }

    keeps_nothing!(AdLru { min_cold, pages, clean, used });
}

impl WriteBufferFacts for AdLru {}

impl AdLru {
    /// Returns an empty buffer with this minimum share of cold pages.
    #[must_use]
    pub fn new(min_cold: Ratio) -> AdLru {
        AdLru {
            min_cold,
            pages: Queues::new(ORDER.len()),
            clean: Queues::new(ORDER.len()),
            used: Marks::default(),
        }
    }

    /// The list that the next victim comes from.
    fn giver(&self) -> usize {
        let [cold, hot] = ORDER.map(|list| self.pages.len(list));
        let least = self.min_cold.of(u64::from(cold + hot));
        if u64::from(cold) > least || hot == 0 { COLD } else { HOT }
    }
}

impl WriteBufferPolicy for AdLru {
    fn inserted(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.pages.push_newest(COLD, slot);
        if view.is_clean(slot) {
            self.clean.push_newest(COLD, slot);
        }
        self.used.set(slot, true);
    }

    fn written(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.clean.remove(slot);
        self.pages.renew(HOT, slot);
        self.used.set(slot, true);
    }

    fn read(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        if self.clean.queue_of(slot).is_some() {
            self.clean.renew(HOT, slot);
        }
        self.pages.renew(HOT, slot);
        self.used.set(slot, true);
    }

    fn removed(&mut self, slot: SlotId, _view: &BufferView<'_>, _why: Leaves) {
        self.pages.remove(slot);
        self.clean.remove(slot);
    }

    fn choose(&mut self, _view: &BufferView<'_>) -> Option<Eviction> {
        let list = self.giver();
        if let Some(clean) = self.clean.oldest(list) {
            return Some(Eviction::Page(clean));
        }
        loop {
            let oldest = self.pages.oldest(list)?;
            if !self.used.get(oldest) {
                return Some(Eviction::Page(oldest));
            }
            self.used.set(oldest, false);
            self.pages.renew(list, oldest);
        }
    }

    fn first(&self) -> Option<SlotId> {
        self.pages.first_of(&ORDER)
    }

    fn after(&self, slot: SlotId) -> Option<SlotId> {
        self.pages.next_of(&ORDER, slot)
    }
}
