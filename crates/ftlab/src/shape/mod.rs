//! What a device is like, in plain numbers: its counts and address spaces, what its cells store, how its blocks are
//! shared out, over what addresses are spread. Every layer, and every policy, may be built from these.

mod cell;
mod geometry;
mod levels;
mod shares;

pub use cell::Cell;
pub use geometry::{Geometry, Shape};
pub use levels::{Level, StripeOrder};
pub use shares::Shares;
