//! Hybrid mappings. Data blocks are mapped as whole blocks. Overwritten pages go to log blocks,
//! which are mapped page by page. When log blocks run out, some are *merged*: the newest copies of
//! the pages of a data block are brought together in one block, and the blocks that held them are
//! erased.
//!
//! - A *switch merge* copies nothing: the log block holds every page of the data block at its own
//!   offset.
//! - A *partial merge* copies only the pages that are missing behind the last page of such a log
//!   block.
//! - A *full merge* copies all pages to an erased block.
//!
//! The members of the family differ in which pages share a log block ([`Association`]). They share
//! the tables ([`LogMap`]) and the merges ([`ftl::merge`](crate::ftl::merge)).
//!
//! The pages of a block are programmed in ascending order; pages may be skipped.

mod bits;
mod image;
mod spot;
mod stripe;
mod tables;

use std::fmt::Debug;

pub use spot::{DataBlock, Spot};
pub use stripe::Stripe;
pub use tables::LogTables;

use super::{MappingFacts, MappingPolicy};
use crate::ftl::placement::StaticStripe;
use crate::ftl::{Blocks, Spare};
use crate::image::keeps_nothing;
use crate::options::declare::{choices, options};
use crate::policy::{Parts, Policy};
use crate::units::{BlockId, Lpn, Ppn};

choices! {
    /// Contents of the device at the start.
    pub enum Start {
        /// Nothing. Data blocks are allocated as their pages are first written.
        Empty = "empty",
        /// Every data block exists and is written to its last page.
        Full = "full",
    }
}

options! {
    /// Options of the mappings with a log.
    pub struct LogOptions at "ftl.mapping" {
        /// Contents of the device at the start. Pages of a full device that were never written read
        /// as zeros.
        start: Start = "empty", source "same as the page map; the channel management thesis starts full";
    }
}

/// Where a page may be written now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// At its own offset in its data block, whose pages from there on are free.
    InData,
    /// In an erased block, which becomes its data block.
    NewData,
    /// In a log block, at the next page or at the page's own offset.
    InLog(BlockId, LogPage),
    /// In an erased block, which becomes a log block, with a home or without one.
    NewLog(Option<DataBlock>),
    /// Nowhere until this log block is merged.
    After(BlockId),
}

/// Which page of a log block is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogPage {
    /// The next one.
    Next,
    /// The one at the offset that the page has in its data block.
    Own,
}

/// The state that an association decides by.
#[derive(Clone, Copy, Debug)]
pub struct LogView<'a> {
    /// The maps and the log blocks.
    pub tables: &'a LogTables,
    /// The state of all blocks, including their valid pages.
    pub blocks: &'a Blocks,
    /// The owner of each page.
    pub spare: &'a Spare,
}

impl LogView<'_> {
    /// Returns where a page is written for the first time. This is the same for the whole family:
    /// in its data block, at its own offset, if no page behind it has been written.
    #[must_use]
    pub fn first_write(&self, spot: Spot) -> Option<Room> {
        match self.tables.block_of(spot.data) {
            None => Some(Room::NewData),
            Some(block) if self.tables.taken(block) <= spot.offset => Some(Room::InData),
            Some(_) => None,
        }
    }

    /// Returns the next page of the shared log, which takes any page and has at most `most` blocks.
    /// If the log is full, its oldest block has to be merged first.
    #[must_use]
    pub fn shared(&self, spot: Spot, most: u32) -> Room {
        let tables = self.tables;
        let plane = tables.plane_of(spot.data);
        if let Some(active) = tables.active(plane).filter(|&active| !tables.is_full(active)) {
            return Room::InLog(active, LogPage::Next);
        }
        match tables.shared_logs(plane).next() {
            Some(oldest) if tables.used_shared(plane) >= most => Room::After(oldest),
            _ => Room::NewLog(None),
        }
    }

    /// Returns room in a new log block for one data block alone. If the plane has no log block
    /// left, `victim` has to be merged first.
    #[must_use]
    pub fn own(&self, data: DataBlock, victim: impl FnOnce() -> Option<BlockId>) -> Room {
        let tables = self.tables;
        let full = tables.used(tables.plane_of(data)) >= tables.shares().log;
        match full.then(victim).flatten() {
            Some(victim) => Room::After(victim),
            None => Room::NewLog(Some(data)),
        }
    }
}

/// Decides which pages share a log block, and which log block is merged when none is left.
pub trait Association: Clone + Debug {
    /// The name of the mapping.
    const NAME: &'static str;
    /// One-line description.
    const SUMMARY: &'static str;
    /// The publication.
    const SOURCE: &'static str;
    /// The minimum number of log blocks that a plane needs.
    const LEAST_LOG_BLOCKS: u32 = 1;

    /// Decides where the page at `spot` goes.
    fn room(view: &LogView<'_>, spot: Spot) -> Room;
}

/// A hybrid mapping.
#[derive(Clone, Debug)]
pub struct LogMap<A> {
    tables: LogTables,
    association: std::marker::PhantomData<A>,
}

impl<A: Association> Policy for LogMap<A> {
    const NAME: &'static str = A::NAME;
    const SUMMARY: &'static str = A::SUMMARY;
    const SOURCE: &'static str = A::SOURCE;
    type Options = LogOptions;

    fn build(options: &LogOptions, parts: &Parts<'_>) -> Self {
        let order = parts.stripe;
        let order = order.expect("the configuration was checked: logs go with static placement");
        let stripe = StaticStripe::new(parts.geometry, order.levels());
        let stripe = Stripe::of(&stripe, parts.geometry);
        let shares = parts.shares.expect("the configuration was checked: logs have shares");
        let full = options.start == Start::Full;
        LogMap::new(LogTables::new(parts.geometry, stripe, shares, full))
    }

    // The FTL writes the state to the image itself, so that it survives a change of options.
    keeps_nothing!(LogMap { tables, association });
}

impl<A: Association> MappingFacts for LogMap<A> {
    fn log(options: &Self::Options) -> Option<&LogOptions> {
        Some(options)
    }

    fn least_log_blocks(_options: &Self::Options) -> u32 {
        A::LEAST_LOG_BLOCKS
    }
}

impl<A: Association> LogMap<A> {
    /// Creates the mapping over these tables.
    #[must_use]
    pub fn new(tables: LogTables) -> LogMap<A> {
        LogMap { tables, association: std::marker::PhantomData }
    }
}

impl<A: Association> MappingPolicy for LogMap<A> {
    #[inline]
    fn has_log(&self) -> bool {
        true
    }

    #[inline]
    fn log(&self) -> Option<(&LogTables, RoomOf)> {
        Some((&self.tables, A::room))
    }

    #[inline]
    fn log_mut(&mut self) -> Option<&mut LogTables> {
        Some(&mut self.tables)
    }

    #[inline]
    fn look_up(&self, page: Lpn) -> Option<Ppn> {
        self.tables.look_up(page)
    }

    #[inline]
    fn commit(&mut self, page: Lpn, at: Ppn) -> Option<Ppn> {
        self.tables.commit(page, at)
    }

    fn relocate(&mut self, page: Lpn, from: Ppn, to: Ppn) -> bool {
        self.tables.relocate(page, from, to)
    }

    fn trim(&mut self, page: Lpn) -> Option<Ppn> {
        self.tables.trim(page)
    }

    #[inline]
    fn prefetch(&self, page: Lpn) {
        self.tables.prefetch(page);
    }
}

/// The decision of an association: [`Association::room`].
pub type RoomOf = fn(&LogView<'_>, Spot) -> Room;
