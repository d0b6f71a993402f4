//! Rebuilds an FTL from the contents of flash: which copy of each page counts, the new state of
//! each block, and the reads that this needs.
//!
//! The decisions depend only on [`Left`]: versions, owners and sectors in the spare areas, how far
//! blocks are programmed, and the system area with the journal, checkpoints, and lists of bad
//! blocks and of pages that are lost or never count. The model treats the pages of an incomplete
//! cycle as known, as if the spare areas recorded them.
//!
//! Of dies that do not answer, the [index](crate::ftl::journal) knows what the spare areas said. Their blocks take part
//! like the others until the map is found.

use std::collections::BTreeSet;

use crate::engine::skills;
use crate::ftl::gc::{Purpose, VictimPolicy, VictimView, Wanted, wanted};
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::merge::fold;
use crate::ftl::recovery::plan::is_scanned;
use crate::ftl::recovery::{Erasing, Left, RecoveryPlan, packed, snapshot};
use crate::ftl::streams::StreamsPolicy;
use crate::ftl::superblock::deaths;
use crate::ftl::wear::{dies, failing, life};
use crate::ftl::{BlockState, Blocks, Ftl, fragments, groups, lost, parity, recovery, slc};
use crate::image::{Damage, Resume};
use crate::units::{BlockId, DieId, Lpn, PlaneId, Ppn, Tpn};
use crate::verify::Canary;

/// The findings of recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryFindings {
    /// Mapped logical pages.
    pub pages: u64,
    /// Flash pages whose program was cut.
    pub torn: u64,
    /// Mapping units that were on flash but did not count yet, because their cycle was not
    /// complete.
    pub rolled_back: u64,
    /// Blocks whose erase was cut, or whose erase completed before power was cut again, so that
    /// recovery cannot tell.
    pub half_erased: u64,
    /// Blocks that were open and are closed early.
    pub closed_early: u64,
}

/// Rebuilds the state of a newly built FTL after a power cut.
///
/// # Errors
/// If the contents of flash contradict each other.
pub(crate) fn recover(
    left: Left,
    ftl: &mut Ftl,
) -> Result<(RecoveryFindings, RecoveryPlan), Damage> {
    life::forget_factory_bad(ftl);
    fold::forget_data_blocks(ftl);
    let Left { spare, blocks, lost, mut record, weak, torn, landed, half_erased, dead, .. } = left;
    if let (Some(state), Some(members)) = (&mut ftl.features.superblock, left.members) {
        state.members.come_up(members);
    }
    if let Some(stripes) = left.stripes {
        ftl.features.stripes = Some(stripes);
    }
    record.dead.clone_from(&dead);
    (ftl.map.spare, ftl.features.record) = (spare, Some(record));
    if !ftl.plant.is(Canary::LostMarksForgotten) {
        ftl.map.lost = lost;
    }
    if let (Some(life), Some((key, end))) = (ftl.health.life.as_deref_mut(), weak) {
        life.faults.set_key(key);
        life.come_to(end, left.failures);
    }
    let begun: BTreeSet<Ppn> = torn.iter().chain(&landed).copied().collect();
    let mut plan = recovery::plan::plan(&blocks, &half_erased, &begun, ftl);
    plan.marks_void = !landed.is_empty();
    plan.dead.clone_from(&dead);
    plan.bad.extend(ftl.features.members().into_iter().flat_map(|members| members.bad_blocks()));
    if ftl.plant.is(Canary::HalfCycleCounts) {
        count_half_a_cycle(&landed, ftl);
    }
    forget_what_did_not_count(&blocks, &half_erased, ftl);
    let written = begun.iter().map(|&at| ftl.geometry.block_of(at));
    let written = marks(written.chain(half_erased.iter().copied()), ftl);
    let closed_early = take_blocks(&blocks, &written, &mut plan, ftl);
    find_map(&mut plan, ftl)?;
    go_to_work(&left.used, &left.giving_up, &mut plan, ftl);
    give_dead_dies_up(&dead, ftl);
    plan.stripes = parity::come_up(&half_erased, ftl);
    parity::rebuild::find_exposed(ftl);
    recover_map_on_flash(&left.stale_map, &left.lay, &mut plan, ftl);
    snapshot::give_up_checkpoint(ftl);
    let pages = (0..ftl.logical_pages).map(Lpn::new);
    let found = RecoveryFindings {
        pages: pages.filter(|&page| ftl.map.mapping.look_up(page).is_some()).count() as u64,
        torn: torn.len() as u64,
        rolled_back: landed.len() as u64 * u64::from(ftl.geometry.units_per_page()),
        half_erased: half_erased.len() as u64,
        closed_early,
    };
    Ok((found, plan))
}

/// Goes on without the dies that did not answer. What the index says lay there stays mapped, so that reads of it fail.
fn give_dead_dies_up(dead: &[DieId], ftl: &mut Ftl) {
    if dead.is_empty() {
        return;
    }
    dead.iter().for_each(|&die| deaths::die_died(die, ftl));
    life::recount_losses(ftl);
    // Nothing is in flight that would have to go elsewhere, and nobody watches yet.
    dies::has_news_of_death(ftl);
    dies::take_found_dead(ftl);
}

/// A planted bug: the pages of an incomplete cycle count if they are on flash.
fn count_half_a_cycle(landed: &[Ppn], ftl: &mut Ftl) {
    let units = ftl.geometry.units_per_page();
    if let Some(record) = ftl.features.record.as_deref_mut() {
        landed.iter().for_each(|&at| record.landed(at, units));
    }
}

/// Maps every page to its current copy.
fn find_map(plan: &mut RecoveryPlan, ftl: &mut Ftl) -> Result<(), Damage> {
    if ftl.map.mapping.has_log() {
        return recovery::log::recover_log(plan, ftl);
    }
    if ftl.packs() {
        return packed::recover_fragments(ftl);
    }
    let winners = winners(ftl);
    if let Some(map) = ftl.map.mapping.dftl_mut() {
        map.begin_load();
    }
    for (page, at) in (0..).map(Lpn::new).zip(winners) {
        at.into_iter().for_each(|at| put_back(page, at, ftl));
    }
    if let Some(map) = ftl.map.mapping.dftl_mut() {
        map.end_load();
    }
    Ok(())
}

/// Maps a page to its current copy.
pub(in crate::ftl) fn put_back(page: Lpn, at: Ppn, ftl: &mut Ftl) {
    let (block, unit) = ftl.geometry.place_of(at);
    ftl.blocks.set_valid(block, unit);
    ftl.map.mapping.commit(page, at);
}

/// Restores the state of every plane: its free and closed blocks, and the work to do on them.
fn go_to_work(used: &[u32], giving_up: &[BlockId], plan: &mut RecoveryPlan, ftl: &mut Ftl) {
    list_blocks(used, ftl);
    make_room(giving_up, plan, ftl);
    close_blocks(ftl);
    // The spare area says for which handle a block was opened.
    let streams = ftl.policies.streams.hears_of_requests();
    crate::ftl::room::note_streams(Resume { streams, ..Resume::NONE }, ftl);
    for &block in giving_up {
        if !is_on_dead_die(block, ftl) {
            wanted::want(Wanted { block, purpose: Purpose::Retire }, ftl);
        }
    }
    life::recount_losses(ftl);
    groups::begin(ftl);
    fragments::room::refresh_pack_room(ftl);
    let planes: Vec<PlaneId> = (0..ftl.geometry.planes()).map(PlaneId::new).collect();
    planes
        .iter()
        .for_each(|&plane| crate::ftl::room::refresh_writable::<{ skills::ALL }>(plane, ftl));
    ftl.space.fed = planes;
}

/// Records in the spare area that the first or second logical page placed at a physical page is
/// already trimmed.
pub(crate) fn never_counts(at: Ppn, second: bool, ftl: &mut Ftl) {
    if let Some(record) = ftl.features.record.as_deref_mut() {
        record.never_counts(at, second);
    }
}

/// Records loaded data as being on flash and counting.
pub(in crate::ftl) fn begin_record(ftl: &mut Ftl) {
    let Some(mut record) = ftl.features.record.take() else { return };
    let open = (0..ftl.geometry.blocks()).map(BlockId::new);
    let open = open.filter(|&block| ftl.blocks.state(block) == BlockState::Open);
    for block in ftl.blocks.by_closing().into_iter().chain(open) {
        record.opened(block);
        if let Some((tables, _)) = ftl.map.mapping.log() {
            record.set_role(block, tables.role_of(block));
        }
    }
    for page in (0..ftl.logical_pages).map(Lpn::new) {
        for part in ftl.fragments(page).into_iter().rev().flatten() {
            let second = ftl.packs()
                && ftl.map.spare.parts(part.at)[1].is_some_and(|(owner, _)| owner == page);
            record.holds(part.at, second);
        }
    }
    if let Some(map) = ftl.map.mapping.dftl() {
        for page in (ftl.logical_pages..map.all_pages()).map(Lpn::new) {
            ftl.look_up(page).into_iter().for_each(|at| record.holds(at, false));
        }
    }
    ftl.features.record = Some(record);
    snapshot::checkpoint_at_rest(ftl);
}

/// After a load: the logical pages on flash that the record names. Each has a version of its own.
pub(crate) fn pages_on_record(ftl: &Ftl) -> u64 {
    ftl.features.record.as_ref().map_or(0, |record| record.next() - 1)
}

/// Marks programmed pages void that do not count: torn pages, pages of an incomplete cycle, and all
/// pages of a half-erased block.
fn forget_what_did_not_count(blocks: &Blocks, half_erased: &[BlockId], ftl: &mut Ftl) {
    let units = ftl.geometry.units_per_page();
    let believed = match ftl.plant {
        plant if plant.is(Canary::TornPageBelieved) => units,
        plant if plant.is(Canary::TornPartBelieved) => units / 2,
        _ => 0,
    };
    let Some(record) = ftl.features.record.as_deref_mut() else { return };
    for &block in half_erased {
        record.void(ftl.geometry.page_at(block, 0), ftl.geometry.units_per_block());
    }
    for block in (0..ftl.geometry.blocks()).map(BlockId::new) {
        if !blocks.is_used(block) {
            continue;
        }
        for unit in (0..ftl.geometry.units_per_block()).step_by(units as usize) {
            let first = ftl.geometry.page_at(block, unit);
            let pages = (first.get()..first.get() + units).map(Ppn::new);
            if pages.clone().any(|at| record.is_pending(at)) {
                record.landed(first, believed);
                record.void(Ppn::new(first.get() + believed), units - believed);
            }
        }
    }
}

/// Sets the new state of each block: bad, free or closed, even if a closed one holds no data.
/// `written` is, by block, whether a program or an erase was under way on it. Returns how many open
/// blocks are closed early.
fn take_blocks(before: &Blocks, written: &[bool], plan: &mut RecoveryPlan, ftl: &mut Ftl) -> u64 {
    let mut closed_early = 0;
    for block in (0..ftl.geometry.blocks()).map(BlockId::new) {
        if !before.is_used(block) {
            continue;
        }
        let state = match before.state(block) {
            BlockState::Bad => BlockState::Bad,
            _ if before.programmed(block) > 0 || written[block.at()] => BlockState::Closed,
            _ => BlockState::Free,
        };
        let open = before.state(block) == BlockState::Open;
        closed_early += u64::from(open && state == BlockState::Closed);
        ftl.blocks.take_up(before, block, state);
        if open && state == BlockState::Free && !is_on_dead_die(block, ftl) {
            // It looks erased, but an operation may have begun on it, and what was placed there may have been marked.
            ftl.blocks.reset_after_cut(block);
            let first = ftl.geometry.page_at(block, 0);
            lost::forget_block(first, ftl.geometry.units_per_block(), ftl);
            parity::forget(block, ftl);
            plan.erases.push(Erasing { block, mode: before.mode(block) });
        }
    }
    closed_early
}

/// Returns the place of the highest version of each logical page. Of several copies of a version,
/// the one in the block that was opened first counts. Pages in the checkpoint are not scanned
/// again.
fn winners(ftl: &Ftl) -> Vec<Option<Ppn>> {
    let pages = ftl.map.mapping.dftl().map_or(ftl.logical_pages, |map| map.all_pages());
    let mut best = vec![(0, None); pages as usize];
    let record = ftl.features.record.as_deref().expect("a device that recovers has a record");
    let prefers_older = ftl.plant.is(Canary::OlderVersionWins);
    let scanned = scanned_blocks(ftl);
    let is_scanned = marks(scanned.iter().copied(), ftl);
    if let Some(snapshot) = &record.snapshot {
        for (page, entry) in snapshot.entries() {
            let stays = |at: &Ppn| {
                // A block that was retired since keeps its contents, but its pages were copied.
                let block = ftl.geometry.block_of(*at);
                let in_use = ftl.blocks.state(block) == BlockState::Closed;
                let known = record.version(*at, false).map(|(version, _)| version);
                in_use && !is_scanned[block.at()] && known == Some(entry.version)
            };
            let place = entry.place().filter(stays);
            if !record.is_trimmed(page, entry.version) && !is_forgotten(entry.place(), ftl) {
                best[page.at()] = (entry.version, place);
            }
        }
    }
    for at in scanned.iter().flat_map(|&block| pages_of(block, ftl)) {
        let Some(((version, _), page)) = record.version(at, false).zip(ftl.map.spare.owner(at))
        else {
            continue;
        };
        let (known, place) = best[page.at()];
        // Of copies of one version, one that can be read is as good as the other.
        let is_gone = |place: Ppn| is_dead_place(place, ftl) && !is_dead_place(at, ftl);
        let newer = version > known || version == known && place.is_none_or(is_gone);
        let newer = if prefers_older { place.is_none() } else { newer };
        if newer && !is_deallocated(page, version, ftl) {
            best[page.at()] = (version, Some(at));
        }
    }
    best.into_iter().map(|(_, place)| place).collect()
}

/// Whether a version of a page is older than a trim of the page.
pub(in crate::ftl) fn is_deallocated(page: Lpn, version: u64, ftl: &Ftl) -> bool {
    let forgotten = ftl.plant.is(Canary::DeallocationForgotten);
    ftl.features.record.as_ref().is_some_and(|record| record.is_trimmed(page, version))
        && !forgotten
}

/// Returns, by block, whether it is one of `blocks`.
pub(in crate::ftl) fn marks(blocks: impl Iterator<Item = BlockId>, ftl: &Ftl) -> Vec<bool> {
    let mut marks = vec![false; ftl.geometry.blocks() as usize];
    blocks.for_each(|block| marks[block.at()] = true);
    marks
}

/// Returns all physical pages of a block.
pub(in crate::ftl) fn pages_of(block: BlockId, ftl: &Ftl) -> impl Iterator<Item = Ppn> + use<> {
    let first = ftl.geometry.page_at(block, 0).get();
    (first..first + ftl.geometry.units_per_block()).map(Ppn::new)
}

/// Whether a block is on a die that did not answer at power-up.
pub(super) fn is_on_dead_die(block: BlockId, ftl: &Ftl) -> bool {
    let record = ftl.features.record.as_deref();
    let Some(record) = record.filter(|record| !record.dead.is_empty()) else { return false };
    let is_dead = |die: DieId| record.dead.contains(&die);
    match ftl.features.members() {
        None => is_dead(ftl.geometry.die_of(ftl.geometry.plane_of(block))),
        Some(members) => {
            let flash = members.flash();
            let mut blocks = flash.blocks_of_superblock(block);
            blocks.all(|block| is_dead(flash.die_of(flash.plane_of(block))))
        }
    }
}

/// Whether a page is on a dead die.
fn is_dead_place(at: Ppn, ftl: &Ftl) -> bool {
    let record = ftl.features.record.as_deref();
    let Some(record) = record.filter(|record| !record.dead.is_empty()) else { return false };
    record.dead.contains(&match ftl.features.members() {
        None => ftl.geometry.die_of_page(at),
        Some(members) => members.flash().die_of_page(at),
    })
}

/// A planted bug: a place on a dead die is as good as none.
fn is_forgotten(place: Option<Ppn>, ftl: &Ftl) -> bool {
    ftl.plant.is(Canary::ForgetsTheDead) && place.is_some_and(|at| is_dead_place(at, ftl))
}

/// Returns the blocks whose spare areas are all read, in the order in which they were opened. Those of dead dies, which
/// the index replaces, come last: a copy on another die is as good as one that can't be read, and better.
pub(in crate::ftl) fn scanned_blocks(ftl: &Ftl) -> Vec<BlockId> {
    let record = ftl.features.record.as_deref().expect("a device that recovers has a record");
    let all = (0..ftl.geometry.blocks()).map(BlockId::new);
    let mut scanned: Vec<BlockId> = all
        .filter(|&block| ftl.blocks.state(block) == BlockState::Closed)
        .filter(|&block| is_scanned(record, block) || is_on_dead_die(block, ftl))
        .filter(|&block| !is_forgotten(Some(ftl.geometry.page_at(block, 0)), ftl))
        .collect();
    scanned.sort_by_key(|&block| (is_on_dead_die(block, ftl), record.opening(block)));
    scanned
}

/// Lists the free blocks of each plane.
fn list_blocks(used: &[u32], ftl: &mut Ftl) {
    for (plane, &used) in (0..).map(PlaneId::new).zip(used) {
        ftl.space.planes[plane.at()].restart(used);
        life::recount_unused(plane, ftl);
        for index in 0..used {
            let block = ftl.geometry.block_in(plane, index);
            if ftl.blocks.state(block) == BlockState::Free {
                let erases = ftl.blocks.erases(block);
                ftl.space.planes[plane.at()].give_back(block, erases);
            }
        }
    }
}

/// Erases blocks without current data on planes that are short of free blocks. Garbage collection
/// may have taken the last free block for copies that are garbage now. An SLC cache's own blocks would not help.
fn make_room(giving_up: &[BlockId], plan: &mut RecoveryPlan, ftl: &mut Ftl) {
    if ftl.map.mapping.has_log() {
        return;
    }
    let leaving = marks(giving_up.iter().copied(), ftl);
    for block in (0..ftl.geometry.blocks()).map(BlockId::new) {
        let plane = ftl.geometry.plane_of(block);
        let short = ftl.free_blocks(plane) <= ftl.space.thresholds.start;
        let empty = ftl.blocks.state(block) == BlockState::Closed && ftl.blocks.valid(block) == 0;
        let stays = leaving[block.at()] || is_on_dead_die(block, ftl);
        let may_go = short && empty && !stays && !slc::cache::is_own_slc(block, ftl);
        if may_go && erase_at_power_up(block, plan, ftl) {
            let erases = ftl.blocks.erases(block);
            ftl.space.planes[plane.at()].give_back(block, erases);
        }
    }
}

/// Erases a block without current data before the device is ready. Returns whether the erase
/// succeeded.
pub(in crate::ftl) fn erase_at_power_up(
    block: BlockId,
    plan: &mut RecoveryPlan,
    ftl: &mut Ftl,
) -> bool {
    lost::forget_block(ftl.geometry.page_at(block, 0), ftl.geometry.units_per_block(), ftl);
    parity::forget(block, ftl);
    plan.erases.push(Erasing { block, mode: ftl.blocks.mode(block) });
    match failing::erase_fails(block, false, ftl) {
        true => {
            ftl.blocks.retire(block);
            false
        }
        false => {
            ftl.blocks.reset_after_cut(block);
            true
        }
    }
}

/// Closes the blocks that are not free, in the order in which they were opened.
fn close_blocks(ftl: &mut Ftl) {
    let mut closed: Vec<BlockId> = (0..ftl.geometry.blocks())
        .map(BlockId::new)
        .filter(|&block| ftl.blocks.state(block) == BlockState::Closed)
        .collect();
    let record = ftl.features.record.as_deref().expect("a device that recovers has a record");
    closed.sort_by_key(|&block| record.opening(block));
    slc::cache::recover_slc(ftl);
    for block in closed {
        ftl.blocks.close(block);
        if ftl.blocks.is_slc(block) {
            slc::cache::slc_loaded(block, ftl);
        } else if !ftl.map.mapping.has_log() {
            let plane = ftl.geometry.plane_of(block);
            ftl.policies.victim.closed(&VictimView { plane, blocks: &ftl.blocks }, block);
        }
    }
}

/// If the map is stored on flash, schedules the update of the translation pages that differ from the recovered map. Without
/// checkpoints all of them are read to find these.
fn recover_map_on_flash(
    stale: &[Tpn],
    lay: &[Option<Ppn>],
    plan: &mut RecoveryPlan,
    ftl: &mut Ftl,
) {
    let unreadable = map_pages_on_dead_dies(ftl);
    let Some(map) = ftl.map.mapping.dftl_mut() else { return };
    // A checkpoint says where translation pages lay and which entries differed from them. Versions tell which of the pages
    // that were scanned are newer than their translation pages.
    let is_checked = ftl.features.record.as_ref().is_some_and(|record| record.snapshot.is_some());
    if !is_checked {
        plan.map_pages += map.translation_pages() - unreadable.len() as u32;
    }
    let wrong: Vec<Tpn> = stale.iter().copied().chain(unreadable).collect();
    map.recovered(&wrong, lay);
}

/// The translation pages of which some part is on a die that does not answer. What they held is known again: the index
/// names all places.
fn map_pages_on_dead_dies(ftl: &Ftl) -> Vec<Tpn> {
    let Some(map) = ftl.map.mapping.dftl() else { return Vec::new() };
    let is_dead = |page: Lpn| map.look_up(page).is_some_and(|at| is_dead_place(at, ftl));
    let all = (0..map.translation_pages()).map(Tpn::new);
    all.filter(|&of| map.pages_of(of).any(is_dead)).collect()
}
