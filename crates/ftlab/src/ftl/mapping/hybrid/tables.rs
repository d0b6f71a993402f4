//! The tables of a hybrid mapping: the block of each data block, the place in the log of the newest
//! copy of each page, and the log blocks of each plane.
//!
//! An overwritten page costs four bytes, a data block four, and a physical block twelve. Zero means
//! "nothing", so the tables take up memory only where they were touched.

use super::bits::Bits;
use super::spot::{DataBlock, Spot};
use super::stripe::Stripe;
use crate::engine::{Divisor, prefetch};
use crate::ftl::Blocks;
use crate::ftl::gc::Lists;
use crate::ftl::recovery::Role;
use crate::shape::{Geometry, Shares};
use crate::units::{BlockId, Lpn, PlaneId, Ppn};

/// State of a block in use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Info {
    /// The next page that may be taken, and mark bits.
    pub(super) taken: u32,
    /// For a log block that belongs to one data block: the number of that data block, plus one.
    pub(super) home: u32,
    /// The previously opened log block of the same data block, raw.
    pub(super) older: u32,
}

/// Set in [`Info::taken`] of a log block in which some page does not lie at its own offset.
pub(super) const STRAYED: u32 = 1 << 31;
/// Set in [`Info::taken`] of a log block.
pub(super) const LOG: u32 = 1 << 30;
const MARKS: u32 = STRAYED | LOG;

/// Lists of log blocks in each plane: the shared ones, and those that belong to one data block.
pub(super) const LISTS: usize = 2;

/// The tables of a hybrid mapping.
#[derive(Clone, Debug)]
pub struct LogTables {
    pub(super) stripe: Stripe,
    pub(super) pages: Divisor,
    pub(super) shares: Shares,
    /// By page of a data block: the place of its newest copy in the log, raw.
    pub(super) newest: Vec<u32>,
    /// By page of a data block: whether its newest copy lies in the log.
    pub(super) logged: Bits,
    /// By page of a data block: whether it was written, inverted if the device starts full.
    pub(super) changed: Bits,
    /// Whether all pages were written at the start.
    pub(super) starts_full: bool,
    /// By data block: the block that holds it, raw.
    pub(super) blocks_of: Vec<u32>,
    /// By data block: the most recently opened log block of its own, raw.
    pub(super) homes: Vec<u32>,
    /// By data block: the number of log blocks of its own.
    pub(super) chains: Vec<u32>,
    pub(super) infos: Vec<Info>,
    /// The log blocks of each plane. Shared ones are ordered by age, those with a home by their
    /// last write.
    pub(super) lists: Lists,
    /// By list: the number of log blocks in it.
    pub(super) used: Vec<u32>,
}

impl LogTables {
    /// Creates the tables of a device whose data blocks are all empty or all fully written.
    #[must_use]
    pub fn new(
        geometry: &Geometry,
        stripe: Stripe,
        shares: Shares,
        starts_full: bool,
    ) -> LogTables {
        let (planes, pages) = (geometry.planes(), geometry.units_per_block());
        let data_blocks = planes * shares.data;
        let data_pages = data_blocks as usize * pages as usize;
        let mut tables = LogTables {
            stripe,
            pages: Divisor::new(pages),
            shares,
            newest: vec![0; data_pages],
            logged: Bits::new(data_blocks, pages),
            changed: Bits::new(data_blocks, pages),
            starts_full,
            blocks_of: vec![0; data_blocks as usize],
            homes: vec![0; data_blocks as usize],
            chains: vec![0; data_blocks as usize],
            infos: vec![Info::default(); geometry.blocks() as usize],
            lists: Lists::new(planes as usize * LISTS, geometry.blocks()),
            used: vec![0; planes as usize * LISTS],
        };
        if starts_full {
            for data in (0..data_blocks).map(DataBlock) {
                let block = tables.first_block_of(geometry, data);
                tables.blocks_of[data.at()] = block.to_raw();
                tables.infos[block.at()].taken = pages;
            }
        }
        tables
    }

    /// Returns the block that holds a data block of a device that starts full.
    fn first_block_of(&self, geometry: &Geometry, data: DataBlock) -> BlockId {
        geometry.block_in(self.plane_of(data), data.0 % self.shares.data)
    }

    /// Returns how the blocks of a plane are divided into data blocks and log blocks.
    #[must_use]
    pub fn shares(&self) -> Shares {
        self.shares
    }

    /// Returns the number of pages in a block.
    #[must_use]
    pub fn pages_per_block(&self) -> u32 {
        self.pages.get()
    }

    /// Whether all pages were written at the start.
    #[must_use]
    pub fn starts_full(&self) -> bool {
        self.starts_full
    }

    /// Marks the pages of data blocks that the host does not see as never written.
    pub(in crate::ftl) fn hide_from(&mut self, logical_pages: u32) {
        let all = self.newest.len() as u32;
        (logical_pages..all).map(Lpn::new).for_each(|page| {
            self.trim(page);
        });
    }

    /// Returns all data blocks.
    pub fn all_data_blocks(&self) -> impl Iterator<Item = DataBlock> + use<> {
        (0..self.blocks_of.len() as u32).map(DataBlock)
    }

    /// Returns the position of a logical page.
    #[inline]
    #[must_use]
    pub fn spot(&self, page: Lpn) -> Spot {
        let (plane, local) = self.stripe.split(page);
        let (block, offset) = self.pages.split(local);
        Spot { data: DataBlock(plane.get() * self.shares.data + block), offset }
    }

    /// Returns the logical page at a position.
    #[inline]
    #[must_use]
    pub fn page_at(&self, spot: Spot) -> Lpn {
        let plane = self.plane_of(spot.data);
        let local = (spot.data.0 - plane.get() * self.shares.data) * self.pages.get() + spot.offset;
        self.stripe.page(plane, local)
    }

    /// Returns the distance between the logical pages of neighbouring positions.
    #[must_use]
    pub fn stride(&self) -> u32 {
        self.stripe.planes()
    }

    /// Returns the plane of a data block.
    #[inline]
    #[must_use]
    pub fn plane_of(&self, data: DataBlock) -> PlaneId {
        PlaneId::new(data.0 / self.shares.data)
    }

    /// Returns the data block with the same number on another plane.
    #[must_use]
    pub fn beside(&self, data: DataBlock, plane: PlaneId) -> DataBlock {
        DataBlock(plane.get() * self.shares.data + data.0 % self.shares.data)
    }

    /// Returns the block that holds a data block.
    #[inline]
    #[must_use]
    pub fn block_of(&self, data: DataBlock) -> Option<BlockId> {
        BlockId::from_raw(self.blocks_of[data.at()])
    }

    #[inline]
    fn place(&self, spot: Spot) -> usize {
        spot.data.at() * self.pages.get() as usize + spot.offset as usize
    }

    /// Returns the place of the newest copy of a page in the log, or `None` if the copy in the data
    /// block is the newest.
    #[inline]
    #[must_use]
    pub fn in_log(&self, spot: Spot) -> Option<Ppn> {
        Ppn::from_raw(self.newest[self.place(spot)])
    }

    /// Returns the offsets of a data block whose newest copies lie in the log, with the places of
    /// those copies.
    #[inline]
    pub fn newer(&self, data: DataBlock) -> impl Iterator<Item = (u32, Ppn)> + '_ {
        let first = data.at() * self.pages.get() as usize;
        let logged = self.logged.all(data);
        logged.filter_map(move |offset| {
            Some((offset, Ppn::from_raw(self.newest[first + offset as usize])?))
        })
    }

    /// Returns how many pages of a data block have their newest copy in the log.
    #[inline]
    #[must_use]
    pub fn newer_count(&self, data: DataBlock) -> u32 {
        self.logged.count(data)
    }

    /// Returns a bit for each page of a data block, set if the page was written, in words.
    #[inline]
    pub fn written(&self, data: DataBlock) -> impl Iterator<Item = u64> + '_ {
        let mut left = self.pages.get();
        let flipped = if self.starts_full { u64::MAX } else { 0 };
        self.changed.words(data).iter().map(move |word| {
            let bits = left.min(u64::BITS);
            left -= bits;
            (word ^ flipped) & (u64::MAX >> (u64::BITS - bits))
        })
    }

    fn is_written(&self, spot: Spot) -> bool {
        self.changed.has(spot) != self.starts_full
    }

    fn set_written(&mut self, spot: Spot, written: bool) {
        self.changed.put(spot, written != self.starts_full);
    }

    /// Returns the place of the newest copy of a page.
    #[inline]
    #[must_use]
    pub fn look_up(&self, page: Lpn) -> Option<Ppn> {
        self.newest_at(self.spot(page))
    }

    /// Returns the place of the newest copy of the page at a position.
    #[inline]
    #[must_use]
    pub fn newest_at(&self, spot: Spot) -> Option<Ppn> {
        let place = self.place(spot);
        Ppn::from_raw(self.newest[place]).or_else(|| {
            let block = self.block_of(spot.data).filter(|_| self.is_written(spot))?;
            Some(Ppn::new(block.get() * self.pages.get() + spot.offset))
        })
    }

    /// Makes the copy at `at` the newest one. Returns the place of the previous one.
    #[inline]
    pub(in crate::ftl) fn commit(&mut self, page: Lpn, at: Ppn) -> Option<Ppn> {
        let spot = self.spot(page);
        let before = self.newest_at(spot);
        let place = self.place(spot);
        self.set_written(spot, true);
        let (block, offset) = self.pages.split(at.get());
        let in_place = self.blocks_of[spot.data.at()] == BlockId::new(block).to_raw();
        debug_assert!(!in_place || offset == spot.offset, "{page:?} at {at:?}");
        self.newest[place] = if in_place { 0 } else { at.to_raw() };
        self.logged.put(spot, !in_place);
        before
    }

    /// Records that the copy at `from` was moved to `to`. Returns false and changes nothing if the
    /// page lies elsewhere by now.
    pub(in crate::ftl) fn relocate(&mut self, page: Lpn, from: Ppn, to: Ppn) -> bool {
        let spot = self.spot(page);
        let current = self.in_log(spot) == Some(from);
        if current {
            let place = self.place(spot);
            self.newest[place] = to.to_raw();
        }
        current
    }

    /// Unmaps a page. Returns its previous place.
    pub(in crate::ftl) fn trim(&mut self, page: Lpn) -> Option<Ppn> {
        let spot = self.spot(page);
        let found = self.newest_at(spot);
        if found.is_some() {
            let place = self.place(spot);
            self.newest[place] = 0;
            self.logged.put(spot, false);
            self.set_written(spot, false);
        }
        found
    }

    /// Prefetches the entry of a page.
    #[inline]
    pub fn prefetch(&self, page: Lpn) {
        prefetch(&self.newest, self.place(self.spot(page)));
    }

    /// Prefetches the state of a data block.
    #[inline]
    pub fn prefetch_data(&self, data: DataBlock) {
        prefetch(&self.blocks_of, data.at());
        self.logged.prefetch(data);
        self.changed.prefetch(data);
    }

    /// Prefetches the places of the newest copies of a data block, once the bits of its pages in
    /// the log are known.
    #[inline]
    pub fn prefetch_newer(&self, data: DataBlock) {
        let first = data.at() * self.pages.get() as usize;
        self.logged.all(data).for_each(|offset| prefetch(&self.newest, first + offset as usize));
    }

    /// Makes `block` hold a data block, with the newest copies of all its pages. Returns the block
    /// that held it before.
    pub(in crate::ftl) fn settle(&mut self, data: DataBlock, block: BlockId) -> Option<BlockId> {
        let first = data.at() * self.pages.get() as usize;
        for offset in self.logged.all(data) {
            self.newest[first + offset as usize] = 0;
        }
        self.logged.clear(data);
        let before = std::mem::replace(&mut self.blocks_of[data.at()], block.to_raw());
        BlockId::from_raw(before)
    }

    /// Returns the next page of a block that may be taken.
    #[inline]
    #[must_use]
    pub fn taken(&self, block: BlockId) -> u32 {
        self.infos[block.at()].taken & !MARKS
    }

    /// Whether a block is a log block.
    #[inline]
    #[must_use]
    pub fn is_log(&self, block: BlockId) -> bool {
        self.infos[block.at()].taken & LOG != 0
    }

    /// Whether every page of a log block lies at its own offset.
    #[must_use]
    pub fn is_in_place(&self, block: BlockId) -> bool {
        self.infos[block.at()].taken & STRAYED == 0
    }

    /// Whether all pages of a block are taken.
    #[must_use]
    pub fn is_full(&self, block: BlockId) -> bool {
        self.taken(block) == self.pages.get()
    }

    /// Takes the page at `offset` of a block, and skips the free pages before it. `own` is the
    /// offset in its data block of the logical page to be written there.
    #[inline]
    pub(in crate::ftl) fn take(&mut self, block: BlockId, offset: u32, own: u32) {
        let info = &mut self.infos[block.at()];
        let strayed = if offset == own { 0 } else { STRAYED };
        info.taken = (offset + 1) | (info.taken & MARKS) | strayed;
    }

    fn list(plane: PlaneId, homed: bool) -> usize {
        plane.at() * LISTS + usize::from(homed)
    }

    /// Returns the only data block that a log block belongs to, if any.
    #[must_use]
    pub fn home_of(&self, block: BlockId) -> Option<DataBlock> {
        self.infos[block.at()].home.checked_sub(1).map(DataBlock)
    }

    /// Returns the role of a block in use, for recovery.
    pub(in crate::ftl) fn role_of(&self, block: BlockId) -> Role {
        match self.home_of(block) {
            _ if !self.is_log(block) => {
                let held = self.blocks_of.iter().position(|&raw| raw == block.to_raw());
                held.map_or(Role::Log, |data| Role::Data(DataBlock(data as u32)))
            }
            Some(data) => Role::HomedLog(data),
            None => Role::Log,
        }
    }

    /// Returns the log blocks that belong to one data block alone, the most recently opened first.
    pub fn own_logs(&self, data: DataBlock) -> impl Iterator<Item = BlockId> + '_ {
        std::iter::successors(BlockId::from_raw(self.homes[data.at()]), |block| {
            BlockId::from_raw(self.infos[block.at()].older)
        })
    }

    /// Returns how many log blocks belong to a data block alone.
    #[must_use]
    pub fn own_log_count(&self, data: DataBlock) -> u32 {
        self.chains[data.at()]
    }

    /// Returns the log blocks of a plane that take any page, the oldest first.
    pub fn shared_logs(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        self.lists.all(Self::list(plane, false))
    }

    /// Returns the log blocks of a plane that belong to one data block, the least recently written
    /// first.
    pub fn homed_logs(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        self.lists.all(Self::list(plane, true))
    }

    /// Returns all log blocks of a plane: first those that take any page, then those with a home,
    /// each list from its oldest end.
    pub fn logs(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        self.shared_logs(plane).chain(self.homed_logs(plane))
    }

    /// Returns the most recently opened log block that takes any page.
    #[inline]
    #[must_use]
    pub fn active(&self, plane: PlaneId) -> Option<BlockId> {
        self.lists.tail(Self::list(plane, false))
    }

    /// Returns the number of log blocks of a plane in use.
    #[inline]
    #[must_use]
    pub fn used(&self, plane: PlaneId) -> u32 {
        self.used_shared(plane) + self.used[Self::list(plane, true)]
    }

    /// Returns how many of these take any page.
    #[inline]
    #[must_use]
    pub fn used_shared(&self, plane: PlaneId) -> u32 {
        self.used[Self::list(plane, false)]
    }

    /// Makes an erased block a log block. With a `home`, it belongs to that data block alone.
    pub(in crate::ftl) fn open(&mut self, plane: PlaneId, block: BlockId, home: Option<DataBlock>) {
        let info = &mut self.infos[block.at()];
        *info = Info { taken: LOG, ..Info::default() };
        if let Some(data) = home {
            info.home = data.0 + 1;
            info.older = std::mem::replace(&mut self.homes[data.at()], block.to_raw());
            self.chains[data.at()] += 1;
        }
        let list = Self::list(plane, home.is_some());
        self.lists.append(list, block);
        self.used[list] += 1;
    }

    /// Makes an erased block hold a data block.
    pub(in crate::ftl) fn open_data(&mut self, data: DataBlock, block: BlockId) {
        self.infos[block.at()] = Info::default();
        self.blocks_of[data.at()] = block.to_raw();
    }

    /// Records a write to a log block with a home: the block becomes the last one to be merged.
    #[inline]
    pub(in crate::ftl) fn touch(&mut self, plane: PlaneId, block: BlockId) {
        let list = Self::list(plane, true);
        if self.lists.tail(list) != Some(block) {
            self.lists.unlink(list, block);
            self.lists.append(list, block);
        }
    }

    /// Removes a block from the log. It is erased next, or becomes a data block.
    pub(in crate::ftl) fn close(&mut self, plane: PlaneId, block: BlockId) {
        let home = self.home_of(block);
        self.infos[block.at()].taken &= !MARKS;
        let list = Self::list(plane, home.is_some());
        self.lists.unlink(list, block);
        self.used[list] -= 1;
        let Some(data) = home else { return };
        self.chains[data.at()] -= 1;
        let older = self.infos[block.at()].older;
        let newer = self.own_logs(data).find(|log| self.infos[log.at()].older == block.to_raw());
        match newer {
            Some(newer) => self.infos[newer.at()].older = older,
            None => self.homes[data.at()] = older,
        }
        let info = &mut self.infos[block.at()];
        (info.home, info.older) = (0, 0);
    }

    /// Records that a block was erased.
    pub(in crate::ftl) fn erased(&mut self, block: BlockId) {
        self.infos[block.at()] = Info::default();
    }

    /// Returns the log block that can become the data block as it is, or after the pages missing
    /// behind its last page are added: each of its pages lies at its own offset and is the newest
    /// copy.
    #[must_use]
    pub fn heir(&self, data: DataBlock, blocks: &Blocks) -> Option<BlockId> {
        self.own_logs(data).find(|&log| {
            let taken = self.taken(log);
            taken > 0 && self.is_in_place(log) && blocks.valid(log) == taken
        })
    }
}
