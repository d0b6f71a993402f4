//! Parity across dies in the report: its costs and benefits.

use serde::Serialize;

use crate::ftl::parity::ParityCounts;

/// Parity across dies. Its reads and programs are counted among the flash commands of the origin
/// that they serve, and its programs in `write_amplification`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ParityReport {
    /// Dies of a stripe, the one that holds its parity included.
    pub stripe_dies: u32,
    /// Flash pages of parity that were programmed.
    pub parity_programs: u64,
    /// Flash pages that could not be read, and were computed from the rest of their stripes.
    pub reconstructed_reads: u64,
    /// Flash pages that were read for that.
    pub reconstruction_reads: u64,
    /// Flash pages that could not be computed either, because more of their stripes was missing;
    /// counted each time that they were requested.
    pub lost_reads: u64,
}

pub(super) fn parity_report(counts: &ParityCounts, stripe_dies: u32) -> ParityReport {
    let ParityCounts { programs, reconstructed, reads, lost, spared_erases: _ } = *counts;
    ParityReport {
        stripe_dies,
        parity_programs: programs,
        reconstructed_reads: reconstructed,
        reconstruction_reads: reads,
        lost_reads: lost,
    }
}
