//! A hash table from logical page to handle. A large buffer looks pages up in it several times per request.
//!
//! It uses open addressing with linear probing and is at most two thirds full. A look-up usually costs one
//! cache miss, where a table of the standard library costs two. Nothing depends on the order of its entries.

use std::marker::PhantomData;

use crate::engine::Handle;
use crate::units::Lpn;

/// A place of the table: a page and its handle, or nothing.
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
    /// The length is a power of two.
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
    /// Number of pages in the table.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The place where the search for a page starts: the upper bits of Fibonacci hashing.
    #[inline]
    fn home(&self, page: Lpn) -> usize {
        let hash = u64::from(page.get()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (hash >> (u64::BITS - self.entries.len().trailing_zeros())) as usize
    }

    #[inline]
    fn next(&self, at: usize) -> usize {
        (at + 1) & (self.entries.len() - 1)
    }

    /// The place of a page, or the free place where it belongs. The table must not be empty.
    #[inline]
    fn find(&self, page: Lpn) -> usize {
        let mut at = self.home(page);
        while self.entries[at].handle.is_some() && self.entries[at].page != page {
            at = self.next(at);
        }
        at
    }

    /// The handle of a page, if it is in the table.
    #[inline]
    #[must_use]
    pub fn get(&self, page: Lpn) -> Option<Handle<T>> {
        if self.is_empty() {
            return None;
        }
        self.entries[self.find(page)].handle
    }

    /// Inserts a page, or replaces its handle.
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

    /// Removes a page and returns its handle.
    #[inline]
    pub fn remove(&mut self, page: Lpn) -> Option<Handle<T>> {
        if self.is_empty() {
            return None;
        }
        let mut hole = self.find(page);
        let removed = self.entries[hole].handle.take()?;
        self.len -= 1;
        // Entries behind the hole move up if they may.
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

    /// All pages with their handles, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (Lpn, Handle<T>)> {
        self.entries.iter().filter_map(|entry| Some((entry.page, entry.handle?)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    proptest::proptest! {
        /// The table behaves like a map under any sequence of steps. There are few pages, so they collide
        /// often.
        #[test]
        fn it_is_a_map(steps in proptest::collection::vec((0u32..3, 0u32..60, 0u32..1_000), 0..600)) {
            let (mut table, mut map) = (Lookup::<()>::default(), BTreeMap::new());
            for (what, page, number) in steps {
                // Some numbers are far apart, others close together.
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
