//! What the FTL does when a zone begins or ends: the streams policy hears of it, and the blocks that an earlier zone left open in
//! the same stream are closed, so that no block holds data of two zones.

use std::collections::BTreeSet;

use crate::ftl::Ftl;
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::streams::{ClosedBy, StreamsPolicy, WriteStream};
use crate::ftl::wear::refresh;
use crate::units::{BlockId, Lpn, PlaneId};

/// The zone that begins with this page becomes active; `written` pages of it are on flash.
pub(crate) fn begins(first: Lpn, written: u32, ftl: &mut Ftl) {
    let Some(stream) = ftl.policies.streams.zone_begins(first, written) else { return };
    for block in left_open(first, stream, ftl) {
        refresh::seal(block, ClosedBy::Host, ftl);
    }
}

/// The zone that begins with this page takes no more writes; `written` pages of it were.
pub(crate) fn ends(first: Lpn, written: u32, ftl: &mut Ftl) {
    ftl.policies.streams.zone_ends(first, written);
}

/// The open blocks of a stream, filled in part, on the planes of a zone.
fn left_open(first: Lpn, stream: WriteStream, ftl: &Ftl) -> Vec<BlockId> {
    let placement = &ftl.policies.placement;
    let round = ftl.geometry.planes() * ftl.geometry.units_per_page();
    let pages = first.get()..(first.get() + round).min(ftl.logical_pages);
    let pools: BTreeSet<u32> = pages
        .step_by(ftl.geometry.units_per_page() as usize)
        .map(|page| placement.pool(Lpn::new(page)))
        .collect();
    let planes = (0..ftl.geometry.planes()).map(PlaneId::new);
    let own = planes.filter(|&plane| pools.contains(&placement.pool_of(plane)));
    let whole = ftl.geometry.units_per_block();
    let open = ftl.space.open_of(stream, own, whole);
    open.filter(|&(_, next)| next > 0).map(|(block, _)| block).collect()
}
