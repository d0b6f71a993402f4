//! Loads for a device: traces in many formats, generated workloads, fio job files, and their
//! replay.

pub mod accesses;
pub mod columns;
pub mod fio;
pub mod generate;
pub mod replay;
pub mod trace;
