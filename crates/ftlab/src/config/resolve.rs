//! From checked options to the integers that the device is built from.

use super::options::Options;
use super::policies::{CachePolicy, Timing};
use crate::units::{Bytes, BytesPerSec, Nanos, Ratio};

/// How the flash is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Channels of the device.
    pub channels: u32,
    /// Chips of a channel.
    pub chips_per_channel: u32,
    /// Dies of a chip.
    pub dies_per_chip: u32,
    /// Planes of a die.
    pub planes_per_die: u32,
    /// Blocks of a plane.
    pub blocks_per_plane: u32,
    /// Flash pages of a block.
    pub pages_per_block: u32,
    /// The size of a flash page.
    pub page: Bytes,
    /// The size of what is mapped as a whole.
    pub unit: Bytes,
}

// Within the ranges of the options none of these products passes 2^62.
impl Geometry {
    /// Dies of the device.
    #[must_use]
    pub const fn dies(&self) -> u64 {
        self.channels as u64 * self.chips_per_channel as u64 * self.dies_per_chip as u64
    }

    /// Planes of the device.
    #[must_use]
    pub const fn planes(&self) -> u64 {
        self.dies() * self.planes_per_die as u64
    }

    /// Mapping units of a flash page.
    #[must_use]
    pub const fn units_per_page(&self) -> u64 {
        self.page.0 / self.unit.0
    }

    /// Mapping units of a block.
    #[must_use]
    pub const fn units_per_block(&self) -> u64 {
        self.pages_per_block as u64 * self.units_per_page()
    }

    /// Mapping units of the whole device.
    #[must_use]
    pub const fn units(&self) -> u64 {
        self.planes() * self.blocks_per_plane as u64 * self.units_per_block()
    }

    /// Mapping units that the host sees, given the capacity beyond them.
    #[must_use]
    pub fn logical_units(&self, over_provisioning: Ratio) -> u64 {
        let whole = u64::from(Ratio::ONE.ppm);
        let wide = u128::from(self.units()) * u128::from(whole)
            / u128::from(whole + u64::from(over_provisioning.ppm));
        u64::try_from(wide).unwrap_or(u64::MAX)
    }

    /// Blocks that the logical share of a plane fills.
    #[must_use]
    pub fn logical_blocks_per_plane(&self, over_provisioning: Ratio) -> u64 {
        let share = self.logical_units(over_provisioning).div_ceil(self.planes());
        share.div_ceil(self.units_per_block())
    }
}

/// How long the operations of a die take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageTimes {
    /// Sensing a page of each type: page i of a block has type i modulo the length.
    pub read: Vec<Nanos>,
    /// Programming a page of each type; as long as `read`.
    pub program: Vec<Nanos>,
    /// Erasing a block.
    pub erase: Nanos,
}

/// When collection runs, in blocks of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcThresholds {
    /// Free blocks at or below which it starts.
    pub start: u32,
    /// Free blocks at which it rests.
    pub stop: u32,
    /// Free blocks that only collection may take.
    pub reserve: u32,
    /// Pages copied at once.
    pub copies_in_flight: u32,
}

/// The DRAM of a write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Mapping units that it holds.
    pub units: u64,
    /// Dirty mapping units at which write-back begins in the background; equal to `units` if pages
    /// are written back only when room is needed.
    pub write_back_start: u64,
    /// Moving a page to or from DRAM.
    pub latency: Nanos,
}

/// A config as integers. Which policies are in force stays in
/// [`Config::options`](super::Config::options).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// How the flash is divided.
    pub geometry: Geometry,
    /// Mapping units that the host sees.
    pub logical_units: u32,
    /// What a read moves over the bus at least.
    pub codeword: Bytes,
    /// The rate of each channel's bus.
    pub bus: BytesPerSec,
    /// How long the operations of a die take.
    pub times: PageTimes,
    /// When collection runs.
    pub gc: GcThresholds,
    /// The write buffer, if there is one.
    pub buffer: Option<Buffer>,
}

pub(super) fn geometry(options: &Options) -> Geometry {
    let nand = &options.nand;
    Geometry {
        channels: nand.channels,
        chips_per_channel: nand.chips_per_channel,
        dies_per_chip: nand.dies_per_chip,
        planes_per_die: nand.planes_per_die,
        blocks_per_plane: nand.blocks_per_plane,
        pages_per_block: nand.pages_per_block,
        page: nand.page_size,
        unit: options.ftl.mapping.unit.bytes(nand.page_size),
    }
}

pub(super) fn times(options: &Options) -> PageTimes {
    let erase = options.nand.timing.erase;
    match &options.nand.timing.policy {
        Timing::Plain(plain) => {
            PageTimes { read: vec![plain.read], program: vec![plain.program], erase }
        }
        Timing::PageType(by_type) => PageTimes {
            read: by_type.read_by_type.clone(),
            program: by_type.program_by_type.clone(),
            erase,
        },
    }
}

pub(super) fn resolve(options: &Options) -> Resolved {
    let geometry = geometry(options);
    let logical = geometry.logical_units(options.ftl.over_provisioning);
    let gc = &options.ftl.gc;
    Resolved {
        geometry,
        // The check of the whole leaves no device with 2^31 units or more.
        logical_units: u32::try_from(logical).unwrap_or(u32::MAX),
        codeword: options.nand.codeword,
        bus: options.nand.bus.rate,
        times: times(options),
        gc: GcThresholds {
            start: gc.start,
            stop: gc.stop,
            reserve: gc.reserve,
            copies_in_flight: gc.copies_in_flight,
        },
        buffer: buffer(options, geometry.unit),
    }
}

fn buffer(options: &Options, unit: Bytes) -> Option<Buffer> {
    match &options.cache.policy {
        CachePolicy::None(_) => None,
        CachePolicy::Lru(lru) => {
            let units = lru.buffer.capacity.0 / unit.0;
            Some(Buffer {
                units,
                write_back_start: lru.buffer.write_back_start.of(units),
                latency: lru.buffer.latency,
            })
        }
    }
}
