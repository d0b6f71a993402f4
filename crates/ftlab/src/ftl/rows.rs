//! Whole pages that fill flash pages, for a fill: the tables are changed one flash page at a time
//! or, while all planes repeat themselves, by all flash pages that are alike.

use super::mapping::MappingPolicy;
use super::placement::PlacementPolicy;
use super::room::writable_mut;
use super::slc::{self, Count};
use super::streams::{StreamsPolicy, WriteStream};
use super::{Ftl, groups};
use crate::engine::skills::ALL;
use crate::units::{BlockId, Lpn, PlaneId, Ppn};

/// Flash pages of one plane whose map entries are written before those of the next: their entries are adjacent.
const PAGES_AT_ONCE: u32 = 16;

/// Records the contents of a placed flash page: whole pages of the host from `first` on. Only if
/// the streams depend on tags alone.
#[inline]
pub(crate) fn record(at: Ppn, first: Lpn, ftl: &mut Ftl) {
    ftl.map.spare.record_row(at, ftl.geometry.units_per_page(), first, 1);
}

/// The flash page at `at` is programmed: its pages become current. Call this before
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
    groups::came_to::<{ ALL }>(block, count, ftl);
}

/// Whether no page of the host is on flash.
pub(crate) fn holds_nothing(ftl: &Ftl) -> bool {
    (0..ftl.geometry.blocks()).all(|block| ftl.blocks.valid(BlockId::new(block)) == 0)
}

/// How far a fill has written to a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Front {
    pub block: BlockId,
    stream: WriteStream,
    /// The units of the block that are taken, and those that are programmed.
    pub taken: u32,
    pub landed: u32,
}

impl Front {
    /// The front `units` further on.
    pub fn further(self, units: u32) -> Front {
        Front { taken: self.taken + units, landed: self.landed + units, ..self }
    }

    /// Units left in the block.
    pub fn room(self, ftl: &Ftl) -> u32 {
        ftl.blocks.units_in(self.stream) - self.taken
    }
}

/// The front of a plane, if it has a block open for the next writes of the host.
pub(crate) fn front(plane: PlaneId, ftl: &Ftl) -> Option<Front> {
    let cached = ftl.features.slc.as_ref().is_some_and(|cache| cache.writable.planes[plane.at()]);
    let stream = match cached {
        true => WriteStream::SLC,
        false => ftl.policies.streams.host_stream(Lpn::new(0), 0),
    };
    let mut open = ftl.space.planes[plane.at()].open_blocks();
    let (_, block, taken) = open.find(|&(of, ..)| of == stream)?;
    Some(Front { block, stream, taken, landed: ftl.blocks.programmed(block) })
}

/// Whether only the host writes, and nothing else begins before a block is full.
pub(crate) fn only_host_writes(ftl: &Ftl) -> bool {
    let rests = |(plane, short): (&super::Plane, &bool)| {
        let asked = plane.collection.is_some() || !plane.wanted.is_empty() || *short;
        !asked && plane.host_credit == 0 && plane.free_blocks() > ftl.space.thresholds.start
    };
    ftl.features.superblock.is_none()
        && ftl.policies.placement.is_periodic()
        && ftl.features.slc.as_ref().is_none_or(|cache| cache.waits_for_shortage())
        && ftl.space.fed.is_empty()
        && ftl.space.planes.iter().zip(&ftl.space.hungry).all(rests)
}

/// A period after which the writes of all planes repeat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Again {
    /// Its length, in units of each plane.
    pub period: u32,
    /// The distance of its logical pages.
    pub shift: u32,
}

/// Whether the last period of a plane repeats the one before, shifted.
pub(crate) fn was_alike(front: &Front, again: Again, ftl: &Ftl) -> bool {
    let Again { period, shift } = again;
    let owner = |unit| ftl.map.spare.owner(ftl.geometry.page_at(front.block, unit));
    let before = |unit: u32| Some(Lpn::new(owner(unit - period)?.get() + shift));
    front.taken >= 2 * period
        && (front.taken - period..front.taken)
            .step_by(ftl.geometry.units_per_page() as usize)
            .all(|unit| owner(unit) == before(unit))
}

/// Repeats the last period on each plane for `units` units: they are taken and programmed. None of
/// their pages was on flash before.
pub(crate) fn go_on(fronts: &[Front], units: u32, again: Again, ftl: &mut Ftl) {
    for (plane, front) in (0..).map(PlaneId::new).zip(fronts) {
        let next = ftl.geometry.page_at(front.block, front.taken);
        ftl.map.spare.record_again(next, units, again.period, again.shift);
        ftl.space.planes[plane.at()].leave_out(front.stream, units);
        let cache = ftl.features.slc.as_mut().map(|cache| &mut cache.writable);
        let writable = match front.stream {
            WriteStream::SLC => cache,
            stream => writable_mut(stream, ftl),
        };
        if let Some(writable) = writable {
            writable.next_unit[plane.at()] += units;
        }
        ftl.blocks.set_valid_run(front.block, front.landed, units);
        ftl.blocks.add_programmed(front.block, units);
        let first = ftl.geometry.page_at(front.block, front.landed);
        slc::cache::count_slc::<{ ALL }>(first, units.into(), Count::Written, ftl);
    }
    ftl.counts.host_pages += u64::from(units) * fronts.len() as u64;
    ftl.policies.placement.advance(units);
    map(fronts, units, ftl);
}

/// Maps these pages.
fn map(fronts: &[Front], units: u32, ftl: &mut Ftl) {
    let units_per_page = ftl.geometry.units_per_page();
    let at_once = PAGES_AT_ONCE * units_per_page;
    for begin in (0..units).step_by(at_once as usize) {
        let end = units.min(begin + at_once);
        for front in fronts {
            let first = ftl.geometry.page_at(front.block, front.landed).get();
            for at in (first + begin..first + end).step_by(units_per_page as usize).map(Ppn::new) {
                if let Some(page) = ftl.map.spare.owner(at) {
                    ftl.map.mapping.put_row(page, at, units_per_page);
                }
            }
        }
    }
}
