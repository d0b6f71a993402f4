//! LRU-WSR: LRU with a second chance for dirty pages that were used again. When a dirty page is least
//! recently used, it is evicted only if it is cold; otherwise it becomes cold and counts as most recently
//! used. A use makes a page warm again. A clean page gets no second chance.
//!
//! Source: Jung, Shim, Park, Kang, Cha, "LRU-WSR: integration of LRU and writes sequence reordering for
//! flash memory", IEEE Transactions on Consumer Electronics 54(3), 2008. The text was not available; that a
//! page is cold at first follows the description in the PRLRU paper, section 2.
//!
//! Each move in `choose` is paid for by an earlier use, so every operation takes amortised constant time.

use super::marks::Marks;
use super::order::Order;
use super::{
    BufferOptions, BufferView, Eviction, Leaves, SlotId, WriteBufferFacts, WriteBufferPolicy,
};
use crate::image::keeps_nothing;
use crate::policy::{Parts, Policy};

/// Pages by last use or second chance.
#[derive(Clone, Debug, Default)]
pub struct LruWsr {
    order: Order,
    cold: Marks<bool>,
}

impl Policy for LruWsr {
    const NAME: &'static str = "lru-wsr";
    const SUMMARY: &'static str = "LRU with a second chance for dirty pages that were used again";
    const SOURCE: &'static str = "Jung et al., LRU-WSR, IEEE Trans. Consumer Electronics 2008";
    type Options = BufferOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        LruWsr::default()
    }

    keeps_nothing!(LruWsr { order, cold });
}

impl WriteBufferFacts for LruWsr {}

impl LruWsr {
    fn renew(&mut self, slot: SlotId, cold: bool) {
        self.order.remove(slot);
        self.order.push_newest(slot);
        self.cold.set(slot, cold);
    }
}

impl WriteBufferPolicy for LruWsr {
    fn inserted(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.order.push_newest(slot);
        self.cold.set(slot, true);
    }

    fn written(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.renew(slot, false);
    }

    fn read(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.renew(slot, false);
    }

    fn removed(&mut self, slot: SlotId, _view: &BufferView<'_>, _why: Leaves) {
        self.order.remove(slot);
    }

    fn choose(&mut self, view: &BufferView<'_>) -> Option<Eviction> {
        loop {
            let oldest = self.first()?;
            if self.cold.get(oldest) || view.is_clean(oldest) {
                return Some(Eviction::Page(oldest));
            }
            self.renew(oldest, true);
        }
    }

    fn first(&self) -> Option<SlotId> {
        self.order.oldest()
    }

    fn after(&self, slot: SlotId) -> Option<SlotId> {
        self.order.after(slot)
    }
}
