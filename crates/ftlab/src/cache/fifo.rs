//! FIFO: pages are evicted in the order in which they came in, however often they are used.
//!
//! Source: textbook. A page that is written while it is on its way to flash counts as new. Every
//! operation takes constant time.

use super::order::Order;
use super::{
    BufferOptions, BufferView, Eviction, Leaves, SlotId, WriteBufferFacts, WriteBufferPolicy,
};
use crate::image::keeps_nothing;
use crate::policy::{Parts, Policy};

/// Pages in the order in which they came in.
#[derive(Clone, Debug, Default)]
pub struct Fifo {
    order: Order,
}

impl Policy for Fifo {
    const NAME: &'static str = "fifo";
    const SUMMARY: &'static str = "write-back buffer, the page that came in first is evicted first";
    const SOURCE: &'static str = "textbook";
    type Options = BufferOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Fifo::default()
    }

    keeps_nothing!(Fifo { order });
}

impl WriteBufferFacts for Fifo {
    fn keeps_order(_options: &Self::Options) -> bool {
        true
    }
}

impl WriteBufferPolicy for Fifo {
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
        self.first().map(Eviction::Page)
    }

    fn first(&self) -> Option<SlotId> {
        self.order.oldest()
    }

    fn after(&self, slot: SlotId) -> Option<SlotId> {
        self.order.after(slot)
    }
}
