//! How a mapping with a log divides the blocks of a plane.

/// The shares of a plane's blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Data blocks of a plane.
    pub data: u32,
    /// Log blocks of a plane.
    pub log: u32,
}

impl Shares {
    /// Blocks besides data and log: one that stays free while the last log block is emptied, and
    /// the target of a merge.
    pub const BESIDE: u32 = 2;
}
