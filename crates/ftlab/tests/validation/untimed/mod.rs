//! Devices written without a clock against the same devices written in time: a fill to the byte, ageing
//! statistically, and later use.

mod afterwards;
mod ageing;
mod bench;
mod filling;
mod in_rows;
