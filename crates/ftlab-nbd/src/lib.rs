//! A simulated drive as a block device that real programs use.
//!
//! `protocol` speaks NBD and `control` HTTP; both are pure: bytes in, bytes out.

pub mod control;
pub mod drive;
pub mod protocol;
