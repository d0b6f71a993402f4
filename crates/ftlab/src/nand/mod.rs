//! The flash itself: its shape, its prices, and the state of each die and channel.
//!
//! Nothing waits here: a die or a bus that is busy is simply busy, and the queues belong to
//! [`scheduler`](crate::scheduler).

mod channel;
mod die;
mod geometry;
mod mode;
pub mod timing;

pub use channel::Channel;
pub use die::{Die, Phase};
pub use geometry::{Geometry, Shape};
pub use mode::CellMode;
