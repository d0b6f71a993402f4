//! The options of zones.

use super::{ZoneRules, ZoneWindow};
use crate::options::Switch;
use crate::options::declare::{choices, options};
use crate::shape::ZoneShape;
use crate::units::Bytes;

options! {
    /// Zones: the host writes each in order and empties it as a whole.
    pub struct ZoneOptions at "host.zones" {
        /// Whether the namespace has zones.
        policy: ZonePolicy = "none", source "default: a conventional drive";
        /// The bytes that a zone holds. With "none" as many as the blocks that it fills: `ftl.placement.zone_blocks` of each of
        /// its planes with `ftl.placement.policy = "zoned"`, otherwise a block of every plane.
        capacity: Option<Bytes> = "none", in "4KiB"..="1TiB",
            source "default: zones then fill whole blocks, and nothing is left to copy",
            applies_with "host.zones.policy" is "zns";
        /// The distance of zones in the address space. With "none" the capacity, rounded up to a power of two.
        size: Option<Bytes> = "none", in "4KiB"..="1TiB",
            source "default: Linux up to 6.x takes powers of two only",
            applies_with "host.zones.policy" is "zns";
        /// Conventional zones, which come first and may be written anywhere.
        conventional: u32 = "0", in "0"..="1000000", unit "zones",
            source "ZBC; the command set of NVMe has none",
            applies_with "host.zones.policy" is "zns";
        /// Zones that may be open at a time, or "none" for any number.
        max_open: Option<u32> = "14", in "1"..="1000000", unit "zones",
            source "Western Digital Ultrastar DC ZN540",
            applies_with "host.zones.policy" is "zns";
        /// Zones that may be active at a time: open or closed. Or "none" for any number.
        max_active: Option<u32> = "14", in "1"..="1000000", unit "zones",
            source "Western Digital Ultrastar DC ZN540",
            applies_with "host.zones.policy" is "zns";
        /// The most data of an append.
        append_limit: Bytes = "128KiB", in "4KiB"..="32MiB",
            source "NVM Express ZNS 1.1, ZASL; default assumed",
            applies_with "host.zones.policy" is "zns";
        /// Whether a read may cross the border of two zones, if their capacity is their size.
        cross_reads: Switch = "off", source "NVM Express ZNS 1.1, OZCS, bit 0",
            applies_with "host.zones.policy" is "zns";
        /// The size of the random write area of a zone (ZRWA), or "none". A zone gets one when it is opened by command while it
        /// is empty.
        window: Option<Bytes> = "none", in "4KiB"..="64MiB",
            source "NVM Express TP4076; 1 MiB in drives that have it",
            applies_with "host.zones.policy" is "zns";
        /// What the random write area moves by.
        window_step: Bytes = "16KiB", in "4KiB"..="1MiB",
            source "NVM Express TP4076, ZRWAFG; default assumed",
            applies_with "host.zones.window" not "none";
        /// Zones that may have a random write area at a time.
        windows: u32 = "14", in "1"..="1000000", unit "zones",
            source "NVM Express TP4076, NUMZRWA; default as max_active",
            applies_with "host.zones.window" not "none";
    }
}

impl ZoneOptions {
    /// The rules for zones of this shape.
    #[must_use]
    pub fn rules(&self, shape: ZoneShape) -> ZoneRules {
        let no_limit = |limit: Option<u32>| limit.unwrap_or(u32::MAX);
        ZoneRules {
            shape,
            max_open: no_limit(self.max_open),
            max_active: no_limit(self.max_active),
            append_limit: self.append_limit.sectors(),
            cross_reads: self.cross_reads.is_on(),
            window: self.window.map(|size| ZoneWindow {
                size: size.sectors(),
                step: self.window_step.sectors(),
                most: self.windows,
            }),
        }
    }
}

choices! {
    /// The kind of namespace.
    pub enum ZonePolicy {
        /// Addresses may be written in any order.
        None = "none",
        /// Zones, by the NVM Express Zoned Namespace Command Set.
        Zns = "zns",
    }
}
