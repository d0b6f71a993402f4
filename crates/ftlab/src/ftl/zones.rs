//! What the FTL does when a zone begins or ends: the streams policy hears of it, and the blocks that an earlier zone left open in
//! the same stream are closed, so that no block holds data of two zones. And how many good blocks the planes of zones need.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::ftl::Ftl;
use crate::ftl::placement::PlacementPolicy;
use crate::ftl::streams::{ClosedBy, StreamsPolicy, WriteStream};
use crate::ftl::wear::{Life, refresh};
use crate::units::{BlockId, Lpn, PlaneId};

/// A zone becomes active; `written` pages of it are on flash.
pub(crate) fn begins(zone: &Range<Lpn>, written: u32, ftl: &mut Ftl) {
    let Some(stream) = ftl.policies.streams.zone_begins(zone.start, written) else { return };
    for block in left_open(zone, stream, ftl) {
        refresh::seal(block, ClosedBy::Host, ftl);
    }
}

/// The zone that begins with this page takes no more writes; `written` pages of it were.
pub(crate) fn ends(first: Lpn, written: u32, ftl: &mut Ftl) {
    ftl.policies.streams.zone_ends(first, written);
}

/// The open blocks of a stream, filled in part, on the planes of a zone.
fn left_open(zone: &Range<Lpn>, stream: WriteStream, ftl: &Ftl) -> Vec<BlockId> {
    let whole = ftl.geometry.units_per_block();
    let open = ftl.space.open_of(stream, planes_of(zone, ftl).into_iter(), whole);
    open.filter(|&(_, next)| next > 0).map(|(block, _)| block).collect()
}

/// The planes to which the pages of a zone may go.
fn planes_of(zone: &Range<Lpn>, ftl: &Ftl) -> Vec<PlaneId> {
    let placement = &ftl.policies.placement;
    let round = ftl.geometry.planes() * ftl.geometry.units_per_page();
    let end = (zone.start.get() + round).min(zone.end.get());
    let pools: BTreeSet<u32> = (zone.start.get()..end)
        .step_by(ftl.geometry.units_per_page() as usize)
        .map(|page| placement.pool(Lpn::new(page)))
        .collect();
    let planes = (0..ftl.geometry.planes()).map(PlaneId::new);
    planes.filter(|&plane| pools.contains(&placement.pool_of(plane))).collect()
}

/// Whether planes lack blocks until zones are reset.
pub(crate) fn waits_for_zones(ftl: &Ftl) -> bool {
    ftl.life().is_some_and(Life::waits_for_zones)
}

/// Whether the device may still answer a shortage of blocks by taking zones out of service.
pub(crate) fn may_give_way(ftl: &Ftl) -> bool {
    ftl.life().is_some_and(|life| life.end_reason().is_none())
}

/// So many zones as `zone`, and on its planes, are out of service and hold nothing: the planes need fewer blocks. Returns the most
/// that one of them lacks.
pub(crate) fn relieve(zone: &Range<Lpn>, out_of_service: u32, ftl: &mut Ftl) -> u32 {
    let planes = planes_of(zone, ftl);
    let (block, page) = (ftl.geometry.units_per_block(), ftl.geometry.units_per_page());
    let flash_pages = (zone.end.get() - zone.start.get()) / page / planes.len() as u32;
    // As in the rule for a new device, each closed block holds at least so many valid units unless it is worth collecting.
    let blocks = out_of_service * flash_pages * page / (block - page + 1);
    let Some(life) = &mut ftl.health.life else { return 0 };
    planes.into_iter().map(|plane| life.relieve(plane, blocks)).max().unwrap_or(0)
}

/// Planes have as many blocks as they need, or will have when zones are reset, if the device `waits` for that.
pub(crate) fn goes_on(waits: bool, ftl: &mut Ftl) {
    ftl.health.life.iter_mut().for_each(|life| life.goes_on(waits));
}
