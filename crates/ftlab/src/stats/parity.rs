//! Parity across dies in the report: its costs and benefits.

use serde::Serialize;

use crate::device::{Contents, Device};
use crate::ftl::parity::ParityCounts;
use crate::scheduler::Probe;

/// Parity across dies. Its reads and programs are counted among the flash commands of the origin
/// that they serve, and its programs in `write_amplification`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ParityReport {
    /// Dies of a stripe, the one that holds its parity included.
    pub stripe_dies: u32,
    /// What it cost and saved.
    #[serde(flatten)]
    pub counts: ParityCounts,
    /// Pages (mapping units) of the host at the end that are lost if one more die dies, because a die of their stripes is
    /// dead.
    pub unprotected_pages: u64,
}

impl ParityReport {
    pub(super) fn new<P: Probe, C: Contents>(
        counts: &ParityCounts,
        device: &Device<P, C>,
    ) -> Option<ParityReport> {
        let stripe_dies = device.ftl().stripes()?.layout().width();
        let unprotected_pages = device.ftl().unprotected_pages();
        Some(ParityReport { stripe_dies, counts: *counts, unprotected_pages })
    }
}
