//! LRU: the page that was read or written longest ago goes first.

use super::order::Order;
use super::{BufferOptions, BufferView, Eviction, Leaves, SlotId};
use crate::image::keeps_nothing;
use crate::policy::{Parts, Policy};

/// Pages by last use.
#[derive(Clone, Debug, Default)]
pub struct Lru {
    order: Order,
}

impl Policy for Lru {
    const NAME: &'static str = "lru";
    const SUMMARY: &'static str = "write-back buffer, the least recently used page goes first";
    const SOURCE: &'static str = "textbook";
    type Options = BufferOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Lru::default()
    }

    keeps_nothing!(Lru { order });
}

impl Lru {
    pub(super) fn inserted(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.order.push_newest(slot);
    }

    #[inline]
    pub(super) fn written(&mut self, slot: SlotId, _view: &BufferView<'_>) {
        self.order.remove(slot);
        self.order.push_newest(slot);
    }

    #[inline]
    pub(super) fn read(&mut self, slot: SlotId, view: &BufferView<'_>) {
        self.written(slot, view);
    }

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
