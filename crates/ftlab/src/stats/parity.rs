//! Parity across dies in the report: its costs and benefits.

use serde::Serialize;

use crate::ftl::parity::ParityCounts;

/// Parity across dies. Its reads and programs are counted among the flash commands of the origin
/// that they serve, and its programs in `write_amplification`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ParityReport {
    /// Dies of a stripe, the one that holds its parity included.
    pub stripe_dies: u32,
    /// What it cost and saved.
    #[serde(flatten)]
    pub counts: ParityCounts,
}

impl ParityReport {
    pub(super) fn new(counts: &ParityCounts, stripe_dies: u32) -> ParityReport {
        ParityReport { stripe_dies, counts: *counts }
    }
}
