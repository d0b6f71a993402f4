//! Superblocks without parity: the blocks at one place of all planes of some dies are opened, filled, collected and
//! erased together, as firmware of real drives does.
//!
//! Pages are numbered by superblocks ([`FlashGeometry`]), so reads
//! and programs go to flash as they are: the FTL sees a flash of fewer, larger blocks. Here is what differs: an erase
//! becomes one for each block ([`erase`]), and flash pages that come to one die together share a multi-plane program
//! ([`rows`]).

pub(crate) mod erase;
pub(crate) mod rows;

use std::collections::BTreeMap;

use crate::ftl::{Features, Ftl};
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
        Some(SuperblockSpan { dies, planes })
    }
}

/// The erases of superblocks of which some blocks are erased, and not all.
pub(crate) fn erases_in_part(ftl: &Ftl) -> impl Iterator<Item = CommandId> {
    let erasing = ftl.features.superblock.iter().flat_map(|state| &state.erasing);
    erasing.filter(|&(_, &blocks)| blocks > 0).map(|(&id, _)| CommandId::new(id))
}

impl Features {
    /// Blocks of flash that a block of the volume has.
    pub(in crate::ftl) fn blocks_of_superblock(&self) -> u32 {
        self.superblock.as_ref().map_or(1, |state| state.width())
    }
}

/// The state of superblocks.
#[derive(Clone, Debug)]
pub struct SuperblockState {
    flash: FlashGeometry,
    span: SuperblockSpan,
    /// By erase of a superblock in progress: the number of its blocks that are erased.
    erasing: BTreeMap<u32, u32>,
}

impl SuperblockState {
    /// The state of a device at rest; none without superblocks.
    #[must_use]
    pub fn of(flash: &FlashGeometry) -> Option<SuperblockState> {
        let span = flash.superblocks()?;
        Some(SuperblockState { flash: flash.clone(), span, erasing: BTreeMap::new() })
    }

    /// The flash beneath.
    #[must_use]
    pub fn flash(&self) -> &FlashGeometry {
        &self.flash
    }

    /// Blocks of a superblock.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.span.blocks()
    }

    /// Without a clock: the erase of a superblock begins. Returns the first page of each of its blocks.
    pub(in crate::ftl) fn begin_erase(
        &mut self,
        plane: PlaneId,
        block: BlockId,
    ) -> impl Iterator<Item = Ppn> + use<'_> {
        self.erasing.insert(plane.get(), 0);
        self.flash.blocks_of_superblock(block).map(|block| self.flash.page_at(block, 0))
    }

    /// Without a clock: a block of the superblock that a plane erases is done. Returns whether it is the last one.
    pub(in crate::ftl) fn is_last_erased(&mut self, plane: PlaneId) -> bool {
        let erased = self.erasing.entry(plane.get()).or_default();
        *erased += 1;
        let is_last = *erased == self.span.blocks();
        if is_last {
            self.erasing.remove(&plane.get());
        }
        is_last
    }

    /// Blocks that are erased, of superblocks whose erase is not done.
    pub(crate) fn erased_in_part(&self) -> u64 {
        self.erasing.values().map(|&blocks| u64::from(blocks)).sum()
    }
}
