//! The options of the DRAM between host and flash: those shared by all write buffers, and the read
//! cache. Options of one policy are declared with the policy.

use crate::cache::{ReadCacheChoice, WriteBufferChoice};
use crate::options::declare::options;
use crate::units::Nanos;

options! {
    /// The DRAM between host and flash.
    pub struct CacheOptions at "cache" with { policy: WriteBufferChoice, read: ReadCacheOptions } {
        /// The time to move a request's data to or from DRAM.
        latency: Nanos = "1us", in "0ns"..="1ms",
            source "a 16 KiB page at the 12.8 GB/s of a DDR3-1600 channel takes 1.3 us; rounded";
    }
}

options! {
    /// A cache of data that was read, besides the write buffer.
    pub struct ReadCacheOptions at "cache.read" with { policy: ReadCacheChoice } {}
}
