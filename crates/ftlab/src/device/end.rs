//! The end of a device's life, as reported to its users.

use crate::ftl::wear::EndReason;
use crate::units::{Bytes, SimTime};

/// When and why a device stopped taking writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndOfLife {
    /// When.
    pub at: SimTime,
    /// Why.
    pub reason: EndReason,
    /// The data that the host had written by then.
    pub host_written: Bytes,
    /// Whether acknowledged data found no flash page that could be programmed.
    pub left_in_dram: bool,
}
