//! Write amplification: what the host's writes cost on flash, and for what.

use serde::{Serialize, Serializer};

use super::DeviceCounters;
use super::figures::{flash_bytes, map_bytes, ratio};
use crate::counters::serialize;
use crate::device::{Contents, Device};
use crate::ftl::FtlCounts;
use crate::scheduler::{Kind, Origin, Probe};

/// What the host's writes cost on flash.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WriteAmplification {
    /// Bytes programmed on flash, in whole flash pages, for every byte that the host wrote: the sum of `data_ratio`,
    /// `map_ratio`, `system_ratio` and `parity_ratio`. It is lowered, even below one, by writes that the write buffer
    /// absorbs; null if the host wrote nothing.
    pub total_ratio: Option<f64>,
    /// Pages that the FTL programmed for every page that it was given to program: the cost of
    /// garbage collection alone. Null if it was given none.
    pub ftl_ratio: Option<f64>,
    /// Of `total_ratio`, pages of the host and their copies, with padding.
    pub data_ratio: Option<f64>,
    /// Of `total_ratio`, translation pages and their copies; null if the map is not on flash.
    pub map_ratio: Option<f64>,
    /// Of `total_ratio`, the system area: checkpoints of the map, trims and the index (`ftl.recovery.policy`). Null if
    /// the device keeps none.
    pub system_ratio: Option<f64>,
    /// Of `total_ratio`, parity of data and of translation pages; null without it.
    pub parity_ratio: Option<f64>,
    /// Bytes that the host wrote, in all of the measured phases' requests.
    pub host_bytes: u64,
    /// Bytes programmed on flash.
    pub flash_bytes: u64,
    /// What was programmed.
    #[serde(flatten, serialize_with = "in_write_amplification")]
    pub counts: FtlCounts,
    /// The size of a page (mapping unit).
    pub page_bytes: u64,
}

fn in_write_amplification<S: Serializer>(counts: &FtlCounts, to: S) -> Result<S::Ok, S::Error> {
    serialize(&counts.entries(Some("write_amplification")), to)
}

impl WriteAmplification {
    pub(super) fn new<P: Probe, C: Contents>(
        host_bytes: u64,
        counters: &DeviceCounters,
        device: &Device<P, C>,
    ) -> WriteAmplification {
        let shape = device.flash().geometry().shape();
        let DeviceCounters { ftl, parity, commands, .. } = counters;
        let flash_bytes = flash_bytes(counters, shape.page_size.0);
        let map = device.ftl().map_on_flash().map(|_| map_bytes(&counters.map, shape));
        let of_system = commands[Origin::System as usize][Kind::Program as usize];
        let system = device.keeps_journal().then_some(of_system * shape.page_size.0);
        let parity = device.ftl().stripes().map(|_| parity.programs * shape.page_size.0);
        let beside: u64 = [map, system, parity].into_iter().flatten().sum();
        let of_host = |bytes: u64| ratio(bytes as f64, host_bytes as f64);
        WriteAmplification {
            total_ratio: of_host(flash_bytes),
            ftl_ratio: ratio((ftl.host_pages + ftl.gc_pages) as f64, ftl.host_pages as f64),
            data_ratio: of_host(flash_bytes.saturating_sub(beside)),
            map_ratio: map.and_then(of_host),
            system_ratio: system.and_then(of_host),
            parity_ratio: parity.and_then(of_host),
            host_bytes,
            flash_bytes,
            counts: *ftl,
            page_bytes: shape.mapping_unit.0,
        }
    }
}
