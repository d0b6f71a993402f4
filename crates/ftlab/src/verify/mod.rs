//! Laws that every device obeys at all times, checked while it runs.
//!
//! A device that was asked to ([`DeviceSetup::checking`](crate::device::DeviceSetup::checking)) checks itself: every
//! span in which a die or a bus is busy (`scheduler/laws.rs`), every request and every event (`device/ledger.rs`),
//! and now and then its whole state (`Device::audit`). A broken law panics with a message.
//!
//! This is possible in debug builds and in builds with the cargo feature `verify`. In other builds [`ON`] is a
//! constant `false`, and none of it is compiled. This module has what every layer needs: the switch, and the planted
//! bugs that test the laws.

mod canary;

pub use canary::Canary;
pub(crate) use canary::Plant;

/// Whether devices can check themselves.
pub const ON: bool = cfg!(any(feature = "verify", debug_assertions));
