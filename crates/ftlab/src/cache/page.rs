//! A page in the buffer and its state: which sectors are newer than flash, which are on their way to flash, and
//! which requests wait for that.

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
    /// Its number.
    pub page: Lpn,
    /// Sectors that are newer than flash and not on their way.
    pub dirty: SectorMask,
    /// Sectors on their way to flash.
    pub writing_back: SectorMask,
    /// Sectors with the same data as on flash, kept from a read.
    pub clean: SectorMask,
    /// The page that goes to the same physical page on flash. Only the page that was chosen for eviction points
    /// to the other one, not vice versa.
    pub packed_with: Option<SlotId>,
    /// Whether the data on its way was read from flash to fill up a block. None of it is in the buffer.
    pub padding: bool,
    /// Whether the data on its way was deallocated meanwhile and must not become current.
    pub discard: bool,
    /// The tag that the host gave the last write, as used by streams.
    pub tag: u8,
    /// The tag of the data on its way. A later write does not change where it goes.
    pub tag_on_way: u8,
    /// Requests that wait until the sectors that are dirty now are on flash.
    pub(super) dirty_waiters: Option<WaiterId>,
    /// Requests that wait for the sectors on their way.
    pub(super) write_back_waiters: Option<WaiterId>,
}

impl Page {
    /// A page without any data.
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
            tag_on_way: 0,
            dirty_waiters: None,
            write_back_waiters: None,
        }
    }

    /// Whether any sector is newer than flash, or on its way there.
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

/// A handle to an entry in a page's list of waiting requests.
pub(super) type WaiterId = Handle<Waiter>;

/// A request that waits for a page, and the next entry of the list.
#[derive(Clone, Debug)]
pub(super) struct Waiter {
    pub(super) request: RequestId,
    pub(super) next: Option<WaiterId>,
}
