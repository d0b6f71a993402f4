//! A plane's running collection, what the host earns by it, and the thresholds for starting one.

use super::Purpose;
use crate::units::BlockId;

/// The thresholds of a plane's collection, in free blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Collection starts at this many free blocks or fewer.
    pub start: u32,
    /// It continues until this many blocks are free.
    pub stop: u32,
    /// The last free blocks, which only collection may take.
    pub reserve: u32,
    /// Flash pages that are being copied at once.
    pub copies_in_flight: u32,
}

impl Thresholds {
    /// Raises all block thresholds.
    #[must_use]
    pub const fn raised_by(self, blocks: u32) -> Thresholds {
        let Thresholds { start, stop, reserve, .. } = self;
        Thresholds { start: start + blocks, stop: stop + blocks, reserve: reserve + blocks, ..self }
    }
}

/// What the host earns by a copy: whole flash pages, and a part of one. Parts add up during a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earned {
    /// Whole flash pages.
    pub pages: u32,
    /// This many parts of a page.
    pub parts: u32,
    /// So many parts are a page. At least one, and the same during a collection.
    pub of: u32,
}

impl Earned {
    /// Nothing.
    pub const NONE: Earned = Earned { pages: 0, parts: 0, of: 1 };
}

/// A plane's running collection.
#[derive(Clone, Debug)]
pub struct Collection {
    pub(super) victim: BlockId,
    pub(super) purpose: Purpose,
    /// Whether the victim joins the free blocks of its plane.
    pub(super) returns_block: bool,
    /// The next page of the victim to look at.
    pub(super) next_unit: u32,
    /// Flash pages being copied.
    pub(super) in_flight: u32,
    /// Pages that it has moved, where the streams policy hears of it.
    pub(super) moved: u32,
    /// Whether there was no room for a copy, so no more are begun.
    pub(super) stranded: bool,
    /// Whether nothing is left to copy, and the erase is in flight.
    pub(super) erasing: bool,
    /// Whether the flash reported that its erase failed.
    pub(super) erase_failed: bool,
    /// Flash pages that the collection will free, net of its copies, and the number of these
    /// copies, as estimated when it began.
    pub(super) gain: u32,
    pub(super) copies: u32,
    /// What the host earned that is not yet a whole page, in parts of its [`Earned`].
    pub(super) earned: u32,
    /// Copies that were made, and flash pages that the host got for them.
    pub(super) copied: u32,
    pub(super) handed_out: u32,
}

impl Collection {
    /// The block that is being collected.
    #[must_use]
    pub fn victim(&self) -> BlockId {
        self.victim
    }

    /// The purpose of the collection.
    #[must_use]
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Whether the victim joins the free blocks of its plane.
    #[must_use]
    pub fn returns_block(&self) -> bool {
        self.returns_block
    }

    /// Flash pages that the collection will free, net of its copies, as estimated when it began.
    #[inline]
    #[must_use]
    pub fn gain(&self) -> u32 {
        self.gain
    }

    /// The number of copies, as estimated when the collection began.
    #[inline]
    #[must_use]
    pub fn copies(&self) -> u32 {
        self.copies
    }

    /// The number of copies that were made.
    #[must_use]
    pub fn copied(&self) -> u32 {
        self.copied
    }

    /// A copy is done, of which the host gets a share. Returns the flash pages that it may take.
    pub(super) fn earn(&mut self, share: Earned) -> u32 {
        self.copied += 1;
        self.earned = self.earned.saturating_add(share.parts);
        let mut pages = share.pages;
        // The parts are nearly always less than a page, which needs no division.
        if self.earned >= share.of {
            pages = pages.saturating_add(self.earned / share.of.max(1));
            self.earned %= share.of.max(1);
        }
        self.handed_out = self.handed_out.saturating_add(pages);
        pages
    }

    /// The victim is erased. Returns the rest of its gain: pages that were overwritten while the
    /// collection ran saved copies.
    pub(super) fn earn_rest(&self, pages_per_block: u32) -> u32 {
        pages_per_block.saturating_sub(self.copied.saturating_add(self.handed_out))
    }
}
