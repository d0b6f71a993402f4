//! ftlab: a deterministic, event-driven simulator of a NAND flash SSD.
//!
//! The folders are the path of an I/O: [`host`] → [`cache`] → [`ftl`] → [`scheduler`] → [`nand`];
//! [`device`] puts them together. The crate is pure: no files, no wall clock, no threads, no global
//! state. Same configuration and seed, same bytes out, on every machine.

pub mod cache;
pub mod config;
pub mod counters;
pub mod device;
pub mod engine;
pub mod ftl;
pub mod host;
pub mod image;
pub mod nand;
pub mod options;
pub mod policy;
pub mod saved;
pub mod scheduler;
pub mod shape;
pub mod stats;
pub mod units;
pub mod verify;
