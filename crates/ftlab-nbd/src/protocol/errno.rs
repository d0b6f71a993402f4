//! Errors that a reply can carry: section "Error values". They are the protocol's own numbers, not those of the system.

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Errno {
    /// Operation not permitted: a write to what can only be read.
    NotPermitted = 1,
    /// Input or output error.
    Io = 5,
    /// Out of memory.
    NoMemory = 12,
    /// The request makes no sense.
    Invalid = 22,
    /// No space left: also a write beyond the end.
    NoSpace = 28,
    /// Too long for one reply, which the client wanted in one piece.
    Overflow = 75,
    /// Zeroes can't be written fast.
    NotSupported = 95,
    /// The server is about to end.
    Shutdown = 108,
}

impl Errno {
    /// Returns the number in a reply.
    #[must_use]
    pub fn number(self) -> u32 {
        self as u32
    }
}
