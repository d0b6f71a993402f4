//! How long the parts of the front end have been in use, and which parts take time at all.
//!
//! Work that was accepted counts as it passes, not when it comes: what lies ahead is left out. So the time between two
//! moments is exact, whatever is under way at either.

use crate::counters::counters;
use crate::units::Nanos;

counters! {
    /// For how long the parts of the front end were in use; nothing for parts that take no time.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct FrontEndBusy {
        /// Data crossed the DRAM.
        dram: Nanos;
        /// The link carried something to the device.
        link_in: Nanos;
        /// The link carried something to the host.
        link_out: Nanos;
        /// The same where both ways share the wire: either.
        link_both: Nanos;
        /// Sum over the cores of the time in which they did a job, or waited for a command that they fetched.
        processor: Nanos;
    }
}

/// The parts of a front end that take time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrontEndParts {
    /// Whether moving data through the DRAM does.
    pub dram: bool,
    /// How the link works, if it does.
    pub link: Option<LinkWays>,
    /// The cores of the processor, if it does.
    pub cores: Option<u32>,
}

/// Whether a link carries data in both directions at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkWays {
    /// Each direction has its own wire.
    Apart,
    /// Both share the wire.
    Shared,
}
