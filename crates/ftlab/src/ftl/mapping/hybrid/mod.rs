//! Hybrid mappings: data blocks are mapped as wholes, and what is overwritten goes to log blocks, whose pages
//! are mapped one by one. When log blocks run out, some are *merged*: the newest copies of a data block's pages
//! are brought together in one block, and what held them is erased.
//!
//! - A *switch merge* copies nothing: a log block holds all there is of the data block, each page at its own place.
//! - A *partial merge* copies what is missing behind the last page of such a log block.
//! - A *full merge* copies everything to an erased block.
//!
//! What the members of the family decide differently is which pages share a log block ([`Association`]); the
//! rest is theirs in common: [`LogMap`] here, merges in [`ftl::merge`](crate::ftl::merge).
//!
//! Pages of a block are programmed in rising order; pages may be left out.

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
    /// What a device holds at the start.
    pub enum Start {
        /// Nothing: blocks are taken for data as pages are first written.
        Empty = "empty",
        /// Every data block is there and written to its last page.
        Full = "full",
    }
}

options! {
    /// Mappings with a log.
    pub struct LogOptions at "ftl.mapping" {
        /// What the device holds at the start. Pages of a full device that nobody wrote read as zeros.
        start: Start = "empty", source "as the page map; the channel management thesis starts full";
    }
}

/// Where a page may be written at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// At its own offset in its data block, which has room from there on.
    InData,
    /// In an erased block that becomes its data block.
    NewData,
    /// At the next page of a log block, or at its own offset.
    InLog(BlockId, Page),
    /// In an erased block that becomes a log block, with a home or without one.
    NewLog(Option<DataBlock>),
    /// Nowhere: this log block has to be emptied before.
    After(BlockId),
}

/// Which page of a log block is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// The next one.
    Next,
    /// The one at the offset that the page has in its data block.
    Own,
}

/// What an association sees.
#[derive(Clone, Copy, Debug)]
pub struct LogView<'a> {
    /// The maps and the log blocks.
    pub tables: &'a LogTables,
    /// All blocks: which pages are valid.
    pub blocks: &'a Blocks,
    /// Whose they are.
    pub spare: &'a Spare,
}

impl LogView<'_> {
    /// Where a page is written for the first time, as all of the family have it: in its data block, at its
    /// own offset, if nothing behind that was written yet.
    #[must_use]
    pub fn first_write(&self, spot: Spot) -> Option<Room> {
        match self.tables.block_of(spot.data) {
            None => Some(Room::NewData),
            Some(block) if self.tables.taken(block) <= spot.offset => Some(Room::InData),
            Some(_) => None,
        }
    }

    /// The next page of the log that takes any page and has at most so many blocks; without one, the
    /// oldest has to be emptied.
    #[must_use]
    pub fn shared(&self, spot: Spot, most: u32) -> Room {
        let tables = self.tables;
        let plane = tables.plane_of(spot.data);
        if let Some(active) = tables.active(plane).filter(|&active| !tables.is_full(active)) {
            return Room::InLog(active, Page::Next);
        }
        match tables.shared_logs(plane).next() {
            Some(oldest) if tables.used_shared(plane) >= most => Room::After(oldest),
            _ => Room::NewLog(None),
        }
    }

    /// A log block for one data block alone; without one to be had, `victim` has to be emptied.
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

/// Which pages share a log block, and which log block is emptied when none is left.
pub trait Association: Clone + Debug {
    /// Its name as a mapping.
    const NAME: &'static str;
    /// One line.
    const SUMMARY: &'static str;
    /// Where it comes from.
    const SOURCE: &'static str;
    /// The log blocks that a plane needs at the least.
    const LEAST_LOG_BLOCKS: u32 = 1;

    /// Where the page at a place goes.
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

    // What is written to an image is the FTL's: it outlives a change of options.
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
    /// The mapping over these tables.
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

/// What an association decides.
pub type RoomOf = fn(&LogView<'_>, Spot) -> Room;
