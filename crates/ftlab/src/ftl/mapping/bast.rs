//! BAST, block-associative sector translation: each log block belongs to one data block. A full log
//! block is merged with its data block. When no log block is left, the least recently written one
//! is merged.
//!
//! Source: Kim, Kim, Noh, Min and Cho, "A Space-Efficient Flash Translation Layer for CompactFlash
//! Systems", IEEE Transactions on Consumer Electronics 48(2), 2002. As long as no page of a data
//! block is overwritten, its missing pages are written into the data block itself, as far as they
//! can still be programmed in order.

use super::hybrid::{Association, LogPage, LogView, Room, Spot};

/// A log block for each data block that is being overwritten.
#[derive(Clone, Debug)]
pub struct Bast;

impl Association for Bast {
    const NAME: &'static str = "bast";
    const SUMMARY: &'static str = "data blocks, each with at most one log block of its own";
    const SOURCE: &'static str = "Kim et al., IEEE Trans. Consumer Electronics 48(2), 2002";

    fn room(view: &LogView<'_>, spot: Spot) -> Room {
        let tables = view.tables;
        if let Some(own) = tables.own_logs(spot.data).next() {
            return match tables.is_full(own) {
                true => Room::After(own),
                false => Room::InLog(own, LogPage::Next),
            };
        }
        let oldest = || tables.homed_logs(tables.plane_of(spot.data)).next();
        view.first_write(spot).unwrap_or_else(|| view.own(spot.data, oldest))
    }
}
