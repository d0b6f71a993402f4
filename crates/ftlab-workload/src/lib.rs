//! What is done to a device: real traces in many formats, generated load, and their replay.

pub mod generate;
pub mod replay;
pub mod trace;
