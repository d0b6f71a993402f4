//! Who goes on, and in which order: those who waited for entries, one at a time, so that what one of them asks of the
//! flash comes before what is done for the next.

use super::MapCache;
use super::waiting::{Fetch, Queue, Seeker, Waiter};
use crate::engine::Handle;
use crate::ftl::{FlashContents, Kernel};
use crate::scheduler::Probe;
use crate::units::{Lpn, Nanos};

/// What goes on next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Todo {
    /// A fetch has room for its entry.
    Fetch(Handle<Fetch>),
    /// An entry is in memory.
    Fetched(Handle<Fetch>),
    /// Somebody waited for the entry of a page.
    Waiter(Lpn, Handle<Waiter>),
    /// All who waited for one translation page have gone on.
    EndOfPage,
}

/// Who goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ready {
    /// The entry of this page is in memory, for which `who` has waited so long.
    Seeker { page: Lpn, who: Seeker, waited: Nanos },
    /// Those who come next waited for another translation page.
    EndOfPage,
}

impl MapCache {
    /// Who goes on next, now that entries are in memory.
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

    /// Those who wait for a fetch go on before all else.
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

    /// The entry of a fetch is in memory: who waits for it goes on before all else.
    pub(super) fn is_fetched(&mut self, fetch: Handle<Fetch>) {
        self.todo.push_front(Todo::EndOfPage);
        self.todo.push_front(Todo::Fetched(fetch));
    }

    /// The entries of these fetches are in memory.
    pub(super) fn all_fetched(&mut self, fetches: Queue<Fetch>) {
        self.put(fetches, Todo::Fetched);
        self.todo.push_back(Todo::EndOfPage);
    }

    /// These fetches have room for their entries.
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
