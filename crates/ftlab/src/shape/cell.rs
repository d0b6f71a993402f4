//! The bits that a cell stores.

use crate::options::declare::choices;

choices! {
    /// How many bits a cell stores.
    pub enum Cell {
        /// One bit per cell.
        Slc = "slc",
        /// Two bits per cell.
        Mlc = "mlc",
        /// Three bits per cell.
        Tlc = "tlc",
        /// Four bits per cell.
        Qlc = "qlc",
    }
}

impl Cell {
    /// Bits per cell: how many flash pages share a word line.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Cell::Slc => 1,
            Cell::Mlc => 2,
            Cell::Tlc => 3,
            Cell::Qlc => 4,
        }
    }
}
