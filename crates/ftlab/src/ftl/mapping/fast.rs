//! FAST, fully associative sector translation: one log block of each plane takes sequential writes,
//! all others take any page.
//!
//! A write to the first page of a data block starts a new sequential log block. The previous one is
//! merged before: by a switch merge if it is full, otherwise by a partial merge. A write that
//! continues where the last one ended goes to the sequential log block as well. Any other write to
//! the same data block ends the sequence: the sequential log block is merged, and the write goes to
//! the other log blocks. When none of those is left, the oldest is merged.
//!
//! Source: Lee, Park, Chung, Lee, Park and Song, "A Log Buffer-Based Flash Translation Layer Using
//! Fully-Associative Sector Translation", ACM TECS 6(3), 2007, section 4. One departure: after a
//! merge caused by a write out of order, the paper takes a new sequential log block for that write,
//! whose first page would then not be the first of a data block. Here the write goes to the other
//! log blocks.

use super::hybrid::{Association, LogPage, LogView, Room, Spot};

/// One log block for sequential writes, the others for any page.
#[derive(Clone, Debug)]
pub struct Fast;

impl Fast {
    /// Log blocks of a plane for sequential writes.
    const SEQUENTIAL: u32 = 1;
}

impl Association for Fast {
    const NAME: &'static str = "fast";
    const SUMMARY: &'static str =
        "data blocks, a log block for sequential writes, and a log that takes any page";
    const SOURCE: &'static str = "Lee et al., ACM TECS 6(3), 2007";
    const LEAST_LOG_BLOCKS: u32 = Fast::SEQUENTIAL + 1;

    fn room(view: &LogView<'_>, spot: Spot) -> Room {
        let tables = view.tables;
        let sequential = tables.homed_logs(tables.plane_of(spot.data)).next();
        let own = sequential.filter(|&log| tables.home_of(log) == Some(spot.data));
        if let Some(own) = own {
            let goes_on = tables.is_in_place(own) && tables.taken(own) == spot.offset;
            return if goes_on { Room::InLog(own, LogPage::Next) } else { Room::After(own) };
        }
        if let Some(room) = view.first_write(spot) {
            return room;
        }
        match (spot.offset, sequential) {
            (0, Some(sequential)) => Room::After(sequential),
            (0, None) => Room::NewLog(Some(spot.data)),
            _ => view.shared(spot, tables.shares().log - Fast::SEQUENTIAL),
        }
    }
}
