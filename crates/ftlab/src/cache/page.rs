//! A page in the buffer, and what is known of it: which sectors are newer than flash, which are on their way, who
//! waits for that.

use super::lookup::Lookup;
use crate::engine::Handle;
use crate::units::{Lpn, RequestId, SectorMask};

/// A handle to a page in the buffer.
pub type SlotId = Handle<Page>;

/// Slots by logical page.
pub(super) type Index = Lookup<Page>;

/// A page in the buffer.
#[derive(Clone, Debug)]
pub struct Page {
    /// Which logical page.
    pub page: Lpn,
    /// Sectors that are newer than flash and not on their way.
    pub dirty: SectorMask,
    /// Sectors on their way to flash.
    pub writing_back: SectorMask,
    /// Sectors that are the same on flash: kept from a read.
    pub clean: SectorMask,
    /// The page that goes to flash with it, on the same physical page; of the two only the one that had to go
    /// knows the other.
    pub packed_with: Option<SlotId>,
    /// What is on its way comes from flash, to fill up a block: there is nothing of it here.
    pub padding: bool,
    /// What is on its way was deallocated meanwhile and must not become current.
    pub discard: bool,
    /// What the host said of the write that came last, as far as streams go by that.
    pub tag: u8,
    /// Requests that wait until what is dirty now is on flash.
    pub(super) dirty_waiters: Option<WaiterId>,
    /// Requests that wait for what is on its way.
    pub(super) write_back_waiters: Option<WaiterId>,
}

impl Page {
    /// Nothing of a page.
    pub(super) fn of(page: Lpn) -> Page {
        Page {
            page,
            dirty: SectorMask::EMPTY,
            writing_back: SectorMask::EMPTY,
            clean: SectorMask::EMPTY,
            packed_with: None,
            padding: false,
            discard: false,
            tag: 0,
            dirty_waiters: None,
            write_back_waiters: None,
        }
    }

    /// Whether something of it is newer than flash, or on its way there.
    #[inline]
    pub(super) fn is_new(&self) -> bool {
        !self.dirty.is_empty() || !self.writing_back.is_empty()
    }

    /// The sectors that can be read from the buffer.
    #[inline]
    #[must_use]
    pub fn readable(&self) -> SectorMask {
        let here = self.dirty.and_also(self.clean);
        if self.discard || self.padding { here } else { here.and_also(self.writing_back) }
    }
}

/// A handle to who waits for a page.
pub(super) type WaiterId = Handle<Waiter>;

/// A request that waits for a page, and the next one that does.
#[derive(Clone, Debug)]
pub(super) struct Waiter {
    pub(super) request: RequestId,
    pub(super) next: Option<WaiterId>,
}
