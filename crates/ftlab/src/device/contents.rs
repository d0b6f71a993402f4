//! The bytes that a device carries, if it carries any.
//!
//! A simulation moves no data, but a verification or a block device does. [`Contents`] is told of every movement of
//! data when it happens, [`FlashContents`] of those within the FTL. A device without bytes pays nothing for it. Nothing
//! has a default: who carries bytes decides about every movement, and the compiler asks about a new one.

use crate::cache::{CachePlace, SlotId};
use crate::ftl::FlashContents;
use crate::host::Completion;
use crate::units::{Lpn, Ppn, RequestId, SectorMask};

/// A place where data of a page lies, or is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The data that the host sends with the write of this tag. Only a source.
    Write {
        /// The tag of the request.
        tag: u32,
    },
    /// The data for a read of the host. Only a destination.
    Read(RequestId),
    /// A slot of the write buffer. Who reads it takes what is written back for sectors that were not written again.
    Buffer(SlotId),
    /// The part of a slot that is on its way to flash.
    WriteBack(SlotId),
    /// A place of the read cache.
    ReadCache(CachePlace),
    /// A physical page. Data that comes to one place in direct succession is one program; it may be of two logical
    /// pages that share the place.
    Flash(Ppn),
}

/// Sectors of a logical page are copied from one place to another, where they replace what was there of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Movement {
    /// Where they are.
    pub from: Place,
    /// Where they are then, too.
    pub to: Place,
    /// The logical page.
    pub page: Lpn,
    /// The sectors. May be none, where a place holds a page of which nothing was written.
    pub sectors: SectorMask,
}

/// Moves data whenever the device does.
pub trait Contents: FlashContents {
    /// Data is copied.
    fn copy(&mut self, movement: &Movement);
    /// What is at this place is not needed any more.
    fn forget(&mut self, place: Place);
    /// A request is done: the data of a read is complete, that of a write has been taken.
    fn deliver(&mut self, request: RequestId, completion: &Completion);
    /// Power is cut: of all places, only flash keeps its data.
    fn lose_power(&mut self);
}

impl Contents for () {
    #[inline(always)]
    fn copy(&mut self, _: &Movement) {}
    #[inline(always)]
    fn forget(&mut self, _: Place) {}
    #[inline(always)]
    fn deliver(&mut self, _: RequestId, _: &Completion) {}
    #[inline(always)]
    fn lose_power(&mut self) {}
}

/// A write-back has ended; `left` tells whether the page left the buffer.
#[inline]
pub(in crate::device) fn end_of_write_back(slot: SlotId, left: bool, contents: &mut impl Contents) {
    contents.forget(Place::WriteBack(slot));
    if left {
        contents.forget(Place::Buffer(slot));
    }
}
