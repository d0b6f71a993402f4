//! NFTL, the block-mapped translation layer of NAND disks. An overwritten page goes to the same
//! offset of a replacement block, and the replacement blocks of a data block form a chain. When no
//! block is left for another replacement block, the longest chain is merged into one block.
//!
//! Source: Ban, "Flash File System Optimized for Page-Mode Flash Technologies", US patent
//! 5,937,425, 1999. Departures: pages of a block are programmed in ascending order, as flash has
//! required since MLC, so a replacement block cannot take a page once a later page of it has been
//! programmed. Among the longest chains, the one whose blocks were written longest ago is merged.

use std::cmp::Reverse;

use super::hybrid::{Association, LogPage, LogView, Room, Spot};
use crate::units::{BlockId, PlaneId};

/// Chains of replacement blocks.
#[derive(Clone, Debug)]
pub struct Nftl;

impl Association for Nftl {
    const NAME: &'static str = "nftl";
    const SUMMARY: &'static str =
        "block mapping with chains of replacement blocks; the longest is merged first";
    const SOURCE: &'static str = "Ban, US patent 5,937,425, 1999";

    fn room(view: &LogView<'_>, spot: Spot) -> Room {
        let tables = view.tables;
        let last = tables.own_logs(spot.data).next();
        if let Some(last) = last.filter(|&last| tables.taken(last) <= spot.offset) {
            return Room::InLog(last, LogPage::Own);
        }
        let plane = tables.plane_of(spot.data);
        let first_write = view.first_write(spot).filter(|_| last.is_none());
        first_write.unwrap_or_else(|| view.own(spot.data, || longest_chain(view, plane)))
    }
}

/// Returns the last block of the longest chain of a plane.
fn longest_chain(view: &LogView<'_>, plane: PlaneId) -> Option<BlockId> {
    let tables = view.tables;
    let chain = |log| tables.home_of(log).map(|data| tables.own_log_count(data));
    let longest = tables.homed_logs(plane).enumerate();
    let longest = longest.max_by_key(|&(age, log)| (chain(log), Reverse(age)));
    let data = longest.and_then(|(_, log)| tables.home_of(log))?;
    tables.own_logs(data).next()
}
