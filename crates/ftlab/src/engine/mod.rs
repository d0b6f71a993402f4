//! What drives the simulation and knows nothing of flash: the event queue and the random streams.

mod random;

pub use random::Stream;
