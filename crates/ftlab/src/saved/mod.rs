//! A saved device: its state with its configuration and history, as a file holds them, and whether they fit another
//! device.
//!
//! Each layer saves and loads its own state ([`image`](crate::image)).

pub mod file;
mod fits;
#[doc(hidden)]
pub mod fuzz;

pub use file::{Image, Refusal};
pub use fits::{Difference, Taken, differences};
