//! What is done to a device: real traces in many formats, generated load, fio's job files, and
//! their replay.

pub mod accesses;
pub mod columns;
pub mod fio;
pub mod generate;
pub mod replay;
pub mod trace;
