//! A simulated drive with its data: the device, its bytes, and the file that outlives the process.

mod bytes;
mod data_file;
mod header;
mod layout;
mod log;
mod records;
