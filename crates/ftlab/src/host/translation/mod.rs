//! Translation by the host: a log-structured store that offers a conventional drive on the zones of a device.
//!
//! Random writes of the host become appends to open zones. A map from blocks of the host to places in zones says where the data
//! is. When few zones are free, a zone is cleaned: its valid blocks are read through the device and appended elsewhere, and it is
//! reset. [`LogStore`] is a [`Host`](crate::host::Host) over a host with zones, so all loads run on it.
//!
//! Sources: Lee et al., "F2FS: A New File System for Flash Storage", FAST 2015 (separate logs, cleaning in the foreground and
//! in the background, cost-benefit); dm-zoned of Linux (a block device on zones). It departs from both:
//!
//! - The map is in memory. There are no node blocks, checkpoints or other metadata, and nothing of them is written.
//! - For lack of checkpoints a reset does not wait until copies are durable. So power cuts are refused with it.
//! - Data comes by appends, any number at a time; F2FS writes at the write pointer, one request at a time.
//! - There is no threaded logging: a zone is only written in order.
//! - While few zones are free, writes and copies take turns: a write need not wait until a whole zone is clean.
//!
//! As in NVMe, requests that are in the store at the same time are not ordered: of two writes of a block, the one that lands
//! last counts. A write of part of a block reads the old block first. If the block has changed when its append lands, it is done
//! again: no data of another write is lost.

mod blocks;
mod cleaner;
mod job;
mod options;
mod requests;
mod store;

pub use cleaner::CleaningOrder;
pub use options::{HostTranslation, HostTranslationOptions, LogPlacement, LogRules};
pub use store::{LogCounts, LogStore};

#[cfg(test)]
mod model;
