//! What fills a buffer: how its capacity is counted, and how much of it is held, dirty, on its way to
//! flash, and waited for.

use super::Page;
use crate::options::declare::choices;
use crate::units::SectorMask;

choices! {
    /// What the capacity of a buffer counts.
    pub enum Space {
        /// Pages (mapping units), as frames of DRAM: a page takes one, however little of it is there.
        Pages = "pages",
        /// Sectors that are there, as SSDsim counts.
        Sectors = "sectors",
        /// As pages, but what is written while a page is on its way to flash takes a further one.
        Slots = "slots",
    }
}

impl Space {
    /// What so many sectors of a page take.
    #[inline]
    pub(super) fn of(self, sectors: SectorMask) -> u32 {
        match self {
            Space::Pages | Space::Slots => 1,
            Space::Sectors => sectors.count(),
        }
    }

    /// What a page takes as it is.
    #[inline]
    pub(super) fn of_page(self, page: &Page) -> u32 {
        match self {
            Space::Pages => u32::from(!page.padding || !page.dirty.is_empty()),
            Space::Slots => {
                let on_way = !page.padding && !page.flushing.is_empty();
                let here = !(page.dirty.is_empty() && page.clean.is_empty());
                u32::from(on_way) + u32::from(here)
            }
            Space::Sectors => {
                let on_way = if page.padding { 0 } else { page.flushing.count() };
                on_way + page.dirty.count() + page.clean.count()
            }
        }
    }

    /// What becomes free when what is on its way has arrived.
    #[inline]
    pub(super) fn of_flushing(self, page: &Page) -> u32 {
        match self {
            _ if page.padding => 0,
            Space::Pages | Space::Slots => 1,
            Space::Sectors => page.flushing.count(),
        }
    }
}

/// How full a buffer is, in what its [`Space`] counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fill {
    /// What its pages take.
    pub held: u32,
    /// What of it may be written back.
    pub dirty: u32,
    /// What will be free when all that is on its way has arrived.
    pub flushing: u32,
    /// What writes that wait for room need.
    pub wanted: u32,
}
