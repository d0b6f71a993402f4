//! Flexible data placement in the report.

use serde::Serialize;

use crate::device::{Contents, Device};
use crate::ftl::streams::StreamsPolicy;
use crate::ftl::streams::fdp::PlacementCounts;
use crate::options::value::Value;
use crate::scheduler::Probe;
use crate::units::SECTOR_BYTES;

/// A reclaim group in the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupReport {
    /// Bytes that the host wrote with identifiers of the group.
    pub host_bytes: u64,
    /// Pages that collection moved within it.
    pub moved_pages: u64,
    /// Pages of the host that it holds.
    pub held_pages: u64,
}

/// Flexible data placement: its handles, and what happened to reclaim units. What the host and the media wrote is in
/// `write_amplification`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlacementReport {
    /// Whether data of several handles may meet when it is copied.
    pub isolation: String,
    /// Bytes of a reclaim unit.
    pub reclaim_unit_bytes: u64,
    /// Bytes that the host wrote, by identifier.
    pub host_bytes: Vec<u64>,
    /// Bytes that the host wrote since the drive was new.
    pub host_bytes_ever: u64,
    /// Bytes that were programmed since then: data, copies, padding, and a map on flash.
    pub media_bytes_written_ever: u64,
    /// Bytes that were erased since then.
    pub media_bytes_erased_ever: u64,
    /// The reclaim groups, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupReport>,
    /// What happened.
    #[serde(flatten)]
    pub counts: PlacementCounts,
}

impl PlacementReport {
    pub(super) fn new<P: Probe, C: Contents>(
        counts: &PlacementCounts,
        device: &Device<P, C>,
    ) -> Option<PlacementReport> {
        let (fdp, life) = (device.fdp()?, device.placement_life()?);
        let written = &counts.sectors[..usize::from(fdp.counts().host)];
        let host_bytes: Vec<u64> = written.iter().map(|&it| it * SECTOR_BYTES).collect();
        let held = device.ftl().live_by_group();
        let groups = held.iter().zip(counts.moved_in_groups).enumerate();
        let groups = groups.map(|(group, (&pages, moved_pages))| GroupReport {
            host_bytes: host_bytes.iter().skip(group).step_by(held.len()).sum(),
            moved_pages,
            held_pages: pages.into(),
        });
        Some(PlacementReport {
            isolation: fdp.isolation().print(),
            reclaim_unit_bytes: device.reclaim_unit().0,
            groups: groups.collect(),
            host_bytes,
            host_bytes_ever: life.host.0,
            media_bytes_written_ever: life.media_written.0,
            media_bytes_erased_ever: life.media_erased.0,
            counts: *counts,
        })
    }
}
