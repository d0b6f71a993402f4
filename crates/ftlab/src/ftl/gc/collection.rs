//! The FTL's part of a plane's collection: when one starts, of which block, and what its end gives
//! the host. The [`Collector`](super::Collector) does the work.

use crate::engine::skills;
use crate::engine::skills::{RARE, Skills, any};
use crate::ftl::gc::{
    Background, Collection, Purpose, VictimPolicy, VictimView, Wanted, kept, pacing, wanted,
};
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::streams::{Emptied, StreamsPolicy, WriteStream};
use crate::ftl::wear::{failing, levelling, life, refresh};
use crate::ftl::{BlockState, Ftl, fragments, groups, map_pages, parity, slc, superblock};
use crate::units::{BlockId, Lpn, PlaneId, Ppn, SectorMask};
use crate::verify::Canary;

/// Owners that are prefetched when a collection begins: about a cache line.
const OWNERS_AT_ONCE: u32 = 16;

/// Records the contents of a placed copy of the page at `from`.
#[inline]
pub(in crate::ftl) fn record_collected<const S: Skills>(from: Ppn, to: Ppn, ftl: &mut Ftl) {
    if any(S, RARE) && ftl.packs() {
        return fragments::record_copy_of_parts(from, to, ftl);
    }
    let page = ftl.map.spare.owner(from).expect("a page that was valid has an owner");
    let sectors = match ftl.plant.is(Canary::SectorsForgotten) {
        true => SectorMask::EMPTY,
        false => ftl.map.spare.sectors(from),
    };
    ftl.map.spare.record(to, page, sectors);
    let forgets = ftl.plant.is(Canary::CopyWithoutVersion);
    if any(S, RARE)
        && let Some(record) = ftl.features.record.as_deref_mut().filter(|_| !forgets)
    {
        record.copied(from, to);
    }
}

/// Tells the streams policy which pages of the host have been copied to `at`.
#[cold]
pub(in crate::ftl) fn tell_of_copy(at: Ppn, ftl: &mut Ftl) {
    let pages = match ftl.packs() {
        true => ftl.map.spare.parts(at).map(|part| part.map(|(page, _)| page)),
        false => [ftl.map.spare.owner(at), None],
    };
    // Translation pages have the numbers behind those of the host.
    let of_host = |page: &Lpn| page.get() < ftl.logical_pages;
    for page in pages.into_iter().flatten().filter(of_host) {
        ftl.policies.streams.copied(page);
    }
}

/// The copy of the page at `from` is programmed at `to`. It becomes current unless the page lies
/// elsewhere by now.
#[inline]
pub(in crate::ftl) fn copied_page<const S: Skills>(from: Ppn, to: Ppn, ftl: &mut Ftl) {
    let forgotten = ftl.plant.is(Canary::CopyNotMapped);
    let current = forgotten || relocate::<S>(from, to, ftl);
    if any(S, RARE) && map_pages::has_map_on_flash(ftl) {
        map_pages::note_copy(to, current, ftl);
    }
    if current {
        let (block, place) = ftl.geometry.place_of(to);
        ftl.blocks.set_valid(block, place);
        let (block, place) = ftl.geometry.place_of(from);
        ftl.blocks.clear_valid(block, place);
    } else {
        ftl.counts.gc_stale += 1;
    }
}

/// Maps the page at `from` to `to`. Returns false if the page does not lie at `from` any more.
#[inline]
pub(in crate::ftl) fn relocate<const S: Skills>(from: Ppn, to: Ppn, ftl: &mut Ftl) -> bool {
    if any(S, RARE) && ftl.packs() {
        return fragments::relocate_parts(from, to, ftl);
    }
    let page = ftl.map.spare.owner(to).expect("a copy has an owner");
    if any(S, RARE) {
        ftl.features.note_change(page);
    }
    ftl.map.mapping.relocate(page, from, to)
}

/// Whether a block that is collected for this purpose is erased at the end. A superblock always is.
pub(in crate::ftl) fn erases_victim(purpose: Purpose, ftl: &Ftl) -> bool {
    purpose.frees_block() || ftl.features.superblock.is_some()
}

/// Begins the collection of a block, and computes its gain.
pub(in crate::ftl) fn begin_collection(plane: PlaneId, wanted: Wanted, ftl: &mut Ftl) {
    let Wanted { block: victim, purpose } = wanted;
    let returns_block = slc::cache::returns_block(&wanted, ftl);
    let valid = ftl.blocks.valid(victim);
    ftl.map.spare.prefetch_row(ftl.geometry.page_at(victim, 0), OWNERS_AT_ONCE);
    let copies = valid.div_ceil(ftl.geometry.units_per_page());
    let gain = match returns_block {
        true => superblock::room::pages_to_fill(victim, ftl).saturating_sub(copies),
        false => 0,
    };
    ftl.blocks.set_state(victim, BlockState::Collecting);
    ftl.blocks.count_collection(victim);
    match ftl.blocks.is_slc(victim) {
        true => slc::cache::slc_withdrawn(victim, ftl),
        false if ftl.blocks.stream(victim).is_of_map() => map_pages::note_map_block(ftl),
        false if ftl.blocks.stream(victim) == WriteStream::REWRITES => {}
        false => {
            let stream = ftl.blocks.stream(victim);
            // Other purposes choose blocks that are cold and full.
            if matches!(purpose, Purpose::Space | Purpose::Background) {
                ftl.policies.streams.collects(victim, stream);
            }
            ftl.policies.streams.moves(stream, valid);
        }
    }
    ftl.counts.gc_runs += 1;
    ftl.counts.gc_victim_valid += u64::from(valid);
    if purpose == Purpose::Space {
        ftl.counts.space_victim_valid += u64::from(valid);
    }
    ftl.counts.by_purpose[purpose as usize].runs += 1;
    let state = &mut ftl.space.planes[plane.at()];
    state.copy_credit = ftl.space.triggers.copies_per_write.unwrap_or(0);
    state.collection = Some(Collection {
        victim,
        purpose,
        returns_block,
        next_unit: 0,
        in_flight: 0,
        moved: 0,
        stranded: false,
        erasing: false,
        erase_failed: false,
        gain,
        copies,
        earned: 0,
        copied: 0,
        handed_out: 0,
    });
    crate::ftl::room::refresh_writable::<{ skills::ALL }>(plane, ftl);
}

/// The block that a plane empties next. Requested blocks go first. A block that is being retired
/// waits while only the reserve is left: it gives none back for the block that its pages may fill.
pub(in crate::ftl) fn next_to_collect(plane: PlaneId, ftl: &mut Ftl) -> Option<Wanted> {
    if ftl.health.read_only {
        return None;
    }
    let state = &ftl.space.planes[plane.at()];
    if let Some(at) = state.wanted.iter().position(|wanted| may_go(plane, wanted, ftl)) {
        return ftl.space.planes[plane.at()].wanted.remove(at);
    }
    if let Some(block) = borrowed_to_fold(plane, ftl) {
        return Some(Wanted { block, purpose: Purpose::Fold });
    }
    choose_victim(plane, Purpose::Space, ftl).or_else(|| refresh::refresh_instead(plane, ftl))
}

/// The block that the SLC cache borrowed first, if the plane has room for its valid pages.
fn borrowed_to_fold(plane: PlaneId, ftl: &Ftl) -> Option<BlockId> {
    let oldest = slc::cache::oldest_borrowed(plane, ftl);
    oldest.filter(|&block| life::can_empty(plane, block, ftl))
}

/// Whether a requested block may be emptied now.
fn may_go(plane: PlaneId, wanted: &Wanted, ftl: &Ftl) -> bool {
    let to_spare = ftl.free_blocks(plane) > ftl.space.thresholds.reserve;
    (to_spare || slc::cache::returns_block(wanted, ftl))
        && life::can_empty(plane, wanted.block, ftl)
}

/// Whether an idle plane has something to collect: a requested block, or a closed block that would
/// free a flash page.
pub(in crate::ftl) fn has_something_to_collect(plane: PlaneId, ftl: &Ftl) -> bool {
    let state = &ftl.space.planes[plane.at()];
    if ftl.health.read_only || state.collection.is_some() {
        return false;
    }
    let worth = |&block: &BlockId| {
        superblock::room::is_worth_collecting(block, ftl) && life::can_empty(plane, block, ftl)
    };
    let blocks = ftl.geometry.shape().blocks_per_plane;
    state.wanted.iter().any(|wanted| may_go(plane, wanted, ftl))
        || borrowed_to_fold(plane, ftl).is_some()
        || (0..blocks)
            .map(|index| ftl.geometry.block_in(plane, index))
            .filter(|&block| {
                ftl.blocks.state(block) == BlockState::Closed && !ftl.blocks.is_slc(block)
            })
            .any(|block| worth(&block))
}

/// The victim of the policy, if the plane has room for its valid pages.
fn choose_victim(plane: PlaneId, purpose: Purpose, ftl: &mut Ftl) -> Option<Wanted> {
    let mut block = match ftl.policies.streams.keeps_blocks() {
        false => ftl.policies.victim.choose(&VictimView { plane, blocks: &ftl.blocks })?,
        true => kept::choose(plane, ftl)?,
    };
    if !superblock::room::is_worth_collecting(block, ftl) {
        block = superblock::room::choose_narrow(plane, block, ftl)?;
    }
    if !life::can_empty(plane, block, ftl) {
        kept::offer(block, ftl);
        life::note_no_room(ftl);
        return None;
    }
    Some(Wanted { block, purpose })
}

/// Whether a plane's collection neither yields to the host nor waits for it: free blocks are at the
/// hard limit, or some stream of the host finds no room on the plane.
pub(in crate::ftl) fn is_urgent(plane: PlaneId, ftl: &Ftl) -> bool {
    let streams = ftl.policies.streams.all_host_streams();
    let mut own = streams.filter(|&stream| groups::admits(plane, stream, ftl));
    ftl.free_blocks(plane) <= ftl.space.triggers.hard_limit
        || own.any(|stream| !ftl.may_write(plane, stream))
        || ftl.space.map_stalled > 0 && !crate::ftl::room::may_write_map(plane, ftl)
}

/// The block to collect next on a plane while the host is idle, if there is one.
pub(in crate::ftl) fn next_in_background(plane: PlaneId, ftl: &mut Ftl) -> Option<Wanted> {
    let Background { blocks, .. } = ftl.space.triggers.background?;
    if ftl.health.read_only || ftl.free_blocks(plane) >= blocks {
        return None;
    }
    choose_victim(plane, Purpose::Background, ftl)
}

/// Whether a plane's collection may make one more copy now, or erase. Charges the copy to the
/// credit that the host's writes gave. `idle`: the host has nothing to do.
#[inline]
pub(in crate::ftl) fn may_go_on(plane: PlaneId, copying: bool, idle: bool, ftl: &mut Ftl) -> bool {
    let triggers = &ftl.space.triggers;
    if triggers.background.is_none() && triggers.copies_per_write.is_none() {
        return true;
    }
    is_due(plane, copying, idle, ftl)
}

fn is_due(plane: PlaneId, copying: bool, idle: bool, ftl: &mut Ftl) -> bool {
    let Some(run) = &ftl.space.planes[plane.at()].collection else { return false };
    let short = ftl.free_blocks(plane) <= ftl.space.thresholds.start;
    // Other requests to the plane can't begin before this run ends.
    if run.purpose == Purpose::Background && !short {
        return idle || wanted::has_wanted(plane, ftl);
    }
    // The cache has rules of its own, and ageing data can't wait for the host.
    let ages = || ftl.space.planes[plane.at()].waits_for(Purpose::Refresh);
    if matches!(run.purpose, Purpose::Fold | Purpose::Refresh) || ages() {
        return true;
    }
    if ftl.space.triggers.copies_per_write.is_none() || idle || !copying || is_urgent(plane, ftl) {
        return true;
    }
    let credit = &mut ftl.space.planes[plane.at()].copy_credit;
    let left = credit.checked_sub(1);
    *credit = left.unwrap_or(0);
    left.is_some()
}

pub(in crate::ftl) fn erasing(plane: PlaneId, ftl: &mut Ftl) {
    if let Some(run) = &mut ftl.space.planes[plane.at()].collection {
        run.erasing = true;
    }
}

/// Tells the streams policy that a collection has ended.
pub(super) fn tell_streams(run: &Collection, erased: bool, ftl: &mut Ftl) {
    let erased = if erased { ftl.blocks.units_of(run.victim) } else { 0 };
    let stream = ftl.blocks.stream(run.victim);
    ftl.policies.streams.emptied(stream, Emptied { moved: run.moved, erased });
}

/// The victim is empty: frees or retires it, and credits the host.
pub(in crate::ftl) fn end_collection(plane: PlaneId, run: &Collection, ftl: &mut Ftl) {
    let erased =
        erases_victim(run.purpose, ftl) && !failing::erase_fails(run.victim, run.erase_failed, ftl);
    tell_streams(run, erased, ftl);
    if ftl.blocks.is_slc(run.victim) {
        slc::cache::slc_emptied(run.victim, erased, ftl);
    }
    if erased {
        ftl.blocks.reset(run.victim);
        ftl.map.spare.erased(run.victim);
        if !run.returns_block {
            return;
        }
        let pages = superblock::room::pages_to_fill(run.victim, ftl);
        let state = &mut ftl.space.planes[plane.at()];
        state.give_back(run.victim, ftl.blocks.erases(run.victim));
        if ftl.plant.is(Canary::BlockFreeTwice) {
            state.give_back(run.victim, ftl.blocks.erases(run.victim));
        }
        pacing::earn_by_erase(plane, run, pages, ftl);
        if let Some(block) = levelling::level(run.victim, run.purpose, ftl) {
            wanted::want(Wanted { block, purpose: Purpose::WearLevel }, ftl);
        }
    } else {
        if ftl.blocks.stream(run.victim).is_of_map() {
            map_pages::note_lost_map_block(ftl);
        }
        ftl.blocks.retire(run.victim);
        parity::forget(run.victim, ftl);
        fragments::room::refresh_pack_room(ftl);
        crate::ftl::room::refresh_writable::<{ skills::ALL }>(plane, ftl);
    }
}
