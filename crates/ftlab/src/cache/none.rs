//! No write buffer: a page is written back as soon as it came in, and the host is told when it is on
//! flash.

use super::order::Order;
use super::{BufferView, Dram, Eviction, Leaves, OfBuffer, SlotId};
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};

/// Pages in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct WriteThrough {
    order: Order,
}

impl Policy for WriteThrough {
    const NAME: &'static str = "none";
    const SUMMARY: &'static str = "no write buffer: a write is done when it is on flash";
    const SOURCE: &'static str = "textbook";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        WriteThrough::default()
    }

    keeps_nothing!(WriteThrough { order });
}

impl OfBuffer for NoOptions {
    fn dram(&self) -> Option<Dram<'_>> {
        None
    }
}

impl WriteThrough {
    pub(super) fn inserted(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.order.push_newest(slot);
    }

    pub(super) fn written(&mut self, _slot: SlotId, _view: &BufferView<'_>) {}

    pub(super) fn read(&mut self, _slot: SlotId, _view: &BufferView<'_>) {}

    pub(super) fn removed(&mut self, slot: SlotId, _view: &BufferView<'_>, _why: Leaves) {
        self.order.remove(slot);
    }

    pub(super) fn choose(&mut self, _view: &BufferView<'_>) -> Option<Eviction> {
        self.order.oldest().map(Eviction::Page)
    }

    pub(super) fn unfinished(&self) -> bool {
        false
    }

    pub(super) fn first(&self) -> Option<SlotId> {
        self.order.oldest()
    }

    pub(super) fn after(&self, slot: SlotId) -> Option<SlotId> {
        self.order.after(slot)
    }
}
