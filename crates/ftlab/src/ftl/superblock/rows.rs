//! Rows: the flash pages of a superblock on the planes of one die. They follow each other in the order of filling, so
//! those that come together share a multi-plane program.

use crate::engine::skills::Skills;
use crate::ftl::room::take_for_host;
use crate::ftl::streams::WriteStream;
use crate::ftl::{Ftl, slc};
use crate::nand::{CellMode, Row};
use crate::units::{PlaneId, Ppn};

/// Flash pages that the open superblock of a stream holds on the current die from its next page on. A whole row if it
/// begins one, or if there is no open superblock.
pub(in crate::ftl) fn left_in_row(plane: PlaneId, stream: WriteStream, ftl: &Ftl) -> u32 {
    let planes = ftl.features.members().map_or(1, |members| members.span().planes);
    let units = ftl.geometry.units_per_page();
    let mut open = ftl.space.planes[plane.at()].open_blocks();
    let next = open.find(|&(of, ..)| of == stream).map_or(0, |(_, _, next)| next / units);
    planes - next % planes
}

/// Places a further flash page of the host beside the last one, on the next plane of its die, if that is next in order.
pub(in crate::ftl) fn place_beside<const S: Skills>(
    stream: WriteStream,
    row: &Row,
    mode: CellMode,
    ftl: &mut Ftl,
) -> Option<Ppn> {
    let members = ftl.features.members()?;
    let group = members.flash().die_of_volume(row.die);
    let plane = ftl.geometry.plane_in(group, 0);
    let (stream, writable) = match (mode, &ftl.features.slc) {
        (CellMode::Slc, Some(cache)) => (WriteStream::SLC, &cache.writable),
        _ => (stream, &ftl.space.writable[stream.at()]),
    };
    if !writable.planes[plane.at()] || left_in_row(plane, stream, ftl) == members.span().planes {
        return None;
    }
    match stream == WriteStream::SLC {
        true => slc::cache::take_slc_page(plane, ftl),
        false => take_for_host::<S>(plane, stream, ftl),
    }
}
