//! No translation: requests carry physical addresses. Page n of the host is physical page n, programmed in
//! place as often as asked. Nothing is erased, collected or placed, and no page is ever empty: what is
//! studied lies beneath the FTL.
//!
//! The numbers are those of [`Geometry`](crate::shape::Geometry): neighbouring pages lie in one block, then
//! come the blocks of a plane, the planes of a die, and the dies. A load that is to keep all dies busy
//! therefore has to spread its addresses.
//!
//! No flash can be programmed in place: a run stands for what a real FTL would send to blocks that it has
//! erased beforehand. Requests take their way in `device/direct_path.rs`.

use super::{MappingFacts, MappingPolicy};
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};
use crate::units::{Lpn, Ppn};

/// The identity.
#[derive(Clone, Debug, Default)]
pub struct Physical;

impl Policy for Physical {
    const NAME: &'static str = "physical";
    const SUMMARY: &'static str =
        "no translation: requests carry physical addresses, pages are programmed in place";
    const SOURCE: &'static str = "papers beneath the FTL, such as Zhu, Wu, Xiong, Xie, Computer Science 44(6), 2017 (in Chinese)";
    type Options = NoOptions;

    fn build(_options: &Self::Options, _parts: &Parts<'_>) -> Self {
        Physical
    }

    keeps_nothing!(Physical {});
}

impl MappingFacts for Physical {
    fn translates(_options: &Self::Options) -> bool {
        false
    }
}

impl MappingPolicy for Physical {
    #[inline]
    fn look_up(&self, page: Lpn) -> Option<Ppn> {
        Some(Ppn::new(page.get()))
    }

    /// Nothing lies elsewhere before or after.
    #[inline]
    fn commit(&mut self, _page: Lpn, _at: Ppn) -> Option<Ppn> {
        None
    }

    /// Nothing moves.
    #[inline]
    fn relocate(&mut self, _page: Lpn, _from: Ppn, _to: Ppn) -> bool {
        false
    }

    /// Every page keeps its place.
    #[inline]
    fn trim(&mut self, _page: Lpn) -> Option<Ppn> {
        None
    }

    /// There is no table.
    #[inline]
    fn prefetch(&self, _page: Lpn) {}

    fn translates(&self) -> bool {
        false
    }
}
