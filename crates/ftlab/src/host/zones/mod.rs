//! Zones: parts of the address space that are written in order and emptied as a whole.
//!
//! The terms, states, transitions and errors are those of the NVM Express Zoned Namespace Command Set 1.1. [`Zones`] is the
//! state machine; it decides before anything reaches the FTL, which sees plain writes and deallocations.
//!
//! The host addresses zones at multiples of their size. Behind the capacity of a zone there may be a gap that no command
//! reaches. The FTL knows no gaps: [`Zones`] takes them out of addresses on the way in, and puts them back on the way out.
//!
//! Conventional zones come first and may be written anywhere, as in ZBC; the command set of NVMe has none.

mod error;
mod kept;
mod manage;
mod options;
mod state;
mod window;

pub use error::ZoneError;
pub use options::{ZoneOptions, ZonePolicy};
pub use state::{Zone, ZoneChange, ZoneCounts, ZoneRules, ZoneState, Zones};
pub use window::ZoneWindow;

#[cfg(test)]
mod model;
