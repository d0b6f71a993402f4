//! The bytes that a device carries, if it carries any.
//!
//! A simulation moves no data; a verification or a block device does. [`Contents`] is told of every
//! movement of data at the moment at which it happens. The default does nothing and costs nothing.

use crate::cache::{CachePlace, SlotId};
use crate::ftl::Fragments;
use crate::ftl::parity::Rest;
use crate::host::{Completion, Request, RequestId, SectorMask};
use crate::nand::Stripe;
use crate::scheduler::CommandId;
use crate::units::{Lpn, Ppn};

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
pub trait Contents {
    /// Whether anything is moved at all.
    const MOVES: bool = true;

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
    /// Collection copies a page.
    fn copy(&mut self, _from: Ppn, _to: Ppn) {}
    /// Nothing reads so many pages from `first` on any more: what they hold is to be taken for garbage.
    fn lose(&mut self, _first: Ppn, _units: u32) {}
    /// A block of `units` pages is erased.
    fn erase(&mut self, _first: Ppn, _units: u32) {}
    /// A flash command will read this page.
    fn plan_read(&mut self, _command: CommandId, _read: FlashRead) {}
    /// A flash command will read pages of the map at `at`, for a read of the host.
    fn plan_map_read(&mut self, _command: CommandId, _at: Ppn) {}
    /// A page of the map is programmed.
    fn program_map(&mut self, _page: Lpn, _to: Ppn) {}
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
    /// What was to be programmed at these pages, or the erase of them, did not come to its end: nothing that may be read
    /// is there.
    fn tear(&mut self, _first: Ppn, _units: u32) {}
    /// The flash page of this page of the volume comes into the parity of its stripe, which is in DRAM.
    fn cover(&mut self, _stripe: Stripe, _first: Ppn) {}
    /// The same flash page is taken out of that parity again: its program has failed.
    fn uncover(&mut self, _stripe: Stripe, _first: Ppn) {}
    /// The program of the flash page that begins at `first` has failed: what it holds is garbage.
    fn program_failed(&mut self, _first: Ppn, _units: u32) {}
    /// The parity of a stripe is programmed, at this flash page of the device.
    fn program_parity(&mut self, _stripe: Stripe, _at: Ppn) {}
    /// What was programmed at this flash page of the device is not the parity of its stripe: its program has failed, or
    /// that of a page which it counts.
    fn drop_parity(&mut self, _at: Ppn) {}
    /// The parity of a stripe in DRAM is forgotten: its die is dead, and the stripe does without.
    fn forget_parity(&mut self, _stripe: Stripe) {}
    /// The flash page of this page can't be read, and is computed from the rest of its stripe, as that is now: what has to be
    /// read for it comes later, and may turn out to be unreadable, too.
    fn reconstruct(&mut self, _page: Ppn, _rest: &Rest) {}
    /// A request is done.
    fn finish(&mut self, _request: RequestId, _completion: &Completion) {}
}

impl Contents for () {
    const MOVES: bool = false;
}
