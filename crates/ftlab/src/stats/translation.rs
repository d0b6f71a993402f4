//! The map on flash in the report: the cost of demand paging.

use serde::Serialize;

use super::DeviceCounters;
use super::figures::{flash_bytes, map_bytes, ratio};
use crate::device::{Contents, Device};
use crate::ftl::mapping::Dftl;
use crate::ftl::mapping::dftl::{Cause, DemandCounts};
use crate::scheduler::{Kind, Origin, Probe};

/// Demand paging of the map (`ftl.mapping.policy = "dftl"`). Translation pages are flash pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Translation {
    /// Entries that fit into memory, the controller's and the host's.
    pub cache_entries: u32,
    /// Those that were there at the end.
    pub cached_entries: u32,
    /// Entries of the whole map.
    pub map_entries: u32,
    /// Translation pages of the whole map.
    pub map_pages: u32,
    /// What look-ups and evictions did.
    #[serde(flatten)]
    pub counts: DemandCounts,
    /// The share of all look-ups that found their entry in memory, the controller's or the host's; null without any.
    pub hit_ratio: Option<f64>,
    /// Translation pages read for look-ups that missed.
    pub load_reads: u64,
    /// Translation pages read for entries that made room, to be written anew.
    pub eviction_reads: u64,
    /// Those that were written.
    pub eviction_programs: u64,
    /// Translation pages read for data that collection moved, to be written anew.
    pub gc_reads: u64,
    /// Those that were written.
    pub gc_programs: u64,
    /// Translation pages read for trims, to be written anew.
    pub trim_reads: u64,
    /// Those that were written.
    pub trim_programs: u64,
    /// Translation pages that collecting such blocks copied.
    pub copied_pages: f64,
    /// Translation pages read, except for these copies, for every flash page that was read for the
    /// host; null if none was.
    pub read_ratio: Option<f64>,
    /// Bytes of translation pages programmed, copies included, for every byte that the host wrote.
    pub write_ratio: Option<f64>,
    /// All other bytes programmed for every byte that the host wrote; the sum with `write_ratio` is
    /// the write amplification.
    pub data_write_ratio: Option<f64>,
}

pub(super) fn translation<P: Probe, C: Contents>(
    counters: &DeviceCounters,
    device: &Device<P, C>,
    map: &Dftl,
    host_bytes: u64,
) -> Translation {
    let counts = &counters.map;
    let shape = device.flash().geometry().shape();
    let units = shape.page_size.0 / shape.mapping_unit.0;
    let sum = |of: &[u64], causes: &[Cause]| -> u64 {
        causes.iter().map(|&cause| of[cause as usize]).sum()
    };
    let reads = |causes: &[Cause]| sum(&counts.reads, causes);
    let programs = |causes: &[Cause]| sum(&counts.programs, causes);
    let room = [Cause::RoomForRead, Cause::RoomForWrite];
    let hits = counts.read_hits + counts.write_hits + counts.from_host;
    let misses = counts.read_misses + counts.write_misses;
    let all_reads: u64 = counts.reads.iter().sum();
    // Reads of translation pages are counted as the host's if a host read waited for them.
    let for_map = reads(&[Cause::HostRead, Cause::RoomForRead]);
    let host: u64 = counters.commands[Origin::Host as usize][Kind::Read as usize];
    let map_bytes = map_bytes(counts, shape);
    let all_bytes = flash_bytes(counters, shape.page_size.0);
    let a_byte = |bytes: u64| ratio(bytes as f64, host_bytes as f64);
    Translation {
        cache_entries: map.cached().capacity(),
        cached_entries: map.cached().held(),
        map_entries: device.ftl().logical_pages(),
        map_pages: map.translation_pages(),
        counts: *counts,
        hit_ratio: ratio(hits as f64, (hits + misses) as f64),
        load_reads: reads(&[Cause::HostRead, Cause::WriteBack]),
        eviction_reads: reads(&room),
        eviction_programs: programs(&room),
        gc_reads: reads(&[Cause::Collection]),
        gc_programs: programs(&[Cause::Collection]),
        trim_reads: reads(&[Cause::Trim]),
        trim_programs: programs(&[Cause::Trim]),
        copied_pages: counts.copies as f64 / units as f64,
        read_ratio: ratio(all_reads as f64, host.saturating_sub(for_map) as f64),
        write_ratio: a_byte(map_bytes),
        data_write_ratio: a_byte(all_bytes.saturating_sub(map_bytes)),
    }
}
