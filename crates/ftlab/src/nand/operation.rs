//! Operations of a die.

use serde::Serialize;

/// The kind of an operation. Results count operations under these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Kind {
    /// Senses a flash page and sends codewords of it.
    #[serde(rename = "reads")]
    Read,
    /// Loads a flash page and programs it.
    #[serde(rename = "programs")]
    Program,
    /// Erases a block.
    #[serde(rename = "erases")]
    Erase,
    /// Moves a whole flash page to another one of its plane without the bus: senses it and programs
    /// the result, without correcting errors.
    #[serde(rename = "copybacks")]
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
