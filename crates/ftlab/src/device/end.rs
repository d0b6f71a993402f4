//! The end of a device, as its users hear of it.

use crate::ftl::wear::EndReason;
use crate::units::{Bytes, SimTime};

/// When and why a device stopped taking writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndOfLife {
    /// When.
    pub at: SimTime,
    /// Why.
    pub reason: EndReason,
    /// What the host had written by then.
    pub host_written: Bytes,
    /// Whether something that was acknowledged found no page that could be programmed.
    pub left_in_dram: bool,
}
