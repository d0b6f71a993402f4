//! How much one client may ask for. Together they bound the memory of a session, whatever the client sends.
//!
//! | What | Most |
//! | --- | --- |
//! | received, not yet understood | [`RECEIVE_BUFFER`] |
//! | payloads of writes | twice [`MOST_IN_FLIGHT`], as buffers have sizes of powers of two |
//! | payloads kept to be used again | [`MOST_KEPT_PAYLOAD`] |
//! | replies not yet sent | twice [`MOST_IN_FLIGHT`] |
//!
//! While all sessions together hold more than [`MOST_TOGETHER`], one that holds more than [`MOST_IF_SCARCE`] gets nothing
//! further. So together they hold at most that much, and the longest request of each. While they keep more than
//! [`MOST_KEPT_TOGETHER`] to use it again, all of that is given back.

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Smallest unit of a request: a sector. Offsets and lengths are multiples of it.
pub const MINIMUM_BLOCK: u32 = 512;

/// Longest read or write. The specification's own default, which clients keep to if they ask for no limit.
pub const MOST_PAYLOAD: u32 = 32 << 20;

/// Longest payload of a refused write that is skipped. A client that promises more is not worth waiting for.
pub const MOST_SKIPPED_PAYLOAD: u32 = 2 * MOST_PAYLOAD;

/// Longest name of an export, and longest message: the specification's limit on strings.
pub const MOST_STRING: usize = 4 * KIB;

/// Longest data of an option that is looked at.
pub const MOST_OPTION: usize = 64 * KIB;

/// Longest data of an option that is skipped and answered.
pub const MOST_SKIPPED_OPTION: usize = MIB;

/// Most options before an export is chosen. Real clients need about ten.
pub const MOST_OPTIONS: u32 = 1000;

/// Replies to options that may wait for the client before the next option is looked at.
pub const MOST_OPTION_OUTPUT: usize = MIB;

/// Most requests without a reply.
pub const MOST_REQUESTS: u32 = 256;

/// Bytes of requests in flight and of replies not yet sent, above which no further request is taken.
pub const MOST_IN_FLIGHT: usize = 64 * MIB;

/// Bytes of requests in flight and of replies not yet sent of all sessions, above which memory is scarce.
pub const MOST_TOGETHER: usize = 128 * MIB;

/// While memory is scarce: the same of a session, above which no further request is taken. One that holds nothing may
/// always ask for something.
pub const MOST_IF_SCARCE: usize = MIB;

/// Payloads that a session keeps to use them again.
pub const MOST_KEPT_PAYLOAD: usize = 64 * MIB;

/// The same of all sessions, above which they keep nothing.
pub const MOST_KEPT_TOGETHER: usize = 256 * MIB;

/// Most extents in a reply to a block status request. Clients ask again for the rest.
pub const MOST_EXTENTS: usize = 1024;

/// Size of the receive buffer: an option of the longest kind with its header.
pub const RECEIVE_BUFFER: usize = MOST_OPTION + 4 * KIB;
