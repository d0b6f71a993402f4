//! What drives the simulation and knows nothing of flash: the event queue, the table of things in
//! flight, random streams, and arithmetic that the hot path needs.

mod divide;
mod hash;
mod latencies;
mod memory;
mod queue;
mod random;
pub mod skills;
mod slab;
mod two_bits;

pub use divide::Divisor;
pub use hash::NumberHasher;
pub use latencies::Latencies;
pub use memory::prefetch;
pub use queue::EventQueue;
pub use random::Stream;
pub use slab::{Handle, Slab};
pub use two_bits::TwoBits;
