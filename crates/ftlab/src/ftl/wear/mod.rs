//! Wear: the order in which free blocks are used, static wear levelling, the refresh of ageing
//! data, and the handling of failed blocks.

mod bet;
pub(crate) mod dies;
pub(crate) mod failing;
mod free_blocks;
pub(crate) mod levelling;
pub(crate) mod life;
mod losses;
mod no_levelling;
pub(crate) mod refresh;
mod shortage;
mod threshold;

pub use bet::{Bet, BetOptions};
pub use free_blocks::{FreeBlockOrder, FreeBlocks, Pick};
#[cfg(feature = "external-policies")]
pub use levelling::ExternalLevelling;
pub use levelling::{Levelling, LevellingChoice, LevellingPolicy, WearView};
pub use life::{Demand, EndReason, Life};
pub use losses::Losses;
pub use no_levelling::NoLevelling;
pub(super) use refresh::Refresh;
pub use refresh::{RefreshOptions, RefreshRule, RefreshWhen};
pub use threshold::{Threshold, ThresholdOptions};

use crate::nand::Faults;
pub(super) use dies::DeadDies;

/// An FTL's setup for wear.
#[derive(Clone, Debug)]
pub struct WearSetup {
    /// The order in which free blocks are used.
    pub free_block: FreeBlockOrder,
    /// The policy of static wear levelling.
    pub levelling: Levelling,
    /// When data is refreshed because of its age, or `None` if never.
    pub refresh: Option<RefreshRule>,
    /// Whether blocks that are read often are refreshed, too.
    pub refresh_reads: bool,
    /// Whether superblocks that a death left without protection are rebuilt.
    pub rebuilds: bool,
    /// The faults of the flash, or `None` if nothing ever fails.
    pub faults: Option<Faults>,
    /// Whether dies may die by order, even if nothing ever fails.
    pub bears_deaths: bool,
    /// Whether the streams policy has open blocks closed early.
    pub closes_early: bool,
    /// Maximum number of flash pages that the write buffer may still have to write at the end of
    /// the device's life.
    pub drain_pages: u32,
}

impl WearSetup {
    /// Returns a setup without faults, in which the free block that was erased longest ago is used
    /// next.
    #[must_use]
    pub fn carefree() -> WearSetup {
        WearSetup {
            free_block: FreeBlockOrder::Oldest,
            levelling: Levelling::None(NoLevelling),
            refresh: None,
            refresh_reads: false,
            rebuilds: false,
            faults: None,
            bears_deaths: false,
            closes_early: false,
            drain_pages: 0,
        }
    }
}
