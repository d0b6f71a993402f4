//! No translation: requests carry physical addresses. Page n of the host is physical page n,
//! programmed in place any number of times. Nothing is erased, garbage-collected or placed, and no
//! page is ever empty. This serves studies of the layers beneath the FTL.
//!
//! The numbers are those of [`Geometry`](crate::shape::Geometry): consecutive pages lie in one
//! block, then come the blocks of a plane, the planes of a die, and the dies. A load that should
//! keep all dies busy therefore has to spread its addresses.
//!
//! Real flash cannot be programmed in place. A run represents the commands that a real FTL would
//! send to blocks that it erased beforehand. `device/direct.rs` handles the requests.

use super::{MappingFacts, MappingPolicy};
use crate::image::keeps_nothing;
use crate::policy::{NoOptions, Parts, Policy};
use crate::units::{Lpn, Ppn};

/// The identity mapping.
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

    /// Does nothing: no page lies anywhere else, before or after.
    #[inline]
    fn commit(&mut self, _page: Lpn, _at: Ppn) -> Option<Ppn> {
        None
    }

    /// Does nothing: pages never move.
    #[inline]
    fn relocate(&mut self, _page: Lpn, _from: Ppn, _to: Ppn) -> bool {
        false
    }

    /// Does nothing: every page keeps its place.
    #[inline]
    fn trim(&mut self, _page: Lpn) -> Option<Ppn> {
        None
    }

    /// Does nothing: there is no table.
    #[inline]
    fn prefetch(&self, _page: Lpn) {}

    fn translates(&self) -> bool {
        false
    }
}
