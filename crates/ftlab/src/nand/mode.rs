//! How the cells of a block are used: as what they are, or with one bit each.

/// What the cells of a block store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum CellMode {
    /// All the bits that the part is made for.
    #[default]
    Native,
    /// One bit a cell: faster and more durable, at a fraction of the capacity.
    Slc,
}
