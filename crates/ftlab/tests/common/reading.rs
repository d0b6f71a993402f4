//! A read cache, described for tests.

use ftlab::cache::{LruReads, ReadCacheSetup, ReadOrder};

use super::{MappingKind, ReadCacheKind, Spec};

/// A read cache, described.
#[derive(Clone, Copy, Debug)]
pub struct ReadSpec {
    pub policy: ReadCacheKind,
    /// In flash pages.
    pub pages: u32,
    pub ahead: u32,
}

/// No read cache.
pub const NO_READS: ReadSpec = ReadSpec { policy: ReadCacheKind::None, pages: 0, ahead: 0 };

impl Spec {
    /// Pages in pieces, and those that nobody translates, are not kept.
    pub(super) fn read_setup(&self) -> ReadCacheSetup {
        let ReadSpec { policy, pages, ahead } = self.reads;
        let unfit = matches!(self.mapping, MappingKind::Reconstruction | MappingKind::Physical);
        let policy = match policy {
            ReadCacheKind::Lru if !unfit => ReadOrder::Lru(LruReads::default()),
            _ => return ReadCacheSetup::none(),
        };
        let units_per_page = self.geometry().units_per_page();
        ReadCacheSetup { policy, capacity: pages, ahead, units_per_page }
    }
}
