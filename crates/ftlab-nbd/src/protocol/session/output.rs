//! Bytes that are to be sent.

/// Smallest buffer.
const SMALLEST: usize = 64 << 10;

/// A buffer that has become larger is given back when all was sent.
const MOST_KEPT: usize = 8 << 20;

/// What is left moves to the front only if it is at most this many times as long as what was sent before it.
const MOVES: usize = 3;

/// A queue of bytes in one piece. All of the buffer is initialised once, so that data of a read needs no zeroing before
/// it is filled in.
#[derive(Debug, Default)]
pub struct Output {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Output {
    /// What is to be sent.
    pub fn pending(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Number of bytes that are to be sent.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Bytes of the buffer that nothing is in.
    pub fn kept(&self) -> usize {
        self.bytes.len() - self.len()
    }

    /// Forgets bytes that were sent.
    pub fn sent(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
        if self.start == self.end {
            // The front of the buffer is likely still in the processor's cache.
            (self.start, self.end) = (0, 0);
            if self.bytes.len() > MOST_KEPT {
                self.shrink();
            }
        }
    }

    /// Gives back the memory, if nothing is to be sent.
    pub fn shrink(&mut self) {
        if self.len() == 0 {
            *self = Output::default();
        }
    }

    /// Appends bytes.
    pub fn put(&mut self, bytes: &[u8]) {
        self.room(bytes.len()).copy_from_slice(bytes);
    }

    /// Appends bytes whose values are still those of earlier replies.
    pub fn room(&mut self, count: usize) -> &mut [u8] {
        if self.bytes.len() - self.end < count {
            self.make_room(count);
        }
        let room = &mut self.bytes[self.end..self.end + count];
        self.end += count;
        room
    }

    /// Replaces bytes behind the first `position` that are to be sent. They must be there.
    pub fn replace(&mut self, position: usize, bytes: &[u8]) {
        let at = self.start + position;
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Takes back what was appended since there were `length` bytes to be sent.
    pub fn truncate(&mut self, length: usize) {
        self.end = self.end.min(self.start + length);
    }

    /// Moves what is left to the front, if enough was sent to pay for that. Grows if there still is no room.
    fn make_room(&mut self, count: usize) {
        if self.len() <= self.start * MOVES {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.bytes.len() - self.end < count {
            // Only what is needed is touched: the system gives memory page by page.
            self.bytes.resize((self.end + count).max(SMALLEST), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_leave_in_order_whatever_moves() {
        let mut output = Output::default();
        let (mut put, mut seen) = (0u64, 0u64);
        for round in 0..20_000u64 {
            for _ in 0..round % 97 {
                output.put(&put.to_be_bytes());
                put += 1;
            }
            let sent = output.pending().len() / 8 * (round % 5) as usize / 4 * 8;
            for number in output.pending()[..sent].chunks_exact(8) {
                assert_eq!(number, seen.to_be_bytes());
                seen += 1;
            }
            output.sent(sent);
        }
        assert!(put > 100_000 && put - seen < 1000, "{put} {seen}");
        assert_eq!(output.bytes.len(), SMALLEST);
    }

    #[test]
    fn a_large_buffer_is_given_back() {
        let mut output = Output::default();
        output.put(&vec![1; MOST_KEPT]);
        output.sent(MOST_KEPT);
        assert_eq!(output.kept(), MOST_KEPT);
        output.put(&vec![1; MOST_KEPT + 1]);
        output.sent(MOST_KEPT);
        assert_eq!((output.len(), output.kept()), (1, MOST_KEPT));
        output.sent(1);
        assert_eq!(output.kept(), 0);
    }

    #[test]
    fn what_is_taken_back_is_not_sent() {
        let mut output = Output::default();
        output.put(b"kept");
        let kept = output.len();
        output.room(100_000).fill(7);
        output.truncate(kept);
        output.put(b", and more");
        assert_eq!(output.pending(), b"kept, and more");
    }
}
