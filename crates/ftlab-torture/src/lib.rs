//! Random devices under random load, and a naive device that judges what they return.
//!
//! The swarm and the validation of the crate `ftlab`, and the crash test of the command line, draw
//! their devices and loads here, carry the same versions in place of bytes, and make failures
//! smaller the same way. Like the simulator this is pure: no threads, no files, no clock.

mod cover;
pub mod crash;
pub mod draw;
mod finding;
mod judge;
pub mod load;
mod reference;
pub mod shrink;
mod stripes;
mod versions;
mod watching;

pub use cover::{covers, may_lose};
pub use finding::finding;
pub use judge::{Command, Judge, Promises, changes, reads_fail};
pub use load::{CaseLoad, Step};
pub use reference::Reference;
pub use stripes::{Parity, Words};
pub use versions::{Fault, FoundVersions, Onlooker, Version, Versions};
pub use watching::{AnyProbe, Listens};
