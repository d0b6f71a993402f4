//! Handles by logical page: what a large buffer looks pages up in, several times a request.
//!
//! Open addressing with linear probing, two thirds full at most: a page is found with one access to memory that
//! no cache of the processor holds, where a table of the standard library takes two. Nothing ever goes by the
//! order of its entries.

use std::marker::PhantomData;

use crate::engine::Handle;
use crate::units::Lpn;

/// A place of the table: a page and what it stands for, or nothing.
#[derive(Debug)]
struct Entry<T> {
    page: Lpn,
    handle: Option<Handle<T>>,
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Entry<T> {}

/// A handle for each of some pages.
#[derive(Clone, Debug)]
pub struct Lookup<T> {
    /// As many as a power of two.
    entries: Vec<Entry<T>>,
    len: usize,
    of: PhantomData<T>,
}

impl<T> Default for Lookup<T> {
    fn default() -> Self {
        Lookup { entries: Vec::new(), len: 0, of: PhantomData }
    }
}

/// Places of the smallest table.
const LEAST: usize = 16;

impl<T> Lookup<T> {
    /// How many pages are in.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no page is in.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The place at which looking for a page begins: the upper bits of Fibonacci hashing.
    #[inline]
    fn home(&self, page: Lpn) -> usize {
        let hash = u64::from(page.get()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (hash >> (u64::BITS - self.entries.len().trailing_zeros())) as usize
    }

    #[inline]
    fn next(&self, at: usize) -> usize {
        (at + 1) & (self.entries.len() - 1)
    }

    /// The place of a page, or the free one where it belongs. There must be a table.
    #[inline]
    fn find(&self, page: Lpn) -> usize {
        let mut at = self.home(page);
        while self.entries[at].handle.is_some() && self.entries[at].page != page {
            at = self.next(at);
        }
        at
    }

    /// What a page stands for, if it is in.
    #[inline]
    #[must_use]
    pub fn get(&self, page: Lpn) -> Option<Handle<T>> {
        if self.is_empty() {
            return None;
        }
        self.entries[self.find(page)].handle
    }

    /// Puts a page in, or lets it stand for something else.
    #[inline]
    pub fn insert(&mut self, page: Lpn, handle: Handle<T>) {
        if 3 * (self.len + 1) > 2 * self.entries.len() {
            self.grow();
        }
        let at = self.find(page);
        self.len += usize::from(self.entries[at].handle.is_none());
        self.entries[at] = Entry { page, handle: Some(handle) };
    }

    #[cold]
    fn grow(&mut self) {
        let places = (2 * self.entries.len()).max(LEAST);
        let free = Entry { page: Lpn::new(0), handle: None };
        let old = std::mem::replace(&mut self.entries, vec![free; places]);
        for entry in old.into_iter().filter(|entry| entry.handle.is_some()) {
            let at = self.find(entry.page);
            self.entries[at] = entry;
        }
    }

    /// Takes a page out. Returns what it stood for.
    #[inline]
    pub fn remove(&mut self, page: Lpn) -> Option<Handle<T>> {
        if self.is_empty() {
            return None;
        }
        let mut hole = self.find(page);
        let removed = self.entries[hole].handle.take()?;
        self.len -= 1;
        // What came after it because its own place was taken moves up.
        let mut at = self.next(hole);
        while self.entries[at].handle.is_some() {
            let most = self.entries.len() - 1;
            let home = self.home(self.entries[at].page);
            if at.wrapping_sub(home) & most >= at.wrapping_sub(hole) & most {
                self.entries.swap(hole, at);
                hole = at;
            }
            at = self.next(at);
        }
        Some(removed)
    }

    /// All pages with what they stand for, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (Lpn, Handle<T>)> {
        self.entries.iter().filter_map(|entry| Some((entry.page, entry.handle?)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    proptest::proptest! {
        /// Whatever is put in and taken out, it holds what a map would. Few pages, so that they meet often.
        #[test]
        fn it_is_a_map(steps in proptest::collection::vec((0u32..3, 0u32..60, 0u32..1_000), 0..600)) {
            let (mut table, mut map) = (Lookup::<()>::default(), BTreeMap::new());
            for (what, page, number) in steps {
                // Far apart, and close together.
                let page = if page < 30 { page } else { page << 20 };
                let handle = Handle::new(number);
                match what {
                    0 => {
                        let found = table.remove(Lpn::new(page)).map(Handle::get);
                        proptest::prop_assert_eq!(found, map.remove(&page));
                    }
                    _ => {
                        table.insert(Lpn::new(page), handle);
                        map.insert(page, number);
                    }
                }
                proptest::prop_assert_eq!(table.len(), map.len());
                let mut all: Vec<_> =
                    table.iter().map(|(page, handle)| (page.get(), handle.get())).collect();
                all.sort_unstable();
                proptest::prop_assert_eq!(all, map.clone().into_iter().collect::<Vec<_>>());
                let all = map.iter().all(|(&page, &number)| {
                    table.get(Lpn::new(page)).map(Handle::get) == Some(number)
                });
                proptest::prop_assert!(all && table.get(Lpn::new(77)).is_none());
            }
        }
    }
}
