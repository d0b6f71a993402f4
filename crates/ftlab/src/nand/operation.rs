//! What a die can be told to do.

/// What the die does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Sense a flash page and move codewords of it out.
    Read,
    /// Take a flash page in and program it.
    Program,
    /// Erase a block.
    Erase,
    /// Move a whole flash page to another one of its plane without the bus: sense it, and program
    /// what was sensed. The data is not corrected on the way.
    Copyback,
}

impl Kind {
    /// All kinds, in the order in which counters list them.
    pub const ALL: [Kind; 4] = [Kind::Read, Kind::Program, Kind::Erase, Kind::Copyback];

    /// Whether it programs a flash page.
    #[inline]
    #[must_use]
    pub const fn programs(self) -> bool {
        matches!(self, Kind::Program | Kind::Copyback)
    }
}
