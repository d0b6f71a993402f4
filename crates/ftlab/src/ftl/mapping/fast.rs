//! FAST, fully associative sector translation: one log block of a plane takes sequential writes, all others take
//! any page.
//!
//! A write to the first page of a data block begins the sequential log block anew: what is there is merged
//! before, by a switch if it is full, else partially. Writes that go on where the last one ended follow it there.
//! Another write to the same data block ends it: it is merged, and the write goes to the other log blocks,
//! of which the oldest is merged when none is left.
//!
//! Source: Lee, Park, Chung, Lee, Park and Song, "A Log Buffer-Based Flash Translation Layer Using Fully-Associative
//! Sector Translation", ACM TECS 6(3), 2007, section 4. It departs from the paper in this: after a merge that a
//! write out of order has caused, the paper takes a new sequential log block for that write, whose first page
//! would then not be the first of a data block; here the write goes to the other log blocks.

use super::hybrid::{Association, LogView, Page, Room, Spot};

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
            return if goes_on { Room::InLog(own, Page::Next) } else { Room::After(own) };
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
