//! Operations of a die.

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Senses a flash page and sends codewords of it.
    Read,
    /// Loads a flash page and programs it.
    Program,
    /// Erases a block.
    Erase,
    /// Moves a whole flash page to another one of its plane without the bus: senses it and programs
    /// the result, without correcting errors.
    Copyback,
}

impl Kind {
    /// All kinds, in the order of the counters.
    pub const ALL: [Kind; 4] = [Kind::Read, Kind::Program, Kind::Erase, Kind::Copyback];

    /// Whether it programs a flash page.
    #[inline]
    #[must_use]
    pub const fn programs(self) -> bool {
        matches!(self, Kind::Program | Kind::Copyback)
    }
}
