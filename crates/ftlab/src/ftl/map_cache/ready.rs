//! The order in which waiting look-ups continue. They continue one at a time, so that the flash
//! commands of one come before those of the next.

use super::MapCache;
use super::waiting::{Fetch, Queue, Seeker, Waiter};
use crate::engine::Handle;
use crate::ftl::{FlashContents, Kernel};
use crate::scheduler::Probe;
use crate::units::{Lpn, Nanos};

/// A next step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Todo {
    /// A fetch has space for its entry.
    Fetch(Handle<Fetch>),
    /// The entry of a fetch is in memory.
    Fetched(Handle<Fetch>),
    /// A look-up that waited for the entry of a page continues.
    Waiter(Lpn, Handle<Waiter>),
    /// All look-ups that waited for one translation page have continued.
    EndOfPage,
}

/// A result of [`MapCache::next_ready`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ready {
    /// The entry of `page` is in memory. `who` waited for it as long as `waited`.
    Seeker { page: Lpn, who: Seeker, waited: Nanos },
    /// The next look-ups waited for another translation page.
    EndOfPage,
}

impl MapCache {
    /// Returns the next look-up that can continue because its entry is in memory.
    pub fn next_ready(&mut self, on: &mut Kernel<impl Probe, impl FlashContents>) -> Option<Ready> {
        loop {
            match self.todo.pop_front()? {
                Todo::Fetch(fetch) => self.fetch_entry(fetch, on),
                Todo::Fetched(fetch) => self.wake_seekers(fetch),
                Todo::Waiter(page, id) => {
                    let Waiter { who, since, .. } = self.waiters[id];
                    self.waiters.release(id);
                    return Some(Ready::Seeker { page, who, waited: on.now - since });
                }
                Todo::EndOfPage => return Some(Ready::EndOfPage),
            }
        }
    }

    /// Makes the look-ups that wait for a fetch continue before everything else.
    fn wake_seekers(&mut self, fetch: Handle<Fetch>) {
        let Fetch { page, ref seekers, .. } = self.fetches[fetch];
        let mut next = seekers.first;
        self.by_page.remove(&page);
        self.fetches.release(fetch);
        let before = self.todo.len();
        while let Some(waiter) = next {
            next = self.waiters[waiter].next;
            self.todo.push_back(Todo::Waiter(page, waiter));
        }
        self.todo.rotate_left(before);
    }

    /// Records that the entry of a fetch is in memory. The look-ups that wait for it continue
    /// before everything else.
    pub(super) fn is_fetched(&mut self, fetch: Handle<Fetch>) {
        self.todo.push_front(Todo::EndOfPage);
        self.todo.push_front(Todo::Fetched(fetch));
    }

    /// Records that the entries of these fetches are in memory.
    pub(super) fn all_fetched(&mut self, fetches: Queue<Fetch>) {
        self.put(fetches, Todo::Fetched);
        self.todo.push_back(Todo::EndOfPage);
    }

    /// Records that there is space for the entries of these fetches.
    pub(super) fn there_is_room(&mut self, fetches: Queue<Fetch>) {
        self.put(fetches, Todo::Fetch);
    }

    fn put(&mut self, fetches: Queue<Fetch>, what: impl Fn(Handle<Fetch>) -> Todo) {
        let mut next = fetches.first;
        while let Some(fetch) = next {
            next = self.fetches[fetch].next;
            self.todo.push_back(what(fetch));
        }
    }
}
