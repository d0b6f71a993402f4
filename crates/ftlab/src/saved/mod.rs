//! A saved device: its state with the configuration and the story that led to it, as a file holds them, and whether
//! they fit another device.
//!
//! The state itself is written and read by each layer ([`image`](crate::image)).

pub mod file;
mod fits;
#[doc(hidden)]
pub mod fuzz;

pub use file::{Image, Refusal};
pub use fits::{Difference, Taken, differences};
