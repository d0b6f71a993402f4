//! The FTL's part of writes into the log and of merges: which page is used, what is copied, and
//! what happens to the blocks. The [`Merger`](super::Merger) issues the flash commands.

use crate::ftl::gc::Purpose;
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::mapping::hybrid::{DataBlock, LogPage, LogTables, LogView, Room, Spot};
use crate::ftl::merge::MergeCounts;
use crate::ftl::recovery::Role;
use crate::ftl::streams::WriteStream;
use crate::ftl::{Ftl, recovery};
use crate::units::{BlockId, Lpn, PlaneId, Ppn, SectorMask};
use crate::verify::Canary;

/// A merge in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    pub data: DataBlock,
    /// The block that will hold the data block.
    pub target: BlockId,
    /// Whether the target is a log block of this data block.
    inherits: bool,
    /// The next offset to look at.
    next: u32,
    copied: u32,
}

/// The copy of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageCopy {
    pub from: Ppn,
    pub to: Ppn,
}

/// Returns a read-only view of the log.
#[inline]
pub(crate) fn log_view(ftl: &Ftl) -> Option<LogView<'_>> {
    let (tables, _) = ftl.map.mapping.log()?;
    Some(LogView { tables, blocks: &ftl.blocks, spare: &ftl.map.spare })
}

/// Returns the tables of the log.
fn log_tables(ftl: &Ftl) -> &LogTables {
    ftl.map.mapping.log().expect("a mapping with a log").0
}

fn log_tables_mut(ftl: &mut Ftl) -> &mut LogTables {
    ftl.map.mapping.log_mut().expect("a mapping with a log")
}

/// Returns where a page can be written.
#[inline]
pub(crate) fn room_in_log(page: Lpn, ftl: &Ftl) -> Room {
    let (tables, room) = ftl.map.mapping.log().expect("a mapping with a log");
    let view = LogView { tables, blocks: &ftl.blocks, spare: &ftl.map.spare };
    room(&view, tables.spot(page))
}

/// Returns the plane of a page.
#[inline]
pub(crate) fn log_plane_of(page: Lpn, ftl: &Ftl) -> PlaneId {
    let tables = log_tables(ftl);
    tables.plane_of(tables.spot(page).data)
}

/// Takes a physical page for a write. Returns `None` if a log block has to be emptied first.
#[inline]
pub(crate) fn place_in_log(page: Lpn, ftl: &mut Ftl) -> Option<Ppn> {
    let spot = log_tables(ftl).spot(page);
    loop {
        let room = room_in_log(page, ftl);
        let (block, offset) = match room {
            Room::After(_) => return None,
            Room::NewData => {
                let block = take_erased(spot, ftl);
                log_tables_mut(ftl).open_data(spot.data, block);
                (block, spot.offset)
            }
            Room::InData => (log_tables(ftl).block_of(spot.data)?, spot.offset),
            Room::NewLog(home) => {
                open_log(log_tables(ftl).plane_of(spot.data), home, ftl);
                continue;
            }
            Room::InLog(log, LogPage::Next) => (log, log_tables(ftl).taken(log)),
            Room::InLog(log, LogPage::Own) => (log, spot.offset),
        };
        let tables = log_tables_mut(ftl);
        tables.take(block, offset, spot.offset);
        if matches!(room, Room::InLog(..)) && tables.home_of(block).is_some() {
            let plane = tables.plane_of(spot.data);
            tables.touch(plane, block);
        }
        return Some(ftl.geometry.page_at(block, offset));
    }
}

fn take_erased(spot: Spot, ftl: &mut Ftl) -> BlockId {
    let block = take_erased_on(log_tables(ftl).plane_of(spot.data), ftl);
    recovery::log::note_role(block, Role::Data(spot.data), ftl);
    block
}

fn take_erased_on(plane: PlaneId, ftl: &mut Ftl) -> BlockId {
    let block = crate::ftl::room::take_free_block(plane, true, ftl);
    let block = block.expect("data, log and two further blocks fit into a plane");
    ftl.blocks.open(block, WriteStream::new(0));
    if let Some(record) = &mut ftl.features.record {
        record.opened(block);
    }
    block
}

fn open_log(plane: PlaneId, home: Option<DataBlock>, ftl: &mut Ftl) -> BlockId {
    let block = take_erased_on(plane, ftl);
    log_tables_mut(ftl).open(plane, block, home);
    recovery::log::note_role(block, home.map_or(Role::Log, Role::HomedLog), ftl);
    block
}

/// Records that a page of a block was programmed. Skipped pages before it stay unused until the
/// next erase.
#[inline]
pub(in crate::ftl) fn programmed_in_log(at: Ppn, ftl: &mut Ftl) {
    let (block, offset) = ftl.geometry.place_of(at);
    let before = ftl.blocks.programmed(block);
    let more = offset + 1 - before;
    if let Some(record) = &mut ftl.features.record {
        record.landed(ftl.geometry.page_at(block, before), more);
    }
    if ftl.blocks.add_programmed(block, more) == ftl.geometry.units_per_block() {
        ftl.blocks.close(block);
    }
}

/// Begins the merge of a data block: in a log block of its own if that can become the data block,
/// otherwise in an erased block. Returns `None` if no page of the data block is left.
pub(super) fn begin_fold(data: DataBlock, ftl: &mut Ftl) -> Option<Fold> {
    let tables = log_tables(ftl);
    if let Some(target) = tables.heir(data, &ftl.blocks) {
        return Some(Fold { data, target, inherits: true, next: tables.taken(target), copied: 0 });
    }
    let some = log_view(ftl)?.cost(data).copies > 0;
    let target = some.then(|| take_erased(Spot { data, offset: 0 }, ftl))?;
    Some(Fold { data, target, inherits: false, next: 0, copied: 0 })
}

/// Prefetches the data that the next merges of a plane will touch, in stages: the state of the
/// third data block, the places of the newest copies of the second, and the blocks of the first.
pub(in crate::ftl) fn prefetch_folds(plane: PlaneId, next: &[DataBlock], ftl: &Ftl) {
    let tables = log_tables(ftl);
    if let Some(&third) = next.get(2) {
        tables.prefetch_data(third);
    }
    if let Some(&second) = next.get(1) {
        tables.prefetch_newer(second);
    }
    let Some(&first) = next.first() else { return };
    let old = tables.block_of(first).map(|block| ftl.geometry.page_at(block, 0));
    let copies = tables.newer(first).map(|(_, at)| at);
    copies.chain(old).for_each(|at| ftl.blocks.prefetch(&ftl.geometry, at));
    if let Some(target) = ftl.space.planes[plane.at()].next_free() {
        let first = ftl.geometry.page_at(target, 0);
        ftl.blocks.prefetch(&ftl.geometry, first);
        ftl.map.spare.prefetch_row(first, ftl.geometry.units_per_block());
    }
}

/// Returns the next copy that a merge needs, and takes its target page.
#[inline]
pub(super) fn next_copy(fold: &mut Fold, ftl: &mut Ftl) -> Option<PageCopy> {
    let pages = ftl.geometry.units_per_block();
    while fold.next < pages {
        let spot = Spot { data: fold.data, offset: fold.next };
        fold.next += 1;
        if let Some(newest) = log_tables(ftl).newest_at(spot) {
            let from = match ftl.plant.is(Canary::NewerCopyForgotten) && spot.offset == 0 {
                true => older_copy(spot, ftl).unwrap_or(newest),
                false => newest,
            };
            fold.copied += 1;
            let to = ftl.geometry.page_at(fold.target, spot.offset);
            log_tables_mut(ftl).take(fold.target, spot.offset, spot.offset);
            return Some(record_copy(from, to, ftl));
        }
    }
    None
}

/// Returns the outdated copy of a page that its data block holds.
fn older_copy(spot: Spot, ftl: &Ftl) -> Option<Ppn> {
    let block = log_tables(ftl).block_of(spot.data)?;
    let at = ftl.geometry.page_at(block, spot.offset);
    (ftl.map.spare.owner(at) == Some(log_tables(ftl).page_at(spot))).then_some(at)
}

/// Returns the next page to move out of a log block after the throttle stopped its merges, and
/// takes the new page. Returns `None` if no page from `from` on is valid.
pub(super) fn next_move(victim: BlockId, from: u32, ftl: &mut Ftl) -> Option<PageCopy> {
    let at = ftl.blocks.next_valid(victim, from)?;
    let plane = ftl.geometry.plane_of(victim);
    let tables = log_tables(ftl);
    let open = tables.active(plane).filter(|&log| log != victim && !tables.is_full(log));
    let log = open.unwrap_or_else(|| open_log(plane, None, ftl));
    let offset = log_tables(ftl).taken(log);
    log_tables_mut(ftl).take(log, offset, offset);
    Some(record_copy(ftl.geometry.page_at(victim, at), ftl.geometry.page_at(log, offset), ftl))
}

fn record_copy(from: Ppn, to: Ppn, ftl: &mut Ftl) -> PageCopy {
    if let Some(owner) = ftl.map.spare.owner(from) {
        let sectors: SectorMask = ftl.map.spare.sectors(from);
        ftl.map.spare.record(to, owner, sectors);
        if let Some(record) = &mut ftl.features.record {
            record.copied(from, to);
        }
    }
    PageCopy { from, to }
}

/// Records that a copy was programmed.
#[inline]
pub(super) fn copied(to: Ppn, ftl: &mut Ftl) {
    programmed_in_log(to, ftl);
    ftl.counts.gc_pages += 1;
    ftl.counts.by_purpose[Purpose::Space as usize].pages += 1;
}

/// Maps a page that was moved out of a log block to its new place, unless the page was trimmed
/// meanwhile.
pub(super) fn moved(copy: PageCopy, ftl: &mut Ftl) {
    copied(copy.to, ftl);
    let current = match ftl.map.spare.owner(copy.to) {
        Some(_) if ftl.plant.is(Canary::MovedNotMapped) => true,
        Some(owner) => log_tables_mut(ftl).relocate(owner, copy.from, copy.to),
        None => false,
    };
    if current {
        exchange_valid(copy.from, copy.to, ftl);
    } else {
        ftl.counts.gc_stale += 1;
    }
}

fn exchange_valid(from: Ppn, to: Ppn, ftl: &mut Ftl) {
    let ((old, at), (new, place)) = (ftl.geometry.place_of(from), ftl.geometry.place_of(to));
    ftl.blocks.clear_valid(old, at);
    ftl.blocks.set_valid(new, place);
}

/// Makes all copies of a merge at once and returns their number. Calls `each` for every copy; pass
/// `None` if only their number matters.
pub(super) fn copy_all(
    fold: &mut Fold,
    each: Option<&mut dyn FnMut(PageCopy)>,
    ftl: &mut Ftl,
) -> u32 {
    let row = fold.next == 0
        && each.is_none()
        && !ftl.map.spare.any_partial()
        && ftl.features.record.is_none();
    let pages = ftl.geometry.units_per_block();
    let all = row && log_tables(ftl).written(fold.data).map(u64::count_ones).sum::<u32>() == pages;
    if all {
        let tables = log_tables(ftl);
        let (page, stride) = (tables.page_at(Spot { data: fold.data, offset: 0 }), tables.stride());
        let first = ftl.geometry.page_at(fold.target, 0);
        ftl.map.spare.record_row(first, pages, page, stride);
        log_tables_mut(ftl).take(fold.target, pages - 1, pages - 1);
        (fold.next, fold.copied) = (pages, pages);
    } else {
        let mut ignore = |_| {};
        let each = each.unwrap_or(&mut ignore);
        while let Some(copy) = next_copy(fold, ftl) {
            each(copy);
        }
    }
    if fold.copied > 0 {
        programmed_in_log(
            ftl.geometry.page_at(fold.target, log_tables(ftl).taken(fold.target) - 1),
            ftl,
        );
    }
    ftl.counts.gc_pages += u64::from(fold.copied);
    ftl.counts.by_purpose[Purpose::Space as usize].pages += u64::from(fold.copied);
    fold.copied
}

/// Ends a merge whose copies are all programmed, and counts it: its target now holds the data
/// block. Returns the block that held it before, which has to be erased.
pub(super) fn end_fold(fold: &Fold, counts: &mut MergeCounts, ftl: &mut Ftl) -> Option<BlockId> {
    let Fold { data, target, inherits, copied, .. } = *fold;
    let Ftl { map, blocks, geometry, .. } = ftl;
    let mapping = &mut map.mapping;
    let (tables, _) = mapping.log().expect("a mapping with a log");
    for (_, from) in tables.newer(data) {
        let (block, at) = geometry.place_of(from);
        if block != target {
            blocks.clear_valid(block, at);
        }
    }
    blocks.put_valid(target, tables.written(data));
    if let Some(before) = tables.block_of(data) {
        blocks.put_valid(before, std::iter::repeat(0));
    }
    if inherits {
        let plane = ftl.geometry.plane_of(target);
        log_tables_mut(ftl).close(plane, target);
        recovery::log::note_role(target, Role::Data(data), ftl);
    }
    let before = log_tables_mut(ftl).settle(data, target);
    counts.copied += u64::from(copied);
    let kind = match (inherits, copied) {
        (true, 0) => &mut counts.switch,
        (true, _) => &mut counts.partial,
        (false, _) => &mut counts.full,
    };
    *kind += 1;
    before
}

/// Removes from the log the data block's own log blocks that hold no valid page, and adds them to
/// `into`.
pub(in crate::ftl) fn take_spent_logs(data: DataBlock, into: &mut Vec<BlockId>, ftl: &mut Ftl) {
    let blocks = &ftl.blocks;
    let spent: Vec<BlockId> =
        log_tables(ftl).own_logs(data).filter(|&log| blocks.valid(log) == 0).collect();
    for log in spent {
        close_log(log, ftl);
        into.push(log);
    }
}

/// Removes a block from the log, to be erased.
pub(in crate::ftl) fn close_log(log: BlockId, ftl: &mut Ftl) {
    let plane = ftl.geometry.plane_of(log);
    log_tables_mut(ftl).close(plane, log);
}

/// Whether a block is a log block at present.
pub(in crate::ftl) fn is_log(block: BlockId, ftl: &Ftl) -> bool {
    log_tables(ftl).is_log(block)
}

/// Records that a block was erased and is free.
pub(in crate::ftl) fn erased_in_log(block: BlockId, ftl: &mut Ftl) {
    log_tables_mut(ftl).erased(block);
    if let Some(record) = &mut ftl.features.record {
        record.void(ftl.geometry.page_at(block, 0), ftl.geometry.units_per_block());
    }
    ftl.blocks.reset(block);
    let (plane, erases) = (ftl.geometry.plane_of(block), ftl.blocks.erases(block));
    ftl.space.planes[plane.at()].give_back(block, erases);
}

/// Counts the emptying of a log block for lack of room.
pub(in crate::ftl) fn count_reclaim(victim: BlockId, ftl: &mut Ftl) {
    let valid = u64::from(ftl.blocks.valid(victim));
    ftl.counts.gc_runs += 1;
    ftl.counts.gc_victim_valid += valid;
    ftl.counts.by_purpose[Purpose::Space as usize].runs += 1;
    ftl.blocks.count_collection(victim);
}

/// Writes every data block to its last page, for a device that starts full.
pub(in crate::ftl) fn fill_data_blocks(ftl: &mut Ftl) {
    let (tables, _) = ftl.map.mapping.log().expect("a mapping with a log");
    let pages = ftl.geometry.units_per_block();
    let whole = ftl.map.spare.full();
    for data in tables.all_data_blocks() {
        let Some(block) = tables.block_of(data) else { continue };
        if let Some(record) = &mut ftl.features.record {
            record.set_role(block, Role::Data(data));
        }
        ftl.blocks.open(block, WriteStream::new(0));
        ftl.blocks.add_programmed(block, pages);
        for offset in 0..pages {
            let page = tables.page_at(Spot { data, offset });
            if page.get() < ftl.logical_pages {
                let at = ftl.geometry.page_at(block, offset);
                ftl.map.spare.record(at, page, whole);
                if let Some(record) = &mut ftl.features.record {
                    record.holds(at, false);
                }
                ftl.blocks.set_valid(block, offset);
            }
        }
        ftl.blocks.close(block);
    }
    let used = tables.shares().data;
    let logical_pages = ftl.logical_pages;
    log_tables_mut(ftl).hide_from(logical_pages);
    ftl.space.planes.iter_mut().for_each(|plane| plane.restart(used));
}

/// Removes the initial data of a device, because an image provides the contents.
pub(in crate::ftl) fn forget_data_blocks(ftl: &mut Ftl) {
    let Some((tables, _)) = ftl.map.mapping.log().filter(|(tables, _)| tables.starts_full()) else {
        return;
    };
    for block in tables.all_data_blocks().filter_map(|data| tables.block_of(data)) {
        ftl.blocks.forget(block);
    }
}
