//! Devices that are written without a clock against the same devices written in time: a fill to the byte, ageing
//! statistically, and what such a device does afterwards.

mod afterwards;
mod ageing;
mod bench;
mod filling;
mod in_rows;
