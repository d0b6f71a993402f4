//! The bytes on flash, if the device carries any.
//!
//! A simulation moves no data, but a verification or a block device does. [`FlashContents`] is told of everything that
//! happens to data on flash when it happens. A trait of the device extends it by the data of requests and buffers.
//! Nothing has a default: an implementor decides about every movement.

use super::parity::Rest;
use crate::nand::Stripe;
use crate::scheduler::CommandId;
use crate::units::{Lpn, Ppn};

/// Something that happens to data on flash.
#[derive(Clone, Copy, Debug)]
pub enum FlashChange<'a> {
    /// Collection copies a physical page, with all logical pages that have a part there.
    Copied {
        /// The page that is copied.
        from: Ppn,
        /// The erased page that holds the copy from now on.
        to: Ppn,
    },
    /// A page of the map is programmed.
    MapProgrammed {
        /// Its number, behind those of the host's pages.
        page: Lpn,
        /// Its place.
        to: Ppn,
    },
    /// Nothing is left on `units` pages from `first` on.
    Emptied {
        /// The first page.
        first: Ppn,
        /// The number of pages.
        units: u32,
        /// What emptied them.
        by: EmptiedBy,
    },
    /// The data of `units` pages from `first` on is garbage.
    Spoiled {
        /// The first page.
        first: Ppn,
        /// The number of pages.
        units: u32,
        /// What spoiled them.
        by: SpoiledBy,
    },
    /// Something happens to the parity of a stripe.
    Parity(ParityChange<'a>),
}

/// What empties pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptiedBy {
    /// Their block was erased.
    Erase,
    /// A power cut: their program, or the erase of their block, was cut off or had not begun.
    Cut,
}

/// What makes data garbage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpoiledBy {
    /// It can't be read any more.
    Unreadable,
    /// It was copied within a die from where it can't be read.
    UnreadableSource,
    /// Its program failed.
    FailedProgram,
}

/// Something that happens to the parity of a stripe.
#[derive(Clone, Copy, Debug)]
pub enum ParityChange<'a> {
    /// The flash page at this place of the volume is added to the parity in DRAM.
    Covers(Stripe, Ppn),
    /// The same flash page is removed from that parity again, because its program failed.
    Uncovers(Stripe, Ppn),
    /// The parity is programmed to this flash page of the device.
    Programmed(Stripe, Ppn),
    /// This flash page of the device does not hold the parity of its stripe: its program has failed, or that of a page
    /// which it covers.
    Dropped(Ppn),
    /// The parity in DRAM is dropped: its die is dead, and the stripe gets no parity.
    Forgotten(Stripe),
    /// The flash page of this page can't be read, and is computed from the rest of its stripe in its present state.
    /// The reads for this come later, and may turn out to be unreadable, too.
    Computes(Ppn, &'a Rest),
}

/// What a flash page is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFor {
    /// This page, which the host reads.
    Host(Lpn),
    /// The same, by a command under way that was to read ahead.
    Joined(Lpn),
    /// A page of the map.
    Map,
    /// A host that may read on.
    Ahead,
}

/// Moves data on flash whenever the FTL does.
pub trait FlashContents {
    /// Whether anything is moved at all.
    const MOVES: bool;

    /// Something happens to data on flash.
    fn change(&mut self, change: FlashChange<'_>);

    /// A flash command will read a page. Nothing moves yet.
    fn foresee(&mut self, command: CommandId, at: Ppn, what: ReadFor);
}

impl FlashContents for () {
    const MOVES: bool = false;

    #[inline(always)]
    fn change(&mut self, _: FlashChange<'_>) {}

    #[inline(always)]
    fn foresee(&mut self, _: CommandId, _: Ppn, _: ReadFor) {}
}
