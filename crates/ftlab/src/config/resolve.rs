//! Resolves checked options to integers: the shape of the flash and the capacity that the host sees.

use super::options::Options;
use crate::ftl::mapping::dftl::translation_pages;
use crate::host::translation::{HostTranslation, LogRules};
use crate::host::zones::ZonePolicy;
use crate::shape::{FlashGeometry, Shape, Shares, SuperblockSpan, ZoneShape};
use crate::units::{Bytes, Ratio};

/// The number of channels that work as one.
pub(super) fn gang(options: &Options) -> u32 {
    let ftl = &options.ftl;
    let ganged = ftl.mapping.policy.log().is_some() && ftl.merge.planner.gangs_channels();
    if ganged { options.nand.channels } else { 1 }
}

/// The shape of the flash. Channels that work as one count as one.
pub(super) fn shape(options: &Options) -> Shape {
    let nand = &options.nand;
    let gang = gang(options);
    let page_size = Bytes(nand.flash_page().0 * u64::from(gang));
    Shape {
        channels: nand.channels / gang,
        chips_per_channel: nand.chips_per_channel,
        dies_per_chip: nand.dies_per_chip,
        planes_per_die: nand.planes_per_die,
        blocks_per_plane: nand.blocks_per_plane,
        pages_per_block: nand.flash_pages_per_block(),
        page_size,
        mapping_unit: options.ftl.mapping.unit.bytes(page_size),
    }
}

/// The superblocks that pages are numbered by. Without superblocks, parity has some of its own: of the same plane of its
/// dies. A check refuses dies that don't form whole groups.
pub(super) fn superblocks(options: &Options) -> Option<SuperblockSpan> {
    let flash = shape(options);
    let dies = flash.channels * flash.chips_per_channel * flash.dies_per_chip;
    let width = options.ftl.parity.stripe();
    let span = options.ftl.superblock.span(dies, flash.planes_per_die);
    let own = width.map(|dies| SuperblockSpan { dies, planes: 1, has_parity: true });
    let has_parity = width.is_some();
    let span = span.map(|span| SuperblockSpan { has_parity, ..span }).or(own)?;
    let least = 1 + u32::from(has_parity);
    (span.dies >= least && dies.is_multiple_of(span.dies)).then_some(span)
}

/// The flash.
pub(super) fn flash(options: &Options) -> FlashGeometry {
    FlashGeometry::of_flash(shape(options), superblocks(options))
}

/// The shape that the FTL fills: the flash, or the volume of superblocks over several dies. A check
/// refuses dies that don't form whole groups.
pub(super) fn volume(options: &Options) -> Shape {
    let flash = shape(options);
    superblocks(options).map_or(flash, |span| span.volume(&flash))
}

/// The division of a plane's blocks by a mapping with a log: the log blocks are `ftl.over_provisioning` of the data
/// blocks. Without `ftl.capacity` there are as many of both as fit.
pub(super) fn shares(options: &Options) -> Option<Shares> {
    options.ftl.mapping.policy.log()?;
    let counts = ShapeCounts::of(&shape(options))?;
    let share = options.ftl.over_provisioning;
    let blocks = u64::from(options.nand.blocks_per_plane);
    let data = match options.ftl.capacity {
        Some(Bytes(capacity)) => {
            let page = shape(options).page_size.0;
            capacity.div_ceil((counts.planes * counts.units_per_block).saturating_mul(page))
        }
        None => {
            let fits = |data: &u64| data + share.of(*data) + u64::from(Shares::BESIDE) <= blocks;
            let whole = u64::from(Ratio::ONE.ppm);
            let most = blocks * whole / (whole + u64::from(share.ppm)) + 1;
            (0..=most).rev().find(fits).unwrap_or(0)
        }
    };
    let count = |blocks: u64| u32::try_from(blocks).unwrap_or(u32::MAX);
    Some(Shares { data: count(data), log: count(share.of(data)) })
}

/// The number of logical pages (mapping units) that the host sees.
pub(super) fn logical_pages(options: &Options) -> u64 {
    let shape = volume(options);
    let counts = ShapeCounts::of(&shape).expect("a checked shape");
    let offered = match shares(options) {
        Some(shares) => u64::from(shares.data) * counts.planes * counts.units_per_block,
        None => counts.logical(options.ftl.over_provisioning),
    };
    let wanted = options.ftl.capacity.map(|capacity| capacity.0 / shape.mapping_unit.0);
    let all = offered.min(wanted.unwrap_or(offered));
    match zone_pages(options) {
        // Each group of planes gets as many zones.
        Some(pages) => {
            let whole = pages * u64::from(zone_groups(options));
            all / whole * whole
        }
        None => all,
    }
}

/// Groups of planes to which zones belong in turn.
fn zone_groups(options: &Options) -> u32 {
    let volume = volume(options);
    let dies = volume.channels * volume.chips_per_channel * volume.dies_per_chip;
    let zoned = options.ftl.placement.policy.zoned();
    let planes = zoned.and_then(|zoned| zoned.planes(dies, volume.planes_per_die));
    planes.map_or(1, |planes| dies * volume.planes_per_die / planes)
}

/// The planes over which the flash pages of a zone go in turn.
pub(super) fn zone_width(options: &Options) -> u32 {
    let volume = volume(options);
    let dies = volume.channels * volume.chips_per_channel * volume.dies_per_chip;
    dies * volume.planes_per_die / zone_groups(options)
}

/// The mapping units of a zone, if there are zones.
fn zone_pages(options: &Options) -> Option<u64> {
    let zones = &options.host.zones;
    if zones.policy == ZonePolicy::None {
        return None;
    }
    let volume = volume(options);
    let capacity = zones.capacity.map_or_else(|| zone_capacity(options), |Bytes(given)| given);
    Some((capacity / volume.mapping_unit.0).max(1))
}

/// The bytes that the blocks of a zone hold.
pub(super) fn zone_capacity(options: &Options) -> u64 {
    let volume = volume(options);
    let dies = volume.channels * volume.chips_per_channel * volume.dies_per_chip;
    let all = dies * volume.planes_per_die;
    let block = u64::from(volume.pages_per_block) * volume.page_size.0;
    match options.ftl.placement.policy.zoned() {
        Some(zoned) => {
            let planes = zoned.planes(dies, volume.planes_per_die).unwrap_or(all);
            zoned.capacity(planes, Bytes(block)).0
        }
        None => u64::from(all) * block,
    }
}

/// The zones, if there are any.
pub(super) fn zones(options: &Options) -> Option<ZoneShape> {
    let pages = zone_pages(options)?;
    let volume = volume(options);
    let unit = volume.mapping_unit.0;
    let size = options.host.zones.size.map_or((pages * unit).next_power_of_two(), |size| size.0);
    Some(ZoneShape {
        pages: u32::try_from(pages).unwrap_or(u32::MAX),
        count: u32::try_from(logical_pages(options) / pages).unwrap_or(u32::MAX),
        conventional: options.host.zones.conventional,
        groups: zone_groups(options),
        unit,
        size,
    })
}

/// The counts of a shape, which may be too large for the tables of the device. Within the ranges of
/// the options, no product exceeds 2^62.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShapeCounts {
    pub planes: u64,
    pub units_per_page: u64,
    pub units_per_block: u64,
    /// Mapping units of the whole device.
    pub units: u64,
}

impl ShapeCounts {
    /// Counts a shape; `None` if its mapping unit does not divide the flash page.
    pub fn of(shape: &Shape) -> Option<ShapeCounts> {
        let rest = shape.page_size.0.checked_rem(shape.mapping_unit.0)?;
        let chips = u64::from(shape.channels) * u64::from(shape.chips_per_channel);
        let planes_per_chip = u64::from(shape.dies_per_chip) * u64::from(shape.planes_per_die);
        let planes = chips * planes_per_chip;
        let units_per_page = shape.page_size.0 / shape.mapping_unit.0;
        let units_per_block = u64::from(shape.pages_per_block) * units_per_page;
        let units = planes * u64::from(shape.blocks_per_plane) * units_per_block;
        (rest == 0).then_some(ShapeCounts { planes, units_per_page, units_per_block, units })
    }

    /// Mapping units that the host sees: physical = logical x (1 + over-provisioning).
    pub fn logical(&self, over_provisioning: Ratio) -> u64 {
        let whole = u64::from(Ratio::ONE.ppm);
        let wide = u128::from(self.units) * u128::from(whole)
            / u128::from(whole + u64::from(over_provisioning.ppm));
        u64::try_from(wide).expect("no more than there are physically")
    }

    /// The most mapping units of the host on one plane: whole flash pages in turn over all planes.
    pub fn logical_units_per_plane(&self, over_provisioning: Ratio) -> u64 {
        let pages = self.logical(over_provisioning).div_ceil(self.units_per_page);
        pages.div_ceil(self.planes) * self.units_per_page
    }

    /// Mapping units of one plane that hold a map of `logical` units, if it is on flash: whole
    /// flash pages in turn over all planes.
    pub fn map_units_per_plane(&self, logical: u64, page_size: Bytes) -> u64 {
        translation_pages(logical, page_size).div_ceil(self.planes) * self.units_per_page
    }

    /// Blocks that the logical share of a plane fills, including this many units of the map.
    pub fn logical_blocks_per_plane(&self, over_provisioning: Ratio, map_units: u64) -> u64 {
        let share = self.logical(over_provisioning).div_ceil(self.planes) + map_units;
        share.div_ceil(self.units_per_block)
    }
}

/// The rules of the host's log-structured store, if there is one. It needs zones.
pub(super) fn host_translation(options: &Options) -> Option<LogRules> {
    let host = &options.host;
    let rules = host.zones.rules(zones(options)?);
    (host.translation.policy == HostTranslation::Log).then(|| host.translation.rules(&rules))
}
