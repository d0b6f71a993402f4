//! A table of short-lived objects with stable 32-bit handles: requests and flash commands in
//! flight.
//!
//! Entries are recycled last in, first out, so a run touches only as many cache lines as it has
//! objects in flight, and inserting never allocates once the table has grown to that number.

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

use super::prefetch;

/// A handle to an entry of a [`Slab<T>`]. An optional handle takes four bytes, too.
pub struct Handle<T>(NonZeroU32, PhantomData<fn() -> T>);

impl<T> Handle<T> {
    /// Returns the handle of entry `number`.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        match NonZeroU32::new(number.wrapping_add(1)) {
            Some(stored) => Handle(stored, PhantomData),
            None => panic!("fewer than 2^32 - 1 objects in flight"),
        }
    }

    /// The entry's number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0.get() - 1
    }

    /// The entry's number as an index.
    #[must_use]
    pub const fn at(self) -> usize {
        self.get() as usize
    }
}

// `derive` would require `T: Copy` and so on, which a handle does not need.
impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Handle<T> {}
impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<T> Eq for Handle<T> {}
impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.get())
    }
}

/// The table.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Inserts an entry.
    #[inline(always)]
    pub fn insert(&mut self, entry: T) -> Handle<T> {
        self.insert_with(|| entry)
    }

    /// Constructs an entry in its place, which saves the copy that `insert` would make.
    #[inline(always)]
    pub fn insert_with(&mut self, make: impl FnOnce() -> T) -> Handle<T> {
        let Some(number) = self.free.pop() else { return self.grow(make()) };
        let place = &mut self.entries[number as usize];
        *place = make();
        Handle::new(number)
    }

    #[cold]
    fn grow(&mut self, entry: T) -> Handle<T> {
        let number = u32::try_from(self.entries.len()).expect("fewer than 2^32 objects in flight");
        self.entries.push(entry);
        Handle::new(number)
    }

    /// Frees an entry. The handle must not be used again.
    #[inline]
    pub fn release(&mut self, handle: Handle<T>) {
        self.free.push(handle.get());
    }

    /// Prefetches an entry that will be needed soon.
    #[inline]
    pub fn prefetch(&self, handle: Handle<T>) {
        prefetch(&self.entries, handle.at());
    }

    /// Number of entries in use.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// The entries in use, by number. Also visits all free entries.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        let mut is_free = vec![false; self.entries.len()];
        self.free.iter().for_each(|&number| is_free[number as usize] = true);
        self.entries.iter().zip(is_free).filter(|(_, is_free)| !is_free).map(|(entry, _)| entry)
    }
}

impl<T> Index<Handle<T>> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, handle: Handle<T>) -> &T {
        &self.entries[handle.at()]
    }
}

impl<T> IndexMut<Handle<T>> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, handle: Handle<T>) -> &mut T {
        &mut self.entries[handle.at()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_recycled_and_counted() {
        let mut slab = Slab::default();
        let first = slab.insert('a');
        let second = slab.insert('b');
        assert_eq!((slab[first], slab[second], slab.in_use()), ('a', 'b', 2));
        slab.release(first);
        let third = slab.insert('c');
        assert_eq!((third, slab.entries.len(), slab.in_use()), (first, 2, 2));
    }
}
