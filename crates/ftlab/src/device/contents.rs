//! The bytes that a device carries, if it carries any.
//!
//! A simulation moves no data, but a verification or a block device does. [`Contents`] is notified of every movement of
//! data when it happens, [`FlashContents`] of those within the FTL. The defaults do nothing and cost nothing.

use crate::cache::{CachePlace, SlotId};
use crate::ftl::{FlashContents, Fragments};
use crate::host::{Completion, Request};
use crate::scheduler::CommandId;
use crate::units::{Lpn, Ppn, RequestId, SectorMask};

/// A page that is read from flash for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashRead {
    /// The request.
    pub request: RequestId,
    /// The logical page.
    pub page: Lpn,
    /// The place where it is read.
    pub at: Ppn,
    /// The sectors that the request wants from flash.
    pub sectors: SectorMask,
}

/// A page that is programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageProgram {
    /// The slot of the buffer that holds the new sectors.
    pub slot: SlotId,
    /// The logical page.
    pub page: Lpn,
    /// The new sectors.
    pub sectors: SectorMask,
    /// The parts of the page on flash that supply its other sectors, if there are any. New sectors
    /// take precedence over those of the first part, and these over those of the second.
    pub base: Fragments,
    /// Where the page is programmed. The same program may put another page there, too.
    pub to: Ppn,
}

/// A page that is programmed in place for a request, without translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashWrite {
    /// The request.
    pub request: Request,
    /// The logical page.
    pub page: Lpn,
    /// The place where it is programmed.
    pub at: Ppn,
    /// The sectors that the request writes.
    pub sectors: SectorMask,
}

/// Moves data whenever the device does.
pub trait Contents: FlashContents {
    /// Sectors of a page that a request writes enter the buffer.
    fn write(&mut self, _request: &Request, _page: Lpn, _sectors: SectorMask, _slot: SlotId) {}
    /// A read takes sectors of a page from the buffer.
    fn read_buffer(&mut self, _: RequestId, _page: Lpn, _sectors: SectorMask, _slot: SlotId) {}
    /// Sectors that were read from flash for a request stay in the buffer.
    fn keep(&mut self, _read: &FlashRead, _slot: SlotId) {}
    /// A flash command will read the flash page at this place for the read cache alone.
    fn plan_read_ahead(&mut self, _command: CommandId, _at: Ppn) {}
    /// The copy of a page at `from`, which has just been read, enters the read cache.
    fn cache(&mut self, _page: Lpn, _from: Ppn, _place: CachePlace) {}
    /// A read takes sectors of a page from the read cache.
    fn read_cached(&mut self, _: RequestId, _page: Lpn, _sectors: SectorMask, _place: CachePlace) {}
    /// The read cache drops the page at this place.
    fn uncache(&mut self, _place: CachePlace) {}
    /// The write-back of these sectors of a buffered page begins; its other sectors are dropped.
    fn begin_write_back(&mut self, _slot: SlotId, _sectors: SectorMask) {}
    /// A page without data in the buffer is copied from flash to flash, as padding. It ends as a write-back.
    fn pad(&mut self, _page: Lpn, _slot: SlotId) {}
    /// A page is programmed.
    fn program(&mut self, _program: &PageProgram) {}
    /// A write-back is done; `left` tells whether the page left the buffer.
    fn end_write_back(&mut self, _slot: SlotId, _left: bool) {}
    /// The data of a buffered page that is not being written back is dropped.
    fn trim(&mut self, _slot: SlotId) {}
    /// A flash command will read this page.
    fn plan_read(&mut self, _command: CommandId, _read: FlashRead) {}
    /// A flash command that is already in flight reads this page, too.
    fn join_read(&mut self, _command: CommandId, _read: FlashRead) {}
    /// The flash command has read the pages that were planned for it.
    fn read_flash(&mut self, _command: CommandId) {}
    /// A flash command will program this page in place.
    fn plan_write(&mut self, _command: CommandId, _write: &FlashWrite) {}
    /// The flash command has programmed its page in place.
    fn write_flash(&mut self, _command: CommandId) {}
    /// Power is cut: the contents of DRAM and all planned movements are lost.
    fn lose_power(&mut self) {}
    /// A request is done.
    fn finish(&mut self, _request: RequestId, _completion: &Completion) {}
}

impl Contents for () {}
