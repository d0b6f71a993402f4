//! Logical pages as positions in data blocks.

/// A data block: as many consecutive logical pages of a plane as a block holds. Data blocks are
/// numbered plane by plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataBlock(pub(super) u32);

impl DataBlock {
    pub(super) const fn new(number: u32) -> DataBlock {
        DataBlock(number)
    }

    /// Returns the data block with this number.
    pub(in crate::ftl) const fn numbered(number: u32) -> DataBlock {
        DataBlock(number)
    }

    /// Returns its number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    pub(super) fn at(self) -> usize {
        self.0 as usize
    }
}

/// A logical page as a position in a data block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The data block.
    pub data: DataBlock,
    /// The offset of the page in it.
    pub offset: u32,
}
