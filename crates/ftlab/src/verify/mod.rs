//! Laws that every device obeys at every moment, watched while it runs.
//!
//! A device that was asked to ([`DeviceSetup::checking`](crate::device::DeviceSetup::checking)) checks itself: every
//! span in which a die or a bus is busy (`scheduler/laws.rs`), every request and every event (`device/ledger.rs`), and
//! now and then everything that it knows (`Device::audit`). A broken law panics and says what was broken.
//!
//! Debug builds can do this, and builds with the cargo feature `verify`. In other builds [`ON`] is a constant `false`,
//! and nothing of this is left in the program. Here is what every layer needs of that: the switch, and the bugs that
//! are planted to try the laws.

mod canary;

pub use canary::Canary;
pub(crate) use canary::Plant;

/// Whether devices can check themselves.
pub const ON: bool = cfg!(any(feature = "verify", debug_assertions));
