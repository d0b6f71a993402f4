//! Random devices under random load, and a naive device that judges their answers.
//!
//! The swarm and validation tests of the crate `ftlab`, and the crash tests of the command line,
//! share its devices and loads, its versions in place of bytes, and its shrinking of failures. Like
//! the simulator it is pure: no threads, no files, no clock.

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
pub mod zoned;

pub use cover::{covers, may_lose};
pub use finding::finding;
pub use judge::{Command, Judge, Promises, changes, reads_fail};
pub use load::{CaseLoad, Step};
pub use reference::Reference;
pub use stripes::{Parity, Words};
pub use versions::{Fault, FoundVersions, Onlooker, Version, Versions};
pub use watching::{AnyContents, AnyProbe, Listens, SeesMoves};
