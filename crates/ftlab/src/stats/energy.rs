//! The energy of the flash in the report.

use serde::Serialize;

use crate::nand::Draws;
use crate::stats::counters::DeviceCounters;
use crate::units::Nanos;

/// The energy that the flash took, by the power of `nand.power`. Standby and the controller are not included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EnergyReport {
    /// Sensing pages, retries included, in joules.
    pub read_j: f64,
    /// Programming pages, and copying them within a plane.
    pub program_j: f64,
    /// Erasing blocks.
    pub erase_j: f64,
    /// Moving data on the buses.
    pub transfer_j: f64,
    /// All of it.
    pub total_j: f64,
    /// All of it, for each GB (1000^3 bytes) that the host read and wrote; null if it did neither.
    pub per_host_gb_j: Option<f64>,
}

impl EnergyReport {
    pub(super) fn new(counters: &DeviceCounters, draws: &Draws, host_bytes: u64) -> EnergyReport {
        const GB: f64 = 1e9;
        let buses = Nanos(counters.channel_busy.iter().map(|busy| busy.0).sum());
        let energy = draws.energy_of(&counters.cell_time, buses);
        let total_j = energy.total();
        EnergyReport {
            read_j: energy.read,
            program_j: energy.program,
            erase_j: energy.erase,
            transfer_j: energy.transfer,
            total_j,
            per_host_gb_j: (host_bytes > 0).then(|| total_j / (host_bytes as f64 / GB)),
        }
    }
}
