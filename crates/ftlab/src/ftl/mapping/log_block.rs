//! The fully associative log of the channel management thesis. A write goes to the next page of the
//! newest log block of its plane, whatever its logical page. When a log block is needed, the oldest
//! one is merged first. No log block belongs to one data block, so every merge is a full merge.
//!
//! Source: Huang, "On Channel Management in Advanced Solid-State Disk Architecture", NCTU 2010,
//! sections 2.4 and 3.1: the fully associative log of Lee et al. (FAST) without its block for
//! sequential writes.

use super::hybrid::{Association, LogView, Room, Spot};

/// A fully associative log, merged first in, first out.
#[derive(Clone, Debug)]
pub struct FullyAssociative;

impl Association for FullyAssociative {
    const NAME: &'static str = "log-block";
    const SUMMARY: &'static str =
        "data blocks, and a log that takes any page; the oldest log block is merged first";
    const SOURCE: &'static str = "Huang, channel management thesis, NCTU 2010, sections 2.4, 3.1";

    fn room(view: &LogView<'_>, spot: Spot) -> Room {
        let log = view.tables.shares().log;
        view.first_write(spot).unwrap_or_else(|| view.shared(spot, log))
    }
}
