//! The purpose of a collection. It decides the origin of its commands and what becomes of the
//! block.

use serde::Serialize;

use crate::counters::counters;
use crate::scheduler::Origin;

/// Why a block is emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The plane lacks free blocks.
    Space,
    /// The device is idle: blocks are freed before they are needed.
    Background,
    /// Static wear levelling: the block is less worn than others because its data is cold.
    WearLevel,
    /// The block is going bad: it is emptied and retired.
    Retire,
    /// The block belongs to the SLC cache: its data moves to the main area.
    Fold,
    /// The block holds data that may soon be lost: it will have more errors than can be corrected, or a die of its
    /// stripes is dead.
    Refresh,
}

impl Purpose {
    /// All purposes, in the order in which counters list them.
    pub const ALL: [Purpose; 6] = [
        Purpose::Space,
        Purpose::Background,
        Purpose::WearLevel,
        Purpose::Retire,
        Purpose::Fold,
        Purpose::Refresh,
    ];

    /// The origin of its commands.
    #[must_use]
    pub const fn origin(self) -> Origin {
        match self {
            Purpose::Space | Purpose::Background => Origin::Gc,
            Purpose::WearLevel | Purpose::Retire | Purpose::Refresh => Origin::Wear,
            Purpose::Fold => Origin::Fold,
        }
    }

    /// Its name in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Purpose::Space => "for space",
            Purpose::Background => "in the background",
            Purpose::WearLevel => "to level wear",
            Purpose::Retire => "to retire the block",
            Purpose::Fold => "to fold the SLC cache",
            Purpose::Refresh => "to refresh data",
        }
    }

    /// Whether the block is erased and used again.
    #[must_use]
    pub const fn frees_block(self) -> bool {
        !matches!(self, Purpose::Retire)
    }
}

counters! {
    /// Collections for one purpose.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct PurposeCounts {
        /// Blocks collected.
        runs: u64, unit "blocks", at "gc/by_purpose/*/runs";
        /// Pages (mapping units) copied.
        pages: u64, unit "pages", at "gc/by_purpose/*/copied_pages";
    }
}
