//! Bytes that were received and not yet understood.

use crate::protocol::limits::RECEIVE_BUFFER;

/// A buffer of fixed size, read at the front and filled at the back.
#[derive(Debug)]
pub struct Input {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Input {
    /// An empty buffer.
    pub fn new() -> Self {
        Self { bytes: vec![0; RECEIVE_BUFFER].into(), start: 0, end: 0 }
    }

    /// What was received.
    pub fn filled(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Forgets bytes at the front.
    pub fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// Room for more. What is left of it moves to the front first: that is less than one message, and each moves once.
    pub fn space(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        &mut self.bytes[self.end..]
    }

    /// Counts bytes that were put into the room.
    pub fn received(&mut self, count: usize) {
        self.end = self.end.saturating_add(count).min(self.bytes.len());
    }
}
