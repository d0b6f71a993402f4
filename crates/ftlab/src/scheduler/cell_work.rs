//! Work of the cells in numbers, where it is added up and not carried out command by command.

/// Work of the cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellWork {
    /// Pages read and programmed.
    pub copies: u32,
    /// Blocks erased.
    pub erases: u32,
}

impl CellWork {
    /// That of an erase.
    pub const ERASE: CellWork = CellWork { copies: 0, erases: 1 };

    /// Both together.
    #[must_use]
    pub const fn and(self, other: CellWork) -> CellWork {
        CellWork { copies: self.copies + other.copies, erases: self.erases + other.erases }
    }

    /// Whether it is no more than another in either.
    #[must_use]
    pub const fn fits(self, other: CellWork) -> bool {
        self.copies <= other.copies && self.erases <= other.erases
    }
}
