//! Translation by the host in the result: what the host copies, on top of what the device copies.

use serde::Serialize;

use super::WriteAmplification;
use super::figures::ratio;
use crate::host::translation::{LogCounts, LogRules};
use crate::units::SECTOR_BYTES;

/// Translation by the host. Counts are of the measured phases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HostTranslationReport {
    /// Bytes that loads can address.
    pub capacity_bytes: u64,
    /// The memory of the host for the map, its inverse and the zones.
    pub map_bytes: u64,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Blocks appended for requests and for cleaning, for every block appended for requests. Null if there was none.
    pub host_write_amplification_ratio: Option<f64>,
    /// Bytes programmed on flash for every byte that the store appended: what the device adds.
    pub device_write_amplification_ratio: Option<f64>,
    /// Bytes programmed on flash for every byte that loads wrote: the product of both, and of what writes of parts of blocks add.
    pub total_write_amplification_ratio: Option<f64>,
    /// What the store did.
    #[serde(flatten)]
    pub counts: LogCounts,
}

impl HostTranslationReport {
    /// The report of a store. `written` is what loads wrote, and what the device programmed.
    #[must_use]
    pub fn new(
        rules: &LogRules,
        counts: LogCounts,
        map_bytes: u64,
        written: &WriteAmplification,
    ) -> HostTranslationReport {
        let block_bytes = u64::from(rules.block_sectors) * SECTOR_BYTES;
        let appended = counts.written + counts.copied;
        HostTranslationReport {
            capacity_bytes: rules.capacity_sectors() * SECTOR_BYTES,
            map_bytes,
            block_bytes,
            host_write_amplification_ratio: ratio(appended as f64, counts.written as f64),
            device_write_amplification_ratio: ratio(
                written.flash_bytes as f64,
                (appended * block_bytes) as f64,
            ),
            total_write_amplification_ratio: written.total_ratio,
            counts,
        }
    }
}
