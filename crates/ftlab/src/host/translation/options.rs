//! The options of the host's translation.

use super::CleaningOrder;
use crate::host::zones::ZoneRules;
use crate::options::declare::{choices, options};
use crate::units::{Bytes, Nanos, Ratio};

options! {
    /// Translation by the host: a log-structured store on the zones of the device.
    pub struct HostTranslationOptions at "host.translation" {
        /// Whether the host translates addresses.
        policy: HostTranslation = "none", source "default: loads address the device itself";
        /// The size of a block, which the map of the host translates.
        map_block: Bytes = "4KiB", in "512B"..="128KiB", source "F2FS and dm-zoned: 4 KiB",
            applies_with "host.translation.policy" is "log";
        /// The capacity of all zones beyond that of the store, as a share of the latter.
        spare: Ratio = "15%", in "1%"..="1000%",
            source "default: near what F2FS sets aside for cleaning on small volumes; assumed",
            applies_with "host.translation.policy" is "log";
        /// Which writes share zones.
        placement: LogPlacement = "hot-cold", source "default: F2FS moves what it cleans to a log of its own",
            applies_with "host.translation.policy" is "log";
        /// Open zones for streams of the host, which share them in turn.
        streams: u32 = "4", in "1"..="64", unit "zones", source "assumed; F2FS has six logs",
            applies_with "host.translation.placement" is "by-stream";
        /// Which zone is cleaned.
        cleaning: CleaningOrder = "cost-benefit", source "default: F2FS in the background; Rosenblum and Ousterhout 1992",
            applies_with "host.translation.policy" is "log";
        /// Cleaning begins in the background when fewer zones than this are free. One zone is always kept for copies, and
        /// writes wait where they would take it.
        clean_below: u32 = "4", in "2"..="100000", unit "zones", source "assumed; few, so that victims lose blocks before",
            applies_with "host.translation.policy" is "log";
        /// Requests of cleaning that are in the device at once.
        copies_at_once: u32 = "8", in "1"..="1024", unit "requests", source "assumed; enough to keep a few dies busy",
            applies_with "host.translation.policy" is "log";
        /// The time of the host's processor to translate a block of a request. Requests are translated one after the other;
        /// cleaning has a processor of its own.
        map_cost: Nanos = "100ns", in "0ns"..="1ms",
            source "assumed: a miss of the processor's caches, for the entry of a large map",
            applies_with "host.translation.policy" is "log";
    }
}

choices! {
    /// Whether the host translates addresses.
    pub enum HostTranslation {
        /// Loads address the device itself.
        None = "none",
        /// A log-structured store on zones.
        Log = "log",
    }
}

choices! {
    /// Which writes share zones.
    pub enum LogPlacement {
        /// All of them, copies too.
        Single = "single",
        /// Copies have zones of their own.
        HotCold = "hot-cold",
        /// Streams of the host have zones of their own, and copies, too.
        ByStream = "by-stream",
    }
}

/// The rules of a store on zones of a certain shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRules {
    /// Sectors of a block.
    pub block_sectors: u32,
    /// Blocks that the host can address.
    pub blocks: u32,
    /// Zones of the device.
    pub zones: u32,
    /// Blocks of a zone.
    pub zone_blocks: u32,
    /// The distance of zones in the address space of the device, in sectors.
    pub zone_size: u64,
    /// The most blocks of an append.
    pub append_blocks: u32,
    /// Open zones for writes of the host. Copies have a further one, unless they share the only one.
    pub host_classes: u32,
    /// Whether copies share the zone of writes.
    pub is_shared: bool,
    /// Which zone is cleaned.
    pub cleaning: CleaningOrder,
    /// Free zones below which cleaning begins.
    pub clean_below: u32,
    /// Requests of cleaning in the device.
    pub copies: u32,
    /// Zones that the device can hold open, and active.
    pub most_active: u32,
    /// The time to translate a block.
    pub map_cost: Nanos,
}

impl LogRules {
    /// Sectors that the host can address.
    #[must_use]
    pub const fn capacity_sectors(&self) -> u64 {
        self.blocks as u64 * self.block_sectors as u64
    }

    /// Sectors that a zone holds.
    #[must_use]
    pub const fn zone_sectors(&self) -> u64 {
        self.zone_blocks as u64 * self.block_sectors as u64
    }

    /// The end on the device of this many sectors, in whole blocks, written in order.
    #[must_use]
    pub const fn end_on_device(&self, sectors: u64) -> u64 {
        let whole = sectors / self.block_sectors as u64 * self.block_sectors as u64;
        whole / self.zone_sectors() * self.zone_size + whole % self.zone_sectors()
    }

    /// The memory of the tables: a number for each block, and for each place.
    #[must_use]
    pub const fn table_bytes(&self) -> u64 {
        let places = self.zones as u64 * self.zone_blocks as u64;
        (self.blocks as u64 + places) * size_of::<u32>() as u64
    }

    /// Open zones at a time.
    #[must_use]
    pub const fn classes(&self) -> u32 {
        self.host_classes + !self.is_shared as u32
    }

    /// Zones that the store needs beyond its capacity, so that some zone always has a block that is not valid: the open ones,
    /// the one that is kept for copies, and one to clean.
    #[must_use]
    pub const fn zones_apart(&self) -> u32 {
        self.classes() + 2
    }
}

impl HostTranslationOptions {
    /// The rules on zones with these rules.
    #[must_use]
    pub fn rules(&self, of_device: &ZoneRules) -> LogRules {
        let zones = of_device.shape;
        let block_sectors = self.map_block.sectors();
        let zone_blocks = zones.capacity_sectors() / block_sectors;
        let all = u128::from(zone_blocks) * u128::from(zones.count);
        let whole = u128::from(Ratio::ONE.ppm);
        let blocks = all * whole / (whole + u128::from(self.spare.ppm));
        // Checked: the places of all zones have 32 bits, and an append holds at least a block.
        let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        LogRules {
            block_sectors: narrow(block_sectors),
            blocks: u32::try_from(blocks).unwrap_or(u32::MAX),
            zones: zones.count,
            zone_blocks: narrow(zone_blocks),
            zone_size: zones.size_sectors(),
            append_blocks: narrow(of_device.append_limit / block_sectors),
            host_classes: if self.placement == LogPlacement::ByStream { self.streams } else { 1 },
            is_shared: self.placement == LogPlacement::Single,
            cleaning: self.cleaning,
            clean_below: self.clean_below,
            copies: self.copies_at_once,
            most_active: of_device.max_open.min(of_device.max_active),
            map_cost: self.map_cost,
        }
    }
}
