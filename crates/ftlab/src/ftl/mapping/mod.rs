//! The mapping from logical to physical pages. A mapping looks up and records places; it does no
//! flash work itself. Where a mapping needs flash work, the core does it (the page map needs none).
//! The mapping `physical` does not translate: it only names the place.

mod bast;
pub mod dftl;
mod fast;
pub mod hybrid;
mod log_block;
mod nftl;
mod page;
mod physical;
mod reconstruction;

pub use bast::Bast;
pub use dftl::{Dftl, DftlOptions};
pub use fast::Fast;
pub use log_block::FullyAssociative;
pub use nftl::Nftl;
pub use page::PageMap;
pub use physical::Physical;
pub use reconstruction::{Pieces, Places, Reconstruction, ReconstructionOptions};

use self::hybrid::{LogMap, LogOptions, LogTables, RoomOf};
use crate::policy::{contract, seam};
use crate::units::{Lpn, Ppn};

seam! {
    /// The table from logical to physical pages.
    pub enum Mapping ("ftl.mapping.policy" = "page") as MappingChoice, with mapping_policy, or ExternalMapping {
        Page(PageMap),
        Physical(Physical),
        Dftl(Dftl),
        Reconstruction(Reconstruction),
        LogBlock(LogMap<FullyAssociative>),
        Bast(LogMap<Bast>),
        Fast(LogMap<Fast>),
        Nftl(LogMap<Nftl>),
    }
}

contract! {
    /// The facts about a mapping that are known before it is built.
    pub trait MappingFacts of MappingChoice, by mapping_policy {
        /// Whether the mapping translates logical pages to places on flash
        /// ([`MappingPolicy::translates`]).
        fn translates(_options: &Self::Options) -> bool {
            true
        }

        /// Returns the options of a mapping with a log.
        fn log(_options: &Self::Options) -> Option<&LogOptions> {
            None
        }

        /// Returns the minimum number of log blocks that a plane needs, if there is a log.
        fn least_log_blocks(_options: &Self::Options) -> u32 {
            1
        }

        /// Returns the options of a map that is stored on flash.
        fn on_flash(_options: &Self::Options) -> Option<&DftlOptions> {
            None
        }

        /// Whether two logical pages may be written into one physical page.
        fn packs(_options: &Self::Options) -> bool {
            false
        }

        /// Whether any logical page may come next in a stripe over dies, so that parity can be
        /// computed.
        fn fills_stripes(_options: &Self::Options) -> bool {
            false
        }

        /// Whether checkpoints can hold what of the map is not on flash otherwise: there is one place for
        /// each page.
        fn fits_checkpoints(_options: &Self::Options) -> bool {
            false
        }
    }
}

contract! {
    /// Looks up and records the places of logical pages.
    pub trait MappingPolicy for Mapping, by mapping_policy, or ExternalMapping {
        /// Whether the mapping translates. If not, requests carry physical addresses, and nothing
        /// is placed, committed or garbage-collected.
        #[must_use]
        fn translates(&self) -> bool {
            true
        }

        /// Whether the map is only a table in memory with one place for each logical page.
        #[must_use]
        fn is_plain(&self) -> bool {
            false
        }

        /// Whether the mapping has a log, whose blocks are merged with data blocks instead of being
        /// garbage-collected.
        #[must_use]
        #[inline]
        fn has_log(&self) -> bool {
            false
        }

        /// Returns the tables of a mapping with a log, and the function that decides where a page
        /// goes.
        #[must_use]
        #[inline]
        fn log(&self) -> Option<(&LogTables, RoomOf)> {
            None
        }

        /// Returns the tables of a mapping with a log, for the core to change.
        #[inline]
        fn log_mut(&mut self) -> Option<&mut LogTables> {
            None
        }

        /// Returns the table of a mapping whose logical pages may lie in fragments.
        #[must_use]
        #[inline]
        fn rmap(&self) -> Option<&Reconstruction> {
            None
        }

        /// Returns the same table, for the core to change.
        #[inline]
        fn rmap_mut(&mut self) -> Option<&mut Reconstruction> {
            None
        }

        /// Returns the map that is stored on flash and partly cached in memory.
        #[must_use]
        #[inline]
        fn dftl(&self) -> Option<&Dftl> {
            None
        }

        /// Returns the same map, for the core to change.
        #[inline]
        fn dftl_mut(&mut self) -> Option<&mut Dftl> {
            None
        }

        /// Returns the place of the current copy of a page, or `None` if it was never written. If
        /// the page is in two fragments, this is the place of the newer one.
        #[must_use]
        fn look_up(&self, page: Lpn) -> Option<Ppn>;

        /// Maps the whole page to `at`. Returns the previous place of the page, or of its newer
        /// fragment.
        fn commit(&mut self, page: Lpn, at: Ppn) -> Option<Ppn>;

        /// Records that the copy, or fragment, at `from` was moved to `to`. Returns false if the
        /// page lies elsewhere by now: then nothing changes, and the copy at `to` is stale.
        #[must_use]
        fn relocate(&mut self, page: Lpn, from: Ppn, to: Ppn) -> bool;

        /// Unmaps the page. Returns the previous place of the page, or of its newer fragment.
        fn trim(&mut self, page: Lpn) -> Option<Ppn>;

        /// Maps each page to its place, wherever it lay before.
        fn put_all(&mut self, moved: &[(Lpn, Ppn)]) {
            moved.iter().for_each(|&(page, at)| {
                self.commit(page, at);
            });
        }

        /// Maps `count` pages from `first` on to consecutive places from `at` on. None of them may
        /// be mapped before.
        fn put_row(&mut self, first: Lpn, at: Ppn, count: u32) {
            for unit in 0..count {
                self.commit(Lpn::new(first.get() + unit), Ppn::new(at.get() + unit));
            }
        }

        /// Prefetches the entry of a page.
        #[inline]
        fn prefetch(&self, _page: Lpn) {}
    }
}

impl Mapping {
    /// Whether two logical pages may be written into one physical page.
    #[inline]
    #[must_use]
    pub fn packs(&self) -> bool {
        self.rmap().is_some()
    }
}
