//! The flash translation layer: the only code that changes the mapping and the state of blocks.
//!
//! A write is placed when its program is issued, and committed when the program is done. Until then
//! the older copy stays current. Therefore every page that the mapping names has been programmed,
//! and a page that moves can be read at its old place until its block is erased.

pub(crate) mod audit;
mod blocks;
mod cargo;
mod commit;
mod contents;
pub mod cost;
pub(crate) mod fragments;
pub mod gc;
pub(crate) mod groups;
pub(crate) mod handles;
mod health;
pub(crate) mod image;
pub(crate) mod journal;
mod kernel;
pub(crate) mod lost;
pub(crate) mod map_cache;
pub(crate) mod map_pages;
pub mod mapping;
pub mod merge;
pub mod parity;
mod place;
pub mod placement;
mod plane;
pub mod recovery;
pub(crate) mod relocations;
pub(crate) mod room;
pub(crate) mod rows;
pub(crate) mod service;
pub mod slc;
mod space;
mod spare;
pub mod streams;
pub mod superblock;
pub mod wear;
pub(crate) mod zones;

pub use blocks::{BlockState, Blocks};
pub use cargo::Cargo;
pub use contents::{EmptiedBy, FlashChange, FlashContents, ParityChange, ReadFor, SpoiledBy};
pub use fragments::{Fragment, Fragments, OwnerPart};
pub use kernel::Kernel;
pub use plane::{Plane, fewest_free_blocks};
pub(crate) use relocations::Relocations;
pub use spare::Spare;

use crate::ftl::merge::fold;
use crate::ftl::wear::life;
use cost::{CostSetup, Regulation};
use fragments::PackRoom;
use gc::pacing::Pacing;
use gc::{Purpose, PurposeCounts, Thresholds, Triggers, Victim};
pub use lost::Lost;
use mapping::{Mapping, MappingPolicy};
use parity::Stripes;
use placement::{Mate, Placement, PlacementPolicy, Writable};
use recovery::{Record, Recovery};
use slc::{CacheState, Count, SlcSetup};
use streams::{Streams, StreamsPolicy};
use superblock::SuperblockState;
use wear::{Demand, Levelling, Life, Refresh, WearSetup};

use groups::ReclaimGroups;
use health::Health;
use space::Space;

use crate::counters::counters;
use crate::engine::DeathClasses;
use crate::engine::skills::{self, Skills};
use crate::nand::{Faults, StripeLayout};
use crate::scheduler::DieSet;
use crate::shape::Geometry;
use crate::units::{BlockId, Lpn, PlaneId, Ppn, SectorMask};
use crate::verify::Plant;

/// The parts of an FTL.
#[derive(Clone, Debug)]
pub struct FtlSetup {
    /// The shape of the device, or of the volume that superblocks form.
    pub geometry: Geometry,
    /// Superblocks; none if the FTL fills the blocks of flash.
    pub superblock: Option<SuperblockState>,
    /// The stripes of superblocks with parity.
    pub stripes: Option<StripeLayout>,
    /// Logical pages (mapping units) that the host sees.
    pub logical_pages: u32,
    /// The mapping table.
    pub mapping: Mapping,
    /// Chooses the plane of a write.
    pub placement: Placement,
    /// Decides which writes share blocks.
    pub streams: Streams,
    /// Chooses the blocks that are collected.
    pub victim: Victim,
    /// Paces the host while blocks are collected.
    pub pacing: Pacing,
    /// The free-block thresholds of collection.
    pub thresholds: Thresholds,
    /// Wear levelling, refresh and faults.
    pub wear: WearSetup,
    /// Further rules for when and how fast blocks are collected.
    pub triggers: Triggers,
    /// The SLC cache.
    pub slc: SlcSetup,
    /// Regulates the cost of programs; none if the timing model has only one.
    pub cost: Option<CostSetup>,
    /// How the map is recovered after a power cut.
    pub recovery: Recovery,
}

counters! {
    /// What the FTL did, in pages (mapping units) unless stated otherwise.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct FtlCounts {
        /// Pages programmed for the host.
        host_pages: u64, unit "pages", at "write_amplification/host_pages";
        /// Pages that collection copied.
        gc_pages: u64, unit "pages", at "gc/copied_pages" or "write_amplification/gc_pages",
            compared lower "GC copies, pages";
        /// Of these, pages that were overwritten before the copy was done.
        gc_stale: u64, unit "pages", at "gc/stale_copied_pages";
        /// Mapping units of flash pages that were programmed empty, for lack of pages to fill them.
        padding: u64, unit "pages", at "write_amplification/padding_pages", compared lower if any "padding, pages";
        /// Pages deallocated.
        trimmed: u64, unit "pages";
        /// Blocks collected.
        gc_runs: u64, unit "blocks", at "gc/runs";
        /// Valid pages that the collected blocks held when they were chosen.
        gc_victim_valid: u64, unit "pages";
        /// Of these, in blocks that were collected for space.
        space_victim_valid: u64, unit "pages";
        /// Blocks and copied pages by purpose, in the order of [`Purpose::ALL`].
        by_purpose: [PurposeCounts; Purpose::ALL.len()];
        /// Blocks that patrols found due but left alone, counted at each patrol: so worn that a copy of their data would be
        /// due again at once.
        beyond_refresh: u64, unit "blocks", at "cost/beyond_refresh";
        /// Pages that a host read found never written or deallocated. They cost no flash read.
        unwritten_reads: u64, unit "pages", at "unwritten_read_pages";
    }
}

impl FtlCounts {
    /// Pages that the collected blocks could hold.
    #[must_use]
    pub fn victims_room(&self, blocks: &Blocks) -> u64 {
        let folds = self.by_purpose[Purpose::Fold as usize].runs;
        (self.gc_runs - folds) * u64::from(blocks.units_per_block())
            + folds * u64::from(blocks.slc_units())
    }
}

/// The blocks that each plane of a device that can fail sets aside: one for an erase that fails,
/// and its share of what the write buffer may hold at the end of life.
fn kept_back(geometry: &Geometry, drain_pages: u32, shrinks: bool) -> u32 {
    1 + drain_pages.div_ceil(geometry.planes() * least_pages(geometry, shrinks))
}

/// Flash pages that any block holds at least. Superblocks shrink to a half.
fn least_pages(geometry: &Geometry, shrinks: bool) -> u32 {
    geometry.shape().pages_per_block.div_ceil(if shrinks { 2 } else { 1 })
}

/// The flash translation layer.
#[derive(Clone, Debug)]
pub struct Ftl {
    geometry: Geometry,
    logical_pages: u32,
    map: Map,
    blocks: Blocks,
    space: Space,
    policies: Policies,
    health: Health,
    features: Features,
    counts: FtlCounts,
    /// Only used if the device checks itself.
    pub(crate) plant: Plant,
}

/// The mapping, and the metadata on flash.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    mapping: Mapping,
    spare: Spare,
    /// Pages whose data cannot be read any more.
    lost: Lost,
    /// Empty unless pages are packed.
    pack_room: PackRoom,
}

/// Policies that decide but don't act.
#[derive(Clone, Debug)]
pub(crate) struct Policies {
    placement: Placement,
    streams: Streams,
    victim: Victim,
    pacing: Pacing,
    levelling: Levelling,
}

/// Optional parts. Each has a folder of its own.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    /// None if data is never refreshed.
    refresh: Option<Box<Refresh>>,
    /// None if no block is used in SLC mode.
    slc: Option<Box<CacheState>>,
    /// None if all programs cost the same.
    regulation: Option<Box<Regulation>>,
    /// The metadata on flash for recovery; none if nothing is kept for it.
    record: Option<Box<Record>>,
    /// None without parity across dies.
    stripes: Option<Box<Stripes>>,
    /// None without superblocks.
    superblock: Option<Box<SuperblockState>>,
}

impl Ftl {
    /// An FTL on erased flash.
    #[must_use]
    pub fn new(setup: FtlSetup) -> Ftl {
        let groups = ReclaimGroups::of(&setup);
        let geometry = setup.geometry;
        let bits = setup.slc.bits;
        let rows = setup.superblock.as_ref().map(|state| state.members.flash().shape());
        let rows = rows.unwrap_or(geometry.shape()).pages_per_block;
        // Superblocks are filled row by row, also in SLC mode.
        let in_row = geometry.shape().pages_per_block / rows;
        let slc_units = rows / bits * in_row * geometry.units_per_page();
        let slc = CacheState::new(setup.slc, &geometry, slc_units);
        let own = slc.as_ref().map_or(0, |cache| cache.own_blocks());
        let blocks_per_plane = geometry.shape().blocks_per_plane - own;
        let everywhere = Writable {
            planes: vec![true; geometry.planes() as usize],
            dies: DieSet::all(&geometry),
            next_unit: vec![0; geometry.planes() as usize],
            units_per_block: geometry.units_per_block(),
        };
        let WearSetup {
            free_block,
            levelling,
            refresh,
            refresh_reads,
            rebuilds,
            faults,
            bears_deaths,
            closes_early,
            drain_pages,
        } = setup.wear;
        let refreshes = refresh.is_some() || refresh_reads || rebuilds;
        let new = || Box::new(Refresh::new(refresh, refreshes, geometry.planes()));
        let refresh = (refreshes || closes_early).then(new);
        let members = setup.superblock.as_ref().map(SuperblockState::members);
        let kept_back = kept_back(&geometry, drain_pages, members.is_some());
        let life_with = |faults| {
            let reserve = setup.thresholds.raised_by(kept_back).reserve;
            let demand = Demand {
                geometry: &geometry,
                logical_pages: setup.logical_pages,
                map_pages: setup.mapping.dftl().map(|map| map.translation_pages()),
                reserve,
                streams: setup.streams.counts(),
                rewrites: setup.cost.as_ref().is_some_and(|cost| cost.rewrites.is_some()),
                own_slc: own,
                open_slc: slc.as_ref().map_or(0, |cache| cache.open_blocks()),
                pages_of_member: members.map(|it| it.flash().shape().pages_per_block),
            };
            Box::new(Life::new(faults, &demand, drain_pages))
        };
        let after_death = (bears_deaths && faults.is_none()).then(|| life_with(Faults::none()));
        let life = faults.map(life_with);
        // Without translation, nobody asks for the owner of a page.
        let owned_pages = if setup.mapping.translates() { geometry.physical_pages() } else { 0 };
        let regulation = |cost| Box::new(Regulation::new(cost, setup.logical_pages));
        let pack_room = match setup.mapping.packs() {
            true => PackRoom::new(setup.placement.pools()),
            false => PackRoom::default(),
        };
        let record = Record::new(&setup.recovery, &geometry, setup.logical_pages, &setup.mapping);
        let map = Map {
            spare: Spare::new(owned_pages, geometry.sectors_per_unit()),
            lost: Lost::default(),
            pack_room,
            mapping: setup.mapping,
        };
        let planes = geometry.planes() as usize;
        let mut space = Space {
            planes: vec![Plane::new(blocks_per_plane, free_block); planes],
            map_writable: map.mapping.dftl().map(|_| Box::new(everywhere.clone())),
            map_stalled: 0,
            writable: vec![everywhere; setup.streams.host_streams() as usize],
            thresholds: setup.thresholds,
            triggers: setup.triggers,
            kept_back: 0,
            groups,
            hungry: vec![false; planes],
            fed: Vec::new(),
            free_block,
        };
        if life.is_some() {
            space.keep_back(kept_back);
        }
        let features = Features {
            refresh,
            slc,
            regulation: setup.cost.map(regulation),
            record,
            stripes: setup.stripes.map(|it| Box::new(Stripes::new(it).rebuilt(rebuilds))),
            superblock: setup.superblock.map(Box::new),
        };
        let mut ftl = Ftl {
            logical_pages: setup.logical_pages,
            map,
            blocks: Blocks::new(&geometry).with_slc_units(slc_units),
            space,
            policies: Policies {
                placement: setup.placement,
                streams: setup.streams,
                victim: setup.victim,
                pacing: setup.pacing,
                levelling,
            },
            health: Health { life_after_death: after_death, ..Health::new(life) },
            features,
            counts: FtlCounts::default(),
            plant: Plant::default(),
            geometry,
        };
        life::mark_factory_bad(&mut ftl);
        fragments::room::refresh_pack_room(&mut ftl);
        if ftl.map.mapping.log().is_some_and(|(tables, _)| tables.starts_full()) {
            fold::fill_data_blocks(&mut ftl);
        }
        groups::begin(&mut ftl);
        if ftl.features.slc.is_some() {
            // A dynamic cache may have no room even on a new device.
            (0..ftl.geometry.planes()).map(PlaneId::new).for_each(|plane| {
                crate::ftl::room::refresh_writable::<{ skills::ALL }>(plane, &mut ftl)
            });
        }
        ftl
    }

    /// The [`skills`] that the FTL needs.
    pub(crate) fn skills(&self) -> Skills {
        let rare = [
            !self.map.mapping.is_plain(),
            self.space.triggers.are_set(),
            self.features.stripes.is_some(),
            self.features.superblock.is_some(),
            self.health.life.is_some(),
            self.health.dead.is_some(),
            self.features.refresh.is_some(),
            self.features.regulation.is_some(),
            self.features.slc.as_ref().is_some_and(|cache| cache.folds_inside()),
            self.features.record.is_some(),
            self.health.read_only,
            !self.health.failed.is_empty(),
            self.policies.streams.hears_of_copies(),
            self.policies.streams.hears_of_requests(),
            self.policies.streams.keeps_blocks(),
        ];
        skills::those(&[
            (self.geometry.units_per_page() > 1, skills::UNITS),
            (self.features.slc.is_some(), skills::SLC),
            (rare.contains(&true), skills::RARE),
            (!self.map.lost.is_empty(), skills::RARE_ON_FLASH),
        ])
    }

    /// The shape of the flash, or of the volume that superblocks form.
    #[inline]
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The stripes of superblocks, if there is parity across dies.
    #[inline]
    #[must_use]
    pub fn stripes(&self) -> Option<&Stripes> {
        self.features.stripes.as_deref()
    }

    /// Superblocks, if the device has them.
    #[must_use]
    pub fn superblock(&self) -> Option<&SuperblockState> {
        self.features.superblock.as_deref()
    }

    /// Logical pages that the host sees.
    #[must_use]
    pub fn logical_pages(&self) -> u32 {
        self.logical_pages
    }

    /// Whether the FTL translates at all ([`Mapping::translates`]).
    #[must_use]
    pub fn translates(&self) -> bool {
        self.map.mapping.translates()
    }

    /// Whether anything is kept on flash for recovery.
    #[must_use]
    pub fn keeps_records(&self) -> bool {
        self.features.record.is_some()
    }

    /// The FTL's counters.
    #[must_use]
    pub fn counts(&self) -> &FtlCounts {
        &self.counts
    }

    /// The rules for when to collect, besides the thresholds.
    #[inline]
    #[must_use]
    pub fn triggers(&self) -> &Triggers {
        &self.space.triggers
    }

    /// The state of the blocks.
    #[must_use]
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// The mask of a whole page.
    #[inline]
    #[must_use]
    pub fn full_page(&self) -> SectorMask {
        self.map.spare.full()
    }

    /// The place of a page's current copy, or of its newest [fragment](Self::fragments).
    #[inline]
    #[must_use]
    pub fn look_up(&self, page: Lpn) -> Option<Ppn> {
        self.map.mapping.look_up(page)
    }

    /// The place of the current copy of a page that the host reads. Counts the page if there is none.
    #[inline]
    pub fn look_up_for_host<const S: Skills>(&mut self, page: Lpn) -> Option<Ppn> {
        let at = self.look_up(page);
        match at {
            Some(at) => slc::cache::count_slc::<S>(at, 1, Count::Read, self),
            None => self.counts.unwritten_reads += 1,
        }
        at
    }

    /// The page whose data is programmed at `at`; the first one if two are packed there.
    #[inline]
    #[must_use]
    pub fn owner_of(&self, at: Ppn) -> Option<Lpn> {
        match self.packs() {
            true => fragments::first_owner(at, self),
            false => self.map.spare.owner(at),
        }
    }

    /// Prefetches the mapping entry of a page.
    #[inline]
    pub fn prefetch(&self, page: Lpn) {
        self.map.mapping.prefetch(page);
    }

    /// Prefetches what overwriting a page uses, once its mapping entry is prefetched.
    #[inline]
    pub fn prefetch_overwrite(&self, page: Lpn) {
        if let Some(old) = self.map.mapping.look_up(page) {
            self.blocks.prefetch(&self.geometry, old);
        }
    }

    /// The first of the pages that may share a flash page with `page`; none if any page may.
    #[inline]
    #[must_use]
    pub fn group(&self, page: Lpn) -> Option<Lpn> {
        if self.health.read_only { None } else { self.policies.placement.group(page) }
    }

    /// Which page may be written in a row with `page`, as flash page `number`.
    #[must_use]
    pub fn mate(&self, page: Lpn, number: u32) -> Mate {
        if self.health.read_only { Mate::Any } else { self.policies.placement.mate(page, number) }
    }

    /// The pool of planes to which a page may go.
    #[must_use]
    pub fn pool(&self, page: Lpn) -> u32 {
        self.policies.placement.pool(page)
    }

    /// The streams policy, which decides which writes share blocks.
    #[inline]
    #[must_use]
    pub fn streams(&self) -> &Streams {
        &self.policies.streams
    }

    /// The classes of a streams policy that knows the future.
    pub(crate) fn death_classes(&mut self) -> Option<&mut DeathClasses> {
        self.policies.streams.death_classes()
    }

    /// The turn of a write of the host has come.
    pub(crate) fn takes_request(&mut self, stream: u32, sectors: u32) {
        self.policies.streams.takes_request(stream, sectors);
    }

    /// The placement policy, which chooses planes.
    #[must_use]
    pub fn placement(&self) -> &Placement {
        &self.policies.placement
    }

    /// Free blocks of a plane.
    #[must_use]
    pub fn free_blocks(&self, plane: PlaneId) -> u32 {
        self.space.planes[plane.at()].free_blocks()
    }

    /// The block that a plane is collecting.
    #[must_use]
    pub fn collecting(&self, plane: PlaneId) -> Option<BlockId> {
        self.space.planes[plane.at()].collecting()
    }
}
