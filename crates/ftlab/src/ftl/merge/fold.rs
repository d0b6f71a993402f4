//! Writes into the log, and merges, from the FTL's side: which page is taken, what is copied, what becomes of
//! the blocks. The [`Merger`](super::Merger) does the work.

use super::MergeCounts;
use crate::ftl::Ftl;
use crate::ftl::gc::Purpose;
use crate::ftl::mapping::MappingPolicy;
use crate::ftl::mapping::hybrid::{DataBlock, LogTables, LogView, Page, Room, Spot};
use crate::ftl::recovery::Role;
use crate::ftl::streams::WriteStream;
use crate::units::SectorMask;
use crate::units::{BlockId, Lpn, PlaneId, Ppn};
use crate::verify::Canary;

/// A merge that runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    pub data: DataBlock,
    /// The block that is to hold it.
    pub target: BlockId,
    /// Whether that is a log block of its own.
    inherits: bool,
    /// The next place to look at.
    next: u32,
    copied: u32,
}

/// A page that is copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageCopy {
    pub from: Ppn,
    pub to: Ppn,
}

impl Ftl {
    /// The log, to look at.
    #[inline]
    pub(crate) fn log_view(&self) -> Option<LogView<'_>> {
        let (tables, _) = self.mapping.log()?;
        Some(LogView { tables, blocks: &self.blocks, spare: &self.spare })
    }

    /// The tables of the log.
    fn log(&self) -> &LogTables {
        self.mapping.log().expect("a mapping with a log").0
    }

    fn log_mut(&mut self) -> &mut LogTables {
        self.mapping.log_mut().expect("a mapping with a log")
    }

    /// Where a page can be written.
    #[inline]
    pub(crate) fn room_in_log(&self, page: Lpn) -> Room {
        let (tables, room) = self.mapping.log().expect("a mapping with a log");
        let view = LogView { tables, blocks: &self.blocks, spare: &self.spare };
        room(&view, tables.spot(page))
    }

    /// The plane of a page.
    #[inline]
    pub(crate) fn log_plane_of(&self, page: Lpn) -> PlaneId {
        let tables = self.log();
        tables.plane_of(tables.spot(page).data)
    }

    /// Takes a page for a write. None if a log block has to be emptied before.
    #[inline]
    pub(crate) fn place_in_log(&mut self, page: Lpn) -> Option<Ppn> {
        let spot = self.log().spot(page);
        loop {
            let room = self.room_in_log(page);
            let (block, offset) = match room {
                Room::After(_) => return None,
                Room::NewData => {
                    let block = self.take_erased(spot);
                    self.log_mut().open_data(spot.data, block);
                    (block, spot.offset)
                }
                Room::InData => (self.log().block_of(spot.data)?, spot.offset),
                Room::NewLog(home) => {
                    self.open_log(self.log().plane_of(spot.data), home);
                    continue;
                }
                Room::InLog(log, Page::Next) => (log, self.log().taken(log)),
                Room::InLog(log, Page::Own) => (log, spot.offset),
            };
            let tables = self.log_mut();
            tables.take(block, offset, spot.offset);
            if matches!(room, Room::InLog(..)) && tables.home_of(block).is_some() {
                let plane = tables.plane_of(spot.data);
                tables.touch(plane, block);
            }
            return Some(self.geometry.page_at(block, offset));
        }
    }

    fn take_erased(&mut self, spot: Spot) -> BlockId {
        let block = self.take_erased_on(self.log().plane_of(spot.data));
        self.note_role(block, Role::Data(spot.data));
        block
    }

    fn take_erased_on(&mut self, plane: PlaneId) -> BlockId {
        let block = self.take_free_block(plane, true);
        let block = block.expect("data, log and two blocks beside fit into a plane");
        self.blocks.open(block, WriteStream::new(0));
        if let Some(record) = &mut self.record {
            record.opened(block);
        }
        block
    }

    fn open_log(&mut self, plane: PlaneId, home: Option<DataBlock>) -> BlockId {
        let block = self.take_erased_on(plane);
        self.log_mut().open(plane, block, home);
        self.note_role(block, home.map_or(Role::Log, Role::HomedLog));
        block
    }

    /// A page of a block is programmed, and those before it that were left out are lost until the next erase.
    #[inline]
    pub(in crate::ftl) fn programmed_in_log(&mut self, at: Ppn) {
        let (block, offset) = self.geometry.place_of(at);
        let before = self.blocks.programmed(block);
        let more = offset + 1 - before;
        if let Some(record) = &mut self.record {
            record.landed(self.geometry.page_at(block, before), more);
        }
        if self.blocks.add_programmed(block, more) == self.geometry.units_per_block() {
            self.blocks.close(block);
        }
    }

    /// Begins the merge of a data block: in a log block of its own if that can become the data block, else in
    /// an erased one. None if nothing is left of it.
    pub(super) fn begin_fold(&mut self, data: DataBlock) -> Option<Fold> {
        let tables = self.log();
        if let Some(target) = tables.heir(data, &self.blocks) {
            return Some(Fold {
                data,
                target,
                inherits: true,
                next: tables.taken(target),
                copied: 0,
            });
        }
        let some = self.log_view()?.cost(data).copies > 0;
        let target = some.then(|| self.take_erased(Spot { data, offset: 0 }))?;
        Some(Fold { data, target, inherits: false, next: 0, copied: 0 })
    }

    /// Brings what the next merges of a plane will touch closer to the processor, step by step: what is
    /// known of the third, where its newest copies lie of the second, and the blocks of the first.
    pub(super) fn prefetch_folds(&self, plane: PlaneId, next: &[DataBlock]) {
        let tables = self.log();
        if let Some(&third) = next.get(2) {
            tables.prefetch_data(third);
        }
        if let Some(&second) = next.get(1) {
            tables.prefetch_newer(second);
        }
        let Some(&first) = next.first() else { return };
        let old = tables.block_of(first).map(|block| self.geometry.page_at(block, 0));
        let copies = tables.newer(first).map(|(_, at)| at);
        copies.chain(old).for_each(|at| self.blocks.prefetch(&self.geometry, at));
        if let Some(target) = self.planes[plane.at()].next_free() {
            let first = self.geometry.page_at(target, 0);
            self.blocks.prefetch(&self.geometry, first);
            self.spare.prefetch_row(first, self.geometry.units_per_block());
        }
    }

    /// The next copy that a merge needs; its place is taken.
    #[inline]
    pub(super) fn next_copy(&mut self, fold: &mut Fold) -> Option<PageCopy> {
        let pages = self.geometry.units_per_block();
        while fold.next < pages {
            let spot = Spot { data: fold.data, offset: fold.next };
            fold.next += 1;
            if let Some(newest) = self.log().newest_at(spot) {
                let from = match self.plant.is(Canary::NewerCopyForgotten) && spot.offset == 0 {
                    true => self.older_copy(spot).unwrap_or(newest),
                    false => newest,
                };
                fold.copied += 1;
                let to = self.geometry.page_at(fold.target, spot.offset);
                self.log_mut().take(fold.target, spot.offset, spot.offset);
                return Some(self.record_copy(from, to));
            }
        }
        None
    }

    /// What a data block holds of a page that was written again.
    fn older_copy(&self, spot: Spot) -> Option<Ppn> {
        let block = self.log().block_of(spot.data)?;
        let at = self.geometry.page_at(block, spot.offset);
        (self.spare.owner(at) == Some(self.log().page_at(spot))).then_some(at)
    }

    /// The next page of a log block that the throttle has left over; its new place is taken. None if nothing
    /// valid is left behind `from`.
    pub(super) fn next_move(&mut self, victim: BlockId, from: u32) -> Option<PageCopy> {
        let at = self.blocks.next_valid(victim, from)?;
        let plane = self.geometry.plane_of(victim);
        let tables = self.log();
        let open = tables.active(plane).filter(|&log| log != victim && !tables.is_full(log));
        let log = open.unwrap_or_else(|| self.open_log(plane, None));
        let offset = self.log().taken(log);
        self.log_mut().take(log, offset, offset);
        Some(
            self.record_copy(self.geometry.page_at(victim, at), self.geometry.page_at(log, offset)),
        )
    }

    fn record_copy(&mut self, from: Ppn, to: Ppn) -> PageCopy {
        if let Some(owner) = self.spare.owner(from) {
            let sectors: SectorMask = self.spare.sectors(from);
            self.spare.record(to, owner, sectors);
            if let Some(record) = &mut self.record {
                record.copied(from, to);
            }
        }
        PageCopy { from, to }
    }

    /// A copy is programmed.
    #[inline]
    pub(super) fn copied(&mut self, to: Ppn) {
        self.programmed_in_log(to);
        self.counts.gc_pages += 1;
        self.counts.by_purpose[Purpose::Space as usize].pages += 1;
    }

    /// A page that was left over lies in its new place, unless it was deallocated meanwhile.
    pub(super) fn moved(&mut self, copy: PageCopy) {
        self.copied(copy.to);
        let current = match self.spare.owner(copy.to) {
            Some(_) if self.plant.is(Canary::MovedNotMapped) => true,
            Some(owner) => self.log_mut().relocate(owner, copy.from, copy.to),
            None => false,
        };
        if current {
            self.exchange_valid(copy.from, copy.to);
        } else {
            self.counts.gc_stale += 1;
        }
    }

    fn exchange_valid(&mut self, from: Ppn, to: Ppn) {
        let ((old, at), (new, place)) = (self.geometry.place_of(from), self.geometry.place_of(to));
        self.blocks.clear_valid(old, at);
        self.blocks.set_valid(new, place);
    }

    /// Makes all copies of a merge at once. `each` is told of them, unless it is enough to know how many there
    /// are. Returns that.
    pub(super) fn copy_all(
        &mut self,
        fold: &mut Fold,
        each: Option<&mut dyn FnMut(PageCopy)>,
    ) -> u32 {
        let row =
            fold.next == 0 && each.is_none() && !self.spare.any_partial() && self.record.is_none();
        let pages = self.geometry.units_per_block();
        let all = row && self.log().written(fold.data).map(u64::count_ones).sum::<u32>() == pages;
        if all {
            let tables = self.log();
            let (page, stride) =
                (tables.page_at(Spot { data: fold.data, offset: 0 }), tables.stride());
            let first = self.geometry.page_at(fold.target, 0);
            self.spare.record_row(first, pages, page, stride);
            self.log_mut().take(fold.target, pages - 1, pages - 1);
            (fold.next, fold.copied) = (pages, pages);
        } else {
            let mut ignore = |_| {};
            let each = each.unwrap_or(&mut ignore);
            while let Some(copy) = self.next_copy(fold) {
                each(copy);
            }
        }
        if fold.copied > 0 {
            self.programmed_in_log(
                self.geometry.page_at(fold.target, self.log().taken(fold.target) - 1),
            );
        }
        self.counts.gc_pages += u64::from(fold.copied);
        self.counts.by_purpose[Purpose::Space as usize].pages += u64::from(fold.copied);
        fold.copied
    }

    /// All copies of a merge are programmed: its target holds the data block. Returns the block that held it
    /// before, which has to be erased, and counts the merge.
    pub(super) fn end_fold(&mut self, fold: &Fold, counts: &mut MergeCounts) -> Option<BlockId> {
        let Fold { data, target, inherits, copied, .. } = *fold;
        let Ftl { mapping, blocks, geometry, .. } = self;
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
            let plane = self.geometry.plane_of(target);
            self.log_mut().close(plane, target);
            self.note_role(target, Role::Data(data));
        }
        let before = self.log_mut().settle(data, target);
        counts.copied += u64::from(copied);
        let kind = match (inherits, copied) {
            (true, 0) => &mut counts.switch,
            (true, _) => &mut counts.partial,
            (false, _) => &mut counts.full,
        };
        *kind += 1;
        before
    }

    /// The data block's own log blocks on which nothing is valid any more. They are log blocks no more.
    pub(super) fn take_spent_logs(&mut self, data: DataBlock, into: &mut Vec<BlockId>) {
        let blocks = &self.blocks;
        let spent: Vec<BlockId> =
            self.log().own_logs(data).filter(|&log| blocks.valid(log) == 0).collect();
        for log in spent {
            self.close_log(log);
            into.push(log);
        }
    }

    /// A log block is to be erased.
    pub(super) fn close_log(&mut self, log: BlockId) {
        let plane = self.geometry.plane_of(log);
        self.log_mut().close(plane, log);
    }

    /// Whether a block is a log block at present.
    pub(super) fn is_log(&self, block: BlockId) -> bool {
        self.log().is_log(block)
    }

    /// A block was erased, and is free.
    pub(super) fn erased_in_log(&mut self, block: BlockId) {
        self.log_mut().erased(block);
        if let Some(record) = &mut self.record {
            record.void(self.geometry.page_at(block, 0), self.geometry.units_per_block());
        }
        self.blocks.reset(block);
        let (plane, erases) = (self.geometry.plane_of(block), self.blocks.erases(block));
        self.planes[plane.at()].give_back(block, erases);
    }

    /// A log block is being emptied, for want of room.
    pub(super) fn count_reclaim(&mut self, victim: BlockId) {
        let valid = u64::from(self.blocks.valid(victim));
        self.counts.gc_runs += 1;
        self.counts.gc_victim_valid += valid;
        self.counts.by_purpose[Purpose::Space as usize].runs += 1;
        self.blocks.count_collection(victim);
    }

    /// Writes every data block to its last page, as a device that starts full has it.
    pub(in crate::ftl) fn fill_data_blocks(&mut self) {
        let (tables, _) = self.mapping.log().expect("a mapping with a log");
        let pages = self.geometry.units_per_block();
        let whole = self.spare.full();
        for data in tables.all_data_blocks() {
            let Some(block) = tables.block_of(data) else { continue };
            if let Some(record) = &mut self.record {
                record.set_role(block, Role::Data(data));
            }
            self.blocks.open(block, WriteStream::new(0));
            self.blocks.add_programmed(block, pages);
            for offset in 0..pages {
                let page = tables.page_at(Spot { data, offset });
                if page.get() < self.logical_pages {
                    let at = self.geometry.page_at(block, offset);
                    self.spare.record(at, page, whole);
                    if let Some(record) = &mut self.record {
                        record.holds(at, false);
                    }
                    self.blocks.set_valid(block, offset);
                }
            }
            self.blocks.close(block);
        }
        let used = tables.shares().data;
        let logical_pages = self.logical_pages;
        self.log_mut().hide_from(logical_pages);
        self.planes.iter_mut().for_each(|plane| plane.restart(used));
    }

    /// Takes back what a device held at the start: an image says what it holds.
    pub(in crate::ftl) fn forget_data_blocks(&mut self) {
        let Some((tables, _)) = self.mapping.log().filter(|(tables, _)| tables.starts_full())
        else {
            return;
        };
        for block in tables.all_data_blocks().filter_map(|data| tables.block_of(data)) {
            self.blocks.forget(block);
        }
    }
}
