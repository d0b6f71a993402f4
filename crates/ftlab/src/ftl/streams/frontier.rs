//! The number of a stream.

/// Maximum number of host streams and copy streams together, by the ranges of the options.
pub(super) const OF_DATA: u8 = 16;
/// Maximum number of streams in a plane: host and copy streams, the SLC cache, two for a map that
/// is stored on flash, and rewrites.
pub const MOST_STREAMS: usize = OF_DATA as usize + 4;

/// A write frontier, identified by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WriteStream(pub(super) u8);

impl WriteStream {
    /// Creates the stream with this number.
    #[must_use]
    pub const fn new(number: u8) -> WriteStream {
        WriteStream(number)
    }

    /// The frontier of the SLC cache. Blocks of this stream are in SLC mode. It takes host writes
    /// of any stream.
    pub const SLC: WriteStream = WriteStream::new(OF_DATA);

    /// The frontier of translation pages, if the map is stored on flash.
    pub const MAP: WriteStream = WriteStream::new(OF_DATA + 1);
    /// The frontier of copies of translation pages.
    pub const MAP_COPIES: WriteStream = WriteStream::new(OF_DATA + 2);

    /// The frontier of pages that are rewritten at another cost.
    pub const REWRITES: WriteStream = WriteStream::new(OF_DATA + 3);

    /// Whether blocks of this stream hold the map.
    #[inline]
    #[must_use]
    pub const fn is_of_map(self) -> bool {
        self.0 == WriteStream::MAP.0 || self.0 == WriteStream::MAP_COPIES.0
    }

    /// Whether the streams policy chooses the pages of this stream.
    #[inline]
    #[must_use]
    pub const fn is_of_policy(self) -> bool {
        self.0 < OF_DATA
    }

    /// Returns the stream as a table index.
    #[inline]
    #[must_use]
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}
