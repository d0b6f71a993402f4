//! Amounts of work of the cells, where it is summed up rather than carried out command by command.

/// An amount of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellWork {
    /// Pages read and programmed.
    pub copies: u32,
    /// Blocks erased.
    pub erases: u32,
}

impl CellWork {
    /// One erase.
    pub const ERASE: CellWork = CellWork { copies: 0, erases: 1 };

    /// Returns the sum.
    #[must_use]
    pub const fn and(self, other: CellWork) -> CellWork {
        CellWork { copies: self.copies + other.copies, erases: self.erases + other.erases }
    }

    /// Whether neither amount is larger than in `other`.
    #[must_use]
    pub const fn fits(self, other: CellWork) -> bool {
        self.copies <= other.copies && self.erases <= other.erases
    }
}
