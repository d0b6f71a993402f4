//! No write buffer: a page is written back as soon as it comes in, and the write is acknowledged
//! when it is on flash.

use super::order::Order;
use super::{
    BufferView, Dram, Eviction, Leaves, OfBuffer, SlotId, WriteBufferFacts, WriteBufferPolicy,
};
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};

/// Pages in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct WriteThrough {
    order: Order,
}

impl Policy for WriteThrough {
    const NAME: &'static str = "none";
    const SUMMARY: &'static str = "no write buffer: a write is acknowledged when it is on flash";
    const SOURCE: &'static str = "textbook";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        WriteThrough::default()
    }

    keeps_nothing!(WriteThrough { order });
}

impl WriteBufferFacts for WriteThrough {
    fn keeps_order(_options: &Self::Options) -> bool {
        true
    }
}

impl OfBuffer for NoOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        None
    }
}

impl WriteBufferPolicy for WriteThrough {
    fn passes_in_order(&self) -> bool {
        true
    }

    fn inserted(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.order.push_newest(slot);
    }

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

    fn acknowledges_early(&self) -> bool {
        false
    }

    #[inline]
    fn lets_pass(&self) -> bool {
        true
    }
}
