//! A simulated drive as a block device that real programs use.
//!
//! `protocol` speaks NBD and `control` HTTP; both are pure: bytes in, bytes out. `drive` is the simulated device with its
//! data in a file. `server` is the loop that owns the clock, the sockets and the drive.

pub mod control;
#[cfg(target_os = "linux")]
pub mod drive;
pub mod protocol;
#[cfg(target_os = "linux")]
pub mod server;
