//! The mode of a block's cells: native, or one bit per cell.

/// How many bits the cells of a block store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum CellMode {
    /// As many as the part is made for.
    #[default]
    Native,
    /// One bit per cell: faster and more durable, at a fraction of the capacity.
    Slc,
}
