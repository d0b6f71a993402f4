//! Wear: which free block is used next, and what becomes of blocks that fail.

mod free_blocks;
mod life;

pub use free_blocks::{FreeBlockOrder, FreeBlocks, Pick};
pub use life::{Demand, EndReason, Life, Losses};

use crate::nand::Faults;

/// What an FTL is to do about wear.
#[derive(Clone, Debug)]
pub struct WearSetup {
    /// Which free block is used next.
    pub free_block: FreeBlockOrder,
    /// What fails; none if nothing ever does.
    pub faults: Option<Faults>,
    /// Flash pages that the write buffer may still have to write when the device comes to its end.
    pub drain_pages: u32,
}

impl WearSetup {
    /// Nothing fails, and the free block that was erased longest ago is used next.
    #[must_use]
    pub const fn carefree() -> WearSetup {
        WearSetup { free_block: FreeBlockOrder::Oldest, faults: None, drain_pages: 0 }
    }
}
