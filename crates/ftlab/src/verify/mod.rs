//! Laws that every device obeys at every moment, watched while it runs.
//!
//! With the cargo feature `verify` a device checks itself: every span in which a die or a bus is busy
//! ([`FlashLaws`]), every request and every event ([`Ledger`]), and now and then everything that it knows
//! ([`Device::audit`](crate::device::Device::audit)). A broken law panics and says what was broken.
//! Without the feature [`ON`] is a constant `false`, and nothing of this is left in the program.

mod canary;
mod classes;
mod flash;
mod ledger;

pub use canary::Canary;
pub(crate) use canary::Plant;
use classes::Classes;
pub(crate) use flash::{BusUse, FlashLaws, Held, OnBus};
pub(crate) use ledger::Ledger;

/// Whether devices check themselves.
pub const ON: bool = cfg!(feature = "verify");
