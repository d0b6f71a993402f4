//! Why a command on a zone fails.

use serde::Serialize;

/// Why a command on a zone fails.
///
/// Source: NVM Express Zoned Namespace Command Set 1.1, status codes B6h and B8h to BFh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZoneError {
    /// It reaches beyond the capacity of a zone.
    Boundary,
    /// The zone is full.
    Full,
    /// The zone takes no more writes, because its flash wears out.
    ReadOnly,
    /// The zone is out of service.
    Offline,
    /// A write that does not begin at the write pointer, or lies outside of the random write area.
    InvalidWrite,
    /// The limit of active zones is reached.
    TooManyActive,
    /// The limit of open zones is reached, and none was opened implicitly.
    TooManyOpen,
    /// The zone's state does not allow it.
    InvalidTransition,
    /// The address is not the first one of a zone, the command is not for zones of this type, or an append is too long.
    InvalidField,
    /// The zone has, or lacks, a random write area.
    InvalidOperation,
}

impl ZoneError {
    /// All of them.
    pub const ALL: [ZoneError; 10] = [
        ZoneError::Boundary,
        ZoneError::Full,
        ZoneError::ReadOnly,
        ZoneError::Offline,
        ZoneError::InvalidWrite,
        ZoneError::TooManyActive,
        ZoneError::TooManyOpen,
        ZoneError::InvalidTransition,
        ZoneError::InvalidField,
        ZoneError::InvalidOperation,
    ];

    /// Its name, as results have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ZoneError::Boundary => "boundary",
            ZoneError::Full => "full",
            ZoneError::ReadOnly => "read-only",
            ZoneError::Offline => "offline",
            ZoneError::InvalidWrite => "invalid-write",
            ZoneError::TooManyActive => "too-many-active",
            ZoneError::TooManyOpen => "too-many-open",
            ZoneError::InvalidTransition => "invalid-transition",
            ZoneError::InvalidField => "invalid-field",
            ZoneError::InvalidOperation => "invalid-operation",
        }
    }
}
