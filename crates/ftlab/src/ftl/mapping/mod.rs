//! Where logical pages lie. A mapping answers and records; flash work that it needs would be added to
//! a plan by the core (the page map needs none). One that does not translate only names the place.

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
    /// What is known of a mapping before it is built.
    pub trait MappingFacts of MappingChoice, by mapping_policy {
        /// Whether logical pages have places of their own on flash ([`MappingPolicy::translates`]).
        fn translates(_options: &Self::Options) -> bool {
            true
        }

        /// The options of a mapping with a log.
        fn log(_options: &Self::Options) -> Option<&LogOptions> {
            None
        }

        /// The log blocks that a plane needs at the least, if there is a log.
        fn least_log_blocks(_options: &Self::Options) -> u32 {
            1
        }

        /// The options of a map that lies on flash itself.
        fn on_flash(_options: &Self::Options) -> Option<&DftlOptions> {
            None
        }

        /// Whether two logical pages may be written into one physical page.
        fn packs(_options: &Self::Options) -> bool {
            false
        }

        /// Whether any page may come next in a stripe over dies, so that parity can be computed.
        fn fills_stripes(_options: &Self::Options) -> bool {
            false
        }

        /// Whether it is a table in memory with one place for each page, which can be written to flash as it is.
        fn is_plain_table(_options: &Self::Options) -> bool {
            false
        }
    }
}

contract! {
    /// What a mapping answers and records.
    pub trait MappingPolicy for Mapping, by mapping_policy, or ExternalMapping {
        /// Whether logical pages have places of their own on flash. If not, nothing is placed, committed or
        /// collected: requests carry physical addresses.
        #[must_use]
        fn translates(&self) -> bool {
            true
        }

        /// Whether it is a table in memory, with a place for each logical page, and no more.
        #[must_use]
        fn is_plain(&self) -> bool {
            false
        }

        /// Whether it has a log, whose blocks are merged with data blocks instead of being collected.
        #[must_use]
        #[inline]
        fn has_log(&self) -> bool {
            false
        }

        /// The tables of a mapping with a log, and how it decides where a page goes.
        #[must_use]
        #[inline]
        fn log(&self) -> Option<(&LogTables, RoomOf)> {
            None
        }

        /// The tables of a mapping with a log, to be changed by the core.
        #[inline]
        fn log_mut(&mut self) -> Option<&mut LogTables> {
            None
        }

        /// The table of a mapping under which logical pages may lie in fragments.
        #[must_use]
        #[inline]
        fn rmap(&self) -> Option<&Reconstruction> {
            None
        }

        /// The same, to be changed by the core.
        #[inline]
        fn rmap_mut(&mut self) -> Option<&mut Reconstruction> {
            None
        }

        /// The map that lies on flash itself, with a part in memory.
        #[must_use]
        #[inline]
        fn dftl(&self) -> Option<&Dftl> {
            None
        }

        /// The same, to be changed by the core.
        #[inline]
        fn dftl_mut(&mut self) -> Option<&mut Dftl> {
            None
        }

        /// Where the current copy of a page lies, if it was ever written; the newer part of it, if it is in two.
        #[must_use]
        fn look_up(&self, page: Lpn) -> Option<Ppn>;

        /// The whole page lies at `at` from now on. Returns where it, or its newer part, lay before.
        fn commit(&mut self, page: Lpn, at: Ppn) -> Option<Ppn>;

        /// The copy, or part, at `from` was moved to `to`. False if the page lies elsewhere by now: then nothing
        /// changes, and the copy at `to` is stale.
        #[must_use]
        fn relocate(&mut self, page: Lpn, from: Ppn, to: Ppn) -> bool;

        /// Forgets the page. Returns where it, or its newer part, lay.
        fn trim(&mut self, page: Lpn) -> Option<Ppn>;

        /// Pages lie there from now on, one after the other, wherever they lay before.
        fn put_all(&mut self, moved: &[(Lpn, Ppn)]) {
            moved.iter().for_each(|&(page, at)| {
                self.commit(page, at);
            });
        }

        /// So many pages from `first` on lie at `at` and behind from now on; none of them lay anywhere before.
        fn put_row(&mut self, first: Lpn, at: Ppn, count: u32) {
            for unit in 0..count {
                self.commit(Lpn::new(first.get() + unit), Ppn::new(at.get() + unit));
            }
        }

        /// Brings the entry of a page closer to the processor.
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
