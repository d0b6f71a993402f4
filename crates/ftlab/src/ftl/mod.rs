//! The flash translation layer: the only code that changes the mapping and the state of blocks.
//!
//! A write is placed when its program is issued and committed when the program is done; until then the
//! older copy is the current one. So whatever the mapping names has been programmed, and a page that
//! moves can be read at its old place until its block is erased.

pub(crate) mod audit;
mod blocks;
mod cargo;
mod commit;
mod contents;
pub mod cost;
pub(crate) mod fragments;
pub mod gc;
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
pub mod wear;

pub use blocks::{BlockState, Blocks};
pub use cargo::Cargo;
pub use contents::FlashContents;
pub use fragments::{Fragment, Fragments, OwnerPart};
pub use kernel::Kernel;
pub use plane::Plane;
pub(crate) use relocations::Relocations;
pub use spare::Spare;

use crate::ftl::merge::fold;
use crate::ftl::wear::life;
use cost::{CostSetup, Regulation};
use fragments::PackRoom;
use gc::{Purpose, PurposeCounts, Thresholds, Triggers, Victim, VictimPolicy, VictimView};
pub use lost::Lost;
use mapping::{Mapping, MappingPolicy};
use parity::Stripes;
use placement::{Mate, Placement, PlacementPolicy, Writable};
use recovery::{Record, Recovery};
use slc::{CacheState, Count, SlcSetup};
use streams::{Streams, StreamsPolicy};
use wear::{Demand, Levelling, Life, Refresh, WearSetup};

use health::Health;
use space::Space;

use crate::counters::counters;
use crate::engine::skills::{self, Skills};
use crate::nand::Superblocks;
use crate::scheduler::DieSet;
use crate::shape::Geometry;
use crate::units::{BlockId, Lpn, PlaneId, Ppn, SectorMask};
use crate::verify::Plant;

/// What an FTL is made of.
#[derive(Clone, Debug)]
pub struct FtlSetup {
    /// The shape of the device, or of the volume that superblocks make of it.
    pub geometry: Geometry,
    /// How that volume lies on flash; none if it is the flash itself.
    pub superblocks: Option<Superblocks>,
    /// Logical pages (mapping units) that the host sees.
    pub logical_pages: u32,
    /// The table.
    pub mapping: Mapping,
    /// Where writes go.
    pub placement: Placement,
    /// Which writes share blocks.
    pub streams: Streams,
    /// What is collected.
    pub victim: Victim,
    /// When it is collected.
    pub thresholds: Thresholds,
    /// What is done about wear.
    pub wear: WearSetup,
    /// What else decides when, and at which pace.
    pub triggers: Triggers,
    /// The SLC cache.
    pub slc: SlcSetup,
    /// What regulates the cost of programs; none if the timing of the cells leaves no choice.
    pub cost: Option<CostSetup>,
    /// How the map is found again after a power cut.
    pub recovery: Recovery,
}

counters! {
    /// What the FTL did, in pages (mapping units) unless said otherwise.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct FtlCounts {
        /// Pages programmed for the host.
        host_pages: u64, unit "pages", at "write_amplification/host_pages";
        /// Pages that collection copied.
        gc_pages: u64, unit "pages", at "gc/copied_pages" or "write_amplification/gc_pages",
            compared lower "GC copies, pages";
        /// Of these, pages that had been overwritten by the time the copy was done.
        gc_stale: u64, unit "pages", at "gc/stale_copied_pages";
        /// Places in flash pages that were programmed with nothing, for lack of pages to fill them.
        padding: u64, unit "pages", at "write_amplification/padding_pages", compared lower if any "padding, pages";
        /// Pages deallocated.
        trimmed: u64, unit "pages";
        /// Blocks collected.
        gc_runs: u64, unit "blocks", at "gc/runs";
        /// Valid pages that the collected blocks held when they were chosen.
        gc_victim_valid: u64, unit "pages";
        /// Blocks and copied pages by purpose, in the order of [`Purpose::ALL`].
        by_purpose: [PurposeCounts; Purpose::ALL.len()];
        /// Blocks that patrols found due and left alone, each at each patrol: so worn that a copy of their data would be
        /// due at once.
        beyond_refresh: u64, unit "blocks", at "cost/beyond_refresh";
        /// Pages that a host read found empty: never written, or deallocated. They cost no flash read.
        unwritten_reads: u64, unit "pages", at "unwritten_read_pages";
    }
}

/// Blocks that each plane of a device that can fail keeps back: one for an erase that fails, and its
/// part of what the write buffer may hold at the end.
fn kept_back(geometry: &Geometry, drain_pages: u32) -> u32 {
    1 + drain_pages.div_ceil(geometry.planes() * geometry.shape().pages_per_block)
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
    /// Only where devices check themselves.
    pub(crate) plant: Plant,
}

/// What lies where, and what stands beside it on flash.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    mapping: Mapping,
    spare: Spare,
    /// Pages whose data nothing reads any more.
    lost: Lost,
    /// Nothing unless pages are packed.
    pack_room: PackRoom,
}

/// What decides, and does not act.
#[derive(Clone, Debug)]
pub(crate) struct Policies {
    placement: Placement,
    streams: Streams,
    victim: Victim,
    levelling: Levelling,
}

/// What a device need not have. Each is a folder of its own.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    /// None if data is never refreshed.
    refresh: Option<Box<Refresh>>,
    /// None if no block is ever used with one bit a cell.
    slc: Option<Box<CacheState>>,
    /// None if all programs cost the same.
    regulation: Option<Box<Regulation>>,
    /// What stands on flash for recovery; none if nothing is kept for it.
    record: Option<Box<Record>>,
    /// None if dies are used one by one.
    stripes: Option<Box<Stripes>>,
}

impl Ftl {
    /// An FTL over erased flash.
    #[must_use]
    pub fn new(setup: FtlSetup) -> Ftl {
        let geometry = setup.geometry;
        let bits = setup.slc.bits;
        let slc = CacheState::new(setup.slc, &geometry);
        let own = slc.as_ref().map_or(0, |cache| cache.own_blocks());
        let blocks_per_plane = geometry.shape().blocks_per_plane - own;
        let everywhere = Writable {
            planes: vec![true; geometry.planes() as usize],
            dies: DieSet::all(&geometry),
            next_unit: vec![0; geometry.planes() as usize],
            units_per_block: geometry.units_per_block(),
        };
        let WearSetup { free_block, levelling, refresh, refresh_reads, faults, drain_pages } =
            setup.wear;
        let refreshes = refresh.is_some() || refresh_reads;
        let refresh = refreshes.then(|| Box::new(Refresh::new(refresh, geometry.planes())));
        let (mut thresholds, mut triggers) = (setup.thresholds, setup.triggers);
        let life = faults.map(|faults| {
            let kept_back = kept_back(&geometry, drain_pages);
            thresholds = thresholds.raised_by(kept_back);
            triggers = triggers.raised_by(kept_back);
            let demand = Demand {
                geometry: &geometry,
                logical_pages: setup.logical_pages,
                map_pages: setup.mapping.dftl().map(|map| map.translation_pages()),
                reserve: thresholds.reserve,
                streams: setup.streams.counts(),
                rewrites: setup.cost.as_ref().is_some_and(|cost| cost.rewrites.is_some()),
            };
            Box::new(Life::new(faults, &demand, drain_pages))
        });
        // Where nothing is translated, nobody asks who owns a page.
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
        let space = Space {
            planes: vec![Plane::new(blocks_per_plane, free_block); planes],
            map_writable: map.mapping.dftl().map(|_| Box::new(everywhere.clone())),
            map_stalled: 0,
            writable: vec![everywhere; setup.streams.host_streams() as usize],
            thresholds,
            triggers,
            hungry: vec![false; planes],
            fed: Vec::new(),
            free_block,
        };
        let features = Features {
            refresh,
            slc,
            regulation: setup.cost.map(regulation),
            record,
            stripes: setup.superblocks.map(|superblocks| Box::new(Stripes::new(superblocks))),
        };
        let mut ftl = Ftl {
            logical_pages: setup.logical_pages,
            map,
            blocks: Blocks::new(&geometry).with_cells_of(bits, &geometry),
            space,
            policies: Policies {
                placement: setup.placement,
                streams: setup.streams,
                victim: setup.victim,
                levelling,
            },
            health: Health::new(life),
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
        if ftl.features.slc.is_some() {
            // A dynamic cache may have no room even on a new device.
            (0..ftl.geometry.planes()).map(PlaneId::new).for_each(|plane| {
                crate::ftl::room::refresh_writable::<{ skills::ALL }>(plane, &mut ftl)
            });
        }
        ftl
    }

    /// What it has of the [`skills`].
    pub(crate) fn skills(&self) -> Skills {
        let rare = [
            !self.map.mapping.is_plain(),
            self.space.triggers.are_set(),
            self.features.stripes.is_some(),
            self.health.life.is_some(),
            self.health.dead.is_some(),
            self.features.refresh.is_some(),
            self.features.regulation.is_some(),
            self.features.record.is_some(),
            self.health.read_only,
            !self.health.failed.is_empty(),
        ];
        skills::those(&[
            (self.geometry.units_per_page() > 1, skills::UNITS),
            (self.features.slc.is_some(), skills::SLC),
            (rare.contains(&true), skills::RARE),
            (!self.map.lost.is_empty(), skills::RARE_ON_FLASH),
        ])
    }

    /// The shape of what it fills: the flash, or the volume that superblocks make of it.
    #[inline]
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The stripes of superblocks, if dies are used together.
    #[inline]
    #[must_use]
    pub fn stripes(&self) -> Option<&Stripes> {
        self.features.stripes.as_deref()
    }

    /// Logical pages that the host sees.
    #[must_use]
    pub fn logical_pages(&self) -> u32 {
        self.logical_pages
    }

    /// Whether it translates at all ([`Mapping::translates`]).
    #[must_use]
    pub fn translates(&self) -> bool {
        self.map.mapping.translates()
    }

    /// Whether anything is kept on flash for recovery.
    #[must_use]
    pub fn keeps_records(&self) -> bool {
        self.features.record.is_some()
    }

    /// What it did so far.
    #[must_use]
    pub fn counts(&self) -> &FtlCounts {
        &self.counts
    }

    /// What decides when it collects, beside the thresholds.
    #[inline]
    #[must_use]
    pub fn triggers(&self) -> &Triggers {
        &self.space.triggers
    }

    /// The blocks, to look at.
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

    /// Where the current copy of a page lies; of a page in [`fragments`](Self::fragments), the newest.
    #[inline]
    #[must_use]
    pub fn look_up(&self, page: Lpn) -> Option<Ppn> {
        self.map.mapping.look_up(page)
    }

    /// Where the current copy of a page that the host reads lies; counts the page if there is none.
    #[inline]
    pub fn look_up_for_host<const S: Skills>(&mut self, page: Lpn) -> Option<Ppn> {
        let at = self.look_up(page);
        match at {
            Some(at) => slc::cache::count_slc::<S>(at, 1, Count::Read, self),
            None => self.counts.unwritten_reads += 1,
        }
        at
    }

    /// The page whose data is programmed at `at`, the first if there are two.
    #[inline]
    #[must_use]
    pub fn owner_of(&self, at: Ppn) -> Option<Lpn> {
        match self.packs() {
            true => fragments::first_owner(at, self),
            false => self.map.spare.owner(at),
        }
    }

    /// Brings the mapping entry of a page closer to the processor.
    #[inline]
    pub fn prefetch(&self, page: Lpn) {
        self.map.mapping.prefetch(page);
    }

    /// Brings what overwriting a page will touch closer, once its mapping entry is close.
    #[inline]
    pub fn prefetch_overwrite(&self, page: Lpn) {
        if let Some(old) = self.map.mapping.look_up(page) {
            self.blocks.prefetch(&self.geometry, old);
        }
    }

    /// The first of the pages that may share a flash page with `page`, if not any may.
    #[inline]
    #[must_use]
    pub fn group(&self, page: Lpn) -> Option<Lpn> {
        if self.health.read_only { None } else { self.policies.placement.group(page) }
    }

    /// What else may be written in a row with `page`.
    #[must_use]
    pub fn mate(&self, page: Lpn, number: u32) -> Mate {
        if self.health.read_only { Mate::Any } else { self.policies.placement.mate(page, number) }
    }

    /// Where a page may go.
    #[must_use]
    pub fn pool(&self, page: Lpn) -> u32 {
        self.policies.placement.pool(page)
    }

    /// Which writes share blocks.
    #[inline]
    #[must_use]
    pub fn streams(&self) -> &Streams {
        &self.policies.streams
    }

    /// Where planes are written, and where a page may go.
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
