//! The bytes that a device carries, if it carries any.
//!
//! A simulation moves no data; a verification or a block device does. [`Contents`] is told of every
//! movement of data at the moment at which it happens, [`FlashContents`] of those that are the FTL's own. The default does nothing and costs nothing.

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
    /// Where it is read.
    pub at: Ppn,
    /// The sectors that the request wants from flash.
    pub sectors: SectorMask,
}

/// A page that is programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageProgram {
    /// The page of the buffer from which its new sectors come.
    pub slot: SlotId,
    /// The logical page.
    pub page: Lpn,
    /// The new sectors.
    pub sectors: SectorMask,
    /// The parts of the page on flash from which others come, if there are any. New sectors come before those
    /// of the first part, these before those of the second.
    pub base: Fragments,
    /// Where it is programmed. Another page may be programmed there, too, by the same program.
    pub to: Ppn,
}

/// A page that is programmed in place for a request, without translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashWrite {
    /// The request.
    pub request: Request,
    /// The logical page.
    pub page: Lpn,
    /// Where it is programmed.
    pub at: Ppn,
    /// The sectors that the request brings.
    pub sectors: SectorMask,
}

/// Moves data when the device does.
pub trait Contents: FlashContents {
    /// A write's sectors of a page arrive in the buffer.
    fn write(&mut self, _request: &Request, _page: Lpn, _sectors: SectorMask, _slot: SlotId) {}
    /// A read takes sectors of a page from the buffer.
    fn read_buffer(&mut self, _: RequestId, _page: Lpn, _sectors: SectorMask, _slot: SlotId) {}
    /// Sectors that were read from flash for a request stay in the buffer.
    fn keep(&mut self, _read: &FlashRead, _slot: SlotId) {}
    /// A flash command will read the flash page of this page for the read cache alone.
    fn plan_read_ahead(&mut self, _command: CommandId, _at: Ppn) {}
    /// The copy of a page at `from`, which has just been read, comes into the read cache.
    fn cache(&mut self, _page: Lpn, _from: Ppn, _place: CachePlace) {}
    /// A read takes sectors of a page from the read cache.
    fn read_cached(&mut self, _: RequestId, _page: Lpn, _sectors: SectorMask, _place: CachePlace) {}
    /// What stands at a place of the read cache leaves it.
    fn uncache(&mut self, _place: CachePlace) {}
    /// These sectors of a page of the buffer are on their way to flash from now on; others that are there are
    /// forgotten.
    fn begin_write_back(&mut self, _slot: SlotId, _sectors: SectorMask) {}
    /// A page of which nothing is in the buffer is on its way from flash to flash: to be ended as a
    /// write-back.
    fn pad(&mut self, _page: Lpn, _slot: SlotId) {}
    /// A page is programmed.
    fn program(&mut self, _program: &PageProgram) {}
    /// A write-back is done; `left` says that the page left the buffer.
    fn end_write_back(&mut self, _slot: SlotId, _left: bool) {}
    /// What is in a page of the buffer and not on its way is forgotten.
    fn trim(&mut self, _slot: SlotId) {}
    /// A flash command will read this page.
    fn plan_read(&mut self, _command: CommandId, _read: FlashRead) {}
    /// A flash command that is under way reads this page, too.
    fn join_read(&mut self, _command: CommandId, _read: FlashRead) {}
    /// The pages that a flash command was to read have been read.
    fn read_flash(&mut self, _command: CommandId) {}
    /// A flash command will program this page in place.
    fn plan_write(&mut self, _command: CommandId, _write: &FlashWrite) {}
    /// The page that a flash command was to program in place has been programmed.
    fn write_flash(&mut self, _command: CommandId) {}
    /// Power is cut: what is in DRAM is forgotten, and whatever was planned.
    fn lose_power(&mut self) {}
    /// A request is done.
    fn finish(&mut self, _request: RequestId, _completion: &Completion) {}
}

impl Contents for () {}
