//! A device as a client sees it.

use super::codec::flags::TransmissionFlags;

/// A device that clients can choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Name by which clients choose it. The first export is also the one without a name.
    pub name: String,
    /// Text for people.
    pub description: String,
    /// Size in bytes: a multiple of [`MINIMUM_BLOCK`](super::limits::MINIMUM_BLOCK), as the rest can't be reached.
    pub size: u64,
    /// Size in bytes of the requests that suit it best: a power of two, at least a minimum block.
    pub preferred_block: u32,
    /// Whether writes are refused.
    pub read_only: bool,
    /// Whether a flush on one connection covers the writes of all.
    pub multi_connection: bool,
    /// Whether clients may ask for zeroes that are written faster than data.
    pub fast_zeroes: bool,
}

impl Export {
    /// Returns what the export can do: section "Transmission flags".
    #[must_use]
    pub(super) fn flags(&self, structured: bool) -> TransmissionFlags {
        use TransmissionFlags as F;
        let writable = F::TRIM | F::WRITE_ZEROES;
        F::HAS_FLAGS
            | F::FLUSH
            | F::FUA
            | F::CACHE
            | if self.read_only { F::READ_ONLY } else { writable }
            | F::FAST_ZERO.only_if(self.fast_zeroes && !self.read_only)
            | F::MULTI_CONNECTION.only_if(self.multi_connection)
            | F::DONT_FRAGMENT.only_if(structured)
    }
}
