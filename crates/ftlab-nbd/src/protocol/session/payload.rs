//! Data of writes. Buffers are used again, so that no write allocates once a session is warm.

use crate::protocol::limits::{MOST_KEPT_PAYLOAD, MOST_PAYLOAD};

/// Smallest buffer: nearly all writes are at least a page.
const SMALLEST: usize = 4 << 10;

/// One size of buffer for each power of two from the smallest to the longest payload.
const SIZES: usize = (MOST_PAYLOAD.ilog2() - SMALLEST.ilog2()) as usize + 1;

/// Data of a write. Give it back by [`Session::recycle`](super::Session::recycle).
#[derive(Debug)]
pub struct Payload {
    /// All of it is initialised; the data is at the front.
    storage: Vec<u8>,
    length: usize,
}

impl Payload {
    /// Data that is all zero, for a server that writes zeroes as data.
    #[must_use]
    pub fn zeroes(length: usize) -> Payload {
        Payload { storage: vec![0; length], length }
    }

    /// The data, to be filled.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.storage[..self.length]
    }
}

impl std::ops::Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.storage[..self.length]
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

/// Data of a write that is being received.
#[derive(Debug)]
pub struct Partial {
    payload: Payload,
    filled: usize,
}

impl Partial {
    /// The place for what is missing.
    pub fn space(&mut self) -> &mut [u8] {
        &mut self.payload.storage[self.filled..self.payload.length]
    }

    /// Counts bytes that were put into the space.
    pub fn received(&mut self, count: usize) {
        self.filled = self.filled.saturating_add(count).min(self.payload.length);
    }

    /// Takes as much as is missing from the front of the bytes, and returns how much.
    pub fn take(&mut self, bytes: &[u8]) -> usize {
        let space = self.space();
        let count = space.len().min(bytes.len());
        space[..count].copy_from_slice(&bytes[..count]);
        self.received(count);
        count
    }

    /// Returns the data if it is complete.
    pub fn complete(self) -> Result<Payload, Self> {
        if self.filled == self.payload.length { Ok(self.payload) } else { Err(self) }
    }
}

/// Buffers that wait to be used again, by size.
#[derive(Debug, Default)]
pub struct PayloadPool {
    free: [Vec<Vec<u8>>; SIZES],
    kept: usize,
}

impl PayloadPool {
    /// A place for data of this length, at most [`MOST_PAYLOAD`].
    pub fn buffer(&mut self, length: usize) -> Partial {
        let size = length.next_power_of_two().max(SMALLEST);
        let free = Self::index(size).and_then(|index| self.free[index].pop());
        let storage = free.map_or_else(
            || vec![0; size],
            |storage| {
                self.kept -= storage.len();
                storage
            },
        );
        Partial { payload: Payload { storage, length }, filled: 0 }
    }

    /// Keeps a buffer, unless enough are kept.
    pub fn recycle(&mut self, payload: Payload) {
        let size = payload.storage.len();
        let Some(index) = Self::index(size) else { return };
        if self.kept + size <= MOST_KEPT_PAYLOAD {
            self.kept += size;
            self.free[index].push(payload.storage);
        }
    }

    /// Bytes that are kept.
    pub fn kept(&self) -> usize {
        self.kept
    }

    fn index(size: usize) -> Option<usize> {
        let index = (size / SMALLEST).checked_ilog2()? as usize;
        (index < SIZES).then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(pool: &mut PayloadPool, data: &[u8]) -> Payload {
        let mut partial = pool.buffer(data.len());
        let (first, rest) = data.split_at(data.len() / 2);
        assert_eq!(partial.take(first), first.len());
        partial.space().copy_from_slice(rest);
        partial.received(rest.len());
        assert_eq!(partial.take(b"the next message"), 0);
        partial.complete().expect("all was given")
    }

    #[test]
    fn buffers_are_used_again_and_show_only_new_data() {
        let mut pool = PayloadPool::default();
        let first = payload(&mut pool, &[1; 8000]);
        let place = first.as_ptr();
        pool.recycle(first);
        let second = payload(&mut pool, &[2; 5000]);
        assert_eq!((&*second, second.as_ptr()), (&[2; 5000][..], place));
        assert_ne!(payload(&mut pool, &[3; 4096]).as_ptr(), place, "of another size");
    }

    #[test]
    fn a_pool_keeps_only_so_much() {
        let mut pool = PayloadPool::default();
        let most = MOST_PAYLOAD as usize;
        let payloads: Vec<_> = (0..4).map(|_| payload(&mut pool, &vec![0; most])).collect();
        payloads.into_iter().for_each(|payload| pool.recycle(payload));
        assert_eq!(pool.kept, MOST_KEPT_PAYLOAD);
        assert_eq!(pool.free[SIZES - 1].len(), 2);
        drop(pool.buffer(most));
        assert_eq!(pool.kept, most);
    }
}
