//! Blocks that go out of use, and when the device must stop writing.
//!
//! A block is lost when it is bad from the factory, when a program on it fails (its other pages stay
//! readable until they are moved), or when an erase of it fails. Losses come out of the spare capacity.
//! The device ends its life as one that takes writes before it breaks a promise:
//!
//! - *too few blocks*: a plane has so few good blocks left that its share of the logical pages might
//!   leave nothing worth collecting (the rule that `config/check.rs` applies to a new device);
//! - *no room*: failures in a row took a plane's reserve, and nothing that is worth collecting fits
//!   into what is left.
//!
//! So that such an end loses nothing, a plane of a device that can fail keeps more blocks back: one
//! for a failed erase, and its part of what the write buffer may hold when the end comes
//! (`drain_pages`). From then on, writes are refused, what was acknowledged is written to wherever
//! there is room, and reads go on.
//!
//! Source: NVM Express Base Specification, SMART / Health Information (critical warning "media has
//! been placed in read only mode", available spare, percentage used).

use std::fmt;

use serde::Serialize;

use crate::ftl::mapping::MappingPolicy;
use crate::ftl::streams::{StreamCounts, StreamsPolicy, WriteStream};
use crate::ftl::{BlockState, Ftl, slc};
use crate::image::{Damage, Reader, Writer};
use crate::nand::Faults;
use crate::shape::Geometry;
use crate::units::{BlockId, PlaneId};

/// Why the device takes no writes any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// A plane has too few good blocks.
    TooFewBlocks,
    /// A plane has no room left in which to collect.
    NoRoom,
    /// Dies died, and the others have no room for what is valid.
    DiesDied,
}

impl EndReason {
    const ALL: [EndReason; 3] = [EndReason::TooFewBlocks, EndReason::NoRoom, EndReason::DiesDied];
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EndReason::TooFewBlocks => "a plane had too few good blocks left",
            EndReason::NoRoom => "a plane had no room left in which to collect",
            EndReason::DiesDied => "dies had died, and the others had no room for what was valid",
        })
    }
}

/// What failed so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Blocks that were bad from the factory.
    pub factory_bad: u32,
    /// Blocks that went bad in use.
    pub grown_bad: u32,
    /// Programs that failed.
    pub program_failures: u64,
    /// Erases that failed.
    pub erase_failures: u64,
}

/// A block on which a program failed, until its programs in flight are done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failing {
    pub(super) block: BlockId,
    /// Mapping units of it that were taken.
    pub(super) taken: u32,
}

/// The blocks of a device on which operations can fail.
#[derive(Clone, Debug)]
pub struct Life {
    pub(in crate::ftl) faults: Faults,
    /// By plane: blocks that are good.
    pub(super) good: Vec<u32>,
    /// The same when the device was new.
    pub(super) good_at_first: Vec<u32>,
    /// With fewer good blocks a plane can't keep its share of the logical pages.
    pub(super) least_good: u32,
    /// Flash pages that are to find room at the end.
    pub(super) drain_pages: u32,
    /// Blocks that each plane keeps back for that.
    pub(super) drain_blocks: u32,
    pub(super) failing: Vec<Failing>,
    pub(super) losses: Losses,
    pub(super) end: Option<EndReason>,
}

/// What a plane must hold.
pub struct Demand<'a> {
    /// The shape of the device.
    pub geometry: &'a Geometry,
    /// Logical pages (mapping units) that the host sees.
    pub logical_pages: u32,
    /// Flash pages of a map that lies on flash; none if all of it is in memory.
    pub map_pages: Option<u32>,
    /// Blocks of a plane that the host may not take.
    pub reserve: u32,
    /// How many streams there are.
    pub streams: StreamCounts,
    /// Whether pages that are programmed again have one more.
    pub rewrites: bool,
}

impl Demand<'_> {
    /// The fewest blocks with which a plane is sure to have something worth collecting: when the host
    /// waits for it, all its blocks are closed but the reserve and those that are partly filled, and
    /// each is worth collecting unless its stale units are fewer than a flash page holds.
    fn least_blocks(&self) -> u32 {
        let (block, page) = (self.geometry.units_per_block(), self.geometry.units_per_page());
        let on_plane = |pages: u32| pages.div_ceil(self.geometry.planes()) * page;
        let of_map = self.map_pages.map_or(0, on_plane);
        let share = on_plane(self.logical_pages.div_ceil(page)) + of_map;
        // Translation pages, and copies of them, have a block each.
        let map_streams = if self.map_pages.is_some() { 2 } else { 0 };
        let open = self.streams.open_blocks() - 1 + u32::from(self.rewrites) + map_streams;
        share / (block - page + 1) + 1 + self.reserve + open
    }

    /// The units of which a plane of so many good blocks is sure to find something worth collecting, if its blocks hold
    /// `units` each.
    pub(in crate::ftl) fn units_sure(&self, good: u32, units: u32) -> u32 {
        let page = self.geometry.units_per_page();
        good.saturating_sub(self.least_blocks()) * (units - page + 1)
    }

    /// The units that a plane of so many good blocks may hold beyond its share, by the same count.
    pub(super) fn spare_units(&self, good: u32) -> u32 {
        self.units_sure(good, self.geometry.units_per_block())
    }
}

impl Life {
    /// The blocks of a new device.
    #[must_use]
    pub fn new(faults: Faults, demand: &Demand<'_>, drain_pages: u32) -> Life {
        let shape = demand.geometry.shape();
        let planes = demand.geometry.planes();
        let good = vec![shape.blocks_per_plane; planes as usize];
        Life {
            faults,
            good_at_first: good.clone(),
            good,
            least_good: demand.least_blocks(),
            drain_pages,
            drain_blocks: drain_pages.div_ceil(planes * shape.pages_per_block),
            failing: Vec::new(),
            losses: Losses::default(),
            end: None,
        }
    }

    /// Blocks that a plane keeps back from everything, as long as the device takes writes.
    pub(in crate::ftl) fn kept_back(&self) -> u32 {
        self.drain_blocks
    }

    /// Why the device came to its end, if it did.
    pub(in crate::ftl) fn end_reason(&self) -> Option<EndReason> {
        self.end
    }

    /// It had come to its end before power was cut.
    pub(in crate::ftl) fn come_to(&mut self, end: Option<EndReason>) {
        self.end = end;
    }

    /// What failed so far.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// The share of a plane's spare blocks that is left, of the plane with the least; planes of dead dies apart.
    #[must_use]
    pub fn available_spare(&self) -> f64 {
        let share = |(&now, &first): (&u32, &u32)| {
            let spare = |good: u32| f64::from(good.saturating_sub(self.least_good));
            match first {
                // Its die died.
                0 => 1.0,
                first if first > self.least_good => spare(now) / spare(first),
                _ => 0.0,
            }
        };
        self.good.iter().zip(&self.good_at_first).map(share).fold(1.0, f64::min)
    }

    /// Cycles that blocks bear on average; none if there is no limit.
    #[must_use]
    pub fn mean_endurance(&self) -> Option<u32> {
        self.faults.mean_endurance()
    }

    /// Good blocks of a plane.
    pub(in crate::ftl) fn good(&self, plane: PlaneId) -> u32 {
        self.good[plane.at()]
    }

    /// So many planes are left. Returns how many blocks more each keeps back than before.
    pub(super) fn drain_on(&mut self, planes: u32, pages_per_block: u32) -> u32 {
        if self.drain_blocks == 0 || planes == 0 {
            return 0;
        }
        let before = self.drain_blocks;
        self.drain_blocks = before.max(self.drain_pages.div_ceil(planes * pages_per_block));
        self.drain_blocks - before
    }

    /// A plane died: what its blocks were counts no more.
    pub(super) fn forget_plane(&mut self, plane: PlaneId, geometry: &Geometry) {
        self.failing.retain(|failing| geometry.plane_of(failing.block) != plane);
        self.losses.grown_bad -= self.good_at_first[plane.at()] - self.good[plane.at()];
        (self.good_at_first[plane.at()], self.good[plane.at()]) = (0, 0);
    }

    pub(super) fn lose(&mut self, plane: PlaneId) {
        self.losses.grown_bad += 1;
        self.good[plane.at()] -= 1;
        if self.good[plane.at()] < self.least_good {
            self.end = self.end.or(Some(EndReason::TooFewBlocks));
        }
    }
}

impl Ftl {
    /// The blocks of a device on which operations can fail; none if nothing ever fails.
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

/// With fewer good blocks, a plane may find nothing to collect.
pub(in crate::ftl) fn least_good_blocks(ftl: &Ftl) -> u32 {
    demand(ftl).least_blocks()
}

/// The units that a plane of so many good blocks may hold beyond its share of the logical pages.
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
    }
}

/// Writes which blocks are weak, and whether the device has come to its end. What is lost follows
/// from the states of the blocks.
pub(in crate::ftl) fn save_life(out: &mut Writer, ftl: &Ftl) {
    out.flag(ftl.health.life.is_some());
    if let Some(life) = &ftl.health.life {
        out.number(life.faults.key());
        out.number(life.end.map_or(0, |end| end as u64 + 1));
    }
}

/// Reads that. The weak blocks are those of the image, under whatever seed it is loaded: what was
/// marked bad for the seed of the run is good again.
pub(in crate::ftl) fn load_life(from: &mut Reader<'_>, ftl: &mut Ftl) -> Result<(), Damage> {
    if !from.flag("whether operations can fail")? {
        ftl.health.life.iter_mut().for_each(|life| life.end = None);
        return Ok(());
    }
    let key = from.number()?;
    let end = from.below(EndReason::ALL.len() as u64 + 1, "the end of the device's life")?;
    let end = end.checked_sub(1).map(|end| EndReason::ALL[end as usize]);
    match (&mut ftl.health.life, end) {
        (Some(life), _) => {
            life.faults.set_key(key);
            life.end = end;
        }
        (None, Some(end)) => {
            return Err(Damage(format!(
                "the device came to its end, as {end}: one on which nothing fails can't go on"
            )));
        }
        (None, None) => {}
    }
    Ok(())
}

/// Before a load: the image says which blocks are bad.
pub(in crate::ftl) fn forget_factory_bad(ftl: &mut Ftl) {
    if ftl.health.life.as_ref().is_some_and(|life| life.losses.factory_bad > 0) {
        for block in (0..ftl.geometry.blocks()).map(BlockId::new) {
            if ftl.blocks.state(block) == BlockState::Bad {
                ftl.blocks.set_state(block, BlockState::Free);
            }
        }
    }
}

/// Takes the blocks that are bad from the factory out of use.
pub(in crate::ftl) fn mark_factory_bad(ftl: &mut Ftl) {
    let Some(life) = ftl.health.life.as_mut().filter(|life| life.faults.has_factory_bad()) else {
        return;
    };
    for block in (0..ftl.geometry.blocks()).map(BlockId::new) {
        let plane = ftl.geometry.plane_of(block);
        let first = ftl.geometry.block_in(plane, 0) == block;
        if life.faults.is_factory_bad(block, first) {
            ftl.blocks.set_state(block, BlockState::Bad);
            ftl.space.planes[plane.at()].lose_unused();
            life.losses.factory_bad += 1;
            life.good[plane.at()] -= 1;
        }
    }
    life.good_at_first.clone_from(&life.good);
    let too_few = life.good.iter().any(|&good| good < life.least_good);
    if too_few {
        life.end = Some(EndReason::TooFewBlocks);
    }
}

/// After a load: how many of a plane's blocks that were never used are good.
pub(in crate::ftl) fn recount_unused(plane: PlaneId, ftl: &mut Ftl) {
    let unused = ftl.space.planes[plane.at()].used()..slc::cache::native_blocks(ftl);
    let at = |index| ftl.geometry.block_in(plane, index);
    let good = unused.filter(|&index| ftl.blocks.state(at(index)) == BlockState::Free).count();
    ftl.space.planes[plane.at()].count_unused(good as u32);
}

/// After a load: which blocks are lost follows from their states.
pub(in crate::ftl) fn recount_losses(ftl: &mut Ftl) {
    let Some(life) = ftl.health.life.as_mut() else { return };
    let whole = ftl.geometry.shape().blocks_per_plane;
    life.losses = Losses::default();
    for plane in (0..ftl.geometry.planes()).map(PlaneId::new) {
        let at = |index| ftl.geometry.block_in(plane, index);
        if ftl.blocks.state(at(0)) == BlockState::Dead {
            let bad = (1..whole).filter(|&index| life.faults.is_factory_bad(at(index), false));
            life.losses.factory_bad += bad.count() as u32;
            (life.good_at_first[plane.at()], life.good[plane.at()]) = (0, 0);
            continue;
        }
        let bad = (0..whole).filter(|&index| ftl.blocks.state(at(index)) == BlockState::Bad);
        let factory = |&index: &u32| index > 0 && life.faults.is_factory_bad(at(index), false);
        let (factory, grown): (Vec<u32>, Vec<u32>) = bad.partition(factory);
        let grown = grown.len() as u32 + ftl.space.planes[plane.at()].giving_up();
        life.losses.factory_bad += factory.len() as u32;
        life.losses.grown_bad += grown;
        life.good_at_first[plane.at()] = whole - factory.len() as u32;
        life.good[plane.at()] = whole - factory.len() as u32 - grown;
    }
    let pairs = life.good.iter().zip(&life.good_at_first);
    let too_few = pairs.filter(|pair| *pair.1 > 0).any(|(&good, _)| good < life.least_good);
    life.end = life.end.or(too_few.then_some(EndReason::TooFewBlocks));
}

/// Whether blocks failed that are to be emptied, and nobody took note yet.
#[inline]
pub(crate) fn has_failed(ftl: &Ftl) -> bool {
    !ftl.health.failed.is_empty()
}

/// A block of a plane goes out of use.
pub(in crate::ftl) fn lose_block(plane: PlaneId, ftl: &mut Ftl) {
    if let Some(life) = &mut ftl.health.life {
        life.lose(plane);
    }
}

/// Whether a plane can copy so many flash pages without touching what it keeps back.
pub(in crate::ftl) fn has_room_to_copy(plane: PlaneId, flash_pages: u32, ftl: &Ftl) -> bool {
    let Some(life) = &ftl.health.life else { return true };
    let blocks = ftl.free_blocks(plane).saturating_sub(life.kept_back());
    let whole = ftl.geometry.shape().pages_per_block;
    let (block, page) = (ftl.geometry.units_per_block(), ftl.geometry.units_per_page());
    let left = |stream| ftl.space.planes[plane.at()].units_left(stream, block) / page;
    let of_map = ftl.map.mapping.dftl().map(|_| WriteStream::MAP_COPIES);
    let open: u32 = ftl.policies.streams.all_copy_streams().chain(of_map).map(left).sum();
    blocks * whole + open >= flash_pages
}

/// A plane has no room left in which to collect.
pub(in crate::ftl) fn note_no_room(ftl: &mut Ftl) {
    note_end(EndReason::NoRoom, ftl);
}

/// The device takes no writes any more, unless that is so already.
pub(in crate::ftl) fn note_end(reason: EndReason, ftl: &mut Ftl) {
    if let Some(life) = &mut ftl.health.life {
        life.end = life.end.or(Some(reason));
    }
}

/// Why the device must take no writes any more, if it still does.
#[inline]
pub(crate) fn must_end(ftl: &Ftl) -> Option<EndReason> {
    // Nearly always there is no life that could end.
    ftl.health.life.as_ref().filter(|_| !ftl.health.read_only)?.end
}

/// Whether a plane has room for the valid pages of one of its blocks.
pub(in crate::ftl) fn can_empty(plane: PlaneId, block: BlockId, ftl: &Ftl) -> bool {
    let copies = ftl.blocks.valid(block).div_ceil(ftl.geometry.units_per_page());
    has_room_to_copy(plane, copies, ftl)
}
