//! A simulated drive as a block device that real programs use.
//!
//! `protocol` speaks NBD and `control` HTTP; both are pure: bytes in, bytes out. `drive` is the simulated device with its
//! data in a file. `server` is the loop that owns the clock, the sockets and the drive.

pub mod control;
pub mod drive;
pub mod protocol;
pub mod server;
