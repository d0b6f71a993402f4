//! The shape of a device in plain numbers: its counts and address spaces, the bits of its cells, the shares of its
//! blocks, and the order in which addresses are striped. Every layer and every policy may be built from these.

mod cell;
mod flash_geometry;
mod geometry;
mod interleave;
mod levels;
mod shares;
mod zones;

pub use cell::Cell;
pub use flash_geometry::FlashGeometry;
pub use geometry::{Geometry, Shape};
pub use interleave::{Numbering, SuperblockSpan};
pub use levels::{Level, StripeOrder};
pub use shares::Shares;
pub use zones::ZoneShape;
