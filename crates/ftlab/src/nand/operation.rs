//! What a die can be told to do.

use serde::Serialize;

/// What a die can be told to do. Results count commands under the names of their kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Kind {
    /// Sense a flash page and move codewords of it out.
    #[serde(rename = "reads")]
    Read,
    /// Take a flash page in and program it.
    #[serde(rename = "programs")]
    Program,
    /// Erase a block.
    #[serde(rename = "erases")]
    Erase,
    /// Move a whole flash page to another one of its plane without the bus: sense it, and program
    /// what was sensed. The data is not corrected on the way.
    #[serde(rename = "copybacks")]
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
