//! Crash tests: random devices lose power at random times, again and again, and the naive device
//! judges their state afterwards.
//!
//! A [`Case`] is determined by its [`Design`] and its seed: a configuration, a load in rounds, and how each round
//! ends. [`Case::run`] returns counts ([`CrashTally`]) or what was wrong; [`Case::shrink`] shrinks a failing case, and
//! every case is one line of text ([`Case::line`], [`Case::replay`]).

mod bench;
mod case;
mod deaths;
mod design;
mod edit;
mod round;
mod stored;
mod tally;

pub use case::Case;
pub use design::{DESIGNS, Design};
pub use round::{Cut, Round};
pub use tally::CrashTally;
