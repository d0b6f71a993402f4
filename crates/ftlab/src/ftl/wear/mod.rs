//! Wear: which free block is used next, which block's data moves on so that the block is used, which data moves
//! because it ages, and what becomes of blocks that fail.

mod bet;
pub(crate) mod dies;
pub(crate) mod failing;
mod free_blocks;
pub(crate) mod levelling;
pub(crate) mod life;
mod no_levelling;
pub(crate) mod refresh;
mod threshold;

pub use bet::{Bet, BetOptions};
pub use free_blocks::{FreeBlockOrder, FreeBlocks, Pick};
#[cfg(feature = "external-policies")]
pub use levelling::ExternalLevelling;
pub use levelling::{Levelling, LevellingChoice, LevellingPolicy, WearView};
pub use life::{Demand, EndReason, Life, Losses};
pub use no_levelling::NoLevelling;
pub(super) use refresh::Refresh;
pub use refresh::{RefreshOptions, RefreshRule, RefreshWhen};
pub use threshold::{Threshold, ThresholdOptions};

use crate::nand::Faults;
pub(super) use dies::DeadDies;

/// What an FTL is to do about wear.
#[derive(Clone, Debug)]
pub struct WearSetup {
    /// Which free block is used next.
    pub free_block: FreeBlockOrder,
    /// Which data moves so that its block comes into use.
    pub levelling: Levelling,
    /// Which data is copied before it is lost; none if nothing is.
    pub refresh: Option<RefreshRule>,
    /// Whether blocks that are read often are copied, too.
    pub refresh_reads: bool,
    /// What fails; none if nothing ever does.
    pub faults: Option<Faults>,
    /// Flash pages that the write buffer may still have to write when the device comes to its end.
    pub drain_pages: u32,
}

impl WearSetup {
    /// Nothing fails, and the free block that was erased longest ago is used next.
    #[must_use]
    pub fn carefree() -> WearSetup {
        WearSetup {
            free_block: FreeBlockOrder::Oldest,
            levelling: Levelling::None(NoLevelling),
            refresh: None,
            refresh_reads: false,
            faults: None,
            drain_pages: 0,
        }
    }
}
