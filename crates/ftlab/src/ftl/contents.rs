//! The bytes on flash, if the device carries any.
//!
//! A simulation moves no data; a verification or a block device does. [`FlashContents`] is told of what happens to
//! data on flash at the moment at which it happens. Data of requests and of the buffers comes on top of that, in a trait
//! of the device's. The default does nothing and costs nothing.

use super::parity::Rest;
use crate::nand::Stripe;
use crate::scheduler::CommandId;
use crate::units::{Lpn, Ppn};

/// Moves data on flash when the FTL does.
pub trait FlashContents {
    /// Whether anything is moved at all.
    const MOVES: bool = true;

    /// Collection copies a page.
    fn copy(&mut self, _from: Ppn, _to: Ppn) {}
    /// Nothing reads so many pages from `first` on any more: what they hold is to be taken for garbage.
    fn lose(&mut self, _first: Ppn, _units: u32) {}
    /// A block of `units` pages is erased.
    fn erase(&mut self, _first: Ppn, _units: u32) {}
    /// A flash command will read pages of the map at `at`, for a read of the host.
    fn plan_map_read(&mut self, _command: CommandId, _at: Ppn) {}
    /// A page of the map is programmed.
    fn program_map(&mut self, _page: Lpn, _to: Ppn) {}
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
}

impl FlashContents for () {
    const MOVES: bool = false;
}
