//! The tables of a hybrid mapping: which block holds each data block, where the newest copy of a page lies
//! in the log, and the log blocks of each plane.
//!
//! A page that was overwritten costs four bytes, a data block four, a physical block twelve. All of it is zero
//! for "nothing", so it takes memory only where it was touched.

use super::bits::Bits;
use super::spot::{DataBlock, Spot};
use super::stripe::Stripe;
use crate::engine::{Divisor, prefetch};
use crate::ftl::Blocks;
use crate::ftl::gc::Lists;
use crate::ftl::recovery::Role;
use crate::shape::{Geometry, Shares};
use crate::units::{BlockId, Lpn, PlaneId, Ppn};

/// What is known of a block in use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Info {
    /// The next page that may be taken, and marks.
    pub(super) taken: u32,
    /// Of a log block that belongs to one data block: that block, plus one.
    pub(super) home: u32,
    /// The log block of the same data block that was opened before it, raw.
    pub(super) older: u32,
}

/// Set in [`Info::taken`] of a log block in which a page does not lie at its own offset.
pub(super) const STRAYED: u32 = 1 << 31;
/// Set in [`Info::taken`] of a log block.
pub(super) const LOG: u32 = 1 << 30;
const MARKS: u32 = STRAYED | LOG;

/// Lists of log blocks in each plane: those of any page, and those that belong to one data block.
pub(super) const LISTS: usize = 2;

/// The tables.
#[derive(Clone, Debug)]
pub struct LogTables {
    pub(super) stripe: Stripe,
    pub(super) pages: Divisor,
    pub(super) shares: Shares,
    /// By page of a data block: where its newest copy lies in the log, raw.
    pub(super) newest: Vec<u32>,
    /// A bit for each of those: whether it is one.
    pub(super) logged: Bits,
    /// A bit for each page of a data block: whether it differs from what it was at the start.
    pub(super) changed: Bits,
    /// Whether all pages were written at the start.
    pub(super) starts_full: bool,
    /// By data block: the block that holds it, raw.
    pub(super) blocks_of: Vec<u32>,
    /// By data block: the log block of its own that was opened last, raw.
    pub(super) homes: Vec<u32>,
    /// By data block: how many log blocks of its own there are.
    pub(super) chains: Vec<u32>,
    pub(super) infos: Vec<Info>,
    /// The log blocks of each plane: by age, and those with a home by when they were last written.
    pub(super) lists: Lists,
    /// By list: log blocks in it.
    pub(super) used: Vec<u32>,
}

impl LogTables {
    /// Tables of a device in whose data blocks nothing, or everything, is written.
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

    /// The block that holds a data block of a device that starts full.
    fn first_block_of(&self, geometry: &Geometry, data: DataBlock) -> BlockId {
        geometry.block_in(self.plane_of(data), data.0 % self.shares.data)
    }

    /// How a plane's blocks are shared out.
    #[must_use]
    pub fn shares(&self) -> Shares {
        self.shares
    }

    /// Pages of a block.
    #[must_use]
    pub fn pages_per_block(&self) -> u32 {
        self.pages.get()
    }

    /// Whether everything was written at the start.
    #[must_use]
    pub fn starts_full(&self) -> bool {
        self.starts_full
    }

    /// Pages of data blocks that the host does not see were never written.
    pub(in crate::ftl) fn hide_from(&mut self, logical_pages: u32) {
        let all = self.newest.len() as u32;
        (logical_pages..all).map(Lpn::new).for_each(|page| {
            self.trim(page);
        });
    }

    /// All data blocks.
    pub fn all_data_blocks(&self) -> impl Iterator<Item = DataBlock> + use<> {
        (0..self.blocks_of.len() as u32).map(DataBlock)
    }

    /// The place of a logical page.
    #[inline]
    #[must_use]
    pub fn spot(&self, page: Lpn) -> Spot {
        let (plane, local) = self.stripe.split(page);
        let (block, offset) = self.pages.split(local);
        Spot { data: DataBlock(plane.get() * self.shares.data + block), offset }
    }

    /// The logical page at a place.
    #[inline]
    #[must_use]
    pub fn page_at(&self, spot: Spot) -> Lpn {
        let plane = self.plane_of(spot.data);
        let local = (spot.data.0 - plane.get() * self.shares.data) * self.pages.get() + spot.offset;
        self.stripe.page(plane, local)
    }

    /// How far apart the logical pages of neighbouring places are.
    #[must_use]
    pub fn stride(&self) -> u32 {
        self.stripe.planes()
    }

    /// The plane of a data block.
    #[inline]
    #[must_use]
    pub fn plane_of(&self, data: DataBlock) -> PlaneId {
        PlaneId::new(data.0 / self.shares.data)
    }

    /// The data block of the same number on another plane.
    #[must_use]
    pub fn beside(&self, data: DataBlock, plane: PlaneId) -> DataBlock {
        DataBlock(plane.get() * self.shares.data + data.0 % self.shares.data)
    }

    /// The block that holds a data block.
    #[inline]
    #[must_use]
    pub fn block_of(&self, data: DataBlock) -> Option<BlockId> {
        BlockId::from_raw(self.blocks_of[data.at()])
    }

    #[inline]
    fn place(&self, spot: Spot) -> usize {
        spot.data.at() * self.pages.get() as usize + spot.offset as usize
    }

    /// Where the newest copy of a page lies in the log, if it is newer than that in its data block.
    #[inline]
    #[must_use]
    pub fn in_log(&self, spot: Spot) -> Option<Ppn> {
        Ppn::from_raw(self.newest[self.place(spot)])
    }

    /// The places of a data block whose newest copies lie in the log, with those copies.
    #[inline]
    pub fn newer(&self, data: DataBlock) -> impl Iterator<Item = (u32, Ppn)> + '_ {
        let first = data.at() * self.pages.get() as usize;
        let logged = self.logged.all(data);
        logged.filter_map(move |offset| {
            Some((offset, Ppn::from_raw(self.newest[first + offset as usize])?))
        })
    }

    /// How many pages of a data block have their newest copy in the log.
    #[inline]
    #[must_use]
    pub fn newer_count(&self, data: DataBlock) -> u32 {
        self.logged.count(data)
    }

    /// The pages of a data block that were written, as words of bits.
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

    /// Where the newest copy of a page lies.
    #[inline]
    #[must_use]
    pub fn look_up(&self, page: Lpn) -> Option<Ppn> {
        self.newest_at(self.spot(page))
    }

    /// Where the newest copy of the page at a place lies.
    #[inline]
    #[must_use]
    pub fn newest_at(&self, spot: Spot) -> Option<Ppn> {
        let place = self.place(spot);
        Ppn::from_raw(self.newest[place]).or_else(|| {
            let block = self.block_of(spot.data).filter(|_| self.is_written(spot))?;
            Some(Ppn::new(block.get() * self.pages.get() + spot.offset))
        })
    }

    /// The copy at `at` is the newest from now on. Returns where the newest lay before.
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

    /// The copy at `from` was moved to `to`, unless the page lies elsewhere by now.
    pub(in crate::ftl) fn relocate(&mut self, page: Lpn, from: Ppn, to: Ppn) -> bool {
        let spot = self.spot(page);
        let current = self.in_log(spot) == Some(from);
        if current {
            let place = self.place(spot);
            self.newest[place] = to.to_raw();
        }
        current
    }

    /// Forgets a page. Returns where it lay.
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

    /// Brings the entry of a page closer to the processor.
    #[inline]
    pub fn prefetch(&self, page: Lpn) {
        prefetch(&self.newest, self.place(self.spot(page)));
    }

    /// Brings what is known of a data block closer to the processor.
    #[inline]
    pub fn prefetch_data(&self, data: DataBlock) {
        prefetch(&self.blocks_of, data.at());
        self.logged.prefetch(data);
        self.changed.prefetch(data);
    }

    /// Brings the places of its newest copies closer, once it is known which pages have one in the log.
    #[inline]
    pub fn prefetch_newer(&self, data: DataBlock) {
        let first = data.at() * self.pages.get() as usize;
        self.logged.all(data).for_each(|offset| prefetch(&self.newest, first + offset as usize));
    }

    /// A block holds a data block from now on. The newest copies of its pages lie in it. Returns the
    /// block that held them before.
    pub(in crate::ftl) fn settle(&mut self, data: DataBlock, block: BlockId) -> Option<BlockId> {
        let first = data.at() * self.pages.get() as usize;
        for offset in self.logged.all(data) {
            self.newest[first + offset as usize] = 0;
        }
        self.logged.clear(data);
        let before = std::mem::replace(&mut self.blocks_of[data.at()], block.to_raw());
        BlockId::from_raw(before)
    }

    /// The next page of a block that may be taken.
    #[inline]
    #[must_use]
    pub fn taken(&self, block: BlockId) -> u32 {
        self.infos[block.at()].taken & !MARKS
    }

    /// Whether a block is one of the log.
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

    /// Whether a block has no page left to take.
    #[must_use]
    pub fn is_full(&self, block: BlockId) -> bool {
        self.taken(block) == self.pages.get()
    }

    /// Takes the page at `offset` of a block, and gives up those before it. `own` is the offset of what
    /// will lie there.
    #[inline]
    pub(in crate::ftl) fn take(&mut self, block: BlockId, offset: u32, own: u32) {
        let info = &mut self.infos[block.at()];
        let strayed = if offset == own { 0 } else { STRAYED };
        info.taken = (offset + 1) | (info.taken & MARKS) | strayed;
    }

    fn list(plane: PlaneId, homed: bool) -> usize {
        plane.at() * LISTS + usize::from(homed)
    }

    /// The data block that a log block belongs to alone.
    #[must_use]
    pub fn home_of(&self, block: BlockId) -> Option<DataBlock> {
        self.infos[block.at()].home.checked_sub(1).map(DataBlock)
    }

    /// What a block in use is, as recovery knows it.
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

    /// The log blocks that belong to a data block alone, the one opened last first.
    pub fn own_logs(&self, data: DataBlock) -> impl Iterator<Item = BlockId> + '_ {
        std::iter::successors(BlockId::from_raw(self.homes[data.at()]), |block| {
            BlockId::from_raw(self.infos[block.at()].older)
        })
    }

    /// How many log blocks belong to a data block alone.
    #[must_use]
    pub fn own_log_count(&self, data: DataBlock) -> u32 {
        self.chains[data.at()]
    }

    /// The log blocks of a plane that take any page, the oldest first.
    pub fn shared_logs(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        self.lists.all(Self::list(plane, false))
    }

    /// The log blocks of a plane that belong to one data block, the one that was written longest ago first.
    pub fn homed_logs(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        self.lists.all(Self::list(plane, true))
    }

    /// All log blocks of a plane: those for any page first, each list from its old end.
    pub fn logs(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        self.shared_logs(plane).chain(self.homed_logs(plane))
    }

    /// The log block for any page that was opened last.
    #[inline]
    #[must_use]
    pub fn active(&self, plane: PlaneId) -> Option<BlockId> {
        self.lists.tail(Self::list(plane, false))
    }

    /// Log blocks of a plane in use.
    #[inline]
    #[must_use]
    pub fn used(&self, plane: PlaneId) -> u32 {
        self.used_shared(plane) + self.used[Self::list(plane, true)]
    }

    /// Of these, the ones that take any page.
    #[inline]
    #[must_use]
    pub fn used_shared(&self, plane: PlaneId) -> u32 {
        self.used[Self::list(plane, false)]
    }

    /// An erased block becomes a log block, of one data block alone if it has a `home`.
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

    /// An erased block is to hold a data block.
    pub(in crate::ftl) fn open_data(&mut self, data: DataBlock, block: BlockId) {
        self.infos[block.at()] = Info::default();
        self.blocks_of[data.at()] = block.to_raw();
    }

    /// A log block with a home was written: it is the last that should be emptied.
    #[inline]
    pub(in crate::ftl) fn touch(&mut self, plane: PlaneId, block: BlockId) {
        let list = Self::list(plane, true);
        if self.lists.tail(list) != Some(block) {
            self.lists.unlink(list, block);
            self.lists.append(list, block);
        }
    }

    /// A log block is one no more: it is to be erased, or holds a data block.
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

    /// A block was erased.
    pub(in crate::ftl) fn erased(&mut self, block: BlockId) {
        self.infos[block.at()] = Info::default();
    }

    /// The log block that can become the data block as it is, or with what is missing behind its last
    /// page: every page lies at its own offset and is the newest copy.
    #[must_use]
    pub fn heir(&self, data: DataBlock, blocks: &Blocks) -> Option<BlockId> {
        self.own_logs(data).find(|&log| {
            let taken = self.taken(log);
            taken > 0 && self.is_in_place(log) && blocks.valid(log) == taken
        })
    }
}
