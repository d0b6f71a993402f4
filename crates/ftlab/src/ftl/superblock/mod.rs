//! Superblocks without parity: the blocks at one place of all planes of some dies are opened, filled, collected and
//! erased together, as firmware of real drives does.
//!
//! Pages are numbered by superblocks ([`Geometry::with_superblocks`](crate::shape::Geometry::with_superblocks)), so reads
//! and programs go to flash as they are: the FTL sees a flash of fewer, larger blocks. Here is what differs: an erase
//! becomes one for each block ([`erase`]), and flash pages that come to one die together share a multi-plane program
//! ([`rows`]).

pub(crate) mod erase;
pub(crate) mod rows;

use std::collections::BTreeMap;

use crate::options::declare::options;
use crate::options::text::quoted;
use crate::options::value::{Value, ValueError, ValueKind};
use crate::shape::{Geometry, SuperblockSpan};

options! {
    /// Superblocks: blocks of several dies that are opened, filled, collected and erased together.
    pub struct SuperblockOptions at "ftl.superblock" {
        /// Dies of a superblock, with all their planes: a number, "all", or "none", where each plane has blocks of its own.
        dies: SuperblockDies = "none",
            source "default: planes collect each for itself, as most simulators have it; drives use all dies, or groups";
    }
}

/// How many dies a superblock spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuperblockDies {
    /// There are no superblocks.
    None,
    /// All dies of the device.
    All,
    /// This many.
    Number(u32),
}

const NONE: &str = "none";
const ALL: &str = "all";

impl Value for SuperblockDies {
    const KIND: ValueKind = ValueKind::Count;

    fn parse(text: &str) -> Result<SuperblockDies, ValueError> {
        match text {
            NONE => Ok(SuperblockDies::None),
            ALL => Ok(SuperblockDies::All),
            _ => u32::parse(text).map(SuperblockDies::Number).map_err(|error| ValueError {
                remedy: format!("{}, {} or {}", error.remedy, quoted(ALL), quoted(NONE)),
                ..error
            }),
        }
    }

    fn print(&self) -> String {
        match self {
            SuperblockDies::None => NONE.to_owned(),
            SuperblockDies::All => ALL.to_owned(),
            SuperblockDies::Number(dies) => dies.print(),
        }
    }

    fn within(&self, low: &str, high: &str) -> bool {
        match self {
            SuperblockDies::Number(dies) => dies.within(low, high),
            SuperblockDies::None | SuperblockDies::All => true,
        }
    }

    fn placeholder() -> SuperblockDies {
        SuperblockDies::None
    }
}

impl SuperblockOptions {
    /// The span of superblocks on a device of so many dies with so many planes each; none without superblocks.
    #[must_use]
    pub fn span(&self, dies: u32, planes: u32) -> Option<SuperblockSpan> {
        let dies = match self.dies {
            SuperblockDies::None => return None,
            SuperblockDies::All => dies,
            SuperblockDies::Number(dies) => dies,
        };
        Some(SuperblockSpan { dies, planes })
    }
}

/// The state of superblocks.
#[derive(Clone, Debug)]
pub struct SuperblockState {
    flash: Geometry,
    span: SuperblockSpan,
    /// By erase of a superblock in progress: the number of its blocks that are erased.
    erasing: BTreeMap<u32, u32>,
}

impl SuperblockState {
    /// The state of a device at rest; none without superblocks.
    #[must_use]
    pub fn of(flash: &Geometry) -> Option<SuperblockState> {
        let span = flash.superblocks()?;
        Some(SuperblockState { flash: flash.clone(), span, erasing: BTreeMap::new() })
    }

    /// The flash beneath.
    #[must_use]
    pub fn flash(&self) -> &Geometry {
        &self.flash
    }

    /// Blocks of a superblock.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.span.blocks()
    }

    /// Blocks that are erased, of superblocks whose erase is not done.
    pub(crate) fn erased_in_part(&self) -> u64 {
        self.erasing.values().map(|&blocks| u64::from(blocks)).sum()
    }
}
