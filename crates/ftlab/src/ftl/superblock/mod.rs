//! Superblocks: the blocks at one place of all planes of some dies are opened, filled, collected and erased together, as
//! firmware of real drives does.
//!
//! Pages are numbered by superblocks ([`FlashGeometry`]), so reads
//! and programs go to flash as they are: the FTL sees a flash of fewer, larger blocks. Here is what differs: an erase
//! becomes one for each block ([`erase`]), flash pages that come to one die together share a multi-plane program
//! ([`rows`]), and superblocks go on without blocks that are bad or on dead dies ([`members`], [`room`], [`wear`]).
//! Parity, if there is any, is a feature of its own ([`parity`](super::parity)).

pub(crate) mod deaths;
pub(crate) mod erase;
pub(in crate::ftl) mod kept;
mod members;
mod reads;
pub(crate) mod room;
pub(crate) mod rows;
pub(crate) mod wear;

use std::collections::BTreeMap;

pub use kept::most_bytes;
pub use members::Members;

use self::reads::ReadsUnderWay;
use crate::ftl::{Features, Ftl};
use crate::image::ImageWriter;
use crate::options::declare::{choices, options};
use crate::scheduler::CommandId;
use crate::shape::{FlashGeometry, SuperblockSpan};
use crate::units::{BlockId, PlaneId, Ppn};

options! {
    /// Superblocks: blocks of several dies that are opened, filled, collected and erased together.
    pub struct SuperblockOptions at "ftl.superblock" {
        /// Which blocks form superblocks. They span all planes of their dies.
        policy: SuperblockPolicy = "none",
            source "default: planes collect each for itself, as most simulators have it; drives use all dies, or groups";
        /// Dies of a superblock.
        dies: u32 = "4", in "1"..="4096", unit "dies",
            source "assumed; groups bound the time and the space that the collection of one superblock takes",
            applies_with "ftl.superblock.policy" is "groups";
    }
}

choices! {
    /// Which blocks form superblocks.
    pub enum SuperblockPolicy {
        /// There are none: each plane has blocks of its own.
        None = "none",
        /// Those at one place of all dies.
        All = "all",
        /// Those at one place of several dies.
        Groups = "groups",
    }
}

impl SuperblockOptions {
    /// The span of superblocks on a device of so many dies with so many planes each; none without superblocks.
    #[must_use]
    pub fn span(&self, dies: u32, planes: u32) -> Option<SuperblockSpan> {
        let dies = match self.policy {
            SuperblockPolicy::None => return None,
            SuperblockPolicy::All => dies,
            SuperblockPolicy::Groups => self.dies,
        };
        Some(SuperblockSpan { dies, planes, has_parity: false })
    }
}

/// The erases of superblocks of which some blocks are erased, and not all.
pub(crate) fn erases_in_part(ftl: &Ftl) -> impl Iterator<Item = CommandId> {
    let erasing = ftl.features.superblock.iter().flat_map(|state| &state.erasing);
    erasing.filter(|(_, run)| run.done > 0).map(|(&id, _)| CommandId::new(id))
}

impl Features {
    /// Which blocks of superblocks hold pages; none without superblocks.
    pub(in crate::ftl) fn members(&self) -> Option<&Members> {
        self.superblock.as_ref().map(|state| &state.members)
    }
}

/// The erase of a superblock in progress, in blocks.
#[derive(Clone, Copy, Debug, Default)]
struct Erasing {
    /// Blocks that are to be erased.
    all: u32,
    /// Blocks that are erased.
    done: u32,
}

/// Erases of blocks that the erase counts of superblocks don't tell.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UntoldErases {
    /// Blocks that were not erased with their superblock.
    pub spared: u64,
    /// Blocks that were erased with a superblock that was retired then.
    pub retired: u64,
}

/// The state of superblocks.
#[derive(Clone, Debug)]
pub struct SuperblockState {
    pub(in crate::ftl) members: Members,
    /// By erase of a superblock in progress.
    erasing: BTreeMap<u32, Erasing>,
    reads: ReadsUnderWay,
    pub(crate) untold: UntoldErases,
}

impl SuperblockState {
    /// The state of a device at rest; none without superblocks.
    #[must_use]
    pub fn of(flash: &FlashGeometry) -> Option<SuperblockState> {
        let members = Members::new(flash, flash.superblocks()?);
        Some(SuperblockState {
            members,
            erasing: BTreeMap::new(),
            reads: ReadsUnderWay::new(flash),
            untold: UntoldErases::default(),
        })
    }

    pub(in crate::ftl) fn save(&self, out: &mut ImageWriter) {
        // Nothing is being read or erased at rest, and measurements start at the load.
        let SuperblockState { members, erasing: _, reads: _, untold: _ } = self;
        members.save(out);
    }

    /// Which blocks hold pages.
    #[must_use]
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// Blocks that were not erased with their superblocks, because they are bad or on dead dies.
    #[must_use]
    pub fn spared_erases(&self) -> u64 {
        self.untold.spared
    }

    /// Blocks of a superblock.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.members.span().blocks()
    }

    /// Without a clock: the erase of a superblock begins. Returns the first page of each of its blocks.
    pub(in crate::ftl) fn begin_erase(
        &mut self,
        plane: PlaneId,
        block: BlockId,
    ) -> impl Iterator<Item = Ppn> + use<'_> {
        self.erasing.insert(plane.get(), Erasing { all: self.width(), done: 0 });
        self.members.flash().first_pages(block)
    }

    /// Without a clock: a block of the superblock that a plane erases is done. Returns whether it is the last one.
    pub(in crate::ftl) fn is_last_erased(&mut self, plane: PlaneId) -> bool {
        let erasing = self.erasing.entry(plane.get()).or_default();
        erasing.done += 1;
        let is_last = erasing.done == erasing.all;
        if is_last {
            self.erasing.remove(&plane.get());
        }
        is_last
    }

    /// Blocks that are erased, of superblocks whose erase is not done.
    pub(crate) fn erased_in_part(&self) -> u64 {
        self.erasing.values().map(|erasing| u64::from(erasing.done)).sum()
    }
}
