//! Zones in the report.

use serde::Serialize;

use crate::device::{Contents, Device};
use crate::host::Host;
use crate::host::zones::{ZoneCounts, ZoneState};
use crate::scheduler::Probe;
use crate::units::SECTOR_BYTES;

/// Zones: what they are, what was done with them, and their states at the end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ZonesReport {
    /// The zones.
    pub count: u32,
    /// How many of them are conventional.
    pub conventional: u32,
    /// Bytes that a zone holds.
    pub capacity_bytes: u64,
    /// The distance of zones in the address space, in bytes.
    pub size_bytes: u64,
    /// What was done with them.
    #[serde(flatten)]
    pub counts: ZoneCounts,
    /// Sequential zones at the end, by state.
    pub at_end: ZonesByState,
}

/// Sequential zones by state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ZonesByState {
    /// Nothing is written.
    pub empty: u32,
    /// Opened by a write.
    pub implicitly_open: u32,
    /// Opened by command.
    pub explicitly_open: u32,
    /// Active, but not open.
    pub closed: u32,
    /// Full.
    pub full: u32,
    /// Worn out.
    pub read_only: u32,
    /// Out of service.
    pub offline: u32,
}

impl ZonesReport {
    pub(super) fn new<P: Probe, C: Contents>(
        counts: &ZoneCounts,
        device: &Device<P, C>,
    ) -> Option<ZonesReport> {
        let zones = device.zones()?;
        let shape = zones.rules().shape;
        let sequential = &zones.all()[shape.conventional as usize..];
        let number = |state| sequential.iter().filter(|zone| zone.state == state).count() as u32;
        Some(ZonesReport {
            count: shape.count,
            conventional: shape.conventional,
            capacity_bytes: shape.capacity_sectors() * SECTOR_BYTES,
            size_bytes: shape.size_sectors() * SECTOR_BYTES,
            counts: *counts,
            at_end: ZonesByState {
                empty: number(ZoneState::Empty),
                implicitly_open: number(ZoneState::ImplicitlyOpen),
                explicitly_open: number(ZoneState::ExplicitlyOpen),
                closed: number(ZoneState::Closed),
                full: number(ZoneState::Full),
                read_only: number(ZoneState::ReadOnly),
                offline: number(ZoneState::Offline),
            },
        })
    }
}
