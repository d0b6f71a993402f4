//! A doubly linked list over the slots of a slab, with constant-time insertion and removal. Most
//! policies of DRAM are made of it.

use std::marker::PhantomData;

use super::Page;
use crate::engine::Handle;

/// The neighbours of a slot, as number plus one; zero is the end.
#[derive(Clone, Copy, Debug, Default)]
struct Links {
    newer: u32,
    older: u32,
}

/// A doubly linked list over slots, newest to oldest.
#[derive(Clone, Debug)]
pub struct Order<T = Page> {
    links: Vec<Links>,
    newest: u32,
    oldest: u32,
    of: PhantomData<fn() -> T>,
}

// `derive` would require `T: Default`.
impl<T> Default for Order<T> {
    fn default() -> Self {
        Order { links: Vec::new(), newest: 0, oldest: 0, of: PhantomData }
    }
}

fn raw<T>(slot: Handle<T>) -> u32 {
    slot.get() + 1
}

fn slot<T>(raw: u32) -> Option<Handle<T>> {
    raw.checked_sub(1).map(Handle::new)
}

impl<T> Order<T> {
    fn at(&mut self, slot: Handle<T>) -> &mut Links {
        let at = slot.at();
        if at >= self.links.len() {
            self.links.resize(at + 1, Links::default());
        }
        &mut self.links[at]
    }

    /// Adds a slot, which must not be in the list, at the newest end.
    #[inline]
    pub fn push_newest(&mut self, added: Handle<T>) {
        let second = std::mem::replace(&mut self.newest, raw(added));
        *self.at(added) = Links { newer: 0, older: second };
        match slot(second) {
            Some(second) => self.at(second).newer = raw(added),
            None => self.oldest = raw(added),
        }
    }

    /// Removes a slot, which must be in the list.
    #[inline]
    pub fn remove(&mut self, removed: Handle<T>) {
        let Links { newer, older } = *self.at(removed);
        match slot(newer) {
            Some(newer) => self.at(newer).older = older,
            None => self.newest = older,
        }
        match slot(older) {
            Some(older) => self.at(older).newer = newer,
            None => self.oldest = newer,
        }
    }

    /// The slot at the oldest end.
    #[inline]
    pub fn oldest(&self) -> Option<Handle<T>> {
        slot(self.oldest)
    }

    /// The next newer slot after `given`, which must be in the list.
    #[inline]
    pub fn after(&self, given: Handle<T>) -> Option<Handle<T>> {
        slot(self.links[given.at()].newer)
    }
}

#[cfg(test)]
mod tests {
    use super::super::SlotId;
    use super::*;

    #[test]
    fn the_order_survives_removals_from_both_ends_and_the_middle() {
        let mut order: Order = Order::default();
        let slots: Vec<SlotId> = (0..5).map(SlotId::new).collect();
        slots.iter().for_each(|&slot| order.push_newest(slot));
        order.remove(slots[2]);
        order.remove(slots[0]);
        order.remove(slots[4]);
        order.push_newest(slots[0]);
        let mut seen = Vec::new();
        while let Some(oldest) = order.oldest() {
            order.remove(oldest);
            seen.push(oldest.get());
        }
        assert_eq!(seen, [1, 3, 0]);
    }
}
