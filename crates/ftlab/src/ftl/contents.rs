//! The bytes on flash, if the device carries any.
//!
//! A simulation moves no data, but a verification or a block device does. [`FlashContents`] is
//! notified of everything that happens to data on flash when it happens. A trait of the device
//! extends it by the data of requests and buffers. The defaults do nothing and cost nothing.

use super::parity::Rest;
use crate::nand::Stripe;
use crate::scheduler::CommandId;
use crate::units::{Lpn, Ppn};

/// Moves data on flash whenever the FTL does.
pub trait FlashContents {
    /// Whether anything is moved at all.
    const MOVES: bool = true;

    /// Collection copies a page.
    fn copy(&mut self, _from: Ppn, _to: Ppn) {}
    /// The data of `units` pages from `first` on cannot be read any more: it becomes garbage.
    fn lose(&mut self, _first: Ppn, _units: u32) {}
    /// A block of `units` pages is erased.
    fn erase(&mut self, _first: Ppn, _units: u32) {}
    /// A flash command will read pages of the map at `at`, for a read of the host.
    fn plan_map_read(&mut self, _command: CommandId, _at: Ppn) {}
    /// A page of the map is programmed.
    fn program_map(&mut self, _page: Lpn, _to: Ppn) {}
    /// A program of these pages, or the erase of their block, was cut off: nothing readable is there.
    fn tear(&mut self, _first: Ppn, _units: u32) {}
    /// The flash page at this place of the volume is added to the parity of its stripe in DRAM.
    fn cover(&mut self, _stripe: Stripe, _first: Ppn) {}
    /// The same flash page is removed from that parity again, because its program failed.
    fn uncover(&mut self, _stripe: Stripe, _first: Ppn) {}
    /// The program of the flash page at `first` has failed: its contents are garbage.
    fn program_failed(&mut self, _first: Ppn, _units: u32) {}
    /// The parity of a stripe is programmed to this flash page of the device.
    fn program_parity(&mut self, _stripe: Stripe, _at: Ppn) {}
    /// This flash page of the device does not hold the parity of its stripe: its program has
    /// failed, or that of a page which it covers.
    fn drop_parity(&mut self, _at: Ppn) {}
    /// The parity of a stripe in DRAM is dropped: its die is dead, and the stripe gets no parity.
    fn forget_parity(&mut self, _stripe: Stripe) {}
    /// The flash page of this page can't be read, and is computed from the rest of its stripe in
    /// its present state. The reads for this come later, and may turn out to be unreadable, too.
    fn reconstruct(&mut self, _page: Ppn, _rest: &Rest) {}
}

impl FlashContents for () {
    const MOVES: bool = false;
}
