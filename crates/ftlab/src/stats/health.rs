//! The health of the flash, in the terms of a drive's own log.
//!
//! Source: NVM Express Base Specification, SMART / Health Information log page (available spare,
//! percentage used, critical warning "media has been placed in read only mode").

use serde::Serialize;

use crate::device::{Contents, Device};
use crate::ftl::wear::{EndReason, Life};
use crate::scheduler::Probe;
use crate::units::SimTime;

/// The health of a device on which operations can fail, since it was new.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Health {
    /// Blocks that were bad from the factory.
    pub factory_bad_blocks: u32,
    /// Blocks that went bad in use.
    pub grown_bad_blocks: u32,
    /// Programs that failed.
    pub program_failures: u64,
    /// Erases that failed.
    pub erase_failures: u64,
    /// Dies that were found dead.
    pub dead_dies: u32,
    /// Pages (mapping units) of the host on dead dies, whose reads end as unreadable. With parity
    /// across dies, pages of stripes whose dies are all dead.
    pub pages_on_dead_dies: u64,
    /// Flash commands that failed because their die was dead.
    pub commands_on_dead_dies: u64,
    /// Reads of flash pages that could not be corrected, by chance, by schedule, or because the
    /// block was read too often. If the timing model has errors, its own are in `cost`.
    pub unreadable_flash_pages: u64,
    /// Pages (mapping units) on flash with lost sectors at the end, including overwritten ones
    /// whose block has not been erased.
    pub lost_pages: u64,
    /// The rest of the spare blocks, of the plane that has lost most of them. At 0 the device takes no more writes.
    pub available_spare_ratio: f64,
    /// Mean erases of a block as a share of the average endurance of the blocks; null if there is
    /// no limit. It may exceed 1.
    pub endurance_used_ratio: Option<f64>,
    /// When and why the device stopped taking writes; null if it still takes them.
    pub end_of_life: Option<EndReport>,
}

/// When and why a device stopped taking writes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EndReport {
    /// When, since it was new.
    pub at_ns: SimTime,
    /// Why.
    pub reason: EndReason,
    /// What the host had written by then, all phases included.
    pub host_written_bytes: u64,
    /// Whether acknowledged data stayed in DRAM, because no page could be programmed any more.
    pub left_in_dram: bool,
}

/// The health of a device; none if nothing can fail except by age.
pub(super) fn health<P: Probe, C: Contents>(device: &Device<P, C>) -> Option<Health> {
    let (life, hazards) = (device.ftl().life(), device.flash().hazards());
    if life.is_none() && hazards.is_none() {
        return None;
    }
    let losses = life.map(|life| *life.losses()).unwrap_or_default();
    let failed = hazards.map(|hazards| *hazards.counts()).unwrap_or_default();
    let erases: u64 = device.ftl().blocks().all_erases().map(u64::from).sum();
    let blocks = device.ftl().geometry().blocks() - losses.factory_bad;
    let mean = erases as f64 / f64::from(blocks.max(1));
    Some(Health {
        factory_bad_blocks: losses.factory_bad,
        grown_bad_blocks: losses.grown_bad,
        program_failures: losses.program_failures,
        erase_failures: losses.erase_failures,
        dead_dies: device.ftl().dead_dies_on_flash().len() as u32,
        pages_on_dead_dies: device.ftl().pages_on_dead_dies(),
        commands_on_dead_dies: failed.on_dead_dies,
        unreadable_flash_pages: failed.unreadable,
        lost_pages: device.ftl().lost().pages(),
        available_spare_ratio: life.map_or(1.0, Life::available_spare),
        endurance_used_ratio: life
            .and_then(Life::mean_endurance)
            .map(|cycles| mean / f64::from(cycles)),
        end_of_life: device.end_of_life().map(|end| EndReport {
            at_ns: end.at,
            reason: end.reason,
            host_written_bytes: end.host_written.0,
            left_in_dram: end.left_in_dram,
        }),
    })
}
