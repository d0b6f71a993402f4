//! A collection that runs on a plane, and when one does.

use super::Purpose;
use crate::units::BlockId;

/// When a plane collects, in free blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// It starts at so many, or fewer.
    pub start: u32,
    /// It goes on until so many are free.
    pub stop: u32,
    /// The last ones, which only collection may take.
    pub reserve: u32,
    /// Flash pages being copied at once.
    pub copies_in_flight: u32,
    /// While a plane collects, the host may take so many flash pages more than collection has made
    /// free since it started.
    pub host_lead: u32,
}

impl Thresholds {
    /// All of them higher by so many blocks.
    #[must_use]
    pub const fn raised_by(self, blocks: u32) -> Thresholds {
        let Thresholds { start, stop, reserve, .. } = self;
        Thresholds { start: start + blocks, stop: stop + blocks, reserve: reserve + blocks, ..self }
    }
}

/// A collection that runs on a plane.
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
    /// There was no room for a copy: no more are begun.
    pub(super) stranded: bool,
    /// Nothing is left to copy: the victim is on its way out.
    pub(super) erasing: bool,
    /// A program of its parity failed meanwhile: it is given up when it is erased.
    pub(super) gives_up: bool,
    /// The flash says that its erase failed.
    pub(super) erase_failed: bool,
    /// Flash pages that the collection will make free, net of its copies, and how many copies that
    /// takes, as it looked when it began.
    pub(super) gain: u32,
    pub(super) copies: u32,
    /// What of the gain is earned and not yet a whole page, in parts of a copy.
    pub(super) earned: u32,
    /// Copies that were made, and flash pages that were handed out for them.
    pub(super) copied: u32,
    pub(super) handed_out: u32,
}

impl Collection {
    /// The block that is being collected.
    #[must_use]
    pub fn victim(&self) -> BlockId {
        self.victim
    }

    /// What it is being collected for.
    #[must_use]
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Whether the victim joins the free blocks of its plane.
    #[must_use]
    pub fn returns_block(&self) -> bool {
        self.returns_block
    }

    /// The victim is not to be filled again.
    pub(in crate::ftl) fn give_up(&mut self) {
        self.gives_up = self.purpose.frees_block();
    }

    /// A copy is done: the flash pages that the host may take for it.
    pub(super) fn earn(&mut self) -> u32 {
        self.copied += 1;
        self.earned += self.gain;
        // A copy earns a page or two, or a part of one: a division would cost more.
        let mut pages = 0;
        while self.earned >= self.copies {
            self.earned -= self.copies;
            pages += 1;
        }
        self.handed_out += pages;
        pages
    }

    /// The victim is erased: what is left of its gain. Pages that were overwritten while the collection
    /// ran have saved copies.
    pub(super) fn earn_rest(&self, pages_per_block: u32) -> u32 {
        pages_per_block.saturating_sub(self.copied + self.handed_out)
    }
}
