//! The health of the flash, in the terms of a drive's own log.
//!
//! Source: NVM Express Base Specification, SMART / Health Information log page (available spare,
//! percentage used, critical warning "media has been placed in read only mode").

use serde::Serialize;

use crate::device::{Contents, Device};
use crate::ftl::wear::{EndReason, Life, Losses};
use crate::nand::HazardCounts;
use crate::scheduler::Probe;
use crate::units::SimTime;

/// The health of a device on which operations can fail, since it was new.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Health {
    /// Blocks that went bad, and what failed.
    #[serde(flatten)]
    pub losses: Losses,
    /// Dies that were found dead.
    pub dead_dies: u32,
    /// Pages (mapping units) of the host on dead dies, whose reads end as unreadable. With parity
    /// across dies, pages of stripes whose dies are all dead.
    pub pages_on_dead_dies: u64,
    /// Commands on dead dies, and reads that could not be corrected.
    #[serde(flatten)]
    pub hazards: HazardCounts,
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
    let erases: u64 = device.ftl().blocks().all_erases().map(u64::from).sum();
    // Superblocks are erased as wholes, also where blocks of theirs are bad.
    let never_erased = match device.flash().geometry().superblocks() {
        Some(_) => 0,
        None => losses.factory_bad,
    };
    let blocks = device.ftl().geometry().blocks() - never_erased;
    let mean = erases as f64 / f64::from(blocks.max(1));
    Some(Health {
        losses,
        dead_dies: device.ftl().dead_dies_on_flash().len() as u32,
        pages_on_dead_dies: device.ftl().pages_on_dead_dies(),
        hazards: hazards.map(|hazards| *hazards.counts()).unwrap_or_default(),
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
