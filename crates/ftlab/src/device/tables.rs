//! Estimates the memory that the tables of a device need, so that a front end can report it before it builds one.
//! docs/inside.md, "Memory per page", lists the tables. List links and counters of policies are left out.

use crate::config::Config;
use crate::ftl::mapping::DftlOptions;
use crate::ftl::mapping::dftl::translation_pages;
use crate::shape::Geometry;
use crate::units::{Bytes, SECTOR_BYTES};

/// The size of an entry of the mapping, and of an owner of a page.
const ENTRY: u64 = size_of::<u32>() as u64;
/// Per block: its record, its place in the order of closing, its collections.
const BLOCK: u64 = 16 + 8 + 4;

/// With parity across dies, per superblock: commands in flight.
const SUPERBLOCK: u64 = 4;

/// With a log: a block in use with its place in a list, a data block, and the bits of a page.
const LOG_BLOCK: u64 = 12 + 8;
const DATA_BLOCK: u64 = 4 + 4;
const LOG_BITS: u64 = 2;

/// With recovery: the version of a page.
const VERSION: u64 = size_of::<u64>() as u64;

/// If programs differ in cost: bits per flash page and per logical page, bytes per block.
const COST_BITS: u64 = 2;
const PAST_BITS: u64 = 2;
const COST_BLOCK: u64 = 4 + 4;

/// The memory of a device's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Memory that is allocated at the start. The operating system provides it only where tables
    /// are touched, but many systems refuse amounts that they could never provide.
    pub reserved: Bytes,
    /// The least memory that has been touched when every logical page was written once.
    pub written: Bytes,
}

impl Tables {
    /// Returns the size of the tables for a configuration.
    #[must_use]
    pub fn of(config: &Config) -> Tables {
        let geometry = Geometry::new(config.volume());
        let (physical, logical) = (geometry.physical_pages(), config.logical_pages());
        let (physical, logical) = (u64::from(physical), u64::from(logical));
        let costs = of_costs(config, &geometry);
        let under_way = config.options.ftl.parity.stripe().map_or(0, |_| SUPERBLOCK);
        let blocks = u64::from(geometry.blocks()) * (BLOCK + under_way) + costs;
        if !config.options.ftl.mapping.policy.translates() {
            // There is neither a map nor a table of owners.
            let valid = physical / u64::from(u8::BITS);
            return Tables { reserved: Bytes(valid + blocks), written: Bytes(0) };
        }
        let on_flash = config.options.ftl.mapping.policy.on_flash();
        let map = on_flash.map_or(0, |options| of_map(options, logical, config.shape().page_size));
        let sectors = config.shape().mapping_unit.0 / SECTOR_BYTES;
        let masks = physical * sectors.div_ceil(u64::from(u8::BITS));
        let valid = physical / u64::from(u8::BITS);
        let log = config.shares().map_or(0, |shares| {
            let data_blocks = u64::from(geometry.planes()) * u64::from(shares.data);
            u64::from(geometry.blocks()) * LOG_BLOCK
                + data_blocks * DATA_BLOCK
                + logical * LOG_BITS / u64::from(u8::BITS)
        });
        let hints = &config.options.host.hints.policy;
        let hints = hints.memory(Bytes(logical * config.shape().mapping_unit.0)).0;
        let streams = logical * config.options.ftl.streams.policy.bytes_per_page() + hints;
        let recovery = of_recovery(config, physical, logical);
        let versions = if recovery > 0 { logical * VERSION } else { 0 };
        Tables {
            reserved: Bytes(
                logical * ENTRY
                    + physical * ENTRY
                    + masks
                    + valid
                    + blocks
                    + log
                    + map
                    + streams
                    + recovery,
            ),
            written: Bytes(
                logical * (2 * ENTRY) + logical / u64::from(u8::BITS) + streams + versions,
            ),
        }
    }
}

/// A map on flash needs, besides the flat table: the directory, an index of the entries in memory, and these entries.
fn of_map(options: &DftlOptions, logical: u64, page_size: Bytes) -> u64 {
    /// An entry in memory with its places in two lists.
    const CACHED: u64 = 24;
    let directory = translation_pages(logical, page_size) * ENTRY;
    directory + logical * ENTRY + options.entries().min(logical) * CACHED
}

/// Recovery from power cuts keeps versions by place (two if pages are packed), deallocations by
/// logical page, and the last checkpoint.
fn of_recovery(config: &Config, physical: u64, logical: u64) -> u64 {
    /// An entry of a checkpoint.
    const CHECKPOINT: u64 = 16;
    let policy = &config.options.ftl.recovery.policy;
    if !policy.survives() {
        return 0;
    }
    let packs = config.options.ftl.mapping.policy.packs();
    let places = physical * VERSION * if packs { 2 } else { 1 };
    let checkpoint = if policy.writes_checkpoints() { CHECKPOINT * logical } else { 0 };
    places + logical * VERSION + checkpoint
}

/// Costs need classes of flash pages, ages and erases of blocks, and the history of pages.
fn of_costs(config: &Config, geometry: &Geometry) -> u64 {
    let options = &config.options;
    if !options.nand.timing.policy.knows_costs() {
        return 0;
    }
    let bits = u64::from(u8::BITS);
    let flash_pages = u64::from(geometry.physical_pages() / geometry.units_per_page());
    let past = match options.ftl.cost.policy.agcr() {
        Some(_) => u64::from(config.logical_pages()) * PAST_BITS / bits,
        None => 0,
    };
    flash_pages * COST_BITS / bits + u64::from(geometry.blocks()) * COST_BLOCK + past
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Layer;

    #[test]
    fn a_written_page_takes_eight_bytes_and_a_bit() {
        let config = Config::load(&[Layer::preset("tiny")]).unwrap();
        let Tables { reserved, written } = Tables::of(&config);
        assert_eq!(written.0, 6_144 * 8 + 6_144 / 8);
        // 256 blocks of 32 pages with eight sectors each.
        assert_eq!(reserved.0, 6_144 * 4 + 8_192 * (4 + 1) + 8_192 / 8 + 256 * 28);
    }

    #[test]
    fn last_writes_of_pages_count() {
        let tables = |streams: &str| {
            let sets = ["nand.blocks_per_plane=64", streams];
            let sets = sets.iter().enumerate().map(|(at, set)| Layer::set(at + 1, set));
            let layers: Vec<Layer> = std::iter::once(Layer::preset("tiny")).chain(sets).collect();
            Tables::of(&Config::load(&layers).unwrap())
        };
        let without = tables("ftl.streams.policy=by-host-stream");
        for (policy, bytes) in
            [("sepbit", 4), ("warcip", 4), ("dac", 5), ("multi-log", 5), ("sfs", 6), ("midas", 5)]
        {
            let with = tables(&format!("ftl.streams.policy={policy}"));
            assert_eq!(with.reserved.0 - without.reserved.0, 2 * 6_144 * bytes, "{policy}");
            assert_eq!(with.written.0 - without.written.0, 2 * 6_144 * bytes, "{policy}");
        }
    }
}
