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
use crate::policy::seam;
use crate::units::{Lpn, Ppn};

seam! {
    /// The table from logical to physical pages.
    pub enum Mapping ("ftl.mapping.policy" = "page") as MappingChoice, with mapping_policy {
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

impl MappingChoice {
    /// The options of a mapping with a log.
    #[must_use]
    pub fn log(&self) -> Option<&LogOptions> {
        match self {
            MappingChoice::Page(_)
            | MappingChoice::Physical(_)
            | MappingChoice::Dftl(_)
            | MappingChoice::Reconstruction(_) => None,
            MappingChoice::LogBlock(options)
            | MappingChoice::Bast(options)
            | MappingChoice::Fast(options)
            | MappingChoice::Nftl(options) => Some(options),
        }
    }
}

impl Mapping {
    /// Whether logical pages have places of their own on flash. If not, nothing is placed, committed or
    /// collected: requests carry physical addresses.
    #[must_use]
    pub fn translates(&self) -> bool {
        !matches!(self, Mapping::Physical(_))
    }

    /// Whether it has a log, whose blocks are merged with data blocks instead of being collected.
    #[inline]
    #[must_use]
    pub fn has_log(&self) -> bool {
        !matches!(
            self,
            Mapping::Page(_) | Mapping::Physical(_) | Mapping::Dftl(_) | Mapping::Reconstruction(_)
        )
    }

    /// Whether two logical pages may be written into one physical page.
    #[inline]
    #[must_use]
    pub fn packs(&self) -> bool {
        self.rmap().is_some()
    }

    /// The table of a mapping under which logical pages may lie in fragments.
    #[inline]
    #[must_use]
    pub fn rmap(&self) -> Option<&Reconstruction> {
        if let Mapping::Reconstruction(map) = self { Some(map) } else { None }
    }

    /// The same, to be changed by the core.
    #[inline]
    pub(in crate::ftl) fn rmap_mut(&mut self) -> Option<&mut Reconstruction> {
        if let Mapping::Reconstruction(map) = self { Some(map) } else { None }
    }

    /// The map that lies on flash itself, with a part in memory.
    #[inline]
    #[must_use]
    pub fn dftl(&self) -> Option<&Dftl> {
        if let Mapping::Dftl(map) = self { Some(map) } else { None }
    }

    /// The same, to be changed by the core.
    #[inline]
    pub(crate) fn dftl_mut(&mut self) -> Option<&mut Dftl> {
        if let Mapping::Dftl(map) = self { Some(map) } else { None }
    }

    /// The tables of a mapping with a log, and how it decides where a page goes.
    #[inline]
    #[must_use]
    pub fn log(&self) -> Option<(&LogTables, RoomOf)> {
        match self {
            Mapping::Page(_)
            | Mapping::Physical(_)
            | Mapping::Dftl(_)
            | Mapping::Reconstruction(_) => None,
            Mapping::LogBlock(map) => Some(map.log()),
            Mapping::Bast(map) => Some(map.log()),
            Mapping::Fast(map) => Some(map.log()),
            Mapping::Nftl(map) => Some(map.log()),
        }
    }

    /// The tables of a mapping with a log, to be changed by the core.
    #[inline]
    pub(in crate::ftl) fn log_mut(&mut self) -> Option<&mut LogTables> {
        match self {
            Mapping::Page(_)
            | Mapping::Physical(_)
            | Mapping::Dftl(_)
            | Mapping::Reconstruction(_) => None,
            Mapping::LogBlock(map) => Some(map.log_mut()),
            Mapping::Bast(map) => Some(map.log_mut()),
            Mapping::Fast(map) => Some(map.log_mut()),
            Mapping::Nftl(map) => Some(map.log_mut()),
        }
    }

    /// Where the current copy of a page lies, if it was ever written; the newer part of it, if it is in two.
    #[inline]
    #[must_use]
    pub fn look_up(&self, page: Lpn) -> Option<Ppn> {
        mapping_policy!(self, map => map.look_up(page))
    }

    /// The whole page lies at `at` from now on. Returns where it, or its newer part, lay before.
    #[inline]
    pub fn commit(&mut self, page: Lpn, at: Ppn) -> Option<Ppn> {
        mapping_policy!(self, map => map.commit(page, at))
    }

    /// The copy, or part, at `from` was moved to `to`. False if the page lies elsewhere by now: then nothing
    /// changes, and the copy at `to` is stale.
    #[inline]
    #[must_use]
    pub fn relocate(&mut self, page: Lpn, from: Ppn, to: Ppn) -> bool {
        mapping_policy!(self, map => map.relocate(page, from, to))
    }

    /// Pages lie there from now on, one after the other, wherever they lay before.
    pub(super) fn put_all(&mut self, moved: &[(Lpn, Ppn)]) {
        match self {
            Mapping::Page(map) => map.put_all(moved),
            other => moved.iter().for_each(|&(page, at)| {
                other.commit(page, at);
            }),
        }
    }

    /// Forgets the page. Returns where it, or its newer part, lay.
    #[inline]
    pub fn trim(&mut self, page: Lpn) -> Option<Ppn> {
        mapping_policy!(self, map => map.trim(page))
    }

    /// Brings the entry of a page closer to the processor.
    #[inline]
    pub fn prefetch(&self, page: Lpn) {
        mapping_policy!(self, map => map.prefetch(page));
    }
}
