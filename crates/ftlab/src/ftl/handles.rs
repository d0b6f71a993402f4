//! Reclaim unit handles: which units they fill, and what happens when the host gives one a new unit.

use crate::ftl::Ftl;
use crate::ftl::streams::{ClosedBy, Streams, WriteStream};
use crate::ftl::wear::refresh;
use crate::units::{BlockId, PlaneId};

/// Pages that the open reclaim units of a handle still take.
pub(crate) fn pages_left(handle: u8, ftl: &Ftl) -> u64 {
    let open = open_units(handle, ftl);
    open.map(|(_, next)| u64::from(ftl.geometry.units_per_block() - next)).sum()
}

/// A handle refers to new reclaim units from now on: those that it has begun to fill are closed.
pub(crate) fn update(handle: u8, ftl: &mut Ftl) {
    let begun: Vec<BlockId> =
        open_units(handle, ftl).filter(|&(_, next)| next > 0).map(|(block, _)| block).collect();
    begun.into_iter().for_each(|block| refresh::seal(block, ClosedBy::Host, ftl));
}

impl Ftl {
    /// The writes of each host stream carry this placement identifier from now on.
    pub(crate) fn identify_streams(&mut self, identifiers: &[u8]) {
        if let Streams::Fdp(fdp) = &mut self.policies.streams {
            fdp.identify_streams(identifiers);
        }
    }
}

/// The open reclaim units of a handle, and the next page of each.
fn open_units(handle: u8, ftl: &Ftl) -> impl Iterator<Item = (BlockId, u32)> {
    let whole = ftl.geometry.units_per_block();
    let planes = (0..ftl.geometry.planes()).map(PlaneId::new);
    ftl.space.open_of(WriteStream::new(handle), planes, whole)
}
