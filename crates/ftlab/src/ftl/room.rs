//! Room for writes and copies: takes the next flash page of an open block, opens blocks, and tracks
//! the planes that the host may write to.

use crate::engine::skills;
use crate::engine::skills::{RARE, SLC, Skills, any};
use crate::ftl::gc::pacing::PacingPolicy;
use crate::ftl::gc::{Collection, Purpose};
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::placement::{PlacementPolicy, PlacementView, Writable};
use crate::ftl::space::Space;
use crate::ftl::streams::{StreamsPolicy, WriteStream};
use crate::ftl::wear::Pick;
use crate::ftl::{BlockState, Ftl, groups, slc, superblock};
use crate::image::Resume;
use crate::nand::{CellMode, Row};
use crate::scheduler::Load;
use crate::units::{BlockId, Lpn, PlaneId, Ppn};
use crate::verify::Canary;

impl Ftl {
    /// Whether the host may currently write pages of a stream to a plane.
    #[must_use]
    pub fn may_write(&self, plane: PlaneId, stream: WriteStream) -> bool {
        may_cache(plane, self) || self.space.writable[stream.at()].planes[plane.at()]
    }

    /// Whether the host may currently write to a plane, in any stream.
    #[must_use]
    pub fn may_write_any(&self, plane: PlaneId) -> bool {
        let mut native = self.space.writable.iter();
        let data = may_cache(plane, self) || native.any(|writable| writable.planes[plane.at()]);
        data || may_write_map(plane, self)
    }

    /// Like [`place`](Self::place), for a further flash page of a row: on another plane of the die.
    pub fn place_beside<const S: Skills>(
        &mut self,
        page: Lpn,
        stream: WriteStream,
        row: &Row,
        mode: CellMode,
    ) -> Option<Ppn> {
        if self.health.read_only {
            return None;
        }
        if any(S, RARE) && self.space.groups.is_some() {
            return self.place_in_group(stream, |stream, ftl| {
                ftl.place_beside_in::<S>(page, stream, row, mode)
            });
        }
        self.place_beside_in::<S>(page, stream, row, mode)
    }

    fn place_beside_in<const S: Skills>(
        &mut self,
        page: Lpn,
        stream: WriteStream,
        row: &Row,
        mode: CellMode,
    ) -> Option<Ppn> {
        if self.features.superblock.is_some() {
            return superblock::rows::place_beside::<S>(stream, row, mode, self);
        }
        let cached = mode == CellMode::Slc;
        let writable = match &self.features.slc {
            Some(cache) if cached => &cache.writable,
            _ => &self.space.writable[stream.at()],
        };
        let plane = self.policies.placement.choose_beside(page, row, writable)?;
        match cached {
            true => slc::cache::take_slc_page(plane, self),
            false => take_for_host::<S>(plane, stream, self),
        }
    }
}

/// Whether translation pages may currently be written to a plane.
pub(in crate::ftl) fn may_write_map(plane: PlaneId, ftl: &Ftl) -> bool {
    ftl.space.map_writable.as_ref().is_some_and(|writable| writable.planes[plane.at()])
}

fn may_cache(plane: PlaneId, ftl: &Ftl) -> bool {
    ftl.features.slc.as_ref().is_some_and(|cache| cache.writable.planes[plane.at()])
}

/// Chooses the place of a translation page, and takes that flash page.
pub(in crate::ftl) fn place_map_page(page: Lpn, load: &Load, ftl: &mut Ftl) -> Option<Ppn> {
    let view = PlacementView { load, writable: ftl.space.map_writable.as_ref()? };
    let plane = ftl.policies.placement.choose(page, &view)?;
    take_for_host::<{ skills::ALL }>(plane, WriteStream::MAP, ftl)
}

#[inline]
pub(in crate::ftl) fn take_for_host<const S: Skills>(
    plane: PlaneId,
    stream: WriteStream,
    ftl: &mut Ftl,
) -> Option<Ppn> {
    let at = take_page::<S>(plane, stream, reserve_of(plane, ftl), ftl)?;
    let state = &mut ftl.space.planes[plane.at()];
    let had_credit = state.host_credit > 0;
    state.host_credit = state.host_credit.saturating_sub(1);
    if had_credit && state.host_credit == 0 {
        refresh_writable::<S>(plane, ftl);
    }
    Some(at)
}

/// Takes a flash page for a copy of the page at `from`. If its stream can get no block, the copy
/// goes beside those of another stream: the reserve suffices only for a victim as a whole.
#[inline]
pub(in crate::ftl) fn place_copy<const S: Skills>(
    plane: PlaneId,
    from: Ppn,
    ftl: &mut Ftl,
) -> Option<Ppn> {
    let stream = stream_of_copy::<S>(from, ftl)?;
    let plane = match any(S, RARE) && ftl.plant.is(Canary::CopyLeavesGroup) {
        true => groups::outside_of(plane, ftl),
        false => plane,
    };
    let kept_back = match any(S, RARE) {
        true => ftl.health.life.as_ref().map_or(0, |life| life.kept_back()),
        false => 0,
    };
    match take_page::<S>(plane, stream, kept_back, ftl) {
        // Pages that stay apart take no room of others.
        None if any(S, RARE) && ftl.policies.streams.isolates() => None,
        None => beside_other_copies::<S>(plane, kept_back, ftl),
        found => found,
    }
}

/// The stream of a copy of the page at `from`.
#[inline]
pub(in crate::ftl) fn stream_of_copy<const S: Skills>(from: Ppn, ftl: &Ftl) -> Option<WriteStream> {
    let source = ftl.blocks.stream(ftl.geometry.block_of(from));
    let page = match any(S, RARE) {
        true => ftl.owner_of(from)?,
        false => ftl.map.spare.owner(from)?,
    };
    let is_of_map = any(S, RARE) && ftl.map.mapping.dftl().is_some_and(|map| map.is_of_map(page));
    // A page that leaves the SLC cache, or was rewritten, counts as just written by the host.
    let source = match any(S, RARE | SLC)
        && (source == WriteStream::SLC || source == WriteStream::REWRITES)
    {
        true => ftl.policies.streams.host_stream(page, 0),
        false => source,
    };
    Some(match is_of_map {
        true => WriteStream::MAP_COPIES,
        false if ftl.plant.is(Canary::HandlesMixed) => {
            ftl.policies.streams.copy_stream(page, WriteStream::new(0))
        }
        false => ftl.policies.streams.copy_stream(page, source),
    })
}

/// Takes a flash page for a copy in any stream that has one.
#[cold]
fn beside_other_copies<const S: Skills>(
    plane: PlaneId,
    kept_back: u32,
    ftl: &mut Ftl,
) -> Option<Ppn> {
    let map = ftl.map.mapping.dftl().map(|_| WriteStream::MAP_COPIES);
    let mut others = ftl.policies.streams.all_copy_streams().chain(map);
    others.find_map(|stream| take_page::<S>(plane, stream, kept_back, ftl))
}

/// Takes the next flash page of a stream's open block. If the block is full, opens another one,
/// provided that more than `reserve` blocks are free.
#[inline]
pub(in crate::ftl) fn take_page<const S: Skills>(
    plane: PlaneId,
    stream: WriteStream,
    reserve: u32,
    ftl: &mut Ftl,
) -> Option<Ppn> {
    let step = skills::units_of_page(S, ftl.geometry.units_per_page());
    let whole = ftl.geometry.units_per_block();
    let (block, unit) = match ftl.space.planes[plane.at()].next_page(stream, step, whole) {
        Some(place) => place,
        None => first_page::<S>(plane, stream, reserve, ftl)?,
    };
    let mut next = unit + step;
    if any(S, RARE) && ftl.features.superblock.is_some() {
        next = superblock::room::after_place(plane, stream, (block, unit), ftl);
    }
    if let Some(writable) = writable_mut(stream, ftl) {
        writable.next_unit[plane.at()] = if next == whole { 0 } else { next };
    }
    if next == whole {
        refresh_writable::<S>(plane, ftl);
    }
    Some(ftl.geometry.page_at(block, unit))
}

/// Where a stream of the host, or the stream of translation pages, may write.
#[inline]
pub(in crate::ftl) fn writable_mut(stream: WriteStream, ftl: &mut Ftl) -> Option<&mut Writable> {
    match ftl.space.writable.get_mut(stream.at()) {
        None if stream == WriteStream::MAP => ftl.space.map_writable.as_deref_mut(),
        found => found,
    }
}

/// The flash page that [`take_page`] takes next. Opens a block for it if necessary.
pub(in crate::ftl) fn next_place(
    plane: PlaneId,
    stream: WriteStream,
    reserve: u32,
    ftl: &mut Ftl,
) -> Option<Ppn> {
    let whole = ftl.geometry.units_per_block();
    if !ftl.space.planes[plane.at()].has_room(stream, whole) {
        open_block::<{ skills::ALL }>(plane, stream, reserve, ftl)?;
        refresh_writable::<{ skills::ALL }>(plane, ftl);
    }
    let mut open = ftl.space.planes[plane.at()].open_blocks();
    let (_, block, unit) = open.find(|&(of, _, next)| of == stream && next < whole)?;
    Some(ftl.geometry.page_at(block, unit))
}

/// Opens a block and takes its first flash page.
#[cold]
fn first_page<const S: Skills>(
    plane: PlaneId,
    stream: WriteStream,
    reserve: u32,
    ftl: &mut Ftl,
) -> Option<(BlockId, u32)> {
    open_block::<S>(plane, stream, reserve, ftl)?;
    let (step, whole) = (ftl.geometry.units_per_page(), ftl.geometry.units_per_block());
    let place = ftl.space.planes[plane.at()].next_page(stream, step, whole);
    refresh_writable::<S>(plane, ftl);
    place
}

fn open_block<const S: Skills>(
    plane: PlaneId,
    stream: WriteStream,
    reserve: u32,
    ftl: &mut Ftl,
) -> Option<()> {
    let for_host = stream.at() < usize::from(ftl.policies.streams.host_streams())
        || stream == WriteStream::MAP;
    if ftl.free_blocks(plane) <= reserve {
        return None;
    }
    let mut block = take_free_block(plane, for_host, ftl)?;
    if ftl.plant.is(Canary::UnitChosenTwice) {
        let mut open = ftl.space.planes[plane.at()].open_blocks();
        block = open.find(|&(of, ..)| of != stream).map_or(block, |(_, block, _)| block);
    }
    ftl.space.planes[plane.at()].open(stream, block);
    ftl.blocks.open(block, stream);
    if let Some(record) = &mut ftl.features.record {
        record.opened(block);
    }
    if ftl.features.superblock.is_some()
        && superblock::room::holds_nothing(plane, stream, block, ftl)
    {
        return None;
    }
    if stream.is_of_policy() {
        ftl.policies.streams.opened(block, stream);
    }
    Some(())
}

pub(in crate::ftl) fn take_free_block(
    plane: PlaneId,
    for_host: bool,
    ftl: &mut Ftl,
) -> Option<BlockId> {
    let state = &mut ftl.space.planes[plane.at()];
    // Data that wear levelling moves is cold: it goes to the most worn block.
    let levels = |run: &Collection| run.purpose() == Purpose::WearLevel;
    let pick = match !for_host && state.collection.as_ref().is_some_and(levels) {
        true => Pick::MostWorn,
        false => ftl.space.free_block.pick(for_host),
    };
    state.take_free(pick, |index| {
        let block = ftl.geometry.block_in(plane, index);
        (ftl.blocks.state(block) == BlockState::Free).then_some(block)
    })
}

/// Free blocks of a plane that the host may not take. There is one more while a block is being
/// retired: its pages may fill a block, and it gives none back.
fn reserve_of(plane: PlaneId, ftl: &Ftl) -> u32 {
    ftl.space.thresholds.reserve + kept_for_retired(plane, ftl)
}

/// Free blocks of a plane that are kept for the pages of a block that is being retired.
fn kept_for_retired(plane: PlaneId, ftl: &Ftl) -> u32 {
    let run = ftl.space.planes[plane.at()].collection.as_ref();
    let giving_up = run.is_some_and(|run| !run.returns_block());
    u32::from(giving_up && !ftl.health.read_only)
}

/// Free blocks of a plane without those that are set aside for failures. On devices that can't fail it is all of them.
pub(in crate::ftl) fn blocks_to_use(plane: PlaneId, ftl: &Ftl) -> u32 {
    let set_aside = ftl.space.kept_back + kept_for_retired(plane, ftl);
    ftl.free_blocks(plane).saturating_sub(set_aside)
}

/// Whether the host may write to a plane in a stream: a page is available, and the host neither
/// runs ahead of collection while free blocks are scarce, nor waits for the SLC cache.
pub(in crate::ftl) fn is_writable<const S: Skills>(
    plane: PlaneId,
    stream: WriteStream,
    ftl: &Ftl,
) -> bool {
    // Translation pages never go to the cache, so they don't wait for it either.
    let waits_for_cache = any(S, SLC) && !stream.is_of_map() && slc::cache::slc_holds(plane, ftl);
    let is_elsewhere = any(S, RARE) && !groups::admits(plane, stream, ftl);
    has_room_for_host(plane, stream, ftl) && !waits_for_cache && !is_elsewhere
}

/// The same, without regard to an SLC cache.
#[inline]
pub(in crate::ftl) fn has_room_for_host(plane: PlaneId, stream: WriteStream, ftl: &Ftl) -> bool {
    let state = &ftl.space.planes[plane.at()];
    let free = state.free_blocks();
    let room = state.has_room(stream, ftl.geometry.units_per_block());
    let collecting = state.collection.is_some() && !ftl.health.read_only;
    let dry = collecting && state.host_credit == 0;
    // With blocks to spare the host need not wait, whatever its credit.
    let paced = dry && ftl.policies.pacing.limits(&ftl.space.thresholds, free);
    !paced && (room || free > reserve_of(plane, ftl))
}

/// Updates whether the host may write to a plane. Call it after any change that this depends on.
pub(in crate::ftl) fn refresh_writable<const S: Skills>(plane: PlaneId, ftl: &mut Ftl) {
    for stream in (0..).take(ftl.space.writable.len()).map(WriteStream::new) {
        let writable = is_writable::<S>(plane, stream, ftl);
        ftl.space.writable[stream.at()].note(plane, writable, &ftl.geometry);
    }
    if any(S, RARE) && ftl.space.map_writable.is_some() {
        let writable = is_writable::<S>(plane, WriteStream::MAP, ftl);
        if let Some(map) = &mut ftl.space.map_writable {
            map.note(plane, writable, &ftl.geometry);
        }
    }
    if !any(S, SLC) {
        return;
    }
    let writable =
        ftl.features.slc.as_ref().map(|cache| slc::cache::is_slc_writable(plane, cache, ftl));
    if let (Some(writable), Some(cache)) = (writable, &mut ftl.features.slc) {
        cache.writable.note(plane, writable, &ftl.geometry);
    }
}

/// Sets where each stream continues, and the stream of each block. If the policy does not resume,
/// all full blocks count as written by the host, or as left to the victim policy.
pub(in crate::ftl) fn note_streams(resume: Resume, ftl: &mut Ftl) {
    let first = ftl.policies.streams.of_unknown();
    if !resume.streams {
        for block in (0..ftl.geometry.blocks()).map(BlockId::new) {
            let stream = ftl.blocks.stream(block);
            let unknown = groups::of_unknown(first, ftl.geometry.plane_of(block), ftl);
            if stream != unknown && stream != WriteStream::SLC && !stream.is_of_map() {
                ftl.blocks.set_stream(block, unknown);
            }
        }
        groups::knows_nothing(ftl);
    }
    let Ftl { blocks, space, features, .. } = ftl;
    let Space { planes, writable, map_writable, .. } = space;
    let slc = &mut features.slc;
    for (plane, state) in planes.iter().enumerate() {
        for (stream, block, next_unit) in state.open_blocks() {
            if stream == WriteStream::SLC {
                if let Some(cache) = slc {
                    cache.writable.next_unit[plane] = next_unit;
                }
                continue;
            }
            blocks.set_stream(block, stream);
            let found = match writable.get_mut(stream.at()) {
                None if stream == WriteStream::MAP => map_writable.as_deref_mut(),
                found => found,
            };
            if let Some(writable) = found {
                writable.next_unit[plane] = next_unit;
            }
        }
    }
}
