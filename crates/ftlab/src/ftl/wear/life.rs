//! The loss of blocks, and the end of a device's life.
//!
//! A block is lost if it is bad from the factory, if a program on it fails (its other pages stay
//! readable until they are moved), or if an erase of it fails. Losses reduce the spare capacity.
//! The device stops taking writes before it would break a promise:
//!
//! - *Too few blocks*: a plane has so few good blocks left that its share of the logical pages
//!   might leave nothing worth collecting (the rule that `config/check.rs` applies to a new
//!   device), and no zone can go out of service instead ([`shortage`](super::shortage)).
//! - *No room*: successive failures used up the reserve of a plane, and nothing worth collecting
//!   fits into the rest.
//!
//! To lose no data at the end, each plane of a device that can fail keeps more blocks in reserve:
//! one for a failed erase, and its part of the data that the write buffer may hold at the end
//! (`drain_pages`). From then on, writes are refused, acknowledged data is written wherever there
//! is room, and reads continue.
//!
//! Source: NVM Express Base Specification, SMART / Health Information (critical warning "media has
//! been placed in read only mode", available spare, percentage used).

use std::fmt;

use serde::Serialize;

use crate::ftl::mapping::MappingPolicy;
use crate::ftl::streams::{StreamCounts, StreamsPolicy, WriteStream};
use crate::ftl::wear::shortage::Shortage;
use crate::ftl::wear::{Losses, dies};
use crate::ftl::{BlockState, Ftl, kept_back, least_pages, slc, superblock};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::nand::Faults;
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

/// Why the device takes no writes any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// A plane has too few good blocks.
    TooFewBlocks,
    /// A plane has no room left for garbage collection.
    NoRoom,
    /// Dies died, and the others have no room for the valid pages.
    DiesDied,
}

impl EndReason {
    const ALL: [EndReason; 3] = [EndReason::TooFewBlocks, EndReason::NoRoom, EndReason::DiesDied];
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EndReason::TooFewBlocks => "a plane had too few good blocks left",
            EndReason::NoRoom => "a plane had no room left for garbage collection",
            EndReason::DiesDied => {
                "dies had died, and what was left had no room for the valid data"
            }
        })
    }
}

/// A block on which a program failed and that still has programs in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failing {
    pub(super) block: BlockId,
    /// Number of its mapping units that are taken.
    pub(super) taken: u32,
}

/// The state of a device on which operations can fail.
#[derive(Clone, Debug)]
pub struct Life {
    pub(in crate::ftl) faults: Faults,
    /// Blocks of each plane that are not the SLC cache's own: the first ones. Only they have to hold the data.
    native: u32,
    /// By plane: number of good native blocks.
    pub(super) good: Vec<u32>,
    /// By plane: number of good native blocks of the new device, less what they lacked.
    pub(super) good_at_first: Vec<u32>,
    /// By plane: flash pages that its good native blocks lack, because superblocks go on without bad blocks.
    lacking: Vec<u32>,
    /// Flash pages that a bad block costs: all of its own, or those of a superblock that were to be on it.
    pages_of_bad: u32,
    /// Flash pages whose loss counts as much as that of a whole block.
    pages_worth: u32,
    /// By plane: number of blocks that went bad in use, the SLC cache's own included.
    grown: Vec<u32>,
    /// With fewer good blocks, a plane cannot hold its share of the logical pages.
    pub(super) least_good: u32,
    /// By plane: how many fewer are enough, because zones are out of service.
    pub(super) relieved: Vec<u32>,
    pub(super) shortage: Shortage,
    /// Flash pages that must find room at the end of life.
    pub(super) drain_pages: u32,
    /// Blocks that each plane keeps in reserve for them.
    pub(super) drain_blocks: u32,
    pub(super) failing: Vec<Failing>,
    pub(super) losses: Losses,
    /// Operations that had failed when the device came up.
    failed_before: u64,
    pub(super) end: Option<EndReason>,
}

/// The requirements on a plane.
pub struct Demand<'a> {
    /// The shape of the device.
    pub geometry: &'a Geometry,
    /// Logical pages (mapping units) that the host sees.
    pub logical_pages: u32,
    /// Flash pages of a map that is stored on flash, or `None` if the whole map is in memory.
    pub map_pages: Option<u32>,
    /// Blocks of a plane that the host may not use.
    pub reserve: u32,
    /// The number of streams.
    pub streams: StreamCounts,
    /// Whether rewritten pages have a stream of their own.
    pub rewrites: bool,
    /// Blocks of a plane that are the SLC cache's own.
    pub own_slc: u32,
    /// Blocks of a plane that are open for the sake of the cache.
    pub open_slc: u32,
    /// Flash pages that a bad block costs a superblock; none without superblocks.
    pub pages_of_member: Option<u32>,
}

impl Demand<'_> {
    /// The same requirements apart from the pages themselves, for who counts those that are valid.
    pub(in crate::ftl) fn without_pages(self) -> Self {
        Demand { logical_pages: 0, map_pages: self.map_pages.map(|_| 0), ..self }
    }

    /// Returns the minimum number of blocks with which a plane always has a block worth collecting.
    /// When the host waits for the plane, all its blocks are closed except the reserve and the open
    /// ones. Each closed block is worth collecting unless its stale units are fewer than a flash
    /// page holds.
    pub(in crate::ftl) fn least_blocks(&self) -> u32 {
        let (block, page) = (self.geometry.units_per_block(), self.geometry.units_per_page());
        let on_plane = |pages: u32| pages.div_ceil(self.geometry.planes()) * page;
        let of_map = self.map_pages.map_or(0, on_plane);
        let share = on_plane(self.logical_pages.div_ceil(page)) + of_map;
        // Translation pages have one open block, and their copies another.
        let map_streams = if self.map_pages.is_some() { 2 } else { 0 };
        let of_cache = self.open_slc;
        let open =
            self.streams.open_blocks() - 1 + u32::from(self.rewrites) + map_streams + of_cache;
        share / (block - page + 1) + 1 + self.reserve + open
    }

    /// Returns how many units a plane with `good` good blocks may hold beyond its share, and still
    /// be sure to have a block worth collecting, if each of its blocks holds `units`.
    pub(in crate::ftl) fn units_sure(&self, good: u32, units: u32) -> u32 {
        let page = self.geometry.units_per_page();
        good.saturating_sub(self.least_blocks()) * (units - page + 1)
    }

    /// Returns the same number for blocks of full size.
    pub(super) fn spare_units(&self, good: u32) -> u32 {
        self.units_sure(good, self.geometry.units_per_block())
    }
}

impl Life {
    /// Creates the state of a new device.
    #[must_use]
    pub fn new(faults: Faults, demand: &Demand<'_>, drain_pages: u32) -> Life {
        let shape = demand.geometry.shape();
        let planes = demand.geometry.planes();
        let native = shape.blocks_per_plane - demand.own_slc;
        let good = vec![native; planes as usize];
        let worth = demand.geometry.units_per_block() + 1 - demand.geometry.units_per_page();
        let least = least_pages(demand.geometry, demand.pages_of_member.is_some());
        Life {
            faults,
            native,
            good_at_first: good.clone(),
            lacking: vec![0; planes as usize],
            pages_of_bad: demand.pages_of_member.unwrap_or(shape.pages_per_block),
            pages_worth: worth / demand.geometry.units_per_page(),
            good,
            grown: vec![0; planes as usize],
            least_good: demand.least_blocks(),
            relieved: vec![0; planes as usize],
            shortage: Shortage::None,
            drain_pages,
            drain_blocks: drain_pages.div_ceil(planes * least),
            failing: Vec::new(),
            losses: Losses::default(),
            failed_before: 0,
            end: None,
        }
    }

    /// Returns the number of blocks that a plane keeps in reserve from all uses, as long as the
    /// device takes writes.
    pub(in crate::ftl) fn kept_back(&self) -> u32 {
        self.drain_blocks
    }

    /// Returns why the device's life ended, if it did.
    pub(in crate::ftl) fn end_reason(&self) -> Option<EndReason> {
        self.end
    }

    /// Sets whether, and why, the device's life had ended before it came up, and what had failed.
    pub(in crate::ftl) fn come_to(&mut self, end: Option<EndReason>, failures: Losses) {
        self.end = end;
        self.losses = failures;
        self.failed_before = failures.failed();
    }

    /// Whether any operation has failed since the device came up.
    pub(in crate::ftl) fn has_failed(&self) -> bool {
        self.losses.failed() > self.failed_before
    }

    /// Returns the failures so far.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Returns the share of the spare blocks that is left, for the plane with the least. Planes of
    /// dead dies are excluded.
    #[must_use]
    pub fn available_spare(&self) -> f64 {
        let share = |(plane, &first): (PlaneId, &u32)| {
            let spare = |good: u32, least: u32| f64::from(good.saturating_sub(least));
            match first {
                // The die of the plane died.
                0 => 1.0,
                first if first > self.least_good => {
                    spare(self.good(plane), self.least(plane)) / spare(first, self.least_good)
                }
                _ => 0.0,
            }
        };
        let planes = (0..).map(PlaneId::new);
        planes.zip(&self.good_at_first).map(share).fold(1.0, f64::min)
    }

    /// Returns the mean number of program/erase cycles that blocks endure, or `None` if there is no
    /// limit.
    #[must_use]
    pub fn mean_endurance(&self) -> Option<u32> {
        self.faults.mean_endurance()
    }

    /// Returns the number of good blocks of a plane, less as many as the pages are worth that they lack.
    pub(in crate::ftl) fn good(&self, plane: PlaneId) -> u32 {
        let lacking = self.lacking[plane.at()].div_ceil(self.pages_worth.max(1));
        self.good[plane.at()].saturating_sub(lacking)
    }

    /// Distributes the reserve over `planes` remaining planes. Returns how many more blocks each
    /// keeps than before.
    pub(super) fn drain_on(&mut self, planes: u32, pages_per_block: u32) -> u32 {
        if self.drain_blocks == 0 || planes == 0 {
            return 0;
        }
        let before = self.drain_blocks;
        self.drain_blocks = before.max(self.drain_pages.div_ceil(planes * pages_per_block));
        self.drain_blocks - before
    }

    /// Excludes a dead plane: its blocks no longer count.
    pub(super) fn forget_plane(&mut self, plane: PlaneId, geometry: &Geometry) {
        self.failing.retain(|failing| geometry.plane_of(failing.block) != plane);
        self.losses.grown_bad -= std::mem::take(&mut self.grown[plane.at()]);
        (self.good_at_first[plane.at()], self.good[plane.at()]) = (0, 0);
        self.lacking[plane.at()] = 0;
    }

    /// Whether a block is not one of the SLC cache's own.
    pub(in crate::ftl) fn is_native(&self, block: BlockId, geometry: &Geometry) -> bool {
        geometry.index_in_plane(block) < self.native
    }

    /// What is counted of a plane so far is what the new device lacked.
    pub(in crate::ftl) fn was_new(&mut self, plane: PlaneId) {
        self.good_at_first[plane.at()] = self.good(plane);
    }

    /// Counts a failed erase of a block of a superblock.
    pub(in crate::ftl) fn count_erase_failure(&mut self, failed: bool) {
        self.losses.erase_failures += u64::from(failed);
    }

    /// Counts a block of a superblock that is bad from the factory.
    pub(in crate::ftl) fn count_factory_bad(&mut self, block: BlockId, geometry: &Geometry) {
        self.losses.factory_bad += 1;
        self.lacks_member(block, geometry);
    }

    /// A block of a superblock has gone bad, and the superblock goes on without it.
    pub(in crate::ftl) fn lose_member(&mut self, block: BlockId, geometry: &Geometry) {
        self.losses.grown_bad += 1;
        self.grown[geometry.plane_of(block).at()] += 1;
        self.lacks_member(block, geometry);
    }

    fn lacks_member(&mut self, block: BlockId, geometry: &Geometry) {
        if self.is_native(block, geometry) {
            let plane = geometry.plane_of(block);
            self.lacking[plane.at()] += self.pages_of_bad;
        }
    }

    /// A superblock of which so many blocks are bad is retired.
    pub(in crate::ftl) fn lose_rest(&mut self, block: BlockId, bad: u32, geometry: &Geometry) {
        if self.is_native(block, geometry) {
            let plane = geometry.plane_of(block);
            self.good[plane.at()] -= 1;
            // While a device comes up, blocks that were bad before are not counted yet.
            let lacking = &mut self.lacking[plane.at()];
            *lacking = lacking.saturating_sub(bad * self.pages_of_bad);
        }
    }

    pub(super) fn lose(&mut self, block: BlockId, geometry: &Geometry) {
        let plane = geometry.plane_of(block);
        self.losses.grown_bad += 1;
        self.grown[plane.at()] += 1;
        // Without a block of its own, the SLC cache is smaller.
        if self.is_native(block, geometry) {
            self.good[plane.at()] -= 1;
            self.look_for_shortage(plane);
        }
    }
}

impl Ftl {
    /// Returns the state of a device on which operations can fail, or `None` if nothing ever fails.
    #[must_use]
    pub fn life(&self) -> Option<&Life> {
        self.health.life.as_deref()
    }

    /// Whether the device takes no writes any more.
    #[inline]
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.health.read_only
    }
}

/// Returns the number of good blocks below which a plane may find nothing to collect.
pub(in crate::ftl) fn least_good_blocks(ftl: &Ftl) -> u32 {
    demand(ftl).least_blocks()
}

/// Returns how many units a plane with `good` good blocks may hold beyond its share of the logical
/// pages.
pub(in crate::ftl) fn spare_units(good: u32, ftl: &Ftl) -> u32 {
    demand(ftl).spare_units(good)
}

pub(in crate::ftl) fn demand(ftl: &Ftl) -> Demand<'_> {
    Demand {
        geometry: &ftl.geometry,
        logical_pages: ftl.logical_pages,
        map_pages: ftl.map.mapping.dftl().map(|map| map.translation_pages()),
        reserve: ftl.space.thresholds.reserve,
        streams: ftl.policies.streams.counts(),
        rewrites: ftl.features.regulation.as_ref().is_some_and(|regulation| regulation.rewrites),
        own_slc: slc::cache::own_slc_blocks(ftl),
        open_slc: ftl.features.slc.as_ref().map_or(0, |cache| cache.open_blocks()),
        pages_of_member: ftl.features.members().map(|it| it.flash().shape().pages_per_block),
    }
}

/// A die is dead: on a device on which nothing else fails, the life begins that it was assembled with for this. From now
/// on its planes keep blocks in reserve.
pub(in crate::ftl) fn begin_after_death(ftl: &mut Ftl) {
    let Some(life) = ftl.health.life_after_death.take() else { return };
    let shrinks = ftl.features.superblock.is_some();
    let kept_back = kept_back(&ftl.geometry, life.drain_pages, shrinks);
    ftl.space.keep_back(kept_back);
    ftl.health.life = Some(life);
}

/// Writes the key that determines weak blocks, whether the device's life has ended, and what has failed. Lost blocks follow
/// from the states of the blocks.
pub(in crate::ftl) fn save_life(out: &mut ImageWriter, ftl: &Ftl) {
    out.flag(ftl.health.life.is_some());
    if let Some(life) = &ftl.health.life {
        out.number(life.faults.key());
        out.number(life.end.map_or(0, |end| end as u64 + 1));
        life.losses.save(out);
    }
}

/// Reads the state that [`save_life`] wrote. The weak blocks are those of the image, whatever seed
/// it is loaded with. Blocks that were marked bad by the seed of the run are good again.
pub(in crate::ftl) fn load_life(from: &mut ImageReader<'_>, ftl: &mut Ftl) -> Result<(), Damage> {
    if dies::blocks_died(ftl) {
        begin_after_death(ftl);
    }
    if !from.flag("whether operations can fail")? {
        ftl.health.life.iter_mut().for_each(|life| life.end = None);
        return Ok(());
    }
    let key = from.number()?;
    let end = from.below(EndReason::ALL.len() as u64 + 1, "the end of the device's life")?;
    let end = end.checked_sub(1).map(|end| EndReason::ALL[end as usize]);
    let failures = Losses::load(from)?;
    if end.is_some() {
        begin_after_death(ftl);
    }
    match (&mut ftl.health.life, end) {
        (Some(life), _) => {
            life.faults.set_key(key);
            life.come_to(end, failures);
        }
        (None, Some(end)) => {
            return Err(Damage(format!(
                "the device's life had ended, because {end}: a device without faults can't load it"
            )));
        }
        (None, None) => {}
    }
    Ok(())
}

/// Makes factory-bad blocks good before a load, because the image records which blocks are bad.
pub(in crate::ftl) fn forget_factory_bad(ftl: &mut Ftl) {
    if ftl.health.life.as_ref().is_some_and(|life| life.losses.factory_bad > 0) {
        for block in (0..ftl.geometry.blocks()).map(BlockId::new) {
            if ftl.blocks.state(block) == BlockState::Bad {
                ftl.blocks.set_state(block, BlockState::Free);
            }
        }
        ftl.features.superblock.iter_mut().for_each(|state| state.members.forget_bad());
    }
}

/// Takes blocks that are bad from the factory out of use.
pub(in crate::ftl) fn mark_factory_bad(ftl: &mut Ftl) {
    let Some(life) = ftl.health.life.as_mut().filter(|life| life.faults.has_factory_bad()) else {
        return;
    };
    if ftl.features.superblock.is_some() {
        superblock::wear::mark_factory_bad(ftl);
        return begin_with_losses(ftl);
    }
    for block in (0..ftl.geometry.blocks()).map(BlockId::new) {
        let plane = ftl.geometry.plane_of(block);
        let first = ftl.geometry.block_in(plane, 0) == block;
        if life.faults.is_factory_bad(block, first) {
            ftl.blocks.set_state(block, BlockState::Bad);
            life.losses.factory_bad += 1;
            if ftl.geometry.index_in_plane(block) < life.native {
                ftl.space.planes[plane.at()].lose_unused();
                life.good[plane.at()] -= 1;
            }
        }
    }
    begin_with_losses(ftl);
}

/// The blocks that are bad from the factory are known.
fn begin_with_losses(ftl: &mut Ftl) {
    slc::cache::list_own_free(ftl);
    let Some(life) = ftl.health.life.as_mut() else { return };
    let planes = (0..ftl.geometry.planes()).map(PlaneId::new);
    life.good_at_first = planes.map(|plane| life.good(plane)).collect();
    if life.good_at_first.iter().any(|&good| good < life.least_good) {
        life.shortage = Shortage::New;
    }
}

/// After a load, counts the good blocks of a plane among those that were never used.
pub(in crate::ftl) fn recount_unused(plane: PlaneId, ftl: &mut Ftl) {
    let unused = ftl.space.planes[plane.at()].used()..slc::cache::native_blocks(ftl);
    let at = |index| ftl.geometry.block_in(plane, index);
    let good = unused.filter(|&index| ftl.blocks.state(at(index)) == BlockState::Free).count();
    ftl.space.planes[plane.at()].count_unused(good as u32);
}

/// After a load, counts the lost blocks by the states of the blocks.
pub(in crate::ftl) fn recount_losses(ftl: &mut Ftl) {
    let Some(life) = ftl.health.life.as_mut() else { return };
    life.losses = life.losses.failures();
    life.lacking.fill(0);
    life.relieved.fill(0);
    life.shortage = Shortage::None;
    for plane in (0..ftl.geometry.planes()).map(PlaneId::new) {
        recount_losses_of(plane, ftl);
    }
    let Some(life) = ftl.health.life.as_mut() else { return };
    (0..ftl.geometry.planes()).for_each(|plane| life.look_for_shortage(PlaneId::new(plane)));
}

fn recount_losses_of(plane: PlaneId, ftl: &mut Ftl) {
    let Some(life) = ftl.health.life.as_mut() else { return };
    let (whole, native) = (ftl.geometry.shape().blocks_per_plane, life.native);
    let at = |index| ftl.geometry.block_in(plane, index);
    let is_dead = ftl.blocks.state(at(0)) == BlockState::Dead;
    if ftl.features.superblock.is_some() {
        let good = if is_dead { 0 } else { native };
        (life.good_at_first[plane.at()], life.good[plane.at()]) = (good, good);
        life.grown[plane.at()] = 0;
        if !is_dead {
            superblock::wear::recount_losses(plane, ftl);
        }
        return;
    }
    if is_dead {
        let bad = (1..whole).filter(|&index| life.faults.is_factory_bad(at(index), false));
        life.losses.factory_bad += bad.count() as u32;
        (life.good_at_first[plane.at()], life.good[plane.at()]) = (0, 0);
        life.grown[plane.at()] = 0;
        return;
    }
    let bad = (0..whole).filter(|&index| ftl.blocks.state(at(index)) == BlockState::Bad);
    let factory = |&index: &u32| index > 0 && life.faults.is_factory_bad(at(index), false);
    let (factory, mut grown): (Vec<u32>, Vec<u32>) = bad.partition(factory);
    let leaving = ftl.space.planes[plane.at()].giving_up();
    grown.extend(leaving.map(|block| ftl.geometry.index_in_plane(block)));
    let of_native = |lost: &[u32]| lost.iter().filter(|&&index| index < native).count() as u32;
    life.losses.factory_bad += factory.len() as u32;
    life.losses.grown_bad += grown.len() as u32;
    life.grown[plane.at()] = grown.len() as u32;
    life.good_at_first[plane.at()] = native - of_native(&factory);
    life.good[plane.at()] = native - of_native(&factory) - of_native(&grown);
}

/// Whether there are failed blocks that are not yet scheduled to be emptied.
#[inline]
pub(crate) fn has_failed(ftl: &Ftl) -> bool {
    !ftl.health.failed.is_empty()
}

/// Whether a plane has room for the valid pages of one of its blocks, without the blocks that collection for space may
/// need. Their copies may take several blocks, each smaller than the one that is emptied.
pub(in crate::ftl) fn can_empty_beside_collection(
    plane: PlaneId,
    block: BlockId,
    ftl: &Ftl,
) -> bool {
    let copies = ftl.blocks.valid(block).div_ceil(ftl.geometry.units_per_page());
    has_room_beside(plane, copies, ftl.space.thresholds.reserve, ftl)
}

/// Whether a plane can copy `flash_pages` flash pages without using its reserve.
pub(in crate::ftl) fn has_room_to_copy(plane: PlaneId, flash_pages: u32, ftl: &Ftl) -> bool {
    let Some(life) = &ftl.health.life else { return true };
    has_room_beside(plane, flash_pages, life.kept_back(), ftl)
}

/// Whether a plane can copy `flash_pages` flash pages and leave `kept` blocks free.
fn has_room_beside(plane: PlaneId, flash_pages: u32, kept: u32, ftl: &Ftl) -> bool {
    let blocks = ftl.free_blocks(plane).saturating_sub(kept);
    let whole = superblock::room::least_pages_to_fill(plane, ftl);
    let (block, page) = (ftl.geometry.units_per_block(), ftl.geometry.units_per_page());
    let left = |stream| ftl.space.planes[plane.at()].units_left(stream, block) / page;
    let of_map = ftl.map.mapping.dftl().map(|_| WriteStream::MAP_COPIES);
    let open: u32 = ftl.policies.streams.all_copy_streams().chain(of_map).map(left).sum();
    blocks * whole + open >= flash_pages
}

/// Ends the device's life because a plane has no room left for garbage collection.
pub(in crate::ftl) fn note_no_room(ftl: &mut Ftl) {
    note_end(EndReason::NoRoom, ftl);
}

/// Ends the device's life, unless it has ended already.
pub(in crate::ftl) fn note_end(reason: EndReason, ftl: &mut Ftl) {
    if let Some(life) = &mut ftl.health.life {
        life.end = life.must_end().or(Some(reason));
    }
}

/// Returns why the device must stop taking writes, if it still takes them.
#[inline]
pub(crate) fn must_end(ftl: &Ftl) -> Option<EndReason> {
    // There is nearly always no `Life` that could end.
    ftl.health.life.as_ref().filter(|_| !ftl.health.read_only)?.must_end()
}

/// Whether a plane has room for the valid pages of one of its blocks.
pub(in crate::ftl) fn can_empty(plane: PlaneId, block: BlockId, ftl: &Ftl) -> bool {
    let copies = ftl.blocks.valid(block).div_ceil(ftl.geometry.units_per_page());
    has_room_to_copy(plane, copies, ftl)
}
