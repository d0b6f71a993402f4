//! Whole pages that fill flash pages, as a fill writes them: the tables are changed a flash page at a time.

use super::Ftl;
use super::mapping::MappingPolicy;
use crate::engine::skills::ALL;
use crate::units::{Lpn, Ppn};

/// Records on flash what a placed flash page is programmed with: whole pages of the host from `first` on. Where the
/// streams go by tags alone.
#[inline]
pub(crate) fn record(at: Ppn, first: Lpn, ftl: &mut Ftl) {
    ftl.map.spare.record_row(at, ftl.geometry.units_per_page(), first, 1);
}

/// The flash page at `at` is programmed: the copies on it are the current ones from now on. Called before
/// [`programmed_for_host`](Ftl::programmed_for_host).
#[inline]
pub(crate) fn commit(first: Lpn, at: Ppn, ftl: &mut Ftl) {
    let count = ftl.geometry.units_per_page();
    for unit in 0..count {
        let (page, to) = (Lpn::new(first.get() + unit), Ppn::new(at.get() + unit));
        if let Some(old) = ftl.map.mapping.commit(page, to) {
            ftl.invalidate::<{ ALL }>(old);
        }
    }
    let (block, unit) = ftl.geometry.place_of(at);
    ftl.blocks.set_valid_row(block, unit, count);
}
