//! Checks of what was kept outside of the device: recovery believes numbers, and indexes tables by them.

use super::kept::{KeptBlock, KeptFacts, KeptPage};
use super::record;
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::streams::{MOST_STREAMS, WriteStream};
use crate::ftl::{BlockState, Ftl};
use crate::image::Damage;
use crate::units::{BlockId, Ppn, SectorMask};

/// What the device can have kept.
pub(super) struct KeptLimits {
    units_per_block: u32,
    /// Logical pages, with those of a map on flash.
    pages: u32,
    /// The sectors of a page.
    whole: SectorMask,
    packs: bool,
    /// Data blocks, under a mapping that merges blocks.
    data_blocks: u64,
    /// Mapping units of a block in SLC mode; none without an SLC cache.
    slc_units: Option<u32>,
    /// Whether dies can have died.
    dies_die: bool,
    next_version: u64,
    openings: u64,
}

impl KeptLimits {
    /// The limits of a device with these facts.
    ///
    /// # Errors
    /// The facts are not those of such a device.
    pub(super) fn new(facts: &KeptFacts, ftl: &Ftl) -> Result<KeptLimits, Damage> {
        let data_blocks = ftl.map.mapping.log().map(|(tables, _)| tables.all_data_blocks().count());
        let limits = KeptLimits {
            units_per_block: ftl.geometry.units_per_block(),
            pages: ftl.map.mapping.dftl().map_or(ftl.logical_pages, |map| map.all_pages()),
            whole: ftl.full_page(),
            packs: ftl.packs(),
            data_blocks: data_blocks.unwrap_or(0) as u64,
            slc_units: ftl.features.slc.is_some().then(|| ftl.blocks.slc_units()),
            dies_die: ftl.health.life.is_some(),
            next_version: facts.next_version,
            openings: facts.openings,
        };
        if facts.next_version == 0 || facts.next_version > record::MOST_VERSIONS {
            return Err(Damage(format!("{} is no version", facts.next_version)));
        }
        if facts.openings > record::MOST_VERSIONS {
            return Err(Damage(format!("{} blocks can't have been opened", facts.openings)));
        }
        Ok(limits)
    }

    /// Checks a block.
    ///
    /// # Errors
    /// The device has no such block.
    pub(super) fn block(&self, block: BlockId, kept: &KeptBlock) -> Result<(), Damage> {
        let KeptBlock { erases, programmed, state, stream, opening, purpose, giving_up: _ } = *kept;
        let has_stream = usize::from(stream) < MOST_STREAMS;
        let units = match has_stream && WriteStream::new(stream) == WriteStream::SLC {
            true => self.slc_units.unwrap_or(0),
            false => self.units_per_block,
        };
        // Zero is any log block, and then each data block has two numbers.
        let has_purpose = purpose == 0 || (1..=self.data_blocks).contains(&(purpose / 2));
        let right = erases < u32::MAX
            && units > 0
            && programmed <= units
            && (state != BlockState::Dead || self.dies_die)
            && has_stream
            && opening <= self.openings
            && has_purpose;
        match right {
            true => Ok(()),
            false => Err(Damage(format!("{block:?} can't be as it was kept: {kept:?}"))),
        }
    }

    /// Checks a page.
    ///
    /// # Errors
    /// The device has no such page.
    pub(super) fn page(&self, at: Ppn, page: &KeptPage) -> Result<(), Damage> {
        for part in page.parts {
            if part.owner.is_some_and(|owner| owner.get() >= self.pages) {
                return Err(Damage(format!("{at:?} belongs to no page of the device")));
            }
            if !self.whole.covers(part.sectors) || !self.whole.covers(page.lost) {
                return Err(Damage(format!("{at:?} holds sectors that no page has")));
            }
            if record::version_of(part.version) >= self.next_version {
                return Err(Damage(format!("{at:?} has a version that was never written")));
            }
        }
        let [first, second] = page.parts.map(|part| part.owner);
        match second {
            Some(_) if !self.packs || first.is_none() || first == second => {
                Err(Damage(format!("{at:?} can't hold two pages")))
            }
            _ => Ok(()),
        }
    }

    /// Whether a trim can have this version.
    pub(super) fn has_version(&self, version: u64) -> bool {
        (1..self.next_version).contains(&version)
    }
}
