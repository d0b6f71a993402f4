//! Crash tests: random devices lose power at random moments, again and again, and the naive device
//! judges what they come up with.
//!
//! A [`Case`] is what its [`Design`] and its seed say: a configuration, a load in rounds, and how each round ends.
//! [`Case::run`] returns what happened ([`CrashTally`]) or what was wrong; [`Case::shrink`] makes a failing case small, and
//! every case is one line of text ([`Case::line`], [`Case::replay`]).

mod bench;
mod case;
mod deaths;
mod design;
mod edit;
mod round;
mod tally;

pub use case::Case;
pub use design::{DESIGNS, Design};
pub use round::{Cut, Round};
pub use tally::CrashTally;
