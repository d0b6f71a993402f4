//! LRU: the least recently used page is evicted first.

use super::order::Order;
use super::{
    BufferOptions, BufferView, Eviction, Leaves, SlotId, WriteBufferFacts, WriteBufferPolicy,
};
use crate::image::keeps_nothing;
use crate::policy::{Parts, Policy};

/// Pages by last use.
#[derive(Clone, Debug, Default)]
pub struct Lru {
    order: Order,
}

impl Policy for Lru {
    const NAME: &'static str = "lru";
    const SUMMARY: &'static str =
        "write-back buffer, the least recently used page is evicted first";
    const SOURCE: &'static str = "textbook";
    type Options = BufferOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Lru::default()
    }

    keeps_nothing!(Lru { order });
}

impl WriteBufferFacts for Lru {
    fn keeps_order(_options: &Self::Options) -> bool {
        true
    }
}

impl WriteBufferPolicy for Lru {
    fn passes_in_order(&self) -> bool {
        true
    }

    fn inserted(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.order.push_newest(slot);
    }

    #[inline]
    fn written(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.order.remove(slot);
        self.order.push_newest(slot);
    }

    #[inline]
    fn read(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.written(slot, view);
    }

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
}
