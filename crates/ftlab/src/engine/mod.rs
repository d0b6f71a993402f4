//! The parts of the simulator that know nothing of flash: the event queue, the table of objects in
//! flight, random streams, knowledge of the future, and arithmetic for the hot path.

mod divide;
mod future;
mod hash;
mod latencies;
mod memory;
mod queue;
mod random;
pub mod skills;
mod slab;
mod two_bits;

pub use divide::Divisor;
pub use future::{DeathClasses, DeathTable, Foresight, PageFate};
pub use hash::NumberHasher;
pub use latencies::Latencies;
pub use memory::prefetch;
pub use queue::EventQueue;
pub use random::Stream;
pub use slab::{Handle, Slab};
pub use two_bits::TwoBits;
